/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_sentences.c - see bench_sentences.h. */
#include "bench/bench_sentences.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_WORD = 4,
    LENGTH_LEAST = 4,
    FREQUENT = 50, /* symbols in all lists */
    LIKELY = 30    /* per source symbol: makes lists as long as those of real text */
};

static int rising(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static int rising_ids(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/* The first symbols are the frequent ones. Those of a source symbol are sampled one each from
 * LIKELY equal parts of the rest. */
rela_status rela_bench_list_make(rela_shortlist **out, const rela_bench_job *j, rela_error *err)
{
    const size_t v = j->config.vocab_src, from = RELA_SHORTLIST_SPECIAL + FREQUENT;
    const size_t part = (v - from) / LIKELY;
    int32_t frequent[FREQUENT];
    int32_t *first = rela_mem_array(v + 1, sizeof *first);
    int32_t *words = rela_mem_array(v * LIKELY, sizeof *words);
    rela_status st = first && words ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a list");
    rela_rng r = rela_rng_start(j->o.seed, 4);
    for (int32_t i = 0; i < FREQUENT; i++)
        frequent[i] = RELA_SHORTLIST_SPECIAL + i;
    for (size_t i = 0; i < v && st == RELA_OK; i++) {
        first[i] = (int32_t)(i * LIKELY);
        for (size_t k = 0; k < LIKELY; k++)
            words[i * LIKELY + k] = (int32_t)(from + k * part + rela_rng_below(&r, part));
        qsort(words + i * LIKELY, LIKELY, sizeof *words, rising_ids);
    }
    if (st == RELA_OK) {
        first[v] = (int32_t)(v * LIKELY);
        const rela_shortlist_parts parts = { .vocab = { .n_src = v, .n_tgt = v },
                                             .frequent = frequent,
                                             .n_frequent = FREQUENT,
                                             .first = first,
                                             .words = words };
        st = rela_shortlist_create(out, &parts, err);
    }
    rela_mem_free(first);
    rela_mem_free(words);
    return st;
}

rela_status rela_bench_sentences_list(rela_bench_sentences *t, const rela_bench_job *j,
                                      const rela_shortlist *list, rela_error *err)
{
    const size_t v = j->config.vocab_tgt;
    uint64_t *marks = rela_mem_zalloc((v + 63) / 64 * sizeof *marks);
    t->words = rela_mem_array(t->n, sizeof *t->words);
    for (size_t i = 0; i < t->n && marks && t->words; i++) {
        const rela_source *x = &t->sources[i];
        const size_t n = rela_shortlist_mark(marks, list, x->text[0].ids, x->text[0].n, NULL, 0);
        rela_shortlist_collect(NULL, marks, v);
        t->words[i] = n > v / 2 ? (double)v : (double)n; /* as decode/allowed_words.c does */
    }
    const bool done = marks && t->words;
    rela_mem_free(marks);
    return done ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a list");
}

void rela_bench_lengths_sample(size_t *lengths, size_t n, double median, double spread, rela_rng *r)
{
    for (size_t i = 0; i < n; i++) {
        const double x = round(median * exp(spread * rela_rng_normal(r)));
        lengths[i] = (size_t)fmin(RELA_BENCH_SENTENCE_MOST, fmax(LENGTH_LEAST, x));
    }
    qsort(lengths, n, sizeof *lengths, rising);
}

rela_status rela_bench_sentences_init(rela_bench_sentences *t, const rela_bench_job *j,
                                      const size_t *lengths, size_t n, size_t batch,
                                      rela_error *err)
{
    rela_rng r = rela_rng_start(j->o.seed, 3 + n);
    t->n = n;
    t->sources = rela_mem_zalloc(n * sizeof *t->sources);
    t->ids = rela_mem_array(n * RELA_BENCH_SENTENCE_MOST, sizeof *t->ids);
    if (!t->sources || !t->ids)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", n);
    for (size_t i = 0; i < n; i++) {
        const size_t first = i / batch * batch, count = n - first < batch ? n - first : batch;
        int32_t *ids = t->ids + i * RELA_BENCH_SENTENCE_MOST;
        t->sources[i] =
            (rela_source){ .text = { { ids, lengths[first + count / 2] } }, .number = i };
        for (size_t k = 0; k < t->sources[i].text[0].n; k++)
            ids[k] = (int32_t)rela_rng_below(&r, j->config.vocab_src - FIRST_WORD) + FIRST_WORD;
        t->tokens += t->sources[i].text[0].n;
    }
    return RELA_OK;
}

void rela_bench_sentences_deinit(rela_bench_sentences *t)
{
    rela_mem_free(t->sources);
    rela_mem_free(t->ids);
    rela_mem_free(t->words);
}
