/* SPDX-License-Identifier: MIT */
/* src/view/foreign.c - rela_view_open, and what the readers of foreign.h share. */
#include "view/foreign.h"

#include "base/file.h"
#include "base/line_rows.h"
#include "base/mem.h"
#include "base/sized.h"
#include "page/web_page.h"

#include <math.h>
#include <string.h>

static const char PIECE_START[] = "\xE2\x96\x81"; /* U+2581 */

static void free_text(rela_foreign_text *t)
{
    rela_buffer_free(&t->bytes);
    rela_mem_free(t->pieces);
    rela_mem_free(t->word_of);
}

void rela_foreign_free(rela_foreign *f)
{
    for (int i = 0; i < RELA_DOCUMENT_TEXTS; i++)
        free_text(&f->texts[i]);
    for (int i = 0; i < RELA_DOCUMENT_STACKS; i++)
        rela_buffer_free(&f->rows[i].bytes);
    rela_text_lines_free(&f->src);
    rela_text_lines_free(&f->tgt);
    rela_text_lines_free(&f->gold);
    rela_buffer_free(&f->json);
    rela_support_free(&f->support);
    rela_mem_free(f->logps);
    rela_mem_free(f->weights);
    *f = (rela_foreign){ .name = NULL };
}

static rela_status read_text(rela_text_lines *to, const char *path, rela_error *err)
{
    return path ? rela_text_lines_read(to, path, err) : RELA_OK;
}

static rela_status read_file(rela_foreign *f, rela_error *err)
{
    char *bytes = NULL;
    size_t len = 0, at = 0;
    rela_status st = rela_file_read(&bytes, &len, f->name, 0, err);
    if (st != RELA_OK)
        return st;
    while (at < len && memchr(" \t\r\n", bytes[at], 4))
        at++;
    if (len > 4 && memcmp(bytes, "PK\3\4", 4) == 0)
        st = rela_foreign_dump(f, bytes, len, err);
    else if (at < len && bytes[at] == '{')
        st = rela_foreign_inseq(f, bytes, len, err);
    else
        st = rela_foreign_marian(f, bytes, len, err);
    rela_mem_free(bytes);
    return st;
}

rela_status rela_view_open(rela_buffer *out, const rela_view_import *from, rela_error *err)
{
    rela_view_import own = { .struct_size = sizeof own };
    rela_status st = rela_sized_take(&own, sizeof own, from, "rela_view_import", err);
    if (st != RELA_OK)
        return st;
    if (!own.path)
        return rela_fail(err, RELA_ARG, "a file with attention is needed");
    if (own.gold_base < 0 || own.gold_base > 1)
        return rela_fail(err, RELA_ARG, "gold links count words from %d; expected 0 or 1",
                         own.gold_base);
    if (own.form != RELA_VIEW_PAGE && own.form != RELA_VIEW_DOCUMENT)
        return rela_fail(err, RELA_ARG, "a file with attention becomes a page or a document");
    rela_foreign f = { .from = &own, .name = own.path };
    st = read_text(&f.src, own.src, err);
    st = st ? st : read_text(&f.tgt, own.tgt, err);
    st = st ? st : read_text(&f.gold, own.gold, err);
    st = st ? st : read_file(&f, err);
    if (st == RELA_OK && f.sentences == 0)
        st = rela_fail(err, RELA_FORMAT, "%s: no sentence with attention", f.name);
    st = st ? st : rela_document_end(&f.json, err);
    if (st == RELA_OK && own.form == RELA_VIEW_DOCUMENT)
        st = rela_buffer_append(out, f.json.data, f.json.len, err);
    else if (st == RELA_OK)
        st = rela_page_add_viewer(out, own.title, f.json.data, f.json.len, err);
    rela_foreign_free(&f);
    return st;
}

/* ---- for the readers ---- */

bool rela_foreign_full(const rela_foreign *f)
{
    return f->from->limit && f->sentences >= f->from->limit;
}

rela_status rela_foreign_begin(rela_foreign *f, rela_error *err)
{
    for (size_t i = 0; i < f->model.n_stacks; i++)
        if (f->model.stacks[i].layers * f->model.stacks[i].heads > RELA_FOREIGN_HEADS_MAX)
            return rela_fail(
                err, RELA_FORMAT, "%s: %zu layers of %zu heads; expected at most %d heads", f->name,
                f->model.stacks[i].layers, f->model.stacks[i].heads, RELA_FOREIGN_HEADS_MAX);
    return rela_document_begin(&f->json, f->from->title, &f->model, 1, err);
}

void rela_foreign_clear(rela_foreign *f)
{
    for (int i = 0; i < RELA_DOCUMENT_TEXTS; i++) {
        rela_buffer_clear(&f->texts[i].bytes);
        f->texts[i].n = 0;
        f->texts[i].has_end = false;
    }
    for (int i = 0; i < RELA_DOCUMENT_STACKS; i++)
        rela_buffer_clear(&f->rows[i].bytes);
}

rela_status rela_foreign_add_piece(rela_foreign_text *t, rela_span piece, rela_error *err)
{
    if (t->n == RELA_FOREIGN_TOKENS_MAX)
        return rela_fail(err, RELA_FORMAT, "more than %d tokens", RELA_FOREIGN_TOKENS_MAX);
    for (size_t i = 0; i < piece.len; i++)
        if (piece.text[i] == '\0')
            return rela_fail(err, RELA_FORMAT, "a token holds a NUL");
    rela_status st = rela_buffer_append(&t->bytes, piece.len ? piece.text : "", piece.len, err);
    st = st ? st : rela_buffer_append_char(&t->bytes, '\0', err);
    t->n += st == RELA_OK;
    return st;
}

static bool starts_word(const char *before, const char *piece, bool by_mark)
{
    const size_t len = strlen(before);
    if (by_mark)
        return strncmp(piece, PIECE_START, strlen(PIECE_START)) == 0;
    return !(len > 2 && strcmp(before + len - 2, "@@") == 0);
}

rela_status rela_foreign_end_text(rela_foreign_text *t, bool has_end, rela_error *err)
{
    const char **pieces = rela_mem_grow(t->pieces, &t->cap_pieces, t->n + 1, sizeof *pieces);
    t->pieces = pieces ? pieces : t->pieces;
    uint32_t *word_of = rela_mem_grow(t->word_of, &t->cap_words, t->n + 1, sizeof *word_of);
    t->word_of = word_of ? word_of : t->word_of;
    if (!pieces || !word_of)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", t->n);
    bool by_mark = false;
    const char *at = t->bytes.data;
    for (size_t i = 0; i < t->n; i++, at += strlen(at) + 1) {
        pieces[i] = at;
        by_mark = by_mark || strncmp(at, PIECE_START, strlen(PIECE_START)) == 0;
    }
    t->has_end = has_end && t->n;
    const size_t n = t->n - t->has_end;
    for (size_t i = 0; i < n; i++)
        word_of[i] = i == 0 ? 0 : word_of[i - 1] + starts_word(pieces[i - 1], pieces[i], by_mark);
    return RELA_OK;
}

static rela_word_map map_of(const rela_foreign_text *t)
{
    const size_t n = t->n - t->has_end;
    return (rela_word_map){ t->word_of, n, n ? t->word_of[n - 1] + 1 : 0 };
}

/* The cross attention to the first source. */
static const rela_document_stack *cross_of(const rela_foreign *f)
{
    for (size_t i = 0; i < f->model.n_stacks; i++)
        if (f->model.stacks[i].queries != f->model.stacks[i].keys && f->model.stacks[i].keys == 0)
            return &f->model.stacks[i];
    return NULL;
}

rela_status rela_foreign_start_rows(rela_foreign *f, bool logps, rela_error *err)
{
    const rela_document_stack *cross = cross_of(f);
    const rela_foreign_text *tgt = &f->texts[f->model.n_texts - 1], *src = &f->texts[0];
    if (!cross)
        return RELA_OK;
    const rela_support_pair pair = { .n_q = tgt->n,
                                     .n_k = src->n,
                                     .tgt = map_of(tgt),
                                     .src = map_of(src),
                                     .logps = logps ? f->logps : NULL,
                                     .layers = cross->layers,
                                     .heads = cross->heads };
    return rela_support_start(&f->support, &pair, err);
}

rela_status rela_foreign_room(rela_foreign *f, size_t n, rela_error *err)
{
    real *weights = rela_mem_grow(f->weights, &f->cap_weights, n + 1, sizeof *weights);
    if (!weights)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu weights", n);
    f->weights = weights;
    return RELA_OK;
}

rela_status rela_foreign_add_head(rela_foreign *f, size_t stack, size_t layer, size_t head,
                                  rela_error *err)
{
    const rela_document_stack *of = &f->model.stacks[stack];
    const size_t n_q = f->texts[of->queries].n, n_k = f->texts[of->keys].n;
    rela_status st = RELA_OK;
    for (size_t q = 0; q < n_q && st == RELA_OK; q++) {
        const size_t seen = of->causal && q + 1 < n_k ? q + 1 : n_k;
        st = rela_document_add_row(&f->rows[stack], f->weights + q * n_k, seen, err);
    }
    if (st == RELA_OK && of == cross_of(f))
        rela_support_add(&f->support, layer, head, f->weights);
    return st;
}

static rela_status find_gold(rela_links *gold, const rela_foreign *f, uint64_t line,
                             rela_error *err)
{
    const rela_link_format form = { .struct_size = sizeof form,
                                    .base = f->from->gold_base,
                                    .reverse = f->from->gold_reverse };
    const rela_span text = f->gold.items[line - 1];
    return rela_fail_at(err,
                        rela_links_parse(gold, text.len ? text.text : "", text.len, &form, err),
                        f->from->gold, line);
}

rela_status rela_foreign_add_sentence(rela_foreign *f, uint64_t line, bool logps, bool scored,
                                      double score, rela_error *err)
{
    rela_links gold = { .n = 0 };
    const bool has_gold = line <= f->gold.n, has_cross = cross_of(f) != NULL;
    rela_document_output o = { .logps = logps ? f->logps : NULL,
                               .scored = scored && isfinite(score),
                               .score = score };
    for (size_t i = 0; i < f->model.n_texts; i++)
        o.texts[i] =
            (rela_document_text){ f->texts[i].pieces, f->texts[i].n, map_of(&f->texts[i]) };
    if (has_cross) {
        rela_support_find(&f->support);
        o.support = &f->support;
    }
    rela_status st = has_gold ? find_gold(&gold, f, line, err) : RELA_OK;
    st = st ? st
            : rela_document_sentence(&f->json, f->sentences == 0, line, has_gold ? &gold : NULL,
                                     err);
    st = st ? st : rela_document_add_output(&f->json, true, &f->model, &o, f->rows, err);
    st = st ? st : rela_document_sentence_end(&f->json, err);
    f->sentences += st == RELA_OK;
    rela_links_free(&gold);
    return st;
}
