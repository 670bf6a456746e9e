/* SPDX-License-Identifier: MIT */
/* src/train/curves.h - curves of a run from its records: loss, BLEU, sparsity. */
#ifndef RELA_TRAIN_CURVES_H
#define RELA_TRAIN_CURVES_H

#include "model/build.h"
#include "train/run_dir.h"

/* Writes DIR/figures/{loss,bleu,sparsity}.{svg,png} from train.jsonl and valid.tsv. list: of the
 * model; names the attention stacks of the last columns of valid.tsv. */
rela_status rela_train_figures(const rela_run *run, const rela_block_list *list, rela_error *err);

#endif
