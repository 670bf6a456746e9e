/* SPDX-License-Identifier: MIT */
/* src/session/score_text.c - rela_score and rela_attend: log-probabilities and attention of given
 * pairs, teacher-forced.
 *
 * Pairs of similar length share a batch; threads take batches in turn. */
#include "base/arena.h"
#include "base/lengths.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "model/worker.h"
#include "session/text_job.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct rela_scores {
    const rela_model *model;
    rela_id_list side[RELA_STREAMS_MAX]; /* the sources and, last, the target */
    size_t target;
    real *logps; /* of all target tokens, in the order of side[target] */
};

/* What one thread owns: a batch, and a worker per model. */
typedef struct scorer {
    rela_worker **workers;
    int32_t *ids[RELA_STREAMS_MAX];
    uint32_t *at[RELA_STREAMS_MAX];
    real *nll;
    double *sum; /* log of the sum of each target token's probabilities over the models */
} scorer;

typedef struct job {
    rela_session *session;
    rela_scores *scores;
    rela_length *order;
    size_t *batch_at; /* (n_batches + 1) places in order */
    size_t n_batches, n_scorers;
    size_t most;                              /* maximum number of scorers */
    size_t rows[RELA_STREAMS_MAX], sentences; /* of the largest batch */
    scorer *scorers;
    rela_callback callback;
    _Atomic size_t next;
} job;

static size_t length_of(const rela_id_list *l, size_t i)
{
    return l->at[i + 1] - l->at[i];
}

static rela_status encode_pairs(job *j, const rela_pairs *pairs, uint64_t first_line,
                                rela_error *err);
static rela_status start(job *j, size_t n, size_t batch_tokens, rela_error *err);
static void divide(job *j, size_t n, size_t batch_tokens);
static void work(void *ctx, size_t begin, size_t end, int thread);
static void run_batch(job *j, scorer *x, size_t batch);
static void finish(job *j);

void rela_score_options_init(rela_score_options *o, size_t size)
{
    const rela_score_options defaults = { .struct_size = size,
                                          .batch_tokens = 2048,
                                          .first_line = 0 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_score(rela_scores **out, rela_session *s, const rela_pairs *pairs,
                       const rela_score_options *o, rela_error *err)
{
    rela_score_options own;
    rela_score_options_init(&own, sizeof own);
    *out = NULL;
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_score_options", err);
    if (st != RELA_OK)
        return st;
    if (own.batch_tokens < 1)
        return rela_fail(err, RELA_ARG, "batch of %d tokens; expected at least 1",
                         (int)own.batch_tokens);
    if (own.not_finite < 0 || own.not_finite > RELA_NOT_FINITE_MARK)
        return rela_fail(err, RELA_ARG, "treatment of overflow is %d; expected 0..%d",
                         (int)own.not_finite, RELA_NOT_FINITE_MARK);
    rela_scores *r = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "no memory for the scores");
    r->model = s->models[0];
    r->target = r->model->net.config.sources;
    job j = { .session = s, .scores = r, .most = (size_t)r->model->runtime->n_threads };
    st = rela_callback_start(&j.callback, own.progress, own.progress_ctx, err);
    st = st ? st : encode_pairs(&j, pairs, own.first_line, err);
    st = st ? st : start(&j, pairs->n, (size_t)own.batch_tokens, err);
    if (st == RELA_OK)
        rela_par_rows(j.n_scorers, (int)j.n_scorers, work, &j);
    st = rela_callback_end(&j.callback, st, err);
    for (size_t i = 0; i < pairs->n && st == RELA_OK && own.not_finite == RELA_NOT_FINITE_FAIL; i++)
        if (!isfinite(rela_scores_logp(r, i)))
            st = rela_fail_not_finite(err, NULL, own.first_line + i + 1, "logits are");
    finish(&j);
    if (st == RELA_OK)
        *out = r;
    else
        rela_scores_free(r);
    return st;
}

static void free_sides(rela_scores *r)
{
    for (size_t side = 0; side <= r->target; side++)
        rela_id_list_free(&r->side[side]);
}

static const rela_id_list *target_of(const rela_scores *r)
{
    return &r->side[r->target];
}

void rela_scores_free(rela_scores *r)
{
    if (!r)
        return;
    free_sides(r);
    rela_mem_free(r->logps);
    rela_mem_free(r);
}

size_t rela_scores_count(const rela_scores *r)
{
    return target_of(r)->n_texts;
}

size_t rela_scores_n_tokens(const rela_scores *r, size_t i)
{
    return length_of(target_of(r), i);
}

double rela_scores_logp(const rela_scores *r, size_t i)
{
    const size_t *at = target_of(r)->at;
    double sum = 0;
    for (size_t k = at[i]; k < at[i + 1]; k++)
        sum += (double)r->logps[k];
    return sum;
}

const char *rela_scores_token(const rela_scores *r, size_t i, size_t k)
{
    const rela_id_list *l = target_of(r);
    return rela_vocab_token(rela_pipeline_vocab(r->model->pipeline, r->target),
                            l->ids[l->at[i] + k]);
}

double rela_scores_token_logp(const rela_scores *r, size_t i, size_t k)
{
    return (double)r->logps[target_of(r)->at[i] + k];
}

/* ---- batches ---- */

static rela_status encode_pairs(job *j, const rela_pairs *pairs, uint64_t first_line,
                                rela_error *err)
{
    rela_scores *r = j->scores;
    rela_session *s = j->session;
    const size_t most = rela_session_most(s);
    rela_status st = RELA_OK;
    atomic_store(&j->callback.total, pairs->n);
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++)
        st = rela_model_check_full(s->models[i], err);
    for (size_t i = 0; i < pairs->n && st == RELA_OK; i++) {
        bool any = false;
        for (size_t side = 0; side <= r->target && st == RELA_OK; side++) {
            const bool source = side < r->target;
            const rela_encode_how how = { side, most, true, source && r->target > 1 };
            const char *const *texts = source ? pairs->src : pairs->tgt;
            const size_t *lens = source ? pairs->src_lens : pairs->tgt_lens;
            const size_t k = source ? i * r->target + side : i;
            bool cut = false;
            st = rela_id_list_add(&r->side[side], &cut, s->scratch->pipeline, &how, texts[k],
                                  rela_text_len(texts, lens, k), err);
            any = any || cut;
        }
        if (any)
            rela_log_line(&r->model->runtime->log, RELA_LOG_WARNING,
                          "line %llu: longer than the %zu tokens that the model takes: cut",
                          (unsigned long long)(first_line + i + 1), most);
        st = st ? st : rela_callback_check(&j->callback, 0, err);
    }
    return st;
}

static rela_status start_scorer(scorer *x, const job *j, rela_error *err)
{
    const rela_session *s = j->session;
    bool ok = (x->workers = rela_mem_zalloc(s->n_models * sizeof *x->workers)) != NULL;
    const size_t target = j->scores->target;
    size_t src_rows = 0;
    for (size_t side = 0; side <= target; side++) {
        src_rows = side < target && j->rows[side] > src_rows ? j->rows[side] : src_rows;
        x->ids[side] = rela_mem_array(j->rows[side] + 1, sizeof *x->ids[side]);
        x->at[side] = rela_mem_array(j->sentences + 1, sizeof *x->at[side]);
        ok = ok && x->ids[side] && x->at[side];
    }
    x->nll = rela_mem_array(j->rows[target], sizeof *x->nll);
    x->sum = rela_mem_array(j->rows[target], sizeof *x->sum);
    if (!ok || !x->nll || !x->sum)
        return rela_fail(err, RELA_NOMEM, "no memory to score");
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_models && st == RELA_OK; i++)
        st = rela_worker_create(&x->workers[i], &s->models[i]->net, src_rows, j->rows[target],
                                false, err);
    return st;
}

static rela_status start(job *j, size_t n, size_t batch_tokens, rela_error *err)
{
    rela_scores *r = j->scores;
    r->logps = rela_mem_array(target_of(r)->n + 1, sizeof *r->logps);
    j->order = rela_mem_array(n + 1, sizeof *j->order);
    j->batch_at = rela_mem_array(n + 1, sizeof *j->batch_at);
    if (!r->logps || !j->order || !j->batch_at)
        return rela_fail(err, RELA_NOMEM, "no memory to score %zu pairs", n);
    divide(j, n, batch_tokens);
    const size_t n_scorers = j->n_batches < j->most ? j->n_batches : j->most;
    j->scorers = rela_mem_zalloc((n_scorers + 1) * sizeof *j->scorers);
    if (!j->scorers)
        return rela_fail(err, RELA_NOMEM, "no memory to score %zu pairs", n);
    rela_status st = RELA_OK;
    while (j->n_scorers < n_scorers && st == RELA_OK)
        st = start_scorer(&j->scorers[j->n_scorers++], j, err);
    return st;
}

static void finish(job *j)
{
    for (size_t i = 0; i < j->n_scorers; i++) {
        scorer *x = &j->scorers[i];
        for (size_t k = 0; x->workers && k < j->session->n_models; k++)
            rela_worker_destroy(x->workers[k]);
        rela_mem_free(x->workers);
        for (size_t side = 0; side <= j->scores->target; side++) {
            rela_mem_free(x->ids[side]);
            rela_mem_free(x->at[side]);
        }
        rela_mem_free(x->nll);
        rela_mem_free(x->sum);
    }
    rela_mem_free(j->scorers);
    rela_mem_free(j->order);
    rela_mem_free(j->batch_at);
}

static void divide(job *j, size_t n, size_t batch_tokens)
{
    const rela_id_list *lists = j->scores->side;
    const size_t target = j->scores->target;
    for (size_t i = 0; i < n; i++) {
        j->order[i] = (rela_length){ 0, i };
        for (size_t side = 0; side <= target; side++) {
            const size_t len = length_of(&lists[side], i);
            j->order[i].length = len > j->order[i].length ? len : j->order[i].length;
        }
    }
    rela_lengths_sort(j->order, n);
    for (size_t first = 0, end = 0; first < n; first = end) {
        size_t rows[RELA_STREAMS_MAX] = { 0 };
        for (; end < n &&
               (end == first || (end - first + 1) * j->order[first].length <= batch_tokens);
             end++)
            for (size_t side = 0; side <= target; side++)
                rows[side] += length_of(&lists[side], j->order[end].at);
        for (size_t side = 0; side <= target; side++)
            j->rows[side] = rows[side] > j->rows[side] ? rows[side] : j->rows[side];
        j->sentences = end - first > j->sentences ? end - first : j->sentences;
        j->batch_at[j->n_batches++] = first;
    }
    j->batch_at[j->n_batches] = n;
}

static void work(void *ctx, size_t begin, size_t end, int thread)
{
    job *j = ctx;
    (void)thread;
    rela_callback_enter(&j->callback);
    for (size_t i = begin; i < end; i++)
        for (size_t batch = 0; (batch = atomic_fetch_add(&j->next, 1)) < j->n_batches &&
                               !rela_callback_poll(&j->callback, 0);)
            run_batch(j, &j->scorers[i], batch);
    rela_callback_leave(&j->callback);
}

/* Concatenates the chosen pairs. */
static rela_model_batch pack(scorer *x, const rela_scores *r, const rela_length *order, size_t n)
{
    rela_model_batch b = { .first = { 0 } };
    for (size_t side = 0; side <= r->target; side++) {
        uint32_t rows = 0;
        for (size_t i = 0; i < n; i++) {
            const rela_id_list *l = &r->side[side];
            const size_t len = length_of(l, order[i].at);
            x->at[side][i] = rows;
            memcpy(x->ids[side] + rows, l->ids + l->at[order[i].at], len * sizeof *l->ids);
            rows += (uint32_t)len;
        }
        x->at[side][n] = rows;
        b.streams[side] = (rela_tokens){ x->ids[side], x->at[side], n };
    }
    return b;
}

/* log(exp(a) + exp(b)); the probabilities themselves may underflow. */
static double log_add(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;
    return most + log1p(exp(least - most));
}

static void run_batch(job *j, scorer *x, size_t batch)
{
    const rela_length *order = j->order + j->batch_at[batch];
    const size_t n = j->batch_at[batch + 1] - j->batch_at[batch], n_models = j->session->n_models;
    const rela_model_batch b = pack(x, j->scores, order, n);
    const rela_tokens *tgt = &b.streams[j->scores->target];
    for (size_t m = 0; m < n_models; m++) {
        const rela_pass_options pass = { .loss = { .row_nll = x->nll }, .callback = &j->callback };
        (void)rela_worker_forward(x->workers[m], &b, &pass);
        if (rela_callback_poll(&j->callback, 0))
            return;
        for (size_t t = 0; t < rela_tokens_rows(tgt) && n_models > 1; t++)
            x->sum[t] = m ? log_add(x->sum[t], -(double)x->nll[t]) : -(double)x->nll[t];
    }
    for (size_t i = 0; i < n; i++) {
        real *to = j->scores->logps + target_of(j->scores)->at[order[i].at];
        for (uint32_t t = tgt->at[i]; t < tgt->at[i + 1]; t++)
            *to++ = n_models == 1 ? -x->nll[t] : (real)(x->sum[t] - log((double)n_models));
    }
    (void)rela_callback_poll(&j->callback, n);
}

/* ---- attention ---- */

typedef struct observer {
    int (*on_row)(void *ctx, const rela_attention_row *row);
    void *ctx;
    rela_attention_row row;
    uint32_t *keys;
    float *weights;
    int answer;                  /* not 0: the callback asked to stop */
    const rela_block_list *list; /* of the model */
    real not_finite;             /* of all weights so far: 0, or NaN if one was not finite */
} observer;

/* Passes on the rows of a head without their zeros. */
static void observe(void *ctx, const rela_attn_view *v)
{
    observer *o = ctx;
    rela_attention_row row = o->row;
    const rela_attn_stack *stack = &o->list->stacks[v->stack];
    row.stack = (int32_t)v->stack;
    row.type = (int32_t)stack->type;
    row.source = stack->type == RELA_ATTN_DEC ? 0 : (int32_t)stack->keys;
    row.layer = (int32_t)v->layer;
    row.head = (int32_t)v->head;
    row.keys = o->keys;
    row.weights = o->weights;
    for (size_t t = 0; t < v->rows && !o->answer; t++) {
        const real *w = v->w + t * v->ld;
        row.query = (uint32_t)(v->first + t);
        row.n_keys = (uint32_t)rela_attn_view_keys(v, t);
        row.n = 0;
        for (uint32_t k = 0; k < row.n_keys; k++)
            if (w[k] != 0) {
                o->keys[row.n] = k;
                o->weights[row.n++] = w[k];
                o->not_finite += w[k] - w[k];
            }
        o->answer = o->on_row(o->ctx, &row);
    }
}

rela_status rela_attend(rela_session *s, const rela_pairs *pairs,
                        int (*on_row)(void *ctx, const rela_attention_row *row), void *ctx,
                        rela_error *err)
{
    rela_scores r = { .model = s->models[0], .target = s->models[0]->net.config.sources };
    job j = { .session = s, .scores = &r, .most = 1 };
    observer o = { .on_row = on_row, .ctx = ctx, .list = &r.model->net.list };
    scorer x = { 0 };
    rela_status st = encode_pairs(&j, pairs, 1, err);
    st = st ? st : rela_config_check_shown(&s->models[0]->net.config, UINT32_MAX, err);
    st = st ? st : start(&j, pairs->n, 1, err);
    if (st == RELA_OK && pairs->n > 0) {
        const size_t longest = s->models[0]->net.config.max_len;
        o.keys = rela_mem_array(longest, sizeof *o.keys);
        o.weights = rela_mem_array(longest, sizeof *o.weights);
        if (!o.keys || !o.weights)
            st = rela_fail(err, RELA_NOMEM, "no memory for attention rows");
        else
            x = j.scorers[0];
    }
    const rela_attn_tap tap = { observe, &o };
    for (size_t i = 0; i < pairs->n && st == RELA_OK && !o.answer; i++) {
        const rela_length one = { 0, i };
        const rela_model_batch b = pack(&x, &r, &one, 1);
        const rela_pass_options pass = { .tap = &tap };
        o.row.pair = i;
        rela_worker_attend(x.workers[0], &b, &pass);
        if (!(o.not_finite == 0) || !rela_worker_finite(x.workers[0], &b, 0))
            st = rela_fail_not_finite(err, NULL, i + 1, "attention is");
    }
    if (st == RELA_OK && o.answer)
        st = rela_fail(err, RELA_CANCEL, "stopped by the callback");
    finish(&j);
    free_sides(&r);
    rela_mem_free(r.logps);
    rela_mem_free(o.keys);
    rela_mem_free(o.weights);
    return st;
}
