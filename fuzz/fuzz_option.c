/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_option.c - any arguments, separated by NUL, are read or refused with a message; what
 * was read stays within its range. */
#include "base/str.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "table.h"

#include <string.h>

enum { ARGS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *args = malloc(size + 1);
    const char *argv[ARGS_MAX];
    int argc = 0;
    HOLDS(args);
    if (size)
        memcpy(args, data, size);
    args[size] = '\0';
    for (char *at = args; at < args + size && argc < ARGS_MAX; at += strlen(at) + 1)
        argv[argc++] = at;

    fields f = { .flag = false };
    rela_list operands = { NULL, 0 };
    rela_error err = { RELA_OK, "" };
    const rela_option_group group = { OPTIONS, &f };
    rela_option_state *s = rela_options_create(&group, 1);
    HOLDS(s && rela_options_default(s, &err) == RELA_OK);
    const rela_status st = rela_options_parse(s, &operands, argc, argv, &err);
    HOLDS(st == RELA_OK || (st == RELA_ARG && *err.message));
    HOLDS(rela_utf8_valid(err.message, strlen(err.message)) == strlen(err.message));
    HOLDS(f.whole >= -1000000000 && f.whole <= 1000000000000 && f.real >= -1e300 &&
          f.real <= 1e300);
    HOLDS(f.choice && (strcmp(f.choice, "a") == 0 || strcmp(f.choice, "bc") == 0 ||
                       strcmp(f.choice, "d") == 0));
    HOLDS(!f.file || *f.file);
    HOLDS(operands.n <= (size_t)argc && f.items.n <= (size_t)argc + 1);
    rela_buffer dump = RELA_BUFFER_INIT;
    HOLDS(rela_options_dump(&dump, s, &err) == RELA_OK && dump.len > 0);
    rela_buffer_free(&dump);
    rela_options_destroy(s);
    free(args);
    return 0;
}
