/* SPDX-License-Identifier: MIT */
/* src/view/worth.c - see worth.h. */
#include "view/worth.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { NAME_SIZE = 64 };

static rela_status drop_words(rela_worth *w, const rela_text_pair *pair, const rela_watched *seen,
                              rela_error *err);
static rela_status silence_heads(rela_worth *w, const rela_text_pair *pair, rela_error *err);

rela_status rela_worth_init(rela_worth *w, const rela_net *net, const rela_pipeline *p,
                            rela_error *err)
{
    rela_params params;
    *w = (rela_worth){ .reader = NULL };
    rela_status st = rela_params_of(&params, &net->config, false, err);
    if (st != RELA_OK)
        return st;
    real *weights = rela_mem_array(params.total, sizeof *weights);
    if (!weights) {
        rela_params_deinit(&params);
        return rela_fail(err, RELA_NOMEM, "no memory for a copy of the weights");
    }
    memcpy(weights, net->weights, params.total * sizeof *weights);
    st = rela_net_adopt(&w->net, &net->config, &params, weights, err);
    return st ? st : rela_watcher_create(&w->reader, &w->net, p, err);
}

void rela_worth_deinit(rela_worth *w)
{
    rela_watcher_destroy(w->reader);
    if (w->net.weights)
        rela_net_deinit(&w->net);
    for (int i = 0; i < RELA_SOURCES_MAX; i++)
        rela_mem_free(w->dropped[i]);
    rela_mem_free(w->silenced);
    *w = (rela_worth){ .reader = NULL };
}

rela_status rela_worth_find(rela_worth *w, const rela_text_pair *pair, const rela_watched *seen,
                            rela_error *err)
{
    const rela_status st = drop_words(w, pair, seen, err);
    return st ? st : silence_heads(w, pair, err);
}

static rela_status no_heads(void *ctx, const rela_heads *h, rela_error *err)
{
    (void)ctx;
    (void)h;
    (void)err;
    return RELA_OK;
}

/* Log-probability of a pair; not a number if it could not be run. */
static rela_status score(double *out, rela_worth *w, const rela_text_pair *pair, rela_error *err)
{
    const rela_watch watch = { .stacks = 0, .nll = true, .on_heads = no_heads };
    rela_status st = rela_watcher_load(w->reader, pair, 1, err);
    st = st ? st : rela_watcher_run(w->reader, &watch, err);
    const rela_watched *p = st == RELA_OK ? rela_watcher_pair(w->reader, 0) : NULL;
    *out = p && p->state == RELA_WATCHED ? -p->nll : (double)NAN;
    return st;
}

/* The words of a text, joined by blanks, without one: they are those after tokenising, so that the
 * pipeline leaves them as they are. */
static rela_status join_without(rela_buffer *out, const rela_buffer *words, size_t left_out,
                                rela_error *err)
{
    const char *at = words->data, *end = at + words->len;
    rela_status st = RELA_OK;
    rela_buffer_clear(out);
    rela_span word;
    for (size_t i = 0; st == RELA_OK && words->len && rela_next_word(&word, &at, end); i++) {
        if (i == left_out)
            continue;
        if (out->len)
            st = rela_buffer_append_char(out, ' ', err);
        st = st ? st : rela_buffer_append(out, word.text, word.len, err);
    }
    return st;
}

static rela_status drop_words(rela_worth *w, const rela_text_pair *pair, const rela_watched *seen,
                              rela_error *err)
{
    rela_buffer words = RELA_BUFFER_INIT, text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t k = 0; k < w->net.config.sources && st == RELA_OK; k++) {
        const size_t n = seen->src[k].map.n_words;
        double *to = rela_mem_grow(w->dropped[k], &w->caps[k], n + 1, sizeof *to);
        if (!to) {
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu words", n);
            break;
        }
        w->dropped[k] = to;
        rela_buffer_clear(&words);
        st = rela_watcher_words(&words, w->reader, k, pair->src[k], err);
        for (size_t i = 0; i < n && st == RELA_OK; i++) {
            rela_text_pair less = *pair;
            st = join_without(&text, &words, i, err);
            less.src[k] = (rela_span){ text.len ? text.data : "", text.len };
            st = st ? st : score(&to[i], w, &less, err);
        }
    }
    rela_buffer_free(&words);
    rela_buffer_free(&text);
    return st;
}

/* Values of a head of the cross attention to the first source; NULL: no such parameter. */
static real *values_of(const rela_worth *w, size_t layer, size_t head, bool bias, size_t *n)
{
    const rela_config *c = &w->net.config;
    const size_t d_head = c->d / c->heads, row = c->d + head * d_head; /* keys come first */
    char name[NAME_SIZE];
    rela_format_text(name, sizeof name, "dec.%zu.cross.kv.%s", layer, bias ? "bias" : "weight");
    const rela_param *p = rela_params_find(&w->net.params, name);
    *n = d_head * (bias ? 1 : c->d);
    return p ? w->net.weights + p->offset + row * (bias ? 1 : c->d) : NULL;
}

/* A head whose values are zero adds what it adds when it looks at nothing. */
static rela_status silence_head(double *out, rela_worth *w, const rela_text_pair *pair,
                                size_t layer, size_t head, rela_error *err)
{
    real *values[2], *kept[2];
    size_t n[2];
    rela_status st = RELA_OK;
    for (int i = 0; i < 2; i++) {
        values[i] = values_of(w, layer, head, i == 1, &n[i]);
        kept[i] = values[i] ? rela_mem_array(n[i], sizeof **kept) : NULL;
        if (values[i] && !kept[i])
            st = rela_fail(err, RELA_NOMEM, "no memory for the values of a head");
    }
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        if (values[i]) {
            memcpy(kept[i], values[i], n[i] * sizeof **kept);
            memset(values[i], 0, n[i] * sizeof **kept);
        }
    if (st == RELA_OK) {
        st = score(out, w, pair, err);
        for (int i = 0; i < 2; i++)
            if (values[i])
                memcpy(values[i], kept[i], n[i] * sizeof **kept);
    }
    rela_mem_free(kept[0]);
    rela_mem_free(kept[1]);
    return st;
}

static rela_status silence_heads(rela_worth *w, const rela_text_pair *pair, rela_error *err)
{
    const rela_config *c = &w->net.config;
    size_t n = 0;
    if (!values_of(w, 0, 0, false, &n))
        return RELA_OK;
    double *to = rela_mem_grow(w->silenced, &w->cap_silenced, c->dec_layers * c->heads, sizeof *to);
    if (!to)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu heads", c->dec_layers * c->heads);
    w->silenced = to;
    rela_status st = RELA_OK;
    for (size_t layer = 0; layer < c->dec_layers; layer++)
        for (size_t head = 0; head < c->heads && st == RELA_OK; head++)
            st = silence_head(&to[layer * c->heads + head], w, pair, layer, head, err);
    return st;
}
