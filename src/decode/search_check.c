/* SPDX-License-Identifier: MIT */
/* src/decode/search_check.c - checks options and sources of a search before anything is
 * computed. */
#include "decode/engine_state.h"

#include <math.h>

static rela_status check_options(const rela_engine *e, const rela_search_options *o,
                                 rela_error *err);
static rela_status check_sampling(const rela_search_options *o, rela_error *err);
static rela_status check_source(const rela_engine *e, const rela_config *c, const rela_source *x,
                                size_t i, rela_error *err);

rela_status rela_engine_check(const rela_engine *e, const rela_source *source, size_t number,
                              const rela_search_options *o, rela_error *err)
{
    rela_status st = check_options(e, o, err);
    for (size_t j = 0; j < e->n_nets && st == RELA_OK && source; j++)
        st = check_source(e, &e->nets[j]->net->config, source, number, err);
    return st;
}

static rela_status check_options(const rela_engine *e, const rela_search_options *o,
                                 rela_error *err)
{
    const rela_config *c = &e->nets[0]->net->config;
    const bool samples = o->method == RELA_SEARCH_SAMPLE;
    const size_t most = samples ? RELA_BEAM_MAX : o->beam;
    if (!samples && (o->beam < 1 || o->beam > RELA_BEAM_MAX))
        return rela_fail(err, RELA_ARG, "beam is %zu; expected 1..%d", o->beam, RELA_BEAM_MAX);
    if (o->n_best < 1 || o->n_best > most)
        return rela_fail(err, RELA_ARG, "%zu best hypotheses are wanted; expected 1..%zu",
                         o->n_best, most);
    if (!isfinite(o->alpha))
        return rela_fail(err, RELA_ARG, "the length penalty is not a number");
    if (!(o->max_factor >= 0 && isfinite(o->max_factor)) ||
        !(o->min_factor >= 0 && isfinite(o->min_factor)))
        return rela_fail(err, RELA_ARG, "a length factor is below 0 or not a number");
    for (size_t i = 0; (o->attention || o->heaviest) && o->heads && i < o->n_heads; i++)
        if (o->heads[i] >= c->dec_layers * c->heads || (i > 0 && o->heads[i] <= o->heads[i - 1]))
            return rela_fail(err, RELA_ARG, "head number %u; expected rising numbers below %zu",
                             o->heads[i], c->dec_layers * c->heads);
    if (o->source >= e->n_sources)
        return rela_fail(err, RELA_ARG, "attention to source %zu; the model has %zu", o->source + 1,
                         e->n_sources);
    if (o->shortlist) {
        const rela_vocab_pair *v = &rela_shortlist_parts_of(o->shortlist)->vocab;
        if (v->n_src != c->vocab_src || v->n_tgt != c->vocab_tgt)
            return rela_fail(err, RELA_ARG,
                             "a shortlist for %zu source and %zu target symbols; the model has %zu "
                             "and %zu",
                             v->n_src, v->n_tgt, c->vocab_src, c->vocab_tgt);
    }
    if (o->attention || o->heaviest) {
        const rela_status st = rela_config_check_shown(c, 1u << RELA_ATTN_CROSS, err);
        if (st != RELA_OK)
            return st;
    }
    return samples ? check_sampling(o, err) : RELA_OK;
}

static rela_status check_sampling(const rela_search_options *o, rela_error *err)
{
    if (!(o->temperature > 0 && isfinite(o->temperature)))
        return rela_fail(err, RELA_ARG, "temperature is %g; expected above 0", o->temperature);
    if (!(o->top_p > 0 && o->top_p <= 1))
        return rela_fail(err, RELA_ARG, "nucleus is %g; expected above 0 to 1", o->top_p);
    return RELA_OK;
}

static rela_status check_source(const rela_engine *e, const rela_config *c, const rela_source *x,
                                size_t i, rela_error *err)
{
    if (rela_source_longest(x) >= c->max_len)
        return rela_fail(err, RELA_ARG, "sentence %zu: %zu symbols; the model takes at most %zu",
                         i + 1, rela_source_longest(x), c->max_len - 1);
    if (x->n_prefix > c->max_len)
        return rela_fail(err, RELA_ARG,
                         "sentence %zu: a prefix of %zu symbols; the model takes at most %zu",
                         i + 1, x->n_prefix, c->max_len);
    for (size_t k = 0; k < e->n_sources; k++)
        for (size_t j = 0; j < x->text[k].n; j++)
            if (x->text[k].ids[j] < 0 || (size_t)x->text[k].ids[j] >= c->vocab_src)
                return rela_fail(err, RELA_ARG, "sentence %zu: symbol %d; expected 0..%zu", i + 1,
                                 (int)x->text[k].ids[j], c->vocab_src - 1);
    for (size_t k = e->n_sources; k < RELA_SOURCES_MAX; k++)
        if (x->text[k].n)
            return rela_fail(err, RELA_ARG, "sentence %zu: text %zu; the model has %zu sources",
                             i + 1, k + 1, e->n_sources);
    for (size_t j = 0; j < x->n_prefix; j++)
        if (x->prefix[j] <= RELA_PAD || (size_t)x->prefix[j] >= e->vocabulary ||
            (x->prefix[j] == RELA_EOS && j + 1 < x->n_prefix))
            return rela_fail(err, RELA_ARG, "sentence %zu: symbol %d in its prefix", i + 1,
                             (int)x->prefix[j]);
    return RELA_OK;
}
