/* SPDX-License-Identifier: MIT */
/* src/decode/allowed_words.c - which symbols a sentence may be translated with.
 *
 * A list depends on its sentence only, never on the neighbours in the batch: so the logits, their
 * sum and the result are the same as when it is translated alone. */
#include "base/mem.h"
#include "decode/searcher.h"

static rela_status make_room(rela_searcher *s, size_t words, size_t sentences, rela_error *err);

rela_status rela_searcher_list_words(rela_searcher *s, const rela_source *sources, size_t n,
                                     rela_error *err)
{
    const rela_shortlist *l = s->options->shortlist;
    size_t at = 0, number = 0;
    s->chosen = 0;
    s->most_words = l ? 0 : s->vocabulary;
    rela_status st = l ? make_room(s, 0, n, err) : RELA_OK;
    for (size_t i = 0; l && i < n && st == RELA_OK; i++) {
        const rela_source *x = &sources[i];
        if (rela_source_longest(x) == 0)
            continue;
        size_t count = 0;
        for (size_t k = 0; k < s->n_sources; k++)
            count += rela_shortlist_mark(s->marks, l, x->text[k].ids, x->text[k].n, x->prefix,
                                         x->n_prefix);
        if (count > s->vocabulary / 2) /* little speed to gain, at the cost of memory */
            count = 0;
        st = make_room(s, at + count, n, err);
        rela_shortlist_collect(st == RELA_OK && count ? s->words + at : NULL, s->marks,
                               s->vocabulary);
        if (st != RELA_OK)
            break;
        s->words_at[number++] = at;
        s->words_at[number] = at += count;
        s->chosen += rela_round_up(count, RELA_CHOSEN_UNIT);
        count = count ? count : s->vocabulary;
        s->most_words = count > s->most_words ? count : s->most_words;
    }
    return st;
}

static rela_status make_room(rela_searcher *s, size_t words, size_t sentences, rela_error *err)
{
    if (!s->marks)
        s->marks = rela_mem_zalloc((s->vocabulary + 63) / 64 * sizeof *s->marks);
    uint32_t *list = rela_mem_grow(s->words, &s->words_cap, words + 1, sizeof *list);
    s->words = list ? list : s->words;
    size_t *at = rela_mem_grow(s->words_at, &s->words_at_cap, sentences + 1, sizeof *at);
    s->words_at = at ? at : s->words_at;
    return s->marks && list && at
               ? RELA_OK
               : rela_fail(err, RELA_NOMEM, "no memory for a list of %zu symbols", words);
}
