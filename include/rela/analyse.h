/* SPDX-License-Identifier: MIT */
/* include/rela/analyse.h - what the attention of a model shows: word alignment, attention measures,
 * corpus filtering.
 *
 * All functions read parallel text from files line by line, work on the threads of the model's
 * runtime, and report results in line order, on one thread at a time. Pairs are run through the
 * model with teacher forcing. A pair with an empty side, or longer than the model allows (or than
 * 1024 tokens), is skipped; skipped pairs are counted, and long ones logged with their line
 * numbers. With several sources, one that is not empty is enough. Lines, layers, heads and sources
 * count from 0 here; messages, tables for people and reports count them from 1. */
#ifndef RELA_ANALYSE_H
#define RELA_ANALYSE_H

#include "rela/job.h"
#include "rela/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- word links ---- */

/* A further way to symmetrise, by weight: links whose mean weight over both directions is at least
 * the threshold (0: 0.4). Rows of weights that sum to more than 1 are first divided by their sum.
 */
enum { RELA_ALIGN_MEAN = 5 };

typedef struct rela_align_options {
    size_t struct_size;        /* set by _init; lets the struct grow at its end */
    const char *src, *tgt;     /* files; "-" is standard input, once */
    int32_t layer, head;       /* of the cross attention; -1: mean of all */
    bool shift;                /* use the query whose input is the target word, not the one that
                                * predicts it */
    double threshold;          /* 0: link the source word with the largest weight; else all words
                                * with at least this share of the row, 0..1 */
    bool soft;                 /* write all links with weight (that reach threshold, if one is
                                * given) as i-j:weight */
    const rela_model *reverse; /* a model of the other direction; NULL: none */
    int32_t reverse_layer, reverse_head;
    bool reverse_shift;
    int32_t symmetrise;  /* with reverse: rela_symmetrise of metric.h (default RELA_INTERSECT), or
                          * RELA_ALIGN_MEAN */
    const char *best_on; /* file of gold links for the first lines: use the layer, head and shift
                          * with the lowest alignment error on them; NULL: as given above */
    int32_t gold_base;   /* number of the first word in best_on: 0 or 1 */
    bool gold_reverse;   /* best_on has the target word first */
    int64_t only; /* only this line, from 0, with its words and weights; -1: all, just links */
    const char *src_2, *src_3, *src_4; /* text of further sources, if the model has them */
    int32_t source; /* the source that is linked, and that a reverse model translates to */
    rela_job *job;  /* shares the work among ranks, makes it resumable; NULL: no. Not with only */
} rela_align_options;

/* One pair. Everything is lent during the call. */
typedef struct rela_aligned {
    uint64_t line;     /* from 0 */
    const char *links; /* "0-0 1-2", NUL-terminated; empty for a skipped pair */
    size_t links_len;
    /* Set only with options.only; otherwise 0 and NULL. */
    size_t n_src, n_tgt;          /* words */
    const char *const *src_words; /* NUL-terminated */
    const char *const *tgt_words;
    const float *weights; /* (n_tgt, n_src + 1); the last column is the source's end symbol */
} rela_aligned;

/* The heads that were used, and how many lines were aligned or skipped. */
typedef struct rela_align_report {
    size_t struct_size; /* set by the caller */
    int32_t layer, head;
    bool shift;
    int32_t reverse_layer, reverse_head;
    bool reverse_shift;
    double aer, reverse_aer; /* 0..1, on the lines of best_on; 0 without it */
    uint64_t dev_pairs;      /* lines of best_on */
    uint64_t lines, empty, too_long;
} rela_align_report;

RELA_API void rela_align_options_init(rela_align_options *o, size_t size);

/* Calls on_line for every line, in order; a return value other than 0 stops with RELA_CANCEL.
 * report may be NULL. */
RELA_API rela_status rela_align(rela_align_report *report, const rela_model *m,
                                const rela_align_options *o,
                                int (*on_line)(void *ctx, const rela_aligned *line), void *ctx,
                                rela_error *err);

/* ---- shortlists: the target words allowed for a source sentence ---- */

typedef struct rela_shortlist_options {
    size_t struct_size;
    const char *src, *tgt; /* files of parallel text; "-" is standard input, once */
    const char *links;     /* file of word links ("0-0 1-2"), line by line; NULL: computed as by
                            * rela_align, with the next four options */
    int32_t layer, head;   /* from 0; -1: mean of all */
    bool shift;
    double threshold;
    int64_t frequent; /* number of most frequent target symbols, allowed in every sentence */
    int64_t best;     /* number of target symbols per source symbol, most often linked first */
    const char *out;  /* file to write the shortlist to */
    /* A return value other than 0 stops with RELA_CANCEL. May be NULL. */
    int (*progress)(void *ctx, uint64_t lines);
    void *progress_ctx;
} rela_shortlist_options;

typedef struct rela_shortlist_report {
    size_t struct_size;              /* set by the caller */
    uint64_t lines, empty, too_long; /* read; skipped: an empty side, too long */
    uint64_t links;
    uint64_t frequent, words; /* entries of the shortlist: frequent, of all source symbols */
} rela_shortlist_report;

RELA_API void rela_shortlist_options_init(rela_shortlist_options *o, size_t size);

/* Learns which target symbols (subwords) translate each symbol of the source vocabulary of m: those
 * of linked words. m must have one source. report may be NULL. The same text gives the same file.
 */
RELA_API rela_status rela_shortlist_learn(rela_shortlist_report *report, const rela_model *m,
                                          const rela_shortlist_options *o, rela_error *err);

/* ---- measures of attention ---- */

typedef struct rela_analyse_options {
    size_t struct_size;
    const char *src, *tgt; /* files; read whole, as targets are permuted */
    const char *gold;      /* file of gold links for the first lines; NULL: no AER */
    int32_t gold_base;     /* as in rela_align_options */
    bool gold_reverse;
    const char *tags; /* file of tags of the target words, line by line, or NULL */
    const char *out;  /* directory for all output; created if missing */
    const char *dump; /* .npz file for all attention weights of the first model, or NULL */
    uint64_t seed;    /* of the permutation of the targets */
    uint64_t limit;   /* pairs to read; 0: all */
    int64_t example;  /* line whose attention is shown, from 0; -1: the first of medium length */
    int32_t layer;    /* decoder layer that is shown; -1: with the most null rows of any model */
    bool skip_end;    /* leave the query that predicts the end symbol out of null rates */
    const char *const *names; /* of the models, in tables and figures; NULL: model 1, 2, ... */
    /* Called on one thread at a time; a return value other than 0 stops with RELA_CANCEL. May be
     * NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    const char *src_2, *src_3, *src_4; /* text of further sources, if the models have them */
    int32_t source; /* the source that gold links, tags and attention maps refer to */
    bool pieces;    /* attention maps show subwords; false: words */
    rela_job *job;  /* as in rela_align_options */
} rela_analyse_options;

RELA_API void rela_analyse_options_init(rela_analyse_options *o, size_t size);

/* Measures n models, which must have the same number of sources, on the same text and writes
 * analysis.json, tables, figures and report.html to options.out. Appends a table of the main
 * results to table and the JSON to json; either may be NULL. The same text, models and seed give
 * the same files. */
RELA_API rela_status rela_analyse(rela_buffer *table, rela_buffer *json,
                                  const rela_model *const *models, size_t n,
                                  const rela_analyse_options *o, rela_error *err);

/* ---- filtering parallel text ---- */

/* Why a pair is kept or dropped. The first reason that applies counts, in this order, but TOKENS
 * before DUPLICATE. */
/* clang-format off */
#define RELA_FILTER_REASON_MAP(X)                                                \
    X(KEPT,      "kept",      "kept")                                            \
    X(LONG,      "long",      "more words or bytes than allowed")                \
    X(ENCODING,  "encoding",  "not UTF-8")                                       \
    X(EMPTY,     "empty",     "an empty side")                                   \
    X(SHORT,     "short",     "fewer words than asked for")                      \
    X(RATIO,     "ratio",     "lengths too different")                           \
    X(COPY,      "copy",      "the target is (mostly) the source")               \
    X(SCRIPT,    "script",    "letters of another script")                       \
    X(DUPLICATE, "duplicate", "seen before")                                     \
    X(TOKENS,    "tokens",    "too long for the model")                          \
    X(SCORE,     "score",     "the model thinks it is not a translation")
/* clang-format on */

typedef enum rela_filter_reason {
#define RELA_X(name, key, text) RELA_FILTER_##name,
    RELA_FILTER_REASON_MAP(RELA_X)
#undef RELA_X
        RELA_FILTER_N_REASONS
} rela_filter_reason;

enum { RELA_FILTER_REASONS_MAX = 32 }; /* room for later reasons; part of the ABI */

/* How a pair is scored; all scores are 0..1, higher is better. */
enum {
    RELA_FILTER_COMBINED = 0,  /* probability of being a translation, calibrated on the text */
    RELA_FILTER_NULL = 1,      /* 1 - mean null rate of the chosen cross-attention heads */
    RELA_FILTER_UNCOVERED = 2, /* 1 - share of source words that get little attention */
    RELA_FILTER_LOGPROB = 3    /* geometric mean of the probabilities of the target tokens */
};

enum {
    RELA_REPEATS_KEEP = 0,
    RELA_REPEATS_PAIR = 1,   /* drop pairs that occurred before */
    RELA_REPEATS_SOURCE = 2, /* drop pairs whose source occurred before */
    RELA_REPEATS_TARGET = 3  /* drop pairs whose target occurred before */
};

/* A head of the cross attention; both count from 0. */
typedef struct rela_head {
    int32_t layer, head;
} rela_head;

typedef struct rela_filter_options {
    size_t struct_size;
    const char *src, *tgt;         /* files; "-" is standard input, once */
    const char *out_src, *out_tgt; /* files for the kept pairs; NULL: none. All files must differ */
    const char *scores;            /* file for a table with a row per pair, or NULL */
    int32_t n_threads;             /* used without a model; 0: all */
    /* rules */
    int64_t min_words, max_words, max_bytes; /* 1, 200, 64 KiB */
    double max_ratio;                        /* of word counts; 0: any; default 3 */
    bool keep_copies;
    double max_overlap; /* share of target words found in the source; 1: any; default 0.8 */
    const char *src_script, *tgt_script; /* "latin", "han,kana", "any"; NULL: those of the model's
                                          * vocabulary, or any without a model */
    double script_share;                 /* minimum share of letters in these scripts; 0.5 */
    int32_t duplicates;                  /* RELA_REPEATS_...; default RELA_REPEATS_PAIR */
    /* model */
    int32_t by;       /* RELA_FILTER_COMBINED ... */
    double min_score; /* below it a pair is dropped; negative: chosen for combined, else 0 */
    double keep;      /* instead, keep this best share of the pairs that pass the rules; 0: off */
    const rela_head *heads; /* heads used for null rates; NULL: all */
    size_t n_heads;
    int64_t calibrate; /* pairs to calibrate the combined score on; default 2000 */
    const char *trusted_src,
        *trusted_tgt; /* clean text to take them from; NULL: the text being filtered */
    uint64_t seed;    /* of the bad pairs made for calibration */
    int (*progress)(void *ctx, uint64_t lines);
    void *progress_ctx;
    rela_job *job; /* as in rela_align_options */
} rela_filter_options;

/* A later library may know more reasons than this header; rela_filter_reason_key returns NULL past
 * the last one. */
typedef struct rela_filter_report {
    size_t struct_size;  /* set by the caller */
    uint64_t read;       /* pairs */
    double cut;          /* lowest score that is kept */
    uint64_t calibrated; /* pairs the combined score was calibrated on */
    double auc;          /* of good against bad calibration pairs, on the fifth that was held out */
    double mean_score;   /* of all scored pairs */
    uint64_t count[RELA_FILTER_REASONS_MAX]; /* by reason; they add up to read */
} rela_filter_report;

RELA_API void rela_filter_options_init(rela_filter_options *o, size_t size);
RELA_API const char *rela_filter_reason_key(rela_filter_reason reason);  /* NULL past the end */
RELA_API const char *rela_filter_reason_text(rela_filter_reason reason); /* NULL past the end */

/* Reads a corpus and writes the pairs that are kept, in order. m must have one source; NULL: rules
 * only. report may be NULL. */
RELA_API rela_status rela_filter(rela_filter_report *report, const rela_model *m,
                                 const rela_filter_options *o, rela_error *err);
RELA_API rela_status rela_filter_report_table(rela_buffer *out, const rela_filter_report *report,
                                              rela_error *err);
RELA_API rela_status rela_filter_report_json(rela_buffer *out, const rela_filter_report *report,
                                             rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
