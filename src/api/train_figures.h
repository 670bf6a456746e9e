/* SPDX-License-Identifier: MIT */
/* src/api/train_figures.h - curves of a run from its records: loss, BLEU, sparsity. */
#ifndef RELA_API_TRAIN_FIGURES_H
#define RELA_API_TRAIN_FIGURES_H

#include "api/run.h"

/* Writes DIR/figures/{loss,bleu,sparsity}.{svg,png} from train.jsonl and valid.tsv. */
rela_status rela_train_figures(const rela_run *run, rela_error *err);

#endif
