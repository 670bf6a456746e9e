/* SPDX-License-Identifier: MIT */
/* tests/modelgrad.h - gradients of whole models against central differences, in double, at a few
 * random entries of every parameter. */
#ifndef RELA_TESTS_MODELGRAD_H
#define RELA_TESTS_MODELGRAD_H

#include "base/mem.h"
#include "base/rng.h"
#include "check.h"
#include "smallmodel.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROBE_ROWS = 32, PROBE_SAMPLES = 6 };

typedef struct probe {
    rela_net net;
    rela_worker *worker;
    real *grads;
    const rela_model_batch *batch; /* lent */
    rela_pass_options pass;
    double step; /* of central differences: large against the rounding of the loss */
} probe;

/* kl_weight above 0: every sentence of the batch must be followed by its R-Drop pair, see
 * rela_loss_options. */
static inline void probe_start(probe *p, const rela_config *c, const rela_model_batch *batch,
                               double kl_weight)
{
    rela_error err = { RELA_OK, "" };
    memset(p, 0, sizeof *p);
    CHECK_OK(rela_config_check(c, &err), err);
    CHECK_OK(rela_net_init(&p->net, c, &err), err);
    CHECK_OK(rela_worker_create(&p->worker, &p->net, PROBE_ROWS, PROBE_ROWS, true, &err), err);
    rela_params_init(p->net.weights, &p->net.params, 7);
    /* Biases, gains and learned head numbers start at constants: move them off special points. */
    rela_rng r = rela_rng_start(3, 1);
    for (size_t i = 0; i < p->net.params.total; i++)
        p->net.weights[i] += 0.1 * (rela_rng_real(&r) - 0.5);
    p->grads = rela_mem_zalloc(p->net.params.total * sizeof *p->grads);
    p->batch = batch;
    p->pass = (rela_pass_options){
        .training = true, .seed = 5, .update = 9, .loss = { .smooth = 0.1, .kl_weight = kl_weight }
    };
    p->step = kl_weight > 0 || c->sources > 1 ? 5e-5 : 2e-5;
    (void)rela_worker_train(p->worker, p->grads, p->batch, &p->pass);
}

static inline void probe_end(probe *p)
{
    rela_mem_free(p->grads);
    rela_worker_destroy(p->worker);
    rela_net_deinit(&p->net);
}

static inline double probe_loss_at(probe *p, size_t at, double value)
{
    const double old = p->net.weights[at];
    p->net.weights[at] = value;
    const double loss = rela_worker_forward(p->worker, p->batch, &p->pass).loss;
    p->net.weights[at] = old;
    return loss;
}

static inline double probe_slope(probe *p, size_t at, double h)
{
    const double x = p->net.weights[at];
    return (probe_loss_at(p, at, x + h) - probe_loss_at(p, at, x - h)) / (2 * h);
}

/* Relative difference of the analytic and the numeric derivative (central differences of two steps,
 * extrapolated). Where the two steps disagree the function has a kink nearby, such as a rectified
 * score that changes its sign: such an entry does not count. */
static inline double probe_gap(probe *p, size_t at, bool *kink)
{
    const double h = p->step, wide = probe_slope(p, at, h), narrow = probe_slope(p, at, h / 2);
    const double numeric = (4 * narrow - wide) / 3, analytic = p->grads[at];
    const double scale = fabs(numeric) + fabs(analytic) + 1e-3;
    *kink = fabs(wide - narrow) > 2e-6 * scale; /* smaller kinks move the gap by 7e-7 */
    return fabs(numeric - analytic) / scale;
}

static inline double probe_worst_gap(probe *p, const char **where)
{
    double worst = 0;
    rela_rng r = rela_rng_start(11, 2);
    size_t n_kinks = 0, n = 0;
    for (size_t i = 0; i < p->net.params.n; i++) {
        const rela_param *q = &p->net.params.items[i];
        for (int j = 0; j < PROBE_SAMPLES; j++) {
            bool kink = false;
            const size_t at = q->offset + (size_t)rela_rng_below(&r, rela_param_count(q));
            const double g = probe_gap(p, at, &kink);
            n++;
            n_kinks += kink;
            if (!kink && g > worst) {
                worst = g;
                *where = q->name;
            }
        }
    }
    CHECK(n_kinks * 5 < n, "%zu of %zu entries at kinks", n_kinks, n);
    return worst;
}

static inline void probe_check(const rela_config *c, const rela_model_batch *batch,
                               double kl_weight, const char *what)
{
    probe p;
    const char *where = "";
    probe_start(&p, c, batch, kl_weight);
    const double worst = probe_worst_gap(&p, &where);
    print_message("%-12s %-24s %.1e at %s\n", c->attention[0].text, what, worst, where);
    CHECK(worst <= 1e-6, "%s, %s: %.3e at %s", c->attention[0].text, what, worst, where);
    probe_end(&p);
}

#endif
