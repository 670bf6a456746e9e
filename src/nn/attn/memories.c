/* SPDX-License-Identifier: MIT */
/* src/nn/attn/memories.c - room for the memories of sentences that come and go: the first gap that
 * is large enough; if there is none, all are moved together. */
#include "base/mem.h"
#include "nn/attn/cache.h"

#include <assert.h>
#include <string.h>

static void plan(rela_memories *m, rela_plan *p)
{
    const size_t reals = m->need.keyed * m->rows * m->d;
    m->keys_t = rela_plan_reals(p, reals);
    m->values = rela_plan_reals(p, reals);
    m->keys = rela_plan_reals(p, m->tapped ? m->need.shown * m->rows * m->d : 0);
    m->states = rela_plan_reals(p, m->places * m->need.state);
    m->not_finite = rela_plan_reals(p, m->need.n * m->places);
    m->at = rela_plan_take(p, m->places, sizeof *m->at);
    m->n = rela_plan_take(p, m->places, sizeof *m->n);
    m->order = rela_plan_take(p, m->places, sizeof *m->order);
}

/* Copies the memory at a place, to the given row of the same or of other memories. */
static void copy(rela_memories *to, size_t row, const rela_memories *from, uint32_t place)
{
    const size_t n = from->n[place], ld = rela_memory_ld(n), d = to->d, at = from->at[place];
    for (size_t l = 0; l < to->need.keyed; l++) {
        const size_t into = (l * to->rows + row) * d, out_of = (l * from->rows + at) * d;
        memmove(to->keys_t + into, from->keys_t + out_of, ld * d * sizeof *to->keys_t);
        memmove(to->values + into, from->values + out_of, n * d * sizeof *to->values);
    }
    for (size_t l = 0; l < to->need.shown && to->tapped && from->tapped; l++)
        memmove(to->keys + (l * to->rows + row) * d, from->keys + (l * from->rows + at) * d,
                n * d * sizeof *to->keys);
    for (size_t l = 0; l < to->need.n; l++)
        to->not_finite[l * to->places + place] = from->not_finite[l * from->places + place];
    memmove(to->states + place * to->need.state, from->states + place * to->need.state,
            to->need.state * sizeof *to->states);
    to->at[place] = row;
    to->n[place] = n;
}

/* Copies all that has rows, without gaps, in the same order. */
static void copy_all(rela_memories *to, const rela_memories *from)
{
    size_t row = 0;
    for (size_t i = 0; i < from->n_given; i++) {
        const uint32_t place = from->order[i];
        if (to->block != from->block || from->at[place] != row)
            copy(to, row, from, place);
        to->order[i] = place;
        row += rela_memory_ld(from->n[place]);
    }
    to->n_given = from->n_given;
}

rela_status rela_memories_reserve(rela_memories *m, size_t places, size_t rows, bool tapped,
                                  rela_error *err)
{
    rela_memories next = *m;
    rela_plan p = { NULL, 0 };
    if (places == 0) {
        rela_mem_free(m->block);
        *m = (rela_memories){ .d = m->d, .need = m->need };
        return RELA_OK;
    }
    if (places <= m->places && rows <= m->rows && tapped <= m->tapped)
        return RELA_OK;
    next.places = places > m->places ? places : m->places;
    next.rows = rows > m->rows ? rows : m->rows;
    next.tapped = tapped || m->tapped;
    plan(&next, &p);
    const size_t bytes = p.used + RELA_PLAN_ALIGN;
    next.block = rela_mem_alloc(bytes);
    if (!next.block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of encoded sources", bytes);
    p = rela_plan_in(next.block);
    plan(&next, &p);
    memset(next.n, 0, next.places * sizeof *next.n);
    copy_all(&next, m);
    rela_mem_free(m->block);
    *m = next;
    return RELA_OK;
}

void rela_memories_take_back(rela_memories *m, uint32_t place)
{
    size_t i = 0;
    while (i < m->n_given && m->order[i] != place)
        i++;
    if (i == m->n_given)
        return;
    m->n_given--;
    memmove(m->order + i, m->order + i + 1, (m->n_given - i) * sizeof *m->order);
}

/* Number in the order before which there is a gap of enough rows; *row: its first. */
static size_t find_gap(const rela_memories *m, size_t rows, size_t *row)
{
    size_t i = 0;
    *row = 0;
    for (; i < m->n_given && m->at[m->order[i]] - *row < rows; i++)
        *row = m->at[m->order[i]] + rela_memory_ld(m->n[m->order[i]]);
    return i;
}

void rela_memories_give(rela_memories *m, uint32_t place, size_t n)
{
    const size_t rows = rela_memory_ld(n);
    size_t row = 0;
    rela_memories_take_back(m, place);
    size_t i = find_gap(m, rows, &row);
    if (row + rows > m->rows) {
        copy_all(m, m);
        i = find_gap(m, rows, &row);
    }
    assert(row + rows <= m->rows);
    memmove(m->order + i + 1, m->order + i, (m->n_given - i) * sizeof *m->order);
    m->order[i] = place;
    m->n_given++;
    m->at[place] = row;
    m->n[place] = n;
}
