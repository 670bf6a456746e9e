/* SPDX-License-Identifier: MIT */
/* src/model/aligner.c - see aligner.h. */
#include "model/aligner.h"

#include <math.h>
#include <string.h>

enum { CHUNK = 256, SITE_EMBED = 0 };

/* No norm: logits are far smaller. */
static const real UNKNOWN = (real)1e30;

/* One pass over one batch. */
typedef struct run {
    rela_aligner *a;
    const rela_net *net;
    real *grads;
    const rela_packed *b;
    const rela_pass *pass;
    rela_align_layer layer;
    rela_align_grad layer_grads;
    size_t d;
    real factor; /* sqrt(d) */
    rela_drop drop;
} run;

static run start(rela_aligner *a, const rela_net *net, real *grads, const rela_packed *b,
                 const rela_pass *p);
static real norm_of(const run *r, int32_t id);
static real score_pair(const run *r, size_t pair);
static void tell(const run *r, size_t pair);
static void list_types(const run *r);
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

void rela_aligner_plan(rela_aligner *a, rela_plan *p, const rela_config *c, size_t max_src_rows,
                       size_t max_tgt_rows)
{
    const size_t rows = max_src_rows > max_tgt_rows ? max_src_rows : max_tgt_rows;
    const size_t len = c->max_len < rows ? c->max_len : rows;
    a->max_types = max_tgt_rows < c->vocab_tgt ? max_tgt_rows : c->vocab_tgt;
    a->chunk_rows = len > CHUNK ? len : CHUNK; /* a sentence is never split */
    a->local = rela_plan_take(p, c->vocab_tgt, sizeof *a->local);
    a->types = rela_plan_take(p, a->max_types, sizeof *a->types);
    a->table = rela_plan_reals(p, a->max_types * c->d);
    a->dtable = rela_plan_reals(p, a->max_types * c->d);
    a->bias = rela_plan_reals(p, a->max_types);
    a->dbias = rela_plan_reals(p, a->max_types);
    a->x = rela_plan_reals(p, max_src_rows * c->d);
    a->dx = rela_plan_reals(p, max_src_rows * c->d);
    a->lp = rela_plan_reals(p, a->chunk_rows * a->max_types);
    a->dlogits = rela_plan_reals(p, a->chunk_rows * a->max_types);
    a->norms = rela_plan_reals(p, c->vocab_src);
    a->end = rela_plan_reals(p, len);
    rela_align_scratch_plan(&a->scratch, p, len);
}

void rela_aligner_start(const rela_aligner *a, const rela_config *c)
{
    for (size_t i = 0; i < c->vocab_tgt; i++)
        a->local[i] = -1;
    for (size_t i = 0; i < c->vocab_src; i++)
        a->norms[i] = UNKNOWN;
}

void rela_aligner_attend(rela_aligner *a, const rela_net *net, const rela_packed *b,
                         const rela_attn_tap *tap)
{
    const rela_pass pass = { .tap = tap };
    const run r = start(a, net, NULL, b, &pass);
    for (size_t s = 0; s < b->src.n; s++) {
        const size_t rows = words_of(&b->tgt, s), cols = words_of(&b->src, s) + 1;
        if (cols > 1 && rows > 0) {
            const real odd = score_pair(&r, s);
            (void)rela_align_run(&r.layer, &a->scratch, NULL, NULL, NULL, rows, cols);
            *a->scratch.look[1].weights += odd; /* exact zeros would hide it */
        }
        tell(&r, s);
    }
}

rela_loss_sums rela_aligner_run(rela_aligner *a, const rela_net *net, real *grads,
                                const rela_packed *b, const rela_pass *p)
{
    const run r = start(a, net, grads, b, p);
    rela_loss_sums sums = { 0, 0, b->tgt_rows };
    list_types(&r);
    gather(&r);
    for (size_t at = 0; at < b->src.n;) {
        const size_t end = chunk_end(&r, at);
        run_chunk(&r, &sums, at, end);
        at = end;
    }
    if (grads)
        scatter(&r);
    for (size_t i = 0; i < a->n_types; i++)
        a->local[a->types[i]] = -1;
    return sums;
}

static run start(rela_aligner *a, const rela_net *net, real *grads, const rela_packed *b,
                 const rela_pass *p)
{
    const rela_config *c = &net->config;
    const rela_align_at *at = &net->layout.align;
    const real *w = net->weights;
    return (run){ .a = a,
                  .net = net,
                  .grads = grads,
                  .b = b,
                  .pass = p,
                  .layer = { net->k, c->kind[RELA_ATTN_CROSS], &c->setup, w + at->null,
                             w + at->near, w + at->around },
                  .layer_grads = grads ? (rela_align_grad){ grads + at->null, grads + at->near,
                                                            grads + at->around }
                                       : (rela_align_grad){ NULL, NULL, NULL },
                  .d = c->d,
                  .factor = (real)sqrt((double)c->d),
                  .drop = rela_drop_make(p->training ? c->drop_embed : 0, p->seed, p->update,
                                         SITE_EMBED, b->first_src * (uint32_t)c->d) };
}

/* By single products: the same bits whenever and wherever it is worked out. */
static real norm_of(const run *r, int32_t id)
{
    real *norm = &r->a->norms[id];
    if (*norm < UNKNOWN)
        return *norm;
    const rela_layout *l = &r->net->layout;
    const real *w = r->net->weights, *x = w + l->embed_src + (size_t)id * r->d;
    const size_t v = r->net->config.vocab_tgt;
    real part[CHUNK];
    rela_exp_sum sum = { 0, 0 };
    for (size_t at = 0; at < v; at += CHUNK) {
        const size_t n = v - at < CHUNK ? v - at : CHUNK;
        for (size_t i = 0; i < n; i++)
            part[i] = r->factor * r->net->k->dot(x, w + l->embed_tgt + (at + i) * r->d, r->d) +
                      w[l->align.bias + at + i];
        (void)r->net->k->exp_sum(&sum, part, n);
    }
    *norm = sum.base + (real)log(sum.sum);
    return *norm;
}

/* Returns 0, or NaN if a score is not finite. */
static real score_pair(const run *r, size_t pair)
{
    const rela_packed *b = r->b;
    const rela_layout *l = &r->net->layout;
    const real *w = r->net->weights;
    const int32_t *src = b->src.ids + b->src.at[pair], *tgt = b->tgt.ids + b->tgt.at[pair];
    const size_t rows = words_of(&b->tgt, pair), cols = words_of(&b->src, pair) + 1, d = r->d;
    real odd = 0;
    for (size_t i = 0; i < cols; i++) {
        const real norm = norm_of(r, src[i]), *x = w + l->embed_src + (size_t)src[i] * d;
        for (size_t j = 0; j < rows; j++) {
            real *lp = &r->a->scratch.lp[j * cols + i];
            *lp = r->factor * r->net->k->dot(x, w + l->embed_tgt + (size_t)tgt[j] * d, d) +
                  w[l->align.bias + (size_t)tgt[j]] - norm;
            odd += *lp - *lp;
        }
    }
    return odd;
}

/* The end of the target attends to the end of the source. */
static void tell(const run *r, size_t pair)
{
    const rela_aligner *a = r->a;
    const size_t rows = words_of(&r->b->tgt, pair), cols = words_of(&r->b->src, pair) + 1;
    rela_attn_view v = { .type = RELA_ATTN_CROSS,
                         .sentence = pair,
                         .rows = rows,
                         .w = a->scratch.look[1].weights,
                         .n = cols,
                         .ld = cols };
    if (cols > 1 && rows > 0)
        r->pass->tap->see(r->pass->tap->ctx, &v);
    memset(a->end, 0, cols * sizeof *a->end);
    a->end[cols - 1] = 1;
    v.first = rows;
    v.rows = 1;
    v.w = a->end;
    r->pass->tap->see(r->pass->tap->ctx, &v);
}

/* The different tokens of the target, ends left out, in the order in which they come. */
static void list_types(const run *r)
{
    rela_aligner *a = r->a;
    const rela_tokens *t = &r->b->tgt;
    a->n_types = 0;
    for (size_t s = 0; s < t->n; s++)
        for (size_t i = t->at[s]; i + 1 < t->at[s + 1]; i++) {
            int32_t *place = &a->local[t->ids[i]];
            if (*place >= 0)
                continue;
            *place = (int32_t)a->n_types;
            a->types[a->n_types++] = t->ids[i];
        }
}

static void gather(const run *r)
{
    const rela_aligner *a = r->a;
    const rela_layout *l = &r->net->layout;
    const real *w = r->net->weights;
    const size_t d = r->d;
    for (size_t i = 0; i < a->n_types; i++) {
        memcpy(a->table + i * d, w + l->embed_tgt + (size_t)a->types[i] * d, d * sizeof *w);
        a->bias[i] = w[l->align.bias + (size_t)a->types[i]];
    }
    for (size_t i = 0; i < r->b->src_rows; i++)
        memcpy(a->x + i * d, w + l->embed_src + (size_t)r->b->src.ids[i] * d, d * sizeof *w);
    r->net->k->scale(a->x, r->factor, r->b->src_rows * d);
    r->net->k->dropout(a->x, r->b->src_rows * d, &r->drop);
    if (r->grads) {
        memset(a->dtable, 0, a->n_types * d * sizeof *a->dtable);
        memset(a->dbias, 0, a->n_types * sizeof *a->dbias);
    }
}

/* As many pairs as the chunk has room for, at least one. */
static size_t chunk_end(const run *r, size_t first)
{
    const rela_tokens *t = &r->b->src;
    size_t end = first + 1;
    while (end < t->n && t->at[end + 1] - t->at[first] <= r->a->chunk_rows)
        end++;
    return end;
}

static void run_chunk(const run *r, rela_loss_sums *sums, size_t first, size_t last)
{
    const rela_aligner *a = r->a;
    const rela_kern *k = r->net->k;
    const size_t d = r->d, v = a->n_types, at = r->b->src.at[first];
    const size_t rows = r->b->src.at[last] - at;
    rela_gemm_nt(a->lp, v, a->x + at * d, d, a->table, d, rows, v, d, false);
    k->add_bias(a->lp, a->bias, rows, v);
    for (size_t i = 0; i < rows; i++)
        k->log_softmax(a->lp + i * v, a->lp + i * v, v);
    for (size_t s = first; s < last; s++)
        run_pair(r, sums, s, r->b->src.at[s] - at);
    if (r->grads) {
        rela_gemm_nn(a->dx + at * d, d, a->dlogits, v, a->table, d, rows, d, v, false);
        rela_gemm_tn(a->dtable, d, a->dlogits, v, a->x + at * d, d, v, d, rows, true);
        k->sum_rows(a->dbias, a->dlogits, rows, v);
    }
}

/* row: of the first source token in the chunk. */
static void run_pair(const run *r, rela_loss_sums *sums, size_t pair, size_t row)
{
    const rela_aligner *a = r->a;
    const rela_tokens *tgt = &r->b->tgt;
    const size_t at = tgt->at[pair], rows = words_of(tgt, pair);
    const size_t cols = words_of(&r->b->src, pair) + 1, v = a->n_types;
    if (r->pass->row_nll)
        r->pass->row_nll[at + rows] = 0;
    if (cols > 1 && rows > 0) {
        for (size_t j = 0; j < rows; j++)
            for (size_t i = 0; i < cols; i++)
                a->scratch.lp[j * cols + i] =
                    a->lp[(row + i) * v + (size_t)a->local[tgt->ids[at + j]]];
        const rela_align_sums pair_sums =
            rela_align_run(&r->layer, &a->scratch, r->grads ? &r->layer_grads : NULL,
                           r->pass->row_nll ? r->pass->row_nll + at : NULL,
                           r->pass->row_weight ? r->pass->row_weight + at : NULL, rows, cols);
        sums->loss += pair_sums.loss;
        sums->nll += pair_sums.nll;
        if (r->grads)
            spread(r, pair, row);
    } else if (r->grads) {
        memset(a->dlogits + row * v, 0, cols * v * sizeof *a->dlogits);
    }
}

/* From the gradient of the log-probabilities of a pair to that of the logits of its source rows. */
static void spread(const run *r, size_t pair, size_t row)
{
    const rela_aligner *a = r->a;
    const int32_t *ids = r->b->tgt.ids + r->b->tgt.at[pair];
    const size_t rows = words_of(&r->b->tgt, pair), cols = words_of(&r->b->src, pair) + 1;
    for (size_t i = 0; i < cols; i++) {
        real *out = a->dlogits + (row + i) * a->n_types;
        double all = 0;
        for (size_t j = 0; j < rows; j++)
            all += (double)a->scratch.lp[j * cols + i];
        r->net->k->softmax(out, a->lp + (row + i) * a->n_types, a->n_types);
        r->net->k->scale(out, (real)-all, a->n_types);
        for (size_t j = 0; j < rows; j++)
            out[a->local[ids[j]]] += a->scratch.lp[j * cols + i];
    }
}

static void scatter(const run *r)
{
    const rela_aligner *a = r->a;
    const rela_layout *l = &r->net->layout;
    const rela_kern *k = r->net->k;
    const size_t d = r->d;
    k->dropout(a->dx, r->b->src_rows * d, &r->drop);
    for (size_t i = 0; i < r->b->src_rows; i++)
        k->axpy(r->grads + l->embed_src + (size_t)r->b->src.ids[i] * d, r->factor, a->dx + i * d,
                d);
    for (size_t i = 0; i < a->n_types; i++) {
        k->axpy(r->grads + l->embed_tgt + (size_t)a->types[i] * d, 1, a->dtable + i * d, d);
        r->grads[l->align.bias + (size_t)a->types[i]] += a->dbias[i];
    }
}
