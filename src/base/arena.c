/* SPDX-License-Identifier: MIT */
/* src/base/arena.c - see arena.h. */
#include "base/arena.h"

#include "base/mem.h"

#include <stdint.h>

#if defined(__has_feature) /* clang */
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
enum { RED_ZONE = 64 };
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
enum { RED_ZONE = 0 };
#endif

enum { ALIGN = 64, BLOCK_DEFAULT = 1 << 20 };

typedef struct block {
    char *raw;  /* what the heap gave */
    char *base; /* raw rounded up to ALIGN */
    size_t size;
} block;

struct rela_arena {
    block *blocks;
    size_t n_blocks, cap_blocks;
    size_t now;  /* block in use; == n_blocks when there is none */
    size_t used; /* bytes of it */
    size_t block_size;
};

static void *take(rela_arena *a, size_t size);
static int add_block(rela_arena *a, size_t size);

rela_arena *rela_arena_create(size_t block_size)
{
    rela_arena *a = rela_mem_zalloc(sizeof *a);
    if (a)
        a->block_size = block_size ? block_size : BLOCK_DEFAULT;
    return a;
}

void rela_arena_destroy(rela_arena *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_blocks; i++) {
        UNPOISON(a->blocks[i].base, a->blocks[i].size);
        rela_mem_free(a->blocks[i].raw);
    }
    rela_mem_free(a->blocks);
    rela_mem_free(a);
}

void *rela_arena_alloc(rela_arena *a, size_t size)
{
    size_t need = 0;
    if (!rela_size_add(&need, size, ALIGN - 1 + RED_ZONE))
        return NULL;
    need -= need % ALIGN;
    for (;; a->now++, a->used = 0) {
        if (a->now == a->n_blocks && !add_block(a, need))
            return NULL;
        if (a->blocks[a->now].size - a->used >= need) {
            void *p = take(a, need);
            UNPOISON(p, size);
            return p;
        }
    }
}

rela_arena_mark rela_arena_save(const rela_arena *a)
{
    return (rela_arena_mark){ .block = a->now, .used = a->used };
}

void rela_arena_restore(rela_arena *a, rela_arena_mark m)
{
    for (size_t i = m.block; i < a->n_blocks && i <= a->now; i++) {
        const size_t from = i == m.block ? m.used : 0;
        POISON(a->blocks[i].base + from, a->blocks[i].size - from);
    }
    a->now = m.block;
    a->used = m.used;
}

void rela_arena_reset(rela_arena *a)
{
    rela_arena_restore(a, (rela_arena_mark){ 0, 0 });
}

size_t rela_arena_capacity(const rela_arena *a)
{
    size_t sum = 0;
    for (size_t i = 0; i < a->n_blocks; i++)
        sum += a->blocks[i].size;
    return sum;
}

static void *take(rela_arena *a, size_t size)
{
    void *p = a->blocks[a->now].base + a->used;
    a->used += size;
    return p;
}

static int add_block(rela_arena *a, size_t size)
{
    const size_t want = size > a->block_size ? size : a->block_size;
    size_t raw_size = 0;
    if (!rela_size_add(&raw_size, want, ALIGN))
        return 0;
    block *blocks = rela_mem_grow(a->blocks, &a->cap_blocks, a->n_blocks + 1, sizeof *blocks);
    if (!blocks)
        return 0;
    a->blocks = blocks;
    block b = { .raw = rela_mem_alloc(raw_size), .size = want };
    if (!b.raw)
        return 0;
    b.base = b.raw + (ALIGN - (uintptr_t)b.raw % ALIGN) % ALIGN;
    POISON(b.base, b.size);
    a->blocks[a->n_blocks++] = b;
    return 1;
}
