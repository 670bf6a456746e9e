/* SPDX-License-Identifier: MIT */
/* src/decode/searcher.h - the state of a search, shared by searcher.c and the strategies.
 *
 * All sentences of a batch advance together, one symbol per step. A live hypothesis is a row. What
 * it has emitted is a chain of nodes, so that extending it copies nothing but its list of slots
 * (nn/attn/cache.h). A strategy looks at the rows of one sentence at a time, and extends or ends
 * them; sentences without rows are finished. */
#ifndef RELA_DECODE_SEARCHER_H
#define RELA_DECODE_SEARCHER_H

#include "base/arena.h"
#include "decode/search.h"
#include "model/generator.h"

enum {
    RELA_NO_NODE = UINT32_MAX,
    RELA_SLICE = 512 /* symbols whose logits exist at a time; a multiple of every panel size */
};

/* One emitted symbol. */
typedef struct rela_node {
    uint32_t parent; /* RELA_NO_NODE: the first */
    uint32_t record; /* of the attention in the step that chose it */
    int32_t token;
    real logp;
} rela_node;

/* A hypothesis that is no longer extended. */
typedef struct rela_ended {
    uint32_t node;
    uint32_t length; /* symbols, the end included */
    bool complete;
    double logp, score;
} rela_ended;

/* Live hypotheses; those of a sentence are adjacent. */
typedef struct rela_live_rows {
    size_t n;
    int32_t *token;     /* last symbol */
    uint32_t *position; /* symbols so far */
    uint32_t *sentence; /* in the batch */
    uint32_t *node;
    uint32_t *sample; /* number of the sample it belongs to */
    double *logp;
    uint32_t *history; /* (n, ld_history) slots */
} rela_live_rows;

typedef struct rela_sentence {
    const rela_source *source;
    size_t result;         /* place among the results */
    size_t first, n;       /* its rows in this step */
    size_t limit, least;   /* maximum symbols with the end; minimum without it */
    const uint32_t *words; /* symbols it may have, ascending, the special ones first; NULL: all */
    size_t n_words;
    rela_ended *ended; /* complete ones by descending score, then those cut off */
    size_t n_ended;
    bool not_finite; /* the search has ended: logits of a row were not finite */
} rela_sentence;

typedef struct rela_candidate {
    uint32_t row;
    int32_t token;
    double logp; /* of the whole hypothesis */
} rela_candidate;

typedef struct rela_strategy {
    /* Extends or ends the rows of x, all at the same position, none of them in a forced prefix. */
    void (*choose)(rela_searcher *s, rela_sentence *x);
} rela_strategy;

extern const rela_strategy rela_strategy_greedy, rela_strategy_beam, rela_strategy_sample;

struct rela_searcher {
    size_t n_nets;
    const rela_packed_weights **nets;
    rela_generator **decoders;
    size_t vocabulary;
    const rela_kern *k;
    /* The run. */
    const rela_search_options *options;
    const rela_strategy *strategy;
    size_t width; /* maximum number of hypotheses of a sentence */
    rela_sentence *sentences;
    size_t n_sentences;
    rela_live_rows rows, next;
    size_t ld_history;
    /* Lists of symbols of the sentences that have one, concatenated. */
    uint64_t *marks; /* a bit per symbol; all 0 between uses */
    uint32_t *words;
    size_t *words_at; /* (sentences + 1) */
    size_t words_cap, words_at_cap;
    size_t chosen; /* symbols of all lists, see rela_generator_size; 0: no sentence has a list */
    size_t most_words; /* of a sentence */
    /* Predictions: log-probability = logit - lse. Forbidden symbols are -INFINITY. */
    bool whole;   /* all logits of a row are kept */
    real *logits; /* (rows, most_words if whole, RELA_SLICE otherwise) */
    real *other;  /* the same for the further nets of an ensemble */
    double *lse;  /* (rows); not finite if logits of the row are NaN or INFINITY */
    rela_exp_sum *sums;
    size_t list;          /* number of best symbols to find */
    uint32_t *best_at;    /* (rows, list) symbols, best first */
    real *best;           /* (rows, list) their logits */
    uint32_t *n_best;     /* (rows) */
    double *forced;       /* (rows) logit of the symbol that the prefix requires */
    rela_candidate *pool; /* beam: (2 width) */
    uint32_t *order;      /* sampling: (most_words) */
    real *sorted;         /* sampling: (most_words) */
    size_t n_sources;
    int32_t *src_ids[RELA_SOURCES_MAX];
    uint32_t *src_at[RELA_SOURCES_MAX];
    size_t stack; /* of the attention that is recorded */
    void *block;
    size_t block_bytes;
    /* Grows during a run. */
    rela_node *nodes;
    size_t n_nodes, nodes_cap;
    uint32_t *free_slots;
    uint8_t *slot_used;
    size_t n_free, n_slots;
    real *records; /* attention: (n_records, n_heads, ld_record) */
    size_t n_records, records_cap, n_heads, ld_record;
    rela_arena *arena; /* results */
};

/* Rows of a text in the batch, its end included; an empty one of several sources has none. */
static inline size_t rela_source_rows(const rela_source_text *t)
{
    return t->n ? t->n + 1 : 0;
}

/* Symbol number i among those allowed for a sentence. */
static inline uint32_t rela_sentence_word(const rela_sentence *x, size_t i)
{
    return x->words ? x->words[i] : (uint32_t)i;
}

double rela_penalty(const rela_search_options *o, size_t length);

/* Sets up memory, sources and the first rows of a run whose options are set (search_start.c). */
rela_status rela_searcher_start(rela_searcher *s, const rela_source *sources, size_t n,
                                rela_error *err);

/* Extends the row by one symbol; logp: of the whole hypothesis. */
void rela_searcher_extend(rela_searcher *s, size_t row, int32_t token, double logp);

/* Ends the row with the end symbol. Only the best `width` ended hypotheses are kept. */
void rela_searcher_end(rela_searcher *s, rela_sentence *x, size_t row, double logp);

/* Builds the lists of symbols of all sentences with a source (allowed_words.c). */
rela_status rela_searcher_list_words(rela_searcher *s, const rela_source *sources, size_t n,
                                     rela_error *err);

/* Computes the logits of all rows, their log-sum-exp and best symbols (predict.c). */
void rela_searcher_predict(rela_searcher *s);

/* (search_check.c) */
rela_status rela_search_check(const rela_searcher *s, const rela_source *sources, size_t n,
                              const rela_search_options *o, rela_error *err);

/* Turns ended hypotheses into results (hypotheses.c). */
rela_status rela_searcher_results(rela_searcher *s, rela_search_result *results, size_t n,
                                  rela_error *err);

#endif
