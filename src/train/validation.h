/* SPDX-License-Identifier: MIT */
/* src/train/validation.h - BLEU of the validation set by real decoding, from raw text to raw text.
 */
#ifndef RELA_TRAIN_VALIDATION_H
#define RELA_TRAIN_VALIDATION_H

#include "data/store.h"
#include "dist/world.h"
#include "model/worker.h"
#include "rela/train.h"
#include "text/pipeline.h"

typedef struct rela_valid rela_valid;

/* Sparsity and null rate, by attention stack. */
typedef struct rela_valid_zeros {
    const rela_block_list *list; /* of the stacks; set by the caller */
    double sparsity[RELA_STACKS_MAX], null[RELA_STACKS_MAX];
} rela_valid_zeros;

/* Encodes the validation text of o, which is resolved; only rank 0 reads the files. net, pipeline
 * and world (NULL: one process) are lent and must outlive it. Collective. */
rela_status rela_valid_create(rela_valid **out, const rela_net *net, const rela_pipeline *p,
                              const rela_train_options *o, rela_world *world, rela_error *err);
void rela_valid_destroy(rela_valid *v); /* NULL is fine */

/* Source, translation and reference of the first sentences, as lines, from the last
 * rela_valid_bleu. Empty on other ranks than 0. Lent. */
rela_span rela_valid_samples(const rela_valid *v);
/* Translates with the current weights of the net. Text that the pipeline tokenises is scored with
 * the 13a tokeniser, text that came tokenised as it is. Collective: each rank translates a part,
 * and all get the score. */
rela_status rela_valid_bleu(double *bleu, rela_valid *v, rela_error *err);

/* Given: pairs at even distances, of about so many target tokens, so that they are as long and as
 * mixed as all of them. NULL: the text has no more than that. It depends on nothing else. */
rela_status rela_valid_sample(rela_store **out, const rela_store *text, uint64_t tokens,
                              rela_error *err);

/* Measured on an encoded validation set, teacher forced, with the current weights: as rela analyse
 * does if the set has at most 4,096 tokens, otherwise on about as many, spread evenly over it. One
 * thread. */
rela_status rela_valid_sparsity(rela_valid_zeros *out, const rela_net *net, const rela_store *valid,
                                rela_error *err);

#endif
