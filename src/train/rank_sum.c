/* SPDX-License-Identifier: MIT */
/* src/train/rank_sum.c - see rank_sum.h. */
#include "train/rank_sum.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/flush_to_zero.h"

#include <string.h>

/* Bytes of one half of the inbox, and slices of a message: larger ones would gain nothing. */
enum { INBOX_BYTES = 64 << 20, WINDOW_MAX = 64 };

/* What threads add: own slices [0, n) of a window. */
typedef struct addition {
    rela_rank_sum *s;
    real *const *grads;
    size_t first;
    size_t at; /* slice of the window */
    const real *inbox;
    double *squares;
} addition;

static void add_slices(void *ctx, size_t begin, size_t end, int thread);
static void clear_slices(void *ctx, size_t begin, size_t end, int thread);
static void begin_window(rela_rank_sum *s, real *const *grads, size_t first, size_t at);

static size_t count_slices(const rela_rank_sum_options *o)
{
    return (o->total + o->slice - 1) / o->slice;
}

static size_t window_of(const rela_world *w, const rela_rank_sum_options *o)
{
    const size_t bytes = rela_world_size(w) * o->per * o->slice * sizeof(real);
    const size_t n = INBOX_BYTES / bytes, own = count_slices(o) / rela_world_size(w) + 1;
    const size_t most = own < WINDOW_MAX ? own : WINDOW_MAX;
    return n < 1 ? 1 : n < most ? n : most;
}

static size_t inbox_reals(const rela_world *w, const rela_rank_sum_options *o)
{
    return rela_world_size(w) * o->per * window_of(w, o) * o->slice;
}

size_t rela_rank_sum_bytes(const rela_world *w, const rela_rank_sum_options *o)
{
    const size_t own = o->total / rela_world_size(w) + o->slice;
    return (2 * inbox_reals(w, o) + (o->group < o->units ? 2 : 1) * own) * sizeof(real);
}

static size_t round_of(const rela_rank_sum *s)
{
    return s->per * rela_world_size(s->world);
}

/* In all rounds of an update; in the last some may be missing. */
static size_t units_of_rank(const rela_rank_sum *s)
{
    return (s->units + round_of(s) - 1) / round_of(s) * s->per;
}

rela_status rela_rank_sum_init(rela_rank_sum *s, rela_world *w, const rela_rank_sum_options *o,
                               rela_error *err)
{
    const size_t size = rela_world_size(w), rank = rela_world_rank(w), n = count_slices(o);
    *s = (rela_rank_sum){ .world = w,
                          .k = o->k,
                          .total = o->total,
                          .slice = o->slice,
                          .units = o->units,
                          .group = o->group,
                          .per = o->per,
                          .note = o->note,
                          .n_threads = o->n_threads,
                          .window = window_of(w, o) };
    s->slices = rela_mem_array(size + 1, sizeof *s->slices);
    s->reals = rela_mem_array(size + 1, sizeof *s->reals);
    s->out = rela_mem_array(size * o->per, sizeof *s->out);
    s->in = rela_mem_array(size * o->per, sizeof *s->in);
    s->notes = rela_mem_zalloc(size * units_of_rank(s) * o->note);
    for (int i = 0; i < 2; i++)
        s->inbox[i] = rela_mem_array(inbox_reals(w, o), sizeof(real));
    for (size_t r = 0; s->slices && s->reals && r <= size; r++) {
        s->slices[r] = n * r / size;
        s->reals[r] = r < size ? s->slices[r] * o->slice : o->total;
    }
    if (s->slices && s->reals) {
        const size_t own = s->reals[rank + 1] - s->reals[rank] + 1;
        s->sum = rela_mem_array(own, sizeof *s->sum);
        s->part = s->group < s->units ? rela_mem_array(own, sizeof *s->part) : NULL;
    }
    if (s->sum && (s->part || s->group == s->units) && s->out && s->in && s->notes && s->inbox[0] &&
        s->inbox[1])
        return RELA_OK;
    rela_rank_sum_deinit(s);
    return rela_fail(err, RELA_NOMEM, "no memory for gradients of %zu ranks: %zu bytes", size,
                     rela_rank_sum_bytes(w, o));
}

void rela_rank_sum_deinit(rela_rank_sum *s)
{
    rela_mem_free(s->slices);
    rela_mem_free(s->reals);
    rela_mem_free(s->sum);
    rela_mem_free(s->part);
    rela_mem_free(s->inbox[0]);
    rela_mem_free(s->inbox[1]);
    rela_mem_free(s->out);
    rela_mem_free(s->in);
    rela_mem_free(s->notes);
    *s = (rela_rank_sum){ .world = NULL };
}

size_t rela_rank_sum_begin(const rela_rank_sum *s)
{
    return s->reals[rela_world_rank(s->world)];
}

size_t rela_rank_sum_end(const rela_rank_sum *s)
{
    return s->reals[rela_world_rank(s->world) + 1];
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t own_slices(const rela_rank_sum *s, size_t rank)
{
    return s->slices[rank + 1] - s->slices[rank];
}

void rela_rank_sum_add(rela_rank_sum *s, real *const *grads, size_t first)
{
    const size_t rank = rela_world_rank(s->world), size = rela_world_size(s->world);
    size_t most = 0;
    for (size_t r = 0; r < size; r++)
        most = own_slices(s, r) > most ? own_slices(s, r) : most;
    begin_window(s, grads, first, 0);
    rela_fault_reach(RELA_FAULT_EXCHANGE);
    for (size_t at = 0; at < most; at += s->window) {
        const size_t own = own_slices(s, rank);
        addition a = { s, grads, first, at, s->inbox[at / s->window % 2], NULL };
        rela_world_wait(s->world);
        if (at + s->window < most)
            begin_window(s, grads, first, at + s->window);
        if (at < own)
            rela_par_rows(least(own - at, s->window), s->n_threads, add_slices, &a);
    }
    addition all = { .s = s, .grads = grads };
    rela_par_rows((s->total + s->slice - 1) / s->slice, s->n_threads, clear_slices, &all);
}

/* Reals of a rank in the window that begins with its slice `at`, and where they begin. */
static size_t window_reals(const rela_rank_sum *s, size_t rank, size_t at, size_t *begin)
{
    *begin = least(s->reals[rank] + at * s->slice, s->reals[rank + 1]);
    return least(s->reals[rank + 1] - *begin, s->window * s->slice);
}

/* Where the gradient of a unit of another rank is received. */
static size_t inbox_at(const rela_rank_sum *s, size_t rank, size_t t)
{
    return (rank * s->per + t) * s->window * s->slice;
}

static void begin_window(rela_rank_sum *s, real *const *grads, size_t first, size_t at)
{
    const size_t rank = rela_world_rank(s->world), size = rela_world_size(s->world);
    real *inbox = s->inbox[at / s->window % 2];
    size_t n_out = 0, n_in = 0;
    for (size_t r = 0; r < size; r++)
        for (size_t t = 0; t < s->per; t++) {
            size_t begin = 0;
            const size_t out = window_reals(s, r, at, &begin);
            if (r != rank && out && first + rank * s->per + t < s->units)
                s->out[n_out++] = (rela_message){ r, grads[t] + begin, out * sizeof(real) };
            const size_t in = window_reals(s, rank, at, &begin);
            if (r != rank && in && first + r * s->per + t < s->units)
                s->in[n_in++] = (rela_message){ r, inbox + inbox_at(s, r, t), in * sizeof(real) };
        }
    rela_world_begin(s->world, s->out, n_out, s->in, n_in);
}

/* Adds n reals of a unit at reals `at` of the own slices: the units of a group first, then the
 * groups. What is first is not added to 0, which would change the sign of -0. */
static void add_unit(rela_rank_sum *s, size_t unit, size_t at, const real *from, size_t n)
{
    const bool is_first_group = unit < s->group;
    real *to = (is_first_group ? s->sum : s->part) + at;
    if (unit % s->group == 0)
        memcpy(to, from, n * sizeof *to);
    else
        s->k->axpy(to, 1, from, n);
    if (!is_first_group && (unit + 1) % s->group == 0)
        s->k->axpy(s->sum + at, 1, to, n);
}

static void add_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const addition *a = ctx;
    rela_rank_sum *s = a->s;
    const size_t rank = rela_world_rank(s->world), round = rela_world_size(s->world) * s->per;
    const size_t origin = rela_rank_sum_begin(s);
    const uint64_t mode = rela_flush_to_zero();
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t at = (a->at + i) * s->slice,
                     n = least(rela_rank_sum_end(s) - origin - at, s->slice);
        for (size_t k = 0; k < round && a->first + k < s->units; k++) {
            const size_t r = k / s->per, t = k % s->per;
            const real *from =
                r == rank ? a->grads[t] + origin + at : a->inbox + inbox_at(s, r, t) + i * s->slice;
            add_unit(s, a->first + k, at, from, n);
        }
    }
    rela_flush_to_zero_end(mode);
}

static void clear_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const addition *a = ctx;
    const size_t at = begin * a->s->slice, to = least(end * a->s->slice, a->s->total);
    (void)thread;
    for (size_t t = 0; t < a->s->per && at < to; t++)
        memset(a->grads[t] + at, 0, (to - at) * sizeof(real));
}

static void square_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const addition *a = ctx;
    const rela_rank_sum *s = a->s;
    const size_t own = rela_rank_sum_end(s) - rela_rank_sum_begin(s);
    const uint64_t mode = rela_flush_to_zero();
    (void)thread;
    for (size_t i = begin; i < end; i++)
        a->squares[s->slices[rela_world_rank(s->world)] + i] =
            (double)s->k->sum_squares(s->sum + i * s->slice, least(own - i * s->slice, s->slice));
    rela_flush_to_zero_end(mode);
}

void rela_rank_sum_squares(rela_rank_sum *s, double *squares)
{
    addition own = { .s = s, .squares = squares };
    rela_par_rows(own_slices(s, rela_world_rank(s->world)), s->n_threads, square_slices, &own);
    rela_world_share(s->world, squares, sizeof *squares, s->slices);
}

/* The rank that computes a unit. */
static size_t rank_of(const rela_rank_sum *s, size_t unit)
{
    return unit % round_of(s) / s->per;
}

/* The note of a unit among those of its rank. */
static char *note_at(const rela_rank_sum *s, size_t unit)
{
    const size_t at = unit / round_of(s) * s->per + unit % s->per;
    return s->notes + (rank_of(s, unit) * units_of_rank(s) + at) * s->note;
}

void rela_rank_sum_notes(rela_rank_sum *s, void *notes)
{
    char *all = notes;
    for (size_t i = 0; i < s->units; i++)
        if (rank_of(s, i) == rela_world_rank(s->world))
            memcpy(note_at(s, i), all + i * s->note, s->note);
    rela_world_share_equal(s->world, s->notes, units_of_rank(s) * s->note);
    for (size_t i = 0; i < s->units; i++)
        memcpy(all + i * s->note, note_at(s, i), s->note);
}
