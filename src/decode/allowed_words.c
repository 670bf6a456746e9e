/* SPDX-License-Identifier: MIT */
/* src/decode/allowed_words.c - which symbols a sentence may be translated with.
 *
 * A list depends on its sentence only, never on the neighbours in the batch: so the logits, their
 * sum and the result are the same as when it is translated alone. */
#include "base/mem.h"
#include "decode/engine_state.h"

rela_status rela_engine_list_words(rela_engine *e, rela_live *x, rela_error *err)
{
    const rela_shortlist *l = x->options->shortlist;
    size_t count = 0;
    if (!e->marks)
        e->marks = rela_mem_zalloc((e->vocabulary + 63) / 64 * sizeof *e->marks);
    if (!e->marks)
        return rela_fail(err, RELA_NOMEM, "no memory for a list of symbols");
    for (size_t k = 0; k < e->n_sources; k++)
        count += rela_shortlist_mark(e->marks, l, x->source.text[k].ids, x->source.text[k].n,
                                     x->source.prefix, x->source.n_prefix);
    if (count > e->vocabulary / 2) /* little speed to gain, at the cost of memory */
        count = 0;
    uint32_t *words = rela_mem_grow(x->words, &x->cap_words, count + 1, sizeof *words);
    x->words = words ? words : x->words;
    rela_shortlist_collect(words && count ? words : NULL, e->marks, e->vocabulary);
    if (!words)
        return rela_fail(err, RELA_NOMEM, "no memory for a list of %zu symbols", count);
    x->listed = count > 0;
    x->n_words = count ? count : e->vocabulary;
    return RELA_OK;
}
