/* SPDX-License-Identifier: MIT */
/* src/dist/processors.h - what a rank has of the processors of its host. */
#ifndef RELA_DIST_PROCESSORS_H
#define RELA_DIST_PROCESSORS_H

#include "dist/world.h"

typedef struct rela_processors {
    long allowed, all; /* to this process; of the host */
} rela_processors;

rela_processors rela_processors_count(void);

/* Threads of this rank: as requested, or for 0 its part of the processors where all ranks of the
 * host may use all of them. */
int rela_world_threads(const rela_world *w, int requested);

#endif
