/* SPDX-License-Identifier: MIT */
/* src/tensor/params.c - see params.h. */
#include "tensor/params.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/rng.h"

#include <stdio.h>
#include <string.h>

enum { ALIGN_REALS = 16 }; /* 64 bytes of float */

static void fill(real *x, const rela_param *p, uint64_t seed);

void rela_params_deinit(rela_params *p)
{
    rela_mem_free(p->items);
    *p = (rela_params){ 0 };
}

rela_status rela_params_add(rela_params *p, size_t *offset, const char *name, size_t layer,
                            size_t rows, size_t cols, rela_init init, rela_error *err)
{
    rela_param *items = rela_mem_grow(p->items, &p->cap, p->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for the table of parameters");
    p->items = items;
    rela_param *q = &items[p->n++];
    *q = (rela_param){ .rank = rows ? 2 : 1,
                       .rows = rows ? rows : 1,
                       .cols = cols,
                       .offset = p->total,
                       .init = init };
    const char *mark = strchr(name, '#'); /* where the number of the layer goes */
    if (mark)
        (void)snprintf(q->name, sizeof q->name, "%.*s%zu%s", (int)(mark - name), name, layer,
                       mark + 1);
    else
        (void)snprintf(q->name, sizeof q->name, "%s", name);
    const size_t n = rela_param_count(q);
    p->count += n;
    if (p->bare && rows) {
        *offset = q->offset = 0;
        q->bare = true;
        return RELA_OK;
    }
    *offset = p->total;
    p->total += n + ALIGN_REALS - 1 - (n + ALIGN_REALS - 1) % ALIGN_REALS;
    return RELA_OK;
}

const rela_param *rela_params_find(const rela_params *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->items[i].name, name) == 0)
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
    rela_rng r = rela_rng_start(seed, rela_map_hash(p->name, strlen(p->name)));
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
