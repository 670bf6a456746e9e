/* SPDX-License-Identifier: MIT */
/* tests/precision/precision.c - float against double: a whole 2+2-layer model of every kind.
 *
 * The file is built twice. The double program runs the models and writes features and loss to the
 * file named on the command line; the float program runs the same models on the same weights and
 * compares. */
#include "attend.h"
#include "base/mem.h"
#include "check.h"
#include "model/worker.h"
#include "tiny_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VOCAB = 23, SRC_ROWS = 62, TGT_ROWS = 49, D = 32, N_RESULTS = TGT_ROWS * D + 1 };

static const char *path;

static const uint32_t SRC_AT[] = { 0, 12, 22, SRC_ROWS }, TGT_AT[] = { 0, 9, 12, TGT_ROWS };

static rela_config config_of(const rela_attn_kind *kind)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    tiny_config(&c);
    c.d = D;
    c.ffn = 40;
    c.heads = 4;
    c.enc_layers = c.dec_layers = 2;
    c.vocab_src = c.vocab_tgt = VOCAB;
    c.max_len = 64;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind->name);
    CHECK_OK(rela_config_check(&c, &err), err);
    return c;
}

/* Features of all target rows, then the loss. */
static void run_model(double *results, const rela_attn_kind *kind)
{
    rela_error err = { RELA_OK, "" };
    const rela_config c = config_of(kind);
    rela_net net;
    rela_worker *worker = NULL;
    int32_t src[SRC_ROWS], tgt[TGT_ROWS];
    for (int32_t i = 0; i < SRC_ROWS; i++)
        src[i] = 3 + i * 7 % 20;
    for (int32_t i = 0; i < TGT_ROWS; i++)
        tgt[i] = 3 + i * 11 % 20;
    const rela_model_batch batch = { .streams = { { src, SRC_AT, 3 }, { tgt, TGT_AT, 3 } } };
    const rela_pass_options pass = { .training = false, .loss = { .smooth = (real)0.1f } };
    CHECK_OK(rela_net_init(&net, &c, &err), err);
    CHECK_OK(rela_worker_create(&worker, &net, SRC_ROWS, TGT_ROWS, true, &err), err);
    rela_params_init(net.weights, &net.params, 7);
    for (size_t i = 0; i < net.params.total; i++)
        net.weights[i] = (real)(float)net.weights[i]; /* the same numbers in both programs */
    results[TGT_ROWS * D] = rela_worker_forward(worker, &batch, &pass).loss;
    for (size_t i = 0; i < TGT_ROWS * D; i++)
        results[i] = (double)rela_worker_features(worker)[i];
    rela_worker_destroy(worker);
    rela_net_deinit(&net);
}

#ifdef RELA_REAL_IS_DOUBLE

static void float_agrees_with_double(void **state)
{
    (void)state;
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL, "cannot write %s", path);
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        double results[N_RESULTS];
        run_model(results, rela_attn_kind_at(i));
        CHECK(fwrite(results, sizeof results, 1, f) == 1, "cannot write %s", path);
    }
    CHECK(fclose(f) == 0, "cannot write %s", path);
}

#else

static void float_agrees_with_double(void **state)
{
    (void)state;
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL, "cannot read %s; the double program writes it", path);
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        double want[N_RESULTS], got[N_RESULTS], top = 0, worst = 0;
        CHECK(fread(want, sizeof want, 1, f) == 1, "%s is too short", path);
        run_model(got, rela_attn_kind_at(i));
        for (size_t j = 0; j < N_RESULTS - 1; j++) {
            top = fmax(top, fabs(want[j]));
            worst = fmax(worst, fabs(got[j] - want[j]));
        }
        const double loss = fabs(got[N_RESULTS - 1] / want[N_RESULTS - 1] - 1);
        print_message("%-16s features %.1e, loss %.1e\n", rela_attn_kind_at(i)->name, worst / top,
                      loss);
        CHECK(worst <= 1e-5 * top && loss <= 1e-5, "%s: features differ by %.2e, loss by %.2e",
              rela_attn_kind_at(i)->name, worst / top, loss);
    }
    (void)fclose(f);
}

#endif

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "precision.bin";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float_agrees_with_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
