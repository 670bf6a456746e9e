/* SPDX-License-Identifier: MIT */
/* src/tensor/params.c - see params.h. */
#include "tensor/params.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { ALIGN_REALS = 16 }; /* 64 bytes of float */

static void fill(real *x, const rela_param *p, uint64_t seed);

void rela_params_deinit(rela_params *p)
{
    rela_mem_free(p->items);
    rela_mem_free(p->offsets);
    *p = (rela_params){ 0 };
}

rela_status rela_params_add(rela_params *p, uint32_t *index, const char *name,
                            const rela_param_shape *shape, rela_error *err)
{
    const rela_param *old = rela_params_find(p, name);
    *index = (uint32_t)(old ? (size_t)(old - p->items) : p->n);
    if (old) {
        assert(old->cols == shape->cols && old->rows == (shape->rows ? shape->rows : 1));
        p->items[*index].lookup = old->lookup && shape->lookup;
        return RELA_OK;
    }
    rela_param *items = rela_mem_grow(p->items, &p->cap, p->n + 1, sizeof *items);
    p->items = items ? items : p->items;
    size_t *offsets = rela_mem_grow(p->offsets, &p->cap_offsets, p->n + 1, sizeof *offsets);
    p->offsets = offsets ? offsets : p->offsets;
    if (!items || !offsets)
        return rela_fail(err, RELA_NOMEM, "no memory for the table of parameters");
    rela_param *q = &items[p->n];
    *q = (rela_param){ .hash = rela_map_hash(name, strlen(name)),
                       .rank = shape->rows ? 2 : 1,
                       .rows = shape->rows ? shape->rows : 1,
                       .cols = shape->cols,
                       .matrix = shape->matrix,
                       .lookup = shape->lookup,
                       .table = shape->table,
                       .packed = p->packed && shape->matrix,
                       .init = shape->init };
    (void)snprintf(q->name, sizeof q->name, "%s", name);
    const size_t n = rela_param_count(q);
    p->count += n;
    if (!q->packed) {
        q->offset = p->total;
        p->total += rela_round_up(n, ALIGN_REALS);
    }
    offsets[p->n++] = q->offset;
    return RELA_OK;
}

const rela_param *rela_params_find(const rela_params *p, const char *name)
{
    const uint64_t hash = rela_map_hash(name, strlen(name));
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].hash == hash && strcmp(p->items[i].name, name) == 0)
            return &p->items[i];
    return NULL;
}

void rela_params_init(real *block, const rela_params *p, uint64_t seed)
{
    memset(block, 0, p->total * sizeof *block);
    for (size_t i = 0; i < p->n; i++)
        fill(block + p->items[i].offset, &p->items[i], seed);
}

static void fill(real *x, const rela_param *p, uint64_t seed)
{
    rela_rng r = rela_rng_start(seed, p->hash);
    const size_t n = rela_param_count(p);
    for (size_t i = 0; i < n; i++)
        switch (p->init.kind) {
        case RELA_INIT_CONSTANT:
            x[i] = (real)p->init.arg;
            break;
        case RELA_INIT_UNIFORM:
            x[i] = (real)((2 * rela_rng_real(&r) - 1) * p->init.arg);
            break;
        case RELA_INIT_NORMAL:
            x[i] = (real)(rela_rng_normal(&r) * p->init.arg);
            break;
        }
}
