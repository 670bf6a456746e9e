/* SPDX-License-Identifier: MIT */
/* src/train/ranks.h - a training run on several ranks: how they join, and what they must have in
 * common. */
#ifndef RELA_TRAIN_RANKS_H
#define RELA_TRAIN_RANKS_H

#include "data/store.h"
#include "dist/world.h"
#include "model/net.h"
#include "rela/train.h"
#include "text/pipeline.h"

/* Joins the ranks that mpirun has started, if o->mpi asks for it; *out is NULL for a single
 * process. All ranks must have the same build, instruction set and settings. If o->threads is 0,
 * the processors of a host are divided among its ranks. notes: on rank 0, a warning if the way
 * mpirun was called makes ranks slow. On failure *out may be set, for rank 0 to report and the
 * caller to close. */
rela_status rela_ranks_join(rela_world **out, rela_buffer *notes, rela_train_options *o,
                            rela_error *err);

/* Broadcasts the pipeline of rank 0. st: status of making it on this rank. Collective. */
rela_status rela_ranks_share_pipeline(rela_pipeline **p, rela_world *w, rela_status st,
                                      rela_error *err);

/* Broadcasts the encoded pairs of rank 0, so that only one rank reads the text; the others make
 * their own stores. st: status of reading on this rank. Collective. */
rela_status rela_ranks_share_store(rela_store **s, rela_world *w, const rela_train_options *o,
                                   rela_status st, rela_error *err);

/* RELA_STATE unless all ranks have read the same text and start from the same weights. */
rela_status rela_ranks_check(rela_world *w, uint64_t data_digest, const rela_net *net,
                             rela_error *err);

#endif
