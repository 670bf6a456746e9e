/* SPDX-License-Identifier: MIT */
/* src/train/rank_sum.c - see rank_sum.h. */
#include "train/rank_sum.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/flush_to_zero.h"

#include <string.h>

enum {
    INBOX_BYTES = 64 << 20, /* for all bands in flight, about */
    WIDTH_MAX = 64,         /* slices per message: larger ones gain nothing */
    BANDS = 16              /* at least, given enough slices: sending can start early */
};

/* Context of the threads that add, square or zero slices. */
typedef struct addition {
    rela_rank_sum *s;
    size_t band;
    const real *inbox;
    double *squares;
} addition;

static void begin_band(rela_rank_sum *s);
static void add_band(rela_rank_sum *s, size_t number);
static void clear_slices(void *ctx, size_t begin, size_t end, int thread);

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- which rank owns what ---- */

static size_t count_slices(const rela_rank_sum_options *o)
{
    return (o->total + o->slice - 1) / o->slice;
}

/* Reals received per round for one own slice. */
static size_t slice_inbox(const rela_world *w, const rela_rank_sum_options *o)
{
    return (rela_world_size(w) - 1) * o->per * o->slice;
}

static size_t choose_width(const rela_world *w, const rela_rank_sum_options *o)
{
    const size_t room = INBOX_BYTES / (2 * slice_inbox(w, o) * sizeof(real));
    const size_t n = least(count_slices(o) / (BANDS * rela_world_size(w)), least(room, WIDTH_MAX));
    return n > 0 ? n : 1;
}

static size_t count_bands(const rela_world *w, const rela_rank_sum_options *o)
{
    const size_t band = choose_width(w, o) * rela_world_size(w);
    return (count_slices(o) + band - 1) / band;
}

static size_t choose_depth(const rela_world *w, const rela_rank_sum_options *o)
{
    const size_t n = INBOX_BYTES / (choose_width(w, o) * slice_inbox(w, o) * sizeof(real));
    return least(n > 2 ? n : 2, count_bands(w, o));
}

static size_t inbox_reals(const rela_world *w, const rela_rank_sum_options *o)
{
    return choose_depth(w, o) * choose_width(w, o) * slice_inbox(w, o);
}

size_t rela_rank_sum_own_max(const rela_world *w, const rela_rank_sum_options *o)
{
    return count_bands(w, o) * choose_width(w, o) * o->slice;
}

size_t rela_rank_sum_bytes(const rela_world *w, const rela_rank_sum_options *o)
{
    const size_t sums = o->group < o->units ? 2 : 1;
    return (inbox_reals(w, o) + sums * rela_rank_sum_own_max(w, o)) * sizeof(real);
}

/* The first slice of a rank in a band. */
static size_t chunk_begin(const rela_rank_sum *s, size_t band, size_t rank)
{
    return (band * rela_world_size(s->world) + rank) * s->width;
}

static size_t chunk_slices(const rela_rank_sum *s, size_t band, size_t rank)
{
    const size_t begin = chunk_begin(s, band, rank);
    return begin < s->n_slices ? least(s->width, s->n_slices - begin) : 0;
}

/* The same in reals. */
static size_t chunk_reals(const rela_rank_sum *s, size_t band, size_t rank, size_t *begin)
{
    const size_t first = chunk_begin(s, band, rank), n = chunk_slices(s, band, rank);
    *begin = first * s->o.slice;
    return n ? least((first + n) * s->o.slice, s->o.total) - *begin : 0;
}

size_t rela_rank_sum_slice(const rela_rank_sum *s, size_t i)
{
    return chunk_begin(s, i / s->width, rela_world_rank(s->world)) + i % s->width;
}

/* The i-th band to be exchanged: downwards from first_band, then those above it, which the backward
 * pass completes last. */
static size_t band_at(const rela_rank_sum *s, size_t i)
{
    return (s->first_band + s->n_bands - i) % s->n_bands;
}

/* ---- life ---- */

static size_t round_of(const rela_rank_sum *s)
{
    return s->o.per * rela_world_size(s->world);
}

/* Units of a rank in all rounds of an update; the last round may lack some. */
static size_t units_of_rank(const rela_rank_sum *s)
{
    return (s->o.units + round_of(s) - 1) / round_of(s) * s->o.per;
}

static void divide(rela_rank_sum *s)
{
    const size_t rank = rela_world_rank(s->world), size = rela_world_size(s->world);
    s->n_slices = count_slices(&s->o);
    s->width = choose_width(s->world, &s->o);
    s->n_bands = count_bands(s->world, &s->o);
    s->depth = choose_depth(s->world, &s->o);
    for (size_t b = 0; b < s->n_bands; b++)
        s->n_own += chunk_slices(s, b, rank);
    const size_t band = size * s->width * s->o.slice, complete = s->o.complete_end / band;
    s->first_band = s->o.complete_end < s->o.total && complete ? complete - 1 : s->n_bands - 1;
}

rela_status rela_rank_sum_init(rela_rank_sum *s, rela_world *w, const rela_rank_sum_options *o,
                               rela_error *err)
{
    const size_t size = rela_world_size(w);
    *s = (rela_rank_sum){ .world = w, .o = *o };
    divide(s);
    const size_t own = s->n_own * o->slice + 1, messages = s->n_bands + o->per;
    s->out = rela_mem_array(size * messages, sizeof *s->out);
    s->in = rela_mem_array(size * messages, sizeof *s->in);
    s->notes = rela_mem_zalloc(size * units_of_rank(s) * o->note);
    s->inbox = rela_mem_array(inbox_reals(w, o), sizeof(real));
    s->sum = rela_mem_array(own, sizeof *s->sum);
    s->part = o->group < o->units ? rela_mem_array(own, sizeof *s->part) : NULL;
    if (s->out && s->in && s->notes && s->inbox && s->sum && (s->part || o->group == o->units))
        return RELA_OK;
    rela_rank_sum_deinit(s);
    return rela_fail(err, RELA_NOMEM, "no memory for gradients of %zu ranks: %zu bytes", size,
                     rela_rank_sum_bytes(w, o));
}

void rela_rank_sum_deinit(rela_rank_sum *s)
{
    rela_mem_free(s->sum);
    rela_mem_free(s->part);
    rela_mem_free(s->inbox);
    rela_mem_free(s->out);
    rela_mem_free(s->in);
    rela_mem_free(s->notes);
    *s = (rela_rank_sum){ .world = NULL };
}

/* ---- a round ---- */

void rela_rank_sum_start(rela_rank_sum *s, real *const *grads, size_t first)
{
    s->grads = grads;
    s->first = first;
    s->begun = 0;
}

void rela_rank_sum_send(rela_rank_sum *s, size_t from, size_t to)
{
    const size_t band = rela_world_size(s->world) * s->width * s->o.slice, before = s->begun;
    while (s->begun < s->depth) {
        const size_t begin = band_at(s, s->begun) * band;
        if (begin < from || least(begin + band, s->o.total) > to)
            break;
        begin_band(s);
    }
    if (s->begun > before)
        rela_world_advance(s->world);
}

void rela_rank_sum_add(rela_rank_sum *s)
{
    size_t received = 0;
    while (s->begun < s->depth)
        begin_band(s);
    rela_fault_reach(RELA_FAULT_EXCHANGE);
    for (size_t i = 0; i < s->n_bands; i++) {
        if (i == received) {
            rela_world_wait(s->world);
            received = s->begun;
        }
        while (s->begun < s->n_bands && s->begun < i + s->depth)
            begin_band(s); /* in the inbox that band i - 1 has left */
        add_band(s, i);
    }
    addition all = { .s = s };
    rela_par_rows(s->n_slices, s->o.n_threads, clear_slices, &all);
}

/* Offset in the inbox of a band of the gradient of another rank's unit t. */
static size_t inbox_at(const rela_rank_sum *s, size_t rank, size_t t)
{
    const size_t other = rank < rela_world_rank(s->world) ? rank : rank - 1;
    return (other * s->o.per + t) * s->width * s->o.slice;
}

/* Inbox of the i-th band to be exchanged. */
static real *inbox_of(const rela_rank_sum *s, size_t i)
{
    return s->inbox + i % s->depth * s->width * slice_inbox(s->world, &s->o);
}

static void begin_band(rela_rank_sum *s)
{
    const size_t rank = rela_world_rank(s->world), size = rela_world_size(s->world),
                 band = band_at(s, s->begun);
    real *inbox = inbox_of(s, s->begun);
    size_t n_out = 0, n_in = 0;
    for (size_t r = 0; r < size; r++)
        for (size_t t = 0; t < s->o.per; t++) {
            size_t begin = 0;
            const size_t out = chunk_reals(s, band, r, &begin);
            if (r != rank && out && s->first + rank * s->o.per + t < s->o.units)
                s->out[n_out++] = (rela_message){ r, s->grads[t] + begin, out * sizeof(real) };
            const size_t in = chunk_reals(s, band, rank, &begin);
            if (r != rank && in && s->first + r * s->o.per + t < s->o.units)
                s->in[n_in++] = (rela_message){ r, inbox + inbox_at(s, r, t), in * sizeof(real) };
        }
    rela_world_begin(s->world, s->out, n_out, s->in, n_in);
    s->begun++;
}

/* Adds n reals of a unit at offset `at` of the own slices: units to the sum of their group,
 * complete groups to the total. The first is copied: adding it to 0 would change the sign of -0. */
static void add_unit(rela_rank_sum *s, size_t unit, size_t at, const real *from, size_t n)
{
    const bool is_first_group = unit < s->o.group;
    real *to = (is_first_group ? s->sum : s->part) + at;
    if (unit % s->o.group == 0)
        memcpy(to, from, n * sizeof *to);
    else
        s->o.k->axpy(to, 1, from, n);
    if (!is_first_group && (unit + 1) % s->o.group == 0)
        s->o.k->axpy(s->sum + at, 1, to, n);
}

static void add_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const addition *a = ctx;
    rela_rank_sum *s = a->s;
    const size_t rank = rela_world_rank(s->world);
    const uint64_t mode = rela_flush_to_zero();
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t own = (a->band * s->width + i) * s->o.slice,
                     at = (chunk_begin(s, a->band, rank) + i) * s->o.slice,
                     n = least(s->o.total - at, s->o.slice);
        for (size_t k = 0; k < round_of(s) && s->first + k < s->o.units; k++) {
            const size_t r = k / s->o.per, t = k % s->o.per;
            const real *from =
                r == rank ? s->grads[t] + at : a->inbox + inbox_at(s, r, t) + i * s->o.slice;
            add_unit(s, s->first + k, own, from, n);
        }
    }
    rela_flush_to_zero_end(mode);
}

static void add_band(rela_rank_sum *s, size_t number)
{
    addition a = { .s = s, .band = band_at(s, number), .inbox = inbox_of(s, number) };
    const size_t n = chunk_slices(s, a.band, rela_world_rank(s->world));
    rela_par_rows(n, s->o.n_threads, add_slices, &a);
}

static void clear_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const addition *a = ctx;
    const size_t at = begin * a->s->o.slice, to = least(end * a->s->o.slice, a->s->o.total);
    (void)thread;
    for (size_t t = 0; t < a->s->o.per && at < to; t++)
        memset(a->s->grads[t] + at, 0, (to - at) * sizeof(real));
}

static void square_slices(void *ctx, size_t begin, size_t end, int thread)
{
    const addition *a = ctx;
    const rela_rank_sum *s = a->s;
    const uint64_t mode = rela_flush_to_zero();
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const size_t slice = rela_rank_sum_slice(s, i),
                     n = least(s->o.total - slice * s->o.slice, s->o.slice);
        a->squares[slice] = (double)s->o.k->sum_squares(s->sum + i * s->o.slice, n);
    }
    rela_flush_to_zero_end(mode);
}

void rela_rank_sum_squares(rela_rank_sum *s, double *squares)
{
    addition own = { .s = s, .squares = squares };
    rela_par_rows(s->n_own, s->o.n_threads, square_slices, &own);
    rela_rank_sum_share(s, squares, sizeof *squares, s->n_slices * sizeof *squares);
}

/* ---- arrays of all slices ---- */

/* Bytes of an array that a rank owns in a band; *begin is their offset. */
static size_t chunk_bytes(const rela_rank_sum *s, size_t band, size_t rank, size_t slice_bytes,
                          size_t bytes, size_t *begin)
{
    *begin = chunk_begin(s, band, rank) * slice_bytes;
    return *begin < bytes ? least(s->width * slice_bytes, bytes - *begin) : 0;
}

void rela_rank_sum_share(rela_rank_sum *s, void *array, size_t slice_bytes, size_t bytes)
{
    const size_t rank = rela_world_rank(s->world), size = rela_world_size(s->world);
    size_t n_out = 0, n_in = 0;
    for (size_t b = 0; b < s->n_bands; b++)
        for (size_t r = 0; r < size; r++) {
            size_t begin = 0;
            const size_t out = chunk_bytes(s, b, rank, slice_bytes, bytes, &begin);
            if (r != rank && out)
                s->out[n_out++] = (rela_message){ r, (char *)array + begin, out };
            const size_t in = chunk_bytes(s, b, r, slice_bytes, bytes, &begin);
            if (r != rank && in)
                s->in[n_in++] = (rela_message){ r, (char *)array + begin, in };
        }
    rela_world_begin(s->world, s->out, n_out, s->in, n_in);
    rela_world_wait(s->world);
}

void rela_rank_sum_gather(rela_rank_sum *s, real *all, real *own)
{
    const size_t rank = rela_world_rank(s->world), size = rela_world_size(s->world);
    size_t n_out = 0, n_in = 0, begin = 0;
    for (size_t b = 0; b < s->n_bands; b++) {
        real *from = own + b * s->width * s->o.slice;
        const size_t n = chunk_reals(s, b, rank, &begin);
        if (all && n)
            memcpy(all + begin, from, n * sizeof *all);
        if (!all && n)
            s->out[n_out++] = (rela_message){ 0, from, n * sizeof *from };
        for (size_t r = 1; all && r < size; r++) {
            const size_t in = chunk_reals(s, b, r, &begin);
            if (in)
                s->in[n_in++] = (rela_message){ r, all + begin, in * sizeof *all };
        }
    }
    rela_world_begin(s->world, s->out, n_out, s->in, n_in);
    rela_world_wait(s->world);
}

/* ---- records of units ---- */

/* The rank that computes a unit. */
static size_t rank_of(const rela_rank_sum *s, size_t unit)
{
    return unit % round_of(s) / s->o.per;
}

/* The record of a unit among those of its rank. */
static char *note_at(const rela_rank_sum *s, size_t unit)
{
    const size_t at = unit / round_of(s) * s->o.per + unit % s->o.per;
    return s->notes + (rank_of(s, unit) * units_of_rank(s) + at) * s->o.note;
}

void rela_rank_sum_notes(rela_rank_sum *s, void *notes)
{
    char *all = notes;
    for (size_t i = 0; i < s->o.units; i++)
        if (rank_of(s, i) == rela_world_rank(s->world))
            memcpy(note_at(s, i), all + i * s->o.note, s->o.note);
    rela_world_share_equal(s->world, s->notes, units_of_rank(s) * s->o.note);
    for (size_t i = 0; i < s->o.units; i++)
        memcpy(all + i * s->o.note, note_at(s, i), s->o.note);
}
