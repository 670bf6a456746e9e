/* SPDX-License-Identifier: MIT */
/* src/train/training_log.h - figures of training as lines: for train.jsonl, valid.tsv and the log.
 */
#ifndef RELA_TRAIN_TRAINING_LOG_H
#define RELA_TRAIN_TRAINING_LOG_H

#include "train/loop.h"
#include "train/validation.h"

enum { RELA_REPORT_MAX = 256 };

/* A line of train.jsonl; figures that are not finite are null. */
rela_status rela_report_record(rela_buffer *out, const rela_loop_report *r, rela_error *err);
/* Header and row of valid.tsv. The last columns are the share of zeros of each attention stack,
 * then the null rate of each cross-attention. */
rela_status rela_report_head(rela_buffer *out, const rela_block_list *list, rela_error *err);
rela_status rela_report_row(rela_buffer *out, uint64_t update, const rela_loop_score *score,
                            const rela_valid_zeros *z, bool is_best, rela_error *err);

/* The same for the log, without a line end. */
void rela_report_text(char out[RELA_REPORT_MAX], const rela_loop_report *r);
void rela_report_valid_text(char out[RELA_REPORT_MAX], uint64_t update,
                            const rela_loop_score *score, const rela_valid_zeros *z, bool is_best);
/* "perplexity 7.123, BLEU 30.12" */
void rela_report_score_text(char out[RELA_REPORT_MAX], const rela_loop_score *score);

#endif
