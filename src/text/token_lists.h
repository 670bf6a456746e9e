/* SPDX-License-Identifier: MIT */
/* src/text/token_lists.h - texts as lists of token ids. */
#ifndef RELA_TEXT_TOKEN_LISTS_H
#define RELA_TEXT_TOKEN_LISTS_H

#include "text/pipeline.h"

/* Token ids of many texts, concatenated. All zero is empty. */
typedef struct rela_id_list {
    int32_t *ids;
    uint32_t *words; /* word index of each id, per text */
    size_t n, cap, cap_words;
    size_t *at; /* (n_texts + 1): where each text starts in ids */
    size_t n_texts, cap_at;
} rela_id_list;

typedef struct rela_encode_how {
    size_t side;
    size_t most;   /* tokens; longer texts are cut; 0: any length */
    bool with_end; /* append EOS */
    bool several;  /* one of several sources: an empty text gets no EOS */
} rela_encode_how;

/* Encodes and appends one text. *cut: whether it was cut; cut may be NULL. */
rela_status rela_id_list_add(rela_id_list *l, bool *cut, rela_pipeline_scratch *s,
                             const rela_encode_how *how, const char *text, size_t len,
                             rela_error *err);
void rela_id_list_free(rela_id_list *l);

#endif
