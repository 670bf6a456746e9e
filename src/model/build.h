/* SPDX-License-Identifier: MIT */
/* src/model/build.h - builds the list of blocks of a configuration; the only place that knows what
 * an encoder and a decoder are. */
#ifndef RELA_MODEL_BUILD_H
#define RELA_MODEL_BUILD_H

#include "model/config.h"
#include "nn/block.h"

/* One attention of the model across all its layers: which stream attends to which. Analyses are
 * reported by these. */
typedef struct rela_attn_stack {
    /* With several sources, name and key, which programs read, count them from 0; the label from
     * 1. */
    char label[16];       /* for people: "encoder", "cross 2" */
    char name[16];        /* "enc", "dec", "cross", "cross1" */
    char key[16];         /* in JSON, tables and dumps: "encoder", "cross 1" */
    rela_attn_type type;  /* its type in the configuration */
    size_t queries, keys; /* streams */
    size_t layers;
    bool causal;
} rela_attn_stack;

enum { RELA_STACKS_MAX = 2 * RELA_SOURCES_MAX + 1 };

/* Lists the stacks of a configuration in this order: self-attention of each source, of the target,
 * cross-attention to each source. Returns their number. */
size_t rela_attn_stacks(rela_attn_stack stacks[RELA_STACKS_MAX], const rela_config *c);

typedef struct rela_block_list {
    rela_block *blocks; /* in the order of the forward pass */
    size_t n;
    size_t n_streams; /* the last is the target */
    /* Self-attention of the target: reals of a cache slot, and of the states of a hypothesis. */
    size_t slot, state;
    rela_memories_need memories[RELA_STREAMS_MAX]; /* cross-attention to the stream */
    size_t made; /* reals of the arrays that kinds of attention make */
    rela_attn_stack stacks[RELA_STACKS_MAX];
    size_t n_stacks;
    /* Offset at which the parameters of blocks end; the norms of streams follow. */
    size_t params_end;
} rela_block_list;

/* c must have passed rela_config_check. Parameters are added to params, which
 * is empty but for `packed`. On failure both are empty. */
rela_status rela_block_list_init(rela_block_list *l, rela_params *params, const rela_config *c,
                                 rela_error *err);
void rela_block_list_deinit(rela_block_list *l);

/* Makes the arrays that kinds of attention make, for an update; before: they are those of another
 * update, or NULL: they are not made yet. 0 stands for everything but training. */
void rela_block_list_make(const rela_block_list *l, real *made, uint64_t update,
                          const uint64_t *before);

/* Bytes of scratch that the largest of the blocks takes, and of memory that all of them keep. */
size_t rela_block_list_plan(const rela_block_list *l, size_t *kept, const rela_pass_size *size);

static inline size_t rela_block_list_target(const rela_block_list *l)
{
    return l->n_streams - 1;
}

/* The stack of the cross-attention to a source. */
size_t rela_block_list_cross(const rela_block_list *l, size_t source);

/* Whether it is cross-attention. */
static inline bool rela_attn_stack_cross(const rela_attn_stack *p)
{
    return p->queries != p->keys;
}

/* The parameter table alone; packed: without a place for matrices. */
rela_status rela_params_of(rela_params *params, const rela_config *c, bool packed, rela_error *err);

#endif
