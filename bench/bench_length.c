/* SPDX-License-Identifier: MIT */
/* bench/bench_length.c - how time and memory grow with the length of a sentence: a training pass
 * over one pair of sentences, and a decoding step behind as many symbols, of a model with one
 * encoder and one decoder layer, two heads of 32. One thread; processor time.
 *   bench_length KIND [LENGTH...]
 * The last line has the slopes of the logarithms over those of the lengths. */
#include "base/mem.h"
#include "bench/bench_job.h"
#include "model/generator.h"
#include "model/worker.h"
#include "train/train_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VOCABULARY = 500, LENGTHS_MAX = 16, STEPS = 32, ROUNDS = 3 };

/* Of one length. */
typedef struct point {
    double length, train_s, train_mb, step_us, state_kb;
} point;

typedef struct world {
    rela_net net;
    rela_packed_weights packed;
    int32_t *ids;
    real *grads;
} world;

static int fail(const char *why)
{
    (void)fprintf(stderr, "bench_length: %s\n", why);
    return 1;
}

static double live(void)
{
    rela_memory_stats now = { .struct_size = sizeof now };
    return rela_memory_stats_get(&now, NULL) == RELA_OK ? (double)now.live : 0;
}

static rela_status start(world *w, const char *kind, size_t longest, rela_error *err)
{
    rela_config c;
    rela_status st = rela_train_preset_config(&c, "tiny", err);
    c.d = 64;
    c.heads = 2;
    c.ffn = 128;
    c.enc_layers = c.dec_layers = 1;
    c.vocab_src = c.vocab_tgt = VOCABULARY;
    c.max_len = longest + STEPS;
    st = st ? st : rela_config_attend(&c, kind, err);
    st = st ? st : rela_config_check(&c, err);
    st = st ? st : rela_net_init(&w->net, &c, err);
    if (st != RELA_OK)
        return st;
    rela_params_init(w->net.weights, &w->net.params, 1);
    w->ids = rela_mem_array(longest, sizeof *w->ids);
    w->grads = rela_mem_zalloc(w->net.params.total * sizeof *w->grads);
    if (!w->ids || !w->grads)
        return rela_fail(err, RELA_NOMEM, "no memory");
    for (size_t i = 0; i < longest; i++)
        w->ids[i] = (int32_t)(3 + i * 7919 % (VOCABULARY - 3));
    return rela_packed_weights_init(&w->packed, &w->net, 1, err);
}

static rela_status train(world *w, point *p, rela_error *err)
{
    const uint32_t at[] = { 0, (uint32_t)p->length };
    const rela_model_batch batch = { .streams = { { w->ids, at, 1 }, { w->ids, at, 1 } } };
    const rela_pass_options pass = { .training = true, .seed = 1, .update = 1 };
    rela_worker *worker = NULL;
    const double before = live();
    const rela_status st = rela_worker_create(&worker, &w->net, at[1], at[1], true, err);
    if (st != RELA_OK)
        return st;
    p->train_mb = (live() - before) / 1e6;
    p->train_s = INFINITY;
    for (int i = 0; i < ROUNDS; i++) {
        const double from = rela_bench_clock(1);
        (void)rela_worker_train(worker, w->grads, &batch, &pass);
        p->train_s = fmin(p->train_s, rela_bench_clock(1) - from);
    }
    rela_worker_destroy(worker);
    return RELA_OK;
}

/* Steps of one hypothesis until there are as many symbols as in the source; the last are timed. */
static rela_status decode(world *w, point *p, rela_error *err)
{
    const uint32_t n = (uint32_t)p->length, at[] = { 0, n }, zero = 0;
    const rela_generator_size size = { .places = 1,
                                       .src_rows = n,
                                       .src_len = n,
                                       .src_kept = rela_memory_ld(n),
                                       .rows = 1,
                                       .place_rows = 1,
                                       .steps = n + STEPS };
    const size_t n_src = n;
    rela_generator *g = NULL;
    uint32_t *history = rela_mem_array(size.steps, sizeof *history);
    rela_status st = history ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory");
    st = st ? st : rela_generator_create(&g, &w->packed, err);
    st = st ? st : rela_generator_reserve(g, &size, err);
    const double before = live();
    st = st ? st : rela_generator_reserve_slots(g, size.steps, err);
    const rela_block_list *l = &w->net.list;
    p->state_kb = (live() - before +
                   (double)(l->state + l->memories[0].state +
                            l->memories[0].keyed * 2 * n * w->net.config.d) *
                       sizeof(real)) /
                  1e3;
    st = st ? st : rela_generator_reserve_place(g, 0, &n_src, 0, err);
    if (st == RELA_OK)
        rela_generator_read(g, &(rela_tokens){ w->ids, at, 1 }, &zero);
    double from = 0;
    p->step_us = INFINITY;
    for (uint32_t t = 0; st == RELA_OK && t < size.steps; t++) {
        history[t] = t;
        const rela_step_rows rows = { .n = 1,
                                      .token = &w->ids[t % n],
                                      .position = &t,
                                      .place = &zero,
                                      .history = history,
                                      .ld = size.steps };
        from = rela_bench_clock(1);
        (void)rela_generator_step(g, &rows, NULL);
        if (t >= n)
            p->step_us = fmin(p->step_us, (rela_bench_clock(1) - from) * 1e6);
    }
    rela_generator_destroy(g);
    rela_mem_free(history);
    return st;
}

/* Least squares of log y over log length. */
static double slope(const point *p, size_t n, size_t member)
{
    double x = 0, y = 0, xx = 0, xy = 0;
    for (size_t i = 0; i < n; i++) {
        double value = 0;
        memcpy(&value, (const char *)&p[i] + member, sizeof value);
        const double a = log(p[i].length), b = log(value);
        x += a;
        y += b;
        xx += a * a;
        xy += a * b;
    }
    return ((double)n * xy - x * y) / ((double)n * xx - x * x);
}

int main(int argc, char **argv)
{
    static const char *const DEFAULTS[] = { "512", "1024", "2048", "4096", "8192" };
    if (argc < 2 || argc > 2 + LENGTHS_MAX)
        return fail("usage: bench_length KIND [LENGTH...]"), 2;
    const size_t n = argc > 2 ? (size_t)argc - 2 : sizeof DEFAULTS / sizeof DEFAULTS[0];
    point points[LENGTHS_MAX];
    size_t longest = 1;
    rela_error err = { RELA_OK, "" };
    world w = { .ids = NULL };
    for (size_t i = 0; i < n; i++) {
        const char *text = argc > 2 ? argv[i + 2] : DEFAULTS[i];
        points[i] = (point){ .length = fmax(1, (double)atol(text)) };
        longest = points[i].length > (double)longest ? (size_t)points[i].length : longest;
    }
    if (start(&w, argv[1], longest, &err) != RELA_OK)
        return fail(err.message);
    for (size_t i = 0; i < n; i++) {
        point *p = &points[i];
        if (train(&w, p, &err) != RELA_OK || decode(&w, p, &err) != RELA_OK)
            return fail(err.message);
        printf("{\"bench\": \"length\", \"kind\": \"%s\", \"length\": %.0f, \"train_s\": %.4f, "
               "\"train_mb\": %.2f, \"step_us\": %.1f, \"state_kb\": %.1f}\n",
               argv[1], p->length, p->train_s, p->train_mb, p->step_us, p->state_kb);
    }
    printf("{\"bench\": \"length slopes\", \"kind\": \"%s\", \"train_s\": %.3f, \"train_mb\": "
           "%.3f, \"step_us\": %.3f, \"state_kb\": %.3f}\n",
           argv[1], slope(points, n, offsetof(point, train_s)),
           slope(points, n, offsetof(point, train_mb)), slope(points, n, offsetof(point, step_us)),
           slope(points, n, offsetof(point, state_kb)));
    rela_packed_weights_deinit(&w.packed);
    rela_mem_free(w.ids);
    rela_mem_free(w.grads);
    rela_net_deinit(&w.net);
    return 0;
}
