/* SPDX-License-Identifier: MIT */
/* cli/blocks.c - see blocks.h. */
#include "blocks.h"

#include "base/mem.h"

static rela_status index_lines(rela_cli_block *b, rela_error *err);

void rela_cli_block_free(rela_cli_block *b)
{
    rela_buffer_free(&b->bytes);
    rela_mem_free(b->texts);
    rela_mem_free(b->lens);
    *b = (rela_cli_block){ 0 };
}

rela_status rela_cli_block_read(rela_cli_block *b, rela_reader *r, size_t want, rela_error *err)
{
    const rela_status st = rela_reader_block(r, &b->bytes, &b->first, want, err);
    return st == RELA_OK ? index_lines(b, err) : st;
}

rela_status rela_cli_block_lines(rela_cli_block *b, rela_reader *r, size_t n, rela_error *err)
{
    rela_line line = { .text = "" };
    rela_status st = RELA_OK;
    rela_buffer_clear(&b->bytes);
    b->first = rela_reader_lines(r) + 1;
    for (size_t i = 0; i < n && st == RELA_OK && line.text; i++) {
        st = rela_reader_line(r, &line, err);
        if (st != RELA_OK || !line.text)
            break;
        if (line.too_long)
            st = rela_fail(err, RELA_FORMAT, "%s: line %llu: longer than %d bytes",
                           rela_reader_name(r), (unsigned long long)line.number, RELA_LINE_MAX);
        st = st ? st : rela_buffer_append(&b->bytes, line.text, line.len, err);
        st = st ? st : rela_buffer_append_text(&b->bytes, line.had_cr ? "\r\n" : "\n", err);
    }
    return st == RELA_OK ? index_lines(b, err) : st;
}

rela_status rela_cli_block_match(rela_cli_block *b, rela_reader *r, const rela_cli_block *other,
                                 const char *other_name, rela_error *err)
{
    rela_status st = rela_cli_block_lines(b, r, other->n ? other->n : 1, err);
    if (st == RELA_OK && b->n < other->n)
        st = rela_fail(err, RELA_FORMAT, "%s: ends before line %llu, which %s has",
                       rela_reader_name(r), (unsigned long long)(other->first + b->n), other_name);
    if (st == RELA_OK && b->n > other->n)
        st = rela_fail(err, RELA_FORMAT, "%s: has a line %llu, but %s ends before it",
                       rela_reader_name(r), (unsigned long long)b->first, other_name);
    return st;
}

static rela_status index_lines(rela_cli_block *b, rela_error *err)
{
    const char *at = b->bytes.data, *end = at + b->bytes.len;
    rela_span line;
    b->n = 0;
    while (b->bytes.len && rela_next_line(&line, &at, end)) {
        const char **texts = rela_mem_grow(b->texts, &b->cap_texts, b->n + 1, sizeof *texts);
        b->texts = texts ? texts : b->texts;
        size_t *lens = rela_mem_grow(b->lens, &b->cap_lens, b->n + 1, sizeof *lens);
        b->lens = lens ? lens : b->lens;
        if (!texts || !lens)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu lines", b->n + 1);
        texts[b->n] = line.text;
        lens[b->n++] = line.len;
    }
    return RELA_OK;
}
