/* SPDX-License-Identifier: MIT */
/* cli/sources.c - see sources.h. */
#include "sources.h"

#include "base/mem.h"

#include <string.h>

static rela_status check_paths(rela_cli_sources *s, const char *const *paths, const char *option,
                               rela_error *err);
static rela_status join_files(const rela_cli_sources *s, rela_cli_sentences *b, rela_error *err);
static rela_status split_columns(const rela_cli_sources *s, rela_cli_sentences *b, rela_error *err);

rela_status rela_cli_sources_open(rela_cli_sources *s, const rela_model *m,
                                  const char *const paths[RELA_SOURCES_MAX], const char *option,
                                  rela_error *err)
{
    rela_model_shape shape = { .struct_size = sizeof shape };
    rela_status st = rela_model_shape_get(&shape, m, err);
    s->n = (size_t)shape.sources;
    st = st ? st : check_paths(s, paths, option, err);
    for (size_t k = 0; k < RELA_SOURCES_MAX && st == RELA_OK; k++)
        if (paths[k])
            st = rela_reader_open(&s->readers[k], paths[k], NULL, err);
    return st;
}

/* Either all sources have a path, or only the first, which then has columns. */
static rela_status check_paths(rela_cli_sources *s, const char *const *paths, const char *option,
                               rela_error *err)
{
    s->columns = s->n > 1;
    for (size_t k = 1; k < RELA_SOURCES_MAX; k++)
        s->columns = s->columns && !paths[k];
    for (size_t k = 1; k < RELA_SOURCES_MAX; k++) {
        if (paths[k] && k >= s->n)
            return rela_fail(err, RELA_ARG, "--%s-%zu: the model has %zu source%s", option, k + 1,
                             s->n, s->n == 1 ? "" : "s");
        if (!paths[k] && k < s->n && !s->columns)
            return rela_fail(err, RELA_ARG,
                             "the model has %zu sources: --%s-%zu is needed, or --%s alone with "
                             "tab-separated columns",
                             s->n, option, k + 1, option);
    }
    return RELA_OK;
}

void rela_cli_sources_close(rela_cli_sources *s)
{
    for (size_t k = 0; k < RELA_SOURCES_MAX; k++)
        rela_reader_close(s->readers[k]);
    *s = (rela_cli_sources){ 0 };
}

void rela_cli_sentences_free(rela_cli_sentences *b)
{
    for (size_t k = 0; k < RELA_SOURCES_MAX; k++)
        rela_cli_block_free(&b->blocks[k]);
    rela_mem_free((void *)b->own_texts);
    rela_mem_free(b->own_lens);
    *b = (rela_cli_sentences){ 0 };
}

rela_status rela_cli_sources_read(rela_cli_sources *s, rela_cli_sentences *b, size_t want,
                                  size_t lines, rela_error *err)
{
    rela_cli_block *first = &b->blocks[0];
    rela_status st = lines ? rela_cli_block_lines(first, s->readers[0], lines, err)
                           : rela_cli_block_read(first, s->readers[0], want, err);
    for (size_t k = 1; k < s->n && st == RELA_OK && !s->columns; k++)
        st = rela_cli_block_match(&b->blocks[k], s->readers[k], first,
                                  rela_reader_name(s->readers[0]), err);
    b->n = first->n;
    b->first = first->first;
    b->texts = first->texts;
    b->lens = first->lens;
    if (st != RELA_OK || s->n == 1)
        return st;
    const size_t n = s->n * b->n;
    const char **texts =
        rela_mem_grow((void *)b->own_texts, &b->cap_texts, n + 1, sizeof *b->own_texts);
    b->own_texts = texts ? texts : b->own_texts;
    size_t *lens = rela_mem_grow(b->own_lens, &b->cap_lens, n + 1, sizeof *lens);
    b->own_lens = lens ? lens : b->own_lens;
    if (!texts || !lens)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu lines", n);
    b->texts = texts;
    b->lens = lens;
    return s->columns ? split_columns(s, b, err) : join_files(s, b, err);
}

void rela_cli_sources_check(const rela_cli_sources *s, const rela_cli_sentences *b, rela_cli *cli)
{
    for (size_t k = 0; k < RELA_SOURCES_MAX; k++)
        if (s->readers[k])
            rela_cli_check_encoding(cli, rela_reader_name(s->readers[k]), b->blocks[k].bytes.data,
                                    b->blocks[k].bytes.len, b->first);
}

static rela_status join_files(const rela_cli_sources *s, rela_cli_sentences *b, rela_error *err)
{
    (void)err;
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < s->n; k++) {
            b->own_texts[i * s->n + k] = b->blocks[k].texts[i];
            b->own_lens[i * s->n + k] = b->blocks[k].lens[i];
        }
    return RELA_OK;
}

/* In an empty line all columns are empty. */
static rela_status split_columns(const rela_cli_sources *s, rela_cli_sentences *b, rela_error *err)
{
    for (size_t i = 0; i < b->n; i++) {
        const char *at = b->blocks[0].texts[i], *end = at + b->blocks[0].lens[i];
        const bool empty = at == end;
        size_t n = 0;
        for (bool more = true; more; n++) {
            const char *tab = memchr(at, '\t', (size_t)(end - at));
            more = tab != NULL;
            if (n < s->n) {
                b->own_texts[i * s->n + n] = at;
                b->own_lens[i * s->n + n] = (size_t)((tab ? tab : end) - at);
            }
            at = tab ? tab + 1 : end;
        }
        for (; empty && n < s->n; n++) {
            b->own_texts[i * s->n + n] = at;
            b->own_lens[i * s->n + n] = 0;
        }
        if (n != s->n)
            return rela_fail(err, RELA_FORMAT,
                             "%s: line %llu: %zu tab-separated column%s; the model has %zu sources",
                             rela_reader_name(s->readers[0]), (unsigned long long)(b->first + i), n,
                             n == 1 ? "" : "s", s->n);
    }
    return RELA_OK;
}
