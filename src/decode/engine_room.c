/* SPDX-License-Identifier: MIT */
/* src/decode/engine_room.c - memory of an engine: of the sentence at a place, of all rows, of the
 * slots. */
#include "decode/engine_state.h"

#include "base/mem.h"

#include <string.h>

enum { NODES_AT_ONCE = 4096 }; /* of a sentence; more only when they are needed */

static void set_limits(const rela_engine *e, rela_live *x);
static bool add_needs(const rela_engine *e, rela_engine *want, const uint32_t *places, size_t n);
static rela_status replan(rela_engine *e, const rela_engine *want, rela_error *err);
static void plan(rela_engine *e, rela_plan *p);
static rela_status make_sentence_room(rela_live *x, rela_error *err);
static rela_status add_slots(rela_engine *e, size_t n, rela_error *err);

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- one sentence ---- */

/* Whether the room of a free place suits a sentence better than that of another one: the smallest
 * that is large enough, else the largest. */
static bool suits_better(size_t room, size_t than, size_t longest)
{
    return room >= longest ? than < longest || room < than : than < longest && room > than;
}

uint32_t rela_engine_free_place(rela_engine *e, size_t longest)
{
    uint32_t best = RELA_NO_PLACE;
    for (uint32_t i = 0; i < e->n_places; i++)
        if (e->places[i].state == RELA_LIVE_FREE &&
            (best == RELA_NO_PLACE ||
             suits_better(e->places[i].room, e->places[best].room, longest)))
            best = i;
    if (best != RELA_NO_PLACE)
        return best;
    const size_t more = larger(2 * e->n_places, 1);
    rela_live *places = rela_mem_resize(e->places, more * sizeof *places);
    if (!places)
        return RELA_NO_PLACE;
    memset(places + e->n_places, 0, (more - e->n_places) * sizeof *places);
    best = (uint32_t)e->n_places;
    e->places = places;
    e->n_places = more;
    return best;
}

rela_status rela_engine_set_up(rela_engine *e, uint32_t place, const rela_admission *a,
                               rela_error *err)
{
    rela_live *x = &e->places[place];
    const rela_search_options *o = a->options;
    const rela_config *c = &e->nets[0]->net->config;
    const bool samples = o->method == RELA_SEARCH_SAMPLE, watched = o->attention || o->heaviest;
    x->source = *a->source;
    x->options = o;
    x->ctx = a->ctx;
    x->strategy = samples        ? &rela_strategy_sample
                  : o->beam == 1 ? &rela_strategy_greedy
                                 : &rela_strategy_beam;
    x->width = samples ? o->n_best : o->beam;
    x->list = samples ? 0 : o->beam == 1 ? 1 : 2 * o->beam;
    x->whole = samples || e->n_nets > 1;
    x->n_nodes = x->n_records = x->n_ended = 0;
    x->n_heads = !watched ? 0 : o->heads ? o->n_heads : c->dec_layers * c->heads;
    x->ld_record = rela_source_longest(&x->source) + 1;
    x->stack = rela_block_list_cross(&e->nets[0]->net->list, o->source);
    x->not_finite = x->listed = false;
    x->n_words = e->vocabulary;
    set_limits(e, x);
    rela_ended *ended = rela_mem_grow(x->ended, &x->cap_ended, 2 * x->width, sizeof *ended);
    if (!ended)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu hypotheses", x->width);
    x->ended = ended;
    const size_t most = x->limit * 2 * x->width;
    rela_node *nodes = rela_mem_grow(x->nodes, &x->cap_nodes,
                                     most < NODES_AT_ONCE ? most : NODES_AT_ONCE, sizeof *nodes);
    if (!nodes)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu hypotheses", x->width);
    x->nodes = nodes;
    return o->shortlist && rela_source_longest(&x->source) ? rela_engine_list_words(e, x, err)
                                                           : RELA_OK;
}

/* Symbols of the longest and the shortest translation. */
static void set_limits(const rela_engine *e, rela_live *x)
{
    const rela_search_options *o = x->options;
    const double n = (double)rela_source_longest(&x->source);
    size_t most = SIZE_MAX;
    for (size_t i = 0; i < e->n_nets; i++)
        if (e->nets[i]->net->config.max_len < most)
            most = e->nets[i]->net->config.max_len;
    const double longest = o->max_factor * n + (double)o->max_extra;
    size_t limit = longest < 1 ? 1 : longest > (double)most ? most : (size_t)longest;
    limit = limit <= x->source.n_prefix ? x->source.n_prefix + 1 : limit;
    x->limit = limit < most ? limit : most;
    const double least = o->min_factor * n + (double)o->min_extra;
    x->least = least < 1 ? 1 : least > (double)x->limit ? x->limit : (size_t)least;
}

/* ---- all rows ---- */

rela_status rela_engine_reserve(rela_engine *e, const uint32_t *places, size_t n, rela_error *err)
{
    rela_engine want = *e;
    rela_status st = RELA_OK;
    if (add_needs(e, &want, places, n))
        st = replan(e, &want, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const rela_live *x = &e->places[places[i]];
        size_t n_src[RELA_SOURCES_MAX] = { 0 };
        for (size_t k = 0; k < e->n_sources; k++)
            n_src[k] = rela_source_rows(&x->source.text[k]);
        for (size_t k = 0; k < e->n_nets && st == RELA_OK && rela_source_longest(&x->source); k++)
            st = rela_generator_reserve_place(e->decoders[k], places[i], n_src,
                                              x->listed ? x->n_words : 0, err);
        e->places[places[i]].room = larger(x->room, rela_source_longest(&x->source));
    }
    return st;
}

/* Grows *have to what is needed, and by half at least: sentences may come one by one. */
static bool grow(size_t *have, size_t need)
{
    if (need <= *have)
        return false;
    *have = larger(need, *have + *have / 2);
    return true;
}

/* Raises the sizes to what the sentences at these places and those that live need; whether any is
 * larger than before. */
static bool add_needs(const rela_engine *e, rela_engine *want, const uint32_t *places, size_t n)
{
    size_t rows = 0, whole = 0, most_src = 0, most_kept = 0;
    size_t src_rows[RELA_SOURCES_MAX] = { 0 }, kept[RELA_SOURCES_MAX] = { 0 };
    rela_generator_size *size = &want->size;
    bool more = e->n_places > size->places;
    size->places = e->n_places;
    for (size_t i = 0; i < e->n_places; i++)
        if (e->places[i].state == RELA_LIVE_RUNS && rela_source_longest(&e->places[i].source)) {
            const rela_live *x = &e->places[i];
            rows += x->width;
            whole += x->whole ? x->width : 0;
            for (size_t k = 0; k < e->n_sources; k++)
                kept[k] += rela_memory_ld(rela_source_rows(&x->source.text[k]));
        }
    for (size_t i = 0; i < n; i++) {
        const rela_live *x = &e->places[places[i]];
        const size_t longest = rela_source_longest(&x->source);
        if (longest == 0)
            continue;
        for (size_t k = 0; k < e->n_sources; k++)
            src_rows[k] += rela_source_rows(&x->source.text[k]);
        more = grow(&size->src_len, longest + 1) || more;
        more = grow(&size->place_rows, x->width) || more;
        more = grow(&size->steps, x->limit) || more;
        more = grow(&want->list, x->list) || more;
        want->most_width = larger(want->most_width, x->width);
        more = more || (x->n_heads > 0 && !size->tapped);
        size->tapped = size->tapped || x->n_heads > 0;
        if (x->whole)
            more = grow(&want->most_words, x->n_words) || more;
    }
    for (size_t k = 0; k < e->n_sources; k++)
        most_src = larger(most_src, src_rows[k]);
    for (size_t k = 0; k < e->n_sources; k++)
        most_kept = larger(most_kept, kept[k]);
    /* With a quarter more, memories need not be moved each time. */
    more = grow(&size->src_kept, most_kept + (e->rows.n ? most_kept / 4 : 0)) || more;
    more = grow(&size->src_rows, most_src) || more;
    more = grow(&size->rows, rows) || more;
    return grow(&want->n_whole, whole) || more;
}

/* Copies the live rows into arrays of other sizes. */
static void copy_rows(rela_live_rows *to, size_t ld_to, const rela_live_rows *from, size_t ld_from)
{
    const size_t n = from->n;
    to->n = n;
    if (n == 0)
        return;
    memcpy(to->token, from->token, n * sizeof *to->token);
    memcpy(to->position, from->position, n * sizeof *to->position);
    memcpy(to->place, from->place, n * sizeof *to->place);
    memcpy(to->node, from->node, n * sizeof *to->node);
    memcpy(to->sample, from->sample, n * sizeof *to->sample);
    memcpy(to->logp, from->logp, n * sizeof *to->logp);
    for (size_t i = 0; i < n; i++)
        memcpy(to->history + i * ld_to, from->history + i * ld_from,
               from->position[i] * sizeof *to->history);
}

static void set_sizes(rela_engine *e, const rela_engine *from)
{
    e->size = from->size;
    e->list = from->list;
    e->n_whole = from->n_whole;
    e->most_words = from->most_words;
    e->most_width = from->most_width;
}

/* want: a copy of the engine with other sizes. What never changes is not written: other threads may
 * read it, to check requests. */
static rela_status replan(rela_engine *e, const rela_engine *want, rela_error *err)
{
    const rela_engine old = *e;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < e->n_nets && st == RELA_OK; i++)
        st = rela_generator_reserve(e->decoders[i], &want->size, err);
    if (st != RELA_OK)
        return st;
    rela_plan p = { NULL, 0 };
    set_sizes(e, want);
    plan(e, &p);
    const size_t bytes = p.used + RELA_PLAN_ALIGN;
    void *block = rela_mem_alloc(bytes);
    if (!block)
        set_sizes(e, &old);
    if (block || old.block) {
        p = rela_plan_in(block ? block : old.block);
        plan(e, &p);
    }
    if (!block) {
        e->rows = old.rows;
        e->next = old.next;
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of search state", bytes);
    }
    copy_rows(&e->rows, e->size.steps, &old.rows, old.size.steps);
    rela_mem_free(old.block);
    e->block = block;
    e->block_bytes = bytes;
    return RELA_OK;
}

static void plan_rows(rela_live_rows *r, rela_plan *p, size_t n, size_t ld)
{
    r->token = rela_plan_take(p, n, sizeof *r->token);
    r->position = rela_plan_take(p, n, sizeof *r->position);
    r->place = rela_plan_take(p, n, sizeof *r->place);
    r->node = rela_plan_take(p, n, sizeof *r->node);
    r->sample = rela_plan_take(p, n, sizeof *r->sample);
    r->logp = rela_plan_take(p, n, sizeof *r->logp);
    r->history = rela_plan_take(p, n * ld, sizeof *r->history);
}

static void plan(rela_engine *e, rela_plan *p)
{
    const size_t rows = e->size.rows, whole = e->n_whole * e->most_words;
    plan_rows(&e->rows, p, rows, e->size.steps);
    plan_rows(&e->next, p, rows, e->size.steps);
    e->logits = rela_plan_reals(p, rows * RELA_LOGITS_PART);
    e->whole = rela_plan_reals(p, whole);
    e->other = rela_plan_reals(p, e->n_nets > 1 ? whole : 0);
    e->whole_at = rela_plan_take(p, rows, sizeof *e->whole_at);
    e->lse = rela_plan_take(p, rows, sizeof *e->lse);
    e->sums = rela_plan_take(p, rows, sizeof *e->sums);
    e->best_at = rela_plan_take(p, rows * e->list, sizeof *e->best_at);
    e->best = rela_plan_reals(p, rows * e->list);
    e->n_best = rela_plan_take(p, rows, sizeof *e->n_best);
    e->forced = rela_plan_take(p, rows, sizeof *e->forced);
    e->pool = rela_plan_take(p, 2 * e->most_width, sizeof *e->pool);
    e->order = rela_plan_take(p, e->most_words, sizeof *e->order);
    e->sorted = rela_plan_reals(p, e->most_words);
    e->src_places = rela_plan_take(p, e->size.places, sizeof *e->src_places);
    for (size_t k = 0; k < e->n_sources; k++) {
        e->src_ids[k] = rela_plan_take(p, e->size.src_rows, sizeof *e->src_ids[k]);
        e->src_at[k] = rela_plan_take(p, e->size.places + 1, sizeof *e->src_at[k]);
    }
}

/* ---- a step ---- */

/* The lowest one that is free: those in use stay close together. */
static uint32_t take_slot(rela_engine *e)
{
    while (e->free_slots[e->first_free] == 0)
        e->first_free++;
    uint64_t *word = &e->free_slots[e->first_free];
    const uint32_t slot = (uint32_t)(e->first_free * 64) + (uint32_t)__builtin_ctzll(*word);
    *word &= *word - 1;
    e->n_free--;
    return slot;
}

rela_status rela_engine_make_room(rela_engine *e, rela_error *err)
{
    const size_t n = e->rows.n;
    rela_status st = e->n_free < n ? add_slots(e, n, err) : RELA_OK;
    for (size_t row = 0; row < n && st == RELA_OK;) {
        rela_live *x = rela_live_of(e, row);
        st = make_sentence_room(x, err);
        row += x->n;
    }
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        uint32_t *last = e->rows.history + i * e->size.steps + e->rows.position[i];
        const uint32_t slot = take_slot(e);
        e->slot_before[slot] = e->rows.position[i] > 0 ? last[-1] : RELA_NO_SLOT;
        e->slot_uses[slot] = 0;
        *last = slot;
    }
    return st;
}

static rela_status make_sentence_room(rela_live *x, rela_error *err)
{
    rela_node *nodes =
        rela_mem_grow(x->nodes, &x->cap_nodes, x->n_nodes + 2 * x->width, sizeof *nodes);
    if (!nodes)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu hypotheses", x->n);
    x->nodes = nodes;
    if (x->n_heads == 0)
        return RELA_OK;
    const size_t need = (x->n_records + x->n) * x->n_heads * x->ld_record;
    real *records = rela_mem_grow(x->records, &x->cap_records, need, sizeof *records);
    if (!records)
        return rela_fail(err, RELA_NOMEM, "no memory for the attention of %zu hypotheses", x->n);
    x->records = records;
    return RELA_OK;
}

/* At least n free ones. */
static rela_status add_slots(rela_engine *e, size_t n, rela_error *err)
{
    const size_t slots = rela_round_up(larger(e->n_slots + n - e->n_free, 2 * e->n_slots), 64);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < e->n_nets && st == RELA_OK; i++)
        st = rela_generator_reserve_slots(e->decoders[i], slots, err);
    if (st != RELA_OK)
        return st;
    uint64_t *list = rela_mem_resize(e->free_slots, slots / 64 * sizeof *list);
    e->free_slots = list ? list : e->free_slots;
    uint32_t *before = rela_mem_resize(e->slot_before, slots * sizeof *before);
    e->slot_before = before ? before : e->slot_before;
    uint32_t *uses = rela_mem_resize(e->slot_uses, slots * sizeof *uses);
    e->slot_uses = uses ? uses : e->slot_uses;
    if (!list || !before || !uses)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu positions", slots);
    memset(list + e->n_slots / 64, 0xFF, (slots - e->n_slots) / 64 * sizeof *list);
    e->first_free = e->n_free ? e->first_free : e->n_slots / 64;
    e->n_free += slots - e->n_slots;
    e->n_slots = slots;
    return RELA_OK;
}
