/* SPDX-License-Identifier: MIT */
/* tests/precision/huge.c - weights that are finite but huge: float must either agree with double,
 * or show that it has overflowed. A finite result that is another one would be believed.
 *
 * Built twice, as precision.c: the double program writes what the float program compares with.
 * Every tensor of a model of every kind is scaled in turn. */
#include "attend.h"
#include "base/mem.h"
#include "check.h"
#include "model/worker.h"
#include "tiny_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VOCAB = 23, SRC_ROWS = 62, TGT_ROWS = 49, SENTENCES = 3 };
enum { PARAM_STEP = EMULATED ? 5 : 1 }; /* of so many parameters one is scaled */

static const char *path;

static const uint32_t SRC_AT[] = { 0, 12, 22, SRC_ROWS }, TGT_AT[] = { 0, 9, 12, TGT_ROWS };
static const double FACTORS[] = { 1e10, 1e20, 1e36 };
enum { N_FACTORS = sizeof FACTORS / sizeof *FACTORS };

/* A model, and the sentences it reads. */
typedef struct reader {
    rela_net net;
    rela_worker *worker;
    real *usual; /* weights before one is scaled */
    int32_t src[SRC_ROWS], tgt[TGT_ROWS];
} reader;

static void start(reader *r, const rela_attn_kind *kind)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    tiny_config(&c);
    c.d = 32;
    c.ffn = 40;
    c.heads = 4;
    c.enc_layers = c.dec_layers = 2;
    c.vocab_src = c.vocab_tgt = VOCAB;
    c.max_len = 64;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind->name);
    CHECK_OK(rela_config_check(&c, &err), err);
    CHECK_OK(rela_net_init(&r->net, &c, &err), err);
    CHECK_OK(rela_worker_create(&r->worker, &r->net, SRC_ROWS, TGT_ROWS, true, &err), err);
    const size_t n = r->net.params.total;
    r->usual = rela_mem_array(n, sizeof *r->usual);
    CHECK(r->usual != NULL, "no memory");
    rela_params_init(r->usual, &r->net.params, 7);
    for (size_t i = 0; i < n; i++)
        r->usual[i] = (real)(float)r->usual[i]; /* the same numbers in both programs */
    for (int32_t i = 0; i < SRC_ROWS; i++)
        r->src[i] = 3 + i * 7 % 20;
    for (int32_t i = 0; i < TGT_ROWS; i++)
        r->tgt[i] = 3 + i * 11 % 20;
}

static void end(reader *r)
{
    rela_mem_free(r->usual);
    rela_worker_destroy(r->worker);
    rela_net_deinit(&r->net);
}

/* With one tensor scaled; numbers that start as zero are small ones first. */
static double nll_of(reader *r, const rela_param *p, double factor)
{
    real *w = r->net.weights;
    const rela_model_batch batch = { .streams = { { r->src, SRC_AT, SENTENCES },
                                                  { r->tgt, TGT_AT, SENTENCES } } };
    const rela_pass_options pass = { .training = false };
    memcpy(w, r->usual, r->net.params.total * sizeof *w);
    for (size_t i = 0; i < rela_param_count(p); i++) {
        float x = (float)w[p->offset + i];
        if (fpclassify(x) == FP_ZERO)
            x = 0.01f * (float)((int)(i * 2654435761u % 7) - 3);
        w[p->offset + i] = (real)(x * (float)factor);
    }
    return rela_worker_forward(r->worker, &batch, &pass).nll;
}

#ifdef RELA_REAL_IS_DOUBLE

static void huge_weights_show(void **state)
{
    (void)state;
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL, "cannot write %s", path);
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        reader r;
        start(&r, rela_attn_kind_at(i));
        for (size_t p = 0; p < r.net.params.n; p += PARAM_STEP)
            for (size_t k = 0; k < N_FACTORS; k++) {
                const double nll = nll_of(&r, &r.net.params.items[p], FACTORS[k]);
                CHECK(fwrite(&nll, sizeof nll, 1, f) == 1, "cannot write %s", path);
            }
        end(&r);
    }
    CHECK(fclose(f) == 0, "cannot write %s", path);
}

#else

static void huge_weights_show(void **state)
{
    (void)state;
    size_t n_same = 0, n_shown = 0, n_silent = 0;
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL, "cannot read %s; the double program writes it", path);
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        reader r;
        start(&r, rela_attn_kind_at(i));
        for (size_t p = 0; p < r.net.params.n; p += PARAM_STEP)
            for (size_t k = 0; k < N_FACTORS; k++) {
                const rela_param *tensor = &r.net.params.items[p];
                const double got = nll_of(&r, tensor, FACTORS[k]);
                double want = 0;
                CHECK(fread(&want, sizeof want, 1, f) == 1, "%s is too short", path);
                const bool same = fabs(got - want) <= 0.05 * fabs(want);
                n_same += same;
                n_shown += !isfinite(got);
                if (same || !isfinite(got))
                    continue;
                n_silent++;
                print_message("%s, %s times %g: nll %g, expected %g or NaN\n",
                              rela_attn_kind_at(i)->name, tensor->name, FACTORS[k], got, want);
            }
        end(&r);
    }
    (void)fclose(f);
    print_message("%zu as in double, %zu not finite, %zu silent\n", n_same, n_shown, n_silent);
    CHECK(n_silent == 0, "%zu overflows are hidden", n_silent);
    CHECK(n_same > 1000 / PARAM_STEP && n_shown > 1000 / PARAM_STEP,
          "%zu and %zu cases prove little", n_same, n_shown);
}

#endif

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "huge.bin";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_weights_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
