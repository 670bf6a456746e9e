/* SPDX-License-Identifier: MIT */
/* src/session/session.h - the structs behind the handles of rela/translate.h. */
#ifndef RELA_SESSION_SESSION_H
#define RELA_SESSION_SESSION_H

#include "base/log.h"
#include "decode/search.h"
#include "format/card.h"
#include "rela/text.h"
#include "text/pipeline.h"
#include "text/token_lists.h"

struct rela_runtime {
    int n_threads;
    rela_log log;
};

struct rela_model {
    const rela_runtime *runtime;
    char *path; /* for messages */
    rela_net net;
    rela_packed_weights packed; /* for decoding */
    rela_pipeline *pipeline;
    rela_vocab_pair vocab; /* a shortlist must have been made for these */
    rela_card_summary card;
};

struct rela_session {
    size_t n_models;
    const rela_model **models;
    rela_search_pool *pool;
    struct rela_text_scratch *scratch; /* by thread of the pool; the first is always there */
    size_t n_scratch;
    rela_splitter *splitter; /* for the (first) source */
    /* Tokens of source text so far, and how many are not of the source language. */
    uint64_t n_tokens, n_foreign;
    bool foreign_text; /* has been logged */
};

/* Maximum tokens of a source, without its end symbol, that all models of the session take; at least
 * 1. */
size_t rela_session_most(const rela_session *s);

/* Checks that the model can do more than decode. RELA_FORMAT with its name if it is packed. */
rela_status rela_model_check_full(const rela_model *m, rela_error *err);
/* Checks that it can translate. RELA_ARG with its name if it is made for alignment. */
rela_status rela_model_check_translates(const rela_model *m, rela_error *err);
/* Checks that texts (RELA_SOURCES_MAX; NULL: none) match its sources and that `source` exists.
 * RELA_ARG with its name if not. */
rela_status rela_model_check_texts(const rela_model *m, const char *const *texts, int32_t source,
                                   rela_error *err);
/* Checks that it has one source. RELA_ARG with its name and what needs that, like "filtering", if
 * not. */
rela_status rela_model_check_single(const rela_model *m, const char *what, rela_error *err);
/* RELA_NOTFINITE for a line; file may be NULL; what: "logits are", "attention is". */
rela_status rela_fail_not_finite(rela_error *err, const char *file, uint64_t line,
                                 const char *what);

/* Length of text i: as given, or up to its NUL. */
size_t rela_text_len(const char *const *texts, const size_t *lens, size_t i);

#endif
