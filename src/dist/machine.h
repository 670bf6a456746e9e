/* SPDX-License-Identifier: MIT */
/* src/dist/machine.h - what this process found on its machine, for 'rela info'. */
#ifndef RELA_DIST_MACHINE_H
#define RELA_DIST_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/* The instruction set of the kernels in use: "avx2", "portable" ... */
const char *rela_machine_level(void);

enum { RELA_LIBRARY_VERSION = 48 };

/* Name of library i, and its version; NULL after the last. */
const char *rela_machine_library(char version[RELA_LIBRARY_VERSION], size_t i);

/* Whether the module for MPI can be loaded. */
bool rela_machine_mpi(void);

#endif
