/* SPDX-License-Identifier: MIT */
/* src/dist/launch.h - detects whether mpirun or srun started this process, and loads the MPI
 * module. */
#ifndef RELA_DIST_LAUNCH_H
#define RELA_DIST_LAUNCH_H

#include "base/error.h"
#include "dist/transport.h"

/* Number of processes that mpirun or srun has started together, from the environment; 0: this one
 * was started by neither. */
size_t rela_launch_size(void);

/* Loads the MPI module: RELA_MPI_MODULE, or librela_mpi.so beside the program or the library, or
 * where it is installed. It stays loaded. */
rela_status rela_launch_module(const rela_transport **out, rela_error *err);

#endif
