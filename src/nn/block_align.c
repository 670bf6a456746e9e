/* SPDX-License-Identifier: MIT */
/* src/nn/block_align.c - the whole alignment model as one block: embeddings, translation
 * probabilities of the batch's tokens, and the alignment layer (nn/align.h).
 *
 * log p(y | x) = log softmax_y (sqrt(d) src[x] . tgt[y] + bias[y]). In training the softmax is over
 * the distinct target tokens of the batch only: a few hundred products per token instead of the
 * whole vocabulary. The end-of-sentence token of the source stands for no source token (null); that
 * of the target is left out. */
#include "kern/gemm.h"
#include "nn/align.h"
#include "nn/block.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256 };

/* Memory of the block, all of it kept. It starts as zeros, and what lasts from pass to pass is
 * stored such that zero is the right initial value. */
typedef struct arrays {
    int32_t *local; /* (target vocabulary): number among the types, from 1; 0: not in the batch */
    real *norms;    /* (source vocabulary): log-sum-exp over the target vocabulary */
    uint8_t *known; /* (source vocabulary): whether its norm is known */
    size_t max_types;
    size_t chunk_rows;    /* maximum number of source rows at a time */
    int32_t *types;       /* (max_types) distinct target tokens of the batch */
    real *table, *dtable; /* (max_types, d) rows of the target embedding */
    real *bias, *dbias;   /* (max_types) */
    real *x, *dx;         /* (source rows, d) */
    real *lp, *dlogits;   /* (chunk_rows, max_types) */
    real *end;            /* weights of the target's end-of-sentence token */
    rela_align_scratch scratch;
} arrays;

/* One pass over one batch. */
typedef struct run {
    arrays a;
    size_t n_types;
    const rela_block *b;
    const rela_align_at *at;
    rela_pass *p;
    const rela_tokens *src, *tgt;
    size_t src_rows;
    rela_align_layer layer;
    rela_align_grad layer_grads;
    size_t d;
    real factor; /* sqrt(d) */
    rela_drop drop;
} run;

static void attend(run *r);
static rela_loss_sums run_batch(run *r);
static real norm_of(const run *r, int32_t id);
static real score_pair(const run *r, size_t pair);
static void show(const run *r, size_t pair);
static void list_types(run *r);
static void gather(const run *r);
static size_t chunk_end(const run *r, size_t first);
static void run_chunk(const run *r, rela_loss_sums *sums, size_t first, size_t last);
static void run_pair(const run *r, rela_loss_sums *sums, size_t pair, size_t row);
static void spread(const run *r, size_t pair, size_t row);
static void scatter(const run *r);

static size_t words_of(const rela_tokens *t, size_t i)
{
    return t->at[i + 1] - t->at[i] - 1;
}

static const real *embedding(const run *r, uint32_t table, int32_t id)
{
    return rela_matrix(r->p, table)->reals + (size_t)id * r->d;
}

static void declare(rela_block *b, rela_declare *d)
{
    static const rela_init ZERO = { RELA_INIT_CONSTANT, 0 };
    /* pi0 starts at 0.12: tokens without a link are rare, but a token that nothing explains is not
     * forced onto a wrong one. */
    static const rela_init NULL_START = { RELA_INIT_CONSTANT, -2 };
    rela_align_at *at = &b->at.align;
    rela_declare_table(d, &at->embed_src, "embed.src", at->vocab_src, b->d, false);
    rela_declare_table(d, &at->embed_tgt, "embed.tgt", at->vocab_tgt, b->d, false);
    rela_declare_vector(d, &at->bias, "align.bias", at->vocab_tgt, ZERO);
    rela_declare_vector(d, &at->null, "align.null", 1, NULL_START);
    rela_declare_vector(d, &at->near, "align.near", RELA_ALIGN_NEAR, ZERO);
    rela_declare_vector(d, &at->around, "align.around", RELA_ALIGN_AROUND * RELA_ALIGN_AROUND,
                        ZERO);
}

static void take(arrays *a, const rela_block *b, rela_plan *p, const size_t rows[2])
{
    const rela_align_at *at = &b->at.align;
    const size_t most = rows[0] > rows[1] ? rows[0] : rows[1];
    const size_t len = b->max_len < most ? b->max_len : most;
    a->max_types = rows[1] < at->vocab_tgt ? rows[1] : at->vocab_tgt;
    a->chunk_rows = len > CHUNK ? len : CHUNK; /* a sentence is never split */
    a->local = rela_plan_take(p, at->vocab_tgt, sizeof *a->local);
    a->norms = rela_plan_reals(p, at->vocab_src);
    a->known = rela_plan_take(p, at->vocab_src, sizeof *a->known);
    a->types = rela_plan_take(p, a->max_types, sizeof *a->types);
    a->table = rela_plan_reals(p, a->max_types * b->d);
    a->dtable = rela_plan_reals(p, a->max_types * b->d);
    a->bias = rela_plan_reals(p, a->max_types);
    a->dbias = rela_plan_reals(p, a->max_types);
    a->x = rela_plan_reals(p, rows[0] * b->d);
    a->dx = rela_plan_reals(p, rows[0] * b->d);
    a->lp = rela_plan_reals(p, a->chunk_rows * a->max_types);
    a->dlogits = rela_plan_reals(p, a->chunk_rows * a->max_types);
    a->end = rela_plan_reals(p, len);
    rela_align_scratch_plan(&a->scratch, p, len);
}

static void plan(const rela_block *b, rela_plan *kept, rela_plan *scratch, const rela_pass_size *s)
{
    arrays a;
    (void)scratch;
    take(&a, b, kept, s->rows);
}

static void forward(const rela_block *b, rela_pass *p)
{
    const rela_align_at *at = &b->at.align;
    const rela_stream *src = &p->streams[0], *tgt = &p->streams[b->stream];
    const size_t rows[2] = { src->rows, tgt->rows };
    run r = { .b = b,
              .at = at,
              .p = p,
              .src = &src->tokens,
              .tgt = &tgt->tokens,
              .src_rows = src->rows,
              .layer = { p->k, at->kind.kind, at->kind.numbers, rela_vector(p, at->null),
                         rela_vector(p, at->near), rela_vector(p, at->around) },
              .d = b->d,
              .factor = (real)sqrt((double)b->d),
              .drop = rela_drop_make(p->training ? b->drop : 0, p->seed, p->update, b->site,
                                     src->first_row * (uint32_t)b->d) };
    if (p->grads)
        r.layer_grads = (rela_align_grad){ rela_gradient(p, at->null), rela_gradient(p, at->near),
                                           rela_gradient(p, at->around) };
    take(&r.a, b, &p->kept, rows);
    if (p->without_loss)
        attend(&r);
    else
        p->sums = run_batch(&r);
}

/* Passes the weights of all pairs to the tap, as those of a cross-attention of one layer and head.
 * Here the softmax is over the whole vocabulary, so nothing depends on the other pairs of the
 * batch. Parameters must not change between such passes: norms are cached. */
static void attend(run *r)
{
    for (size_t s = 0; s < r->src->n; s++) {
        const size_t rows = words_of(r->tgt, s), cols = words_of(r->src, s) + 1;
        if (cols > 1 && rows > 0) {
            const real not_finite = score_pair(r, s);
            (void)rela_align_run(&r->layer, &r->a.scratch, NULL, NULL, NULL, rows, cols);
            *r->a.scratch.look[1].weights += not_finite; /* exact zeros would hide NaN otherwise */
        }
        show(r, s);
    }
}

static rela_loss_sums run_batch(run *r)
{
    rela_loss_sums sums = { 0, 0, r->tgt->at[r->tgt->n] };
    list_types(r);
    gather(r);
    for (size_t at = 0; at < r->src->n;) {
        const size_t end = chunk_end(r, at);
        run_chunk(r, &sums, at, end);
        at = end;
    }
    if (r->p->grads)
        scatter(r);
    for (size_t i = 0; i < r->n_types; i++)
        r->a.local[r->a.types[i]] = 0;
    return sums;
}

/* By single dot products: bit-identical whenever and wherever it is computed. */
static real norm_of(const run *r, int32_t id)
{
    real *norm = &r->a.norms[id];
    if (r->a.known[id])
        return *norm;
    const real *x = embedding(r, r->at->embed_src, id), *bias = rela_vector(r->p, r->at->bias);
    const size_t v = r->at->vocab_tgt;
    real part[CHUNK];
    rela_exp_sum sum = { 0, 0 };
    for (size_t at = 0; at < v; at += CHUNK) {
        const size_t n = v - at < CHUNK ? v - at : CHUNK;
        for (size_t i = 0; i < n; i++)
            part[i] = r->factor *
                          r->p->k->dot(x, embedding(r, r->at->embed_tgt, (int32_t)(at + i)), r->d) +
                      bias[at + i];
        (void)r->p->k->exp_sum(&sum, part, n);
    }
    *norm = sum.base + (real)log(sum.sum);
    r->a.known[id] = 1;
    return *norm;
}

/* Returns 0, or NaN if a score is not finite. */
static real score_pair(const run *r, size_t pair)
{
    const real *bias = rela_vector(r->p, r->at->bias);
    const int32_t *src = r->src->ids + r->src->at[pair], *tgt = r->tgt->ids + r->tgt->at[pair];
    const size_t rows = words_of(r->tgt, pair), cols = words_of(r->src, pair) + 1;
    real not_finite = 0;
    for (size_t i = 0; i < cols; i++) {
        const real norm = norm_of(r, src[i]), *x = embedding(r, r->at->embed_src, src[i]);
        for (size_t j = 0; j < rows; j++) {
            real *lp = &r->a.scratch.lp[j * cols + i];
            *lp = r->factor * r->p->k->dot(x, embedding(r, r->at->embed_tgt, tgt[j]), r->d) +
                  bias[tgt[j]] - norm;
            not_finite += *lp - *lp;
        }
    }
    return not_finite;
}

/* The end-of-sentence token of the target attends to that of the source. */
static void show(const run *r, size_t pair)
{
    const arrays *a = &r->a;
    const size_t rows = words_of(r->tgt, pair), cols = words_of(r->src, pair) + 1;
    rela_attn_view v = { .stack = r->at->stack,
                         .sentence = pair,
                         .rows = rows,
                         .w = a->scratch.look[1].weights,
                         .n = cols,
                         .ld = cols };
    if (cols > 1 && rows > 0)
        r->p->tap->on_weights(r->p->tap->ctx, &v);
    memset(a->end, 0, cols * sizeof *a->end);
    a->end[cols - 1] = 1;
    v.first = rows;
    v.rows = 1;
    v.w = a->end;
    r->p->tap->on_weights(r->p->tap->ctx, &v);
}

/* The distinct tokens of the target without the end-of-sentence token, in order of appearance. */
static void list_types(run *r)
{
    arrays *a = &r->a;
    const rela_tokens *t = r->tgt;
    r->n_types = 0;
    for (size_t s = 0; s < t->n; s++)
        for (size_t i = t->at[s]; i + 1 < t->at[s + 1]; i++) {
            int32_t *place = &a->local[t->ids[i]];
            if (*place > 0)
                continue;
            a->types[r->n_types++] = t->ids[i];
            *place = (int32_t)r->n_types;
        }
}

static void gather(const run *r)
{
    const arrays *a = &r->a;
    const real *bias = rela_vector(r->p, r->at->bias);
    const size_t d = r->d, row = d * sizeof(real);
    for (size_t i = 0; i < r->n_types; i++) {
        memcpy(a->table + i * d, embedding(r, r->at->embed_tgt, a->types[i]), row);
        a->bias[i] = bias[a->types[i]];
    }
    for (size_t i = 0; i < r->src_rows; i++)
        memcpy(a->x + i * d, embedding(r, r->at->embed_src, r->src->ids[i]), row);
    r->p->k->scale(a->x, r->factor, r->src_rows * d);
    r->p->k->dropout(a->x, r->src_rows * d, &r->drop);
    if (r->p->grads) {
        memset(a->dtable, 0, r->n_types * row);
        memset(a->dbias, 0, r->n_types * sizeof *a->dbias);
    }
}

/* As many pairs as the chunk has room for, at least one. */
static size_t chunk_end(const run *r, size_t first)
{
    const rela_tokens *t = r->src;
    size_t end = first + 1;
    while (end < t->n && t->at[end + 1] - t->at[first] <= r->a.chunk_rows)
        end++;
    return end;
}

static void run_chunk(const run *r, rela_loss_sums *sums, size_t first, size_t last)
{
    const arrays *a = &r->a;
    const rela_kern *k = r->p->k;
    const size_t d = r->d, v = r->n_types, at = r->src->at[first];
    const size_t rows = r->src->at[last] - at;
    rela_gemm_nt(a->lp, v, a->x + at * d, d, a->table, d, rows, v, d, false);
    k->add_bias(a->lp, a->bias, rows, v);
    for (size_t i = 0; i < rows; i++)
        k->log_softmax(a->lp + i * v, a->lp + i * v, v);
    for (size_t s = first; s < last; s++)
        run_pair(r, sums, s, r->src->at[s] - at);
    if (r->p->grads) {
        rela_gemm_nn(a->dx + at * d, d, a->dlogits, v, a->table, d, rows, d, v, false);
        rela_gemm_tn(a->dtable, d, a->dlogits, v, a->x + at * d, d, v, d, rows, true);
        k->sum_rows(a->dbias, a->dlogits, rows, v);
    }
}

/* row: of the pair's first source token, in the chunk. */
static void run_pair(const run *r, rela_loss_sums *sums, size_t pair, size_t row)
{
    const arrays *a = &r->a;
    const rela_tokens *tgt = r->tgt;
    const size_t at = tgt->at[pair], rows = words_of(tgt, pair);
    const size_t cols = words_of(r->src, pair) + 1, v = r->n_types;
    if (r->p->loss.row_nll)
        r->p->loss.row_nll[at + rows] = 0;
    if (cols > 1 && rows > 0) {
        for (size_t j = 0; j < rows; j++)
            for (size_t i = 0; i < cols; i++)
                a->scratch.lp[j * cols + i] =
                    a->lp[(row + i) * v + (size_t)(a->local[tgt->ids[at + j]] - 1)];
        const rela_align_sums pair_sums =
            rela_align_run(&r->layer, &a->scratch, r->p->grads ? &r->layer_grads : NULL,
                           r->p->loss.row_nll ? r->p->loss.row_nll + at : NULL,
                           r->p->loss.row_weight ? r->p->loss.row_weight + at : NULL, rows, cols);
        sums->loss += pair_sums.loss;
        sums->nll += pair_sums.nll;
        if (r->p->grads)
            spread(r, pair, row);
    } else if (r->p->grads) {
        memset(a->dlogits + row * v, 0, cols * v * sizeof *a->dlogits);
    }
}

/* Backward from the log-probabilities of a pair to the logits of its source rows. */
static void spread(const run *r, size_t pair, size_t row)
{
    const arrays *a = &r->a;
    const int32_t *ids = r->tgt->ids + r->tgt->at[pair];
    const size_t rows = words_of(r->tgt, pair), cols = words_of(r->src, pair) + 1;
    for (size_t i = 0; i < cols; i++) {
        real *out = a->dlogits + (row + i) * r->n_types;
        double all = 0;
        for (size_t j = 0; j < rows; j++)
            all += (double)a->scratch.lp[j * cols + i];
        r->p->k->softmax(out, a->lp + (row + i) * r->n_types, r->n_types);
        r->p->k->scale(out, (real)-all, r->n_types);
        for (size_t j = 0; j < rows; j++)
            out[a->local[ids[j]] - 1] += a->scratch.lp[j * cols + i];
    }
}

static void scatter(const run *r)
{
    const arrays *a = &r->a;
    const rela_kern *k = r->p->k;
    const size_t d = r->d;
    real *src = rela_gradient(r->p, r->at->embed_src), *tgt = rela_gradient(r->p, r->at->embed_tgt);
    real *bias = rela_gradient(r->p, r->at->bias);
    k->dropout(a->dx, r->src_rows * d, &r->drop);
    for (size_t i = 0; i < r->src_rows; i++)
        k->axpy(src + (size_t)r->src->ids[i] * d, r->factor, a->dx + i * d, d);
    for (size_t i = 0; i < r->n_types; i++) {
        k->axpy(tgt + (size_t)a->types[i] * d, 1, a->dtable + i * d, d);
        bias[a->types[i]] += a->dbias[i];
    }
}

const rela_block_type rela_block_align = { "align", declare, plan, forward, NULL, NULL };
