/* SPDX-License-Identifier: MIT */
/* src/base/mem.c - see mem.h. A 16-byte header in front of each block holds its size, so that
 * the allocator hook always gets the exact old size. */
#include "base/mem.h"

#include "base/error.h"
#include "base/fault.h"
#include "base/file.h"
#include "base/sized.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = 16, GROW_MIN = 16, HUGE_PAGE = 2 << 20, CHECK_EVERY = 1 << 20 };

static rela_allocator hook; /* written only while no allocation has been made */
static _Atomic uint64_t n_calls, n_live, n_peak;
static _Atomic uint64_t n_reserved;
static _Atomic uint64_t n_checked = UINT64_MAX; /* no new check until n_live exceeds this */

static _Thread_local const char *volatile purpose; /* rela_mem_purpose */

static bool leaves_reserve(size_t more);
static void *raw_resize(void *old, size_t old_size, size_t new_size);
static void *started(char *block, size_t old_total, size_t total);
static void advise(char *block, size_t size);
static void count(size_t old_total, size_t total);

rela_status rela_allocator_set(const rela_allocator *allocator, rela_error *err)
{
    if (!allocator || !allocator->resize)
        return rela_fail(err, RELA_ARG, "the allocator has no resize function");
    if (atomic_load(&n_calls) != 0)
        return rela_fail(err, RELA_STATE, "the allocator can only be set before first use");
    hook = *allocator;
    return RELA_OK;
}

rela_status rela_memory_stats_get(rela_memory_stats *out, rela_error *err)
{
    const rela_memory_stats now = { .calls = atomic_load(&n_calls),
                                    .live = atomic_load(&n_live),
                                    .peak = atomic_load(&n_peak) };
    const rela_status st = rela_sized_check(out, sizeof now, "rela_memory_stats", err);
    if (st == RELA_OK)
        rela_sized_give(out, &now, sizeof now);
    return st;
}

void *rela_mem_alloc(size_t size)
{
    return rela_mem_resize(NULL, size);
}

void *rela_mem_zalloc(size_t size)
{
    size_t total = 0;
    if (hook.resize) {
        void *p = rela_mem_alloc(size);
        return p ? memset(p, 0, size) : NULL;
    }
    if (!rela_size_add(&total, size, HEADER) || rela_fault_hit(RELA_FAULT_MEM) ||
        !leaves_reserve(total))
        return NULL;
    return started(calloc(1, total), 0, total); /* calloc need not clear fresh pages */
}

void *rela_mem_resize(void *p, size_t size)
{
    size_t total = 0;
    if (!rela_size_add(&total, size, HEADER) || rela_fault_hit(RELA_FAULT_MEM))
        return NULL;
    char *old = p ? (char *)p - HEADER : NULL;
    size_t old_total = 0;
    if (old)
        memcpy(&old_total, old, sizeof old_total);
    if (total > old_total && !leaves_reserve(total - old_total))
        return NULL;
    return started(raw_resize(old, old_total, total), old_total, total);
}

void rela_mem_free(void *p)
{
    if (!p)
        return;
    char *block = (char *)p - HEADER;
    size_t total = 0;
    memcpy(&total, block, sizeof total);
    atomic_fetch_sub_explicit(&n_live, total - HEADER, memory_order_relaxed);
    (void)raw_resize(block, total, 0);
}

void *rela_mem_array(size_t n, size_t size)
{
    size_t bytes = 0;
    return rela_size_mul(&bytes, n, size) ? rela_mem_alloc(bytes) : NULL;
}

void *rela_mem_grow(void *array, size_t *cap, size_t need, size_t size)
{
    if (array && need <= *cap)
        return array;
    size_t next = *cap < GROW_MIN ? GROW_MIN : *cap;
    while (next < need)
        if (!rela_size_mul(&next, next, 2))
            return NULL;
    size_t bytes = 0;
    if (!rela_size_mul(&bytes, next, size))
        return NULL;
    void *p = rela_mem_resize(array, bytes);
    if (p)
        *cap = next;
    return p;
}

rela_status rela_mem_reserve(size_t bytes, const char *what, rela_error *err)
{
    const uint64_t all = atomic_fetch_add(&n_reserved, bytes) + bytes;
    const uint64_t room = rela_address_available();
    atomic_store(&n_checked, room == UINT64_MAX ? UINT64_MAX : 0);
    if (room >= all && !rela_fault_hit(RELA_FAULT_MEM))
        return RELA_OK;
    rela_mem_unreserve(bytes);
    return rela_fail(err, RELA_NOMEM, "no memory for %s", what);
}

void rela_mem_unreserve(size_t bytes)
{
    atomic_fetch_sub(&n_reserved, bytes);
}

void rela_mem_purpose_set(const char *what)
{
    purpose = what;
}

const char *rela_mem_purpose(void)
{
    return purpose;
}

bool rela_size_mul(size_t *out, size_t a, size_t b)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool rela_size_add(size_t *out, size_t a, size_t b)
{
    return !__builtin_add_overflow(a, b, out);
}

/* Whether allocating this many more bytes leaves the reserve intact. Asking the system takes
 * microseconds, so small allocations are checked in groups. */
static bool leaves_reserve(size_t more)
{
    const uint64_t checked = atomic_load_explicit(&n_checked, memory_order_relaxed);
    if (checked == UINT64_MAX || hook.resize)
        return true;
    const uint64_t live = atomic_load_explicit(&n_live, memory_order_relaxed) + more;
    if (more < CHECK_EVERY && live <= checked)
        return true;
    const uint64_t reserved = atomic_load(&n_reserved), room = rela_address_available();
    if (room < reserved || room - reserved < more)
        return false;
    atomic_store(&n_checked, room - reserved - more < CHECK_EVERY ? 0 : live + CHECK_EVERY);
    return true;
}

static void *raw_resize(void *old, size_t old_size, size_t new_size)
{
    if (hook.resize)
        return hook.resize(hook.ctx, old, old_size, new_size);
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

/* Stores the size in the header of a block and returns its usable part; NULL for NULL. */
static void *started(char *block, size_t old_total, size_t total)
{
    if (!block)
        return NULL;
    if (!hook.resize)
        advise(block, total);
    memcpy(block, &total, sizeof total);
    count(old_total, total);
    return block + HEADER;
}

/* Asks for huge pages: the first touch of a large block then takes a third of the time. */
static void advise(char *block, size_t size)
{
    const size_t before = (HUGE_PAGE - (uintptr_t)block % HUGE_PAGE) % HUGE_PAGE;
    if (size >= before + HUGE_PAGE)
        (void)madvise(block + before, (size - before) / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
}

static void count(size_t old_total, size_t total)
{
    const uint64_t before = old_total ? old_total - HEADER : 0;
    const uint64_t change = (uint64_t)(total - HEADER) - before; /* wraps when shrinking: fine */
    atomic_fetch_add_explicit(&n_calls, 1, memory_order_relaxed);
    const uint64_t live = atomic_fetch_add_explicit(&n_live, change, memory_order_relaxed) + change;
    uint64_t peak = atomic_load_explicit(&n_peak, memory_order_relaxed);
    while (live > peak && !atomic_compare_exchange_weak(&n_peak, &peak, live))
        continue;
}
