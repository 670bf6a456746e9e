/* SPDX-License-Identifier: MIT */
/* src/train/curves.h - curves of a run from its records: loss, BLEU, sparsity. */
#ifndef RELA_TRAIN_CURVES_H
#define RELA_TRAIN_CURVES_H

#include "train/run_dir.h"

/* Writes DIR/figures/{loss,bleu,sparsity}.{svg,png} from train.jsonl and valid.tsv. */
rela_status rela_train_figures(const rela_run *run, rela_error *err);

#endif
