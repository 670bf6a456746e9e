/* SPDX-License-Identifier: MIT */
/* src/api/session.h - what stands behind the handles of rela/translate.h. */
#ifndef RELA_API_SESSION_H
#define RELA_API_SESSION_H

#include "base/log.h"
#include "decode/search.h"
#include "text/pipeline.h"

struct rela_runtime {
    int n_threads;
    rela_log log;
};

struct rela_model {
    const rela_runtime *runtime;
    rela_net net;
    rela_frozen frozen; /* laid out for decoding */
    rela_pipeline *pipeline;
};

struct rela_session {
    size_t n_models;
    const rela_model **models;
    rela_search_pool *pool;
    rela_pipeline_scratch *scratch;
};

/* Length of text i: as given, or up to its NUL. */
size_t rela_text_len(const char *const *texts, const size_t *lens, size_t i);

/* Token numbers of many texts behind each other. All zero is empty. */
typedef struct rela_id_list {
    int32_t *ids;
    uint32_t *words; /* of each id */
    size_t n, cap, cap_words;
    size_t *at; /* (n_texts + 1) */
    size_t n_texts, cap_at;
} rela_id_list;

/* Encodes one more text; most: longer ones are cut to so many tokens (*cut, may be NULL); an end
 * symbol follows if with_end. */
typedef struct rela_encode_how {
    int side;
    size_t most; /* 0: any length */
    bool with_end;
} rela_encode_how;

rela_status rela_id_list_add(rela_id_list *l, bool *cut, rela_session *s,
                             const rela_encode_how *how, const char *text, size_t len,
                             rela_error *err);
void rela_id_list_free(rela_id_list *l);

#endif
