/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_train.c - whole training updates on random sentences: target tokens per second
 * for each kind. */
#include "base/mem.h"
#include "base/rng.h"
#include "bench/bench_job.h"

#include <string.h>

enum { FIRST_WORD = 3 };

typedef struct state {
    rela_bench_job *j;
    rela_model_batch update;
    int32_t *ids;
    uint32_t *at;
    size_t tokens;   /* of each side */
    double *seconds; /* (kind, round) for one update */
    double zeros[RELA_BENCH_KINDS_MAX];
    real lowered[RELA_BENCH_KINDS_MAX]; /* see lower_scores */
} state;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status make_update(state *s, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status reach_zeros(state *s, size_t i, rela_net *net, rela_error *err);
static void lower_scores(rela_net *net, real by);
static rela_status count_zeros(double *share, const state *s, const rela_net *net, rela_error *err);
static rela_status report(const state *s, rela_error *err);

const rela_bench_part rela_bench_part_train = { .flag = RELA_BENCH_TRAIN,
                                                .turns = turns,
                                                .run = run };

static size_t turns(const rela_bench_job *j)
{
    return j->n_models;
}

/* Tokens per update: enough for all threads and micro-batches, few enough to wait for. */
static size_t update_tokens(const rela_bench_job *j)
{
    static const struct {
        const char *preset;
        size_t tokens;
    } SIZES[] = { { "demo", 1024 }, { "tiny", 4096 } };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++)
        if (strcmp(j->o.preset, SIZES[i].preset) == 0)
            return SIZES[i].tokens;
    return 2048;
}

static rela_status run(rela_bench_job *j, rela_error *err)
{
    state s = { .j = j };
    s.seconds = rela_mem_array(j->n_models * j->rounds, sizeof *s.seconds);
    rela_status st =
        s.seconds ? make_update(&s, err) : rela_fail(err, RELA_NOMEM, "no memory for an update");
    st = st ? st : rela_bench_rounds(j, turns(j), turn, &s, err);
    st = st ? st : report(&s, err);
    rela_mem_free(s.seconds);
    rela_mem_free(s.ids);
    rela_mem_free(s.at);
    return st;
}

/* Sentences of one length; source and target are the same. */
static rela_status make_update(state *s, rela_error *err)
{
    const rela_bench_job *j = s->j;
    const size_t length = (size_t)j->o.train_length, wanted = update_tokens(j);
    const size_t n = wanted < length ? 1 : wanted / length;
    s->tokens = n * length;
    s->ids = rela_mem_array(s->tokens, sizeof *s->ids);
    s->at = rela_mem_array(n + 1, sizeof *s->at);
    if (!s->ids || !s->at)
        return rela_fail(err, RELA_NOMEM, "no memory for an update");
    rela_rng r = rela_rng_start(j->o.seed, 2);
    for (size_t i = 0; i < s->tokens; i++)
        s->ids[i] = (int32_t)rela_rng_below(&r, j->config.vocab_src - FIRST_WORD) + FIRST_WORD;
    for (size_t i = 0; i <= n; i++)
        s->at[i] = (uint32_t)(i * length);
    s->update = (rela_model_batch){ .streams = { { s->ids, s->at, n }, { s->ids, s->at, n } } };
    return RELA_OK;
}

/* Creates an updater for each turn: those of all kinds would not fit into memory together. */
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    const rela_bench_job *j = s->j;
    const rela_update_options o = { .n_threads = j->n_threads,
                                    .beta1 = 0.9,
                                    .beta2 = 0.98,
                                    .epsilon = 1e-8,
                                    .smooth = 0.1,
                                    .seed = j->o.seed };
    rela_config c = j->config;
    rela_net net;
    rela_updater *updater = NULL;
    rela_update_result result;
    rela_status st = rela_config_attend(&c, j->models[i]->name, err);
    st = st ? st : rela_config_check(&c, err);
    st = st ? st : rela_net_init(&net, &c, err);
    if (st != RELA_OK)
        return st;
    if (j->trained.weights && strcmp(j->trained.config.attention[0].text, j->models[i]->name) == 0)
        memcpy(net.weights, j->trained.weights, net.params.total * sizeof *net.weights);
    else
        rela_params_init(net.weights, &net.params, j->o.seed);
    if (round == 0 && j->o.zeros > 0 && (j->models[i]->flags & ATTN_RECTIFIED))
        st = reach_zeros(s, i, &net, err);
    lower_scores(&net, s->lowered[i]);
    if (round == 0)
        st = st ? st : count_zeros(&s->zeros[i], s, &net, err);
    st = st ? st : rela_updater_create(&updater, &net, &o, err);
    st = st ? st : rela_updater_run(updater, &result, &s->update, 1, 1e-4, err);
    const double start = rela_bench_clock(j->n_threads);
    double took = 0;
    uint64_t updates = 0;
    while (st == RELA_OK && (updates == 0 || took < j->o.seconds)) {
        st = rela_updater_run(updater, &result, &s->update, ++updates + 1, 1e-4, err);
        took = rela_bench_clock(j->n_threads) - start;
    }
    s->seconds[i * j->rounds + round] = took / (double)(updates ? updates : 1);
    rela_updater_destroy(updater);
    rela_net_deinit(&net);
    return st;
}

/* Finds by bisection how far to lower scores to reach o.zeros. The net is left unchanged. */
static rela_status reach_zeros(state *s, size_t i, rela_net *net, rela_error *err)
{
    real least = 0, most = 16;
    rela_status st = RELA_OK;
    for (int step = 0; step < 8 && st == RELA_OK; step++) {
        const real by = s->lowered[i] = (least + most) / 2;
        double share = 0;
        lower_scores(net, by);
        st = count_zeros(&share, s, net, err);
        lower_scores(net, -by);
        *(share < s->j->o.zeros ? &least : &most) = by;
    }
    return st;
}

/* Adds `by` to the bias of the first component of each head for queries and subtracts it for keys,
 * which lowers scores by about its square. A negative number undoes it. */
static void lower_heads(const rela_net *net, size_t queries, size_t keys, real by)
{
    const size_t d_head = net->config.d / net->config.heads;
    for (size_t h = 0; h < net->config.heads; h++) {
        net->weights[queries + h * d_head] += by;
        net->weights[keys + h * d_head] -= by;
    }
}

static void lower_scores(rela_net *net, real by)
{
    for (size_t i = 0; i < net->list.n; i++) {
        const rela_block *b = &net->list.blocks[i];
        for (size_t j = 0; b->type == &rela_block_attention && j < b->at.attn.n_sides; j++) {
            const rela_attn_side *side = &b->at.attn.sides[j];
            const size_t in = net->params.items[side->in_bias].offset;
            lower_heads(net, in,
                        b->at.attn.self ? in + b->d : net->params.items[side->kv_bias].offset, by);
        }
    }
}

/* Share of attention weights in the update that are exactly zero. */
static rela_status count_zeros(double *share, const state *s, const rela_net *net, rela_error *err)
{
    rela_worker *worker = NULL;
    rela_bench_zeros z = { 0, 0 };
    const rela_attn_tap tap = { rela_bench_see_zeros, &z };
    const rela_pass_options pass = { .tap = &tap };
    const rela_status st = rela_worker_create(&worker, net, s->tokens, s->tokens, false, err);
    if (st == RELA_OK)
        rela_worker_attend(worker, &s->update, &pass);
    rela_worker_destroy(worker);
    *share = z.zeros / z.weights;
    return st;
}

rela_bench_macs rela_bench_macs_of(const rela_config *c)
{
    const double d = (double)c->d, projections = 2 * d * d, ffn = 2 * d * (double)c->ffn;
    rela_attn_stack stacks[RELA_STACKS_MAX];
    rela_bench_macs m = { .logit = d };
    for (size_t i = 0, n = rela_attn_stacks(stacks, c); i < n; i++) {
        const rela_attn_stack *s = &stacks[i];
        const double layers = (double)s->layers;
        const bool cross = rela_attn_stack_cross(s);
        *(s->queries == c->sources ? &m.target : &m.source) += layers * projections;
        *(s->keys == c->sources ? &m.target : &m.source) += layers * projections;
        *(s->queries == c->sources ? &m.target : &m.source) += cross ? 0 : layers * ffn;
        *(cross ? &m.cross_layers : &m.self_layers) += layers;
    }
    return m;
}

double rela_bench_update_flops(const rela_config *c, const rela_model_batch *u)
{
    const rela_bench_macs m = rela_bench_macs_of(c);
    rela_attn_stack stacks[RELA_STACKS_MAX];
    const size_t n_stacks = rela_attn_stacks(stacks, c), target = c->sources;
    double total = 0;
    for (size_t i = 0; i < u->streams[0].n; i++) {
        double n[RELA_STREAMS_MAX];
        for (size_t k = 0; k <= target; k++)
            n[k] = u->streams[k].at[i + 1] - u->streams[k].at[i];
        for (size_t k = 0; k < target; k++)
            total += n[k] * m.source;
        total += n[target] * (m.target + m.logit * (double)c->vocab_tgt);
        for (size_t k = 0; k < n_stacks; k++)
            total += 2 * m.logit * (double)stacks[k].layers * n[stacks[k].queries] *
                     n[stacks[k].keys] / (stacks[k].causal ? 2 : 1);
    }
    return 2 * total;
}

static rela_status report(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "kind", "kind", RELA_BENCH_TEXT, 0 },
        { "threads", "threads", RELA_BENCH_NUMBER, 0 },
        { "length", "T", RELA_BENCH_NUMBER, 0 },
        { "zeros", "zeros %", RELA_BENCH_NUMBER, 1 },
        { "tokens_per_s", "tokens/s", RELA_BENCH_SPREAD, 0 },
        { "gflops", "GFLOP/s", RELA_BENCH_NUMBER, 1 },
        { "share", "of peak", RELA_BENCH_NUMBER, 2 },
        { "product_share", "of product", RELA_BENCH_NUMBER, 2 },
        { "speed", "speed/softmax", RELA_BENCH_SPREAD, 2 },
    };
    rela_bench_job *j = s->j;
    rela_bench_table *table =
        rela_bench_table_new(j, "train",
                             "whole updates: target tokens per second, products as a share of "
                             "multiply-adds and of one large product",
                             COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    const double flops = 3 * rela_bench_update_flops(&j->config, &s->update) * 1e-9;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_models && st == RELA_OK; i++) {
        const double *seconds = s->seconds + i * j->rounds;
        const rela_bench_spread rate = rela_bench_quotients(flops, NULL, seconds, j->rounds);
        const rela_bench_spread speed = rela_bench_quotients(1, s->seconds, seconds, j->rounds);
        j->r.train[i] = speed.median;
        const rela_bench_cell row[] = {
            rela_bench_text(j->models[i]->name),
            rela_bench_number(j->n_threads),
            rela_bench_number(j->o.train_length),
            rela_bench_number(100 * s->zeros[i]),
            rela_bench_value(rela_bench_quotients((double)s->tokens, NULL, seconds, j->rounds)),
            rela_bench_number(rate.median),
            rela_bench_number(rate.median / j->peak.multiply_adds[1]),
            rela_bench_number(rate.median / j->peak.product[1]),
            rela_bench_value(speed),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}
