/* SPDX-License-Identifier: MIT */
/* tests/unit/test_align.c - the alignment layer against its formulas written out in double, and the
 * model around it: what it links, what it does not depend on, what refuses it. */
#include "attend.h"
#include "base/mem.h"
#include "base/rng.h"
#include "format/packed_load.h"
#include "model/worker.h"
#include "nn/align.h"
#include "scratch.h"
#include "tiny_config.h"

#include <math.h>

enum { ROWS = 5, COLS = 5, WORDS = COLS - 1, SIDE = RELA_ALIGN_AROUND, LEN = 8 };

typedef struct layer {
    real null, near[RELA_ALIGN_NEAR], around[SIDE * SIDE], lp[ROWS * COLS];
    rela_align_scratch scratch;
    void *block;
} layer;

static void layer_start(layer *l)
{
    rela_rng r = rela_rng_start(5, 2);
    rela_plan measure = { NULL, 0 };
    rela_align_scratch_plan(&l->scratch, &measure, LEN);
    l->block = rela_mem_alloc(measure.used + RELA_PLAN_ALIGN);
    const uintptr_t at = (uintptr_t)l->block;
    rela_plan p = { (char *)l->block + (RELA_PLAN_ALIGN - at % RELA_PLAN_ALIGN), 0 };
    rela_align_scratch_plan(&l->scratch, &p, LEN);
    l->null = (real)-1.5;
    for (size_t i = 0; i < RELA_ALIGN_NEAR; i++)
        l->near[i] = (real)(rela_rng_real(&r) - 0.5);
    for (size_t i = 0; i < (size_t)SIDE * SIDE; i++)
        l->around[i] = (real)(rela_rng_real(&r) - 0.3);
    for (size_t i = 0; i < ROWS * COLS; i++)
        l->lp[i] = (real)(-8 * rela_rng_real(&r));
}

static double layer_run(layer *l, const char *kind)
{
    static const real NUMBERS[RELA_ATTN_NUMBERS_MAX] = { (real)1.5 }; /* entmax: alpha */
    const rela_align_layer a = { .k = rela_kern_get(),
                                 .kind = rela_attn_kind_find(kind),
                                 .numbers = NUMBERS,
                                 .null = &l->null,
                                 .near = l->near,
                                 .around = l->around };
    memcpy(l->scratch.lp, l->lp, sizeof l->lp);
    return rela_align_run(&a, &l->scratch, NULL, NULL, NULL, ROWS, COLS).loss;
}

/* ---- the formulas of nn/align.h, softmax and rela alone ---- */

static void oracle_scores(double s[ROWS][COLS], const layer *l, double r[ROWS][WORDS])
{
    const double none = 1 / (1 + exp(-(double)l->null));
    for (int j = 0; j < ROWS; j++) {
        double sum = 0;
        for (int i = 0; i < WORDS; i++)
            sum += exp(r[j][i]);
        for (int i = 0; i < WORDS; i++)
            s[j][i] = (double)l->lp[j * COLS + i] + log((1 - none) * exp(r[j][i]) / sum) -
                      (double)l->lp[j * COLS + WORDS] - log(none);
        s[j][WORDS] = 0;
    }
}

static void oracle_weights(double w[ROWS][COLS], double s[ROWS][COLS], bool rectified)
{
    for (int j = 0; j < ROWS; j++) {
        double sum = 0;
        for (int i = 0; i < COLS; i++)
            sum += exp(s[j][i]);
        for (int i = 0; i < COLS; i++)
            w[j][i] = rectified ? fmax(exp(s[j][i]) - 1, 0) / sum : exp(s[j][i]) / sum;
    }
}

static double oracle(double w[ROWS][COLS], const layer *l, bool rectified)
{
    double r[ROWS][WORDS], s[ROWS][COLS], first[ROWS][COLS], loss = 0;
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < WORDS; i++) { /* 5 rows and 4 words: distances in fifths of a row */
            const double far = ((i + 0.5) / WORDS - (j + 0.5) / ROWS) * ROWS;
            r[j][i] = (double)l->near[RELA_ALIGN_FAR + (int)far];
        }
    oracle_scores(s, l, r);
    oracle_weights(first, s, rectified);
    for (int j = 0; j < ROWS; j++)
        for (int i = 0; i < WORDS; i++)
            for (int y = -RELA_ALIGN_REACH; y <= RELA_ALIGN_REACH; y++)
                for (int x = -RELA_ALIGN_REACH; x <= RELA_ALIGN_REACH; x++)
                    if (y != 0 && j + y >= 0 && j + y < ROWS && i + x >= 0 && i + x < WORDS)
                        r[j][i] +=
                            (double)
                                l->around[(y + RELA_ALIGN_REACH) * SIDE + x + RELA_ALIGN_REACH] *
                            first[j + y][i + x];
    oracle_scores(s, l, r);
    oracle_weights(w, s, rectified);
    for (int j = 0; j < ROWS; j++) {
        double sum = 0;
        for (int i = 0; i < COLS; i++)
            sum += exp(s[j][i]);
        loss -= log(sum) + (double)l->lp[j * COLS + WORDS] - log(1 + exp(-(double)l->null));
    }
    return loss;
}

static void layer_follows_its_formulas(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "softmax", "rela-g" };
    layer l;
    layer_start(&l);
    for (int k = 0; k < 2; k++) {
        double want[ROWS][COLS];
        const double loss = oracle(want, &l, k == 1), got = layer_run(&l, KINDS[k]);
        CHECK(fabs(got - loss) < 1e-4, "%s: loss %g, want %g", KINDS[k], got, loss);
        for (int i = 0; i < ROWS * COLS; i++)
            CHECK(fabs((double)l.scratch.look[1].weights[i] - want[i / COLS][i % COLS]) < 1e-4,
                  "%s: weight %d is %g, want %g", KINDS[k], i, (double)l.scratch.look[1].weights[i],
                  want[i / COLS][i % COLS]);
    }
    rela_mem_free(l.block);
}

static void what_nothing_explains_attends_to_nothing(void **state)
{
    (void)state;
    layer l;
    layer_start(&l);
    for (int i = 0; i < COLS; i++) /* row 1: null is much the best */
        l.lp[1 * COLS + i] = i == WORDS ? 0 : -30;
    (void)layer_run(&l, "rela-g");
    for (int i = 0; i < COLS; i++)
        CHECK(l.scratch.look[1].weights[1 * COLS + i] == 0, "word %d has weight", i);
    rela_mem_free(l.block);
}

static void no_token_first_for_itself(void **state)
{
    (void)state;
    layer l;
    layer_start(&l);
    const double loss = layer_run(&l, "softmax");
    for (int x = 0; x < SIDE; x++)
        l.around[RELA_ALIGN_REACH * SIDE + x] = 9;
    CHECK(layer_run(&l, "softmax") == loss, "the middle row of around counts");
    l.around[0] += 1;
    CHECK(layer_run(&l, "softmax") != loss, "the others do not");
    rela_mem_free(l.block);
}

/* ---- the model ---- */

enum { VOCAB = 12 };

static rela_config small_config(void)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    tiny_config(&c);
    c.task = RELA_TASK_ALIGN;
    c.d = 32;
    c.heads = c.enc_layers = c.dec_layers = 1;
    c.tie = RELA_TIE_OUT;
    c.vocab_src = c.vocab_tgt = VOCAB;
    c.max_len = 16;
    CHECK_OK(rela_config_check(&c, &err), err);
    return c;
}

typedef struct seen {
    real w[64];
    size_t n;
} seen;

static void see(void *ctx, const rela_attn_view *v)
{
    seen *s = ctx;
    CHECK(v->layer == 0 && v->head == 0 && v->stack == RELA_ATTN_CROSS, "another attention");
    for (size_t i = 0; i < v->rows * v->n && v->sentence == 0; i++)
        s->w[s->n++] = v->w[i / v->n * v->ld + i % v->n];
}

static void a_pair_is_linked_alike_alone_and_in_company(void **state)
{
    (void)state;
    static const int32_t SRC[] = { 3, 4, 5, 2, 6, 7, 2 }, TGT[] = { 8, 9, 2, 10, 11, 3, 2 };
    static const uint32_t SRC_AT[] = { 0, 4, 7 }, TGT_AT[] = { 0, 3, 7 };
    rela_error err = { RELA_OK, "" };
    rela_net net;
    const rela_config c = small_config();
    CHECK_OK(rela_net_init(&net, &c, &err), err);
    rela_params_init(net.weights, &net.params, 3);
    seen all[2];
    for (size_t n = 1; n <= 2; n++) {
        rela_worker *w = NULL;
        CHECK_OK(rela_worker_create(&w, &net, 16, 16, true, &err), err);
        const rela_model_batch b = { .streams = { { SRC, SRC_AT, n }, { TGT, TGT_AT, n } } };
        const rela_attn_tap tap = { see, &all[n - 1] };
        all[n - 1].n = 0;
        rela_worker_attend(w, &b, &(rela_pass_options){ .tap = &tap });
        rela_worker_destroy(w);
    }
    CHECK(all[0].n == 3 * 4 && all[1].n == 3 * 4, "%zu and %zu weights", all[0].n, all[1].n);
    CHECK(memcmp(all[0].w, all[1].w, 12 * sizeof(real)) == 0, "company changes the weights");
    CHECK(all[0].w[11] == 1, "the end attends to something else than the end");
    rela_net_deinit(&net);
}

static void configuration_survives_and_is_held_to_its_bounds(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_config c = small_config(), back;
    CHECK_OK(rela_config_to_json(&text, &c, &err), err);
    CHECK_OK(rela_config_from_json(&back, text.data, text.len, &err), err);
    CHECK(back.task == RELA_TASK_ALIGN, "the task is lost");
    rela_buffer_free(&text);
    c.task = RELA_TASK_TRANSLATE;
    CHECK_OK(rela_config_to_json(&text, &c, &err), err);
    CHECK(!strstr(text.data, "task"), "files of translation models have changed: %s", text.data);
    CHECK_OK(rela_config_from_json(&back, text.data, text.len, &err), err);
    CHECK(back.task == RELA_TASK_TRANSLATE, "another task");
    rela_buffer_free(&text);
    c = small_config();
    c.heads = 2;
    CHECK(rela_config_check(&c, &err) == RELA_ARG, "two heads");
    c = small_config();
    c.tie = RELA_TIE_ALL;
    CHECK(rela_config_check(&c, &err) == RELA_ARG, "one matrix for all");
    c = small_config();
    set_attention(&c, RELA_ATTN_CROSS, "linear");
    CHECK(rela_config_check(&c, &err) == RELA_ARG, "a kind that maps");
    set_attention(&c, RELA_ATTN_CROSS, "leaky-g");
    CHECK(rela_config_check(&c, &err) == RELA_ARG, "a kind with negative weights");
}

static void it_cannot_be_laid_out_for_decoding(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_net net;
    rela_packed_weights f;
    const rela_config c = small_config();
    CHECK_OK(rela_net_init(&net, &c, &err), err);
    CHECK(rela_packed_weights_init(&f, &net, 1, &err) == RELA_ARG, "it can");
    CHECK(strstr(err.message, "only link words"), "%s", err.message);
    rela_packed_weights_deinit(&f);
    rela_net_deinit(&net);
}

/* The plain file is one model as any other; a packed one could only have been forged. */
static void only_plain_files_are_taken(void **state)
{
    (void)state;
    static const rela_matrices FORMS[] = { RELA_MATRICES_PLAIN, RELA_MATRICES_BYTES,
                                           RELA_MATRICES_PANELS };
    rela_error err = { RELA_OK, "" };
    rela_net net;
    const rela_config c = small_config();
    CHECK_OK(rela_net_init(&net, &c, &err), err);
    rela_params_init(net.weights, &net.params, 3);
    for (int i = 0; i < 3; i++) {
        const rela_checkpoint_options o = { .n_threads = 1, .matrices = FORMS[i] };
        rela_packed_weights f;
        rela_net back;
        rela_extras extras;
        const char *path = scratch("model.rela");
        CHECK_OK(rela_net_save(path, &net, NULL, &o, &err), err);
        const rela_status st = rela_packed_weights_load(&f, &back, &extras, path, false, &o, &err);
        CHECK(st == (i == 0 ? RELA_OK : RELA_FORMAT), "form %d: %d: %s", i, st, err.message);
        if (i == 0)
            assert_memory_equal(back.weights, net.weights, net.params.total * sizeof *net.weights);
        rela_packed_weights_deinit(&f);
        rela_net_deinit(&back);
        rela_extras_deinit(&extras);
    }
    rela_net_deinit(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_follows_its_formulas),
        cmocka_unit_test(what_nothing_explains_attends_to_nothing),
        cmocka_unit_test(no_token_first_for_itself),
        cmocka_unit_test(a_pair_is_linked_alike_alone_and_in_company),
        cmocka_unit_test(configuration_survives_and_is_held_to_its_bounds),
        cmocka_unit_test(it_cannot_be_laid_out_for_decoding),
        cmocka_unit_test(only_plain_files_are_taken),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
