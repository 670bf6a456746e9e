/* SPDX-License-Identifier: MIT */
/* src/session/word_map.c - see word_map.h. */
#include "session/word_map.h"

void rela_words_merge(real *merged, const real *w, size_t ld, const rela_word_map *src,
                      const rela_word_map *tgt)
{
    const size_t n = src->n_words + 1;
    for (size_t i = 0; i < tgt->n_words * n; i++)
        merged[i] = 0;
    for (size_t first = 0, end = 0; first < tgt->n_pieces; first = end) {
        const uint32_t word = tgt->word_of[first];
        while (end < tgt->n_pieces && tgt->word_of[end] == word)
            end++;
        const real share = (real)1 / (real)(end - first);
        real *to = merged + word * n;
        for (size_t i = first; i < end; i++) {
            const real *row = w + i * ld;
            for (size_t k = 0; k < src->n_pieces; k++)
                to[src->word_of[k]] += share * row[k];
            to[src->n_words] += share * row[src->n_pieces];
        }
    }
}

uint32_t rela_words_link(const real *row, size_t n_src)
{
    uint32_t best = RELA_NO_LINK;
    real most = 0;
    for (size_t k = 0; k <= n_src; k++)
        if (row[k] > most) {
            most = row[k];
            best = (uint32_t)k;
        }
    return best == n_src ? (uint32_t)RELA_NO_LINK : best;
}
