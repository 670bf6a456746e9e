/* SPDX-License-Identifier: MIT */
/* bench/bench_curve.c - training loss of the tiny preset over a file of batches, averaged over
 * every hundred updates: the reference for other trainers on the same batches.
 *   bench_curve KIND THREADS BATCHES [SEED [UPDATES]] */
#include "base/clock.h"
#include "batches.h"
#include "train/schedule.h"
#include "train/train_options.h"

#include <string.h>

int main(int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    rela_net net;
    rela_updater *s = NULL;
    if (argc < 4)
        return fprintf(stderr, "usage: bench_curve KIND THREADS BATCHES [SEED [UPDATES]]\n"), 2;
    const uint64_t seed = argc > 4 ? (uint64_t)atol(argv[4]) : 1;
    const uint64_t updates = argc > 5 ? (uint64_t)atol(argv[5]) : UINT64_MAX;
    FILE *f = fopen(argv[3], "rb");
    const rela_update_options o = { .n_threads = atoi(argv[2]),
                                    .beta1 = 0.9,
                                    .beta2 = 0.98,
                                    .epsilon = 1e-8,
                                    .smooth = 0.1,
                                    .seed = seed };
    if (f == NULL || rela_train_preset_config(&c, "tiny", &err) != RELA_OK)
        return fprintf(stderr, "%s: cannot be read\n", argv[3]), 1;
    c.vocab_src = c.vocab_tgt = 10000;
    if (rela_config_attend(&c, argv[1], NULL) != RELA_OK)
        return 2;
    if (rela_config_check(&c, &err) != RELA_OK || rela_net_init(&net, &c, &err) != RELA_OK ||
        rela_updater_create(&s, &net, &o, &err) != RELA_OK)
        return fprintf(stderr, "%s\n", err.message), 1;
    rela_params_init(net.weights, &net.params, seed);
    const rela_schedule schedule = {
        .kind = RELA_SCHEDULE_INVERSE_SQRT, .rate = 5e-3, .start = 1e-7, .warmup = 2000
    };
    double loss = 0, nll = 0, tokens = 0, start = rela_clock_seconds();
    rela_model_batch u;
    for (uint64_t i = 1; i <= updates && bench_next_update(&u, f); i++) {
        rela_update_result r;
        if (rela_updater_run(s, &r, &u, i, rela_schedule_rate(&schedule, i), &err) != RELA_OK)
            return fprintf(stderr, "%s\n", err.message), 1;
        loss += r.loss;
        nll += r.nll;
        tokens += (double)r.tgt_tokens;
        if (i % 100 != 0)
            continue;
        printf("{\"bench\": \"curve\", \"kind\": \"%s\", \"update\": %llu, \"loss\": %.4f, "
               "\"nll\": %.4f, \"tok_s\": %.0f}\n",
               argv[1], (unsigned long long)i, loss / tokens, nll / tokens,
               tokens / (rela_clock_seconds() - start));
        fflush(stdout);
        loss = nll = tokens = 0;
        start = rela_clock_seconds();
    }
    return 0;
}
