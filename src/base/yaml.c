/* SPDX-License-Identifier: MIT */
/* src/base/yaml.c - see yaml.h. */
#include "base/yaml.h"

#include "base/str.h"
#include "base/utf8.h"

static bool is_plain(uint32_t code);

rela_status rela_yaml_quote(rela_buffer *out, const char *text, size_t len, rela_error *err)
{
    rela_status st = rela_buffer_append_char(out, '"', err);
    for (size_t at = 0, n = 0; at < len && st == RELA_OK; at += n) {
        uint32_t code = 0;
        n = rela_utf8_next(&code, text + at, len - at);
        if (n == 0)
            return rela_fail(err, RELA_ARG, "'%.*s' is not UTF-8", (int)(len < 200 ? len : 200),
                             text);
        if (is_plain(code))
            st = rela_buffer_append(out, text + at, n, err);
        else if (code == '"' || code == '\\')
            st = rela_buffer_printf(out, err, "\\%c", (int)code);
        else
            st = rela_buffer_printf(out, err, code < 0x100 ? "\\x%02x" : "\\u%04x", (unsigned)code);
    }
    return st == RELA_OK ? rela_buffer_append_char(out, '"', err) : st;
}

/* Printable, no line end of YAML 1.1 (U+0085, U+2028, U+2029), no byte order mark. */
static bool is_plain(uint32_t code)
{
    const bool ascii = code >= 0x20 && code < 0x7F && code != '"' && code != '\\';
    const bool other = code >= 0xA0 && code != 0x2028 && code != 0x2029 && code != 0xFEFF &&
                       code != 0xFFFE && code != 0xFFFF;
    return ascii || other;
}
