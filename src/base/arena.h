/* SPDX-License-Identifier: MIT */
/* src/base/arena.h - 64-byte aligned bump allocator with marks.
 *
 * Blocks are chained and kept on reset, so a warmed-up arena never calls the heap again. One
 * thread at a time. Under AddressSanitizer released memory is poisoned. */
#ifndef RELA_BASE_ARENA_H
#define RELA_BASE_ARENA_H

#include <stddef.h>

typedef struct rela_arena rela_arena;

typedef struct rela_arena_mark {
    size_t block;
    size_t used;
} rela_arena_mark;

/* NULL when out of memory. block_size 0: a default of 1 MiB; larger requests get their own. */
rela_arena *rela_arena_create(size_t block_size);
void rela_arena_destroy(rela_arena *a); /* NULL is fine */

/* NULL when out of memory. Contents undefined. */
void *rela_arena_alloc(rela_arena *a, size_t size);

rela_arena_mark rela_arena_save(const rela_arena *a);
void rela_arena_restore(rela_arena *a, rela_arena_mark m); /* frees what came after m */
void rela_arena_reset(rela_arena *a);                      /* frees all, keeps the blocks */

size_t rela_arena_capacity(const rela_arena *a); /* bytes held, used or not */

#endif
