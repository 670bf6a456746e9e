/* SPDX-License-Identifier: MIT */
/* bench/bench_step.c - our side of `python3 bench/peers train`: speed of training updates from a
 * file of batches. Reports real target tokens per second, matrix products as a share of the speed
 * of one large product in the same run, and memory. `rela bench train` measures random sentences.
 *   bench_step PRESET KIND THREADS UPDATES BATCHES WARM
 * WARM updates are not measured. Dropout acts on embeddings and residual branches only, with the
 * rate of the preset: dropout in attention would keep PyTorch from its fused kernel. */
#include "batches.h"
#include "bench/bench_job.h"
#include "train/train_options.h"

#include <string.h>
#include <sys/resource.h>

static int fail(const char *why)
{
    (void)fprintf(stderr, "bench_step: %s\n", why);
    return 1;
}

static void report(char **argv, const double *seconds, const double *tokens, const double *flops,
                   double product, const rela_net *net)
{
    const size_t n = (size_t)atoi(argv[4]);
    const rela_bench_spread rate = rela_bench_quotients(1, tokens, seconds, n);
    const double gflops = rela_bench_quotients(1e-9, flops, seconds, n).median;
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    printf("{\"bench\": \"step\", \"preset\": \"%s\", \"kind\": \"%s\", \"threads\": %s, "
           "\"tok_s\": %.0f, \"low\": %.0f, \"high\": %.0f, \"gflops\": %.1f, \"big_product\": "
           "%.1f, \"share\": %.3f, \"rss_mb\": %ld, \"parameters\": %zu}\n",
           argv[1], argv[2], argv[3], rate.median, rate.low, rate.high, gflops, product,
           gflops / product, use.ru_maxrss / 1024, net->params.count);
}

int main(int argc, char **argv)
{
    if (argc != 7)
        return fail("usage: bench_step PRESET KIND THREADS UPDATES BATCHES WARM"), 2;
    rela_error err = { RELA_OK, "" };
    rela_config c;
    rela_net net;
    rela_updater *s = NULL;
    double product = 0, seconds[RELA_BENCH_ROUNDS_MAX], tokens[RELA_BENCH_ROUNDS_MAX];
    double flops[RELA_BENCH_ROUNDS_MAX];
    const int updates = atoi(argv[4]), warm = atoi(argv[6]);
    const rela_update_options o = { .n_threads = atoi(argv[3]),
                                    .beta1 = 0.9,
                                    .beta2 = 0.98,
                                    .epsilon = 1e-8,
                                    .smooth = 0.1,
                                    .seed = 1 };
    FILE *batches = fopen(argv[5], "rb");
    if (!batches || updates < 1 || updates > RELA_BENCH_ROUNDS_MAX)
        return fail(batches ? "updates: expected 1..99" : "the batches cannot be read");
    if (rela_train_preset_config(&c, argv[1], &err) != RELA_OK)
        return fail(err.message);
    c.drop_attn = c.drop_ffn = 0;
    c.vocab_src = c.vocab_tgt = strcmp(argv[1], "tiny") == 0 ? 10000 : 32000;
    if (rela_config_attend(&c, argv[2], NULL) != RELA_OK)
        return 2;
    if (rela_config_check(&c, &err) != RELA_OK || rela_net_init(&net, &c, &err) != RELA_OK ||
        rela_updater_create(&s, &net, &o, &err) != RELA_OK ||
        rela_bench_product_rate(&product, o.n_threads, 0.2, &err) != RELA_OK)
        return fail(err.message);
    rela_params_init(net.weights, &net.params, 1);
    for (int i = -warm; i < updates; i++) {
        rela_model_batch u;
        rela_update_result r;
        if (!bench_next_update(&u, batches))
            return fail("too few batches");
        const double start = rela_bench_clock(o.n_threads);
        if (rela_updater_run(s, &r, &u, (uint64_t)(i + warm) + 1, 1e-4, &err) != RELA_OK)
            return fail(err.message);
        if (i < 0)
            continue;
        seconds[i] = rela_bench_clock(o.n_threads) - start;
        tokens[i] = (double)r.tgt_tokens;
        flops[i] = 3 * rela_bench_update_flops(&c, &u);
    }
    report(argv, seconds, tokens, flops, product, &net);
    rela_updater_destroy(s);
    rela_net_deinit(&net);
    return 0;
}
