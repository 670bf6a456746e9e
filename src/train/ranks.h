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

/* Joins the ranks that mpirun has started, if o->mpi asks for it; *out is NULL for one process. All
 * must be of the same build, use the same instruction set and have the same settings. Threads that
 * are not given are divided among the ranks of a host. notes: lines with traps of mpirun, on rank
 * 0. */
rela_status rela_ranks_join(rela_world **out, rela_buffer *notes, rela_train_options *o,
                            rela_error *err);

/* The pipeline of rank 0 goes to the others. st: how making it went on this rank. */
rela_status rela_ranks_share_pipeline(rela_pipeline **p, rela_world *w, rela_status st,
                                      rela_error *err);

/* The encoded pairs of rank 0 go to the others, which make stores of theirs: so one rank reads the
 * text. st: how making them went on this rank. */
rela_status rela_ranks_share_store(rela_store **s, rela_world *w, const rela_train_options *o,
                                   rela_status st, rela_error *err);

/* RELA_STATE unless all ranks have read the same text and start from the same weights. */
rela_status rela_ranks_check(rela_world *w, uint64_t data_digest, const rela_net *net,
                             rela_error *err);

#endif
