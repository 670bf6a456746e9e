/* SPDX-License-Identifier: MIT */
/* bench/bench_step.c - speed of a training update: real target tokens per second, as a share of
 * the rate of one big product in the same run.
 *   bench_step [preset] [kind] [threads] [tokens] [length] [piece] [updates] [batches]
 * Sentences are random and all of one length, or come from a file of batches. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "batches.h"
#include "kern/gemm.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BIG = 1536, WARM = 2 };

/* GFLOP/s of square products, one per thread at the same time. */
static double product_rate(int threads)
{
    real *a = rela_mem_array((size_t)BIG * BIG * 3 * (size_t)threads, sizeof *a);
    for (size_t i = 0; i < (size_t)BIG * BIG * 3 * (size_t)threads; i++)
        a[i] = (real)(i % 7) / 7;
    double best = 0;
    for (int r = 0; r < 3; r++) {
        const double start = rela_clock_seconds();
#pragma omp parallel num_threads(threads)
        {
            real *x = a + (size_t)omp_get_thread_num() * BIG * BIG * 3;
            rela_gemm_nn(x, BIG, x + BIG * BIG, BIG, x + 2 * BIG * BIG, BIG, BIG, BIG, BIG, false);
        }
        const double rate = 2.0 * BIG * BIG * BIG * threads / (rela_clock_seconds() - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    rela_mem_free(a);
    return best;
}

/* Forward FLOPs of the products of one update, scores included, causal half once. */
static double flops(const rela_config *c, const rela_update *u)
{
    const double d = (double)c->d, f = (double)c->ffn;
    const double enc_layers = (double)c->enc_layers, dec_layers = (double)c->dec_layers;
    double total = 0;
    for (size_t i = 0; i < u->src.n; i++) {
        const double s = u->src.at[i + 1] - u->src.at[i], t = u->tgt.at[i + 1] - u->tgt.at[i];
        total += s * (enc_layers * (4 * d * d + 2 * d * f) + dec_layers * 2 * d * d);
        total += t * (dec_layers * (6 * d * d + 2 * d * f) + d * (double)c->vocab_tgt);
        total += 2 * d * (enc_layers * s * s + dec_layers * (t * t / 2 + t * s));
    }
    return 2 * total;
}

/* Updates of random sentences, all of one length. */
static void made_update(rela_update *u, size_t tokens, size_t len, size_t vocabulary)
{
    const size_t n = tokens / len;
    int32_t *ids = rela_mem_array(n * len, sizeof *ids);
    uint32_t *at = rela_mem_array(n + 1, sizeof *at);
    rela_rng r = rela_rng_start(1, 1);
    for (size_t i = 0; i < n * len; i++)
        ids[i] = (int32_t)rela_rng_below(&r, (uint32_t)vocabulary - 3) + 3;
    for (size_t i = 0; i <= n; i++)
        at[i] = (uint32_t)(i * len);
    *u = (rela_update){ { ids, at, n }, { ids, at, n } };
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_value);
    return n % 2 != 0 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

int main(int argc, char **argv)
{
    const char *preset = argc > 1 ? argv[1] : "tiny", *kind = argc > 2 ? argv[2] : "rela-g";
    const int threads = argc > 3 ? atoi(argv[3]) : 2;
    const size_t tokens = argc > 4 ? (size_t)atol(argv[4]) : 4096;
    const size_t len = argc > 5 ? (size_t)atol(argv[5]) : 14;
    const size_t piece = argc > 6 ? (size_t)atol(argv[6]) : 0;
    const int updates = argc > 7 ? atoi(argv[7]) : 10;
    rela_error err = { RELA_OK, "" };
    rela_config c;
    rela_net net;
    rela_stepper *s = NULL;
    if (rela_config_preset(&c, preset, &err) != RELA_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    c.vocab_src = c.vocab_tgt = strcmp(preset, "tiny") == 0 ? 10000 : 32000;
    c.max_len = len > c.max_len ? len : c.max_len;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        c.kind[i] = rela_attn_kind_find(kind);
    const rela_step_options o = { .n_threads = threads,
                                  .piece_rows = piece,
                                  .beta1 = 0.9,
                                  .beta2 = 0.98,
                                  .epsilon = 1e-8,
                                  .smooth = 0.1,
                                  .seed = 1 };
    if (rela_config_check(&c, &err) != RELA_OK || rela_net_init(&net, &c, &err) != RELA_OK ||
        rela_stepper_create(&s, &net, &o, &err) != RELA_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    rela_params_init(net.weights, &net.layout.params, 1);
    FILE *batches = argc > 8 ? fopen(argv[8], "rb") : NULL;
    if (argc > 8 && batches == NULL)
        return fprintf(stderr, "%s: cannot be read\n", argv[8]), 1;
    rela_update u;
    if (batches == NULL)
        made_update(&u, tokens, len, c.vocab_src);
    rela_step_result res;
    double *rates = rela_mem_array((size_t)updates, sizeof *rates);
    double *work = rela_mem_array((size_t)updates, sizeof *work);
    const double peak = product_rate(threads);
    for (int i = 0; i < updates + WARM; i++) {
        if (batches != NULL && !bench_next_update(&u, batches))
            return fprintf(stderr, "%s: too few batches\n", argv[8]), 1;
        const double start = rela_clock_seconds();
        if (rela_stepper_run(s, &res, &u, (uint64_t)i + 1, 1e-4, &err) != RELA_OK)
            return fprintf(stderr, "%s\n", err.message), 1;
        const double took = rela_clock_seconds() - start;
        if (i >= WARM) {
            rates[i - WARM] = (double)res.tgt_tokens / took;
            work[i - WARM] = 3 * flops(&c, &u) / took * 1e-9;
        }
    }
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    const double gflops = median(work, (size_t)updates);
    const double rate = median(rates, (size_t)updates); /* sorts them */
    printf("{\"bench\": \"step\", \"preset\": \"%s\", \"kind\": \"%s\", \"threads\": %d, "
           "\"piece\": %zu, \"isa\": \"%s\", \"tok_s\": %.0f, \"low\": %.0f, \"high\": %.0f, "
           "\"gflops\": %.1f, \"big_product\": %.1f, \"share\": %.3f, \"rss_mb\": %ld, "
           "\"loss\": %.5f}\n",
           preset, kind, threads, piece, net.k->name, rate, rates[0], rates[updates - 1], gflops,
           peak, gflops / peak, use.ru_maxrss / 1024, res.loss / (double)res.tgt_tokens);
    rela_stepper_destroy(s);
    rela_net_deinit(&net);
    return 0;
}
