/* SPDX-License-Identifier: MIT */
/* src/decode/engine_state.h - the state of an engine, shared by its files and the strategies.
 *
 * A live hypothesis is a row; those of a sentence are adjacent. What it has emitted is a chain of
 * nodes, so that extending it copies nothing but its list of slots (nn/attn/cache.h). Slots are a
 * tree: each knows the slot of the position before, and how many slots and rows come after it; one
 * that nothing comes after is free. A strategy looks at the rows of one sentence at a time, and
 * extends or ends them; a sentence without rows has ended. */
#ifndef RELA_DECODE_ENGINE_STATE_H
#define RELA_DECODE_ENGINE_STATE_H

#include "decode/engine.h"
#include "model/generator.h"

enum {
    RELA_NO_NODE = UINT32_MAX,
    RELA_NO_SLOT = UINT32_MAX,
    RELA_LOGITS_PART =
        512 /* symbols whose logits exist at a time; a multiple of every panel size */
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

typedef struct rela_live_rows {
    size_t n;
    int32_t *token;     /* last symbol */
    uint32_t *position; /* symbols so far */
    uint32_t *place;    /* of the sentence */
    uint32_t *node;
    uint32_t *sample; /* number of the sample it belongs to */
    double *logp;
    uint32_t *history; /* (n, ld_history) slots */
} rela_live_rows;

typedef struct rela_candidate {
    uint32_t row;
    int32_t token;
    double logp; /* of the whole hypothesis */
} rela_candidate;

typedef struct rela_live rela_live;

typedef struct rela_strategy {
    /* Extends or ends the rows of x, all at the same position, none of them in a forced prefix. */
    void (*choose)(rela_engine *e, rela_live *x);
} rela_strategy;

extern const rela_strategy rela_strategy_greedy, rela_strategy_beam, rela_strategy_sample;

typedef enum rela_live_state { RELA_LIVE_FREE, RELA_LIVE_RUNS, RELA_LIVE_ENDED } rela_live_state;

/* A sentence from its admission until it is taken. Arrays stay for the next one at its place. */
struct rela_live {
    rela_live_state state;
    uint32_t after; /* next place that has ended */
    size_t room;    /* the longest source it had */
    rela_source source;
    const rela_search_options *options;
    void *ctx;
    const rela_strategy *strategy;
    size_t width;              /* maximum number of hypotheses */
    size_t list;               /* number of best symbols to find in a step */
    bool whole;                /* all logits of a row are needed together */
    size_t first, n;           /* its rows in this step */
    size_t limit, least;       /* maximum symbols with the end; minimum without it */
    bool listed;               /* it may have only the symbols of its list */
    uint32_t *words;           /* the list, ascending, the special ones first */
    size_t n_words, cap_words; /* without a list: size of the vocabulary */
    rela_ended *ended;         /* complete ones by descending score, then those cut off */
    size_t n_ended, cap_ended;
    rela_node *nodes;
    size_t n_nodes, cap_nodes;
    real *records; /* attention: (n_records, n_heads, ld_record) */
    size_t n_records, cap_records, n_heads, ld_record;
    size_t stack;    /* of the attention that is recorded */
    bool not_finite; /* the search has ended: logits of a row were not finite */
};

struct rela_engine {
    size_t n_nets;
    const rela_packed_weights **nets;
    rela_generator **decoders;
    size_t vocabulary, n_sources;
    const rela_kern *k;
    rela_callback *callback;
    rela_live *places;
    size_t n_places, n_live, n_started; /* n_started: places not free */
    uint32_t first_ended, last_ended;
    rela_live_rows rows, next;
    uint64_t *marks; /* of a list: a bit per symbol; all 0 between uses */
    /* What memory is planned for. */
    rela_generator_size size;
    size_t list, n_whole, most_words, most_width;
    void *block;
    size_t block_bytes;
    /* Predictions: log-probability = logit - lse. Forbidden symbols are -INFINITY. */
    real *logits;       /* (rows, RELA_LOGITS_PART) */
    real *whole;        /* (n_whole, most_words): rows whose logits are needed together */
    real *other;        /* the same for the further nets of an ensemble */
    uint32_t *whole_at; /* (rows) place in `whole` */
    double *lse;        /* (rows); not finite if logits of the row are NaN or INFINITY */
    rela_exp_sum *sums;
    uint32_t *best_at;    /* (rows, list) symbols, best first */
    real *best;           /* (rows, list) their logits */
    uint32_t *n_best;     /* (rows) */
    double *forced;       /* (rows) logit of the symbol that the prefix requires */
    rela_candidate *pool; /* beam: (2 width) */
    uint32_t *order;      /* sampling: (most_words) */
    real *sorted;         /* sampling: (most_words) */
    /* Sources that are read together. */
    int32_t *src_ids[RELA_SOURCES_MAX];
    uint32_t *src_at[RELA_SOURCES_MAX], *src_places;
    /* Slots. */
    uint64_t *free_slots; /* a bit for each slot that is free */
    size_t first_free;    /* words of these before it are 0 */
    uint32_t *slot_before, *slot_uses;
    size_t n_free, n_slots;
    rela_arena *results; /* of rela_search_run */
};

/* Symbol number i among those allowed for a sentence. */
static inline uint32_t rela_live_word(const rela_live *x, size_t i)
{
    return x->listed ? x->words[i] : (uint32_t)i;
}

static inline rela_live *rela_live_of(const rela_engine *e, size_t row)
{
    return &e->places[e->rows.place[row]];
}

double rela_penalty(const rela_search_options *o, size_t length);

/* ---- engine_room.c ---- */

/* A free place, which may be new, for a sentence of this length. RELA_NO_PLACE: no memory. */
uint32_t rela_engine_free_place(rela_engine *e, size_t longest);
/* Sets up the sentence at a place: limits, list of symbols, arrays. */
rela_status rela_engine_set_up(rela_engine *e, uint32_t place, const rela_admission *a,
                               rela_error *err);
/* Room for n sentences at these places besides those that live. */
rela_status rela_engine_reserve(rela_engine *e, const uint32_t *places, size_t n, rela_error *err);
/* Room for what a step may add; a slot for each row. */
rela_status rela_engine_make_room(rela_engine *e, rela_error *err);

/* ---- engine_rows.c ---- */

/* The first rows of a sentence. */
void rela_engine_start_rows(rela_engine *e, uint32_t place);
/* Extends the row by one symbol; logp: of the whole hypothesis. */
void rela_engine_extend(rela_engine *e, size_t row, int32_t token, double logp);
/* Ends the row with the end symbol. Only the best `width` ended hypotheses are kept. */
void rela_engine_end(rela_engine *e, rela_live *x, size_t row, double logp);
/* Hypotheses that cannot go on are kept after the complete ones. */
void rela_engine_cut(rela_live *x, const rela_live_rows *rows, size_t first, size_t n);
/* Makes `next` the current rows, and frees the slots that none of them needs. */
void rela_engine_advance(rela_engine *e);
/* Removes the rows of a sentence. */
void rela_engine_drop_rows(rela_engine *e, uint32_t place);

/* ---- others ---- */

/* The list of symbols of a sentence that has a shortlist (allowed_words.c). */
rela_status rela_engine_list_words(rela_engine *e, rela_live *x, rela_error *err);
/* Computes the logits of all rows, their log-sum-exp and best symbols (predict.c). */
void rela_engine_predict(rela_engine *e);
/* Turns ended hypotheses into a result (hypotheses.c). */
rela_status rela_live_result(const rela_live *x, rela_search_result *out, rela_arena *arena,
                             rela_error *err);

#endif
