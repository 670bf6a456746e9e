/* SPDX-License-Identifier: MIT */
/* bench/bench_decode.c - speed of decoding with random weights and fixed work: target tokens per
 * second, and GFLOP/s as a share of one big product in the same run. One thread is measured in
 * processor time, which a busy machine disturbs less; several by the clock.
 *   bench_decode [preset] [kind] [batch] [beam] [threads] [sentences] [repeats] [int8] [shortlist]
 * Without batch: batches of 1 and 32, beams of 1 and 4, one and two threads. Every sentence is
 * forced to the length of its source; lengths are like those of short captions, mean about 14, and
 * the sentences of a batch have one length. int8: matrices in 8 bits. shortlist: every round is run
 * with all symbols and with a shortlist of 50 frequent symbols and 50 random ones for each source
 * symbol (lists of text are shorter: they have more in common), and the ratio of both is told. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "decode/search.h"
#include "kern/gemm.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BIG = 1024, LEN_MIN = 6, LEN_MAX = 34, REPEATS_MAX = 64, FREQUENT = 50, BEST = 50 };

typedef struct bench {
    rela_net net;
    rela_frozen frozen;
    rela_source *sources;
    int32_t *ids;
    size_t n, tokens;
    rela_shortlist *list; /* NULL: not measured */
} bench;

typedef struct load {
    size_t batch, beam, sentences;
    int threads, repeats;
} load;

static double now(int threads)
{
    struct timespec t;
    if (threads > 1)
        return rela_clock_seconds();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Largest resident size so far, in MB; getrusage would count that of the parent, too. */
static long peak_mb(void)
{
    char line[128];
    long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = atol(line + 6);
    if (f)
        (void)fclose(f);
    return kb / 1024;
}

static double product_rate(int threads)
{
    real *a = rela_mem_zalloc((size_t)BIG * BIG * 3 * (size_t)threads * sizeof *a);
    double best = 0;
    for (int r = 0; r < 5; r++) {
        const double start = now(threads);
#pragma omp parallel num_threads(threads)
        {
            real *x = a + (size_t)omp_get_thread_num() * BIG * BIG * 3;
            rela_gemm_nn(x, BIG, x + BIG * BIG, BIG, x + 2 * BIG * BIG, BIG, BIG, BIG, BIG, false);
        }
        const double rate = 2.0 * BIG * BIG * BIG * threads / (now(threads) - start) * 1e-9;
        best = rate > best ? rate : best;
    }
    rela_mem_free(a);
    return best;
}

static int rising(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Lengths are log-normal, sorted, and made equal within each batch. */
static void make_sources(bench *b, const load *l)
{
    rela_rng r = rela_rng_start(1, 1);
    const size_t vocabulary = b->net.config.vocab_src;
    size_t *lengths = rela_mem_array(l->sentences, sizeof *lengths);
    b->n = l->sentences;
    b->sources = rela_mem_array(b->n, sizeof *b->sources);
    b->ids = rela_mem_array(b->n * LEN_MAX, sizeof *b->ids);
    for (size_t i = 0; i < b->n; i++) {
        const double x = round(exp(2.58 + 0.33 * rela_rng_normal(&r)));
        lengths[i] = x < LEN_MIN ? LEN_MIN : x > LEN_MAX ? LEN_MAX : (size_t)x;
    }
    qsort(lengths, b->n, sizeof *lengths, rising);
    b->tokens = 0;
    for (size_t i = 0; i < b->n; i++) {
        const size_t first = i / l->batch * l->batch;
        const size_t count = b->n - first < l->batch ? b->n - first : l->batch;
        int32_t *ids = b->ids + i * LEN_MAX;
        b->sources[i] = (rela_source){ .ids = ids, .n = lengths[first + count / 2], .number = i };
        for (size_t j = 0; j < b->sources[i].n; j++)
            ids[j] = (int32_t)(4 + rela_rng_below(&r, vocabulary - 4));
        b->tokens += b->sources[i].n;
    }
    rela_mem_free(lengths);
}

static int by_id(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* Symbols 3, 4 ... are frequent; those of a source symbol are drawn from equal parts of the rest.
 */
static rela_status make_list(bench *b, rela_error *err)
{
    rela_rng r = rela_rng_start(2, 1);
    const size_t v = b->net.config.vocab_src, rest = (v - 3 - FREQUENT) / BEST;
    rela_shortlist_parts p = { .vocab = { .n_src = v, .n_tgt = v }, .n_frequent = FREQUENT };
    int32_t frequent[FREQUENT], *first = rela_mem_array(v + 1, sizeof *first);
    int32_t *words = rela_mem_array(v * BEST, sizeof *words);
    rela_status st = first && words ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory");
    for (int32_t i = 0; i < FREQUENT; i++)
        frequent[i] = 3 + i;
    for (size_t i = 0; st == RELA_OK && i <= v; i++) {
        first[i] = (int32_t)(i * BEST);
        for (size_t j = 0; i < v && j < BEST; j++)
            words[i * BEST + j] = (int32_t)(3 + FREQUENT + j * rest + rela_rng_below(&r, rest));
        qsort(words + (i < v ? i : 0) * BEST, BEST, sizeof *words, by_id);
    }
    p.frequent = frequent;
    p.first = first;
    p.words = words;
    st = st ? st : rela_shortlist_create(&b->list, &p, err);
    rela_mem_free(first);
    rela_mem_free(words);
    return st;
}

/* FLOPs of the products of all sentences. */
static double flops(const bench *b, const load *l)
{
    const rela_config *c = &b->net.config;
    const double d = (double)c->d, f = (double)c->ffn, beam = (double)l->beam;
    const double enc = (double)c->enc_layers * (4 * d * d + 2 * d * f);
    const double cross = (double)c->dec_layers * 2 * d * d;
    const double dec = (double)c->dec_layers * (6 * d * d + 2 * d * f) + d * (double)c->vocab_tgt;
    double sum = 0;
    for (size_t i = 0; i < b->n; i++) {
        const double n = (double)b->sources[i].n;
        sum += (n + 1) * (enc + cross) + (1 + (n - 1) * beam) * dec;
    }
    return 2 * sum;
}

static double run_once(const bench *b, const load *l, rela_searcher *searcher,
                       const rela_shortlist *list)
{
    rela_error err;
    rela_search_options o;
    rela_search_options_init(&o);
    o.beam = l->beam;
    o.max_factor = o.min_factor = 1;
    o.max_extra = o.min_extra = 0;
    o.batch_sentences = l->batch;
    o.batch_tokens = l->batch * (LEN_MAX + 1);
    o.shortlist = list;
    const rela_frozen *nets[] = { &b->frozen };
    const double start = now(l->threads);
    rela_status st = RELA_OK;
    if (l->threads > 1) {
        rela_search_pool *pool = NULL;
        rela_search_results *all = NULL;
        st = rela_search_pool_create(&pool, nets, 1, l->threads, &err);
        if (st == RELA_OK)
            st = rela_search_pool_run(&all, pool, b->sources, b->n, &o, &err);
        rela_search_results_free(all);
        rela_search_pool_destroy(pool);
    } else {
        rela_search_result *results = rela_mem_array(l->batch, sizeof *results);
        for (size_t i = 0; i < b->n && st == RELA_OK; i += l->batch)
            st = rela_search_run(searcher, results, b->sources + i,
                                 b->n - i < l->batch ? b->n - i : l->batch, &o, &err);
        rela_mem_free(results);
    }
    if (st != RELA_OK)
        (void)fprintf(stderr, "%s\n", err.message);
    return now(l->threads) - start;
}

/* Few numbers: in place. */
static void sort(double *x, int n)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j + 1 < n; j++)
            if (x[j] > x[j + 1]) {
                const double t = x[j];
                x[j] = x[j + 1];
                x[j + 1] = t;
            }
}

static void measure(bench *b, const char *preset, const load *l)
{
    rela_error err;
    double took[REPEATS_MAX], gain[REPEATS_MAX];
    rela_searcher *searcher = NULL;
    const rela_frozen *nets[] = { &b->frozen };
    const int n = l->repeats;
    make_sources(b, l);
    if (rela_searcher_create(&searcher, nets, 1, &err) != RELA_OK)
        return;
    const double peak = product_rate(l->threads);
    for (int i = b->list ? -1 : 0; i < n; i++) { /* the round before the first warms up */
        const double full = run_once(b, l, searcher, NULL);
        const double with = b->list ? run_once(b, l, searcher, b->list) : full;
        took[i < 0 ? 0 : i] = full;
        gain[i < 0 ? 0 : i] = full / with;
    }
    sort(took, n);
    sort(gain, n);
    const double median = took[n / 2], rate = flops(b, l) / median * 1e-9;
    printf("{\"bench\": \"decode\", \"size\": \"%s\", \"kind\": \"%s\", \"level\": \"%s\", "
           "\"type\": \"%s\", \"batch\": %zu, \"beam\": %zu, \"threads\": %d, "
           "\"tokens_per_s\": %.1f, \"low\": %.1f, \"high\": %.1f, \"gflops\": %.1f, "
           "\"product\": %.1f, \"share\": %.3f, \"rss_mb\": %ld",
           preset, b->net.config.kind[0]->name, b->net.k->name,
           b->frozen.output.reals ? "float32" : "int8", l->batch, l->beam, l->threads,
           (double)b->tokens / median, (double)b->tokens / took[n - 1], (double)b->tokens / took[0],
           rate, peak, rate / peak, peak_mb());
    if (b->list)
        printf(", \"shortlist_over_full\": %.3f, \"least\": %.3f, \"most\": %.3f", gain[n / 2],
               gain[0], gain[n - 1]);
    printf("}\n");
    (void)fflush(stdout);
    rela_searcher_destroy(searcher);
    rela_mem_free(b->sources);
    rela_mem_free(b->ids);
}

/* Takes a word off the end of the arguments. */
static bool take(int *argc, char **argv, const char *word)
{
    const bool there = *argc > 1 && strcmp(argv[*argc - 1], word) == 0;
    *argc -= there;
    return there;
}

int main(int argc, char **argv)
{
    const bool shortlist = take(&argc, argv, "shortlist"), int8 = take(&argc, argv, "int8");
    const char *preset = argc > 1 ? argv[1] : "tiny", *kind = argc > 2 ? argv[2] : "rela-g";
    const bool tiny = strcmp(preset, "tiny") == 0;
    load l = { .sentences = tiny ? 512 : 128, .repeats = 3 };
    rela_error err = { RELA_OK, "" };
    bench b = { .list = NULL };
    rela_config c;
    if (rela_config_preset(&c, preset, &err) != RELA_OK)
        goto out;
    c.vocab_src = c.vocab_tgt = tiny ? 10000 : 32000;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        c.kind[i] = rela_attn_kind_find(kind);
    if (rela_config_check(&c, &err) != RELA_OK || rela_net_init(&b.net, &c, &err) != RELA_OK)
        goto out;
    rela_params_init(b.net.weights, &b.net.layout.params, 1);
    if ((int8 ? rela_frozen_init_bytes(&b.frozen, &b.net, 1, &err)
              : rela_frozen_init(&b.frozen, &b.net, &err)) != RELA_OK)
        goto out;
    if (shortlist && make_list(&b, &err) != RELA_OK)
        goto out;
    l.sentences = argc > 6 ? (size_t)atol(argv[6]) : l.sentences;
    l.repeats = argc > 7 && atoi(argv[7]) < REPEATS_MAX ? atoi(argv[7]) : l.repeats;
    const size_t batch = argc > 3 ? (size_t)atol(argv[3]) : 0;
    const size_t beam = argc > 4 ? (size_t)atol(argv[4]) : 0;
    const int threads = argc > 5 ? atoi(argv[5]) : 0;
    for (l.batch = 1; l.batch <= 32; l.batch += 31)
        for (l.beam = 1; l.beam <= 4; l.beam += 3)
            for (l.threads = 1; l.threads <= 2; l.threads++)
                if ((!batch || batch == l.batch) && (!beam || beam == l.beam) &&
                    (!threads || threads == l.threads))
                    measure(&b, preset, &l);
out:
    rela_shortlist_free(b.list);
    rela_frozen_deinit(&b.frozen);
    rela_net_deinit(&b.net);
    if (err.message[0])
        (void)fprintf(stderr, "bench_decode: %s\n", err.message);
    return err.message[0] != 0;
}
