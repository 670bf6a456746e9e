/* SPDX-License-Identifier: MIT */
/* tests/unit/test_search_words.c - searches with a shortlist: the same bits as without where it
 * holds everything, the probabilities of the definition where it does not, and results that no
 * other sentence of a batch can change. */
#include "decode_probe.h"

#include "base/fault.h"
#include "model/generator.h"

enum { VOCAB = 300, SENTENCES = 9, LONGEST = 11, OWN = 12 };

typedef struct setting {
    probe p, q;    /* q: a second net for an ensemble */
    rela_net bare; /* p in int8 */
    rela_packed_weights bytes;
    rela_shortlist *some, *all;
    rela_source sources[SENTENCES];
    int32_t ids[SENTENCES * LONGEST];
} setting;

/* Source symbol s: symbols from s * step on; per of them, or all. */
static rela_shortlist *make_list(size_t per)
{
    rela_error err;
    rela_shortlist *l = NULL;
    int32_t first[VOCAB + 1], frequent[] = { 7, 150, 299 };
    static int32_t words[VOCAB * VOCAB];
    size_t n = 0;
    for (size_t s = 0; s < VOCAB; s++) {
        first[s] = (int32_t)n;
        for (size_t k = 0; k < VOCAB; k++)
            if ((k + VOCAB - s * 37 % VOCAB) % VOCAB < per)
                words[n++] = (int32_t)k;
    }
    first[VOCAB] = (int32_t)n;
    const rela_shortlist_parts p = { .vocab = { .n_src = VOCAB, .n_tgt = VOCAB, .hash = "x" },
                                     .frequent = frequent,
                                     .n_frequent = 3,
                                     .first = first,
                                     .words = words };
    CHECK_OK(rela_shortlist_create(&l, &p, &err), err);
    return l;
}

static void copy_net(rela_net *to, const rela_net *from)
{
    rela_error err;
    CHECK_OK(rela_net_init(to, &from->config, &err), err);
    memcpy(to->weights, from->weights, from->params.total * sizeof *to->weights);
}

static void setting_start(setting *s)
{
    rela_error err;
    rela_config c = probe_config("rela-g", VOCAB);
    probe_start(&s->p, &c, 21, 4);
    probe_start(&s->q, &c, 22, 3);
    copy_net(&s->bare, &s->p.net);
    CHECK_OK(rela_packed_weights_init_int8(&s->bytes, &s->bare, 1, &err), err);
    s->some = make_list(OWN);
    s->all = make_list(VOCAB);
    probe_sources(s->sources, s->ids, SENTENCES, LONGEST, VOCAB, 8);
}

static void setting_end(setting *s)
{
    rela_shortlist_free(s->some);
    rela_shortlist_free(s->all);
    rela_packed_weights_deinit(&s->bytes);
    rela_net_deinit(&s->bare);
    probe_end(&s->q);
    probe_end(&s->p);
}

/* Ways to search, in fp32, in int8 and with two nets. */
typedef struct way {
    const char *name;
    int32_t method;
    size_t beam, n_best, top_k;
    double top_p;
    bool attention, prefix;
    int nets; /* 0: one; 1: one in int8; 2: two */
} way;

static const way WAYS[] = {
    { "beam", RELA_SEARCH_BEAM, 4, 4, 0, 1, false, false, 0 },
    { "greedy", RELA_SEARCH_BEAM, 1, 1, 0, 1, false, false, 0 },
    { "beam with attention and prefix", RELA_SEARCH_BEAM, 3, 2, 0, 1, true, true, 0 },
    { "8 bits", RELA_SEARCH_BEAM, 4, 4, 0, 1, false, true, 1 },
    { "greedy in int8", RELA_SEARCH_BEAM, 1, 1, 0, 1, false, false, 1 },
    { "two nets", RELA_SEARCH_BEAM, 4, 4, 0, 1, false, true, 2 },
    { "samples", RELA_SEARCH_SAMPLE, 4, 3, 0, 1, false, true, 0 },
    { "top 5", RELA_SEARCH_SAMPLE, 4, 3, 5, 1, false, false, 0 },
    { "nucleus", RELA_SEARCH_SAMPLE, 4, 3, 0, 0.7, false, false, 1 },
    { "samples of two nets", RELA_SEARCH_SAMPLE, 4, 2, 0, 0.9, false, false, 2 },
};
enum { N_WAYS = sizeof WAYS / sizeof *WAYS };

static rela_engine *searcher(setting *s, const way *w)
{
    rela_error err;
    rela_engine *made = NULL;
    const rela_packed_weights *nets[] = { w->nets == 1 ? &s->bytes : &s->p.packed, &s->q.packed };
    CHECK_OK(rela_engine_create(&made, nets, w->nets == 2 ? 2 : 1, &err), err);
    return made;
}

static rela_search_options options(setting *s, const way *w, const rela_shortlist *l)
{
    static const int32_t PREFIX[] = { 298, 9 };
    rela_search_options o;
    rela_search_options_init(&o);
    o.method = w->method;
    o.beam = w->beam;
    o.n_best = w->n_best;
    o.top_k = w->top_k;
    o.top_p = w->top_p;
    o.attention = w->attention;
    o.max_extra = 5;
    o.shortlist = l;
    for (size_t i = 0; i < SENTENCES; i++) {
        s->sources[i].prefix = PREFIX;
        s->sources[i].n_prefix = w->prefix ? i % 3 : 0;
    }
    return o;
}

static void compare(const rela_search_result *a, const rela_search_result *b, const char *what,
                    size_t i)
{
    CHECK(a->n == b->n && a->n >= 1, "%s, sentence %zu: %zu and %zu results", what, i, a->n, b->n);
    for (size_t j = 0; j < a->n; j++)
        CHECK(same_hypothesis(&a->best[j], &b->best[j]), "%s, sentence %zu rank %zu: %.9g, %.9g",
              what, i, j, a->best[j].logp, b->best[j].logp);
}

static void a_list_of_all_symbols_changes_no_bit(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    for (size_t k = 0; k < N_WAYS; k++) {
        rela_error err;
        rela_search_result with[SENTENCES], without[SENTENCES];
        rela_engine *a = searcher(&s, &WAYS[k]), *b = searcher(&s, &WAYS[k]);
        const rela_search_options all = options(&s, &WAYS[k], s.all),
                                  none = options(&s, &WAYS[k], NULL);
        CHECK_OK(rela_search_run(a, with, s.sources, SENTENCES, &all, &err), err);
        CHECK_OK(rela_search_run(b, without, s.sources, SENTENCES, &none, &err), err);
        for (size_t i = 0; i < SENTENCES; i++)
            compare(&with[i], &without[i], WAYS[k].name, i);
        rela_engine_destroy(a);
        rela_engine_destroy(b);
    }
    setting_end(&s);
}

/* The list of a source, as its definition says; returns how many. */
static size_t list_of(bool *in, const rela_source *x)
{
    size_t n = 0;
    for (size_t v = 0; v < VOCAB; v++) {
        in[v] = v < 3 || v == 7 || v == 150 || v == 299;
        for (size_t j = 0; j < x->text[0].n; j++)
            in[v] = in[v] || (v + VOCAB - (size_t)x->text[0].ids[j] * 37 % VOCAB) % VOCAB < OWN;
        for (size_t j = 0; j < x->n_prefix; j++)
            in[v] = in[v] || (size_t)x->prefix[j] == v;
        n += in[v];
    }
    return n;
}

static void results_come_from_the_list_and_do_not_depend_on_the_batch(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    for (size_t k = 0; k < N_WAYS; k++) {
        rela_error err;
        rela_search_result all[SENTENCES], one;
        rela_engine *a = searcher(&s, &WAYS[k]), *b = searcher(&s, &WAYS[k]);
        const rela_search_options o = options(&s, &WAYS[k], s.some);
        CHECK_OK(rela_search_run(a, all, s.sources, SENTENCES, &o, &err), err);
        for (size_t i = 0; i < SENTENCES; i++) {
            bool in[VOCAB];
            const size_t n = list_of(in, &s.sources[i]);
            CHECK(n < VOCAB / 2, "sentence %zu has a list of %zu", i, n);
            CHECK_OK(rela_search_run(b, &one, &s.sources[i], 1, &o, &err), err);
            compare(&one, &all[i], WAYS[k].name, i);
            for (size_t j = 0; j < one.n; j++)
                for (size_t t = 0; t < one.best[j].n; t++)
                    CHECK(in[one.best[j].ids[t]] && one.best[j].ids[t] != RELA_PAD,
                          "%s, sentence %zu: symbol %d", WAYS[k].name, i, one.best[j].ids[t]);
        }
        rela_engine_destroy(a);
        rela_engine_destroy(b);
    }
    setting_end(&s);
}

/* log of p(v) / sum of p over the list, by the full pass without caches. */
static double by_definition(setting *s, const rela_source *x, const int32_t *ids, size_t t,
                            bool both)
{
    double one[VOCAB], sum = 0;
    static double mean[VOCAB];
    bool in[VOCAB];
    (void)list_of(in, x);
    memset(mean, 0, sizeof mean);
    for (int net = 0; net < (both ? 2 : 1); net++) {
        probe_next(net ? &s->q : &s->p, one, x, ids, t);
        sum = 0;
        for (size_t v = 0; v < VOCAB; v++)
            sum += in[v] ? exp(one[v]) : 0;
        for (size_t v = 0; v < VOCAB; v++)
            mean[v] += exp(one[v]) / sum / (both ? 2 : 1);
    }
    return log(mean[ids[t]]);
}

static void probabilities_are_those_among_the_list(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    for (size_t k = 0; k < N_WAYS; k++) {
        rela_error err;
        rela_search_result all[SENTENCES];
        if (WAYS[k].nets == 1)
            continue; /* rounded weights have other probabilities */
        rela_engine *a = searcher(&s, &WAYS[k]);
        const rela_search_options o = options(&s, &WAYS[k], s.some);
        CHECK_OK(rela_search_run(a, all, s.sources, SENTENCES, &o, &err), err);
        for (size_t i = 0; i < SENTENCES; i++) {
            const rela_hypothesis *h = &all[i].best[0];
            for (size_t t = 0; t < h->n; t++) {
                const double want = by_definition(&s, &s.sources[i], h->ids, t, WAYS[k].nets == 2);
                CHECK(fabs((double)h->logps[t] - want) <= 2e-5 * (1 + fabs(want)),
                      "%s, sentence %zu, symbol %zu: %.8g, want %.8g", WAYS[k].name, i, t,
                      (double)h->logps[t], want);
            }
        }
        rela_engine_destroy(a);
    }
    setting_end(&s);
}

/* Rows of the output matrix put together give the logits they give in their place. */
static void chosen_logits_have_the_bits_of_all(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    for (int bytes = 0; bytes < 2; bytes++) {
        enum { N = 77 };
        rela_error err;
        rela_generator *d = NULL;
        uint32_t words[N], at[2] = { 0, 4 }, history[2] = { 0, 1 }, zero[2] = { 0, 0 };
        int32_t source[] = { 9, 4, 77, RELA_EOS }, token[2] = { 0, 0 };
        const size_t n_src = 4;
        real all[2 * VOCAB], chosen[2 * N];
        for (uint32_t i = 0; i < N; i++)
            words[i] = i * i % 4 + i * 3;
        const rela_generator_size size = { .places = 1,
                                           .src_rows = 4,
                                           .src_len = 4,
                                           .src_kept = 16,
                                           .rows = 2,
                                           .place_rows = 2,
                                           .steps = 1 };
        CHECK_OK(rela_generator_create(&d, bytes ? &s.bytes : &s.p.packed, &err), err);
        CHECK_OK(rela_generator_reserve(d, &size, &err), err);
        CHECK_OK(rela_generator_reserve_slots(d, 2, &err), err);
        CHECK_OK(rela_generator_reserve_place(d, 0, &n_src, N, &err), err);
        rela_generator_read(d, &(rela_tokens){ source, at, 1 }, zero);
        rela_generator_choose(d, 0, words, N);
        const rela_step_rows rows = { 2, token, zero, zero, history, 1 };
        (void)rela_generator_step(d, &rows, NULL);
        const size_t both[2] = { 0, 2 };
        rela_generator_logits(d, all, VOCAB, both, 0, VOCAB);
        rela_generator_logits_chosen(d, chosen, N, 0, both, 0, N);
        for (size_t i = 0; i < 2; i++)
            for (size_t j = 0; j < N; j++)
                CHECK(memcmp(&chosen[i * N + j], &all[i * VOCAB + words[j]], sizeof *all) == 0,
                      "row %zu, symbol %u: %.9g, want %.9g", i, words[j], (double)chosen[i * N + j],
                      (double)all[i * VOCAB + words[j]]);
        rela_generator_destroy(d);
    }
    setting_end(&s);
}

static void steady_state_allocates_nothing(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    for (size_t k = 0; k < N_WAYS; k++) {
        rela_error err;
        rela_search_result all[SENTENCES];
        rela_memory_stats before, after;
        rela_engine *a = searcher(&s, &WAYS[k]);
        const rela_search_options o = options(&s, &WAYS[k], s.some);
        CHECK_OK(rela_search_run(a, all, s.sources, SENTENCES, &o, &err), err);
        before = memory_now();
        CHECK_OK(rela_search_run(a, all, s.sources, SENTENCES, &o, &err), err);
        CHECK_OK(rela_search_run(a, all, s.sources + 2, 3, &o, &err), err);
        after = memory_now();
        CHECK(before.calls == after.calls, "%s: %d allocations", WAYS[k].name,
              (int)(after.calls - before.calls));
        rela_engine_destroy(a);
    }
    setting_end(&s);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    const rela_search_options o = options(&s, &WAYS[0], s.some);
    bool done = false;
    for (uint64_t n = 1; !done && n < 200; n++) {
        rela_error err = { RELA_OK, "" };
        rela_engine *a = NULL;
        rela_search_result all[SENTENCES];
        rela_fault_set(RELA_FAULT_MEM, n, false);
        rela_status st = rela_engine_create(&a, s.p.nets, 1, &err);
        st = st ? st : rela_search_run(a, all, s.sources, SENTENCES, &o, &err);
        done = rela_fault_seen(RELA_FAULT_MEM) < n;
        rela_fault_set(RELA_FAULT_MEM, 0, false);
        CHECK(done ? st == RELA_OK : st == RELA_NOMEM && err.message[0], "allocation %d: %d: %s",
              (int)n, (int)st, err.message);
        if (!done && a) /* it can go on */
            CHECK_OK(rela_search_run(a, all, s.sources, SENTENCES, &o, &err), err);
        rela_engine_destroy(a);
    }
    CHECK(done, "the sweep does not end");
    setting_end(&s);
}

static void lists_of_other_sizes_are_refused(void **state)
{
    (void)state;
    setting s;
    setting_start(&s);
    probe other;
    rela_error err = { RELA_OK, "" };
    rela_config c = probe_config("rela-g", VOCAB - 1);
    probe_start(&other, &c, 1, 1);
    rela_engine *a = NULL;
    rela_search_result got;
    const rela_search_options o = options(&s, &WAYS[0], s.some);
    CHECK_OK(rela_engine_create(&a, other.nets, 1, &err), err);
    CHECK(rela_search_run(a, &got, s.sources, 1, &o, &err) == RELA_ARG &&
              strstr(err.message, "a shortlist for 300 source"),
          "%s", err.message);
    rela_engine_destroy(a);
    probe_end(&other);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_of_all_symbols_changes_no_bit),
        cmocka_unit_test(results_come_from_the_list_and_do_not_depend_on_the_batch),
        cmocka_unit_test(probabilities_are_those_among_the_list),
        cmocka_unit_test(chosen_logits_have_the_bits_of_all),
        cmocka_unit_test(steady_state_allocates_nothing),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(lists_of_other_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
