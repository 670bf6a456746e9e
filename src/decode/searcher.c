/* SPDX-License-Identifier: MIT */
/* src/decode/searcher.c - see searcher.h. */
#include "decode/searcher.h"

#include "base/mem.h"
#include "kern/flush_to_zero.h"

#include <math.h>
#include <string.h>

static rela_status step(rela_searcher *s, rela_error *err);
static rela_status make_room(rela_searcher *s, rela_error *err);
static bool give_up(const rela_searcher *s, rela_sentence *x);
static void force(rela_searcher *s, rela_sentence *x);
static void cut(rela_searcher *s, rela_sentence *x, const rela_live_rows *rows, size_t first,
                size_t n);
static void advance(rela_searcher *s);

void rela_search_options_init(rela_search_options *o)
{
    *o = (rela_search_options){ .method = RELA_SEARCH_BEAM,
                                .beam = 4,
                                .n_best = 1,
                                .penalty = RELA_PENALTY_GNMT,
                                .alpha = 0.6,
                                .max_factor = 1,
                                .max_extra = 50,
                                .min_extra = 1,
                                .temperature = 1,
                                .top_p = 1,
                                .batch_sentences = 32,
                                .batch_tokens = 4096 };
}

rela_status rela_searcher_create(rela_searcher **out, const rela_packed_weights *const *nets,
                                 size_t n_nets, rela_error *err)
{
    rela_status st = RELA_OK;
    *out = NULL;
    rela_searcher *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for a searcher");
    s->n_nets = n_nets;
    s->nets = rela_mem_zalloc(n_nets * sizeof *s->nets);
    s->decoders = rela_mem_zalloc(n_nets * sizeof *s->decoders);
    s->arena = rela_arena_create(0);
    if (!s->nets || !s->decoders || !s->arena) {
        st = rela_fail(err, RELA_NOMEM, "no memory for a searcher");
        goto out;
    }
    s->vocabulary = nets[0]->net->config.vocab_tgt;
    s->k = nets[0]->net->k;
    s->n_sources = nets[0]->net->config.sources;
    if (s->vocabulary <= RELA_EOS) {
        st = rela_fail(err, RELA_ARG, "the model has %zu target symbols; expected at least %d",
                       s->vocabulary, RELA_EOS + 1);
        goto out;
    }
    for (size_t i = 0; i < n_nets; i++) {
        s->nets[i] = nets[i];
        if (nets[i]->net->config.sources != s->n_sources) {
            st = rela_fail(err, RELA_ARG,
                           "model %zu has %zu sources, the first has %zu; expected the same", i + 1,
                           nets[i]->net->config.sources, s->n_sources);
            goto out;
        }
        if (nets[i]->net->config.vocab_tgt != s->vocabulary) {
            st = rela_fail(err, RELA_ARG,
                           "model %zu has %zu target symbols, the first has %zu; expected the same",
                           i + 1, nets[i]->net->config.vocab_tgt, s->vocabulary);
            goto out;
        }
        if ((st = rela_generator_create(&s->decoders[i], nets[i], err)) != RELA_OK)
            goto out;
    }
    *out = s;
    s = NULL;
out:
    rela_searcher_destroy(s);
    return st;
}

void rela_searcher_destroy(rela_searcher *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->decoders && i < s->n_nets; i++)
        rela_generator_destroy(s->decoders[i]);
    rela_arena_destroy(s->arena);
    rela_mem_free(s->decoders);
    rela_mem_free(s->nets);
    rela_mem_free(s->block);
    rela_mem_free(s->nodes);
    rela_mem_free(s->free_slots);
    rela_mem_free(s->slot_used);
    rela_mem_free(s->records);
    rela_mem_free(s->marks);
    rela_mem_free(s->words);
    rela_mem_free(s->words_at);
    rela_mem_free(s);
}

rela_status rela_search_run(rela_searcher *s, rela_search_result *results,
                            const rela_source *sources, size_t n, const rela_search_options *o,
                            rela_error *err)
{
    rela_status st = rela_search_check(s, sources, n, o, err);
    if (st != RELA_OK)
        return st;
    s->options = o;
    const bool samples = o->method == RELA_SEARCH_SAMPLE;
    s->width = samples ? o->n_best : o->beam;
    s->stack = rela_block_list_cross(&s->nets[0]->net->list, o->source);
    s->strategy = samples        ? &rela_strategy_sample
                  : o->beam == 1 ? &rela_strategy_greedy
                                 : &rela_strategy_beam;
    s->whole = samples || s->n_nets > 1;
    s->list = samples ? 0 : o->beam == 1 ? 1 : 2 * o->beam;
    if ((st = rela_searcher_start(s, sources, n, err)) != RELA_OK)
        return st;
    const uint64_t mode = rela_flush_to_zero();
    rela_tokens src[RELA_SOURCES_MAX];
    for (size_t k = 0; k < s->n_sources; k++)
        src[k] = (rela_tokens){ s->src_ids[k], s->src_at[k], s->n_sentences };
    for (size_t i = 0; i < s->n_nets && s->n_sentences && st == RELA_OK; i++) {
        rela_generator_callback_set(s->decoders[i], o->callback);
        rela_generator_read(s->decoders[i], src);
        st = rela_callback_check(o->callback, 0, err);
        if (s->chosen && st == RELA_OK)
            rela_generator_choose(s->decoders[i], s->words, s->words_at);
    }
    while (s->rows.n && st == RELA_OK) {
        st = step(s, err);
        st = st ? st : rela_callback_check(o->callback, 0, err);
    }
    st = st ? st : rela_callback_check(o->callback, n, err);
    rela_flush_to_zero_end(mode);
    return st == RELA_OK ? rela_searcher_results(s, results, n, err) : st;
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

/* ---- a step ---- */

static rela_status step(rela_searcher *s, rela_error *err)
{
    rela_status st = rela_stop_check(&s->options->stop, err);
    st = st ? st : make_room(s, err);
    if (st != RELA_OK)
        return st;
    rela_searcher_predict(s);
    s->next.n = 0;
    for (size_t first = 0, end = 0; first < s->rows.n; first = end) {
        rela_sentence *x = &s->sentences[s->rows.sentence[first]];
        for (end = first + 1; end < s->rows.n && s->rows.sentence[end] == s->rows.sentence[first];)
            end++;
        x->first = first;
        x->n = end - first;
        const size_t before = s->next.n, position = s->rows.position[first];
        if (give_up(s, x))
            continue;
        if (position < x->source->n_prefix)
            force(s, x);
        else
            s->strategy->choose(s, x);
        if (s->next.n == before && x->n_ended == 0) /* no symbol is possible */
            cut(s, x, &s->rows, first, x->n);
        if (position + 1 >= x->limit) {
            cut(s, x, &s->next, before, s->next.n - before);
            s->next.n = before;
        }
    }
    advance(s);
    return RELA_OK;
}

/* Stops the search of a sentence whose logits are not finite: it gets no more rows. */
static bool give_up(const rela_searcher *s, rela_sentence *x)
{
    for (size_t row = x->first; row < x->first + x->n && !x->not_finite; row++)
        x->not_finite = !isfinite(s->lse[row]);
    return x->not_finite;
}

/* A slot for each row, and room for what this step may add. */
static rela_status make_room(rela_searcher *s, rela_error *err)
{
    const size_t n = s->rows.n, live = n < s->n_sentences ? n : s->n_sentences;
    rela_node *nodes =
        rela_mem_grow(s->nodes, &s->nodes_cap, s->n_nodes + live * 2 * s->width, sizeof *nodes);
    if (!nodes)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu hypotheses", n);
    s->nodes = nodes;
    if (s->n_heads) {
        const size_t size = s->n_heads * s->ld_record;
        real *records =
            rela_mem_grow(s->records, &s->records_cap, (s->n_records + n) * size, sizeof *records);
        if (!records)
            return rela_fail(err, RELA_NOMEM, "no memory for the attention of %zu hypotheses", n);
        s->records = records;
    }
    if (s->n_free < n) {
        const size_t need = s->n_slots + n - s->n_free, twice = 2 * s->n_slots;
        const size_t slots = need > twice ? need : twice;
        rela_status st = RELA_OK;
        for (size_t i = 0; i < s->n_nets && st == RELA_OK; i++)
            st = rela_generator_reserve_slots(s->decoders[i], slots, err);
        if (st != RELA_OK)
            return st;
        uint32_t *list = rela_mem_resize(s->free_slots, slots * sizeof *list);
        s->free_slots = list ? list : s->free_slots;
        uint8_t *used = rela_mem_resize(s->slot_used, slots);
        s->slot_used = used ? used : s->slot_used;
        if (!list || !used)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu positions", slots);
        for (size_t i = slots; i > s->n_slots; i--)
            s->free_slots[s->n_free++] = (uint32_t)(i - 1);
        s->n_slots = slots;
    }
    for (size_t i = 0; i < n; i++)
        s->rows.history[i * s->ld_history + s->rows.position[i]] = s->free_slots[--s->n_free];
    return RELA_OK;
}

/* The prefix determines the next symbol. */
static void force(rela_searcher *s, rela_sentence *x)
{
    for (size_t row = x->first; row < x->first + x->n; row++) {
        const int32_t token = x->source->prefix[s->rows.position[row]];
        const double logp = s->rows.logp[row] + s->forced[row] - s->lse[row];
        if (token == RELA_EOS)
            rela_searcher_end(s, x, row, logp);
        else
            rela_searcher_extend(s, row, token, logp);
    }
}

/* ---- hypotheses ---- */

static uint32_t add_node(rela_searcher *s, size_t row, int32_t token, double logp)
{
    s->nodes[s->n_nodes] = (rela_node){ .parent = s->rows.node[row],
                                        .record = (uint32_t)(s->n_records + row),
                                        .token = token,
                                        .logp = (real)(logp - s->rows.logp[row]) };
    return (uint32_t)s->n_nodes++;
}

void rela_searcher_extend(rela_searcher *s, size_t row, int32_t token, double logp)
{
    const size_t to = s->next.n++, position = s->rows.position[row];
    s->next.token[to] = token;
    s->next.position[to] = (uint32_t)position + 1;
    s->next.sentence[to] = s->rows.sentence[row];
    s->next.node[to] = add_node(s, row, token, logp);
    s->next.sample[to] = s->rows.sample[row];
    s->next.logp[to] = logp;
    memcpy(s->next.history + to * s->ld_history, s->rows.history + row * s->ld_history,
           (position + 1) * sizeof *s->next.history);
}

/* By rank: complete before cut off, then by score; equal ones in order of arrival. */
static void insert(rela_sentence *x, const rela_ended *e, size_t most)
{
    size_t at = x->n_ended;
    while (at > 0 &&
           (e->complete > x->ended[at - 1].complete ||
            (e->complete == x->ended[at - 1].complete && e->score > x->ended[at - 1].score)))
        at--;
    if (at >= most)
        return;
    const size_t n = x->n_ended < most ? x->n_ended : most - 1;
    memmove(x->ended + at + 1, x->ended + at, (n - at) * sizeof *e);
    x->ended[at] = *e;
    x->n_ended = n + 1;
}

void rela_searcher_end(rela_searcher *s, rela_sentence *x, size_t row, double logp)
{
    const size_t length = s->rows.position[row] + 1;
    const double score = logp / rela_penalty(s->options, length);
    if (x->n_ended == s->width && !(score > x->ended[s->width - 1].score))
        return;
    const rela_ended e = { .node = add_node(s, row, RELA_EOS, logp),
                           .length = (uint32_t)length,
                           .complete = true,
                           .logp = logp,
                           .score = score };
    insert(x, &e, s->width);
}

/* Hypotheses that cannot go on are kept after the complete ones. */
static void cut(rela_searcher *s, rela_sentence *x, const rela_live_rows *rows, size_t first,
                size_t n)
{
    for (size_t row = first; row < first + n; row++) {
        const rela_ended e = { .node = rows->node[row],
                               .length = rows->position[row],
                               .complete = false,
                               .logp = rows->logp[row],
                               .score = rows->logp[row] /
                                        rela_penalty(s->options, rows->position[row]) };
        insert(x, &e, 2 * s->width);
    }
}

/* Makes `next` the current rows, and frees the slots that none of them needs. */
static void advance(rela_searcher *s)
{
    const rela_live_rows rows = s->rows;
    s->n_records += s->n_heads ? s->rows.n : 0;
    s->rows = s->next;
    s->next = rows;
    memset(s->slot_used, 0, s->n_slots);
    for (size_t i = 0; i < s->rows.n; i++)
        for (size_t j = 0; j < s->rows.position[i]; j++)
            s->slot_used[s->rows.history[i * s->ld_history + j]] = 1;
    s->n_free = 0;
    for (size_t i = s->n_slots; i > 0; i--)
        if (!s->slot_used[i - 1])
            s->free_slots[s->n_free++] = (uint32_t)(i - 1);
}
