/* SPDX-License-Identifier: MIT */
/* src/base/par.h - the two threading patterns of the library, on OpenMP.
 *
 * 1. Rows: split 0 .. n-1 into one contiguous range per thread.
 * 2. Pipe: read, process and write blocks, with reads and writes in order.
 * Neither is ever nested: a call from inside a parallel region runs on the calling thread. */
#ifndef RELA_BASE_PAR_H
#define RELA_BASE_PAR_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { RELA_PAR_MAX = 256 };

/* Threads to use: requested, or for 0 as many as OMP_NUM_THREADS or the available cores allow. */
int rela_par_threads(int requested);

/* Starts the threads that a caller will use. OpenMP ends the process when a thread cannot be
 * started, so call this before there is work to lose. RELA_NOMEM if the limits of the process do
 * not allow that number. */
rela_status rela_par_start(int n_threads, rela_error *err);

/* Ends and joins the threads that are kept for the calling thread; the next call starts new ones.
 * Does nothing inside a parallel region. fork does the same in the thread that calls it, so a child
 * can start threads of its own: those of the parent do not exist there. */
void rela_par_stop(void);

/* Calls f(ctx, begin, end, thread) once per thread with the same split for the same n and
 * n_threads, so results that depend on the split are reproducible. If threads cannot be started,
 * the calling thread does all the work, with the same split. */
void rela_par_rows(size_t n, int n_threads,
                   void (*f)(void *ctx, size_t begin, size_t end, int thread), void *ctx);

/* read fills a block (*more = false: nothing was read, the input has ended), work runs
 * concurrently, write is called in the order of reads. Only one thread at a time uses a block. With
 * as many blocks as threads, a thread that has finished out of order waits; with more blocks it
 * continues. The first failure stops the pipe and is returned; blocks after it are not written. */
typedef struct rela_pipe {
    rela_status (*read)(void *ctx, void *block, bool *more, rela_error *err);
    rela_status (*work)(void *ctx, void *block, int thread, rela_error *err);
    rela_status (*write)(void *ctx, void *block, rela_error *err);
    void *ctx;
    void **blocks; /* (n_blocks), owned by the caller */
    int n_threads;
    int n_blocks; /* at least n_threads; 0: n_threads */
} rela_pipe;

rela_status rela_pipe_run(const rela_pipe *p, rela_error *err);

#endif
