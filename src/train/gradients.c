/* SPDX-License-Identifier: MIT */
/* src/train/gradients.c - see gradients.h. */
#include "train/gradients.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/flush_to_zero.h"

#include <string.h>

static void cut(rela_gradients *g);
static void run_groups(rela_gradients *g);
static void share_groups(rela_gradients *g);
static void run_round(void *ctx, size_t begin, size_t end, int thread);
static void on_gradients(void *runner, size_t from);
static void add_round(rela_gradients *g, size_t begin, size_t end);
static void add_round_slices(rela_gradients *g, size_t begin, size_t end);
static void add_group(void *ctx, size_t begin, size_t end, int thread);

static bool has_ranks(const rela_update_options *o)
{
    return rela_world_size(o->world) > 1;
}

static size_t group_slots(const rela_update_options *o)
{
    return o->slots / o->groups;
}

/* Whether ranks compute whole groups; otherwise slots are distributed one by one. */
static bool takes_groups(const rela_update_options *o)
{
    return rela_world_size(o->world) <= o->groups;
}

/* Slots that a rank computes concurrently. */
static size_t round_of(const rela_update_options *o)
{
    const size_t threads = (size_t)rela_par_threads(o->n_threads), n = rela_world_size(o->world);
    const size_t share = takes_groups(o) ? group_slots(o) : (o->slots + n - 1) / n;
    return threads < share ? threads : share;
}

/* One array per slot of a round, plus the running sum if a group takes several rounds. Rank 0 has
 * at least two, where rela_updater_moment gathers the moments. */
static size_t count_grads(const rela_update_options *o)
{
    const size_t n = round_of(o) + (takes_groups(o) && round_of(o) < group_slots(o));
    return n < 2 && has_ranks(o) && rela_world_rank(o->world) == 0 ? 2 : n;
}

static bool has_total(const rela_update_options *o)
{
    return o->groups > 1 && !has_ranks(o);
}

/* Ranks exchange the gradients of units: sums of groups, or single slots. */
static rela_rank_sum_options sum_options(const rela_net *n, const rela_update_options *o)
{
    const bool groups = takes_groups(o);
    return (rela_rank_sum_options){ .k = n->k,
                                    .total = n->params.total,
                                    .slice = RELA_PARAM_SLICE,
                                    .complete_end = n->list.params_end,
                                    .per = groups ? 1 : round_of(o),
                                    .units = groups ? o->groups : o->slots,
                                    .group = groups ? o->groups : group_slots(o),
                                    .note = (groups ? group_slots(o) : 1) * sizeof(rela_slot),
                                    .n_threads = o->n_threads };
}

size_t rela_gradients_bytes(const rela_net *n, const rela_update_options *o)
{
    const size_t longest = rela_sentence_copies(o) * n->config.max_len;
    const size_t rows = rela_micro_batch_rows(o) > longest ? rela_micro_batch_rows(o) : longest;
    const rela_rank_sum_options so = sum_options(n, o);
    return (count_grads(o) + has_total(o)) * n->params.total * sizeof(real) +
           (has_ranks(o) ? rela_rank_sum_bytes(o->world, &so) : 0) +
           round_of(o) * rela_worker_bytes(n, rows, rows, true);
}

static size_t slices_of(const rela_net *n)
{
    return (n->params.total + RELA_PARAM_SLICE - 1) / RELA_PARAM_SLICE;
}

static size_t count_slices(const rela_gradients *g)
{
    return slices_of(g->job.net);
}

size_t rela_gradients_own_max(const rela_net *n, const rela_update_options *o)
{
    const rela_rank_sum_options so = sum_options(n, o);
    return has_ranks(o) ? rela_rank_sum_own_max(o->world, &so) : slices_of(n) * RELA_PARAM_SLICE;
}

rela_status rela_gradients_init(rela_gradients *g, rela_net *n, const rela_update_options *o,
                                rela_error *err)
{
    const size_t bytes = n->params.total * sizeof(real), n_grads = count_grads(o);
    const rela_rank_sum_options so = sum_options(n, o);
    *g = (rela_gradients){ .job = { .net = n, .o = o } };
    (void)pthread_mutex_init(&g->lock, NULL);
    g->runners = rela_mem_zalloc(round_of(o) * sizeof *g->runners);
    g->slots = rela_mem_zalloc(o->slots * sizeof *g->slots);
    g->squares = rela_mem_array(count_slices(g), sizeof *g->squares);
    g->grads = rela_mem_zalloc(n_grads * sizeof *g->grads);
    bool good = g->runners && g->slots && g->squares && g->grads;
    for (; g->n_grads < n_grads && good; g->n_grads++)
        good = (g->grads[g->n_grads] = rela_mem_zalloc(bytes)) != NULL;
    if (good && has_total(o))
        good = (g->total = rela_mem_alloc(bytes)) != NULL;
    if (!good)
        return rela_fail(err, RELA_NOMEM, "no memory for gradients: %zu bytes", n_grads * bytes);
    if (!has_ranks(o))
        return RELA_OK;
    for (size_t i = 0; i < round_of(o); i++) {
        g->runners[i].on_gradients = on_gradients;
        g->runners[i].ctx = g;
    }
    return rela_rank_sum_init(&g->ranks, o->world, &so, err);
}

void rela_gradients_deinit(rela_gradients *g)
{
    for (size_t i = 0; g->runners && i < round_of(g->job.o); i++)
        rela_slot_runner_deinit(&g->runners[i]);
    for (size_t i = 0; i < g->n_grads; i++)
        rela_mem_free(g->grads[i]);
    rela_mem_free((void *)g->grads);
    rela_mem_free(g->runners);
    rela_mem_free(g->slots);
    rela_mem_free(g->total);
    rela_mem_free(g->squares);
    rela_rank_sum_deinit(&g->ranks);
    (void)pthread_mutex_destroy(&g->lock);
}

rela_status rela_gradients_grow(rela_gradients *g, rela_error *err)
{
    for (size_t i = 0; i < round_of(g->job.o); i++) {
        const rela_status st = rela_slot_runner_grow(&g->runners[i], &g->job, err);
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

/* A rank that stops takes part in the exchange to its end: the others may be waiting for it. */
bool rela_gradients_run(rela_gradients *g)
{
    cut(g);
    if (takes_groups(g->job.o))
        run_groups(g);
    else
        share_groups(g);
    if (has_ranks(g->job.o)) {
        rela_rank_sum_notes(&g->ranks, g->slots);
        if (g->job.training)
            rela_rank_sum_squares(&g->ranks, g->squares);
    }
    bool whole = true;
    for (size_t i = 0; i < g->job.o->slots; i++)
        whole = whole && !g->slots[i].stopped;
    return whole;
}

size_t rela_gradients_own(const rela_gradients *g)
{
    return has_ranks(g->job.o) ? g->ranks.n_own : count_slices(g);
}

size_t rela_gradients_slice(const rela_gradients *g, size_t i)
{
    return has_ranks(g->job.o) ? rela_rank_sum_slice(&g->ranks, i) : i;
}

real *rela_gradients_sum(const rela_gradients *g)
{
    return has_ranks(g->job.o) ? g->ranks.sum : g->total ? g->total : g->group_sum;
}

/* Slices that the backward pass completes before its end. The norms of streams, which follow them,
 * are complete only at the end. */
static size_t complete_slices(const rela_gradients *g)
{
    const size_t end = g->job.net->list.params_end;
    return end < g->job.net->params.total ? end / RELA_PARAM_SLICE : count_slices(g);
}

static size_t complete_end(const rela_gradients *g)
{
    const size_t end = complete_slices(g) * RELA_PARAM_SLICE, total = g->job.net->params.total;
    return end < total ? end : total;
}

/* Adds slices of a fixed size in a fixed order: the result does not depend on threads or ranks. */
double rela_gradients_squares(const rela_gradients *g)
{
    double sum = 0;
    for (size_t i = 0; i < count_slices(g); i++)
        sum += g->squares[i];
    return sum;
}

void rela_gradients_clear(rela_gradients *g)
{
    if (!has_ranks(g->job.o) && !g->total) /* the others are overwritten by the next update */
        memset(g->group_sum, 0, g->job.net->params.total * sizeof *g->group_sum);
}

/* Gives each slot consecutive sentences of about the same number of tokens. A pure function of the
 * update, independent of threads and ranks. */
static void cut(rela_gradients *g)
{
    const size_t n = g->job.update->streams[0].n, all = rela_count_rows(&g->job, 0, n).all;
    size_t at = 0;
    for (size_t i = 0; i < g->job.o->slots; i++) {
        rela_slot *part = &g->slots[i];
        const size_t limit = all * (i + 1) / g->job.o->slots;
        *part = (rela_slot){ .first = at };
        while (at < n &&
               (i + 1 == g->job.o->slots || rela_count_rows(&g->job, 0, at + 1).all <= limit))
            at++;
        part->last = at;
    }
}

static void run_slots_from(rela_gradients *g, size_t first, size_t end)
{
    const size_t n = round_of(g->job.o);
    g->first_slot = first;
    g->end_slot = first + n < end ? first + n : end;
    g->added = complete_slices(g);
    for (size_t i = 0; i < n; i++) {
        const rela_slot *part = first + i < g->end_slot ? &g->slots[first + i] : NULL;
        const bool is_empty = !part || part->first == part->last;
        g->runners[i].complete_from = is_empty ? 0 : g->job.net->params.total;
    }
    if (g->job.training)
        rela_fault_reach(RELA_FAULT_GRADIENTS);
    rela_par_rows(n, (int)n, run_round, g);
}

/* Computes a group in rounds and adds its slots in the order ((0 + 1) + 2) + 3 and so on. The array
 * of the first slot becomes the running sum; in further rounds a spare array takes its place. */
static void run_group(rela_gradients *g)
{
    const size_t n = group_slots(g->job.o), begin = g->group * n, round = round_of(g->job.o);
    g->group_sum = g->grads[0];
    for (size_t first = begin; first < begin + n; first += round) {
        if (g->job.training && first == begin + round) {
            g->grads[0] = g->grads[g->n_grads - 1];
            g->grads[g->n_grads - 1] = g->group_sum;
        }
        run_slots_from(g, first, begin + n);
        if (!g->job.training)
            continue;
        add_round_slices(g, 0, g->added);
        add_round_slices(g, complete_slices(g), count_slices(g));
    }
}

/* Rank r computes the groups r, r + ranks, r + 2 * ranks and so on. In the last turn it may have
 * none, but still takes part in the exchange. */
static void run_groups(rela_gradients *g)
{
    const size_t rank = rela_world_rank(g->job.o->world), n = rela_world_size(g->job.o->world);
    const bool exchanged = g->job.training && has_ranks(g->job.o);
    for (size_t first = 0; first < g->job.o->groups; first += n) {
        g->group = first + rank;
        if (exchanged)
            rela_rank_sum_start(&g->ranks, &g->group_sum, first);
        if (g->group < g->job.o->groups)
            run_group(g);
        if (exchanged)
            rela_rank_sum_add(&g->ranks);
        else if (g->job.training && g->total)
            rela_par_rows(count_slices(g), g->job.o->n_threads, add_group, g);
    }
}

/* More ranks than groups: in a round each rank takes the next n slots, regardless of groups. */
static void share_groups(rela_gradients *g)
{
    const size_t rank = rela_world_rank(g->job.o->world), n = round_of(g->job.o);
    for (size_t first = 0; first < g->job.o->slots; first += n * rela_world_size(g->job.o->world)) {
        if (g->job.training)
            rela_rank_sum_start(&g->ranks, g->grads, first);
        run_slots_from(g, first + rank * n, g->job.o->slots);
        if (g->job.training)
            rela_rank_sum_add(&g->ranks);
    }
}

/* Overlaps communication with the backward pass: sends what all threads have completed. Called by
 * the threads of a round. */
static void on_gradients(void *runner, size_t from)
{
    rela_slot_runner *r = runner;
    rela_gradients *g = r->ctx;
    const size_t group_end = (g->group + 1) * group_slots(g->job.o);
    if (takes_groups(g->job.o) && g->end_slot < group_end)
        return; /* further rounds are yet to be added */
    (void)pthread_mutex_lock(&g->lock);
    r->complete_from = from;
    for (size_t i = 0; i < round_of(g->job.o); i++)
        from = g->runners[i].complete_from > from ? g->runners[i].complete_from : from;
    const size_t begin = (from + RELA_PARAM_SLICE - 1) / RELA_PARAM_SLICE;
    if (begin < g->added) {
        if (takes_groups(g->job.o))
            add_round(g, begin, g->added);
        g->added = begin;
        rela_rank_sum_send(&g->ranks, begin * RELA_PARAM_SLICE, complete_end(g));
    }
    (void)pthread_mutex_unlock(&g->lock);
}

static void run_round(void *ctx, size_t begin, size_t end, int thread)
{
    rela_gradients *g = ctx;
    (void)thread;
    for (size_t i = begin; i < end && g->first_slot + i < g->end_slot; i++)
        rela_slot_run(&g->runners[i], &g->slots[g->first_slot + i], &g->job, g->grads[i]);
}

/* Context of add_range, whose slices count from `first`. */
typedef struct slice_range {
    rela_gradients *g;
    size_t first;
} slice_range;

static void add_range(void *ctx, size_t begin, size_t end, int thread)
{
    const slice_range *r = ctx;
    (void)thread;
    add_round(r->g, r->first + begin, r->first + end);
}

static void add_round_slices(rela_gradients *g, size_t begin, size_t end)
{
    slice_range r = { g, begin };
    rela_par_rows(end - begin, g->job.o->n_threads, add_range, &r);
}

/* Slices [begin, end): adds the slots of the round to the sum of the group, and clears them. */
static void add_round(rela_gradients *g, size_t begin, size_t end)
{
    const size_t total = g->job.net->params.total, first = g->group * group_slots(g->job.o);
    const bool complete = g->end_slot == g->job.o->slots && g->job.o->groups == 1;
    const rela_kern *k = g->job.net->k;
    const uint64_t mode = rela_flush_to_zero();
    for (size_t i = begin; i < end; i++) {
        const size_t at = i * RELA_PARAM_SLICE,
                     n = total - at < RELA_PARAM_SLICE ? total - at : RELA_PARAM_SLICE;
        real *sum = g->group_sum + at;
        for (size_t t = g->first_slot == first; g->first_slot + t < g->end_slot; t++) {
            k->axpy(sum, 1, g->grads[t] + at, n);
            memset(g->grads[t] + at, 0, n * sizeof *sum);
        }
        if (complete)
            g->squares[i] = (double)k->sum_squares(sum, n);
    }
    rela_flush_to_zero_end(mode);
}

/* Slices [begin, end): adds the sum of the group to that of all, and clears it. */
static void add_group(void *ctx, size_t begin, size_t end, int thread)
{
    rela_gradients *g = ctx;
    const size_t total = g->job.net->params.total;
    const uint64_t mode = rela_flush_to_zero();
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t at = i * RELA_PARAM_SLICE,
                     n = total - at < RELA_PARAM_SLICE ? total - at : RELA_PARAM_SLICE;
        real *sum = g->total + at, *part = g->group_sum + at;
        if (g->group == 0) /* not added to 0, which would change the sign of -0 */
            memcpy(sum, part, n * sizeof *sum);
        else
            g->job.net->k->axpy(sum, 1, part, n);
        memset(part, 0, n * sizeof *part);
        if (g->group + 1 == g->job.o->groups)
            g->squares[i] = (double)g->job.net->k->sum_squares(sum, n);
    }
    rela_flush_to_zero_end(mode);
}
