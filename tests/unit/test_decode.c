/* SPDX-License-Identifier: MIT */
/* tests/unit/test_decode.c - steps with caches against the pass without, and what a search
 * promises: batches, threads, limits, memory. */
#include "decode_probe.h"

#include "base/fault.h"
#include "nn/attn/method.h"
#include "step_walk.h"

#include <stdio.h>
#include <stdlib.h>

enum { VOCAB = 37, SENTENCES = 9, LONGEST = 8 };

/* ---- cached equals uncached ---- */

static void check_steps(const rela_config *c, const char *what)
{
    probe p;
    probe_start(&p, c, 3, 1);
    const double worst = walk_net(&p, &p.packed, false);
    print_message("%-12s %-24s %.1e\n", c->attention[0].text, what, worst);
    CHECK(worst <= 1e-5, "%s, %s: %.2e", c->attention[0].text, what, worst);
    CHECK(walk_net(&p, &p.packed, true) == 0, "%s, %s: not alone", c->attention[0].text, what);
    probe_end(&p);
}

static void cached_steps_equal_the_full_pass_for_every_kind(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        rela_config c = probe_config(rela_attn_kind_at(i)->name, VOCAB);
        check_steps(&c, "post-norm");
        c.pre_norm = true;
        c.tie = RELA_TIE_NONE;
        check_steps(&c, "pre-norm, not tied");
    }
}

static void cached_steps_equal_the_full_pass_with_several_sources(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        for (size_t sources = 2; sources <= RELA_SOURCES_MAX; sources++) {
            rela_config c = probe_config(rela_attn_kind_at(i)->name, VOCAB);
            c.sources = sources;
            c.share_encoders = i % 2;
            check_steps(&c, "parallel");
            c.serial_cross = true;
            c.pre_norm = true;
            check_steps(&c, "serial, pre-norm");
        }
}

static void cached_steps_equal_the_full_pass_in_every_shape(void **state)
{
    (void)state;
    rela_config c = probe_config("rela-g", VOCAB);
    c.norm_per_head = true;
    c.tie = RELA_TIE_OUT;
    check_steps(&c, "per head, tie out");
    c.d = 32;
    c.heads = 1;
    c.enc_layers = 1;
    c.dec_layers = 3;
    check_steps(&c, "one head, 1+3 layers");
    c.d = 64;
    c.ffn = 96;
    c.heads = 2;
    set_attention(&c, RELA_ATTN_CROSS, "softmax");
    set_attention(&c, RELA_ATTN_DEC, "rela-i");
    check_steps(&c, "mixed kinds");
}

/* ---- searches ---- */

typedef struct setting {
    probe p;
    rela_engine *session;
    rela_source sources[SENTENCES];
    int32_t ids[SENTENCES * LONGEST];
    rela_search_result results[SENTENCES];
    rela_search_options o;
} setting;

/* Attention for searches: of cached rows; of each kind with a state, alone and beside rows, which
 * *text then holds. NULL past the end. */
static const char *searched(char text[64], size_t i)
{
    size_t at = 0;
    if (i == 0)
        return "rela-g";
    for (size_t left = (i - 1) / 2 + 1; left > 0; at++) {
        const rela_attn_kind *kind = rela_attn_kind_at(at);
        if (!kind)
            return NULL;
        left -= kind->method && kind->method->state;
        (void)snprintf(text, 64, i % 2 ? "%s" : "softmax+2x%s", kind->name);
    }
    return text;
}

static void setting_start_with(setting *s, const char *attention, double sharp)
{
    rela_error err;
    rela_config c = probe_config(attention, VOCAB);
    probe_start(&s->p, &c, 21, sharp);
    CHECK_OK(rela_engine_create(&s->session, s->p.nets, 1, &err), err);
    probe_sources(s->sources, s->ids, SENTENCES, LONGEST, VOCAB, 8);
    rela_search_options_init(&s->o);
    s->o.max_extra = 6;
}

static void setting_start(setting *s, double sharp)
{
    setting_start_with(s, "rela-g", sharp);
}

static void setting_end(setting *s)
{
    rela_engine_destroy(s->session);
    probe_end(&s->p);
}

static void run(setting *s, rela_search_result *results, size_t first, size_t n)
{
    rela_error err;
    CHECK_OK(rela_search_run(s->session, results, s->sources + first, n, &s->o, &err), err);
}

static void check_alone(setting *s)
{
    rela_error err;
    rela_engine *alone = NULL;
    CHECK_OK(rela_engine_create(&alone, s->p.nets, 1, &err), err);
    run(s, s->results, 0, SENTENCES);
    size_t longest = 0, shortest = SIZE_MAX;
    for (size_t i = 0; i < SENTENCES; i++) {
        rela_search_result one;
        CHECK_OK(rela_search_run(alone, &one, &s->sources[i], 1, &s->o, &err), err);
        CHECK(one.n == s->results[i].n && one.n >= 1, "sentence %zu: %zu and %zu results", i, one.n,
              s->results[i].n);
        for (size_t j = 0; j < one.n; j++)
            CHECK(same_hypothesis(&one.best[j], &s->results[i].best[j]),
                  "sentence %zu rank %zu differs alone: %.9g %.9g", i, j, one.best[j].logp,
                  s->results[i].best[j].logp);
        longest = one.best[0].n > longest ? one.best[0].n : longest;
        shortest = one.best[0].n < shortest ? one.best[0].n : shortest;
    }
    CHECK(longest > shortest, "all translations have %zu symbols", longest);
    rela_engine_destroy(alone);
}

static void batch_gives_the_same_bits_as_single_sentences(void **state)
{
    (void)state;
    char text[64];
    for (size_t i = 0; searched(text, i); i++) {
        setting s;
        setting_start_with(&s, searched(text, i), 4);
        s.o.n_best = 3;
        check_alone(&s);
        s.o.beam = s.o.n_best = 1;
        check_alone(&s);
        s.o.method = RELA_SEARCH_SAMPLE;
        s.o.n_best = 3;
        check_alone(&s);
        setting_end(&s);
    }
}

static void compare_all(const rela_search_results *a, const rela_search_results *b)
{
    for (size_t i = 0; i < rela_search_results_count(a); i++) {
        const rela_search_result x = rela_search_results_at(a, i);
        const rela_search_result y = rela_search_results_at(b, i);
        CHECK(x.n == y.n, "sentence %zu: %zu and %zu results", i, x.n, y.n);
        for (size_t j = 0; j < x.n; j++)
            CHECK(same_hypothesis(&x.best[j], &y.best[j]), "sentence %zu rank %zu differs", i, j);
    }
}

static rela_status search_all(rela_search_results **out, const rela_packed_weights *const *nets,
                              size_t n_nets, const rela_source *sources, size_t n,
                              const rela_search_options *o, int n_threads, rela_error *err)
{
    rela_search_pool *pool = NULL;
    rela_status st = rela_search_pool_create(&pool, nets, n_nets, n_threads, err);
    if (st == RELA_OK)
        st = rela_search_pool_run(out, pool, sources, n, o, err);
    rela_search_pool_destroy(pool);
    return st;
}

static void threads_and_batches_do_not_change_results(void **state)
{
    (void)state;
    enum { MANY = 60 };
    rela_error err;
    setting s;
    static rela_source sources[MANY];
    static int32_t ids[MANY * LONGEST];
    setting_start(&s, 4);
    probe_sources(sources, ids, MANY, LONGEST, VOCAB, 77);
    sources[7].text[0].n = sources[40].text[0].n = 0;
    s.o.n_best = 2;
    rela_search_results *one = NULL, *two = NULL, *three = NULL;
    CHECK_OK(search_all(&one, s.p.nets, 1, sources, MANY, &s.o, 1, &err), err);
    s.o.batch_sentences = 7;
    CHECK_OK(search_all(&two, s.p.nets, 1, sources, MANY, &s.o, 2, &err), err);
    s.o.batch_sentences = 100;
    s.o.batch_tokens = 40;
    CHECK_OK(search_all(&three, s.p.nets, 1, sources, MANY, &s.o, 3, &err), err);
    CHECK(rela_search_results_count(one) == MANY, "results missing");
    CHECK(rela_search_results_at(one, 7).n == 1 && rela_search_results_at(one, 7).best[0].n == 0,
          "an empty source is not translated to nothing");
    compare_all(one, two);
    compare_all(one, three);
    rela_search_results_free(one);
    rela_search_results_free(two);
    rela_search_results_free(three);
    CHECK_OK(search_all(&one, s.p.nets, 1, sources, 0, &s.o, 2, &err), err);
    CHECK(rela_search_results_count(one) == 0, "results out of nothing");
    rela_search_results_free(one);
    setting_end(&s);
}

static void check_list(const setting *s, size_t i)
{
    const rela_search_result *r = &s->results[i];
    for (size_t j = 0; j < r->n; j++) {
        const rela_hypothesis *h = &r->best[j];
        double sum = 0;
        for (size_t t = 0; t < h->n + h->complete; t++)
            sum += (double)h->logps[t];
        CHECK(fabs(sum - h->logp) < 1e-4, "sentence %zu: log-probabilities sum to %g, not %g", i,
              sum, h->logp);
        CHECK(h->n + h->complete <= s->sources[i].text[0].n + (size_t)s->o.max_extra, "%zu symbols",
              h->n);
        CHECK(h->n > 0, "sentence %zu: empty translation", i);
        for (size_t t = 0; t < h->n; t++)
            CHECK(h->ids[t] > RELA_UNK && h->ids[t] != RELA_EOS, "symbol %d", h->ids[t]);
        for (size_t k = 0; k < j; k++) {
            const rela_hypothesis *b = &r->best[k];
            CHECK(b->complete > h->complete || (b->complete == h->complete && b->score >= h->score),
                  "sentence %zu: rank %zu is better than %zu", i, j, k);
            CHECK(b->n != h->n || b->complete != h->complete ||
                      memcmp(b->ids, h->ids, h->n * sizeof *h->ids) != 0,
                  "sentence %zu: ranks %zu and %zu are equal", i, k, j);
        }
    }
}

static void lists_are_sorted_distinct_and_allowed(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 3);
    s.o.forbid_unk = true;
    s.o.beam = s.o.n_best = 6;
    run(&s, s.results, 0, SENTENCES);
    for (size_t i = 0; i < SENTENCES; i++) {
        CHECK(s.results[i].n == 6, "%zu of 6 results", s.results[i].n);
        check_list(&s, i);
    }
    setting_end(&s);
}

static void unk_appears_unless_forbidden(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 1);
    real *row = probe_output(&s.p.net) + RELA_UNK * s.p.net.config.d;
    for (size_t i = 0; i < s.p.net.config.d; i++)
        row[i] *= 6; /* by far the largest logit, or the smallest */
    rela_packed_weights_deinit(&s.p.packed);
    rela_error err;
    CHECK_OK(rela_packed_weights_init(&s.p.packed, &s.p.net, 1, &err), err);
    for (int forbid = 0; forbid < 2; forbid++) {
        size_t seen = 0;
        s.o.forbid_unk = forbid != 0;
        run(&s, s.results, 0, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++)
            for (size_t t = 0; t < s.results[i].best[0].n; t++)
                seen += s.results[i].best[0].ids[t] == RELA_UNK;
        CHECK((seen == 0) == (forbid != 0), "forbid %d: %zu times", forbid, seen);
    }
    setting_end(&s);
}

static void lengths_keep_their_limits(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 4);
    for (size_t beam = 1; beam <= 4; beam += 3) {
        s.o.beam = beam;
        s.o.max_factor = s.o.min_factor = 1;
        s.o.max_extra = s.o.min_extra = 0;
        run(&s, s.results, 0, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++)
            CHECK(s.results[i].best[0].n == s.sources[i].text[0].n &&
                      !s.results[i].best[0].complete,
                  "%zu symbols, want %zu", s.results[i].best[0].n, s.sources[i].text[0].n);
        s.o.max_factor = 100; /* the model's own maximum holds */
        s.o.min_extra = 1000;
        run(&s, s.results, 0, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++)
            CHECK(s.results[i].best[0].n == PROBE_LEN, "%zu symbols", s.results[i].best[0].n);
        s.o.max_factor = 0; /* at least one symbol */
        s.o.max_extra = -3;
        run(&s, s.results, 0, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++)
            CHECK(s.results[i].best[0].n == 1, "%zu symbols", s.results[i].best[0].n);
    }
    setting_end(&s);
}

static void prefix_is_kept(void **state)
{
    (void)state;
    static const int32_t PREFIX[] = { 5, 9, RELA_UNK, 4, 30 };
    setting s;
    setting_start(&s, 4);
    for (size_t beam = 1; beam <= 4; beam += 3) {
        s.o.beam = beam;
        s.o.n_best = beam;
        for (size_t i = 0; i < SENTENCES; i++) {
            s.sources[i].prefix = PREFIX;
            s.sources[i].n_prefix = i % 6;
        }
        run(&s, s.results, 0, SENTENCES);
        for (size_t i = 0; i < SENTENCES; i++)
            for (size_t j = 0; j < s.results[i].n; j++)
                CHECK(s.results[i].best[j].n >= i % 6 &&
                          memcmp(s.results[i].best[j].ids, PREFIX, i % 6 * sizeof *PREFIX) == 0,
                      "sentence %zu rank %zu lost its prefix", i, j);
    }
    static const int32_t WHOLE[] = { 5, 9, RELA_EOS };
    s.sources[0].prefix = WHOLE;
    s.sources[0].n_prefix = 3;
    run(&s, s.results, 0, 1);
    CHECK(s.results[0].n == 1 && s.results[0].best[0].n == 2 && s.results[0].best[0].complete,
          "a prefix with an end is not the whole translation");
    setting_end(&s);
}

static void sampling_follows_the_seed(void **state)
{
    (void)state;
    setting s;
    rela_search_result again[SENTENCES];
    rela_error err;
    rela_engine *other = NULL;
    setting_start(&s, 2);
    CHECK_OK(rela_engine_create(&other, s.p.nets, 1, &err), err);
    s.o.method = RELA_SEARCH_SAMPLE;
    s.o.n_best = 2;
    run(&s, s.results, 0, SENTENCES);
    CHECK_OK(rela_search_run(other, again, s.sources, SENTENCES, &s.o, &err), err);
    for (size_t i = 0; i < SENTENCES; i++)
        CHECK(same_hypothesis(&s.results[i].best[0], &again[i].best[0]), "sentence %zu", i);
    s.o.seed = 1;
    CHECK_OK(rela_search_run(other, again, s.sources, SENTENCES, &s.o, &err), err);
    size_t same = 0;
    for (size_t i = 0; i < SENTENCES; i++)
        same += same_hypothesis(&s.results[i].best[0], &again[i].best[0]);
    CHECK(same < SENTENCES / 2, "another seed, but %zu of %d are the same", same, SENTENCES);
    /* With one candidate, or hardly any temperature, sampling is greedy search. */
    s.o.n_best = 1;
    s.o.top_k = 1;
    CHECK_OK(rela_search_run(other, again, s.sources, SENTENCES, &s.o, &err), err);
    s.o.method = RELA_SEARCH_BEAM;
    s.o.beam = 1;
    run(&s, s.results, 0, SENTENCES);
    for (size_t i = 0; i < SENTENCES; i++)
        CHECK(same_hypothesis(&s.results[i].best[0], &again[i].best[0]), "sentence %zu", i);
    s.o.method = RELA_SEARCH_SAMPLE;
    s.o.top_k = 0;
    s.o.temperature = 1e-4;
    CHECK_OK(rela_search_run(other, again, s.sources, SENTENCES, &s.o, &err), err);
    for (size_t i = 0; i < SENTENCES; i++)
        CHECK(same_hypothesis(&s.results[i].best[0], &again[i].best[0]), "sentence %zu", i);
    rela_engine_destroy(other);
    setting_end(&s);
}

/* First symbols of many samples against the probabilities. */
static void check_shares(setting *s, double top_p, size_t top_k)
{
    enum { DRAWS = 400 };
    rela_search_result r;
    rela_error err;
    double logp[PROBE_VOCAB_MAX], share[PROBE_VOCAB_MAX] = { 0 }, want[PROBE_VOCAB_MAX] = { 0 };
    probe_next(&s->p, logp, &s->sources[0], NULL, 0);
    logp[RELA_PAD] = logp[RELA_EOS] = -INFINITY;
    double total = 0, sum = 0, kept = 0;
    for (size_t v = 0; v < VOCAB; v++)
        total += exp(logp[v] / s->o.temperature);
    for (size_t n = 0; n < (top_k ? top_k : VOCAB - 2) && (n == 0 || sum < top_p * total); n++) {
        size_t best = 0;
        for (size_t v = 0; v < VOCAB; v++)
            best = want[v] == 0 && (want[best] > 0 || logp[v] > logp[best]) ? v : best;
        want[best] = exp(logp[best] / s->o.temperature);
        sum += want[best];
    }
    s->o.top_p = top_p;
    s->o.top_k = top_k;
    s->o.n_best = DRAWS;
    CHECK_OK(rela_search_run(s->session, &r, s->sources, 1, &s->o, &err), err);
    for (size_t i = 0; i < DRAWS; i++)
        share[r.best[i].ids[0]] += 1.0 / DRAWS;
    for (size_t v = 0; v < VOCAB; v++) {
        const double p = want[v] / sum;
        kept += share[v];
        CHECK(p > 0 || share[v] == 0, "symbol %zu should never come", v);
        CHECK(fabs(share[v] - p) < 4.5 * sqrt(p * (1 - p) / DRAWS) + 1e-9,
              "symbol %zu: %g, want %g", v, share[v], p);
    }
    CHECK(fabs(kept - 1) < 1e-9, "shares sum to %g", kept);
}

static void sampling_follows_the_probabilities(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 2);
    s.o.method = RELA_SEARCH_SAMPLE;
    s.o.max_factor = 0;
    s.o.max_extra = 1;
    for (int hot = 0; hot < 2; hot++) {
        s.o.temperature = hot ? 1.7 : 1;
        check_shares(&s, 1, 0);
        check_shares(&s, 1, 5);
        check_shares(&s, 0.6, 0);
        check_shares(&s, 0.9, 4);
    }
    setting_end(&s);
}

/* ---- memory and failures ---- */

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 4);
    for (int round = 0; round < 3; round++) {
        s.o.method = round == 2 ? RELA_SEARCH_SAMPLE : RELA_SEARCH_BEAM;
        s.o.beam = round == 1 ? 1 : 4;
        s.o.attention = round == 0;
        run(&s, s.results, 0, SENTENCES);
        rela_memory_stats before, after;
        before = memory_now();
        run(&s, s.results, 0, SENTENCES);
        run(&s, s.results, 2, 3);
        after = memory_now();
        CHECK(before.calls == after.calls, "round %d: %d allocations", round,
              (int)(after.calls - before.calls));
    }
    setting_end(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 4);
    s.o.attention = true;
    for (int persistent = 0; persistent < 2; persistent++) {
        bool done = false;
        for (uint64_t n = 1; !done && n < 500; n++) {
            rela_error err = { RELA_OK, "" };
            rela_search_results *all = NULL;
            rela_packed_weights f;
            rela_fault_set(RELA_FAULT_MEM, n, persistent != 0);
            rela_status st = rela_packed_weights_init(&f, &s.p.net, 1, &err);
            const rela_packed_weights *nets[] = { &f, &f };
            if (st == RELA_OK)
                st = search_all(&all, nets, 2, s.sources, SENTENCES, &s.o, 1, &err);
            done = rela_fault_seen(RELA_FAULT_MEM) < n;
            rela_fault_set(RELA_FAULT_MEM, 0, false);
            CHECK(done == (st == RELA_OK), "allocation %d: status %d", (int)n, (int)st);
            CHECK(done || (st == RELA_NOMEM && err.message[0]), "%d: %s", (int)st, err.message);
            CHECK((all != NULL) == done, "results of a failure");
            rela_search_results_free(all);
            rela_packed_weights_deinit(&f);
        }
        CHECK(done, "the sweep does not end");
    }
    setting_end(&s);
}

static void refuse(setting *s, const char *what)
{
    rela_error err = { RELA_OK, "" };
    CHECK(rela_search_run(s->session, s->results, s->sources, 1, &s->o, &err) == RELA_ARG &&
              err.message[0],
          "%s is accepted", what);
}

static void bad_requests_are_refused(void **state)
{
    (void)state;
    setting s;
    setting_start(&s, 1);
    const rela_search_options good = s.o;
    const rela_source source = s.sources[0];
    s.o.beam = 0;
    refuse(&s, "beam 0");
    s.o.beam = RELA_BEAM_MAX + 1;
    refuse(&s, "a huge beam");
    s.o = good;
    s.o.n_best = 5;
    refuse(&s, "n-best above the beam");
    s.o = good;
    s.o.alpha = NAN;
    refuse(&s, "alpha nan");
    s.o = good;
    s.o.max_factor = -1;
    refuse(&s, "a negative factor");
    s.o = good;
    s.o.method = RELA_SEARCH_SAMPLE;
    s.o.temperature = 0;
    refuse(&s, "temperature 0");
    s.o.temperature = 1;
    s.o.top_p = 0;
    refuse(&s, "nucleus 0");
    s.o = good;
    const uint32_t heads[] = { 3, 6 };
    s.o.attention = true;
    s.o.heads = heads;
    s.o.n_heads = 2;
    refuse(&s, "a head that is not there");
    s.o = good;
    const int32_t bad[] = { 3, VOCAB };
    s.sources[0] = (rela_source){ .text = { { bad, 2 } } };
    refuse(&s, "a symbol that is not there");
    static const int32_t LONG[PROBE_LEN] = { 0 };
    s.sources[0] = (rela_source){ .text = { { LONG, PROBE_LEN } } };
    refuse(&s, "a source that is too long");
    s.sources[0] = source;
    s.sources[0].prefix = bad;
    s.sources[0].n_prefix = 2;
    refuse(&s, "a prefix symbol that is not there");
    setting_end(&s);
}

static void nets_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_engine *s = NULL;
    probe a, b;
    rela_config c = probe_config("rela-g", VOCAB);
    probe_start(&a, &c, 1, 1);
    c = probe_config("rela-g", VOCAB + 1);
    probe_start(&b, &c, 1, 1);
    const rela_packed_weights *nets[] = { &a.packed, &b.packed };
    CHECK(rela_engine_create(&s, nets, 2, &err) == RELA_ARG && !s && err.message[0],
          "vocabularies of different size");
    probe_end(&a);
    c = probe_config("rela-g", 2); /* no end symbol */
    probe_start(&a, &c, 1, 1);
    CHECK(rela_engine_create(&s, a.nets, 1, &err) == RELA_ARG && !s, "no end symbol");
    probe_end(&a);
    probe_end(&b);
}

/* Weights that are not numbers must not hang or crash a search. */
static void broken_weights_end_the_search(void **state)
{
    (void)state;
    setting s;
    rela_error err;
    setting_start(&s, 1);
    for (size_t i = 0; i < s.p.net.config.d; i++)
        probe_output(&s.p.net)[5 * s.p.net.config.d + i] = (real)NAN;
    rela_packed_weights_deinit(&s.p.packed);
    CHECK_OK(rela_packed_weights_init(&s.p.packed, &s.p.net, 1, &err), err);
    for (size_t beam = 1; beam <= 4; beam += 3)
        for (int method = 0; method < 2; method++) {
            s.o.beam = beam;
            s.o.method = (int32_t)method;
            run(&s, s.results, 0, SENTENCES);
            for (size_t i = 0; i < SENTENCES; i++)
                CHECK(s.results[i].n == 1, "sentence %zu: %zu results", i, s.results[i].n);
        }
    setting_end(&s);
}

/* ---- attention ---- */

typedef struct seen {
    real w[2][3][PROBE_LEN][PROBE_LEN]; /* layer, head, target, source */
} seen;

static void see(void *ctx, const rela_attn_view *v)
{
    seen *s = ctx;
    for (size_t i = 0; v->stack == RELA_ATTN_CROSS && i < v->rows; i++)
        memcpy(s->w[v->layer][v->head][v->first + i], v->w + i * v->ld, v->n * sizeof *v->w);
}

static void check_attention(const char *attention)
{
    static seen want;
    static double unused[PROBE_LEN * PROBE_VOCAB_MAX];
    const rela_attn_tap tap = { see, &want };
    const uint32_t heads[] = { 1, 3, 5 };
    setting s;
    setting_start_with(&s, attention, 4);
    const rela_config *c = &s.p.net.config;
    const bool shown = rela_config_check_shown(c, UINT32_MAX, NULL) == RELA_OK;
    s.o.attention = true;
    s.o.heads = heads;
    s.o.n_heads = 3;
    s.o.n_best = 3;
    if (shown)
        run(&s, s.results, 0, SENTENCES);
    else
        refuse(&s, "a kind that forms no weights");
    for (size_t i = 0; i < SENTENCES; i++)
        for (size_t j = 0; shown && j < s.results[i].n; j++) {
            const rela_hypothesis *h = &s.results[i].best[j];
            const real *got = h->attention;
            probe_logits(&s.p, unused, &s.sources[i], h->ids, h->n, &tap);
            for (size_t t = 0; t < h->n + h->complete; t++)
                for (size_t k = 0; k < 3; k++)
                    for (size_t p = 0; p <= s.sources[i].text[0].n; p++, got++) {
                        const real w = want.w[heads[k] / 3][heads[k] % 3][t][p];
                        CHECK(fabs((double)(*got - w)) <= 1e-4 * (1 + fabs((double)w)),
                              "sentence %zu rank %zu symbol %zu: %g, want %g", i, j, t,
                              (double)*got, (double)w);
                    }
        }
    setting_end(&s);
}

static void attention_is_that_of_the_full_pass(void **state)
{
    (void)state;
    char text[64];
    for (size_t i = 0; searched(text, i); i++)
        check_attention(searched(text, i));
}

static void check_place(const rela_hypothesis *h, const rela_hypothesis *full, size_t source,
                        size_t heads)
{
    for (size_t t = 0; t < full->n + full->complete; t++) {
        const real *w = full->attention + t * heads * (source + 1);
        double sums[LONGEST] = { 0 };
        for (size_t k = 0; k < heads * source; k++)
            sums[k % source] += (double)w[k / source * (source + 1) + k % source];
        for (size_t k = 0; k < source; k++)
            CHECK(sums[k] <= sums[h->heaviest[t]], "symbol %zu: place %u of %zu, %zu has more", t,
                  h->heaviest[t], source, k);
    }
}

/* What a pool keeps of attention is what was asked for, and nothing for parts of longer texts. */
static void places_are_kept_instead_of_attention(void **state)
{
    (void)state;
    rela_error err;
    setting s;
    rela_search_results *full = NULL, *places = NULL;
    setting_start(&s, 4);
    s.o.attention = true;
    CHECK_OK(search_all(&full, s.p.nets, 1, s.sources, SENTENCES, &s.o, 2, &err), err);
    s.o.heaviest = true;
    for (size_t i = 0; i < SENTENCES; i++)
        s.sources[i].part = i % 2 == 1;
    CHECK_OK(search_all(&places, s.p.nets, 1, s.sources, SENTENCES, &s.o, 2, &err), err);
    for (size_t i = 0; i < SENTENCES; i++) {
        const rela_hypothesis *a = rela_search_results_at(full, i).best;
        const rela_hypothesis *b = rela_search_results_at(places, i).best;
        if (s.sources[i].text[0].n == 0)
            continue;
        CHECK(same_hypothesis(a, b), "sentence %zu differs", i);
        CHECK(!a->heaviest && b->heaviest, "sentence %zu: places", i);
        CHECK(a->attention && !b->attention == s.sources[i].part, "sentence %zu: attention", i);
        check_place(b, a, s.sources[i].text[0].n, s.p.net.config.dec_layers * s.p.net.config.heads);
    }
    rela_search_results_free(full);
    rela_search_results_free(places);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cached_steps_equal_the_full_pass_for_every_kind),
        cmocka_unit_test(cached_steps_equal_the_full_pass_in_every_shape),
        cmocka_unit_test(cached_steps_equal_the_full_pass_with_several_sources),
        cmocka_unit_test(batch_gives_the_same_bits_as_single_sentences),
        cmocka_unit_test(threads_and_batches_do_not_change_results),
        cmocka_unit_test(lists_are_sorted_distinct_and_allowed),
        cmocka_unit_test(unk_appears_unless_forbidden),
        cmocka_unit_test(lengths_keep_their_limits),
        cmocka_unit_test(prefix_is_kept),
        cmocka_unit_test(sampling_follows_the_seed),
        cmocka_unit_test(sampling_follows_the_probabilities),
        cmocka_unit_test(attention_is_that_of_the_full_pass),
        cmocka_unit_test(places_are_kept_instead_of_attention),
        cmocka_unit_test(steady_state_allocates_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(nets_that_do_not_fit_are_refused),
        cmocka_unit_test(broken_weights_end_the_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
