/* SPDX-License-Identifier: MIT */
/* src/dist/launch.h - was this process started as one of several, and where is the module for MPI?
 */
#ifndef RELA_DIST_LAUNCH_H
#define RELA_DIST_LAUNCH_H

#include "base/error.h"
#include "dist/transport.h"

/* Processes that mpirun or srun has started together, by what they leave in the environment; 0:
 * neither has. */
size_t rela_launch_size(void);

/* Loads the module for MPI: RELA_MPI_MODULE, or librela_mpi.so beside the program or the library,
 * or where it is installed. It stays loaded. */
rela_status rela_launch_module(const rela_transport **out, rela_error *err);

#endif
