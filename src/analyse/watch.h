/* SPDX-License-Identifier: MIT */
/* src/analyse/watch.h - sentence pairs through a model, teacher forced, with its attention watched.
 *
 * Pairs are packed into batches without padding, so a pair gives the same attention alone and in
 * company. Of each pair and attention layer the weights of all heads arrive together, once; memory
 * is bounded by the longest pair, not by their number. One thread at a time. */
#ifndef RELA_ANALYSE_WATCH_H
#define RELA_ANALYSE_WATCH_H

#include "analyse/words.h"
#include "base/str.h"
#include "model/worker.h"
#include "text/pipeline.h"

enum { RELA_WATCH_TOKENS_MAX = 1024 }; /* of a side, end included; the model may allow less */

typedef struct rela_text_pair {
    rela_span src, tgt;
} rela_text_pair;

typedef enum rela_watched_state {
    RELA_WATCHED,       /* was run */
    RELA_WATCHED_EMPTY, /* a side has no tokens */
    RELA_WATCHED_LONG   /* a side is longer than the limit */
} rela_watched_state;

/* A pair as the model sees it. */
typedef struct rela_watched {
    rela_watched_state state;
    const int32_t *src, *tgt;       /* tokens */
    size_t n_src, n_tgt;            /* how many, the end symbol included */
    rela_word_map src_map, tgt_map; /* the end symbol not among them */
    double nll;                     /* of the target, if it was asked for */
    bool not_finite;                /* numbers of the model overflowed when it was run */
} rela_watched;

/* All heads of one attention layer on one pair. Causally hidden weights are 0. */
typedef struct rela_heads {
    size_t pair; /* number among those loaded */
    rela_attn_type type;
    size_t layer, heads, n_q, n_k;
    const real *w; /* (heads, n_q, n_k); lent during the call */
} rela_heads;

typedef struct rela_watch {
    bool types[RELA_ATTN_N_TYPES]; /* which attention to tell */
    bool nll;                      /* work out the log-likelihood as well */
    rela_status (*see)(void *ctx, const rela_heads *h, rela_error *err);
    rela_status (*ran)(void *ctx, size_t pair, rela_error *err); /* all of it was told; or NULL */
    void *ctx;
} rela_watch;

typedef struct rela_watcher rela_watcher;

/* net and pipeline are lent. */
rela_status rela_watcher_create(rela_watcher **out, const rela_net *net, const rela_pipeline *p,
                                rela_error *err);
void rela_watcher_destroy(rela_watcher *w); /* NULL is fine */

/* Encodes n pairs; those before are forgotten. */
rela_status rela_watcher_load(rela_watcher *w, const rela_text_pair *pairs, size_t n,
                              rela_error *err);
/* Runs those that have state RELA_WATCHED. The first failure of see or ran ends it. Weights that
 * are not finite are told too; then look at not_finite of the pairs. */
rela_status rela_watcher_run(rela_watcher *w, const rela_watch *watch, rela_error *err);
/* The first pair of n that is not finite; n if there is none. */
size_t rela_watcher_odd(const rela_watcher *w, size_t n);

const rela_watched *rela_watcher_pair(const rela_watcher *w, size_t i); /* lent until load */
size_t rela_watcher_limit(const rela_watcher *w); /* tokens of a side, end included */

/* Appends the words of a line, each ended by LF, as the word maps count them. */
rela_status rela_watcher_words(rela_buffer *out, rela_watcher *w, size_t side, rela_span line,
                               rela_error *err);

#endif
