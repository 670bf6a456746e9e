/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_config.c - any bytes as a configuration are read or refused with a message; what was
 * read can be written and read back. */
#include "base/utf8.h"
#include "cli.h"
#include "fuzz.h"
#include "table.h"

#include <string.h>

/* The fields of f point into the state, which the caller destroys. */
static rela_option_state *read_config(rela_status *st, fields *f, const char *path)
{
    rela_error err = { RELA_OK, "" };
    const rela_option_group group = { OPTIONS, f };
    rela_option_state *s = rela_options_create(&group, 1);
    HOLDS(s && rela_options_default(s, &err) == RELA_OK);
    *st = rela_cli_config(s, path, &err);
    HOLDS(*st == RELA_OK || *err.message);
    HOLDS(rela_utf8_valid(err.message, strlen(err.message)) == strlen(err.message));
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fields f = { .flag = false }, g = { .flag = false };
    rela_status st = RELA_OK;
    rela_option_state *s = read_config(&st, &f, fuzz_file(data, size));
    if (st == RELA_OK) {
        rela_buffer first = RELA_BUFFER_INIT, second = RELA_BUFFER_INIT;
        HOLDS(rela_options_dump(&first, s, NULL) == RELA_OK);
        rela_option_state *t = read_config(&st, &g, fuzz_file(first.data, first.len));
        HOLDS(st == RELA_OK && rela_options_dump(&second, t, NULL) == RELA_OK);
        HOLDS(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
        rela_options_destroy(t);
        rela_buffer_free(&first);
        rela_buffer_free(&second);
    }
    rela_options_destroy(s);
    return 0;
}
