/* SPDX-License-Identifier: MIT */
/* src/analyse/tag_null.c - see tag_null.h. */
#include "analyse/tag_null.h"

#include "base/mem.h"

static bool is_null(const real *row, size_t n);

rela_status rela_tag_null_init(rela_tag_null *t, size_t layers, size_t heads, size_t n_tags,
                               rela_error *err)
{
    *t = (rela_tag_null){ .layers = layers, .heads = heads, .n_tags = n_tags };
    t->cells = rela_mem_zalloc(layers * heads * n_tags * sizeof *t->cells);
    return t->cells ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for %zu tags", n_tags);
}

void rela_tag_null_deinit(rela_tag_null *t)
{
    rela_mem_free(t->cells);
    *t = (rela_tag_null){ 0 };
}

void rela_tag_null_count(rela_tag_null *t, const rela_heads *h, const rela_watched *p,
                         const uint32_t *tags)
{
    const uint32_t *word_of = p->tgt.map.word_of;
    for (size_t q = 0; q < h->n_q; q++) {
        const size_t n = p->tgt.map.n_pieces;
        if (q > 0 && q < n && word_of[q] == word_of[q - 1])
            continue; /* inside a word */
        const uint32_t tag = q == 0 ? 0 : tags[word_of[q - 1]];
        for (size_t k = 0; k < h->heads; k++) {
            rela_tag_sums *c = &t->cells[(h->layer * t->heads + k) * t->n_tags + tag];
            c->rows++;
            c->null_rows += is_null(h->w + (k * h->n_q + q) * h->n_k, h->n_k);
        }
    }
}

void rela_tag_null_add(rela_tag_null *sum, const rela_tag_null *x)
{
    for (size_t i = 0; i < sum->layers * sum->heads * sum->n_tags; i++) {
        sum->cells[i].rows += x->cells[i].rows;
        sum->cells[i].null_rows += x->cells[i].null_rows;
    }
}

size_t rela_tags_find(uint32_t *tags, size_t most, const rela_map *names, rela_span line)
{
    const char *at = line.text;
    size_t n = 0;
    for (rela_span word; rela_next_word(&word, &at, line.text + line.len); n++)
        if (n < most)
            tags[n] = rela_map_find(names, word.text, word.len);
    return n;
}

static bool is_null(const real *row, size_t n)
{
    size_t i = 0;
    while (i < n && row[i] == 0)
        i++;
    return i == n;
}
