/* SPDX-License-Identifier: MIT */
/* src/text/token_lists.h - texts as the model reads them. */
#ifndef RELA_TEXT_TOKEN_LISTS_H
#define RELA_TEXT_TOKEN_LISTS_H

#include "text/pipeline.h"

/* Token numbers of many texts concatenated. All zero is empty. */
typedef struct rela_id_list {
    int32_t *ids;
    uint32_t *words; /* of each id */
    size_t n, cap, cap_words;
    size_t *at; /* (n_texts + 1) */
    size_t n_texts, cap_at;
} rela_id_list;

/* Encodes one more text; most: longer ones are cut to this many tokens (*cut, may be NULL); an end
 * symbol follows if with_end. */
typedef struct rela_encode_how {
    size_t side;
    size_t most; /* 0: any length */
    bool with_end;
    bool several; /* of several sources: an empty text has no end symbol */
} rela_encode_how;

rela_status rela_id_list_add(rela_id_list *l, bool *cut, rela_pipeline_scratch *s,
                             const rela_encode_how *how, const char *text, size_t len,
                             rela_error *err);
void rela_id_list_free(rela_id_list *l);

#endif
