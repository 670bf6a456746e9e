/* SPDX-License-Identifier: MIT */
/* include/rela/analyse.h - what the attention of a model shows: word links, measures, filtering.
 *
 * All of it reads parallel text from files, in step, on the threads of the model's runtime, and
 * reports results in the order of the lines, on one thread at a time. Texts are run through the
 * model teacher forced: as if it had produced the given target. A pair with an empty side, or one
 * that is longer than the model allows (or than 1024 tokens), is not run; each is counted, and
 * long ones are logged with their line numbers. Of several sources one that is not empty is
 * enough. Lines, layers, heads and sources count from 0 here; messages, tables for people and
 * reports count them from 1. */
#ifndef RELA_ANALYSE_H
#define RELA_ANALYSE_H

#include "rela/job.h"
#include "rela/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- word links ---- */

/* A further way to symmetrise, which needs weights: links whose weight, the mean of both
 * directions, reaches the threshold (0: 0.4). Rows with more weight than 1 are brought to it. */
enum { RELA_ALIGN_MEAN = 5 };

typedef struct rela_align_options {
    size_t struct_size;        /* set by _init; lets the struct grow at its end */
    const char *src, *tgt;     /* files; "-" is standard input, once */
    int32_t layer, head;       /* of the cross attention; -1: mean of all */
    bool shift;                /* the row in which a word is the input */
    double threshold;          /* 0: the heaviest word; else all with this share of the row */
    bool soft;                 /* links are written i-j:weight, all that have weight */
    const rela_model *reverse; /* a model of the other direction; NULL: none */
    int32_t reverse_layer, reverse_head;
    bool reverse_shift;
    int32_t symmetrise;  /* with reverse: rela_symmetrise of metric.h, or RELA_ALIGN_MEAN */
    const char *best_on; /* gold links of the first lines: layer, head and shift of the lowest
                          * alignment error on them are used; NULL: as given above */
    int32_t gold_base;   /* number of the first word in best_on: 0 or 1 */
    bool gold_reverse;   /* best_on has the target word first */
    int64_t only; /* this line alone, from 0, with its words and weights; -1: all, links alone */
    const char *src_2, *src_3, *src_4; /* text of further sources, if the model has them */
    int32_t source; /* the one that links are about, and that a reverse model translates to */
    rela_job *job;  /* ranks that share the work, and a record of it; NULL: none. Not with only */
} rela_align_options;

/* One pair. Everything is lent during the call. */
typedef struct rela_aligned {
    uint64_t line;     /* from 0 */
    const char *links; /* "0-0 1-2", NUL-terminated; empty for a pair that was not run */
    size_t links_len;
    /* The rest only with options.only; else 0 and NULL. */
    size_t n_src, n_tgt;          /* words */
    const char *const *src_words; /* NUL-terminated */
    const char *const *tgt_words;
    const float *weights; /* (n_tgt, n_src + 1); the last column is the end of the source */
} rela_aligned;

/* What was used, and what became of the lines. */
typedef struct rela_align_report {
    size_t struct_size; /* set by the caller */
    int32_t layer, head;
    bool shift;
    int32_t reverse_layer, reverse_head;
    bool reverse_shift;
    double aer, reverse_aer; /* 0..1, on the lines of best_on; 0 without */
    uint64_t dev_pairs;      /* lines of best_on */
    uint64_t lines, empty, too_long;
} rela_align_report;

RELA_API void rela_align_options_init(rela_align_options *o, size_t size);

/* Calls on_line with every line, in order; a return value other than 0 stops it with RELA_CANCEL.
 * report may be NULL. */
RELA_API rela_status rela_align(rela_align_report *report, const rela_model *m,
                                const rela_align_options *o,
                                int (*on_line)(void *ctx, const rela_aligned *line), void *ctx,
                                rela_error *err);

/* ---- which words a sentence may be translated with ---- */

typedef struct rela_shortlist_options {
    size_t struct_size;
    const char *src, *tgt; /* files of parallel text; "-" is standard input, once */
    const char *links;     /* word links of its lines ("0-0 1-2"); NULL: by attention, as
                            * rela_align does with the next four */
    int32_t layer, head;   /* from 0; -1: mean of all */
    bool shift;
    double threshold;
    int64_t frequent; /* most frequent target symbols, in the list of every sentence */
    int64_t best;     /* for each source symbol, those it is linked to most often */
    const char *out;  /* where the shortlist goes */
    int (*progress)(void *ctx, uint64_t lines); /* not 0 stops with RELA_CANCEL; or NULL */
    void *progress_ctx;
} rela_shortlist_options;

typedef struct rela_shortlist_report {
    size_t struct_size;              /* set by the caller */
    uint64_t lines, empty, too_long; /* pairs that were not used: an empty side, too long */
    uint64_t links;
    uint64_t frequent, words; /* in the shortlist: frequent ones, those of all source symbols */
} rela_shortlist_report;

RELA_API void rela_shortlist_options_init(rela_shortlist_options *o, size_t size);

/* Learns for every symbol (subword) of the source vocabulary of m, which has one source, which
 * target symbols translate it: those of linked words. report may be NULL. The same text gives the
 * same file. */
RELA_API rela_status rela_shortlist_learn(rela_shortlist_report *report, const rela_model *m,
                                          const rela_shortlist_options *o, rela_error *err);

/* ---- measures of attention ---- */

typedef struct rela_analyse_options {
    size_t struct_size;
    const char *src, *tgt; /* files; read whole, as targets are permuted */
    const char *gold;      /* gold links of the first lines, or NULL: no alignment errors */
    int32_t gold_base;     /* as in rela_align_options */
    bool gold_reverse;
    const char *tags; /* tags of the target words, line by line, or NULL */
    const char *out;  /* directory for everything that is written; made if need be */
    const char *dump; /* .npz file for all attention of the first model, or NULL */
    uint64_t seed;    /* of the permutation of the targets */
    uint64_t limit;   /* pairs to read; 0: all */
    int64_t example;  /* line whose attention is shown, from 0; -1: the first of medium length */
    int32_t layer;    /* decoder layer that is shown; -1: the one with most null rows */
    bool skip_end;    /* null rates without the query that predicts the end */
    const char *const *names; /* of the models, in tables and figures; NULL: model 1, 2, ... */
    /* Called on one thread at a time; not 0 stops with RELA_CANCEL. May be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
    const char *src_2, *src_3, *src_4; /* text of further sources, if the models have them */
    int32_t source; /* the one that gold links, tags and attention maps are about */
    bool pieces;    /* maps show subword pieces; 0: words */
    rela_job *job;  /* as in rela_align_options */
} rela_analyse_options;

RELA_API void rela_analyse_options_init(rela_analyse_options *o, size_t size);

/* Measures n models with the same number of sources on the same text and writes analysis.json,
 * tables, figures and report.html to options.out. Appends to the two buffers, either of which may
 * be NULL, a table of the main figures and the JSON. The same text, models and seed give the same
 * files. */
RELA_API rela_status rela_analyse(rela_buffer *table, rela_buffer *json,
                                  const rela_model *const *models, size_t n,
                                  const rela_analyse_options *o, rela_error *err);

/* ---- filtering parallel text ---- */

/* What becomes of a pair, in the order in which it is found out. */
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
    X(DUPLICATE, "duplicate", "was there before")                                \
    X(TOKENS,    "tokens",    "too long for the model")                          \
    X(SCORE,     "score",     "the model thinks it is no translation")
/* clang-format on */

typedef enum rela_filter_reason {
#define RELA_X(name, key, text) RELA_FILTER_##name,
    RELA_FILTER_REASON_MAP(RELA_X)
#undef RELA_X
        RELA_FILTER_N_REASONS
} rela_filter_reason;

enum { RELA_FILTER_REASONS_MAX = 32 }; /* room for later reasons; part of the ABI */

/* What the score of a pair is; all are 0..1, the higher the better. */
enum {
    RELA_FILTER_COMBINED = 0,  /* probability of being a translation, calibrated on the text */
    RELA_FILTER_NULL = 1,      /* 1 - mean null rate of the chosen cross-attention heads */
    RELA_FILTER_UNCOVERED = 2, /* 1 - share of source words that get hardly any attention */
    RELA_FILTER_LOGPROB = 3    /* geometric mean of the probabilities of the target tokens */
};

enum {
    RELA_REPEATS_KEEP = 0,
    RELA_REPEATS_PAIR = 1,   /* drop pairs that were there before */
    RELA_REPEATS_SOURCE = 2, /* ... whose source was */
    RELA_REPEATS_TARGET = 3
};

/* A head of the cross attention, both from 0. */
typedef struct rela_head {
    int32_t layer, head;
} rela_head;

typedef struct rela_filter_options {
    size_t struct_size;
    const char *src, *tgt;         /* files; "-" is standard input, once */
    const char *out_src, *out_tgt; /* what is kept; NULL: nothing is written; no two files alike */
    const char *scores;            /* a table with a row per pair, or NULL */
    int32_t n_threads;             /* without a model; 0: all */
    /* rules */
    int64_t min_words, max_words, max_bytes; /* 1, 200, 64 KiB */
    double max_ratio;                        /* of words; 0: any; 3 */
    bool keep_copies;
    double max_overlap; /* share of target words that the source has; 1: any; 0.8 */
    const char *src_script, *tgt_script; /* "latin", "han,kana", "any"; NULL: those of the
                                          * vocabulary of the model, any without one */
    double script_share;                 /* least share of the letters */
    int32_t duplicates;                  /* RELA_REPEATS_PAIR */
    /* model */
    int32_t by;       /* RELA_FILTER_COMBINED ... */
    double min_score; /* below it a pair is dropped; negative: 0.5 for combined, else 0 */
    double keep;      /* instead: the best share of the pairs that pass the rules; 0: as above */
    const rela_head *heads; /* those of null rates; NULL: all */
    size_t n_heads;
    int64_t calibrate; /* pairs that the combined score is made from */
    const char *trusted_src,
        *trusted_tgt; /* text to take them from; NULL: that which is filtered */
    uint64_t seed;    /* of the bad pairs made for that */
    int (*progress)(void *ctx, uint64_t lines);
    void *progress_ctx;
    rela_job *job; /* as in rela_align_options */
} rela_filter_options;

/* The library may know more reasons than the header of the program: rela_filter_reason_key gives
 * NULL past the last. */
typedef struct rela_filter_report {
    size_t struct_size;  /* set by the caller */
    uint64_t read;       /* pairs */
    double cut;          /* least score that was kept */
    uint64_t calibrated; /* pairs the combined score was made from */
    double auc; /* of telling them from the bad pairs made of them, on every fifth, left out */
    double mean_score;                       /* of all pairs that were scored */
    uint64_t count[RELA_FILTER_REASONS_MAX]; /* by reason; they add up to read */
} rela_filter_report;

RELA_API void rela_filter_options_init(rela_filter_options *o, size_t size);
RELA_API const char *rela_filter_reason_key(rela_filter_reason reason);  /* NULL past the end */
RELA_API const char *rela_filter_reason_text(rela_filter_reason reason); /* NULL past the end */

/* Reads a corpus and writes the pairs that are kept, in order. m has one source; NULL: rules alone.
 * report may be NULL. */
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
