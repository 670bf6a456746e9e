/* SPDX-License-Identifier: MIT */
/* src/metric/metric_shared.h - what BLEU and chrF share: settings, and the working memory of a
 * thread. */
#ifndef RELA_METRIC_METRIC_SHARED_H
#define RELA_METRIC_METRIC_SHARED_H

#include "base/str.h"
#include "metric/ngram.h"
#include "rela/metric.h"

#include <stdbool.h>

typedef enum rela_metric_kind { RELA_METRIC_BLEU, RELA_METRIC_CHRF } rela_metric_kind;

struct rela_metric {
    rela_metric_kind kind;
    rela_buffer name;
    size_t n_stats;
    rela_bleu_options bleu;
    rela_chrf_options chrf;
};

/* The words or characters of a text, as ids. */
typedef struct rela_symbols {
    uint32_t *items;
    size_t n, cap;
} rela_symbols;

/* Working memory for counting; one per thread. */
typedef struct rela_tally {
    const rela_metric *m;
    rela_ngrams *grams;
    rela_buffer repaired, lowered;
    rela_buffer text;   /* rewritten by a tokeniser */
    uint32_t *codes[2]; /* the same as code points; each step writes to the other */
    size_t cap_codes[2];
    rela_symbols hyp, ref;             /* words; for chrF with punctuation split off */
    rela_symbols hyp_chars, ref_chars; /* chrF only */
} rela_tally;

/* text as valid UTF-8, in lower case if asked for; lent, until the next call or by text itself. */
rela_status rela_tally_text(rela_span *out, rela_tally *t, const char *text, size_t len,
                            bool lowercase, rela_error *err);

rela_status rela_symbols_push(rela_symbols *s, uint32_t symbol, rela_error *err);

/* Replaces out with the tokens of text, split as the settings of the metric say. */
rela_status rela_bleu_split(rela_symbols *out, rela_tally *t, const char *text, size_t len,
                            rela_error *err);

/* One row of statistics. BLEU: hypothesis length, reference length, matches by order, n-grams by
 * order. chrF, for each order of characters, then words: n-grams of the hypothesis, of the
 * reference, matches. */
rela_status rela_bleu_count(uint32_t *stats, rela_tally *t, const rela_segment *s, rela_error *err);
rela_status rela_chrf_count(uint32_t *stats, rela_tally *t, const rela_segment *s, rela_error *err);

void rela_bleu_compute(rela_bleu_figures *out, const rela_bleu_options *o, const uint64_t *sums);
double rela_chrf_compute(const rela_chrf_options *o, const uint64_t *sums);

#endif
