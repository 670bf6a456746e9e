/* SPDX-License-Identifier: MIT */
/* src/dist/machine.h - what this process found on its machine, for 'rela info', and how many
 * processors it may use. */
#ifndef RELA_DIST_MACHINE_H
#define RELA_DIST_MACHINE_H

#include "dist/world.h"

#include <stdbool.h>
#include <stddef.h>

/* The instruction set of the kernels in use: "avx2", "portable" ... */
const char *rela_machine_level(void);

enum { RELA_LIBRARY_VERSION = 48 };

/* Name of library i, and its version; NULL after the last. */
const char *rela_machine_library(char version[RELA_LIBRARY_VERSION], size_t i);

/* Whether the module for MPI can be loaded. */
bool rela_machine_mpi(void);

typedef struct rela_processors {
    long allowed, all; /* to this process; of the host */
} rela_processors;

rela_processors rela_processors_count(void);

/* Threads of this rank: as requested, or for 0 its share of the processors of the host. Stays 0
 * (see rela_par_threads) if the rank is alone or bound to some processors, or OMP_NUM_THREADS is
 * set. */
int rela_world_threads(const rela_world *w, int requested);

#endif
