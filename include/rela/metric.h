/* SPDX-License-Identifier: MIT */
/* include/rela/metric.h - scores of translations (BLEU, chrF) and of word alignments (AER), with
 * confidence intervals and significance tests.
 *
 * A score is computed in two steps. Counting turns every segment into a row of integers, its
 * sufficient statistics; a score is a function of the sum of rows. So rows can be counted on any
 * number of threads, added up in any order, and resampled cheaply, always with the same result.
 * Scores equal those of sacrebleu 2.6.0, see docs/metrics.md. */
#ifndef RELA_METRIC_H
#define RELA_METRIC_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- Translations: BLEU and chrF --------------------------------------------------------- */

/* How BLEU splits text into words. */
typedef enum rela_bleu_tokens {
    RELA_BLEU_13A = 0,   /* mteval-v13a, the usual choice */
    RELA_BLEU_INTL = 1,  /* mteval-v14 international: Unicode punctuation and symbols */
    RELA_BLEU_CHAR = 2,  /* every character that is not whitespace */
    RELA_BLEU_NONE = 3,  /* split at Unicode whitespace */
    RELA_BLEU_BLANKS = 4 /* split at ASCII whitespace, lower-case ASCII, as multi-bleu does */
} rela_bleu_tokens;

/* How an n-gram precision of zero is smoothed. */
typedef enum rela_bleu_smoothing {
    RELA_SMOOTH_EXP = 0,   /* the k-th zero counts as 1 / 2^k matches */
    RELA_SMOOTH_FLOOR = 1, /* a zero counts as smooth_value matches */
    RELA_SMOOTH_ADD_K = 2, /* smooth_value is added to all counts above order 1 */
    RELA_SMOOTH_NONE = 3
} rela_bleu_smoothing;

enum {
    RELA_BLEU_ORDER_MAX = 16,
    RELA_CHRF_ORDER_MAX = 16,
    RELA_STATS_MAX = 6 * RELA_CHRF_ORDER_MAX
};

/* In the comments on options, the last value is the default. */
typedef struct rela_bleu_options {
    size_t struct_size;   /* set by _init; lets the struct grow at its end */
    int32_t tokens;       /* rela_bleu_tokens; 13a */
    int32_t smoothing;    /* rela_bleu_smoothing; exp */
    double smooth_value;  /* negative: 0.1 for floor, 1 for add-k */
    int32_t max_order;    /* 1..RELA_BLEU_ORDER_MAX; 4 */
    bool lowercase;       /* false */
    bool effective_order; /* ignore orders without n-grams, for single sentences; false */
    char reserved[2];     /* leave it 0 */
} rela_bleu_options;

typedef struct rela_chrf_options {
    size_t struct_size;
    int32_t char_order; /* 1..RELA_CHRF_ORDER_MAX; 6 */
    int32_t word_order; /* 0..RELA_CHRF_ORDER_MAX, 2 is chrF++; 0 */
    double beta;        /* weight of recall, 0..100; 2 */
    bool lowercase;     /* false */
    bool whitespace;    /* count whitespace as characters; false */
    bool eps_smoothing; /* average over all orders, as chrF++.py does, not just those with n-grams;
                         * false */
    char reserved[5];   /* leave it 0 */
} rela_chrf_options;

/* A metric with its settings: immutable, any number of threads may use it. */
typedef struct rela_metric rela_metric;

/* One segment: a hypothesis and its references. refs[i] NULL: there is no reference i (unlike an
 * empty one); at least one must exist. Bytes that are not UTF-8 count as U+FFFD. */
typedef struct rela_segment {
    const char *hyp;
    size_t hyp_len;
    const char *const *refs;
    const size_t *ref_lens;
    size_t n_refs;
} rela_segment;

/* The components of a BLEU score. Precisions are in percent; counts include smoothing. */
typedef struct rela_bleu_figures {
    size_t struct_size; /* set by the caller */
    double score;       /* 0..100 */
    double brevity;
    double ratio; /* hyp_len / ref_len; 0 if there is no reference */
    uint64_t hyp_len, ref_len;
    int32_t max_order;
    double precision[RELA_BLEU_ORDER_MAX];
    double correct[RELA_BLEU_ORDER_MAX];
    double total[RELA_BLEU_ORDER_MAX];
} rela_bleu_figures;

/* What a signature includes besides the settings of the metric. */
typedef struct rela_signature {
    size_t struct_size; /* set by _init */
    size_t n_refs;      /* 0: it varies */
    int64_t bootstrap;  /* samples of a bootstrap; 0: none */
    int64_t randomise;  /* trials of a randomisation; 0: none */
    uint64_t seed;      /* included if one of the two is given */
} rela_signature;

RELA_API void rela_bleu_options_init(rela_bleu_options *o, size_t size);
RELA_API void rela_chrf_options_init(rela_chrf_options *o, size_t size);

/* o NULL: defaults. On success *out is given to the caller; on failure it is NULL. */
RELA_API rela_status rela_metric_create_bleu(rela_metric **out, const rela_bleu_options *o,
                                             rela_error *err);
RELA_API rela_status rela_metric_create_chrf(rela_metric **out, const rela_chrf_options *o,
                                             rela_error *err);
RELA_API void rela_metric_destroy(rela_metric *m); /* NULL is fine */

/* Statistics per segment, at most RELA_STATS_MAX. */
RELA_API size_t rela_metric_n_stats(const rela_metric *m);
RELA_API const char *rela_metric_name(const rela_metric *m); /* "BLEU", "chrF2++"; lent */

/* stats (n, n_stats) = statistics of n segments, on n_threads threads (0: all). */
RELA_API rela_status rela_metric_count(uint32_t *stats, const rela_metric *m,
                                       const rela_segment *segments, size_t n, int32_t n_threads,
                                       rela_error *err);

/* Length of a text without trailing Unicode whitespace. BLEU ignores it anyway; chrF with
 * options.whitespace counts it unless the caller removes it. */
RELA_API size_t rela_segment_end(const char *text, size_t len);

/* sums (k) += the rows of stats (n, k). */
RELA_API void rela_stats_add(uint64_t *sums, const uint32_t *stats, size_t n, size_t k);

/* The score for summed statistics, 0..100. */
RELA_API double rela_metric_score(const rela_metric *m, const uint64_t *sums);

/* For a metric made with rela_metric_create_bleu; RELA_ARG for another. */
RELA_API rela_status rela_bleu_figures_get(rela_bleu_figures *out, const rela_metric *m,
                                           const uint64_t *sums, rela_error *err);

RELA_API void rela_signature_init(rela_signature *s, size_t size);

/* Appends "nrefs:1|case:mixed|...|version:rela-0.2.0": everything that a score depends on. */
RELA_API rela_status rela_metric_signature(rela_buffer *out, const rela_metric *m,
                                           const rela_signature *s, rela_error *err);

/* --- Confidence and significance ---------------------------------------------------------- */

/* Statistics of a whole test set and the function that makes a score of their sum. */
typedef struct rela_scored {
    const uint32_t *stats; /* (n, k) */
    size_t n, k;
    double (*score)(const void *ctx, const uint64_t *sums); /* called from several threads */
    const void *ctx;
} rela_scored;

typedef struct rela_resampling {
    size_t struct_size; /* set by _init */
    int64_t samples;    /* at least 1; 1000 */
    uint64_t seed;      /* 1 */
    int32_t n_threads;  /* 0: all; the result does not depend on it */
    char reserved[4];   /* leave it 0 */
} rela_resampling;

/* Mean of the samples and their 95 % interval; half is (high - low) / 2. */
typedef struct rela_interval {
    double mean, low, high, half;
} rela_interval;

RELA_API void rela_resampling_init(rela_resampling *r, size_t size);

/* The score function for a rela_scored of a metric; its ctx is the rela_metric. */
RELA_API double rela_metric_score_fn(const void *ctx, const uint64_t *sums);

/* Bootstrap: test sets sampled from the segments with replacement. */
RELA_API rela_status rela_bootstrap(rela_interval *out, const rela_scored *s,
                                    const rela_resampling *r, rela_error *err);

/* Paired bootstrap (Koehn 2004): is the difference between two systems on the same segments
 * significant? p is the share of samples whose centred difference is at least the observed one.
 * out, the interval of the system, may be NULL. */
RELA_API rela_status rela_bootstrap_paired(double *p, rela_interval *out,
                                           const rela_scored *baseline, const rela_scored *system,
                                           const rela_resampling *r, rela_error *err);

/* Paired approximate randomisation (Riezler and Maxwell 2005): outputs of the two systems are
 * swapped at random; p is the share of trials with a difference at least as large as the observed
 * one. */
RELA_API rela_status rela_randomise_paired(double *p, const rela_scored *baseline,
                                           const rela_scored *system, const rela_resampling *r,
                                           rela_error *err);

/* --- Word alignments ---------------------------------------------------------------------- */

/* A link between source word src and target word tgt, both from 0. */
typedef struct rela_link {
    uint32_t src, tgt;
    bool possible; /* a possible link of a gold alignment; false: sure */
} rela_link;

/* Links of one sentence pair, sorted by source then target, without duplicates. Zero-initialise;
 * free with rela_links_free. */
typedef struct rela_links {
    rela_link *items;
    size_t n, cap;
} rela_links;

enum { RELA_LINK_MAX = (1 << 24) - 1 }; /* largest position */

/* How links are written. Default, after _init or for NULL: Pharaoh's format, from 0, source first,
 * any length. */
typedef struct rela_link_format {
    size_t struct_size;
    int32_t base; /* 0 or 1: number of the first word */
    bool reverse; /* target first */
    bool check;   /* positions must be below n_src and n_tgt */
    size_t n_src, n_tgt;
} rela_link_format;

/* How links of two directions are combined (Koehn et al. 2003, 2005). */
typedef enum rela_symmetrise {
    RELA_INTERSECT = 0,
    RELA_UNION = 1,
    RELA_GROW_DIAG = 2,
    RELA_GROW_DIAG_FINAL = 3,
    RELA_GROW_DIAG_FINAL_AND = 4
} rela_symmetrise;

/* Statistics per sentence pair, with the links found A, the sure gold links S and all gold links
 * P: |A|, |S|, |A and S|, |A and P|, |P|. */
enum { RELA_AER_STATS = 5 };

typedef struct rela_aer_figures {
    size_t struct_size;                /* set by the caller */
    double aer, precision, recall, f1; /* 0..1; 0 where the divisor is 0 */
    uint64_t n_links, n_sure, n_gold;  /* n_gold: sure and possible */
} rela_aer_figures;

RELA_API void rela_link_format_init(rela_link_format *form, size_t size);
RELA_API void rela_links_free(rela_links *l); /* the items; NULL is fine */

/* Replaces the contents of out with the links of a line like "0-0 1-2 2?3 2p4": i-j is sure, i?j
 * and ipj are possible. A link given twice counts once, and as sure if either is. Error messages
 * name the link. */
RELA_API rela_status rela_links_parse(rela_links *out, const char *line, size_t len,
                                      const rela_link_format *form, rela_error *err);

/* Appends links in the given format, separated by spaces, without a line end. */
RELA_API rela_status rela_links_format(rela_buffer *out, const rela_links *l,
                                       const rela_link_format *form, rela_error *err);

/* Replaces the contents of out, which must be neither of the inputs. */
RELA_API rela_status rela_links_symmetrise(rela_links *out, const rela_links *forward,
                                           const rela_links *backward, rela_symmetrise method,
                                           rela_error *err);

/* stats (RELA_AER_STATS): those of one sentence pair. In found, possible links count like sure
 * ones. */
RELA_API void rela_aer_count(uint32_t *stats, const rela_links *gold, const rela_links *found);

RELA_API rela_status rela_aer_figures_get(rela_aer_figures *out, const uint64_t *sums,
                                          rela_error *err);

/* The score function for a rela_scored of alignments: AER in percent; ctx is not used. */
RELA_API double rela_aer_score_fn(const void *ctx, const uint64_t *sums);

#ifdef __cplusplus
}
#endif
#endif
