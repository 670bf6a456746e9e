/* SPDX-License-Identifier: MIT */
/* tests/unit/step_walk.h - decoding steps over caches against the teacher-forced pass. */
#ifndef RELA_TESTS_STEP_WALK_H
#define RELA_TESTS_STEP_WALK_H

#include "decode_probe.h"

#include "model/generator.h"

enum { WALK_STEPS = 19 };

/* Two hypotheses per sentence, with random symbols, that swap their places in every step. */
typedef struct walk {
    int32_t ids[4][PROBE_LEN];
    uint32_t history[4][PROBE_LEN];
    uint32_t position[4], place[4];
    int32_t token[4];
} walk;

/* Largest difference to the logits of the teacher-forced pass, relative to the largest of them. */
static inline double walk_row(probe *p, const real *logits, const rela_source *src,
                              const int32_t *ids, size_t n)
{
    static double want[PROBE_LEN * PROBE_VOCAB_MAX];
    const size_t v = p->net.config.vocab_tgt;
    probe_logits(p, want, src, ids, n, NULL);
    const double *row = want + n * v;
    double worst = 0, scale = 1;
    size_t best = 0, best_want = 0;
    for (size_t i = 0; i < v; i++) {
        scale = fabs(row[i]) > scale ? fabs(row[i]) : scale;
        best = logits[i] > logits[best] ? i : best;
        best_want = row[i] > row[best_want] ? i : best_want;
    }
    for (size_t i = 0; i < v; i++)
        worst = fmax(worst, fabs(row[i] - (double)logits[i]) / scale);
    CHECK(best == best_want || worst > 1e-4, "%s: symbol %zu is best, want %zu",
          p->net.config.attention[0].text, best, best_want);
    return worst;
}

static inline void swap_hypotheses(walk *w, size_t a, size_t b)
{
    const walk old = *w;
    memcpy(w->ids[a], old.ids[b], sizeof old.ids[b]);
    memcpy(w->ids[b], old.ids[a], sizeof old.ids[a]);
    memcpy(w->history[a], old.history[b], sizeof old.history[b]);
    memcpy(w->history[b], old.history[a], sizeof old.history[a]);
}

/* A generator, the two sentences it has read, and how a row of logits is judged. */
typedef struct walker {
    probe *p;
    rela_generator *generator, *alone; /* alone: for one hypothesis at a time, or NULL */
    rela_source sources[2];
    rela_tokens tokens[RELA_SOURCES_MAX];
    int32_t ids[RELA_SOURCES_MAX][32];
    uint32_t at[RELA_SOURCES_MAX][3];
} walker;

/* Reads sentences for the given places. */
static inline void walk_read(rela_generator *g, const rela_tokens *tokens, size_t sources,
                             const uint32_t *places)
{
    rela_error err;
    for (size_t i = 0; i < tokens[0].n; i++) {
        size_t n[RELA_SOURCES_MAX];
        for (size_t k = 0; k < sources; k++)
            n[k] = tokens[k].at[i + 1] - tokens[k].at[i];
        CHECK_OK(rela_generator_reserve_place(g, places[i], n, 0, &err), err);
    }
    rela_generator_read(g, tokens, places);
}

/* 0 if these are the bits of a hypothesis that is alone from its first step on, else 1. */
static inline double walk_replay(walker *k, const real *logits, size_t sentence, const int32_t *ids,
                                 size_t n)
{
    static real want[PROBE_VOCAB_MAX];
    static const uint32_t PLACE = 0;
    const rela_config *c = &k->p->net.config;
    uint32_t history[PROBE_LEN], at[RELA_SOURCES_MAX][2];
    rela_tokens tokens[RELA_SOURCES_MAX];
    for (size_t i = 0; i < c->sources; i++) {
        const uint32_t first = k->at[i][sentence];
        at[i][0] = 0;
        at[i][1] = k->at[i][sentence + 1] - first;
        tokens[i] = (rela_tokens){ k->ids[i] + first, at[i], 1 };
    }
    walk_read(k->alone, tokens, c->sources, &PLACE);
    for (uint32_t t = 0; t <= n; t++) {
        const int32_t token = t ? ids[t - 1] : 0;
        history[t] = t;
        const rela_step_rows rows = { .n = 1,
                                      .token = &token,
                                      .position = &t,
                                      .place = &PLACE,
                                      .history = history,
                                      .ld = PROBE_LEN };
        (void)rela_generator_step(k->alone, &rows, NULL);
    }
    rela_generator_logits(k->alone, want, c->vocab_tgt, (size_t[2]){ 0, 1 }, 0, c->vocab_tgt);
    return memcmp(want, logits, c->vocab_tgt * sizeof *want) == 0 ? 0 : 1;
}

static inline double walk_steps(walker *k)
{
    static real logits[4 * PROBE_VOCAB_MAX];
    walk w = { .place = { 1, 1, 0, 0 } };
    rela_rng r = rela_rng_start(4, 4);
    double worst = 0;
    const size_t v = k->p->net.config.vocab_tgt;
    for (size_t t = 0; t < WALK_STEPS; t++) {
        for (size_t i = 0; i < 4; i++) {
            w.history[i][t] = (uint32_t)(t * 4 + (i + t) % 4);
            w.position[i] = (uint32_t)t;
            w.token[i] = t ? w.ids[i][t - 1] : 0;
        }
        const rela_step_rows rows = { .n = 4,
                                      .token = w.token,
                                      .position = w.position,
                                      .place = w.place,
                                      .history = &w.history[0][0],
                                      .ld = PROBE_LEN };
        (void)rela_generator_step(k->generator, &rows, NULL);
        rela_generator_logits(k->generator, logits, v, (size_t[2]){ 0, 4 }, 0, v);
        for (size_t i = 0; i < 4; i++) {
            const real *row = logits + i * v;
            worst = fmax(worst, k->alone ? walk_replay(k, row, i / 2, w.ids[i], t)
                                         : walk_row(k->p, row, &k->sources[i / 2], w.ids[i], t));
            w.ids[i][t] = (int32_t)(3 + rela_rng_below(&r, v - 3));
        }
        swap_hypotheses(&w, 0, 1);
        swap_hypotheses(&w, 2, 3);
    }
    return worst;
}

/* The texts of two sentences; of several sources, some of the first sentence are empty. */
static inline void walk_sources(walker *w)
{
    const rela_config *c = &w->p->net.config;
    for (size_t k = 0; k < c->sources; k++) {
        const uint32_t first = k % 2 ? 0 : 6, second = (uint32_t)(19 - 3 * k);
        int32_t *ids = w->ids[k];
        for (size_t i = 0; i < first + second; i++)
            ids[i] = (int32_t)(3 + (i + k) * 7 % (c->vocab_src - 3));
        if (first)
            ids[first - 1] = RELA_EOS;
        ids[first + second - 1] = RELA_EOS;
        w->at[k][1] = first;
        w->at[k][2] = first + second;
        w->sources[0].text[k] = (rela_source_text){ ids, first ? first - 1 : 0 };
        w->sources[1].text[k] = (rela_source_text){ ids + first, second - 1 };
        w->tokens[k] = (rela_tokens){ ids, w->at[k], 2 };
    }
}

static inline void walk_generator(rela_generator **out, const rela_packed_weights *packed)
{
    rela_error err;
    const rela_generator_size size = { .places = 2,
                                       .src_rows = 25,
                                       .src_len = 19,
                                       .src_kept = 64,
                                       .rows = 4,
                                       .place_rows = 2,
                                       .steps = WALK_STEPS };
    CHECK_OK(rela_generator_create(out, packed, &err), err);
    CHECK_OK(rela_generator_reserve(*out, &size, &err), err);
    CHECK_OK(rela_generator_reserve_slots(*out, (size_t)4 * WALK_STEPS, &err), err);
}

/* Of packed weights of the net: against the teacher-forced pass, or against steps without company.
 */
static inline double walk_net(probe *p, const rela_packed_weights *packed, bool replay)
{
    walker w = { .p = p };
    walk_sources(&w);
    walk_generator(&w.generator, packed);
    if (replay)
        walk_generator(&w.alone, packed);
    walk_read(w.generator, w.tokens, p->net.config.sources, (const uint32_t[2]){ 1, 0 });
    const double worst = walk_steps(&w);
    rela_generator_destroy(w.generator);
    rela_generator_destroy(w.alone);
    return worst;
}

#endif
