/* SPDX-License-Identifier: MIT */
/* src/dist/processors.h - how many processors of its host a rank may use. */
#ifndef RELA_DIST_PROCESSORS_H
#define RELA_DIST_PROCESSORS_H

#include "dist/world.h"

typedef struct rela_processors {
    long allowed, all; /* to this process; of the host */
} rela_processors;

rela_processors rela_processors_count(void);

/* Threads of this rank: as requested, or for 0 its share of the processors of the host. Stays 0
 * (see rela_par_threads) if the rank is alone or bound to some processors, or OMP_NUM_THREADS is
 * set. */
int rela_world_threads(const rela_world *w, int requested);

#endif
