/* SPDX-License-Identifier: MIT */
/* src/analyse/watch.c - see watch.h. */
#include "analyse/watch.h"

#include "base/mem.h"
#include "rela/vocab.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { BATCH_ROWS = 512, SIDES = 2 };

struct rela_watcher {
    const rela_net *net;
    const rela_pipeline *pipeline;
    rela_pipeline_scratch *scratch;
    rela_worker *worker;
    size_t room[SIDES]; /* rows the worker was made for */
    size_t limit;

    rela_watched *pairs;
    size_t n, cap;
    int32_t *ids; /* of all pairs behind each other, source then target */
    uint32_t *word_of;
    size_t n_ids, cap_ids, cap_words;

    /* the batch that runs */
    const rela_watch *watch;
    size_t *batch; /* numbers of its pairs */
    size_t n_batch, cap_batch;
    int32_t *rows[SIDES]; /* packed tokens */
    uint32_t *at[SIDES];
    size_t cap_rows[SIDES], cap_at[SIDES];
    size_t longest[SIDES]; /* tokens of a pair */
    real *nll;             /* (target rows) */
    size_t cap_nll;
    real *heads; /* weights of all heads of one layer, pair by pair */
    size_t cap_heads;
    rela_status status; /* of the listener */
    rela_error *err;
};

static rela_status load_side(rela_watcher *w, size_t *n, rela_word_map *map, size_t side,
                             rela_span text, rela_error *err);
static rela_status pack(rela_watcher *w, size_t *next, rela_error *err);
static rela_status push(rela_watcher *w, size_t pair, rela_error *err);
static rela_status run_batch(rela_watcher *w, rela_error *err);
static void add_nll(rela_watcher *w);
static rela_status make_room(rela_watcher *w, rela_error *err);
static void see(void *ctx, const rela_attn_view *v);
static real *heads_room(rela_watcher *w, size_t pair, size_t query_side, size_t key_side);

rela_status rela_watcher_create(rela_watcher **out, const rela_net *net, const rela_pipeline *p,
                                rela_error *err)
{
    *out = NULL;
    rela_watcher *w = rela_mem_zalloc(sizeof *w);
    if (!w)
        return rela_fail(err, RELA_NOMEM, "no memory to watch attention");
    w->net = net;
    w->pipeline = p;
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
    for (int i = 0; i < SIDES; i++) {
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
        rela_watched *p = &all[i];
        *p = (rela_watched){ .state = RELA_WATCHED };
        rela_status st = load_side(w, &p->n_src, &p->src_map, 0, pairs[i].src, err);
        if (st == RELA_OK)
            st = load_side(w, &p->n_tgt, &p->tgt_map, 1, pairs[i].tgt, err);
        if (st != RELA_OK)
            return st;
        const size_t most = rela_text_bytes(w->limit);
        if (p->n_src > w->limit || p->n_tgt > w->limit || pairs[i].src.len > most ||
            pairs[i].tgt.len > most)
            p->state = RELA_WATCHED_LONG;
        else if (p->n_src == 1 || p->n_tgt == 1)
            p->state = RELA_WATCHED_EMPTY;
    }
    size_t at = 0; /* the arrays may have moved while they were filled */
    for (size_t i = 0; i < n; i++) {
        rela_watched *p = &all[i];
        p->src = w->ids + at;
        p->src_map.word_of = w->word_of + at;
        at += p->n_src;
        p->tgt = w->ids + at;
        p->tgt_map.word_of = w->word_of + at;
        at += p->n_tgt;
    }
    w->n = n;
    return RELA_OK;
}

rela_status rela_watcher_run(rela_watcher *w, const rela_watch *watch, rela_error *err)
{
    rela_status st = RELA_OK;
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

size_t rela_watcher_odd(const rela_watcher *w, size_t n)
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

/* Appends the tokens of a side and the end symbol. */
static rela_status load_side(rela_watcher *w, size_t *n, rela_word_map *map, size_t side,
                             rela_span text, rela_error *err)
{
    const int32_t *ids = NULL;
    const size_t most = rela_text_bytes(w->limit);
    const rela_status st = rela_pipeline_encode(&ids, n, w->scratch, side, text.text,
                                                text.len < most ? text.len : most, err);
    if (st != RELA_OK)
        return st;
    const uint32_t *word_of = rela_pipeline_words(w->scratch);
    map->n_pieces = *n;
    map->n_words = *n ? word_of[*n - 1] + 1 : 0;
    int32_t *all = rela_mem_grow(w->ids, &w->cap_ids, w->n_ids + *n + 1, sizeof *all);
    if (all)
        w->ids = all;
    uint32_t *words = rela_mem_grow(w->word_of, &w->cap_words, w->n_ids + *n + 1, sizeof *words);
    if (words)
        w->word_of = words;
    if (!all || !words)
        return rela_fail(err, RELA_NOMEM, "no memory for a line of %zu tokens", *n);
    if (*n) {
        memcpy(all + w->n_ids, ids, *n * sizeof *all);
        memcpy(words + w->n_ids, word_of, *n * sizeof *words);
    }
    all[w->n_ids + *n] = RELA_VOCAB_EOS;
    words[w->n_ids + *n] = (uint32_t)map->n_words;
    *n += 1;
    w->n_ids += *n;
    return RELA_OK;
}

/* Gathers the next pairs, in their order, until a side is full. */
static rela_status pack(rela_watcher *w, size_t *next, rela_error *err)
{
    size_t rows[SIDES] = { 0, 0 };
    w->n_batch = 0;
    w->longest[0] = w->longest[1] = 0;
    for (; *next < w->n; ++*next) {
        const rela_watched *p = &w->pairs[*next];
        if (p->state != RELA_WATCHED)
            continue;
        if (w->n_batch && (rows[0] + p->n_src > BATCH_ROWS || rows[1] + p->n_tgt > BATCH_ROWS))
            break;
        const rela_status st = push(w, *next, err);
        if (st != RELA_OK)
            return st;
        rows[0] += p->n_src;
        rows[1] += p->n_tgt;
    }
    return RELA_OK;
}

static rela_status push(rela_watcher *w, size_t pair, rela_error *err)
{
    const rela_watched *p = &w->pairs[pair];
    const int32_t *ids[SIDES] = { p->src, p->tgt };
    const size_t lens[SIDES] = { p->n_src, p->n_tgt };
    size_t *batch = rela_mem_grow(w->batch, &w->cap_batch, w->n_batch + 1, sizeof *batch);
    if (!batch)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch");
    w->batch = batch;
    for (int i = 0; i < SIDES; i++) {
        uint32_t *at = rela_mem_grow(w->at[i], &w->cap_at[i], w->n_batch + 2, sizeof *at);
        if (!at)
            return rela_fail(err, RELA_NOMEM, "no memory for a batch");
        w->at[i] = at;
        if (w->n_batch == 0)
            at[0] = 0;
        const size_t first = at[w->n_batch];
        int32_t *rows = rela_mem_grow(w->rows[i], &w->cap_rows[i], first + lens[i], sizeof *rows);
        if (!rows)
            return rela_fail(err, RELA_NOMEM, "no memory for a batch");
        w->rows[i] = rows;
        memcpy(rows + first, ids[i], lens[i] * sizeof *rows);
        at[w->n_batch + 1] = (uint32_t)(first + lens[i]);
        w->longest[i] = lens[i] > w->longest[i] ? lens[i] : w->longest[i];
    }
    batch[w->n_batch++] = pair;
    return RELA_OK;
}

static rela_status run_batch(rela_watcher *w, rela_error *err)
{
    const size_t n = w->n_batch;
    rela_status st = make_room(w, err);
    if (st != RELA_OK)
        return st;
    const rela_attn_tap tap = { see, w };
    rela_pass_options pass = { .tap = &tap };
    const rela_packed packed = { .streams = { { w->rows[0], w->at[0], n },
                                              { w->rows[1], w->at[1], n } } };
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
    for (size_t i = 0; i < n && st == RELA_OK && w->watch->ran; i++)
        st = w->watch->ran(w->watch->ctx, w->batch[i], err);
    return st;
}

static void add_nll(rela_watcher *w)
{
    for (size_t i = 0; i < w->n_batch; i++) {
        double sum = 0;
        for (size_t t = w->at[1][i]; t < w->at[1][i + 1]; t++)
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
    for (int i = 0; i < SIDES; i++) {
        const size_t need = w->at[i][w->n_batch];
        fits = fits && need <= w->room[i];
        w->room[i] = w->room[i] < BATCH_ROWS ? BATCH_ROWS : w->room[i];
        w->room[i] = w->room[i] < need ? need : w->room[i];
    }
    real *nll = rela_mem_grow(w->nll, &w->cap_nll, w->room[1], sizeof *nll);
    if (!nll)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch");
    w->nll = nll;
    if (fits)
        return RELA_OK;
    rela_worker_destroy(w->worker);
    w->worker = NULL;
    return rela_worker_create(&w->worker, w->net, w->room[0], w->room[1], false, err);
}

/* Heads come in strips of queries, those of one kind after all sentences of the kind before. */
static void see(void *ctx, const rela_attn_view *v)
{
    rela_watcher *w = ctx;
    if (w->status != RELA_OK || !w->watch->types[v->place])
        return;
    const size_t pair = w->batch[v->sentence], heads = w->net->config.heads;
    const rela_watched *p = &w->pairs[pair];
    const size_t query_side = v->place != RELA_ATTN_ENC, key_side = v->place == RELA_ATTN_DEC;
    const size_t n_q = query_side ? p->n_tgt : p->n_src, n_k = key_side ? p->n_tgt : p->n_src;
    real *all = heads_room(w, v->sentence, query_side, key_side), odd = 0;
    if (!all)
        return;
    for (size_t i = 0; i < v->rows; i++) {
        real *row = all + (v->head * n_q + v->first + i) * n_k;
        memcpy(row, v->w + i * v->ld, v->n * sizeof *row);
        memset(row + v->n, 0, (n_k - v->n) * sizeof *row);
        for (size_t k = 0; k < v->n; k++)
            odd += row[k] - row[k];
    }
    if (!(odd == 0))
        w->pairs[pair].not_finite = true;
    if (v->head + 1 < heads || v->first + v->rows < n_q)
        return;
    const rela_heads h = { pair, (rela_attn_type)v->place, v->layer, heads, n_q, n_k, all };
    w->status = w->watch->see(w->watch->ctx, &h, w->err);
}

/* Where the weights of a pair of the batch go. */
static real *heads_room(rela_watcher *w, size_t pair, size_t query_side, size_t key_side)
{
    const uint32_t *at = w->at[query_side];
    const size_t each = w->net->config.heads * w->longest[key_side], n = at[w->n_batch] * each;
    real *heads = rela_mem_grow(w->heads, &w->cap_heads, n, sizeof *heads);
    if (!heads) {
        w->status = rela_fail(w->err, RELA_NOMEM, "no memory for attention of %zu weights", n);
        return NULL;
    }
    w->heads = heads;
    return heads + at[pair] * each;
}
