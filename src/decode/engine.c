/* SPDX-License-Identifier: MIT */
/* src/decode/engine.c - see engine.h. */
#include "decode/engine_state.h"

#include "base/mem.h"
#include "kern/flush_to_zero.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static rela_status check_nets(const rela_engine *e, const rela_packed_weights *const *nets,
                              size_t n_nets, rela_error *err);
static rela_status read_sources(rela_engine *e, const uint32_t *places, size_t n, rela_error *err);
static void choose(rela_engine *e, rela_live *x, uint32_t place);
static bool give_up(const rela_engine *e, rela_live *x);
static void force(rela_engine *e, rela_live *x);
static void set_ended(rela_engine *e, uint32_t place);
static void free_place(rela_engine *e, uint32_t place);

rela_status rela_engine_create(rela_engine **out, const rela_packed_weights *const *nets,
                               size_t n_nets, rela_error *err)
{
    *out = NULL;
    rela_engine *e = rela_mem_zalloc(sizeof *e);
    if (!e)
        return rela_fail(err, RELA_NOMEM, "no memory for an engine");
    e->n_nets = n_nets;
    e->nets = rela_mem_zalloc(n_nets * sizeof *e->nets);
    e->decoders = rela_mem_zalloc(n_nets * sizeof *e->decoders);
    e->vocabulary = nets[0]->net->config.vocab_tgt;
    e->k = nets[0]->net->k;
    e->n_sources = nets[0]->net->config.sources;
    e->first_ended = e->last_ended = RELA_NO_PLACE;
    rela_status st = e->nets && e->decoders ? check_nets(e, nets, n_nets, err)
                                            : rela_fail(err, RELA_NOMEM, "no memory for an engine");
    for (size_t i = 0; i < n_nets && st == RELA_OK; i++) {
        e->nets[i] = nets[i];
        st = rela_generator_create(&e->decoders[i], nets[i], err);
    }
    if (st == RELA_OK)
        *out = e;
    else
        rela_engine_destroy(e);
    return st;
}

static rela_status check_nets(const rela_engine *e, const rela_packed_weights *const *nets,
                              size_t n_nets, rela_error *err)
{
    if (e->vocabulary <= RELA_EOS)
        return rela_fail(err, RELA_ARG, "the model has %zu target symbols; expected at least %d",
                         e->vocabulary, RELA_EOS + 1);
    for (size_t i = 0; i < n_nets; i++) {
        const rela_config *c = &nets[i]->net->config;
        if (c->sources != e->n_sources)
            return rela_fail(err, RELA_ARG,
                             "model %zu has %zu sources, the first has %zu; expected the same",
                             i + 1, c->sources, e->n_sources);
        if (c->vocab_tgt != e->vocabulary)
            return rela_fail(
                err, RELA_ARG,
                "model %zu has %zu target symbols, the first has %zu; expected the same", i + 1,
                c->vocab_tgt, e->vocabulary);
    }
    return RELA_OK;
}

void rela_engine_destroy(rela_engine *e)
{
    if (!e)
        return;
    rela_engine_clear(e);
    rela_engine_trim(e);
    for (size_t i = 0; e->decoders && i < e->n_nets; i++)
        rela_generator_destroy(e->decoders[i]);
    rela_arena_destroy(e->results);
    rela_mem_free(e->decoders);
    rela_mem_free(e->nets);
    rela_mem_free(e);
}

void rela_engine_trim(rela_engine *e)
{
    if (e->n_started > 0)
        return;
    const rela_generator_size none = { .rows = 0 };
    for (size_t i = 0; e->decoders && i < e->n_nets && e->decoders[i]; i++) {
        (void)rela_generator_reserve(e->decoders[i], &none, NULL);
        (void)rela_generator_reserve_slots(e->decoders[i], 0, NULL);
    }
    for (size_t i = 0; i < e->n_places; i++) {
        rela_mem_free(e->places[i].words);
        rela_mem_free(e->places[i].ended);
        rela_mem_free(e->places[i].nodes);
        rela_mem_free(e->places[i].records);
    }
    rela_mem_free(e->places);
    rela_mem_free(e->marks);
    rela_mem_free(e->block);
    rela_mem_free(e->free_slots);
    rela_mem_free(e->slot_before);
    rela_mem_free(e->slot_uses);
    e->places = NULL;
    e->marks = NULL;
    e->block = NULL;
    e->free_slots = NULL;
    e->slot_before = e->slot_uses = NULL;
    e->n_places = e->block_bytes = e->n_free = e->n_slots = e->first_free = 0;
    e->size = none;
    e->list = e->n_whole = e->most_words = e->most_width = 0;
}

void rela_engine_callback_set(rela_engine *e, rela_callback *callback)
{
    e->callback = callback;
    for (size_t i = 0; i < e->n_nets; i++)
        rela_generator_callback_set(e->decoders[i], callback);
}

size_t rela_engine_n_live(const rela_engine *e)
{
    return e->n_live;
}

size_t rela_engine_n_places(const rela_engine *e)
{
    return e->n_places;
}

void *rela_engine_ctx(const rela_engine *e, uint32_t place)
{
    return e->places[place].state == RELA_LIVE_FREE ? NULL : e->places[place].ctx;
}

double rela_penalty(const rela_search_options *o, size_t length)
{
    const double n = length > 0 ? (double)length : 1;
    switch (o->penalty) {
    case RELA_PENALTY_GNMT:
        return pow((5 + n) / 6, o->alpha);
    case RELA_PENALTY_POWER:
        return pow(n, o->alpha);
    case RELA_PENALTY_NONE:
        break;
    }
    return 1;
}

/* ---- admission ---- */

rela_status rela_engine_admit(rela_engine *e, uint32_t *places, const rela_admission *a, size_t n,
                              rela_error *err)
{
    rela_status st = RELA_OK;
    size_t admitted = 0;
    for (; admitted < n && st == RELA_OK; admitted++) {
        const uint32_t place = places[admitted] =
            rela_engine_free_place(e, rela_source_longest(a[admitted].source));
        if (place == RELA_NO_PLACE) {
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", n);
            break;
        }
        e->places[place].state = RELA_LIVE_RUNS;
        e->n_started++;
        e->n_live++;
        e->places[place].n = 0;
        st = rela_engine_set_up(e, place, &a[admitted], err);
    }
    st = st ? st : rela_engine_reserve(e, places, n, err);
    st = st ? st : read_sources(e, places, n, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if (rela_source_longest(&e->places[places[i]].source))
            rela_engine_start_rows(e, places[i]);
        else
            set_ended(e, places[i]);
    for (size_t i = 0; i < admitted && st != RELA_OK; i++)
        free_place(e, places[i]);
    return st;
}

/* Appends the text of a sentence and its end symbol. */
static void load_text(rela_engine *e, size_t k, size_t number, const rela_source_text *t)
{
    size_t at = e->src_at[k][number];
    if (t->n) {
        memcpy(e->src_ids[k] + at, t->ids, t->n * sizeof *t->ids);
        at += t->n;
        e->src_ids[k][at++] = RELA_EOS;
    }
    e->src_at[k][number + 1] = (uint32_t)at;
}

/* Encodes the sources of sentences that are not empty. */
static rela_status read_sources(rela_engine *e, const uint32_t *places, size_t n, rela_error *err)
{
    rela_tokens src[RELA_SOURCES_MAX];
    size_t count = 0;
    for (size_t k = 0; k < e->n_sources; k++)
        e->src_at[k][0] = 0;
    for (size_t i = 0; i < n; i++) {
        const rela_source *x = &e->places[places[i]].source;
        if (!rela_source_longest(x))
            continue;
        e->src_places[count] = places[i];
        for (size_t k = 0; k < e->n_sources; k++)
            load_text(e, k, count, &x->text[k]);
        count++;
    }
    for (size_t k = 0; k < e->n_sources; k++)
        src[k] = (rela_tokens){ e->src_ids[k], e->src_at[k], count };
    rela_status st = RELA_OK;
    const uint64_t mode = rela_flush_to_zero();
    for (size_t i = 0; i < e->n_nets && count && st == RELA_OK; i++) {
        rela_generator_read(e->decoders[i], src, e->src_places);
        st = rela_callback_check(e->callback, 0, err);
        for (size_t j = 0; j < count && st == RELA_OK; j++) {
            const rela_live *x = &e->places[e->src_places[j]];
            if (x->listed)
                rela_generator_choose(e->decoders[i], e->src_places[j], x->words, x->n_words);
        }
    }
    rela_flush_to_zero_end(mode);
    return st;
}

/* ---- a step ---- */

rela_status rela_engine_step(rela_engine *e, rela_error *err)
{
    if (e->rows.n == 0)
        return RELA_OK;
    rela_status st = rela_engine_make_room(e, err);
    if (st != RELA_OK)
        return st;
    const uint64_t mode = rela_flush_to_zero();
    rela_engine_predict(e);
    e->next.n = 0;
    for (size_t first = 0; first < e->rows.n;) {
        const uint32_t place = e->rows.place[first];
        first += e->places[place].n;
        choose(e, &e->places[place], place);
    }
    rela_engine_advance(e);
    rela_flush_to_zero_end(mode);
    return rela_callback_check(e->callback, 0, err);
}

/* Extends or ends the rows of one sentence. */
static void choose(rela_engine *e, rela_live *x, uint32_t place)
{
    const size_t before = e->next.n, position = e->rows.position[x->first];
    if (!give_up(e, x)) {
        if (position < x->source.n_prefix)
            force(e, x);
        else
            x->strategy->choose(e, x);
        if (e->next.n == before && x->n_ended == 0) /* no symbol is possible */
            rela_engine_cut(x, &e->rows, x->first, x->n);
        if (position + 1 >= x->limit) {
            rela_engine_cut(x, &e->next, before, e->next.n - before);
            e->next.n = before;
        }
    }
    x->n_records += x->n;
    x->first = before;
    x->n = e->next.n - before;
    if (x->n == 0)
        set_ended(e, place);
}

/* Stops the search of a sentence whose logits are not finite: it gets no more rows. */
static bool give_up(const rela_engine *e, rela_live *x)
{
    for (size_t row = x->first; row < x->first + x->n && !x->not_finite; row++)
        x->not_finite = !isfinite(e->lse[row]);
    return x->not_finite;
}

/* The prefix determines the next symbol. */
static void force(rela_engine *e, rela_live *x)
{
    for (size_t row = x->first; row < x->first + x->n; row++) {
        const int32_t token = x->source.prefix[e->rows.position[row]];
        const double logp = e->rows.logp[row] + e->forced[row] - e->lse[row];
        if (token == RELA_EOS)
            rela_engine_end(e, x, row, logp);
        else
            rela_engine_extend(e, row, token, logp);
    }
}

/* ---- the end of a sentence ---- */

/* Its source is not needed any more. */
static void release(rela_engine *e, uint32_t place)
{
    for (size_t i = 0; i < e->n_nets; i++)
        rela_generator_release_place(e->decoders[i], place);
}

static void set_ended(rela_engine *e, uint32_t place)
{
    rela_live *x = &e->places[place];
    release(e, place);
    x->state = RELA_LIVE_ENDED;
    x->after = RELA_NO_PLACE;
    e->n_live--;
    if (e->last_ended == RELA_NO_PLACE)
        e->first_ended = place;
    else
        e->places[e->last_ended].after = place;
    e->last_ended = place;
}

uint32_t rela_engine_next_ended(const rela_engine *e)
{
    return e->first_ended;
}

rela_status rela_engine_take(rela_engine *e, rela_search_result *out, uint32_t place,
                             rela_arena *arena, rela_error *err)
{
    assert(e->places[place].state == RELA_LIVE_ENDED);
    const rela_status st = rela_live_result(&e->places[place], out, arena, err);
    free_place(e, place);
    return st;
}

void rela_engine_cancel(rela_engine *e, uint32_t place)
{
    if (e->places[place].state == RELA_LIVE_RUNS)
        rela_engine_drop_rows(e, place);
    free_place(e, place);
}

static void free_place(rela_engine *e, uint32_t place)
{
    rela_live *x = &e->places[place];
    if (x->state == RELA_LIVE_RUNS)
        e->n_live--;
    if (x->state == RELA_LIVE_ENDED) {
        uint32_t *at = &e->first_ended, before = RELA_NO_PLACE;
        while (*at != place) {
            before = *at;
            at = &e->places[before].after;
        }
        *at = x->after;
        if (e->last_ended == place)
            e->last_ended = before;
    }
    if (x->state == RELA_LIVE_RUNS)
        release(e, place);
    x->state = RELA_LIVE_FREE;
    e->n_started--;
}

void rela_engine_clear(rela_engine *e)
{
    for (size_t i = 0; i < e->n_places; i++)
        if (e->places[i].state != RELA_LIVE_FREE)
            rela_engine_cancel(e, (uint32_t)i);
}
