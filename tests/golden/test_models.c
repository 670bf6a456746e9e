/* SPDX-License-Identifier: MIT */
/* tests/golden/test_models.c - whole models against PyTorch: logits, loss, every gradient, and the
 * parameters after ten steps of Adam. The files are made by tools/golden/model.py, which also says
 * what is in them. */
#include "attend.h"
#include "base/mem.h"
#include "check.h"
#include "format/safetensors.h"
#include "kern/gemm.h"
#include "model/worker.h"
#include "tiny_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const CASES[] = {
    "softmax", "sparsemax", "entmax15", "rela-i", "rela-g", "mixed"
};

enum { N_CASES = sizeof CASES / sizeof CASES[0] };

static const double TOLERANCE = 1e-4;

typedef struct golden {
    rela_safetensors *file;
    rela_config config;
    rela_net net;
    rela_worker *worker;
    int32_t *src, *tgt;
    uint32_t *src_at, *tgt_at;
    rela_model_batch batch;
    rela_pass_options pass;
    real *grads;
} golden;

typedef struct word {
    char text[32];
} word;

static word text(const golden *g, const char *key)
{
    const rela_metadata *m = rela_header_text(rela_safetensors_header(g->file), key);
    word w = { "" };
    CHECK(m && m->value.len < sizeof w.text, "no metadata '%s'", key);
    memcpy(w.text, m->value.text, m->value.len);
    return w;
}

static double number(const golden *g, const char *key)
{
    double x = 0;
    CHECK(rela_parse_f64(&x, text(g, key).text), "'%s' is not a number", key);
    return x;
}

/* Elements of a tensor, given to the caller. */
static void *load(const golden *g, const char *name, size_t *n)
{
    rela_error err = { RELA_OK, "" };
    const rela_tensor *t = rela_header_find(rela_safetensors_header(g->file), name);
    CHECK(t != NULL, "no tensor '%s'", name);
    const size_t bytes = (size_t)(t->end - t->begin);
    void *data = rela_mem_alloc(bytes);
    CHECK(data != NULL, "no memory");
    CHECK_OK(rela_safetensors_read(g->file, data, t, 0, bytes, &err), err);
    *n = bytes / rela_dtype_size(t->dtype);
    return data;
}

static float *load_param(const golden *g, const char *what, const rela_param *q)
{
    char name[RELA_PARAM_NAME_MAX + 16];
    size_t n = 0;
    (void)snprintf(name, sizeof name, "%s.%s", what, q->name);
    float *x = load(g, name, &n);
    CHECK(n == rela_param_count(q), "%s has %zu values instead of %zu", name, n,
          rela_param_count(q));
    return x;
}

static void load_config(golden *g)
{
    rela_error err = { RELA_OK, "" };
    rela_config *c = &g->config;
    tiny_config(c);
    c->d = (size_t)number(g, "d");
    c->ffn = (size_t)number(g, "ffn");
    c->heads = (size_t)number(g, "heads");
    c->enc_layers = c->dec_layers = (size_t)number(g, "layers");
    c->vocab_src = c->vocab_tgt = (size_t)number(g, "vocab");
    c->max_len = 16;
    c->eps = number(g, "ln_eps");
    c->attn_eps = number(g, "attn_eps");
    c->pre_norm = number(g, "pre_norm") != 0;
    c->tie = strcmp(text(g, "tie").text, "none") == 0 ? RELA_TIE_NONE : RELA_TIE_ALL;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(c, i, text(g, rela_attn_type_name((rela_attn_type)i)).text);
    CHECK_OK(rela_config_check(c, &err), err);
}

static void load_batch(golden *g)
{
    size_t n_src = 0, n_tgt = 0, n = 0, m = 0;
    g->src = load(g, "src", &n_src);
    g->tgt = load(g, "tgt", &n_tgt);
    g->src_at = load(g, "src.at", &n);
    g->tgt_at = load(g, "tgt.at", &m);
    CHECK(n == m && n > 1, "%zu and %zu sentences", n, m);
    g->batch = (rela_model_batch){ .streams = { { g->src, g->src_at, n - 1 },
                                                { g->tgt, g->tgt_at, n - 1 } } };
}

static void golden_start(golden *g, const char *name)
{
    rela_error err = { RELA_OK, "" };
    char path[128];
    memset(g, 0, sizeof *g);
    (void)snprintf(path, sizeof path, "tests/golden/model_%s.safetensors", name);
    CHECK_OK(rela_safetensors_open(&g->file, path, 0, &err), err);
    load_config(g);
    load_batch(g);
    CHECK_OK(rela_net_init(&g->net, &g->config, &err), err);
    CHECK_OK(rela_worker_create(&g->worker, &g->net, rela_tokens_rows(&g->batch.streams[0]),
                                rela_tokens_rows(&g->batch.streams[1]), true, &err),
             err);
    const rela_params *params = &g->net.params;
    memset(g->net.weights, 0, params->total * sizeof *g->net.weights);
    for (size_t i = 0; i < params->n; i++) {
        float *x = load_param(g, "init", &params->items[i]);
        memcpy(g->net.weights + params->items[i].offset, x,
               rela_param_count(&params->items[i]) * sizeof *x);
        rela_mem_free(x);
    }
    /* three tensors each, and the rest: no parameter of the file is unknown to us */
    const size_t n = rela_safetensors_header(g->file)->n;
    CHECK(n == 3 * params->n + 6, "%s: %zu tensors", name, n);
    g->grads = rela_mem_zalloc(params->total * sizeof *g->grads);
    g->pass = (rela_pass_options){ .loss = { .smooth = (real)number(g, "smooth") } };
}

static void golden_end(golden *g)
{
    rela_mem_free(g->grads);
    rela_worker_destroy(g->worker);
    rela_net_deinit(&g->net);
    rela_mem_free(g->src);
    rela_mem_free(g->tgt);
    rela_mem_free(g->src_at);
    rela_mem_free(g->tgt_at);
    rela_safetensors_close(g->file);
}

/* Largest difference over largest value; NaN in want: not compared. */
static double gap(const float *got, const float *want, size_t n)
{
    double top = 1e-30, worst = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan((double)want[i]))
            continue;
        top = fmax(top, fabs((double)want[i]));
        const double d = fabs((double)got[i] - (double)want[i]);
        worst = d <= worst ? worst : d; /* NaN stays */
    }
    return worst / top;
}

/* The worst gap of all parameters in the given block of values. */
static double worst_gap(const golden *g, const char *what, const real *block, const char **where)
{
    double worst = 0;
    for (size_t i = 0; i < g->net.params.n; i++) {
        const rela_param *q = &g->net.params.items[i];
        float *want = load_param(g, what, q);
        const double d = gap(block + q->offset, want, rela_param_count(q));
        rela_mem_free(want);
        if (!(d <= worst)) {
            worst = d;
            *where = q->name;
        }
    }
    return worst;
}

static rela_loss_sums backward(golden *g)
{
    memset(g->grads, 0, g->net.params.total * sizeof *g->grads);
    return rela_worker_train(g->worker, g->grads, &g->batch, &g->pass);
}

static double logits_gap(const golden *g)
{
    const size_t rows = rela_tokens_rows(&g->batch.streams[1]), v = g->config.vocab_tgt,
                 d = g->config.d;
    size_t n = 0;
    float *want = load(g, "logits", &n), *got = rela_mem_alloc(rows * v * sizeof *got);
    CHECK(got != NULL && n == rows * v, "%zu logits", n);
    rela_gemm_nt(got, v, rela_worker_features(g->worker), d,
                 g->net.plain[rela_net_output(&g->net)->at.output.table].reals, d, rows, v, d,
                 false);
    const double worst = gap(got, want, n);
    rela_mem_free(want);
    rela_mem_free(got);
    return worst;
}

/* Steps on the mean loss; the first gradient is there already. */
static void train(golden *g)
{
    const size_t total = g->net.params.total;
    real *moments = rela_mem_zalloc(2 * total * sizeof *moments);
    CHECK(moments != NULL, "no memory");
    const double b1 = number(g, "beta1"), b2 = number(g, "beta2");
    const int steps = (int)number(g, "steps");
    for (int t = 1; t <= steps; t++) {
        const double root = sqrt(1 - pow(b2, t)); /* bias corrections, folded as kern.h says */
        const rela_adam o = { .rate = (real)(number(g, "rate") * root / (1 - pow(b1, t))),
                              .beta1 = (real)b1,
                              .beta2 = (real)b2,
                              .epsilon = (real)(number(g, "epsilon") * root),
                              .grad_scale = 1 / (real)rela_tokens_rows(&g->batch.streams[1]) };
        g->net.k->adam(g->net.weights, moments, moments + total, g->grads, total, &o);
        (void)backward(g);
    }
    rela_mem_free(moments);
}

static void models_agree_with_pytorch(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        golden g;
        const char *grad_at = "", *after_at = "";
        size_t n = 0;
        golden_start(&g, CASES[i]);
        const double loss = backward(&g).loss;
        float *want = load(&g, "loss", &n);
        const double loss_gap = fabs(loss / (double)want[0] - 1), logits = logits_gap(&g);
        const double grad = worst_gap(&g, "grad", g.grads, &grad_at);
        train(&g);
        const double after = worst_gap(&g, "after", g.net.weights, &after_at);
        print_message("%-10s loss %.1e, logits %.1e, gradients %.1e (%s), after %.1e (%s)\n",
                      CASES[i], loss_gap, logits, grad, grad_at, after, after_at);
        CHECK(loss_gap <= TOLERANCE, "%s: loss %.9g, want %.9g", CASES[i], loss, (double)want[0]);
        CHECK(logits <= TOLERANCE, "%s: logits differ by %.2e", CASES[i], logits);
        CHECK(grad <= TOLERANCE, "%s: gradient of %s differs by %.2e", CASES[i], grad_at, grad);
        CHECK(after <= TOLERANCE, "%s: %s after training differs by %.2e", CASES[i], after_at,
              after);
        rela_mem_free(want);
        golden_end(&g);
    }
}

/* The check must be able to fail: a fault of a thousandth in one gradient, the wrong norm in one
 * place, one number that steps astray. */
static void planted_faults_are_caught(void **state)
{
    (void)state;
    golden g;
    const char *where = "";
    golden_start(&g, "rela-g");
    (void)backward(&g);
    const rela_param *q = rela_params_find(&g.net.params, "dec.1.cross.norm.gate");
    for (size_t i = 0; i < rela_param_count(q); i++)
        g.grads[q->offset + i] *= 1.001f;
    CHECK(worst_gap(&g, "grad", g.grads, &where) > TOLERANCE, "a wrong gradient passes");
    CHECK(strcmp(where, q->name) == 0, "blamed %s", where);
    rela_error err = { RELA_OK, "" };
    rela_config other = g.net.config;
    set_attention(&other, RELA_ATTN_CROSS, "rela-g-ln");
    CHECK_OK(rela_net_configure(&g.net, &other, &err), err);
    (void)backward(&g);
    CHECK(logits_gap(&g) > TOLERANCE, "a wrong norm passes");
    golden_end(&g);
    golden_start(&g, "rela-g");
    (void)backward(&g);
    q = rela_params_find(&g.net.params, "dec.1.cross.norm.gate");
    g.grads[q->offset] = -g.grads[q->offset]; /* the first step of one number goes astray */
    train(&g);
    CHECK(worst_gap(&g, "after", g.net.weights, &where) > TOLERANCE, "a wrong step passes");
    golden_end(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models_agree_with_pytorch),
        cmocka_unit_test(planted_faults_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
