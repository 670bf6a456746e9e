/* SPDX-License-Identifier: MIT */
/* src/session/watch.h - runs sentence pairs through a model, teacher-forced, and reports its
 * attention.
 *
 * Pairs are packed into batches without padding, so the attention of a pair does not depend on the
 * rest of its batch. For each pair and attention layer the weights of all heads arrive together,
 * once; memory is bounded by the longest pair, not by the number of pairs. One thread at a time. */
#ifndef RELA_SESSION_WATCH_H
#define RELA_SESSION_WATCH_H

#include "base/str.h"
#include "model/worker.h"
#include "session/word_map.h"
#include "text/pipeline.h"

enum { RELA_WATCH_TOKENS_MAX = 1024 }; /* of a side, end included; the model may allow less */

/* Texts of the sources of the model, and the target. */
typedef struct rela_text_pair {
    rela_span src[RELA_SOURCES_MAX], tgt;
} rela_text_pair;

typedef enum rela_watched_state {
    RELA_WATCHED,       /* was run */
    RELA_WATCHED_EMPTY, /* the target has no tokens, or no source has any */
    RELA_WATCHED_LONG   /* a side is longer than the limit */
} rela_watched_state;

/* A text as the model sees it. */
typedef struct rela_watched_text {
    const int32_t *ids;
    size_t n;          /* tokens, the end symbol included; 0: an empty one of several sources */
    rela_word_map map; /* without the end symbol */
} rela_watched_text;

typedef struct rela_watched {
    rela_watched_state state;
    rela_watched_text src[RELA_SOURCES_MAX], tgt;
    double nll;      /* of the target, if it was asked for */
    bool not_finite; /* numbers of the model overflowed when it was run */
} rela_watched;

/* All heads of one attention layer on one pair. Causally masked weights are 0. If there are no keys
 * (n_k 0), all queries attend to nothing. */
typedef struct rela_heads {
    size_t pair;               /* number among those loaded */
    size_t stack;              /* number in the list of the model */
    const rela_attn_stack *of; /* that stack */
    size_t layer, heads, n_q, n_k;
    const real *w; /* (heads, n_q, n_k); lent during the call */
} rela_heads;

/* Keys that a query may attend to. */
static inline size_t rela_heads_keys(const rela_heads *h, size_t query)
{
    return h->of->causal ? query + 1 : h->n_k;
}

/* A set of stacks: a bit for each. */
enum { RELA_WATCH_ALL = (1 << RELA_STACKS_MAX) - 1 };

static inline uint32_t rela_watch_stack(size_t stack)
{
    return (uint32_t)1 << stack;
}

typedef struct rela_watch {
    uint32_t stacks; /* set of stacks to report */
    bool nll;        /* compute the log-likelihood as well */
    rela_status (*on_heads)(void *ctx, const rela_heads *h, rela_error *err);
    rela_status (*on_pair_end)(void *ctx, size_t pair, rela_error *err); /* may be NULL */
    void *ctx;
} rela_watch;

typedef struct rela_watcher rela_watcher;

/* net and pipeline are lent. */
rela_status rela_watcher_create(rela_watcher **out, const rela_net *net, const rela_pipeline *p,
                                rela_error *err);
void rela_watcher_destroy(rela_watcher *w); /* NULL is fine */

/* Encodes n pairs, which replace those loaded before. */
rela_status rela_watcher_load(rela_watcher *w, const rela_text_pair *pairs, size_t n,
                              rela_error *err);
/* Runs those that have state RELA_WATCHED. The first failure of a callback ends it. Weights that
 * are not finite are passed on too; check not_finite of the pairs. */
rela_status rela_watcher_run(rela_watcher *w, const rela_watch *watch, rela_error *err);
/* The first pair of n that is not finite; n if there is none. */
size_t rela_watcher_not_finite(const rela_watcher *w, size_t n);

const rela_watched *rela_watcher_pair(const rela_watcher *w, size_t i); /* lent until load */
size_t rela_watcher_limit(const rela_watcher *w); /* tokens of a side, end included */

/* Negative log-likelihoods of the target tokens of a pair, if they were asked for; only until
 * on_pair_end returns. */
const real *rela_watcher_nll(const rela_watcher *w, size_t pair);

/* Appends the subwords of a line, separated by blanks: the text of the tokens. */
rela_status rela_watcher_pieces(rela_buffer *out, rela_watcher *w, size_t side, rela_span line,
                                rela_error *err);
/* Appends the words of a line, each ended by LF, as the word maps count them. */
rela_status rela_watcher_words(rela_buffer *out, rela_watcher *w, size_t side, rela_span line,
                               rela_error *err);

#endif
