/* SPDX-License-Identifier: MIT */
/* src/base/mem.h - the only caller of malloc.
 *
 * All functions may be called from any thread. Failure is NULL, never an abort. Sizes that come
 * from files go through the checked helpers first. Memory is aligned to 16 bytes; use an arena
 * (arena.h) for arrays that vector code reads. */
#ifndef RELA_BASE_MEM_H
#define RELA_BASE_MEM_H

#include "rela/rela.h"

#include <stdbool.h>
#include <stddef.h>

void *rela_mem_alloc(size_t size);           /* contents undefined; size 0 gives a valid pointer */
void *rela_mem_zalloc(size_t size);          /* zeroed */
void *rela_mem_resize(void *p, size_t size); /* p NULL allocates; on failure p stays valid */
void rela_mem_free(void *p);                 /* NULL is fine */

/* n elements of the given size, overflow checked; NULL when the product does not fit. */
void *rela_mem_array(size_t n, size_t size);

/* Makes room for at least need elements by doubling; returns the new address and updates *cap. On
 * failure NULL, with nothing changed. */
void *rela_mem_grow(void *array, size_t *cap, size_t need, size_t size);

enum { RELA_MEM_RESERVE = 4 << 20 }; /* for what libraries allocate besides matrix products */

/* Reserves address space for libraries that abort when they run out of memory: from now on an
 * allocation of ours fails if it would leave less than the total reserve. Only has an effect if the
 * process has a limit (RLIMIT_AS, RLIMIT_DATA) and no rela_allocator is set. RELA_NOMEM, with
 * nothing reserved, if the limit leaves too little; what names the purpose in the message. */
rela_status rela_mem_reserve(size_t bytes, const char *what, rela_error *err);
void rela_mem_unreserve(size_t bytes); /* gives back what rela_mem_reserve has reserved */

/* Some libraries end the process, by abort or a segmentation fault, when memory runs out. What this
 * thread needs memory for while it calls one of them, like "matrix products"; NULL: over. A program
 * that handles these signals can then say so. Async-signal-safe. */
void rela_mem_purpose_set(const char *what);
const char *rela_mem_purpose(void);

/* out = a * b, out = a + b; false on overflow. */
bool rela_size_mul(size_t *out, size_t a, size_t b);
bool rela_size_add(size_t *out, size_t a, size_t b);

#endif
