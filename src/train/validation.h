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

/* Sparsity and null rate of attention, by its place. */
typedef struct rela_valid_zeros {
    const rela_block_list *list; /* of the places; set by the caller */
    double sparsity[RELA_STACKS_MAX], null[RELA_STACKS_MAX];
} rela_valid_zeros;

/* Encodes the validation text of o, which is resolved and which rank 0 reads; net, pipeline and
 * world (NULL: one process) are lent and must outlive it. */
rela_status rela_valid_create(rela_valid **out, const rela_net *net, const rela_pipeline *p,
                              const rela_train_options *o, rela_world *world, rela_error *err);
void rela_valid_destroy(rela_valid *v); /* NULL is fine */

/* Lines that show the first sentences: source, translation, reference; of the last rela_valid_bleu.
 * Lent. */
rela_span rela_valid_samples(const rela_valid *v);
/* Translates with the present weights of the net. Text that the pipeline tokenises is scored with
 * the 13a tokeniser, text that came tokenised as it is. Ranks translate a part each. */
rela_status rela_valid_bleu(double *bleu, rela_valid *v, rela_error *err);

/* Measured on an encoded validation set, teacher forced, with present weights: as rela analyse does
 * if the set has at most 4,096 tokens, on so many spread evenly over it if it is larger. One
 * thread. */
rela_status rela_valid_sparsity(rela_valid_zeros *out, const rela_net *net, const rela_store *valid,
                                rela_error *err);

#endif
