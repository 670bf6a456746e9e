/* SPDX-License-Identifier: MIT */
/* src/metric/symmetrise.c - combines the links of two directions (Koehn, Och and Marcu 2003;
 * Koehn et al. 2005).
 *
 * Growing starts from the intersection. It goes repeatedly through the links that only one
 * direction has, in order of source and target position, and takes those next to a link already
 * taken (diagonals included) if one of their words has no link yet, until a round takes none. The
 * result depends on this order, which is that of atools. The rounds are not actually walked: a link
 * can only be taken after a neighbour was, so a queue of (round, link) visits each link at most
 * once, and a long line does not take quadratic time. */
#include "base/error.h"
#include "base/mem.h"
#include "rela/metric.h"

#include <assert.h>
#include <stdbool.h>

enum { FORWARD = 1, BACKWARD = 2, TAKEN = 4, QUEUED = 8 };

static const uint64_t ROUND = (uint64_t)1 << 32, ROUND_MASK = 0xFFFFFFFF00000000u;

typedef struct point {
    uint32_t src, tgt;
    uint32_t flags;
} point;

typedef struct grid {
    point *points; /* the union, sorted */
    size_t n;
    unsigned char *src_linked, *tgt_linked; /* per word: has a link that was taken */
    uint64_t *queue;                        /* heap of round << 32 | point, smallest on top */
    size_t n_queue;
} grid;

static rela_status make_grid(grid *g, const rela_links *forward, const rela_links *backward,
                             rela_error *err);
static void merge(grid *g, const rela_links *forward, const rela_links *backward);
static void free_grid(grid *g);
static void take(grid *g, size_t at);
static void grow(grid *g);
static void queue_neighbours(grid *g, size_t at, uint64_t now);
static void queue_point(grid *g, uint32_t src, uint32_t tgt, uint64_t now);
static size_t find(const grid *g, uint32_t src, uint32_t tgt);
static void final(grid *g, uint32_t direction, bool both_free);
static void push(grid *g, uint64_t key);
static uint64_t pop(grid *g);
static rela_status collect(rela_links *out, const grid *g, rela_error *err);

rela_status rela_links_symmetrise(rela_links *out, const rela_links *forward,
                                  const rela_links *backward, rela_symmetrise method,
                                  rela_error *err)
{
    grid g = { .points = NULL };
    out->n = 0;
    rela_status st = make_grid(&g, forward, backward, err);
    for (size_t i = 0; st == RELA_OK && i < g.n; i++)
        if (method == RELA_UNION ||
            (g.points[i].flags & (FORWARD | BACKWARD)) == (FORWARD | BACKWARD))
            take(&g, i);
    if (st == RELA_OK && method >= RELA_GROW_DIAG)
        grow(&g);
    if (st == RELA_OK && method >= RELA_GROW_DIAG_FINAL) {
        final(&g, FORWARD, method == RELA_GROW_DIAG_FINAL_AND);
        final(&g, BACKWARD, method == RELA_GROW_DIAG_FINAL_AND);
    }
    if (st == RELA_OK)
        st = collect(out, &g, err);
    free_grid(&g);
    return st;
}

static rela_status make_grid(grid *g, const rela_links *forward, const rela_links *backward,
                             rela_error *err)
{
    const size_t n = forward->n + backward->n;
    if (n == 0)
        return RELA_OK;
    g->points = rela_mem_array(n, sizeof *g->points);
    g->queue = rela_mem_array(n, sizeof *g->queue);
    if (!g->points || !g->queue || n > UINT32_MAX)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu links", n);
    merge(g, forward, backward);
    uint32_t last_tgt = 0;
    for (size_t i = 0; i < g->n; i++)
        last_tgt = g->points[i].tgt > last_tgt ? g->points[i].tgt : last_tgt;
    g->src_linked = rela_mem_zalloc((size_t)g->points[g->n - 1].src + 1);
    g->tgt_linked = rela_mem_zalloc((size_t)last_tgt + 1);
    if (!g->src_linked || !g->tgt_linked)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu links", n);
    return RELA_OK;
}

static void merge(grid *g, const rela_links *forward, const rela_links *backward)
{
    size_t i = 0, j = 0;
    while (i < forward->n || j < backward->n) {
        const rela_link *a = i < forward->n ? &forward->items[i] : NULL;
        const rela_link *b = j < backward->n ? &backward->items[j] : NULL;
        const bool take_a =
            !b || (a && (a->src < b->src || (a->src == b->src && a->tgt <= b->tgt)));
        const bool take_b =
            !a || (b && (b->src < a->src || (b->src == a->src && b->tgt <= a->tgt)));
        const rela_link *k = take_a ? a : b;
        assert(k); /* one of the two has a link left */
        g->points[g->n++] =
            (point){ k->src, k->tgt, (take_a ? FORWARD : 0u) | (take_b ? BACKWARD : 0u) };
        i += take_a;
        j += take_b;
    }
}

static void free_grid(grid *g)
{
    rela_mem_free(g->points);
    rela_mem_free(g->queue);
    rela_mem_free(g->src_linked);
    rela_mem_free(g->tgt_linked);
}

static void take(grid *g, size_t at)
{
    g->points[at].flags |= TAKEN;
    g->src_linked[g->points[at].src] = 1;
    g->tgt_linked[g->points[at].tgt] = 1;
}

static void grow(grid *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->points[i].flags & TAKEN)
            queue_neighbours(g, i, 0);
    while (g->n_queue > 0) {
        const uint64_t now = pop(g);
        const size_t at = (uint32_t)now;
        const point *p = &g->points[at];
        if (g->src_linked[p->src] && g->tgt_linked[p->tgt])
            continue; /* words stay linked: never tried again */
        take(g, at);
        queue_neighbours(g, at, now);
    }
}

static void queue_neighbours(grid *g, size_t at, uint64_t now)
{
    const point p = g->points[at];
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 0; j < 3; j++)
            if (p.src + i > 0 && p.tgt + j > 0)
                queue_point(g, p.src + i - 1, p.tgt + j - 1, now);
}

/* A later link is reached in the same round, an earlier one in the next. */
static void queue_point(grid *g, uint32_t src, uint32_t tgt, uint64_t now)
{
    const size_t at = find(g, src, tgt);
    if (at == g->n || g->points[at].flags & (TAKEN | QUEUED))
        return;
    g->points[at].flags |= QUEUED;
    const uint64_t same = (now & ROUND_MASK) | at;
    push(g, same < now ? same + ROUND : same);
}

static size_t find(const grid *g, uint32_t src, uint32_t tgt)
{
    size_t low = 0, high = g->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const point *p = &g->points[middle];
        if (p->src < src || (p->src == src && p->tgt < tgt))
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->n && g->points[low].src == src && g->points[low].tgt == tgt ? low : g->n;
}

/* Takes links of one direction if either word has no link yet; with both_free, if neither has. */
static void final(grid *g, uint32_t direction, bool both_free)
{
    for (size_t i = 0; i < g->n; i++) {
        const point *p = &g->points[i];
        const int linked = g->src_linked[p->src] + g->tgt_linked[p->tgt];
        if (p->flags & direction && !(p->flags & TAKEN) && linked < (both_free ? 1 : 2))
            take(g, i);
    }
}

static void push(grid *g, uint64_t key)
{
    size_t i = g->n_queue++;
    for (; i > 0 && g->queue[(i - 1) / 2] > key; i = (i - 1) / 2)
        g->queue[i] = g->queue[(i - 1) / 2];
    g->queue[i] = key;
}

static uint64_t pop(grid *g)
{
    const uint64_t top = g->queue[0], last = g->queue[--g->n_queue];
    size_t i = 0;
    for (size_t child = 1; child < g->n_queue; child = 2 * i + 1) {
        if (child + 1 < g->n_queue && g->queue[child + 1] < g->queue[child])
            child++;
        if (g->queue[child] >= last)
            break;
        g->queue[i] = g->queue[child];
        i = child;
    }
    g->queue[i] = last;
    return top;
}

static rela_status collect(rela_links *out, const grid *g, rela_error *err)
{
    rela_link *items = rela_mem_grow(out->items, &out->cap, g->n, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu links", g->n);
    out->items = items;
    for (size_t i = 0; i < g->n; i++)
        if (g->points[i].flags & TAKEN)
            items[out->n++] = (rela_link){ g->points[i].src, g->points[i].tgt, 0 };
    return RELA_OK;
}
