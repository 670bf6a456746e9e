/* SPDX-License-Identifier: MIT */
/* src/nn/attn/cache.h - attention of single queries over cached keys and values, for decoding.
 *
 * There are two caches. For self-attention every hypothesis is a list of *slots*, one per position;
 * a slot holds the keys and values of all layers. Hypotheses with a common prefix share its slots,
 * and a beam is reordered by copying lists of slot numbers, never keys. For cross-attention the
 * keys and values of a sentence are stored once and shared by all its hypotheses.
 *
 * Kinds with a running state (rela_attn_method.state) need no keys and values. Only the states of
 * the newest slots are needed, so they are not part of the slots, of which there is one for every
 * position: each sentence has room for the states of its hypotheses at two positions, the one at
 * hand and the one before, and a slot says which of these is its own. A source has one state, of
 * all its keys.
 *
 * The result of a row depends on nothing but its own hypothesis. Nothing is allocated here: memory
 * is the caller's. */
#ifndef RELA_NN_ATTN_CACHE_H
#define RELA_NN_ATTN_CACHE_H

#include "base/error.h"
#include "nn/attn/attn.h"

/* Slots (n_slots, ld). Each has keys and values (2, d) of every layer; those of the layer at hand
 * begin at the column that rows points to. */
typedef struct rela_cache {
    real *rows;
    size_t ld;
    real *states;      /* (places, 2, place_rows, state) */
    size_t state;      /* reals of all layers, for one hypothesis; 0: there are none */
    size_t place_rows; /* maximum number of hypotheses of a sentence */
    size_t owner;      /* where a slot says which hypothesis of its sentence it was made by */
} rela_cache;

/* Reals of a slot with the given number of reals of all layers. */
size_t rela_cache_ld(size_t reals);
/* A place in the states of all layers: hypothesis `row` of a sentence at a position. */
static inline real *rela_cache_state(const rela_cache *c, size_t place, size_t position, size_t row)
{
    return c->states + ((2 * place + position % 2) * c->place_rows + row) * c->state;
}

/* Keys and values of one sentence for the attention of one layer. */
typedef struct rela_memory {
    real *keys_t; /* (heads, d_head, ld): transposed, zero after the n keys */
    real *values; /* (n, d) */
    size_t n, ld;
} rela_memory;

size_t rela_memory_ld(size_t n); /* n keys rounded up to whole vectors */

/* What attention to one stream needs in memory, of all layers. */
typedef struct rela_memories_need {
    size_t n;     /* attentions to it */
    size_t keyed; /* those of them that need keys and values */
    size_t state; /* reals of the states of a sentence */
    size_t shown; /* attentions with a state */
} rela_memories_need;

/* The memories of all sentences for one stream and every layer that attends to it, by the *place*
 * of a sentence: its number among those that are decoded at the same time. Places are given rows
 * and lose them in any order (memories.c). */
typedef struct rela_memories {
    size_t d;
    rela_memories_need need;
    bool tapped;     /* a tap may be set: kinds with a state then need the keys to form weights */
    size_t len;      /* maximum keys of a sentence */
    size_t rows;     /* capacity in keys, each sentence rounded up to whole vectors */
    size_t places;   /* capacity */
    size_t *at;      /* (places) first row */
    size_t *n;       /* (places) keys */
    uint32_t *order; /* (n_given) places that have rows, by first row */
    size_t n_given;
    real *keys_t;     /* (keyed, rows, d): transposed within a sentence */
    real *values;     /* (keyed, rows, d) */
    real *keys;       /* (shown, rows, d) if tapped */
    real *states;     /* (places, state) */
    real *not_finite; /* (n, places): see guard.h */
    void *block;      /* all of these lie in it */
} rela_memories;

/* Sentences whose memories are filled together: rows [at[i], at[i + 1]) of the stream are those of
 * the sentence at places[i]. */
typedef struct rela_memory_group {
    size_t n;
    const uint32_t *at, *places;
} rela_memory_group;

/* Room for the given places and rows; keeps what is there. 0 places: frees all. */
rela_status rela_memories_reserve(rela_memories *m, size_t places, size_t rows, bool tapped,
                                  rela_error *err);
/* Gives a place room for n keys, and takes back what it had; there must be enough in all. May move
 * other memories. */
void rela_memories_give(rela_memories *m, uint32_t place, size_t n);
void rela_memories_take_back(rela_memories *m, uint32_t place);

/* The memory of one sentence for an attention with keys, for the heads from the given column on. */
rela_memory rela_memory_at(const rela_memories *all, size_t keyed, size_t place, size_t column);

typedef struct rela_cache_scratch {
    size_t ld;              /* maximum number of keys, rounded up */
    size_t rows;            /* maximum number of hypotheses of a sentence */
    size_t most;            /* max(heads, rows) */
    real *scores, *weights; /* (most, ld) */
    real *row;              /* 6 rows, for row functions and patterns; for kinds with a state, as
                             * large as one */
    uint32_t *visible;      /* ld */
} rela_cache_scratch;

void rela_cache_scratch_plan(rela_cache_scratch *s, rela_plan *p, const rela_attn_shape *shape,
                             size_t max_len, size_t max_rows);

/* ---- kinds that form rows of weights ---- */

/* Scales the queries of one row, q (heads * d_head), in place: once before they are used. */
void rela_attn_query(const rela_attn *a, real *q);

/* Puts key and value (heads * d_head each) into a slot. */
void rela_cache_put(const rela_cache *c, const rela_attn *a, uint32_t slot, const real *key,
                    const real *value);

/* z (heads * d_head) of one query over the n positions of its hypothesis. */
void rela_cache_attend(const rela_cache *c, const rela_attn *a, const rela_cache_scratch *s,
                       real *z, const real *q, const uint32_t *slots, size_t n);

/* kv: for all rows of the group keys and, d reals after them, values, with leading dimension ld.
 */
void rela_memories_put(const rela_memories *all, const rela_attn *a, size_t keyed,
                       const rela_memory_group *group, const real *kv, size_t ld);

/* z (rows, d) of queries q (rows, d) of one sentence, zero if it is empty. first: number of the
 * first row, for the tap; position: of all these queries. */
void rela_memory_attend(const rela_memory *m, const rela_attn *a, const rela_cache_scratch *s,
                        real *z, const real *q, size_t rows, size_t first, size_t position);

/* ---- kinds with a state: (heads, state of a head) from `state` on ---- */

/* Reals of the states of all heads; 0: the kind has none. */
size_t rela_attn_state(const rela_attn_shape *shape);
/* The state after one more key and value (heads * d_head each): see put of rela_attn_method. */
void rela_state_put(const rela_attn *a, const rela_cache_scratch *s, real *state,
                    const real *before, const real *key, const real *value);
/* z (heads * d_head) of a query (heads * d_head). */
void rela_state_attend(const rela_attn *a, const rela_cache_scratch *s, real *z, const real *q,
                       const real *state);
/* Shows the weights of a query of a sentence to the tap; shown: number of the attention among those
 * with a state; first and position: see rela_memory_attend. */
void rela_state_show(const rela_memories *all, const rela_attn *a, const rela_attn_scratch *s,
                     const real *q, size_t shown, size_t place, size_t first, size_t position);
/* The states of the sentences of a group, at the given offset; kv as above. */
void rela_memories_fold(const rela_memories *all, const rela_attn *a, const rela_cache_scratch *s,
                        size_t offset, const rela_memory_group *group, const real *kv, size_t ld);

#endif
