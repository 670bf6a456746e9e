/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_scale.c - forecasts the speed of training on several machines like this one:
 * parts of an update are measured and combined for more machines and different link speeds.
 *
 * On N machines with T threads an update has N groups of T slots of equally many tokens, and takes
 *   fixed + tokens * (time per token of a slot)    measured: a line through updates of four sizes
 *   + (T - 1 + (N - 1) / N) * (adding all gradients) + (Adam on all parameters) / N
 *   + 2 (N - 1) / N * parameters / link            gradients of its own group, then weights
 *   + (save + 2 (N - 1) / N * parameters / link) / SAVE_EVERY. */
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"
#include "bench/bench_job.h"

#include <math.h>

enum {
    FIRST_WORD = 3,
    N_SIZES = 4,
    ADD = N_SIZES, /* other turns follow the sizes */
    ADAM,
    SAVE,
    N_TURNS,
    SAVE_EVERY = 1000, /* updates */
    SLICE = 1 << 14
};
static const size_t SIZES[N_SIZES] = { 128, 256, 512, 1024 }; /* tokens of a slot */
/* Assumed, not measured: latency of an exchange in seconds, and the share of a link left by the
 * headers of Ethernet and TCP. */
static const double LATENCY = 100e-6, PAYLOAD = 0.94;
enum { EXCHANGES = 6 }; /* per update */

typedef struct state {
    rela_bench_job *j;
    rela_net net;
    real *grads, *moments[2];
    double *seconds; /* (turn, round) */
} state;

/* In seconds, except misfit. */
typedef struct costs {
    double fixed, token, add, adam, save;
    double misfit; /* largest relative error of the line at a measured update */
} costs;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status time_update(double *seconds, state *s, size_t tokens, rela_error *err);
static rela_status time_save(double *seconds, const state *s, rela_error *err);
static costs fit(state *s);
static rela_status report_costs(state *s, const costs *c, rela_error *err);
static rela_status report_forecast(state *s, const costs *c, rela_error *err);

const rela_bench_part rela_bench_part_scale = { .flag = RELA_BENCH_SCALE,
                                                .turns = turns,
                                                .run = run };

static size_t turns(const rela_bench_job *j)
{
    (void)j;
    return N_TURNS;
}

static rela_status run(rela_bench_job *j, rela_error *err)
{
    state s = { .j = j };
    rela_config c = j->config;
    rela_status st = rela_config_attend(&c, j->models[j->n_models - 1]->name, err);
    st = st ? st : rela_config_check(&c, err);
    st = st ? st : rela_net_init(&s.net, &c, err);
    if (st != RELA_OK)
        return st;
    const size_t n = s.net.params.total;
    rela_params_init(s.net.weights, &s.net.params, j->o.seed);
    s.seconds = rela_mem_array(N_TURNS * j->rounds, sizeof *s.seconds);
    s.grads = rela_mem_zalloc(n * sizeof(real));
    for (int i = 0; i < 2; i++)
        s.moments[i] = rela_mem_zalloc(n * sizeof(real));
    if (!s.seconds || !s.grads || !s.moments[0] || !s.moments[1])
        st = rela_fail(err, RELA_NOMEM, "no memory for gradients");
    st = st ? st : rela_bench_rounds(j, N_TURNS, turn, &s, err);
    if (st == RELA_OK) {
        const costs k = fit(&s);
        st = report_costs(&s, &k, err);
        st = st ? st : report_forecast(&s, &k, err);
    }
    rela_mem_free(s.seconds);
    rela_mem_free(s.grads);
    rela_mem_free(s.moments[0]);
    rela_mem_free(s.moments[1]);
    rela_net_deinit(&s.net);
    return st;
}

static void add_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const state *s = ctx;
    (void)thread;
    for (size_t at = begin * SLICE; at < end * SLICE && at < s->net.params.total; at += SLICE) {
        const size_t rest = s->net.params.total - at, n = rest < SLICE ? rest : SLICE;
        s->j->k->axpy(s->grads + at, 1, s->moments[0] + at, n);
    }
}

static void adam_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const state *s = ctx;
    const rela_adam adam = {
        .beta1 = (real)0.9, .beta2 = (real)0.98, .epsilon = (real)1e-8, .grad_scale = 1
    };
    (void)thread;
    for (size_t at = begin * SLICE; at < end * SLICE && at < s->net.params.total; at += SLICE) {
        const size_t rest = s->net.params.total - at, n = rest < SLICE ? rest : SLICE;
        s->j->k->adam(s->net.weights + at, s->moments[0] + at, s->moments[1] + at, s->grads + at, n,
                      &adam);
    }
}

static void add_all(void *ctx)
{
    state *s = ctx;
    rela_par_rows((s->net.params.total + SLICE - 1) / SLICE, s->j->n_threads, add_slices, s);
}

static void adam_all(void *ctx)
{
    state *s = ctx;
    rela_par_rows((s->net.params.total + SLICE - 1) / SLICE, s->j->n_threads, adam_slices, s);
}

static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    double *seconds = &s->seconds[i * s->j->rounds + round];
    if (i < N_SIZES)
        return time_update(seconds, s, SIZES[i], err);
    if (i == SAVE)
        return time_save(seconds, s, err);
    *seconds = rela_bench_time(i == ADD ? add_all : adam_all, s, s->j->o.seconds, s->j->n_threads);
    return RELA_OK;
}

/* tokens: of a slot; one slot per thread. */
static rela_status time_update(double *seconds, state *s, size_t tokens, rela_error *err)
{
    const rela_bench_job *j = s->j;
    const rela_update_options o = { .n_threads = j->n_threads,
                                    .slots = (size_t)j->n_threads,
                                    .beta1 = 0.9,
                                    .beta2 = 0.98,
                                    .epsilon = 1e-8,
                                    .smooth = 0.1,
                                    .seed = j->o.seed };
    const size_t length = (size_t)j->o.train_length, all = tokens * (size_t)j->n_threads;
    const size_t n = all < length ? 1 : all / length;
    int32_t *ids = rela_mem_array(n * length, sizeof *ids);
    uint32_t *at = rela_mem_array(n + 1, sizeof *at);
    rela_updater *updater = NULL;
    rela_update_result result;
    rela_status st = ids && at ? rela_updater_create(&updater, &s->net, &o, err)
                               : rela_fail(err, RELA_NOMEM, "no memory for an update");
    rela_rng r = rela_rng_start(j->o.seed, 2);
    for (size_t i = 0; i < n * length && st == RELA_OK; i++)
        ids[i] = (int32_t)rela_rng_below(&r, j->config.vocab_src - FIRST_WORD) + FIRST_WORD;
    for (size_t i = 0; i <= n && st == RELA_OK; i++)
        at[i] = (uint32_t)(i * length);
    const rela_model_batch u = { .streams = { { ids, at, n }, { ids, at, n } } };
    st = st ? st : rela_updater_run(updater, &result, &u, 1, 0, err);
    const double start = rela_bench_clock(j->n_threads);
    uint64_t updates = 0;
    *seconds = 0;
    while (st == RELA_OK && (updates == 0 || *seconds < j->o.seconds)) {
        st = rela_updater_run(updater, &result, &u, ++updates + 1, 0, err);
        *seconds = rela_bench_clock(j->n_threads) - start;
    }
    *seconds /= (double)(updates ? updates : 1);
    rela_updater_destroy(updater);
    rela_mem_free(ids);
    rela_mem_free(at);
    return st;
}

/* Writes weights and moments to an unnamed file in --out, else in the temporary directory. */
static rela_status time_save(double *seconds, const state *s, rela_error *err)
{
    rela_scratch *file = NULL;
    const size_t bytes = s->net.params.total * sizeof(real);
    rela_status st = rela_scratch_open(&file, s->j->o.out, err);
    const double start = rela_bench_clock(2); /* wall-clock time: a disk takes no CPU time */
    for (uint64_t i = 0; i < 3 && st == RELA_OK; i++)
        st = rela_scratch_write(file, s->net.weights, bytes, i * bytes, err);
    *seconds = rela_bench_clock(2) - start;
    rela_scratch_close(file);
    return st;
}

static double median(const state *s, size_t i)
{
    return rela_bench_spread_of(s->seconds + i * s->j->rounds, s->j->rounds).median;
}

/* Least squares of relative errors, so that small updates count as much as large ones. */
static costs fit(state *s)
{
    double w = 0, x = 0, y = 0, xx = 0, xy = 0;
    costs c = { .add = median(s, ADD), .adam = median(s, ADAM), .save = median(s, SAVE) };
    for (size_t i = 0; i < N_SIZES; i++) {
        const double t = median(s, i), n = (double)SIZES[i], weight = 1 / (t * t);
        w += weight;
        x += weight * n;
        y += weight * t;
        xx += weight * n * n;
        xy += weight * n * t;
    }
    c.token = (w * xy - x * y) / (w * xx - x * x);
    const double at_zero = (y - c.token * x) / w;
    for (size_t i = 0; i < N_SIZES; i++)
        c.misfit = fmax(c.misfit, fabs(1 - (at_zero + c.token * (double)SIZES[i]) / median(s, i)));
    c.fixed = fmax(0, at_zero - (s->j->n_threads - 1) * c.add - c.adam);
    return c;
}

static rela_status report_costs(state *s, const costs *c, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "part", "part", RELA_BENCH_TEXT, 0 },
        { "ms", "ms", RELA_BENCH_NUMBER, 3 },
    };
    const struct {
        const char *name;
        double seconds;
    } rows[] = { { "1000 tokens of a slot", 1000 * c->token },
                 { "adding the gradients of a slot", c->add },
                 { "Adam", c->adam },
                 { "the rest of an update", c->fixed },
                 { "writing a checkpoint", c->save } };
    rela_bench_table *table =
        rela_bench_table_new(s->j, "scale_parts", "parts of an update on this machine, all threads",
                             COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && st == RELA_OK; i++) {
        const rela_bench_cell row[] = { rela_bench_text(rows[i].name),
                                        rela_bench_number(1e3 * rows[i].seconds) };
        st = rela_bench_table_add(table, row, 2, err);
    }
    return st;
}

/* Seconds per update for a number of machines and a link speed in Gb/s. */
static double forecast(const state *s, const costs *c, double nodes, double link)
{
    const double threads = s->j->n_threads, others = (nodes - 1) / nodes;
    const double bytes = (double)(s->net.params.total * sizeof(real));
    const double block = 8 * bytes * others / (PAYLOAD * link * 1e9); /* all but the own share */
    const double save = (c->save + 2 * block) / SAVE_EVERY;
    return c->fixed + c->token * s->j->o.slot_tokens + (threads - 1 + others) * c->add +
           c->adam / nodes + 2 * block + (nodes > 1 ? EXCHANGES * LATENCY : 0) + save;
}

static rela_status report_forecast(state *s, const costs *c, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "link_gbps", "Gb/s", RELA_BENCH_NUMBER, 1 },
        { "nodes", "machines", RELA_BENCH_NUMBER, 0 },
        { "tokens", "tokens", RELA_BENCH_NUMBER, 0 },
        { "ms", "ms", RELA_BENCH_NUMBER, 1 },
        { "tokens_per_s", "tok/s", RELA_BENCH_NUMBER, 0 },
        { "share", "share", RELA_BENCH_NUMBER, 2 },
        { "misfit", "misfit", RELA_BENCH_NUMBER, 2 },
    };
    enum { N_COLUMNS = sizeof COLUMNS / sizeof COLUMNS[0] };
    rela_bench_table *table = rela_bench_table_new(
        s->j, "scale",
        "forecast, not measured: updates on several machines like this one, target tokens per "
        "second, as a share of perfect; misfit of the model here",
        COLUMNS, N_COLUMNS);
    const double one = forecast(s, c, 1, 1);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->j->n_links; i++)
        for (size_t k = 0; k < RELA_BENCH_NODES && st == RELA_OK; k++) {
            const double nodes = (double)(1 << k), t = forecast(s, c, nodes, s->j->links[i]);
            const double tokens = nodes * s->j->n_threads * s->j->o.slot_tokens;
            const rela_bench_cell row[N_COLUMNS] = {
                rela_bench_number(s->j->links[i]), rela_bench_number(nodes),
                rela_bench_number(tokens),         rela_bench_number(1e3 * t),
                rela_bench_number(tokens / t),     rela_bench_number(one / t),
                rela_bench_number(c->misfit)
            };
            s->j->r.scale[i][k] = one / t;
            st = rela_bench_table_add(table, row, N_COLUMNS, err);
        }
    return st;
}
