/* SPDX-License-Identifier: MIT */
/* src/decode/engine.h - decodes sentences that come and go, on one thread.
 *
 * A sentence is admitted with options of its own, advances by one symbol in every step, together
 * with all others that live, and is taken when it has ended. New ones join between two steps. Its
 * result depends on nothing but itself: neither on its company nor on when it came. Methods may be
 * mixed: beams of different sizes, samples, shortlists, prefixes; matrix products are over the rows
 * of all of them.
 *
 * Memory grows with what lives and is kept for what comes next: once an engine has seen the most it
 * has to hold at a time, it allocates nothing more. rela_engine_trim gives it back. */
#ifndef RELA_DECODE_ENGINE_H
#define RELA_DECODE_ENGINE_H

#include "base/arena.h"
#include "decode/search.h"

/* The options, and what they refer to, and texts and prefix of the source are lent until the
 * sentence is taken or cancelled. */
typedef struct rela_admission {
    const rela_source *source;
    const rela_search_options *options;
    void *ctx; /* given back with the result */
} rela_admission;

enum { RELA_NO_PLACE = UINT32_MAX };

/* Nets must have the same target vocabulary and the same symbols in their source vocabulary; they
 * are lent and must outlive the engine. */
rela_status rela_engine_create(rela_engine **out, const rela_packed_weights *const *nets,
                               size_t n_nets, rela_error *err);
void rela_engine_destroy(rela_engine *e); /* NULL is fine */

/* Polled between blocks and in every step from now on, lent; NULL: none. */
void rela_engine_callback_set(rela_engine *e, rela_callback *callback);

/* Checks options and, unless it is NULL, a source. RELA_ARG; number: of the sentence, from 0, for
 * the message. */
rela_status rela_engine_check(const rela_engine *e, const rela_source *source, size_t number,
                              const rela_search_options *o, rela_error *err);

/* Admits n sentences that have been checked; their sources are encoded together. places (n)
 * receives the number of each until it is taken or cancelled. All or, after a failure, none. */
rela_status rela_engine_admit(rela_engine *e, uint32_t *places, const rela_admission *a, size_t n,
                              rela_error *err);
/* Every live sentence advances by one symbol. */
rela_status rela_engine_step(rela_engine *e, rela_error *err);

size_t rela_engine_n_live(const rela_engine *e); /* admitted, not yet ended */

/* A sentence that has ended and was not taken, in the order in which they ended. */
uint32_t rela_engine_next_ended(const rela_engine *e); /* RELA_NO_PLACE: none */
/* Places are below _n_places; ctx of one that is free: NULL. */
size_t rela_engine_n_places(const rela_engine *e);
void *rela_engine_ctx(const rela_engine *e, uint32_t place);
/* Gives up its place. The result lies in the arena. */
rela_status rela_engine_take(rela_engine *e, rela_search_result *out, uint32_t place,
                             rela_arena *arena, rela_error *err);
/* Drops a sentence, ended or not. */
void rela_engine_cancel(rela_engine *e, uint32_t place);
void rela_engine_clear(rela_engine *e); /* cancels all */

/* Frees all caches, if nothing lives. */
void rela_engine_trim(rela_engine *e);

#endif
