/* SPDX-License-Identifier: MIT */
/* src/session/watch.c - see watch.h. */
#include "session/watch.h"

#include "base/mem.h"
#include "rela/vocab.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { BATCH_ROWS = 512, SRC = 0, TGT = 1, SIDES = 2 };

struct rela_watcher {
    const rela_net *net;
    const rela_pipeline *pipeline;
    rela_pipeline_scratch *scratch;
    rela_worker *worker;
    size_t room[SIDES]; /* rows of a source and of the target that the worker was made for */
    size_t limit;
    size_t target; /* its stream, after those of the sources */

    rela_watched *pairs;
    size_t n, cap;
    int32_t *ids; /* of all pairs, each text after the other */
    uint32_t *word_of;
    size_t n_ids, cap_ids, cap_words;

    /* the batch that runs */
    const rela_watch *watch;
    size_t *batch; /* numbers of its pairs */
    size_t n_batch, cap_batch;
    int32_t *rows[RELA_STREAMS_MAX]; /* packed tokens */
    uint32_t *at[RELA_STREAMS_MAX];
    size_t cap_rows[RELA_STREAMS_MAX], cap_at[RELA_STREAMS_MAX];
    size_t longest[RELA_STREAMS_MAX]; /* tokens of a pair */
    real *nll;                        /* (target rows) */
    size_t cap_nll;
    real *heads; /* weights of all heads of one layer, pair by pair */
    size_t cap_heads;
    rela_status status; /* of the callback */
    rela_error *err;
};

static rela_status load_pair(rela_watcher *w, rela_watched *p, const rela_text_pair *pair,
                             rela_error *err);
static rela_status pack(rela_watcher *w, size_t *next, rela_error *err);
static rela_status push(rela_watcher *w, size_t pair, rela_error *err);
static rela_status run_batch(rela_watcher *w, rela_error *err);
static void add_nll(rela_watcher *w);
static rela_status make_room(rela_watcher *w, rela_error *err);
static void see(void *ctx, const rela_attn_view *v);
static real *heads_room(rela_watcher *w, size_t pair, const rela_attn_stack *stack);

/* The text of a stream. */
static rela_watched_text *text_of(const rela_watcher *w, rela_watched *p, size_t stream)
{
    return stream == w->target ? &p->tgt : &p->src[stream];
}

rela_status rela_watcher_create(rela_watcher **out, const rela_net *net, const rela_pipeline *p,
                                rela_error *err)
{
    *out = NULL;
    rela_watcher *w = rela_mem_zalloc(sizeof *w);
    if (!w)
        return rela_fail(err, RELA_NOMEM, "no memory to watch attention");
    w->net = net;
    w->pipeline = p;
    w->target = rela_block_list_target(&net->list);
    w->limit =
        net->config.max_len < RELA_WATCH_TOKENS_MAX ? net->config.max_len : RELA_WATCH_TOKENS_MAX;
    const rela_status st = rela_pipeline_scratch_create(&w->scratch, p, err);
    if (st != RELA_OK) {
        rela_watcher_destroy(w);
        return st;
    }
    *out = w;
    return RELA_OK;
}

void rela_watcher_destroy(rela_watcher *w)
{
    if (!w)
        return;
    rela_pipeline_scratch_destroy(w->scratch);
    rela_worker_destroy(w->worker);
    for (size_t i = 0; i <= w->target; i++) {
        rela_mem_free(w->rows[i]);
        rela_mem_free(w->at[i]);
    }
    rela_mem_free(w->pairs);
    rela_mem_free(w->ids);
    rela_mem_free(w->word_of);
    rela_mem_free(w->batch);
    rela_mem_free(w->nll);
    rela_mem_free(w->heads);
    rela_mem_free(w);
}

rela_status rela_watcher_load(rela_watcher *w, const rela_text_pair *pairs, size_t n,
                              rela_error *err)
{
    w->n = w->n_ids = 0;
    rela_watched *all = rela_mem_grow(w->pairs, &w->cap, n, sizeof *all);
    if (!all)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", n);
    w->pairs = all;
    for (size_t i = 0; i < n; i++) {
        const rela_status st = load_pair(w, &all[i], &pairs[i], err);
        if (st != RELA_OK)
            return st;
    }
    size_t at = 0; /* the arrays may have moved while they were filled */
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= w->target; k++) {
            rela_watched_text *t = text_of(w, &all[i], k);
            t->ids = w->ids + at;
            t->map.word_of = w->word_of + at;
            at += t->n;
        }
    w->n = n;
    return RELA_OK;
}

rela_status rela_watcher_run(rela_watcher *w, const rela_watch *watch, rela_error *err)
{
    uint32_t types = 0;
    for (size_t i = 0; i < w->net->list.n_stacks; i++)
        if (watch->stacks & rela_watch_stack(i))
            types |= (uint32_t)1 << w->net->list.stacks[i].type;
    rela_status st = rela_config_check_shown(&w->net->config, types, err);
    w->watch = watch;
    for (size_t next = 0; next < w->n && st == RELA_OK;) {
        st = pack(w, &next, err);
        if (st == RELA_OK && w->n_batch)
            st = run_batch(w, err);
    }
    w->watch = NULL;
    return st;
}

const rela_watched *rela_watcher_pair(const rela_watcher *w, size_t i)
{
    assert(i < w->n);
    return &w->pairs[i];
}

size_t rela_watcher_not_finite(const rela_watcher *w, size_t n)
{
    size_t i = 0;
    while (i < n && !w->pairs[i].not_finite)
        i++;
    return i;
}

size_t rela_watcher_limit(const rela_watcher *w)
{
    return w->limit;
}

const real *rela_watcher_nll(const rela_watcher *w, size_t pair)
{
    size_t i = 0;
    while (i < w->n_batch && w->batch[i] != pair)
        i++;
    assert(i < w->n_batch && w->watch && w->watch->nll);
    return w->nll + w->at[w->target][i];
}

rela_status rela_watcher_pieces(rela_buffer *out, rela_watcher *w, size_t side, rela_span line,
                                rela_error *err)
{
    return rela_pipeline_pieces(out, w->scratch, side, line.text, line.len, err);
}

rela_status rela_watcher_words(rela_buffer *out, rela_watcher *w, size_t side, rela_span line,
                               rela_error *err)
{
    rela_buffer pieces = RELA_BUFFER_INIT;
    const bool bpe = rela_pipeline_parts_of(w->pipeline)->codes.len > 0;
    rela_status st = rela_pipeline_pieces(&pieces, w->scratch, side, line.text, line.len, err);
    const char *at = pieces.data, *end = at + pieces.len;
    for (rela_span piece; st == RELA_OK && pieces.len && rela_next_word(&piece, &at, end);) {
        const bool more = bpe && rela_piece_continues(piece.text, piece.len);
        st = rela_buffer_append(out, piece.text, more ? piece.len - 2 : piece.len, err);
        if (st == RELA_OK && !more)
            st = rela_buffer_append_char(out, '\n', err);
    }
    rela_buffer_free(&pieces);
    return st;
}

/* Appends the tokens of a text and the end symbol, which an empty one of several sources lacks. */
static rela_status load_text(rela_watcher *w, rela_watched_text *t, size_t side, rela_span text,
                             rela_error *err)
{
    const int32_t *ids = NULL;
    size_t n = 0;
    const size_t most = rela_text_bytes(w->limit);
    const rela_status st = rela_pipeline_encode(&ids, &n, w->scratch, side, text.text,
                                                text.len < most ? text.len : most, err);
    if (st != RELA_OK)
        return st;
    const uint32_t *word_of = rela_pipeline_words(w->scratch);
    t->map.n_pieces = n;
    t->map.n_words = n ? word_of[n - 1] + 1 : 0;
    t->n = n || side == w->target || w->target == 1 ? n + 1 : 0;
    int32_t *all = rela_mem_grow(w->ids, &w->cap_ids, w->n_ids + n + 1, sizeof *all);
    if (all)
        w->ids = all;
    uint32_t *words = rela_mem_grow(w->word_of, &w->cap_words, w->n_ids + n + 1, sizeof *words);
    if (words)
        w->word_of = words;
    if (!all || !words)
        return rela_fail(err, RELA_NOMEM, "no memory for a line of %zu tokens", n);
    if (n) {
        memcpy(all + w->n_ids, ids, n * sizeof *all);
        memcpy(words + w->n_ids, word_of, n * sizeof *words);
    }
    all[w->n_ids + n] = RELA_VOCAB_EOS;
    words[w->n_ids + n] = (uint32_t)t->map.n_words;
    w->n_ids += t->n;
    return RELA_OK;
}

static rela_status load_pair(rela_watcher *w, rela_watched *p, const rela_text_pair *pair,
                             rela_error *err)
{
    rela_status st = RELA_OK;
    bool too_long = false, any = false;
    *p = (rela_watched){ .state = RELA_WATCHED };
    for (size_t k = 0; k <= w->target && st == RELA_OK; k++) {
        const rela_span text = k == w->target ? pair->tgt : pair->src[k];
        rela_watched_text *t = text_of(w, p, k);
        st = load_text(w, t, k, text, err);
        too_long = too_long || t->n > w->limit || text.len > rela_text_bytes(w->limit);
        any = any || (k < w->target && t->map.n_pieces);
    }
    if (too_long)
        p->state = RELA_WATCHED_LONG;
    else if (!any || !p->tgt.map.n_pieces)
        p->state = RELA_WATCHED_EMPTY;
    return st;
}

/* Gathers the next pairs, in their order, until a stream is full. */
static rela_status pack(rela_watcher *w, size_t *next, rela_error *err)
{
    size_t rows[RELA_STREAMS_MAX] = { 0 };
    w->n_batch = 0;
    memset(w->longest, 0, sizeof w->longest);
    for (; *next < w->n; ++*next) {
        rela_watched *p = &w->pairs[*next];
        bool full = false;
        if (p->state != RELA_WATCHED)
            continue;
        for (size_t k = 0; k <= w->target; k++)
            full = full || rows[k] + text_of(w, p, k)->n > BATCH_ROWS;
        if (w->n_batch && full)
            break;
        const rela_status st = push(w, *next, err);
        if (st != RELA_OK)
            return st;
        for (size_t k = 0; k <= w->target; k++)
            rows[k] += text_of(w, p, k)->n;
    }
    return RELA_OK;
}

static rela_status push_text(rela_watcher *w, size_t stream, const rela_watched_text *t,
                             rela_error *err)
{
    uint32_t *at = rela_mem_grow(w->at[stream], &w->cap_at[stream], w->n_batch + 2, sizeof *at);
    if (!at)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch");
    w->at[stream] = at;
    if (w->n_batch == 0)
        at[0] = 0;
    const size_t end = at[w->n_batch] + t->n;
    int32_t *rows = rela_mem_grow(w->rows[stream], &w->cap_rows[stream], end, sizeof *rows);
    if (!rows)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch");
    w->rows[stream] = rows;
    memcpy(rows + at[w->n_batch], t->ids, t->n * sizeof *rows);
    at[w->n_batch + 1] = (uint32_t)end;
    w->longest[stream] = t->n > w->longest[stream] ? t->n : w->longest[stream];
    return RELA_OK;
}

static rela_status push(rela_watcher *w, size_t pair, rela_error *err)
{
    size_t *batch = rela_mem_grow(w->batch, &w->cap_batch, w->n_batch + 1, sizeof *batch);
    if (!batch)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch");
    w->batch = batch;
    rela_status st = RELA_OK;
    for (size_t k = 0; k <= w->target && st == RELA_OK; k++)
        st = push_text(w, k, text_of(w, &w->pairs[pair], k), err);
    batch[w->n_batch++] = pair;
    return st;
}

static rela_status run_batch(rela_watcher *w, rela_error *err)
{
    const size_t n = w->n_batch;
    rela_status st = make_room(w, err);
    if (st != RELA_OK)
        return st;
    const rela_attn_tap tap = { see, w };
    rela_pass_options pass = { .tap = &tap };
    rela_model_batch packed = { .first = { 0 } };
    for (size_t k = 0; k <= w->target; k++)
        packed.streams[k] = (rela_tokens){ w->rows[k], w->at[k], n };
    w->status = RELA_OK;
    w->err = err;
    if (w->watch->nll) {
        pass.loss.row_nll = w->nll;
        (void)rela_worker_forward(w->worker, &packed, &pass);
        add_nll(w);
    } else {
        rela_worker_attend(w->worker, &packed, &pass);
    }
    w->err = NULL;
    st = w->status;
    for (size_t i = 0; i < n; i++)
        if (!rela_worker_finite(w->worker, &packed, i))
            w->pairs[w->batch[i]].not_finite = true;
    for (size_t i = 0; i < n && st == RELA_OK && w->watch->on_pair_end; i++)
        st = w->watch->on_pair_end(w->watch->ctx, w->batch[i], err);
    return st;
}

static void add_nll(rela_watcher *w)
{
    for (size_t i = 0; i < w->n_batch; i++) {
        const uint32_t *at = w->at[w->target];
        double sum = 0;
        for (size_t t = at[i]; t < at[i + 1]; t++)
            sum += (double)w->nll[t];
        w->pairs[w->batch[i]].nll = sum;
        if (!isfinite(sum))
            w->pairs[w->batch[i]].not_finite = true;
    }
}

/* A worker large enough for the batch: first of the usual size, for a long pair a larger one. */
static rela_status make_room(rela_watcher *w, rela_error *err)
{
    bool fits = w->worker != NULL;
    for (size_t k = 0; k <= w->target; k++) {
        const size_t need = w->at[k][w->n_batch];
        size_t *room = &w->room[k == w->target ? TGT : SRC];
        fits = fits && need <= *room;
        *room = *room < BATCH_ROWS ? BATCH_ROWS : *room;
        *room = *room < need ? need : *room;
    }
    real *nll = rela_mem_grow(w->nll, &w->cap_nll, w->room[TGT], sizeof *nll);
    if (!nll)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch");
    w->nll = nll;
    if (fits)
        return RELA_OK;
    rela_worker_destroy(w->worker);
    w->worker = NULL;
    return rela_worker_create(&w->worker, w->net, w->room[SRC], w->room[TGT], false, err);
}

/* Weights arrive in strips of queries, head by head; heads of one group arrive for all sentences
 * before those of the next group. */
static void see(void *ctx, const rela_attn_view *v)
{
    rela_watcher *w = ctx;
    const rela_attn_stack *stack = &w->net->list.stacks[v->stack];
    if (w->status != RELA_OK || !(w->watch->stacks & rela_watch_stack(v->stack)))
        return;
    rela_watched *p = &w->pairs[w->batch[v->sentence]];
    rela_heads h = { .pair = w->batch[v->sentence],
                     .stack = v->stack,
                     .of = stack,
                     .layer = v->layer,
                     .heads = w->net->config.heads,
                     .n_q = text_of(w, p, stack->queries)->n,
                     .n_k = text_of(w, p, stack->keys)->n };
    real *all = heads_room(w, v->sentence, stack), odd = 0;
    if (!all)
        return;
    for (size_t i = 0; i < v->rows; i++) {
        real *row = all + (v->head * h.n_q + v->first + i) * h.n_k;
        memcpy(row, v->w + i * v->ld, v->n * sizeof *row);
        memset(row + v->n, 0, (h.n_k - v->n) * sizeof *row);
        for (size_t k = 0; k < v->n; k++)
            odd += row[k] - row[k];
    }
    if (!(odd == 0))
        p->not_finite = true;
    if (v->head + 1 < h.heads || v->first + v->rows < h.n_q)
        return;
    h.w = all;
    w->status = w->watch->on_heads(w->watch->ctx, &h, w->err);
}

/* Where the weights of a pair of the batch go. */
static real *heads_room(rela_watcher *w, size_t pair, const rela_attn_stack *stack)
{
    const uint32_t *at = w->at[stack->queries];
    const size_t each = w->net->config.heads * w->longest[stack->keys], n = at[w->n_batch] * each;
    real *heads = rela_mem_grow(w->heads, &w->cap_heads, n, sizeof *heads);
    if (!heads) {
        w->status = rela_fail(w->err, RELA_NOMEM, "no memory for attention of %zu weights", n);
        return NULL;
    }
    w->heads = heads;
    return heads + at[pair] * each;
}
