/* SPDX-License-Identifier: MIT */
/* src/decode/search.h - from source ids to the best target ids: greedy search, beam search or
 * sampling, with one net or an ensemble whose probabilities are averaged.
 *
 * Promises: the result of a sentence depends neither on the other sentences given with it, nor on
 * their order or when they came, nor on the number of threads. Symbols: 0 <pad>, never produced; 1
 * <unk>; 2 the end of a sentence.
 *
 * The log-probability of a hypothesis is the sum over its symbols, the end included. Its score, by
 * which hypotheses are ranked, is that divided by the length penalty of its length; the length
 * counts the end as well. */
#ifndef RELA_DECODE_SEARCH_H
#define RELA_DECODE_SEARCH_H

#include "base/callback.h"
#include "base/stop.h"
#include "format/shortlist.h"
#include "model/packed.h"

enum { RELA_PAD = 0, RELA_UNK = 1, RELA_EOS = 2 };
enum { RELA_BEAM_MAX = 512 };

typedef struct rela_search_options {
    int32_t method;  /* RELA_SEARCH_BEAM (a beam of 1 is greedy search), RELA_SEARCH_SAMPLE */
    size_t beam;     /* 1 .. RELA_BEAM_MAX */
    size_t n_best;   /* hypotheses per sentence: at most beam; sampling: independent samples */
    int32_t penalty; /* RELA_PENALTY_... */
    double alpha;
    /* Maximum length, end symbol included: max_factor * source + max_extra, where source is the
     * length of the (longest) source without its end symbol; never more than the model's maximum.
     * Minimum length, without the end symbol: min_factor * source + min_extra. */
    double max_factor, min_factor;
    long max_extra, min_extra;
    bool forbid_unk;
    /* Restricts the output symbols of each sentence, lent; probabilities are normalised over these
     * symbols. NULL: all symbols. A sentence whose list is more than half the vocabulary has all,
     * too. */
    const rela_shortlist *shortlist;
    /* Sampling. */
    double temperature; /* above 0 */
    size_t top_k;       /* among the k most probable symbols; 0: all */
    double top_p;       /* among the fewest that have this probability together; 1: all */
    uint64_t seed;
    /* Record the cross-attention of each emitted symbol to one source: chosen heads of the (first)
     * net. */
    bool attention;
    size_t source;
    bool heaviest; /* rela_search_pool only: keep where it was largest, see rela_hypothesis */
    const uint32_t *heads; /* layer * heads + head, ascending, lent; NULL: all */
    size_t n_heads;
    /* rela_search_pool only: limits of what is decoded at the same time, by all threads. */
    size_t batch_sentences, batch_tokens;
    /* Of a closed batch, not of a sentence. */
    rela_callback *callback; /* polled in every step; counts sentences. NULL: none */
    rela_stop stop;          /* asked before each step: RELA_CANCEL */
} rela_search_options;

/* Beam 4, GNMT with 0.6, longest = source + 50, 32 sentences at a time. */
void rela_search_options_init(rela_search_options *o);

/* Symbols of a text without the end symbol. */
typedef struct rela_source_text {
    const int32_t *ids;
    size_t n;
} rela_source_text;

/* One sentence to be translated. All pointers are lent. */
typedef struct rela_source {
    rela_source_text text[RELA_SOURCES_MAX]; /* by source; all empty: so is the translation */
    const int32_t *prefix;                   /* the translation must begin with these */
    size_t n_prefix;
    uint64_t number; /* seeds the random numbers of sampling, together with the seed */
    bool part;       /* of something longer: rela_search_pool does not keep its attention */
} rela_source;

/* Rows of a text when it is encoded, its end included; an empty one of several sources has none. */
static inline size_t rela_source_rows(const rela_source_text *t)
{
    return t->n ? t->n + 1 : 0;
}

/* Symbols of its longest text. */
static inline size_t rela_source_longest(const rela_source *x)
{
    size_t most = 0;
    for (size_t i = 0; i < RELA_SOURCES_MAX; i++)
        most = x->text[i].n > most ? x->text[i].n : most;
    return most;
}

typedef struct rela_hypothesis {
    const int32_t *ids; /* (n) without the end symbol */
    size_t n;
    bool complete;     /* false: cut off at the maximum length, there is no end symbol */
    double logp;       /* sum of log-probabilities */
    double score;      /* logp over the length penalty */
    const real *logps; /* (n + complete) of each symbol, the end last */
    /* (n + complete, n_heads, source + 1, or 0 if that is empty) attention weights in the step that
     * chose each symbol, or NULL */
    const real *attention;
    /* (n + complete) position of the source symbol, never its end, with the largest weight summed
     * over the heads; NULL if the source is empty or heaviest was not set */
    const uint32_t *heaviest;
} rela_hypothesis;

/* Hypotheses of one sentence: complete ones first, by descending score, then those cut off. At
 * least one; fewer than n_best if the search found no more. */
typedef struct rela_search_result {
    const rela_hypothesis *best;
    size_t n;
    bool not_finite; /* logits were not finite: one hypothesis, which is empty */
    size_t n_heads;  /* whose attention was recorded */
} rela_search_result;

/* ---- one thread, one batch ---- */

typedef struct rela_engine rela_engine; /* caches and scratch of one thread: decode/engine.h */

/* RELA_ARG, before anything is computed: options and sources. */
rela_status rela_search_check(const rela_engine *e, const rela_source *sources, size_t n,
                              const rela_search_options *o, rela_error *err);
/* Translates all n sources together on an idle engine. results (n) are lent until the next run. */
rela_status rela_search_run(rela_engine *e, rela_search_result *results, const rela_source *sources,
                            size_t n, const rela_search_options *o, rela_error *err);

/* ---- many sentences, several threads ---- */

typedef struct rela_search_pool rela_search_pool; /* an engine per thread: decode/pool.h */
typedef struct rela_search_results rela_search_results;

/* n_threads 0: as many as there are cores. Nets as for rela_engine_create. */
rela_status rela_search_pool_create(rela_search_pool **out, const rela_packed_weights *const *nets,
                                    size_t n_nets, int n_threads, rela_error *err);
void rela_search_pool_destroy(rela_search_pool *p); /* NULL is fine */

/* Longest sentences first. Results are in the order of the sources. They are given to the caller
 * and may outlive the pool. */
rela_status rela_search_pool_run(rela_search_results **out, rela_search_pool *p,
                                 const rela_source *sources, size_t n, const rela_search_options *o,
                                 rela_error *err);
void rela_search_results_free(rela_search_results *r); /* NULL is fine */
size_t rela_search_results_count(const rela_search_results *r);
rela_search_result rela_search_results_at(const rela_search_results *r, size_t i); /* lent */

#endif
