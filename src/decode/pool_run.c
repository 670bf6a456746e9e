/* SPDX-License-Identifier: MIT */
/* src/decode/pool_run.c - a closed set of sentences on a pool: longest first, so that no thread is
 * still busy with a long one at the end. */
#include "base/lengths.h"
#include "base/mem.h"
#include "decode/pool.h"

#include <stdatomic.h>

struct rela_search_results {
    size_t n, n_arenas;
    rela_search_result *items; /* in the order of the sources */
    rela_arena **arenas;       /* one per thread; what items point to */
};

/* A sentence of the set. */
typedef struct member {
    rela_pool_task task; /* first: the pool gives it back */
    rela_search_results *results;
    size_t number;
    _Atomic bool *no_memory; /* of the set */
} member;

static void keep(rela_pool_task *t, size_t worker, const rela_search_result *r,
                 const rela_error *why);
static rela_status start(rela_search_results *r, size_t n, size_t workers, rela_error *err);

rela_status rela_search_pool_run(rela_search_results **out, rela_search_pool *p,
                                 const rela_source *sources, size_t n, const rela_search_options *o,
                                 rela_error *err)
{
    *out = NULL;
    const size_t most = rela_pool_workers(p), workers = n < 1 ? 1 : n < most ? n : most;
    const size_t sentences = n < o->batch_sentences ? n : o->batch_sentences;
    const rela_pool_run run = { .limits = { workers, sentences, o->batch_tokens },
                                .closed = true,
                                .callback = o->callback,
                                .stop = o->stop };
    _Atomic bool no_memory = false;
    rela_status st = rela_pool_check(p, sources, n, o, err);
    rela_search_results *r = rela_mem_zalloc(sizeof *r);
    rela_length *order = rela_mem_array(n, sizeof *order);
    member *members = rela_mem_zalloc(n * sizeof *members);
    if (st == RELA_OK && (!r || !order || !members))
        st = rela_fail(err, RELA_NOMEM, "no memory to decode %zu sentences", n);
    st = st ? st : start(r, n, workers, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        order[i] = (rela_length){ rela_source_longest(&sources[i]), i };
    if (st == RELA_OK)
        rela_lengths_sort(order, n);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        member *m = &members[i];
        m->task.source = sources[order[i].at];
        m->task.options = o;
        m->task.on_end = keep;
        m->results = r;
        m->number = order[i].at;
        m->no_memory = &no_memory;
        rela_pool_submit(p, &m->task);
    }
    st = st ? st : rela_pool_work(p, &run, err);
    if (st == RELA_OK && atomic_load(&no_memory))
        st = rela_fail(err, RELA_NOMEM, "no memory for the results");
    rela_mem_free(order);
    rela_mem_free(members);
    if (st == RELA_OK)
        *out = r;
    else
        rela_search_results_free(r);
    return st;
}

static rela_status start(rela_search_results *r, size_t n, size_t workers, rela_error *err)
{
    r->n = n;
    r->n_arenas = workers;
    r->items = rela_mem_zalloc(n * sizeof *r->items);
    r->arenas = rela_mem_zalloc(workers * sizeof *r->arenas);
    bool ok = r->items && r->arenas;
    for (size_t i = 0; ok && i < workers; i++)
        ok = (r->arenas[i] = rela_arena_create(0)) != NULL;
    return ok ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory to decode %zu sentences", n);
}

static void keep(rela_pool_task *t, size_t worker, const rela_search_result *r,
                 const rela_error *why)
{
    const member *m = (const member *)t;
    (void)why;
    if (rela_search_result_keep(&m->results->items[m->number], m->results->arenas[worker], r,
                                &t->source, t->options, NULL) != RELA_OK)
        atomic_store(m->no_memory, true);
}

void rela_search_results_free(rela_search_results *r)
{
    if (!r)
        return;
    for (size_t i = 0; r->arenas && i < r->n_arenas; i++)
        rela_arena_destroy(r->arenas[i]);
    rela_mem_free(r->arenas);
    rela_mem_free(r->items);
    rela_mem_free(r);
}

size_t rela_search_results_count(const rela_search_results *r)
{
    return r->n;
}

rela_search_result rela_search_results_at(const rela_search_results *r, size_t i)
{
    return r->items[i];
}
