/* SPDX-License-Identifier: MIT */
/* tests/unit/test_not_finite.c - numbers that overflow are seen: in the loops of every level, and
 * in every kind of search for the sentence they belong to, and for no other. */
#include "decode_probe.h"

#include "format/shortlist.h"

#include <stdio.h>

enum {
    VOCAB = 60,
    SENTENCES = 7,
    LONGEST = 9,
    COLS = 48,
    WHOLE = 64,
    DEEP = 37,
    BAD_WORD = 11,
    N_MAX = 100
};

/* ---- loops ---- */

static void fill(real *x, size_t n, uint64_t seed)
{
    rela_rng r = rela_rng_start(seed, 1);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(rela_rng_real(&r) - 0.5);
}

static double log_sum(const rela_kern *k, const real *z, size_t n, size_t first)
{
    rela_exp_sum sum = { .sum = 0 };
    (void)k->exp_sum(&sum, z, first);
    if (first < n)
        (void)k->exp_sum(&sum, z + first, n - first);
    return (double)sum.base + log(sum.sum);
}

static void sums_of_exponentials_show_it(void **state)
{
    (void)state;
    static const size_t SIZES[] = { 1, 2, 15, 16, 33, 64, N_MAX };
    for (size_t level = 0; rela_kern_at(level); level++)
        for (size_t s = 0; s < sizeof SIZES / sizeof *SIZES; s++)
            for (size_t at = 0; at < SIZES[s]; at++) {
                const rela_kern *k = rela_kern_at(level);
                const size_t n = SIZES[s], first = 1 + at * 7 % n;
                const real odd[] = { (real)NAN, (real)INFINITY };
                real z[N_MAX];
                for (int i = 0; i < 2; i++) {
                    fill(z, n, n + at);
                    CHECK(isfinite(log_sum(k, z, n, first)), "%s, %zu numbers", k->name, n);
                    z[at] = odd[i];
                    CHECK(!isfinite(log_sum(k, z, n, first)), "%s, %zu numbers: %g at %zu is lost",
                          k->name, n, (double)odd[i], at);
                }
                z[at] = (real)-INFINITY;
                CHECK(isfinite(log_sum(k, z, n, n)) == (n > 1), "%s, %zu numbers: -inf at %zu",
                      k->name, n, at);
            }
}

/* Two rows, the second with a number that is not finite, in 32 and in int8. */
static void check_products(const rela_kern *k, real odd, bool relu)
{
    real a[2 * DEEP], w[COLS * DEEP], bias[COLS] = { 0 }, c[2 * COLS], bytes_c[2 * COLS];
    static real packed[WHOLE * DEEP];
    static int8_t q[2 * (DEEP + 3)], p[COLS * (DEEP + 3)];
    real scale[COLS], rows[2];
    int32_t sums[COLS];
    const size_t ldq = (DEEP + 3) / 4 * 4;
    fill(a, 2 * DEEP, 3);
    fill(w, COLS * DEEP, 4);
    a[DEEP + 20] = odd;
    k->pack(packed, w, DEEP, COLS, DEEP);
    k->packed(c, COLS, a, DEEP, packed, bias, 2, COLS, DEEP, relu);
    k->pack_bytes(p, scale, sums, w, DEEP, COLS, DEEP);
    k->bytes(q, ldq, rows, a, DEEP, 2, DEEP);
    const rela_bytes b = { p, scale, sums };
    k->packed_bytes(bytes_c, COLS, q, ldq, rows, &b, bias, 2, COLS, DEEP, relu);
    size_t n = 0;
    for (size_t j = 0; j < COLS; j++) {
        CHECK(isfinite(c[j]) && isfinite(bytes_c[j]), "%s: the other row at %zu", k->name, j);
        CHECK(isnan(bytes_c[COLS + j]), "%s, 8 bits, %g: %g at %zu", k->name, (double)odd,
              (double)bytes_c[COLS + j], j);
        n += !isfinite(c[COLS + j]);
    }
    CHECK(n == COLS || (relu && isinf(odd) && n > 0), "%s, %g: %zu of %d", k->name, (double)odd, n,
          COLS);
}

static void products_show_it(void **state)
{
    (void)state;
    for (size_t level = 0; rela_kern_at(level); level++)
        for (int relu = 0; relu < 2; relu++) {
            check_products(rela_kern_at(level), (real)NAN, relu);
            check_products(rela_kern_at(level), (real)INFINITY, relu);
        }
}

/* Norms of numbers whose squares overflow would be rows of zeros. */
static void norms_show_it(void **state)
{
    (void)state;
    static const rela_drop NONE = { .threshold = 0 };
    for (size_t level = 0; rela_kern_at(level); level++)
        for (int center = 0; center < 2; center++) {
            const rela_kern *k = rela_kern_at(level);
            real x[2 * DEEP], r[2 * DEEP], y[2 * DEEP], one[DEEP], zero[DEEP] = { 0 };
            rela_norm_stats stats[2];
            fill(x, (size_t)2 * DEEP, 5);
            for (size_t i = 0; i < DEEP; i++) {
                one[i] = 1;
                x[DEEP + i] *= (real)1e25;
            }
            k->residual_norm(y, r, stats, NULL, x, NULL, one, zero, 2, DEEP, (real)1e-6, &NONE);
            CHECK(isfinite(y[3]) && isnan(y[DEEP + 3]), "%s: %g", k->name, (double)y[DEEP + 3]);
            k->gated_norm(y, x, one, NULL, 2, DEEP, 1, (real)1e-6, center);
            CHECK(isfinite(y[3]) && isnan(y[DEEP + 3]), "%s: %g", k->name, (double)y[DEEP + 3]);
        }
}

/* ---- searches ---- */

/* The bad nets have a huge embedding of one source symbol, the good ones are without it. */
typedef struct nets {
    probe good, other, bad;
    rela_net bytes_net[2];
    rela_packed_weights bytes[2]; /* good, bad */
    rela_shortlist *list;
    rela_source sources[SENTENCES];
    int32_t ids[SENTENCES * LONGEST];
    bool is_bad[SENTENCES];
} nets;

static rela_shortlist *make_list(void)
{
    rela_error err = { RELA_OK, "" };
    rela_shortlist *l = NULL;
    int32_t first[VOCAB + 1], words[VOCAB], frequent[] = { 7, 9 };
    for (int32_t i = 0; i < VOCAB; i++) {
        first[i] = i;
        words[i] = (i * 7 + 5) % VOCAB;
    }
    first[VOCAB] = VOCAB;
    const rela_shortlist_parts p = { .vocab = { .n_src = VOCAB, .n_tgt = VOCAB, .hash = "x" },
                                     .frequent = frequent,
                                     .n_frequent = 2,
                                     .first = first,
                                     .words = words };
    CHECK_OK(rela_shortlist_create(&l, &p, &err), err);
    return l;
}

static void start_bytes(nets *s, int which, const probe *p)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_net_init(&s->bytes_net[which], &p->net.config, &err), err);
    memcpy(s->bytes_net[which].weights, p->net.weights,
           p->net.params.total * sizeof *p->net.weights);
    s->bytes_net[which].k = p->net.k;
    CHECK_OK(rela_packed_weights_init_int8(&s->bytes[which], &s->bytes_net[which], 1, &err), err);
}

/* A packed net is laid out for the loops it is made with. */
static void start_probe(probe *p, const rela_config *c, uint64_t seed, const rela_kern *level,
                        bool bad)
{
    rela_error err = { RELA_OK, "" };
    probe_start(p, c, seed, 3);
    rela_packed_weights_deinit(&p->packed);
    p->net.k = level;
    for (size_t i = 0; bad && i < c->d; i++)
        p->net.weights[p->net.params.items[0].offset + BAD_WORD * c->d + i] = (real)1e30;
    CHECK_OK(rela_packed_weights_init(&p->packed, &p->net, 1, &err), err);
}

static void nets_start(nets *s, const rela_attn_kind *kind, const rela_kern *level)
{
    rela_config c = probe_config(kind->name, VOCAB);
    c.tie = RELA_TIE_OUT;
    memset(s, 0, sizeof *s);
    start_probe(&s->good, &c, 31, level, false);
    start_probe(&s->bad, &c, 31, level, true);
    start_probe(&s->other, &c, 32, level, false);
    start_bytes(s, 0, &s->good);
    start_bytes(s, 1, &s->bad);
    s->list = make_list();
    probe_sources(s->sources, s->ids, SENTENCES, LONGEST, VOCAB, 9);
    for (size_t i = 0, at = 0; i < SENTENCES; i++) {
        s->is_bad[i] = i == 2 || i == 5;
        for (size_t j = 0; j < s->sources[i].text[0].n; j++, at++)
            s->ids[at] = s->is_bad[i] && j == 0   ? BAD_WORD
                         : s->ids[at] == BAD_WORD ? BAD_WORD + 1
                                                  : s->ids[at];
    }
}

static void nets_end(nets *s)
{
    rela_shortlist_free(s->list);
    for (int i = 0; i < 2; i++) {
        rela_packed_weights_deinit(&s->bytes[i]);
        rela_net_deinit(&s->bytes_net[i]);
    }
    probe_end(&s->good);
    probe_end(&s->bad);
    probe_end(&s->other);
}

typedef struct way {
    const char *name;
    int32_t method;
    size_t beam, n_best, top_k;
    double top_p;
    bool prefix, list, attention;
} way;

static const way WAYS[] = {
    { "greedy", RELA_SEARCH_BEAM, 1, 1, 0, 1, false, false, false },
    { "beam", RELA_SEARCH_BEAM, 4, 2, 0, 1, false, false, true },
    { "beam with a shortlist", RELA_SEARCH_BEAM, 3, 1, 0, 1, false, true, false },
    { "beam with a prefix", RELA_SEARCH_BEAM, 3, 1, 0, 1, true, false, false },
    { "sampling", RELA_SEARCH_SAMPLE, 1, 3, 0, 1, false, false, false },
    { "sampling with a shortlist", RELA_SEARCH_SAMPLE, 1, 2, 0, 1, false, true, false },
    { "top 5", RELA_SEARCH_SAMPLE, 1, 2, 5, 1, false, false, false },
    { "nucleus", RELA_SEARCH_SAMPLE, 1, 2, 0, 0.9, false, false, false },
};
enum { N_WAYS = sizeof WAYS / sizeof *WAYS };

static void check_search(nets *s, const way *w, const char *what,
                         const rela_packed_weights *const *good,
                         const rela_packed_weights *const *bad, size_t n_nets)
{
    rela_error err = { RELA_OK, "" };
    rela_engine *a = NULL;
    rela_search_pool *pool = NULL;
    rela_search_results *got = NULL;
    rela_search_result want[SENTENCES];
    rela_search_options o;
    static const int32_t PREFIX[] = { 4, 5 };
    rela_search_options_init(&o);
    o.method = w->method;
    o.beam = w->beam;
    o.n_best = w->n_best;
    o.top_k = w->top_k;
    o.top_p = w->top_p;
    o.max_extra = 6;
    o.shortlist = w->list ? s->list : NULL;
    o.attention =
        w->attention && rela_config_check_shown(&good[0]->net->config, UINT32_MAX, NULL) == RELA_OK;
    for (size_t i = 0; i < SENTENCES; i++) {
        s->sources[i].prefix = w->prefix ? PREFIX : NULL;
        s->sources[i].n_prefix = w->prefix ? 2 : 0;
    }
    CHECK_OK(rela_engine_create(&a, good, n_nets, &err), err);
    CHECK_OK(rela_search_pool_create(&pool, bad, n_nets, 2, &err), err);
    CHECK_OK(rela_search_run(a, want, s->sources, SENTENCES, &o, &err), err);
    CHECK_OK(rela_search_pool_run(&got, pool, s->sources, SENTENCES, &o, &err), err);
    for (size_t i = 0; i < SENTENCES; i++) {
        const rela_search_result r = rela_search_results_at(got, i);
        CHECK(!want[i].not_finite, "%s, %s: sentence %zu of the good net", what, w->name, i);
        CHECK(r.not_finite == s->is_bad[i], "%s, %s: sentence %zu is %sfinite", what, w->name, i,
              r.not_finite ? "not " : "");
        CHECK(!r.not_finite || (r.n == 1 && r.best[0].n == 0), "%s, %s: sentence %zu is not empty",
              what, w->name, i);
        for (size_t k = 0; k < r.n && !r.not_finite; k++)
            CHECK(same_hypothesis(&r.best[k], &want[i].best[k]), "%s, %s: sentence %zu is another",
                  what, w->name, i);
    }
    rela_search_results_free(got);
    rela_search_pool_destroy(pool);
    rela_engine_destroy(a);
}

static void check_nets(const rela_attn_kind *kind, const rela_kern *level, size_t n_ways)
{
    nets s;
    char what[96];
    nets_start(&s, kind, level);
    const rela_packed_weights *const plain[2] = { &s.good.packed, &s.bad.packed };
    const rela_packed_weights *const bytes[2] = { &s.bytes[0], &s.bytes[1] };
    const rela_packed_weights *const first[2][2] = { { &s.good.packed, &s.other.packed },
                                                     { &s.bad.packed, &s.other.packed } };
    const rela_packed_weights *const second[2][2] = { { &s.other.packed, &s.good.packed },
                                                      { &s.other.packed, &s.bad.packed } };
    for (size_t i = 0; i < n_ways; i++) {
        (void)snprintf(what, sizeof what, "%s, %s", level->name, kind->name);
        check_search(&s, &WAYS[i], what, plain, plain + 1, 1);
        (void)snprintf(what, sizeof what, "%s, %s, two nets", level->name, kind->name);
        check_search(&s, &WAYS[i], what, first[0], first[1], 2);
        check_search(&s, &WAYS[i], what, second[0], second[1], 2);
        (void)snprintf(what, sizeof what, "%s, %s, 8 bits", level->name, kind->name);
        if (!WAYS[i].attention)
            check_search(&s, &WAYS[i], what, bytes, bytes + 1, 1);
    }
    nets_end(&s);
}

static void searches_show_it_for_the_sentence_alone(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        check_nets(rela_attn_kind_at(i), rela_kern_get(), 2);
    for (size_t level = 0; rela_kern_at(level); level++)
        check_nets(rela_attn_kind_find("rela-g"), rela_kern_at(level), N_WAYS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_exponentials_show_it),
        cmocka_unit_test(products_show_it),
        cmocka_unit_test(norms_show_it),
        cmocka_unit_test(searches_show_it_for_the_sentence_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
