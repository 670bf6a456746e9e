/* SPDX-License-Identifier: MIT */
/* src/nn/block.h - blocks: the sublayers that make up every model, as a list.
 *
 * A *stream* is one side of the batch: its rows and the two arrays that flow along it, x (what the
 * next block reads) and r (the residual). There is a stream for each source and one for the target.
 * A *block* reads its stream, writes it, and may read the x of others. A *pass* goes through the
 * list: forward and backward over a batch, or one decoding step over a cache.
 *
 * A block is described by a table of functions (rela_block_type). `declare` names its parameters,
 * `plan` measures its memory, `forward` and `back` run it. There are two kinds of memory: *kept*
 * from forward to back (none in inference), and *scratch*, which a block takes afresh in each call
 * and releases at its end; no block ever uses memory that another one planned.
 *
 * Post-norm: x' = LN(x + f(x)). Pre-norm: r' = r + f(LN(r)), and a last LN. Both are chains of
 * "sublayer, residual sum, norm"; they differ in which array is the residual and which norm comes
 * next; both are fixed when the list is built. */
#ifndef RELA_NN_BLOCK_H
#define RELA_NN_BLOCK_H

#include "nn/attn/cache.h"
#include "nn/attn/spec.h"
#include "nn/embed.h"
#include "nn/loss.h"
#include "nn/weight.h"
#include "rela/rela.h"

enum { RELA_STREAMS_MAX = RELA_SOURCES_MAX + 1 };

/* A residual sum and its norm. In training every block has its own. */
typedef struct rela_act {
    real *x; /* (rows, d): what the next block reads */
    real *r; /* (rows, d): the sum */
    rela_norm_stats *stats;
} rela_act;

typedef struct rela_stream {
    rela_tokens tokens;
    size_t rows;
    uint32_t first_row; /* rows of the update before these: dropout depends on it */
    rela_act act;       /* output of the last block run */
    /* Inference: one set of arrays, reused by every block; pre-norm residual sums alternate between
     * r[0] and r[1]. */
    real *x, *r[2];
    rela_norm_stats *stats;
    /* Training: gradient of x from the blocks of other streams that read it. */
    real *dmemory; /* (rows, d) */
    bool has_dmemory;
} rela_stream;

/* What a block keeps from forward to back. */
typedef struct rela_state {
    rela_act in, out;
    size_t at; /* where its part of the kept memory begins */
} rela_state;

/* Hypotheses of one decoding step. Those of a sentence are adjacent and at the same position. */
typedef struct rela_step_rows {
    size_t n;
    const int32_t *token;     /* the last token; not read at position 0 */
    const uint32_t *position; /* of the token to be predicted */
    const uint32_t *place;    /* of the sentence, see rela_memories */
    const uint32_t *history;  /* (n, ld) slots of positions 0 .. position; the last is written */
    size_t ld;                /* of history */
} rela_step_rows;

typedef struct rela_step {
    rela_step_rows rows;
    size_t len; /* maximum number of positions of a hypothesis */
    rela_cache cache;
    const rela_memories *memories; /* indexed by stream */
    const uint32_t *places;        /* `remember`: of the sentences of the stream */
    size_t sentence_rows;          /* maximum number of hypotheses of one sentence */
} rela_step;

/* Loss of a pass over a batch. */
typedef struct rela_loss_options {
    real smooth;            /* label smoothing */
    real kl_weight;         /* above 0: each sentence is followed by its R-Drop pair, see loss.h */
    const real *row_weight; /* (rows) or NULL: see rela_loss_run */
    real *row_nll;          /* (rows) or NULL */
} rela_loss_options;

/* Members that a decoding step reads come first, close together: for a small model they are a
 * noticeable part of all it reads. */
typedef struct rela_pass {
    const rela_kern *k;
    const rela_weight *weights; /* by parameter: matrices, all of one storage type */
    const real *vectors;        /* the other parameters, at their offsets */
    const size_t *offsets;
    rela_stream *streams;
    rela_state *states;       /* (blocks) what is kept; NULL in inference */
    const rela_step *step;    /* NULL: a whole batch */
    rela_plan scratch;        /* see above; users take from a copy */
    const rela_attn_tap *tap; /* may be NULL */
    real *grads;              /* added to; NULL: forward only */
    rela_attn_path path;      /* for every attention; tests force it */
    rela_storage storage;
    bool training;             /* dropout is on, seeded by seed and update */
    const rela_weight *tables; /* as weights, for embedding lookup: unpacked where available */
    const real *positions;     /* (max_len, d) */
    const real *made;          /* arrays that kinds of attention make */
    rela_int8_rows rounded;    /* int8 step, written: quantised rows that logits are made of */
    rela_plan kept;            /* see above */
    size_t scratch_bytes;
    uint64_t seed, update;
    bool without_loss; /* only attention and hidden states are needed */
    rela_loss_options loss;
    rela_loss_sums sums; /* of the loss, written */
    /* Backward: gradients of x and, with pre-norm, of r on the current stream; da: gradient of a
     * sublayer's output before its bias. */
    real *dx, *dr, *da, *spare;
} rela_pass;

/* Upper limits of the passes that memory is planned for. */
typedef struct rela_pass_size {
    size_t rows[RELA_STREAMS_MAX];
    size_t len[RELA_STREAMS_MAX]; /* of a sentence */
    size_t sentence_rows;         /* decoding step: hypotheses of one sentence */
    rela_storage storage;
    bool training; /* states are kept, gradients computed */
    bool step;     /* decoding steps, no whole batches of the target */
} rela_pass_size;

/* Collects the parameters of a block; keeps the first failure. */
typedef struct rela_declare {
    rela_params *params;
    char prefix[RELA_PARAM_NAME_MAX]; /* of the current block's names, like "enc.0.self" */
    rela_status status;
    rela_error *err;
} rela_declare;

typedef struct rela_block rela_block;

typedef struct rela_block_type {
    const char *name;
    void (*declare)(rela_block *b, rela_declare *d);
    /* Adds the most that `forward` and `back` will take. Scratch starts empty. */
    void (*plan)(const rela_block *b, rela_plan *kept, rela_plan *scratch, const rela_pass_size *s);
    void (*forward)(const rela_block *b, rela_pass *p);
    /* Optional: NULL if `forward` already computes the gradients. */
    void (*back)(const rela_block *b, rela_pass *p);
    /* Optional: computes what the block needs from an encoded stream (cross-attention keys and
     * values) once for all decoding steps, into the memories of p->step. */
    void (*remember)(const rela_block *b, rela_pass *p, size_t stream);
} rela_block_type;

extern const rela_block_type rela_block_embed, rela_block_attention, rela_block_ffn,
    rela_block_output, rela_block_align;

/* ---- settings and parameter numbers by type of block ---- */

typedef struct rela_norm_at {
    uint32_t gain, offset;
} rela_norm_at;

typedef struct rela_embed_at {
    char table_name[32]; /* tied tables share it */
    size_t vocabulary;
    bool shifted; /* row t holds token t - 1 */
    uint32_t table, bias;
} rela_embed_at;

/* Neighbouring heads of one kind. */
typedef struct rela_head_group {
    rela_attn_group of;
    uint32_t params[RELA_ATTN_PARAMS_MAX]; /* learned arrays of the kind */
    uint32_t gain, gate;                   /* norm of the group's output, if the kind has one */
    size_t made;                           /* place of its array among those that kinds make */
    size_t state; /* decoding: place of its states among those of all layers; see cache.h */
} rela_head_group;

/* Attention to one stream. */
typedef struct rela_attn_side {
    size_t stream;
    uint32_t in, in_bias; /* self-attention: q, k, v (3d, d); cross-attention: q (d, d) */
    uint32_t kv, kv_bias; /* cross-attention: k, v (2d, d) */
    uint32_t out;
    /* Cross-attention: number among the attentions to that stream, among those that need keys, and
     * among those with a state. */
    size_t memory, keyed, shown;
    size_t n_groups;
    rela_head_group groups[RELA_GROUPS_MAX];
    size_t stack; /* for the tap: which attention of the model it is */
} rela_attn_side;

typedef struct rela_attn_at {
    size_t heads, d_head;
    bool causal;
    bool self;
    bool norm_per_head;
    real eps; /* of the norms of the kinds */
    uint32_t out_bias;
    size_t cache; /* causal self-attention: place of its keys and values in a cache slot */
    size_t n_sides;
    rela_attn_side sides[RELA_SOURCES_MAX];
    double drop; /* of the attention weights */
} rela_attn_at;

typedef struct rela_ffn_at {
    size_t width;
    double drop; /* of the hidden layer */
    uint32_t up, up_bias, down, down_bias;
} rela_ffn_at;

typedef struct rela_output_at {
    char table_name[32];
    size_t vocabulary;
    uint32_t table;
} rela_output_at;

typedef struct rela_align_at {
    rela_attn_group kind;
    size_t stack;
    size_t vocab_src, vocab_tgt;
    uint32_t embed_src, embed_tgt;
    uint32_t bias; /* (target vocabulary) */
    uint32_t null, near, around;
} rela_align_at;

struct rela_block {
    const rela_block_type *type;
    size_t number; /* in the list */
    size_t stream;
    size_t layer;
    size_t d, max_len;
    size_t params_end; /* offset at which its parameters and those of all blocks before it end */
    bool pre_norm;
    bool normed;       /* a norm follows */
    rela_norm_at own;  /* its own norm: after it, or before it with pre-norm */
    rela_norm_at norm; /* the norm that follows it */
    bool first, last;  /* of its stream */
    real eps;          /* of the norm */
    double drop;       /* of its output */
    uint32_t site;     /* number of its first dropout site */
    union {
        rela_embed_at embed;
        rela_attn_at attn;
        rela_ffn_at ffn;
        rela_output_at output;
        rela_align_at align;
    } at;
};

/* ---- what blocks share (block.c) ---- */

static inline const real *rela_vector(const rela_pass *p, uint32_t param)
{
    return p->vectors + p->offsets[param];
}
static inline const rela_weight *rela_matrix(const rela_pass *p, uint32_t param)
{
    return &p->weights[param];
}
static inline real *rela_gradient(const rela_pass *p, uint32_t param)
{
    return p->grads + p->offsets[param];
}

/* Accumulates the gradient of W for y = x W^T. */
static inline void rela_matrix_back(const rela_pass *p, uint32_t param, const real *dy,
                                    const real *x, size_t rows)
{
    rela_linear_back_weight(rela_gradient(p, param), dy, x, rela_matrix(p, param), rows);
}

/* Adds a parameter "<prefix>.<name>", or "<name>" if the prefix is empty. */
void rela_declare_add(rela_declare *d, uint32_t *param, const char *name,
                      const rela_param_shape *shape);
/* <name>.weight, Glorot uniform with the given limit, and <name>.bias at 0 unless bias is NULL. */
void rela_declare_linear(rela_declare *d, uint32_t *weight, uint32_t *bias, const char *name,
                         size_t out, size_t in, double limit);
void rela_declare_vector(rela_declare *d, uint32_t *param, const char *name, size_t n,
                         rela_init init);
/* A table (vocabulary, d) of embeddings or of the output; lookup: see rela_param. */
void rela_declare_table(rela_declare *d, uint32_t *param, const char *name, size_t vocabulary,
                        size_t width, bool lookup);
void rela_declare_norm(rela_declare *d, rela_norm_at *norm, size_t width);

/* Dropout at a site of the block; element 0 belongs to the stream's first row in this pass. */
static inline rela_drop rela_block_drop(const rela_block *b, const rela_pass *p, double rate,
                                        uint32_t site, size_t width)
{
    const uint32_t first = p->streams[b->stream].first_row * (uint32_t)width;
    return p->training ? rela_drop_make(rate, p->seed, p->update, b->site + site, first)
                       : (rela_drop){ .scale = 1 };
}

/* The arrays of a stream in inference. */
void rela_stream_plan(rela_stream *s, rela_plan *p, size_t rows, size_t d, bool pre_norm);

/* The arrays that the block's output goes to: kept in training, otherwise those of the stream. */
rela_act rela_block_begin(const rela_block *b, rela_pass *p);
void rela_block_plan_out(const rela_block *b, rela_plan *kept, const rela_pass_size *s);
/* Bias, dropout, residual sum and norm; out.r holds the output of the sublayer on entry. */
void rela_block_finish(const rela_block *b, rela_pass *p, const rela_act *out, uint32_t bias,
                       const rela_drop *drop);
/* Backward of rela_block_finish: p->da receives the gradient of the sublayer's output before its
 * bias. */
void rela_block_finish_back(const rela_block *b, rela_pass *p, uint32_t bias,
                            const rela_drop *drop);

/* Returns the array for the gradient of the block's input, to be added to if *add and overwritten
 * otherwise; rela_block_end_back then makes it p->dx, the gradient for the previous block. */
real *rela_block_input_gradient(const rela_block *b, rela_pass *p, bool *add);
void rela_block_end_back(const rela_block *b, rela_pass *p);

/* Scratch for the current block, poisoned in test builds. */
static inline rela_plan rela_block_scratch(const rela_pass *p)
{
    rela_plan_poison(p->scratch.base, p->scratch_bytes);
    return p->scratch;
}

#endif
