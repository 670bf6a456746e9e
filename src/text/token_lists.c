/* SPDX-License-Identifier: MIT */
/* src/text/token_lists.c - see token_lists.h. */
#include "text/token_lists.h"

#include "base/mem.h"
#include "rela/vocab.h"

#include <string.h>

rela_status rela_id_list_add(rela_id_list *l, bool *cut, rela_pipeline_scratch *s,
                             const rela_encode_how *how, const char *text, size_t len,
                             rela_error *err)
{
    const int32_t *ids = NULL;
    size_t n = 0;
    const size_t bytes = how->most ? rela_text_bytes(how->most) : SIZE_MAX;
    rela_status st =
        rela_pipeline_encode(&ids, &n, s, how->side, text, len < bytes ? len : bytes, err);
    if (st != RELA_OK)
        return st;
    const bool over = how->most && n > how->most;
    n = over ? how->most : n;
    if (cut)
        *cut = over || len > bytes;
    int32_t *grown = rela_mem_grow(l->ids, &l->cap, l->n + n + 1, sizeof *grown);
    l->ids = grown ? grown : l->ids;
    uint32_t *words = rela_mem_grow(l->words, &l->cap_words, l->n + n + 1, sizeof *words);
    l->words = words ? words : l->words;
    size_t *at = rela_mem_grow(l->at, &l->cap_at, l->n_texts + 2, sizeof *at);
    l->at = at ? at : l->at;
    if (!grown || !words || !at)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", l->n + n);
    if (n) {
        memcpy(grown + l->n, ids, n * sizeof *ids);
        memcpy(words + l->n, rela_pipeline_words(s), n * sizeof *words);
    }
    at[l->n_texts++] = l->n;
    l->n += n;
    if (how->with_end && (n || !how->several)) {
        words[l->n] = n ? words[l->n - 1] + 1 : 0;
        grown[l->n++] = RELA_VOCAB_EOS;
    }
    at[l->n_texts] = l->n;
    return RELA_OK;
}

void rela_id_list_free(rela_id_list *l)
{
    rela_mem_free(l->ids);
    rela_mem_free(l->words);
    rela_mem_free(l->at);
    *l = (rela_id_list){ 0 };
}
