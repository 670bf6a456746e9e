/* SPDX-License-Identifier: MIT */
/* src/dist/world.h - the processes (ranks) of a run that mpirun has started, and their collective
 * operations.
 *
 * A NULL world is a single process, rank 0 of 1: all calls but begin, wait and advance accept it
 * and do nothing. All calls but the getters, advance and those about stopping are collective: every
 * rank makes them in the same order, from one thread. A rank that fails reports it in the next
 * rela_world_agree, and all ranks fail; one that closes its world with a failure not reported that
 * way ends all ranks. */
#ifndef RELA_DIST_WORLD_H
#define RELA_DIST_WORLD_H

#include "base/stop.h"
#include "base/str.h"
#include "dist/transport.h"

#include <stdint.h>

enum { RELA_HOST_MAX = 64 };

typedef struct rela_world rela_world;

/* Joins the ranks of mpirun or srun through the MPI module; *out is NULL if they did not start this
 * process, or started it alone. */
rela_status rela_world_open(rela_world **out, rela_error *err);
/* The same with a transport of the caller. */
rela_status rela_world_open_with(rela_world **out, const rela_transport *t, rela_error *err);
/* st and why: status and message of the work. A failure that the ranks have not agreed on ends all
 * ranks, unless it is RELA_CANCEL. NULL is fine. */
void rela_world_close(rela_world *w, rela_status st, const rela_error *why);

size_t rela_world_rank(const rela_world *w);
size_t rela_world_size(const rela_world *w);
const char *rela_world_host(const rela_world *w, size_t rank); /* lent */
/* Number of ranks on this host, and index of this one among them. */
size_t rela_world_local_size(const rela_world *w);
size_t rela_world_local_rank(const rela_world *w);

/* RELA_OK if st is RELA_OK on all ranks; otherwise status and message of the first rank that
 * failed, prefixed with its number and host. After such a failure it returns st at once. */
rela_status rela_world_agree(rela_world *w, rela_status st, rela_error *err);
/* Checks that a text of lines "name: value" is the same on all ranks: otherwise RELA_STATE, with
 * both values of the first line that differs. */
rela_status rela_world_same(rela_world *w, const char *text, rela_error *err);

int64_t rela_world_max(rela_world *w, int64_t value);
int64_t rela_world_min(rela_world *w, int64_t value);

/* From rank 0. */
void rela_world_broadcast(rela_world *w, void *bytes, size_t len);
rela_status rela_world_broadcast_text(rela_world *w, rela_buffer *text, rela_error *err);

/* All-gather in place: rank r contributes the elements [first[r], first[r + 1]) of an array.
 * element: bytes of each. */
void rela_world_share(rela_world *w, void *array, size_t element, const size_t *first);
/* The same with one element per rank. */
void rela_world_share_equal(rela_world *w, void *array, size_t element);

/* Point-to-point messages, see transport.h; w must not be NULL. Between begin and wait they may be
 * called by any thread, one at a time. */
void rela_world_begin(rela_world *w, const rela_message *out, size_t n_out, const rela_message *in,
                      size_t n_in);
void rela_world_wait(rela_world *w);
void rela_world_advance(rela_world *w);

/* own: what asks this rank to stop, lent until the world is closed or another one is set. All ranks
 * learn of it within a second, whatever they are doing. */
void rela_world_set_stop(rela_world *w, const rela_stop *own);
/* Whether a rank was asked to stop. Any thread may call it; not collective: until the ranks have
 * agreed on it, they may have different answers. */
bool rela_world_stopping(const rela_world *w);

#endif
