/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_utf8.c - decoding, counting and repair agree with each other on any bytes. */
#include "base/str.h"
#include "base/utf8.h"
#include "fuzz.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *s = (const char *)data;
    const size_t good = rela_utf8_valid(s, size);
    size_t at = 0, n = 0;
    while (at < size) { /* the same, one character at a time */
        uint32_t code = 0;
        char bytes[4];
        const size_t len = rela_utf8_next(&code, s + at, size - at);
        if (len == 0)
            break;
        HOLDS(len <= size - at && rela_utf8_put(bytes, code) == len &&
              memcmp(bytes, s + at, len) == 0);
        at += len;
        n++;
    }
    HOLDS(at == good && rela_utf8_count(s, good) == n);
    const size_t whole = rela_utf8_whole(s, size);
    HOLDS(whole <= size && size - whole < 4 && (good < size || whole == size));

    rela_buffer fixed = RELA_BUFFER_INIT, again = RELA_BUFFER_INIT;
    size_t n_bad = 0, none = 0;
    HOLDS(rela_utf8_repair(&fixed, &n_bad, s, size, NULL) == RELA_OK);
    HOLDS(rela_utf8_valid(fixed.data, fixed.len) == fixed.len && (n_bad == 0) == (good == size));
    HOLDS(rela_utf8_repair(&again, &none, fixed.data, fixed.len, NULL) == RELA_OK);
    HOLDS(none == 0 && again.len == fixed.len);
    if (fixed.data) {
        rela_utf8_make_printable(fixed.data);
        for (const char *p = fixed.data; *p; p++)
            HOLDS((unsigned char)*p >= 0x20 && *p != 0x7F);
        HOLDS(!strstr(fixed.data, "\xE2\x80\xAE")); /* right-to-left override */
    }
    rela_buffer_free(&fixed);
    rela_buffer_free(&again);
    return 0;
}
