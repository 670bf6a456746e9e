/* SPDX-License-Identifier: MIT */
/* src/base/markup.c - see markup.h. */
#include "base/markup.h"

#include <string.h>

/* The replacement of a byte; NULL: none needed. */
static const char *stand_in(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '#': /* so that no text looks like a reference such as url(#clip) */
        return "&#35;";
    default:
        return (unsigned char)c < ' ' && !strchr("\t\n\r", c) ? "\xEF\xBF\xBD" : NULL;
    }
}

rela_status rela_markup_append(rela_buffer *out, const char *text, rela_error *err)
{
    rela_status st = RELA_OK;
    for (; *text && st == RELA_OK; text++) {
        const char *other = stand_in(*text);
        st = other ? rela_buffer_append_text(out, other, err)
                   : rela_buffer_append_char(out, *text, err);
    }
    return st;
}
