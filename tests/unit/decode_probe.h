/* SPDX-License-Identifier: MIT */
/* tests/unit/decode_probe.h - small random nets and their uncached predictions, for the tests of
 * decoding. */
#ifndef RELA_TESTS_DECODE_PROBE_H
#define RELA_TESTS_DECODE_PROBE_H

#include "check.h"

#include "attend.h"
#include "base/mem.h"
#include "base/rng.h"
#include "decode/engine.h"
#include "model/worker.h"
#include "tiny_config.h"

#include <math.h>
#include <string.h>

enum { PROBE_LEN = 24, PROBE_VOCAB_MAX = 1200, PROBE_ROWS = 64 };

typedef struct probe {
    rela_net net;
    rela_packed_weights packed;
    rela_worker *worker;
    const rela_packed_weights *nets[1];
} probe;

/* The matrix that logits are made with. */
static inline real *probe_output(const rela_net *n)
{
    return n->weights + n->params.items[rela_net_output(n)->at.output.table].offset;
}

static inline rela_config probe_config(const char *kind, size_t vocabulary)
{
    rela_config c;
    tiny_config(&c);
    c.d = 24;
    c.ffn = 20;
    c.heads = 3;
    c.enc_layers = c.dec_layers = 2;
    c.vocab_src = c.vocab_tgt = vocabulary;
    c.max_len = PROBE_LEN;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind);
    narrow_patterns(&c);
    return c;
}

/* Weights are random; sharp > 1 makes the output less even, so that translations vary. */
static inline void probe_start(probe *p, const rela_config *c, uint64_t seed, double sharp)
{
    rela_error err;
    memset(p, 0, sizeof *p);
    CHECK_OK(rela_config_check(c, &err), err);
    CHECK_OK(rela_net_init(&p->net, c, &err), err);
    rela_params_init(p->net.weights, &p->net.params, seed);
    rela_rng r = rela_rng_start(seed, 99);
    for (size_t i = 0; i < p->net.params.total; i++)
        p->net.weights[i] = (real)(((double)p->net.weights[i] + 0.2 * (rela_rng_real(&r) - 0.5)));
    real *output = probe_output(&p->net);
    for (size_t i = 0; i < c->vocab_tgt * c->d; i++)
        output[i] *= (real)sharp;
    CHECK_OK(rela_worker_create(&p->worker, &p->net, PROBE_ROWS, PROBE_ROWS, true, &err), err);
    CHECK_OK(rela_packed_weights_init(&p->packed, &p->net, 1, &err), err);
    p->nets[0] = &p->packed;
}

static inline void probe_end(probe *p)
{
    rela_packed_weights_deinit(&p->packed);
    rela_worker_destroy(p->worker);
    rela_net_deinit(&p->net);
}

/* Logits (n + 1, vocabulary) of all positions after the given symbols, by the teacher-forced
 * pass: no cache, no packed weights. */
static inline void probe_logits(probe *p, double *logits, const rela_source *src,
                                const int32_t *ids, size_t n, const rela_attn_tap *tap)
{
    int32_t text[RELA_STREAMS_MAX][PROBE_LEN];
    uint32_t at[RELA_STREAMS_MAX][2];
    const rela_config *c = &p->net.config;
    rela_model_batch batch = { .first = { 0 } };
    for (size_t k = 0; k <= c->sources; k++) {
        const bool target = k == c->sources;
        const rela_source_text from = target ? (rela_source_text){ ids, n } : src->text[k];
        const bool none = !target && c->sources > 1 && from.n == 0; /* not even its end */
        if (from.n)
            memcpy(text[k], from.ids, from.n * sizeof *from.ids);
        text[k][from.n] = RELA_EOS;
        at[k][0] = 0;
        at[k][1] = none ? 0 : (uint32_t)from.n + 1;
        batch.streams[k] = (rela_tokens){ text[k], at[k], 1 };
    }
    const rela_pass_options pass = { .training = false, .tap = tap };
    (void)rela_worker_forward(p->worker, &batch, &pass);
    const real *x = rela_worker_features(p->worker), *w = probe_output(&p->net);
    for (size_t t = 0; t <= n; t++)
        for (size_t v = 0; v < c->vocab_tgt; v++) {
            double sum = 0;
            for (size_t i = 0; i < c->d; i++)
                sum += (double)x[t * c->d + i] * (double)w[v * c->d + i];
            logits[t * c->vocab_tgt + v] = sum;
        }
}

/* In place: a row of logits becomes log-probabilities. */
static inline void probe_log_softmax(double *z, size_t n)
{
    double top = z[0], sum = 0;
    for (size_t i = 1; i < n; i++)
        top = z[i] > top ? z[i] : top;
    for (size_t i = 0; i < n; i++)
        sum += exp(z[i] - top);
    for (size_t i = 0; i < n; i++)
        z[i] -= top + log(sum);
}

/* Log-probabilities (vocabulary) of the symbol after the given ones. */
static inline void probe_next(probe *p, double *logp, const rela_source *src, const int32_t *ids,
                              size_t n)
{
    static double all[PROBE_LEN * PROBE_VOCAB_MAX];
    const size_t v = p->net.config.vocab_tgt;
    probe_logits(p, all, src, ids, n, NULL);
    memcpy(logp, all + n * v, v * sizeof *logp);
    probe_log_softmax(logp, v);
}

/* n sources of different lengths from 1 on. */
static inline void probe_sources(rela_source *sources, int32_t *ids, size_t n, size_t longest,
                                 size_t vocabulary, uint64_t seed)
{
    rela_rng r = rela_rng_start(seed, 5);
    for (size_t i = 0; i < n; i++) {
        sources[i] = (rela_source){ .text = { { ids, 1 + (i * 5) % longest } }, .number = i };
        for (size_t j = 0; j < sources[i].text[0].n; j++)
            *ids++ = (int32_t)(3 + rela_rng_below(&r, vocabulary - 3));
    }
}

static inline bool same_hypothesis(const rela_hypothesis *a, const rela_hypothesis *b)
{
    return a->n == b->n && a->complete == b->complete &&
           memcmp(a->ids, b->ids, a->n * sizeof *a->ids) == 0 &&
           memcmp(&a->logp, &b->logp, sizeof a->logp) == 0 &&
           memcmp(&a->score, &b->score, sizeof a->score) == 0 &&
           memcmp(a->logps, b->logps, (a->n + a->complete) * sizeof *a->logps) == 0;
}

#endif
