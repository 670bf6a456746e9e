/* SPDX-License-Identifier: MIT */
/* cli/scores.h - shared by the commands that compute metrics. */
#ifndef RELA_CLI_SCORES_H
#define RELA_CLI_SCORES_H

#include "cli.h"

#include "rela/metric.h"

enum { RELA_CLI_FILES_MAX = 64, RELA_CLI_METRICS_MAX = 2 };

/* One system under one metric. */
typedef struct rela_cli_counts {
    uint64_t sums[RELA_STATS_MAX];
    uint32_t *stats; /* (n_lines, k) */
    size_t cap;
} rela_cli_counts;

/* What to count, and the result. */
typedef struct rela_cli_scoring {
    const rela_metric *metrics[RELA_CLI_METRICS_MAX];
    size_t n_metrics;
    rela_list refs, systems; /* files */
    rela_cli_counts *counts; /* (n_systems, n_metrics) */
    uint64_t n_lines;
    uint64_t n_repaired;  /* lines that are not UTF-8 in some file */
    uint64_t n_tokenised; /* lines of systems that end in " ." */
} rela_cli_scoring;

/* Reads the files and fills in counts and n_... Free s in any case. If the translation comes from
 * standard input without being asked for, and does not come, says what to do. */
rela_status rela_cli_count(rela_cli *cli, rela_cli_scoring *s, rela_error *err);
void rela_cli_scoring_free(rela_cli_scoring *s);

/* Statistics of one system and metric for resampling; lent by s. */
rela_scored rela_cli_scored(const rela_cli_scoring *s, size_t system, size_t metric);

/* Warns about suspicious input: bytes that are not UTF-8 and, if `tokenised`, tokenised text. */
void rela_cli_warn(rela_cli *cli, const rela_cli_scoring *s, bool tokenised);

/* Options that bleu and chrf share. */
typedef struct rela_cli_score_options {
    const char *input;
    int64_t width;
    bool score_only, sentence, confidence;
    int64_t samples;
} rela_cli_score_options;

/* Append the numbers a score is made of, like n-gram precisions. May be NULL in rela_cli_report. */
typedef struct rela_cli_details {
    rela_status (*text)(rela_buffer *out, const rela_metric *m, const uint64_t *sums,
                        rela_error *err);
    rela_status (*json)(rela_buffer *out, const rela_metric *m, const uint64_t *sums,
                        rela_error *err);
} rela_cli_details;

/* Prints the score of the only system or, with --sentence, one score per line by metric `lines`. */
rela_status rela_cli_report(rela_cli *cli, const rela_cli_scoring *s, const rela_metric *lines,
                            const rela_cli_score_options *o, const rela_cli_details *details,
                            rela_error *err);

/* Appends a JSON string; bytes that are not UTF-8 become U+FFFD. */
rela_status rela_cli_json_text(rela_buffer *out, const char *text, rela_error *err);

/* Appends , "name": {"mean": ..., "low": ..., "high": ...}. */
rela_status rela_cli_json_interval(rela_buffer *out, const char *name, const rela_interval *i,
                                   rela_error *err);

#endif
