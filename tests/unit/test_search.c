/* SPDX-License-Identifier: MIT */
/* tests/unit/test_search.c - searches against an enumeration of all translations, and beam search
 * against a slow copy of its definition that knows no caches, batches or slots. */
#include "decode_probe.h"

#include <stdlib.h>

enum { LIST_MAX = 4096, IDS_MAX = PROBE_LEN };

/* A hypothesis of the slow code. */
typedef struct hypo {
    int32_t ids[IDS_MAX];
    size_t n; /* symbols, the end included if complete */
    bool complete;
    double logp, score;
} hypo;

typedef struct list {
    hypo items[LIST_MAX];
    size_t n;
} list;

/* What predicts: one net, or the mean of several. */
typedef struct oracle {
    probe *nets[3];
    size_t n;
    const rela_source *source;
    const rela_search_options *o;
} oracle;

static double penalty(const rela_search_options *o, double n)
{
    switch (o->penalty) {
    case RELA_PENALTY_GNMT:
        return pow((5 + n) / 6, o->alpha);
    case RELA_PENALTY_POWER:
        return pow(n, o->alpha);
    default:
        return 1;
    }
}

/* Log-probabilities of the next symbol; -INFINITY where forbidden. */
static void next_symbol(const oracle *q, double *logp, const hypo *h)
{
    double one[PROBE_VOCAB_MAX], sum[PROBE_VOCAB_MAX] = { 0 };
    const size_t v = q->nets[0]->net.config.vocab_tgt;
    for (size_t i = 0; i < q->n; i++) {
        probe_next(q->nets[i], one, q->source, h->ids, h->n);
        for (size_t j = 0; j < v; j++)
            sum[j] += exp(one[j]) / (double)q->n;
    }
    for (size_t j = 0; j < v; j++)
        logp[j] = q->n == 1 ? one[j] : log(sum[j]);
    logp[RELA_PAD] = -INFINITY;
    if (q->o->forbid_unk)
        logp[RELA_UNK] = -INFINITY;
    if (h->n == 0)
        logp[RELA_EOS] = -INFINITY;
}

static void add(list *l, const hypo *h, int32_t token, double logp, const rela_search_options *o)
{
    CHECK(l->n < LIST_MAX, "list full");
    hypo *to = &l->items[l->n++];
    *to = *h;
    to->ids[to->n++] = token;
    to->complete = token == RELA_EOS;
    to->logp += logp;
    to->score = to->logp / penalty(o, (double)to->n);
}

static int by_score(const void *a, const void *b)
{
    const hypo *x = a, *y = b;
    if (x->complete != y->complete)
        return x->complete ? -1 : 1;
    return x->score > y->score ? -1 : x->score < y->score;
}

static int by_logp(const void *a, const void *b)
{
    const hypo *x = a, *y = b;
    return x->logp > y->logp ? -1 : x->logp < y->logp;
}

static size_t limit_of(const oracle *q)
{
    return (size_t)(q->o->max_factor * (double)q->source->text[0].n) + (size_t)q->o->max_extra;
}

/* Every complete translation up to the limit. */
static void enumerate(const oracle *q, list *all, const hypo *h)
{
    double logp[PROBE_VOCAB_MAX];
    next_symbol(q, logp, h);
    for (int32_t v = 0; v < (int32_t)q->nets[0]->net.config.vocab_tgt; v++) {
        if (!(isfinite(logp[v])))
            continue;
        hypo child = *h;
        child.ids[child.n++] = v;
        child.logp += logp[v];
        if (v == RELA_EOS)
            add(all, h, v, logp[v], q->o);
        else if (child.n < limit_of(q))
            enumerate(q, all, &child);
    }
}

/* Beam search by its definition. */
static void slow_beam(const oracle *q, list *ended)
{
    static list live, candidates;
    const size_t beam = q->o->beam, limit = limit_of(q);
    double logp[PROBE_VOCAB_MAX];
    live.n = 1;
    live.items[0] = (hypo){ .n = 0 };
    ended->n = 0;
    for (size_t t = 0; t < limit; t++) {
        candidates.n = 0;
        for (size_t i = 0; i < live.n; i++) {
            next_symbol(q, logp, &live.items[i]);
            for (int32_t v = 0; v < (int32_t)q->nets[0]->net.config.vocab_tgt; v++)
                if (isfinite(logp[v]))
                    add(&candidates, &live.items[i], v, logp[v], q->o);
        }
        qsort(candidates.items, candidates.n, sizeof(hypo), by_logp);
        live.n = 0;
        for (size_t i = 0; i < candidates.n && i < 2 * beam; i++) {
            const hypo *c = &candidates.items[i];
            if (c->complete)
                ended->items[ended->n++] = *c;
            else if (live.n < beam)
                live.items[live.n++] = *c;
        }
        qsort(ended->items, ended->n, sizeof(hypo), by_score);
        ended->n = ended->n < beam ? ended->n : beam;
        if (ended->n == beam && live.n) {
            const double worst = ended->items[beam - 1].score, best = live.items[0].logp;
            if (best / penalty(q->o, (double)limit) <= worst &&
                best / penalty(q->o, (double)t + 2) <= worst)
                return;
        }
    }
    for (size_t i = 0; i < live.n; i++)
        ended->items[ended->n++] = live.items[i];
    qsort(ended->items, ended->n, sizeof(hypo), by_score);
}

static void compare(const rela_search_result *got, const list *want, size_t n_best,
                    const char *what)
{
    const size_t n = want->n < n_best ? want->n : n_best;
    CHECK(got->n == n, "%s: %zu results, want %zu", what, got->n, n);
    for (size_t i = 0; i < n; i++) {
        const rela_hypothesis *g = &got->best[i];
        const hypo *w = &want->items[i];
        CHECK(fabs(g->score - w->score) <= 1e-5 * (1 + fabs(w->score)),
              "%s, rank %zu: %.8g, want %.8g", what, i, g->score, w->score);
        CHECK(g->n + g->complete == w->n && g->complete == w->complete &&
                  memcmp(g->ids, w->ids, g->n * sizeof *g->ids) == 0,
              "%s, rank %zu: other symbols", what, i);
    }
}

static void run(rela_search_result *got, probe *const *nets, size_t n_nets, const rela_source *src,
                const rela_search_options *o, rela_engine **session)
{
    rela_error err;
    const rela_packed_weights *packed[3];
    for (size_t i = 0; i < n_nets; i++)
        packed[i] = &nets[i]->packed;
    CHECK_OK(rela_engine_create(session, packed, n_nets, &err), err);
    CHECK_OK(rela_search_run(*session, got, src, 1, o, &err), err);
}

static void wide_beam_finds_the_best_of_all(void **state)
{
    (void)state;
    static list all;
    static const int32_t IDS[] = { 3, 4, 3 };
    for (size_t vocabulary = 5; vocabulary <= 6; vocabulary++)
        for (uint64_t seed = 0; seed < 6; seed++) {
            probe p;
            rela_config c = probe_config(seed % 2 ? "softmax" : "rela-g", vocabulary);
            probe_start(&p, &c, seed, seed % 3 ? 3 : 1);
            rela_search_options o;
            rela_search_options_init(&o);
            o.beam = 200;
            o.n_best = 20;
            o.max_factor = 0;
            o.max_extra = vocabulary == 5 ? 5 : 4;
            o.penalty = (int32_t)(seed % 3);
            const rela_source src = { .text = { { IDS, 3 } } };
            const oracle q = { .nets = { &p }, .n = 1, .source = &src, .o = &o };
            all.n = 0;
            enumerate(&q, &all, &(hypo){ .n = 0 });
            qsort(all.items, all.n, sizeof(hypo), by_score);
            rela_search_result got;
            rela_engine *s = NULL;
            run(&got, (probe *[]){ &p }, 1, &src, &o, &s);
            compare(&got, &all, o.n_best, "all");
            rela_engine_destroy(s);
            probe_end(&p);
        }
}

static void beam_follows_its_definition(void **state)
{
    (void)state;
    static list want;
    static const int32_t IDS[] = { 3, 8, 5, 10, 7, 6 };
    static const double ALPHAS[] = { 0.6, 1, 0, -0.5, 2 };
    probe p;
    for (uint64_t seed = 0; seed < 4; seed++) {
        rela_config c = probe_config(seed % 2 ? "softmax" : "rela-g", 11);
        probe_start(&p, &c, seed, 1 + (double)seed);
        for (size_t i = 0; i < 15; i++) {
            rela_search_options o;
            rela_search_options_init(&o);
            o.beam = o.n_best = 2 + i % 4;
            o.penalty = (int32_t)(i % 3);
            o.alpha = ALPHAS[i / 3];
            o.forbid_unk = i % 2;
            o.max_extra = 3;
            const rela_source src = { .text = { { IDS, 1 + i % 6 } } };
            const oracle q = { .nets = { &p }, .n = 1, .source = &src, .o = &o };
            slow_beam(&q, &want);
            rela_search_result got;
            rela_engine *s = NULL;
            run(&got, (probe *[]){ &p }, 1, &src, &o, &s);
            compare(&got, &want, o.n_best, "beam");
            rela_engine_destroy(s);
        }
        probe_end(&p);
    }
}

/* A strong reward for length lets long hypotheses win late, a punishment of it short ones. */
static void search_stops_when_nothing_can_win_any_more(void **state)
{
    (void)state;
    static list want;
    static const int32_t IDS[] = { 3, 6, 5, 7 };
    for (uint64_t seed = 0; seed < 40; seed++) {
        probe p;
        rela_config c = probe_config("rela-g", 8);
        c.enc_layers = c.dec_layers = 1;
        c.tie = RELA_TIE_NONE; /* or symbols repeat themselves and sentences hardly end */
        probe_start(&p, &c, seed, 1 + (double)(seed % 4));
        for (int sign = -1; sign <= 1; sign += 2) {
            rela_search_options o;
            rela_search_options_init(&o);
            o.beam = o.n_best = 2;
            o.penalty = RELA_PENALTY_POWER;
            o.alpha = (seed % 3 == 0 ? 2 : 0.8) * sign;
            o.max_extra = 12;
            const rela_source src = { .text = { { IDS, 4 } } };
            const oracle q = { .nets = { &p }, .n = 1, .source = &src, .o = &o };
            slow_beam(&q, &want);
            rela_search_result got;
            rela_engine *s = NULL;
            run(&got, (probe *[]){ &p }, 1, &src, &o, &s);
            compare(&got, &want, o.n_best, sign > 0 ? "reward" : "punishment");
            rela_engine_destroy(s);
        }
        probe_end(&p);
    }
}

/* More symbols than a slice of logits holds. */
static void large_vocabularies_are_searched_in_full(void **state)
{
    (void)state;
    static list want;
    static const int32_t IDS[] = { 3, 1008, 515, 900 };
    for (uint64_t seed = 0; seed < 4; seed++) {
        probe p;
        rela_config c = probe_config("rela-g", 1027 + seed * 40);
        c.enc_layers = c.dec_layers = 1;
        probe_start(&p, &c, seed, 3);
        rela_search_options o;
        rela_search_options_init(&o);
        o.beam = o.n_best = 3;
        o.max_extra = 3;
        const rela_source src = { .text = { { IDS, 4 } } };
        const oracle q = { .nets = { &p }, .n = 1, .source = &src, .o = &o };
        slow_beam(&q, &want);
        rela_search_result got;
        rela_engine *s = NULL;
        run(&got, (probe *[]){ &p }, 1, &src, &o, &s);
        compare(&got, &want, o.n_best, "slices");
        rela_engine_destroy(s);
        probe_end(&p);
    }
}

static void greedy_takes_the_best_symbol(void **state)
{
    (void)state;
    static const int32_t IDS[] = { 3, 8, 5, 10, 7, 6 };
    for (uint64_t seed = 0; seed < 6; seed++) {
        probe p;
        rela_config c = probe_config("rela-g", 11);
        probe_start(&p, &c, seed, 2);
        rela_search_options o;
        rela_search_options_init(&o);
        o.beam = 1;
        o.max_extra = 4;
        const rela_source src = { .text = { { IDS, 1 + seed } } };
        const oracle q = { .nets = { &p }, .n = 1, .source = &src, .o = &o };
        list *want = rela_mem_zalloc(sizeof *want);
        CHECK(want, "no memory");
        hypo *h = &want->items[0];
        want->n = 1;
        while (!h->complete && h->n < limit_of(&q)) {
            double logp[PROBE_VOCAB_MAX];
            size_t best = 0;
            next_symbol(&q, logp, h);
            for (size_t v = 0; v < 11; v++)
                best = logp[v] > logp[best] ? v : best;
            h->ids[h->n++] = (int32_t)best;
            h->logp += logp[best];
            h->complete = best == RELA_EOS;
        }
        h->score = h->logp / penalty(&o, (double)h->n);
        rela_search_result got;
        rela_engine *s = NULL;
        run(&got, (probe *[]){ &p }, 1, &src, &o, &s);
        compare(&got, want, 1, "greedy");
        rela_mem_free(want);
        rela_engine_destroy(s);
        probe_end(&p);
    }
}

static void ensemble_is_the_mean_of_probabilities(void **state)
{
    (void)state;
    static list want;
    static const int32_t IDS[] = { 3, 8, 5, 10, 7, 6 };
    static const char *const KINDS[] = { "rela-g", "softmax", "rela-i" };
    probe p[3];
    for (uint64_t i = 0; i < 3; i++) {
        rela_config c = probe_config(KINDS[i], 11);
        c.pre_norm = i == 1;
        c.d = i == 2 ? 36 : c.d;
        probe_start(&p[i], &c, i, 2);
    }
    rela_search_options o;
    rela_search_options_init(&o);
    o.n_best = 4;
    o.max_extra = 4;
    for (size_t n = 2; n <= 3; n++) {
        const rela_source src = { .text = { { IDS, n + 2 } } };
        const oracle q = { .nets = { &p[0], &p[1], &p[2] }, .n = n, .source = &src, .o = &o };
        slow_beam(&q, &want);
        rela_search_result got;
        rela_engine *s = NULL;
        run(&got, q.nets, n, &src, &o, &s);
        compare(&got, &want, o.n_best, "ensemble");
        rela_engine_destroy(s);
    }
    for (size_t i = 0; i < 3; i++)
        probe_end(&p[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_beam_finds_the_best_of_all),
        cmocka_unit_test(beam_follows_its_definition),
        cmocka_unit_test(search_stops_when_nothing_can_win_any_more),
        cmocka_unit_test(large_vocabularies_are_searched_in_full),
        cmocka_unit_test(greedy_takes_the_best_symbol),
        cmocka_unit_test(ensemble_is_the_mean_of_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
