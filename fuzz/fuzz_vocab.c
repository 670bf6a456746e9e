/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_vocab.c - any bytes as a vocabulary are read or refused with a message; what was read
 * is written and read back the same, and every token has its own number. */
#include "fuzz.h"

#include "rela/vocab.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rela_vocab *v = NULL, *w = NULL;
    rela_error err = { RELA_OK, "" };
    const rela_status st = rela_vocab_parse(&v, "vocab", (const char *)data, size, &err);
    HOLDS(st == RELA_OK ? v != NULL : !v && *err.message);
    if (!v)
        return 0;
    rela_buffer first = RELA_BUFFER_INIT, second = RELA_BUFFER_INIT;
    HOLDS(rela_vocab_write(&first, v, &err) == RELA_OK);
    HOLDS(rela_vocab_parse(&w, "vocab", first.data, first.len, &err) == RELA_OK);
    HOLDS(rela_vocab_write(&second, w, &err) == RELA_OK);
    HOLDS(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    for (size_t i = 0; i < rela_vocab_size(v); i++) {
        const char *token = rela_vocab_token(v, (int32_t)i);
        HOLDS(rela_vocab_find(v, token, strlen(token)) == (int32_t)i);
    }
    rela_buffer_free(&first);
    rela_buffer_free(&second);
    rela_vocab_free(v);
    rela_vocab_free(w);
    return 0;
}
