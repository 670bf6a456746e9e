/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_sentences.h - random sentences to be translated, and a random shortlist for them.
 */
#ifndef RELA_BENCH_BENCH_SENTENCES_H
#define RELA_BENCH_BENCH_SENTENCES_H

#include "base/rng.h"
#include "bench/bench_job.h"
#include "decode/search.h"

enum { RELA_BENCH_SENTENCE_MOST = 100 /* tokens */ };

typedef struct rela_bench_sentences {
    rela_source *sources;
    int32_t *ids;
    double *words; /* (n) symbols of the shortlist of each; NULL: not counted */
    size_t n, tokens;
} rela_bench_sentences;

/* Lengths like those of text, log-normal around a median, sorted. */
void rela_bench_lengths_sample(size_t *lengths, size_t n, double median, double spread,
                               rela_rng *r);

/* Those of a batch get one length, so that all have work until its end. To be freed with _deinit,
 * on failure too; t was all zero. */
rela_status rela_bench_sentences_init(rela_bench_sentences *t, const rela_bench_job *j,
                                      const size_t *lengths, size_t n, size_t batch,
                                      rela_error *err);
void rela_bench_sentences_deinit(rela_bench_sentences *t);

rela_status rela_bench_list_make(rela_shortlist **out, const rela_bench_job *j, rela_error *err);
/* Counts the symbols of the list for each sentence. */
rela_status rela_bench_sentences_list(rela_bench_sentences *t, const rela_bench_job *j,
                                      const rela_shortlist *list, rela_error *err);

#endif
