/* SPDX-License-Identifier: MIT */
/* bench/bench_step.c - speed of a training update: real target tokens per second, as a share of
 * the rate of one big product in the same run.
 *   bench_step [preset] [kind] [threads] [tokens] [length] [piece] [updates] */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "kern/gemm.h"
#include "train/step.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { BIG = 1536 };

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
static double flops(const rela_config *c, size_t sentences, size_t len)
{
    const double d = (double)c->d, f = (double)c->ffn, t = (double)len,
                 rows = t * (double)sentences;
    const double enc = (double)c->enc_layers * (4 * d * d + 2 * d * f);
    const double dec = (double)c->dec_layers * (8 * d * d + 2 * d * f) + d * (double)c->vocab_tgt;
    const double score = (double)c->dec_layers * d * 2 * (t + t / 2 + t);
    return 2 * rows * (enc + dec + score);
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
    const size_t n = tokens / len;
    int32_t *ids = rela_mem_array(n * len, sizeof *ids);
    uint32_t *at = rela_mem_array(n + 1, sizeof *at);
    rela_rng r = rela_rng_start(1, 1);
    for (size_t i = 0; i < n * len; i++)
        ids[i] = (int32_t)rela_rng_below(&r, c.vocab_src - 3) + 3;
    for (size_t i = 0; i <= n; i++)
        at[i] = (uint32_t)(i * len);
    const rela_update u = { { ids, at, n }, { ids, at, n } };
    rela_step_result res;
    double best = 1e9, sum = 0;
    const double peak = product_rate(threads);
    for (int i = 1; i <= updates + 2; i++) {
        const double start = rela_clock_seconds();
        if (rela_stepper_run(s, &res, &u, (uint64_t)i, 1e-4, &err) != RELA_OK)
            return fprintf(stderr, "%s\n", err.message), 1;
        const double took = rela_clock_seconds() - start;
        if (i > 2) {
            best = took < best ? took : best;
            sum += took;
        }
    }
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    const double rate = (double)(n * len) * updates / sum, work = 3 * flops(&c, n, len);
    printf("{\"bench\": \"step\", \"preset\": \"%s\", \"kind\": \"%s\", \"threads\": %d, "
           "\"tokens\": %zu, \"length\": %zu, \"piece\": %zu, \"isa\": \"%s\", \"tok_s\": %.0f, "
           "\"best_tok_s\": %.0f, \"gflops\": %.1f, \"big_product\": %.1f, \"share\": %.3f, "
           "\"rss_mb\": %ld, \"loss\": %.5f}\n",
           preset, kind, threads, n * len, len, piece, net.k->name, rate, (double)(n * len) / best,
           work * updates / sum * 1e-9, peak, work * updates / sum * 1e-9 / peak,
           use.ru_maxrss / 1024, res.loss / (double)res.tgt_tokens);
    rela_stepper_destroy(s);
    rela_net_deinit(&net);
    rela_mem_free(ids);
    rela_mem_free(at);
    return 0;
}
