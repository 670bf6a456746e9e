/* SPDX-License-Identifier: MIT */
/* src/text/form.c - see form.h.
 *
 * utf8proc sorts the combining marks after a letter in quadratic time. So it gets the text in
 * pieces: an ASCII character starts a new one; a run without any is cut after PIECE_MAX bytes, at
 * the next character that does not combine with what precedes it; and a run of more than MARKS_MAX
 * marks, which no spelling has, is cut anywhere. */
#include "text/form.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>
#include <utf8proc.h>

enum { PIECE_MAX = 1024, MARKS_MAX = 64, FIRST_COMBINING = 0x300 };

typedef struct points {
    utf8proc_int32_t *items;
    size_t cap;
} points;

static size_t piece_length(bool *changes, rela_span text, bool compatible);
static bool combines(uint32_t code);
static rela_status compose(rela_buffer *out, points *p, rela_span piece, bool compatible,
                           rela_error *err);

rela_status rela_text_form(rela_buffer *out, rela_span text, bool compatible, rela_error *err)
{
    points p = { NULL, 0 };
    rela_status st = rela_buffer_reserve(out, text.len, err);
    while (st == RELA_OK && text.len) {
        bool changes = false;
        const size_t n = piece_length(&changes, text, compatible);
        const rela_span piece = { text.text, n };
        st = changes ? compose(out, &p, piece, compatible, err)
                     : rela_buffer_append(out, piece.text, piece.len, err);
        text = (rela_span){ text.text + n, text.len - n };
    }
    rela_mem_free(p.items);
    return st;
}

/* Length of the next piece. *changes: the piece may need normalising. */
static size_t piece_length(bool *changes, rela_span text, bool compatible)
{
    size_t i = 0;
    while (i < text.len && (unsigned char)text.text[i] < 0x80)
        i++;
    if (i > 1 || i == text.len) /* the last ASCII character may combine with what follows */
        return i == text.len ? i : i - 1;
    size_t marks = 0;
    for (size_t n = 0; i < text.len && (unsigned char)text.text[i] >= 0x80; i += n) {
        uint32_t code = 0;
        n = rela_utf8_next(&code, text.text + i, text.len - i);
        const bool mark = combines(code);
        if (marks == MARKS_MAX || (i >= PIECE_MAX && !mark))
            break;
        marks = mark ? marks + 1 : 0;
        *changes = *changes || compatible || code >= FIRST_COMBINING;
    }
    return i;
}

static bool combines(uint32_t code)
{
    const utf8proc_property_t *p = utf8proc_get_property((utf8proc_int32_t)code);
    const bool jamo = code >= 0x1160 && code <= 0x11FF;
    return jamo || p->combining_class || p->category == UTF8PROC_CATEGORY_MN ||
           p->category == UTF8PROC_CATEGORY_MC || p->category == UTF8PROC_CATEGORY_ME;
}

static rela_status compose(rela_buffer *out, points *p, rela_span piece, bool compatible,
                           rela_error *err)
{
    const utf8proc_option_t options =
        UTF8PROC_STABLE | UTF8PROC_COMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
    const utf8proc_uint8_t *bytes = (const utf8proc_uint8_t *)piece.text;
    const utf8proc_ssize_t len = (utf8proc_ssize_t)piece.len;
    utf8proc_ssize_t n =
        utf8proc_decompose(bytes, len, p->items, (utf8proc_ssize_t)p->cap, options);
    if (n >= 0 && (size_t)n >= p->cap) { /* one more than n, for the NUL that is added below */
        utf8proc_int32_t *items = rela_mem_grow(p->items, &p->cap, (size_t)n + 1, sizeof *items);
        if (!items)
            return rela_fail(err, RELA_NOMEM, "no memory to normalise %zu bytes", piece.len);
        p->items = items;
        n = utf8proc_decompose(bytes, len, p->items, (utf8proc_ssize_t)p->cap, options);
    }
    if (n >= 0)
        n = utf8proc_reencode(p->items, n, options);
    if (n < 0)
        return rela_fail(err, RELA_FORMAT, "%s", utf8proc_errmsg(n));
    return rela_buffer_append(out, (const char *)p->items, (size_t)n, err);
}
