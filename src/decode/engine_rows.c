/* SPDX-License-Identifier: MIT */
/* src/decode/engine_rows.c - rows of hypotheses, and the slots that their histories share. */
#include "decode/engine_state.h"

#include <string.h>

static void release_slots(rela_engine *e, uint32_t slot);

void rela_engine_start_rows(rela_engine *e, uint32_t place)
{
    rela_live *x = &e->places[place];
    x->first = e->rows.n;
    x->n = x->strategy == &rela_strategy_sample ? x->width : 1;
    for (size_t i = 0; i < x->n; i++) {
        const size_t row = e->rows.n++;
        e->rows.token[row] = RELA_PAD;
        e->rows.position[row] = 0;
        e->rows.place[row] = place;
        e->rows.node[row] = RELA_NO_NODE;
        e->rows.sample[row] = (uint32_t)i;
        e->rows.logp[row] = 0;
    }
}

/* ---- hypotheses ---- */

static uint32_t add_node(const rela_engine *e, rela_live *x, size_t row, int32_t token, double logp)
{
    x->nodes[x->n_nodes] = (rela_node){ .parent = e->rows.node[row],
                                        .record = (uint32_t)(x->n_records + row - x->first),
                                        .token = token,
                                        .logp = (real)(logp - e->rows.logp[row]) };
    return (uint32_t)x->n_nodes++;
}

void rela_engine_extend(rela_engine *e, size_t row, int32_t token, double logp)
{
    const size_t to = e->next.n++, position = e->rows.position[row];
    e->next.token[to] = token;
    e->next.position[to] = (uint32_t)position + 1;
    e->next.place[to] = e->rows.place[row];
    e->next.node[to] = add_node(e, rela_live_of(e, row), row, token, logp);
    e->next.sample[to] = e->rows.sample[row];
    e->next.logp[to] = logp;
    memcpy(e->next.history + to * e->size.steps, e->rows.history + row * e->size.steps,
           (position + 1) * sizeof *e->next.history);
}

/* By rank: complete before cut off, then by score; equal ones in order of arrival. */
static void insert(rela_live *x, const rela_ended *ended, size_t most)
{
    size_t at = x->n_ended;
    while (at > 0 && (ended->complete > x->ended[at - 1].complete ||
                      (ended->complete == x->ended[at - 1].complete &&
                       ended->score > x->ended[at - 1].score)))
        at--;
    if (at >= most)
        return;
    const size_t n = x->n_ended < most ? x->n_ended : most - 1;
    memmove(x->ended + at + 1, x->ended + at, (n - at) * sizeof *ended);
    x->ended[at] = *ended;
    x->n_ended = n + 1;
}

void rela_engine_end(rela_engine *e, rela_live *x, size_t row, double logp)
{
    const size_t length = e->rows.position[row] + 1;
    const double score = logp / rela_penalty(x->options, length);
    if (x->n_ended == x->width && !(score > x->ended[x->width - 1].score))
        return;
    const rela_ended ended = { .node = add_node(e, x, row, RELA_EOS, logp),
                               .length = (uint32_t)length,
                               .complete = true,
                               .logp = logp,
                               .score = score };
    insert(x, &ended, x->width);
}

void rela_engine_cut(rela_live *x, const rela_live_rows *rows, size_t first, size_t n)
{
    for (size_t row = first; row < first + n; row++) {
        const rela_ended ended = { .node = rows->node[row],
                                   .length = rows->position[row],
                                   .complete = false,
                                   .logp = rows->logp[row],
                                   .score = rows->logp[row] /
                                            rela_penalty(x->options, rows->position[row]) };
        insert(x, &ended, 2 * x->width);
    }
}

/* ---- slots ---- */

static uint32_t slot_at(const rela_engine *e, const rela_live_rows *rows, size_t row,
                        size_t position)
{
    return rows->history[row * e->size.steps + position];
}

/* Frees a slot that nothing comes after, and those before it that only led to it. */
static void release_slots(rela_engine *e, uint32_t slot)
{
    while (slot != RELA_NO_SLOT && e->slot_uses[slot] == 0) {
        const uint32_t before = e->slot_before[slot];
        e->free_slots[slot / 64] |= (uint64_t)1 << slot % 64;
        e->first_free = slot / 64 < e->first_free ? slot / 64 : e->first_free;
        e->n_free++;
        if (before != RELA_NO_SLOT)
            e->slot_uses[before]--;
        slot = before;
    }
}

void rela_engine_advance(rela_engine *e)
{
    const rela_live_rows rows = e->rows;
    for (size_t i = 0; i < e->next.n; i++)
        e->slot_uses[slot_at(e, &e->next, i, e->next.position[i] - 1)]++;
    for (size_t i = 0; i < rows.n; i++)
        release_slots(e, slot_at(e, &rows, i, rows.position[i]));
    e->rows = e->next;
    e->next = rows;
}

/* Moves rows to the front. */
static void move_row(rela_engine *e, size_t to, size_t from)
{
    rela_live_rows *r = &e->rows;
    r->token[to] = r->token[from];
    r->position[to] = r->position[from];
    r->place[to] = r->place[from];
    r->node[to] = r->node[from];
    r->sample[to] = r->sample[from];
    r->logp[to] = r->logp[from];
    memcpy(r->history + to * e->size.steps, r->history + from * e->size.steps,
           r->position[from] * sizeof *r->history);
}

void rela_engine_drop_rows(rela_engine *e, uint32_t place)
{
    const size_t first = e->places[place].first, n = e->places[place].n;
    if (n == 0)
        return;
    for (size_t i = first; i < first + n; i++)
        if (e->rows.position[i] > 0) {
            const uint32_t slot = slot_at(e, &e->rows, i, e->rows.position[i] - 1);
            e->slot_uses[slot]--;
            release_slots(e, slot);
        }
    for (size_t i = first + n; i < e->rows.n; i++) {
        rela_live *x = rela_live_of(e, i);
        if (x->first == i)
            x->first -= n;
        move_row(e, i - n, i);
    }
    e->rows.n -= n;
}
