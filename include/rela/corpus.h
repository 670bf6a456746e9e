/* SPDX-License-Identifier: MIT */
/* include/rela/corpus.h - parallel text: cleaning rules and a corpus check.
 *
 * A corpus is two files with one sentence per line (plain, gzip or zstd, detected by content) or
 * one file with two tab-separated columns. Only LF ends a line; one CR before it and a byte order
 * mark at the start are removed; NUL is data. Call the _init function of an options struct before
 * setting its members. */
#ifndef RELA_CORPUS_H
#define RELA_CORPUS_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Why a pair is dropped, in the order in which the rules are tried; the first that applies counts.
 */
/* clang-format off */
#define RELA_CORPUS_REASON_MAP(X)                                              \
    X(COLUMNS,   "columns",   "not exactly two columns")                       \
    X(TOO_LONG,  "too-long",  "a line over the byte limit")                    \
    X(UTF8,      "utf8",      "invalid UTF-8")                                 \
    X(EMPTY,     "empty",     "an empty side")                                 \
    X(IDENTICAL, "identical", "both sides identical")                          \
    X(TOKENS,    "tokens",    "too many tokens")                               \
    X(RATIO,     "ratio",     "lengths too different")
/* clang-format on */

typedef enum rela_corpus_reason {
#define RELA_X(name, key, text) RELA_CORPUS_##name,
    RELA_CORPUS_REASON_MAP(RELA_X)
#undef RELA_X
        RELA_CORPUS_N_REASONS
} rela_corpus_reason;

enum {
    RELA_CORPUS_REASONS_MAX = 32,   /* room for later reasons; part of the ABI, as is the next */
    RELA_CORPUS_SHOWN = 5,          /* dropped lines reported per reason */
    RELA_CORPUS_TOKENS_MAX = 65535, /* per side, whatever the rules say */
    RELA_CORPUS_LINE_MAX = 64 << 10 /* bytes, the default of max_line */
};

typedef struct rela_corpus_rules {
    size_t struct_size;
    uint64_t max_line;   /* bytes per side; longer lines are never held in memory whole */
    int32_t max_tokens;  /* per side, 1 .. RELA_CORPUS_TOKENS_MAX */
    bool cut;            /* cut a side at max_tokens instead of dropping the pair */
    double max_ratio;    /* of lengths in tokens, longer to shorter; 0: any */
    bool drop_identical; /* drop pairs whose sides are equal */
    bool any_expansion;  /* accept compressed files that expand more than 200 times */
    char reserved[6];    /* leave it 0 */
} rela_corpus_rules;

/* What happened to the pairs of a corpus; kept and all counts of dropped add up to read. A later
 * library may know more reasons than this header; rela_corpus_reason_key returns NULL past the last
 * one. */
typedef struct rela_corpus_report {
    size_t struct_size; /* set by the caller */
    uint64_t read, kept;
    uint64_t marks;   /* byte order marks removed */
    uint64_t returns; /* lines that ended in CR LF */
    uint64_t nuls;    /* kept pairs that hold a NUL byte */
    uint64_t cut;     /* kept pairs that were shortened */
    uint64_t dropped[RELA_CORPUS_REASONS_MAX];
    /* Line numbers, from 0, of the first pairs dropped for each reason, up to RELA_CORPUS_SHOWN. */
    uint64_t first[RELA_CORPUS_REASONS_MAX][RELA_CORPUS_SHOWN];
} rela_corpus_report;

RELA_API void rela_corpus_rules_init(rela_corpus_rules *rules, size_t size);

/* The key ("utf8") and the description of a reason; lent; NULL past the end. */
RELA_API const char *rela_corpus_reason_key(rela_corpus_reason reason);
RELA_API const char *rela_corpus_reason_text(rela_corpus_reason reason);

/* Appends the report as a table for people, or as one JSON object. */
RELA_API rela_status rela_corpus_report_table(rela_buffer *out, const rela_corpus_report *report,
                                              rela_error *err);
RELA_API rela_status rela_corpus_report_json(rela_buffer *out, const rela_corpus_report *report,
                                             rela_error *err);

/* Called on one thread at a time with the amount done and the total (0: unknown), in bytes read or
 * in pairs; a return value other than 0 stops the run with RELA_CANCEL. */
typedef int (*rela_corpus_progress)(void *ctx, uint64_t done, uint64_t total);

typedef struct rela_corpus_check_options {
    size_t struct_size;
    const char *src;                /* file, or "-" */
    const char *tgt;                /* file, or "-"; NULL: src has two columns */
    const rela_corpus_rules *rules; /* NULL: the defaults */
    int32_t n_threads;              /* 0: all */
    int64_t batch_tokens;           /* target tokens per batch, for the padding share */
    uint64_t seed;                  /* of the order of the batches */
    uint64_t memory;                /* bytes kept in memory before a scratch file is used */
    const char *scratch_dir;        /* NULL: TMPDIR or /tmp */
    rela_corpus_progress progress;
    void *progress_ctx;
} rela_corpus_check_options;

/* Lengths of one side of the kept pairs, in tokens. */
typedef struct rela_corpus_lengths {
    uint64_t tokens;
    uint32_t shortest, median, p95, p99, longest;
    double mean;
} rela_corpus_lengths;

typedef struct rela_corpus_stats {
    size_t struct_size;          /* set by the caller */
    rela_corpus_lengths side[2]; /* source, target */
    uint64_t batch_tokens;       /* as in the options */
    uint64_t batches;            /* in one epoch; lengths include an end symbol on each side */
    double padding;              /* share of positions that would be padding in padded batches */
} rela_corpus_stats;

RELA_API void rela_corpus_check_options_init(rela_corpus_check_options *o, size_t size);

/* Reads a corpus once and applies the rules, with blank-separated words as tokens. Files with
 * different numbers of lines are RELA_FORMAT. report and stats may be NULL. */
RELA_API rela_status rela_corpus_check(rela_corpus_report *report, rela_corpus_stats *stats,
                                       const rela_corpus_check_options *o, rela_error *err);

/* Appends both as a table for people, or as one JSON object. */
RELA_API rela_status rela_corpus_stats_table(rela_buffer *out, const rela_corpus_report *report,
                                             const rela_corpus_stats *stats, rela_error *err);
RELA_API rela_status rela_corpus_stats_json(rela_buffer *out, const rela_corpus_report *report,
                                            const rela_corpus_stats *stats, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
