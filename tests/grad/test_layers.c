/* SPDX-License-Identifier: MIT */
/* tests/grad/test_layers.c - every layer alone: analytic gradients against central differences, in
 * double. Attention: test_attention.c; whole models: test_model.c. */
#include "gradcheck.h"
#include "nn/loss.h"
#include "nn/weight.h"

enum { ROWS = 4, D = 12 };

static const rela_drop NO_DROP = { .threshold = 0 };

static double weighted(const double *c, const double *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += c[i] * y[i];
    return sum;
}

/* ---- residual sum and LayerNorm ---- */

typedef struct residual {
    bool with_x, with_b;
    rela_drop drop;
    double *cy, *cr; /* weights of y and of the sum in the scalar */
} residual;

enum { RES_A, RES_GAIN, RES_OFFSET, RES_B, RES_X };

static double residual_run(const probe *p, double *r, rela_norm_stats *stats)
{
    const residual *l = p->layer;
    double y[ROWS * D];
    rela_kern_get()->residual_norm(y, r, stats, l->with_x ? p->in[RES_X].x : NULL, p->in[RES_A].x,
                                   l->with_b ? p->in[RES_B].x : NULL, p->in[RES_GAIN].x,
                                   p->in[RES_OFFSET].x, ROWS, D, 1e-6, &l->drop);
    return weighted(l->cy, y, ROWS * D) + weighted(l->cr, r, ROWS * D);
}

static double residual_value(const probe *p)
{
    double r[ROWS * D];
    rela_norm_stats stats[ROWS];
    return residual_run(p, r, stats);
}

static void residual_norm_has_exact_gradients(void **state)
{
    (void)state;
    for (int mode = 0; mode < 8; mode++) {
        residual l = { .with_x = mode & 1, .with_b = mode & 2 };
        if (mode & 4)
            l.drop = rela_drop_make(0.3, 1, 1, 1, 5);
        probe p = { .what = "residual_norm", .value = residual_value, .layer = &l };
        double r[ROWS * D], *spare = probe_reals(&p, D, 0);
        rela_norm_stats stats[ROWS];
        (void)probe_add(&p, "a", ROWS * D, 1);
        (void)probe_add(&p, "gain", D, 1);
        (void)probe_add(&p, "offset", D, 1);
        (void)probe_add(&p, "bias", D, 1);
        (void)probe_add(&p, "x", ROWS * D, 1);
        l.cy = probe_reals(&p, ROWS * D, 1);
        l.cr = probe_reals(&p, ROWS * D, 1);
        (void)residual_run(&p, r, stats);
        rela_kern_get()->residual_norm_back(p.in[RES_X].dx, p.in[RES_A].dx, p.in[RES_GAIN].dx,
                                            p.in[RES_OFFSET].dx, p.in[RES_B].dx, l.cy, l.cr, r,
                                            stats, p.in[RES_GAIN].x, ROWS, D, &l.drop);
        if (!l.with_b)
            p.in[RES_B].dx = spare;
        if (!l.with_x)
            p.n_inputs = RES_X; /* the gradient of the sum is that of no input */
        probe_run(&p);
    }
}

/* ---- norms of the attention output ---- */

typedef struct gated {
    bool gated, center;
    size_t groups;
    double *c;
} gated;

enum { GATED_Z, GATED_GAIN, GATED_GATE };

static double gated_value(const probe *p)
{
    const gated *l = p->layer;
    double y[ROWS * D];
    rela_kern_get()->gated_norm(y, p->in[GATED_Z].x, p->in[GATED_GAIN].x,
                                l->gated ? p->in[GATED_GATE].x : NULL, ROWS, D, l->groups, 1e-8,
                                l->center);
    return weighted(l->c, y, ROWS * D);
}

static void gated_norm_has_exact_gradients(void **state)
{
    (void)state;
    for (int mode = 0; mode < 8; mode++) {
        gated l = { .gated = mode & 1, .center = mode & 2, .groups = mode & 4 ? 3 : 1 };
        probe p = { .what = "gated_norm", .value = gated_value, .layer = &l };
        (void)probe_add(&p, "z", ROWS * D, 2);
        (void)probe_add(&p, "gain", D, 1);
        (void)probe_add(&p, "gate", D, 1);
        l.c = probe_reals(&p, ROWS * D, 1);
        rela_kern_get()->gated_norm_back(p.in[GATED_Z].dx, p.in[GATED_GAIN].dx,
                                         l.gated ? p.in[GATED_GATE].dx : NULL, l.c, p.in[GATED_Z].x,
                                         p.in[GATED_GAIN].x, l.gated ? p.in[GATED_GATE].x : NULL,
                                         ROWS, D, l.groups, 1e-8, l.center);
        probe_run(&p);
    }
}

/* A row of zeros, a null row of every head, gives zero and passes nothing that is not finite. */
static void gated_norm_of_a_null_row_is_zero(void **state)
{
    (void)state;
    const double z[D] = { 0 };
    double gain[D], gate[D], dy[D], y[D], dz[D], dgain[D] = { 0 }, dgate[D] = { 0 };
    for (size_t i = 0; i < D; i++)
        gain[i] = gate[i] = dy[i] = 1;
    for (int center = 0; center < 2; center++) {
        rela_kern_get()->gated_norm(y, z, gain, gate, 1, D, 1, 1e-8, center);
        rela_kern_get()->gated_norm_back(dz, dgain, dgate, dy, z, gain, gate, 1, D, 1, 1e-8,
                                         center);
        for (size_t i = 0; i < D; i++) {
            CHECK(y[i] == 0 && dgain[i] == 0 && dgate[i] == 0, "not zero at %zu", i);
            CHECK(isfinite(dz[i]), "gradient %g", dz[i]);
        }
    }
}

/* ---- feed-forward ---- */

typedef struct relu {
    rela_drop drop;
    double *c;
} relu;

static double relu_value(const probe *p)
{
    const relu *l = p->layer;
    double y[ROWS * D];
    memcpy(y, p->in[0].x, sizeof y);
    rela_kern_get()->bias_relu(y, p->in[1].x, ROWS, D, &l->drop);
    return weighted(l->c, y, ROWS * D);
}

static void bias_relu_has_exact_gradients(void **state)
{
    (void)state;
    for (int drops = 0; drops < 2; drops++) {
        relu l = { .drop = drops ? rela_drop_make(0.3, 1, 1, 1, 5) : NO_DROP };
        probe p = { .what = "bias_relu", .value = relu_value, .layer = &l };
        double h[ROWS * D];
        (void)probe_add(&p, "y", ROWS * D, 1);
        (void)probe_add(&p, "bias", D, 1);
        l.c = probe_reals(&p, ROWS * D, 1);
        memcpy(h, p.in[0].x, sizeof h);
        memcpy(p.in[0].dx, l.c, sizeof h);
        rela_kern_get()->bias_relu(h, p.in[1].x, ROWS, D, &l.drop);
        rela_kern_get()->bias_relu_back(p.in[0].dx, p.in[1].dx, h, ROWS, D,
                                        drops ? l.drop.scale : 1);
        probe_run(&p);
    }
}

/* ---- linear ---- */

enum { OUT = 5 };

static double linear_value(const probe *p)
{
    double y[ROWS * OUT];
    const rela_weight w = { RELA_STORE_F32, OUT, D, p->in[1].x, { 0 } };
    const rela_linear_out out = { y, OUT, NULL, NULL };
    rela_linear(rela_kern_get(), &w, &out, p->in[0].x, D, ROWS, (rela_plan){ NULL, 0 });
    return weighted(p->layer, y, ROWS * OUT);
}

static void linear_has_exact_gradients(void **state)
{
    (void)state;
    probe p = { .what = "linear", .value = linear_value };
    (void)probe_add(&p, "x", ROWS * D, 1);
    (void)probe_add(&p, "weight", OUT * D, 1);
    const double *c = probe_reals(&p, ROWS * OUT, 1);
    p.layer = c;
    const rela_weight w = { RELA_STORE_F32, OUT, D, p.in[1].x, { 0 } };
    rela_linear_back_input(p.in[0].dx, c, &w, ROWS, false);
    rela_linear_back_weight(p.in[1].dx, c, p.in[0].x, &w, ROWS);
    probe_run(&p);
}

/* ---- loss ---- */

enum { VOCAB = 7, LOSS_D = 4, LOSS_ROWS = 2 * (RELA_LOSS_CHUNK + 6) };

static double logits_memory[RELA_LOSS_CHUNK * VOCAB];

typedef struct loss {
    rela_loss run;
    int32_t gold[LOSS_ROWS];
    double *weight;
} loss;

static double loss_value(const probe *p)
{
    const loss *l = p->layer;
    return rela_loss_run(&l->run, NULL, NULL, p->in[0].x, p->in[1].x, l->gold, l->weight, LOSS_ROWS)
        .loss;
}

static void check_loss(const char *what, const rela_loss *run, bool weighted)
{
    loss l = { .run = *run };
    probe p = { .what = what, .value = loss_value, .layer = &l, .samples = 40 };
    for (size_t t = 0; t < LOSS_ROWS; t++)
        l.gold[t] = (int32_t)(t % VOCAB);
    (void)probe_add(&p, "x", LOSS_ROWS * LOSS_D, 1);
    (void)probe_add(&p, "table", VOCAB * LOSS_D, 1);
    l.weight = weighted ? probe_reals(&p, LOSS_ROWS, 1) : NULL;
    (void)rela_loss_run(&l.run, p.in[0].dx, p.in[1].dx, p.in[0].x, p.in[1].x, l.gold, l.weight,
                        LOSS_ROWS);
    probe_run(&p);
}

static void loss_has_exact_gradients(void **state)
{
    (void)state;
    for (int mode = 0; mode < 4; mode++) {
        const rela_loss run = { .k = rela_kern_get(),
                                .d = LOSS_D,
                                .vocabulary = VOCAB,
                                .smooth = mode & 1 ? 0.1 : 0,
                                .logits = logits_memory };
        check_loss("loss", &run, mode & 2);
    }
}

static void loss_of_twins_has_exact_gradients(void **state)
{
    (void)state;
    /* Pairs that share a chunk, one that fills it alone, one that is longer. */
    const uint32_t begin[] = {
        0, 2, 4, 5, 6, 63, 120, 187, LOSS_ROWS - 14, LOSS_ROWS - 7, LOSS_ROWS
    };
    for (int mode = 0; mode < 4; mode++) {
        const rela_loss run = { .k = rela_kern_get(),
                                .d = LOSS_D,
                                .vocabulary = VOCAB,
                                .smooth = mode & 1 ? 0.1 : 0,
                                .logits = logits_memory,
                                .kl_weight = 2.5,
                                .pairs = begin,
                                .n_pairs = sizeof begin / sizeof begin[0] - 1 };
        check_loss("loss of pairs", &run, mode & 2);
    }
}

typedef struct row_loss {
    size_t gold;
    double smooth, scale;
} row_loss;

static double row_loss_value(const probe *p)
{
    const row_loss *l = p->layer;
    double z[VOCAB], nll = 0;
    memcpy(z, p->in[0].x, sizeof z);
    return l->scale * rela_kern_get()->loss_row(z, VOCAB, l->gold, l->smooth, l->scale, &nll);
}

static void loss_row_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t gold = 0; gold < VOCAB; gold++) {
        const row_loss l = { gold, 0.1, 1.7 };
        probe p = { .what = "loss_row", .value = row_loss_value, .layer = &l };
        double nll = 0;
        (void)probe_add(&p, "logits", VOCAB, 3);
        memcpy(p.in[0].dx, p.in[0].x, VOCAB * sizeof(double));
        (void)rela_kern_get()->loss_row(p.in[0].dx, VOCAB, gold, l.smooth, l.scale, &nll);
        probe_run(&p);
    }
}

static int start(void **state)
{
    (void)state;
    probe_rng = rela_rng_start(17, 0);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_norm_has_exact_gradients),
        cmocka_unit_test(gated_norm_has_exact_gradients),
        cmocka_unit_test(gated_norm_of_a_null_row_is_zero),
        cmocka_unit_test(bias_relu_has_exact_gradients),
        cmocka_unit_test(linear_has_exact_gradients),
        cmocka_unit_test(loss_has_exact_gradients),
        cmocka_unit_test(loss_of_twins_has_exact_gradients),
        cmocka_unit_test(loss_row_has_exact_gradients),
    };
    return cmocka_run_group_tests(tests, start, NULL);
}
