/* SPDX-License-Identifier: MIT */
/* src/decode/pool.c - many sentences on several threads: a thread takes the next batch when it has
 * finished one, longest first, so that no thread is still busy with a long one at the end. */
#include "base/lengths.h"
#include "base/mem.h"
#include "base/par.h"
#include "decode/searcher.h"

#include <stdatomic.h>
#include <string.h>

struct rela_search_pool {
    size_t n_nets, n_searchers;
    const rela_packed_weights **nets;
    rela_searcher **searchers; /* one per thread, created when first needed */
};

struct rela_search_results {
    size_t n, n_arenas;
    rela_search_result *items; /* in the order of the sources */
    rela_arena **arenas;       /* one per thread; what items point to */
};

/* What one thread needs for a run. */
typedef struct worker {
    rela_searcher *searcher; /* lent by the pool */
    rela_arena *arena;       /* lent by the results */
    rela_source *sources;
    rela_search_result *results;
    rela_status status;
    rela_error err;
} worker;

typedef struct job {
    const rela_source *sources;
    const rela_search_options *options;
    rela_search_result *items;
    rela_length *order;
    size_t *batch_at; /* (n_batches + 1) places in order */
    size_t n_batches, n_workers;
    worker *workers;
    _Atomic size_t next;
    _Atomic bool stopped;
} job;

static rela_status start(job *j, rela_search_results *r, rela_search_pool *p, size_t n,
                         rela_error *err);
static size_t share(const job *j, size_t limit);
static void divide(job *j, size_t n);
static void work(void *ctx, size_t begin, size_t finish, int thread);
static rela_status run_batch(job *j, worker *w, size_t batch);
static void end(job *j);

rela_status rela_search_pool_create(rela_search_pool **out, const rela_packed_weights *const *nets,
                                    size_t n_nets, int n_threads, rela_error *err)
{
    *out = NULL;
    rela_search_pool *p = rela_mem_zalloc(sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for the search");
    p->n_nets = n_nets;
    p->n_searchers = (size_t)rela_par_threads(n_threads);
    p->nets = rela_mem_array(n_nets, sizeof *p->nets);
    p->searchers = rela_mem_zalloc(p->n_searchers * sizeof *p->searchers);
    rela_status st =
        p->nets && p->searchers ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the search");
    for (size_t i = 0; st == RELA_OK && i < n_nets; i++)
        p->nets[i] = nets[i];
    if (st == RELA_OK) /* fails early if the nets do not match */
        st = rela_searcher_create(&p->searchers[0], p->nets, n_nets, err);
    if (st == RELA_OK)
        *out = p;
    else
        rela_search_pool_destroy(p);
    return st;
}

void rela_search_pool_destroy(rela_search_pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->searchers && i < p->n_searchers; i++)
        rela_searcher_destroy(p->searchers[i]);
    rela_mem_free(p->searchers);
    rela_mem_free(p->nets);
    rela_mem_free(p);
}

rela_status rela_search_pool_run(rela_search_results **out, rela_search_pool *p,
                                 const rela_source *sources, size_t n, const rela_search_options *o,
                                 rela_error *err)
{
    *out = NULL;
    job j = { .sources = sources, .options = o };
    rela_search_results *r = rela_mem_zalloc(sizeof *r);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "no memory for the results");
    j.n_workers = n < p->n_searchers ? n : p->n_searchers;
    j.n_workers = j.n_workers ? j.n_workers : 1;
    rela_status st = rela_search_check(p->searchers[0], sources, n, o, err);
    if (st == RELA_OK)
        st = start(&j, r, p, n, err);
    if (st == RELA_OK) {
        divide(&j, n);
        rela_par_rows(j.n_workers, (int)j.n_workers, work, &j);
    }
    for (size_t i = 0; st == RELA_OK && i < j.n_workers; i++)
        if ((st = j.workers[i].status) != RELA_OK && err)
            *err = j.workers[i].err;
    end(&j);
    if (st == RELA_OK)
        *out = r;
    else
        rela_search_results_free(r);
    return st;
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

static rela_status start(job *j, rela_search_results *r, rela_search_pool *p, size_t n,
                         rela_error *err)
{
    const size_t per_batch =
        share(j, n < j->options->batch_sentences ? n : j->options->batch_sentences);
    r->n = n;
    r->n_arenas = j->n_workers;
    r->items = rela_mem_zalloc(n * sizeof *r->items);
    r->arenas = rela_mem_zalloc(j->n_workers * sizeof *r->arenas);
    j->items = r->items;
    j->order = rela_mem_array(n, sizeof *j->order);
    j->batch_at = rela_mem_array(n + 1, sizeof *j->batch_at);
    j->workers = rela_mem_zalloc(j->n_workers * sizeof *j->workers);
    bool ok = r->items && r->arenas && j->order && j->batch_at && j->workers;
    for (size_t i = 0; ok && i < j->n_workers; i++) {
        worker *w = &j->workers[i];
        if (!p->searchers[i]) {
            const rela_status st = rela_searcher_create(&p->searchers[i], p->nets, p->n_nets, err);
            if (st != RELA_OK)
                return st;
        }
        w->searcher = p->searchers[i];
        w->arena = r->arenas[i] = rela_arena_create(0);
        w->sources = rela_mem_array(per_batch, sizeof *w->sources);
        w->results = rela_mem_array(per_batch, sizeof *w->results);
        ok = w->arena && w->sources && w->results;
    }
    return ok ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory to decode %zu sentences", n);
}

static void end(job *j)
{
    for (size_t i = 0; j->workers && i < j->n_workers; i++) {
        rela_mem_free(j->workers[i].sources);
        rela_mem_free(j->workers[i].results);
    }
    rela_mem_free(j->workers);
    rela_mem_free(j->batch_at);
    rela_mem_free(j->order);
}

/* The share of a limit for all threads that one batch may take. */
static size_t share(const job *j, size_t limit)
{
    const size_t part = (limit + j->n_workers - 1) / j->n_workers;
    return part ? part : 1;
}

/* Sentences of similar length share a batch. If there are few, they are spread over all threads. */
static void divide(job *j, size_t n)
{
    const rela_search_options *o = j->options;
    for (size_t i = 0; i < n; i++)
        j->order[i] = (rela_length){ rela_source_longest(&j->sources[i]), i };
    rela_lengths_sort(j->order, n);
    const size_t most = share(j, n < o->batch_sentences ? n : o->batch_sentences);
    const size_t tokens = share(j, o->batch_tokens);
    size_t first = 0;
    while (first < n) {
        const size_t length = j->order[first].length + 1;
        size_t count = tokens / length;
        count = count < 1 ? 1 : count;
        count = count < most ? count : most;
        j->batch_at[j->n_batches++] = first;
        first = first + count < n ? first + count : n;
    }
    j->batch_at[j->n_batches] = n;
}

static void work(void *ctx, size_t begin, size_t finish, int thread)
{
    job *j = ctx;
    (void)thread;
    rela_callback_enter(j->options->callback);
    for (size_t i = begin; i < finish; i++) {
        worker *w = &j->workers[i];
        size_t batch = 0;
        while (!atomic_load(&j->stopped) && (batch = atomic_fetch_add(&j->next, 1)) < j->n_batches)
            if ((w->status = run_batch(j, w, batch)) != RELA_OK)
                atomic_store(&j->stopped, true);
    }
    rela_callback_leave(j->options->callback);
}

static void *copy(rela_arena *arena, const void *from, size_t n, size_t size)
{
    void *to = rela_arena_alloc(arena, n * size);
    if (to && n)
        memcpy(to, from, n * size);
    return to;
}

/* For each of n emitted symbols, the position of the source symbol with the largest weight summed
 * over the heads. */
static uint32_t *largest(rela_arena *arena, const real *attention, size_t n, size_t heads,
                         size_t source)
{
    uint32_t *places = rela_arena_alloc(arena, n * sizeof *places);
    for (size_t i = 0; places && i < n; i++) {
        double most = -1;
        places[i] = 0;
        for (size_t k = 0; k < source; k++) {
            double sum = 0;
            for (size_t h = 0; h < heads; h++)
                sum += (double)attention[(i * heads + h) * (source + 1) + k];
            if (sum > most) {
                most = sum;
                places[i] = (uint32_t)k;
            }
        }
    }
    return places;
}

/* The size of attention is source times target length: it is kept only on request. */
static bool keep_attention(worker *w, rela_hypothesis *h, const rela_source *source,
                           const rela_search_options *o)
{
    const size_t n = h->n + h->complete, heads = w->searcher->n_heads;
    const rela_source_text *text = &source->text[o->source];
    const real *attention = h->attention;
    h->attention = NULL;
    if (attention && text->n && o->heaviest &&
        !(h->heaviest = largest(w->arena, attention, n, heads, text->n)))
        return false;
    if (!attention || !o->attention || source->part)
        return true;
    h->attention = copy(w->arena, attention, n * heads * rela_source_rows(text), sizeof *attention);
    return h->attention != NULL;
}

static rela_status keep(worker *w, rela_search_result *to, const rela_search_result *from,
                        const rela_source *source, const rela_search_options *o)
{
    rela_hypothesis *best = copy(w->arena, from->best, from->n, sizeof *best);
    bool ok = best != NULL;
    for (size_t i = 0; ok && i < from->n; i++) {
        rela_hypothesis *h = &best[i];
        const size_t n = h->n + h->complete;
        h->ids = copy(w->arena, h->ids, h->n, sizeof *h->ids);
        h->logps = copy(w->arena, h->logps, n, sizeof *h->logps);
        ok = h->ids && h->logps && keep_attention(w, h, source, o);
    }
    *to = (rela_search_result){ best, from->n, from->not_finite };
    return ok ? RELA_OK : rela_fail(&w->err, RELA_NOMEM, "no memory for the results");
}

static rela_status run_batch(job *j, worker *w, size_t batch)
{
    const rela_length *order = j->order + j->batch_at[batch];
    const size_t n = j->batch_at[batch + 1] - j->batch_at[batch];
    for (size_t i = 0; i < n; i++)
        w->sources[i] = j->sources[order[i].at];
    rela_status st = rela_search_run(w->searcher, w->results, w->sources, n, j->options, &w->err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = keep(w, &j->items[order[i].at], &w->results[i], &w->sources[i], j->options);
    return st;
}
