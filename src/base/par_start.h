/* SPDX-License-Identifier: MIT */
/* src/base/par_start.h - whether OpenMP's threads can be started; for par.c. */
#ifndef RELA_BASE_PAR_START_H
#define RELA_BASE_PAR_START_H

#include "base/error.h"

/* RELA_OK: the calling thread may start a parallel region of n_threads threads. */
rela_status rela_par_ready(int n_threads, rela_error *err);

#endif
