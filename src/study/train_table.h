/* SPDX-License-Identifier: MIT */
/* src/study/train_table.h - the curve of a training as a table without timings: train.jsonl has
 * figures that differ from run to run. */
#ifndef RELA_STUDY_TRAIN_TABLE_H
#define RELA_STUDY_TRAIN_TABLE_H

#include "base/error.h"

/* from: train.jsonl; to: a TSV with update, epoch, loss, nll, lr, grad_norm and skipped. */
rela_status rela_study_train_table(const char *from, const char *to, rela_error *err);

#endif
