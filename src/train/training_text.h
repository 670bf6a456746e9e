/* SPDX-License-Identifier: MIT */
/* src/train/training_text.h - from the text files of a training run to a pipeline and encoded
 * pairs. */
#ifndef RELA_TRAIN_TRAINING_TEXT_H
#define RELA_TRAIN_TRAINING_TEXT_H

#include "data/store.h"
#include "rela/train.h"
#include "text/pipeline.h"

/* Learns or loads codes and vocabularies. o is resolved. */
rela_status rela_train_pipeline(rela_pipeline **out, const rela_train_options *o, rela_error *err);

/* RELA_STATE if codes or vocabularies of the options are not those of p. */
rela_status rela_train_pipeline_compare(const rela_pipeline *p, const rela_train_options *o,
                                        rela_error *err);

/* Encoded pairs of the training text by the rules of the options; the report, which counts all
 * pairs, says what was dropped. *held: the lines that are held out; NULL if there are none. */
rela_status rela_train_read(rela_store **out, rela_store **held, rela_corpus_report *report,
                            const rela_train_options *o, const rela_pipeline *p, rela_error *err);
/* The same of the validation text. */
rela_status rela_train_read_valid(rela_store **out, rela_corpus_report *report,
                                  const rela_train_options *o, const rela_pipeline *p,
                                  rela_error *err);

/* The training text without held-out lines once more, segmented with BPE dropout: a pure function
 * of text, options and epoch. */
rela_status rela_train_read_sampled(rela_store **out, const rela_train_options *o,
                                    const rela_pipeline *p, uint64_t epoch, rela_error *err);

#endif
