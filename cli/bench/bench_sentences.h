/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_sentences.h - random sentences to translate, and a random shortlist. */
#ifndef RELA_BENCH_BENCH_SENTENCES_H
#define RELA_BENCH_BENCH_SENTENCES_H

#include "base/rng.h"
#include "bench/bench_job.h"
#include "decode/search.h"

enum { RELA_BENCH_SENTENCE_MOST = 100 /* tokens */ };

typedef struct rela_bench_sentences {
    rela_source *sources;
    int32_t *ids;
    double *words; /* (n) target tokens that the shortlist allows; NULL: no shortlist */
    size_t n, tokens;
} rela_bench_sentences;

/* Log-normal lengths, like those of real text; sorted. */
void rela_bench_lengths_sample(size_t *lengths, size_t n, double median, double spread,
                               rela_rng *r);

/* All sentences of a batch get the same length, so that none finishes early. t must be all zero;
 * call _deinit also after a failure. */
rela_status rela_bench_sentences_init(rela_bench_sentences *t, const rela_bench_job *j,
                                      const size_t *lengths, size_t n, size_t batch,
                                      rela_error *err);
void rela_bench_sentences_deinit(rela_bench_sentences *t);

rela_status rela_bench_list_make(rela_shortlist **out, const rela_bench_job *j, rela_error *err);
/* Sets t->words. */
rela_status rela_bench_sentences_list(rela_bench_sentences *t, const rela_bench_job *j,
                                      const rela_shortlist *list, rela_error *err);

#endif
