/* SPDX-License-Identifier: MIT */
/* src/model/generator.c - see generator.h. The blocks are those of training; here they keep
 * nothing, and the attention of the target uses caches (nn/attn/cache.h). */
#include "model/generator.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

/* What is kept of the sentence at a place besides its memories. */
typedef struct place {
    void *block; /* everything below lies in it */
    size_t block_bytes;
    rela_weight chosen; /* rows of the output matrix, if it has a list */
} place;

struct rela_generator {
    const rela_packed_weights *packed;
    rela_generator_size size;
    void *block; /* everything planned lies in it */
    size_t block_bytes;
    rela_stream streams[RELA_STREAMS_MAX];
    rela_memories memories[RELA_STREAMS_MAX];
    rela_plan scratch;
    size_t scratch_bytes;
    rela_int8_rows rounded; /* (rows, d) for the logits, if weights are int8 */
    size_t first;           /* first block of the target stream, which all later ones belong to */
    place *places;
    size_t n_places;
    void *slots; /* allocation of the cache */
    size_t n_slots;
    rela_cache cache;
    void *states;            /* allocation of the states of the cache */
    real *made;              /* arrays that kinds of attention make */
    rela_callback *callback; /* lent; may be NULL */
};

static void read_source(rela_generator *g, size_t stream, const rela_tokens *src,
                        const uint32_t *places);
static rela_status add_places(rela_generator *g, size_t n, rela_error *err);
static rela_status reserve_states(rela_generator *g, const rela_generator_size *size,
                                  rela_error *err);
static void free_places(rela_generator *g);
static void plan(rela_generator *g, rela_plan *p);
static rela_pass start(rela_generator *g, const rela_step *step);

static const rela_net *net_of(const rela_generator *g)
{
    return g->packed->net;
}

static size_t target_of(const rela_generator *g)
{
    return rela_block_list_target(&net_of(g)->list);
}

static uint32_t output_of(const rela_generator *g)
{
    return rela_net_output(net_of(g))->at.output.table;
}

/* Tables for embedding lookup. */
static const rela_weight *tables_of(const rela_generator *g)
{
    return net_of(g)->plain ? net_of(g)->plain : g->packed->weights;
}

rela_status rela_generator_create(rela_generator **out, const rela_packed_weights *w,
                                  rela_error *err)
{
    *out = rela_mem_zalloc(sizeof **out);
    if (!*out)
        return rela_fail(err, RELA_NOMEM, "no memory for a generator");
    (*out)->packed = w;
    const rela_block_list *l = &w->net->list;
    (*out)->cache.state = l->state;
    (*out)->cache.owner = l->slot;
    (*out)->cache.ld = rela_cache_ld(l->slot + (l->state > 0));
    (*out)->made = l->made ? rela_mem_array(l->made, sizeof(real)) : NULL;
    if (l->made && !(*out)->made) {
        rela_generator_destroy(*out);
        *out = NULL;
        return rela_fail(err, RELA_NOMEM, "no memory for %zu features", l->made);
    }
    rela_block_list_make(l, (*out)->made, 0, NULL);
    while (w->net->list.blocks[(*out)->first].stream != target_of(*out))
        (*out)->first++;
    for (size_t i = 0; i < target_of(*out); i++)
        (*out)->memories[i] =
            (rela_memories){ .d = w->net->config.d, .need = w->net->list.memories[i] };
    return RELA_OK;
}

void rela_generator_destroy(rela_generator *g)
{
    if (!g)
        return;
    free_places(g);
    rela_mem_free(g->block);
    rela_mem_free(g->slots);
    rela_mem_free(g->made);
    rela_mem_free(g);
}

rela_status rela_generator_reserve(rela_generator *g, const rela_generator_size *size,
                                   rela_error *err)
{
    const rela_generator_size old = g->size;
    rela_status st = add_places(g, size->places, err);
    for (size_t i = 0; i < target_of(g) && st == RELA_OK; i++)
        st =
            rela_memories_reserve(&g->memories[i], size->places, size->src_kept, size->tapped, err);
    st = st ? st : reserve_states(g, size, err);
    if (st != RELA_OK)
        return st;
    g->size = *size;
    if (size->places == 0) {
        free_places(g);
        rela_mem_free(g->block);
        g->block = NULL;
        g->block_bytes = 0;
        return RELA_OK;
    }
    rela_plan p = { NULL, 0 };
    plan(g, &p);
    const size_t bytes = p.used + RELA_PLAN_ALIGN;
    if (bytes > g->block_bytes) {
        void *block = rela_mem_alloc(bytes);
        if (block) {
            rela_mem_free(g->block);
            g->block = block;
            g->block_bytes = bytes;
        } else {
            g->size = old;
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of decoder state", bytes);
        }
    }
    if (!g->block)
        return st;
    p = rela_plan_in(g->block);
    plan(g, &p);
    return st;
}

/* ---- places ---- */

/* States of hypotheses: those that live are kept. */
static rela_status reserve_states(rela_generator *g, const rela_generator_size *size,
                                  rela_error *err)
{
    const size_t places = size->places > g->size.places ? size->places : g->size.places;
    const size_t rows =
        size->place_rows > g->cache.place_rows ? size->place_rows : g->cache.place_rows;
    const size_t state = g->cache.state, had = g->cache.place_rows;
    if (state == 0 || size->places == 0 || (places == g->size.places && rows == had))
        return RELA_OK;
    void *block = rela_mem_array(2 * places * rows * state + RELA_PLAN_ALIGN, sizeof(real));
    if (!block)
        return rela_fail(err, RELA_NOMEM, "no memory for states of %zu hypotheses", places * rows);
    rela_plan p = rela_plan_in(block);
    real *states = rela_plan_reals(&p, 2 * places * rows * state);
    for (size_t i = 0; i < 2 * g->size.places && had; i++)
        memcpy(states + i * rows * state, g->cache.states + i * had * state,
               had * state * sizeof *states);
    rela_mem_free(g->states);
    g->states = block;
    g->cache.states = states;
    g->cache.place_rows = rows;
    return RELA_OK;
}

static rela_status add_places(rela_generator *g, size_t n, rela_error *err)
{
    if (n <= g->n_places)
        return RELA_OK;
    place *places = rela_mem_resize(g->places, n * sizeof *places);
    if (!places)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", n);
    g->places = places;
    memset(places + g->n_places, 0, (n - g->n_places) * sizeof *places);
    g->n_places = n;
    return RELA_OK;
}

static void free_places(rela_generator *g)
{
    for (size_t i = 0; i < g->n_places; i++)
        rela_mem_free(g->places[i].block);
    for (size_t i = 0; i < target_of(g); i++)
        (void)rela_memories_reserve(&g->memories[i], 0, 0, false, NULL);
    rela_mem_free(g->places);
    rela_mem_free(g->states);
    g->places = NULL;
    g->states = NULL;
    g->cache.states = NULL;
    g->n_places = g->cache.place_rows = 0;
}

rela_status rela_generator_reserve_place(rela_generator *g, size_t number, const size_t *n_src,
                                         size_t n_chosen, rela_error *err)
{
    const rela_storage storage = g->packed->storage;
    const size_t d = net_of(g)->config.d;
    place *to = &g->places[number];
    rela_plan p = { NULL, 0 };
    (void)rela_weight_plan(&p, storage, RELA_CHOSEN_UNIT, n_chosen, d);
    const size_t bytes = p.used + RELA_PLAN_ALIGN;
    if (n_chosen > 0 && bytes > to->block_bytes) {
        rela_mem_free(to->block);
        to->block = rela_mem_alloc(bytes);
        to->block_bytes = to->block ? bytes : 0;
        if (!to->block)
            return rela_fail(err, RELA_NOMEM, "no memory for weights of %zu symbols", n_chosen);
    }
    if (n_chosen > 0)
        p = rela_plan_in(to->block);
    to->chosen = rela_weight_plan(&p, storage, RELA_CHOSEN_UNIT, n_chosen, d);
    for (size_t i = 0; i < target_of(g); i++)
        rela_memories_give(&g->memories[i], (uint32_t)number, n_src[i]);
    return RELA_OK;
}

void rela_generator_release_place(rela_generator *g, size_t number)
{
    for (size_t i = 0; i < target_of(g); i++)
        rela_memories_take_back(&g->memories[i], (uint32_t)number);
}

/* ---- slots ---- */

rela_status rela_generator_reserve_slots(rela_generator *g, size_t n_slots, rela_error *err)
{
    if (n_slots == 0) {
        rela_mem_free(g->slots);
        g->slots = g->cache.rows = NULL;
        g->n_slots = 0;
    }
    if (n_slots <= g->n_slots)
        return RELA_OK;
    size_t bytes = 0;
    char *block = NULL;
    const size_t before = g->slots ? (size_t)((char *)g->cache.rows - (char *)g->slots) : 0;
    if (rela_size_mul(&bytes, n_slots, g->cache.ld * sizeof *g->cache.rows) &&
        rela_size_add(&bytes, bytes, RELA_PLAN_ALIGN))
        block = rela_mem_resize(g->slots, bytes); /* moved page by page, never in memory twice */
    if (!block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu positions of hypotheses", n_slots);
    rela_plan p = rela_plan_in(block);
    real *rows = rela_plan_reals(&p, n_slots * g->cache.ld);
    if (g->n_slots && (char *)rows != block + before)
        memmove(rows, block + before, g->n_slots * g->cache.ld * sizeof *rows);
    g->slots = block;
    g->cache.rows = rows;
    g->n_slots = n_slots;
    return RELA_OK;
}

void rela_generator_callback_set(rela_generator *g, rela_callback *callback)
{
    g->callback = callback;
}

void rela_generator_read(rela_generator *g, const rela_tokens *sources, const uint32_t *places)
{
    for (size_t i = 0; i < target_of(g); i++)
        read_source(g, i, &sources[i], places);
}

/* Streams share their arrays: what the target needs of one is computed before the next is read. */
static void read_source(rela_generator *g, size_t stream, const rela_tokens *src,
                        const uint32_t *places)
{
    const rela_block_list *l = &net_of(g)->list;
    g->streams[stream].tokens = *src;
    g->streams[stream].rows = rela_tokens_rows(src);
    assert(src->n <= g->n_places && g->streams[stream].rows <= g->size.src_rows);
    rela_pass p = start(g, NULL);
    for (size_t i = 0; i < l->n && !rela_callback_poll(g->callback, 0); i++)
        if (l->blocks[i].stream == stream)
            l->blocks[i].type->forward(&l->blocks[i], &p);
    if (rela_callback_poll(g->callback, 0))
        return;
    const rela_step step = { .memories = g->memories, .places = places };
    p.step = &step;
    for (size_t i = 0; i < l->n; i++)
        if (l->blocks[i].type->remember)
            l->blocks[i].type->remember(&l->blocks[i], &p, stream);
}

const real *rela_generator_step(rela_generator *g, const rela_step_rows *rows,
                                const rela_attn_tap *tap)
{
    const rela_block_list *l = &net_of(g)->list;
    rela_stream *target = &g->streams[target_of(g)];
    const rela_step step = { .rows = *rows,
                             .len = g->size.steps,
                             .cache = g->cache,
                             .memories = g->memories,
                             .sentence_rows = g->size.place_rows };
    assert(rows->n <= g->size.rows && (!tap || g->size.tapped));
    target->rows = rows->n;
    rela_pass p = start(g, &step);
    p.tap = tap;
    for (const rela_block *b = l->blocks + g->first, *end = l->blocks + l->n; b < end; b++)
        b->type->forward(b, &p);
    return target->act.x;
}

/* Logits of rows[1] rows from rows[0] on, for the symbols [first, first + n) of a packed part of
 * the output matrix. */
static void logits_of(const rela_generator *g, real *logits, size_t ld, const rela_weight *w,
                      const size_t rows[2], size_t first, size_t n)
{
    const size_t d = w->k, row = rows[0];
    const rela_weight part = rela_weight_rows(w, first, n);
    const rela_int8_rows rounded = {
        g->rounded.q ? g->rounded.q + row * rela_int8_ld(d) : NULL,
        g->rounded.q ? g->rounded.scale + row : NULL,
    };
    const rela_linear_out out = { logits, ld, NULL, NULL };
    assert(first % net_of(g)->k->panel == 0 && first % RELA_BYTE_PANEL == 0);
    rela_linear_rounded(net_of(g)->k, &part, &out, g->streams[target_of(g)].act.x + row * d,
                        &rounded, rows[1]);
}

void rela_generator_logits(const rela_generator *g, real *logits, size_t ld, const size_t rows[2],
                           size_t first, size_t n)
{
    logits_of(g, logits, ld, &g->packed->weights[output_of(g)], rows, first, n);
}

void rela_generator_logits_chosen(const rela_generator *g, real *logits, size_t ld, size_t number,
                                  const size_t rows[2], size_t first, size_t n)
{
    logits_of(g, logits, ld, &g->places[number].chosen, rows, first, n);
}

void rela_generator_choose(rela_generator *g, size_t number, const uint32_t *ids, size_t n)
{
    const bool int8 = g->packed->storage == RELA_STORE_INT8;
    const rela_weight *from = (int8 ? g->packed->weights : tables_of(g)) + output_of(g);
    assert(n == g->places[number].chosen.n && RELA_CHOSEN_UNIT % net_of(g)->k->panel == 0);
    rela_weight_pick(net_of(g)->k, &g->places[number].chosen, from, ids, n);
}

/* ---- memory ---- */

static rela_pass_size pass_size(const rela_generator *g)
{
    const size_t target = target_of(g);
    rela_pass_size s = { .sentence_rows = g->size.place_rows,
                         .storage = g->packed->storage,
                         .step = true };
    for (size_t i = 0; i < target; i++) {
        s.rows[i] = g->size.src_rows;
        s.len[i] = g->size.src_len;
    }
    s.rows[target] = g->size.rows;
    s.len[target] = g->size.steps;
    return s;
}

/* Streams are used one at a time, so all share the same arrays. */
static void plan_streams(rela_generator *g, rela_plan *p)
{
    const rela_config *c = &net_of(g)->config;
    const size_t rows = g->size.src_rows > g->size.rows ? g->size.src_rows : g->size.rows;
    rela_stream s = { .rows = 0 };
    rela_stream_plan(&s, p, rows, c->d, c->pre_norm);
    for (size_t i = 0; i <= target_of(g); i++)
        g->streams[i] = s;
}

static void plan(rela_generator *g, rela_plan *p)
{
    const rela_net *n = net_of(g);
    for (size_t i = 0; i < target_of(g); i++)
        g->memories[i].len = g->size.src_len;
    const rela_generator_size *s = &g->size;
    const rela_pass_size size = pass_size(g);
    plan_streams(g, p);
    g->rounded = rela_int8_rows_plan(p, g->packed->storage, n->config.d, s->rows);
    size_t kept = 0;
    g->scratch_bytes = rela_block_list_plan(&n->list, &kept, &size);
    assert(kept == 0);
    g->scratch = (rela_plan){ rela_plan_take(p, g->scratch_bytes, 1), 0 };
}

/* A pass over the source, or a step. */
static rela_pass start(rela_generator *g, const rela_step *step)
{
    const rela_net *n = net_of(g);
    return (rela_pass){ .k = n->k,
                        .offsets = n->params.offsets,
                        .weights = g->packed->weights,
                        .tables = tables_of(g),
                        .storage = g->packed->storage,
                        .vectors = n->weights,
                        .positions = n->positions,
                        .made = g->made,
                        .streams = g->streams,
                        .scratch = g->scratch,
                        .scratch_bytes = g->scratch_bytes,
                        .step = step,
                        .rounded = g->rounded };
}
