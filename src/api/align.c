/* SPDX-License-Identifier: MIT */
/* src/api/align.c - rela_align: word links of parallel text, streamed. The heads are chosen first,
 * on the lines that have gold links, if that is asked for. */
#include "analyse/headaer.h"
#include "api/session.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/steps.h"
#include "rela/analyse.h"

#include <string.h>

enum { BLOCK_ROWS = 32, DIRECTIONS = 2, LONG_SHOWN = 20 };

/* What one thread owns. */
typedef struct lane {
    rela_watcher *watcher[DIRECTIONS];
    rela_text_pair pairs[BLOCK_ROWS];
    rela_word_weights sums[DIRECTIONS][BLOCK_ROWS]; /* over the chosen layers */
    rela_word_weights merged;
    rela_links links[DIRECTIONS], joined;
    rela_head_aer aer[DIRECTIONS];
    rela_links gold[DIRECTIONS][BLOCK_ROWS];
    real *mean;
    size_t cap_mean;
} lane;

/* States of the pairs of a block, for the thread that finishes it. */
typedef struct block {
    rela_watched_state state[BLOCK_ROWS];
} block;

typedef struct job {
    rela_align_options o;
    const rela_model *models[DIRECTIONS];
    rela_head_choice choice[DIRECTIONS];
    int n_directions;
    lane *lanes;
    int n_lanes;
    rela_align_report report;
    int (*tell)(void *ctx, const rela_aligned *line);
    void *ctx;
    /* gold */
    char *gold;
    rela_span *gold_lines;
    size_t n_gold, cap_gold;
    /* options.only */
    rela_buffer words[2];
    rela_word_weights shown;
} job;

/* A listener of one direction of one lane. */
typedef struct ear {
    const job *j;
    lane *l;
    int direction;
} ear;

static rela_status check(const job *j, rela_error *err);
static rela_status make_lanes(job *j, rela_error *err);
static void free_job(job *j);
static rela_status choose(job *j, rela_error *err);
static rela_status align_lines(job *j, rela_error *err);

void rela_align_options_init(rela_align_options *o, size_t size)
{
    memset(o, 0, size);
    const rela_align_options defaults = { .struct_size = size,
                                          .layer = -1,
                                          .head = -1,
                                          .reverse_layer = -1,
                                          .reverse_head = -1,
                                          .symmetrise = RELA_GROW_DIAG };
    memcpy(o, &defaults, size < sizeof defaults ? size : sizeof defaults);
}

rela_status rela_align(rela_align_report *report, const rela_model *m, const rela_align_options *o,
                       int (*tell)(void *ctx, const rela_aligned *line), void *ctx, rela_error *err)
{
    job j = { .models = { m }, .tell = tell, .ctx = ctx };
    rela_align_options_init(&j.o, sizeof j.o);
    memcpy(&j.o, o, o->struct_size < sizeof j.o ? o->struct_size : sizeof j.o);
    j.models[1] = j.o.reverse;
    j.n_directions = j.o.reverse ? 2 : 1;
    j.choice[0] = (rela_head_choice){ j.o.layer, j.o.head, j.o.shift != 0 };
    j.choice[1] = (rela_head_choice){ j.o.reverse_layer, j.o.reverse_head, j.o.reverse_shift != 0 };
    rela_status st = check(&j, err);
    if (st == RELA_OK)
        st = make_lanes(&j, err);
    if (st == RELA_OK && j.o.best_on)
        st = choose(&j, err);
    if (st == RELA_OK)
        st = align_lines(&j, err);
    if (report) {
        const size_t size = report->struct_size;
        const rela_head_choice *c = j.choice;
        j.report.layer = c[0].layer;
        j.report.head = c[0].head;
        j.report.shift = c[0].shift;
        j.report.reverse_layer = c[1].layer;
        j.report.reverse_head = c[1].head;
        j.report.reverse_shift = c[1].shift;
        memcpy(report, &j.report, size < sizeof j.report ? size : sizeof j.report);
        report->struct_size = size;
    }
    free_job(&j);
    return st;
}

static rela_status check(const job *j, rela_error *err)
{
    const rela_align_options *o = &j->o;
    for (int d = 0; d < j->n_directions; d++) {
        const rela_config *c = &j->models[d]->net.config;
        const rela_head_choice *h = &j->choice[d];
        if (h->layer < -1 || h->layer >= (int32_t)c->dec_layers)
            return rela_fail(err, RELA_ARG, "no layer %d; the %smodel has %zu", h->layer + 1,
                             d ? "reverse " : "", c->dec_layers);
        if (h->head < -1 || h->head >= (int32_t)c->heads)
            return rela_fail(err, RELA_ARG, "no head %d; the %smodel has %zu", h->head + 1,
                             d ? "reverse " : "", c->heads);
        if (h->layer < 0 && h->head >= 0)
            return rela_fail(err, RELA_ARG, "a head without its layer");
    }
    if (!(o->threshold >= 0 && o->threshold <= 1))
        return rela_fail(err, RELA_ARG, "threshold %g; expected 0..1", o->threshold);
    if (o->symmetrise < RELA_INTERSECT || o->symmetrise > RELA_GROW_DIAG_FINAL_AND)
        return rela_fail(err, RELA_ARG, "unknown way to symmetrise: %d", (int)o->symmetrise);
    if (o->soft && o->reverse)
        return rela_fail(err, RELA_ARG, "soft links have one direction: no reverse model");
    if (!o->src || !o->tgt)
        return rela_fail(err, RELA_ARG, "source and target text are needed");
    if (o->best_on && (strcmp(o->src, "-") == 0 || strcmp(o->tgt, "-") == 0))
        return rela_fail(err, RELA_ARG,
                         "text is read twice to choose a head: standard input will not do");
    return RELA_OK;
}

static rela_status make_lanes(job *j, rela_error *err)
{
    j->n_lanes = j->models[0]->runtime->n_threads;
    j->lanes = rela_mem_zalloc((size_t)j->n_lanes * sizeof *j->lanes);
    if (!j->lanes)
        return rela_fail(err, RELA_NOMEM, "no memory for %d threads", j->n_lanes);
    for (int i = 0; i < j->n_lanes; i++)
        for (int d = 0; d < j->n_directions; d++) {
            const rela_model *m = j->models[d];
            rela_status st =
                rela_watcher_create(&j->lanes[i].watcher[d], &m->net, m->pipeline, err);
            if (st == RELA_OK)
                st = rela_head_aer_init(&j->lanes[i].aer[d], m->net.config.dec_layers,
                                        m->net.config.heads, j->o.threshold, err);
            if (st != RELA_OK)
                return st;
        }
    return RELA_OK;
}

static void free_lane(lane *l)
{
    for (int d = 0; d < DIRECTIONS; d++) {
        rela_watcher_destroy(l->watcher[d]);
        rela_head_aer_deinit(&l->aer[d]);
        rela_links_free(&l->links[d]);
        for (int i = 0; i < BLOCK_ROWS; i++) {
            rela_word_weights_free(&l->sums[d][i]);
            rela_links_free(&l->gold[d][i]);
        }
    }
    rela_word_weights_free(&l->merged);
    rela_links_free(&l->joined);
    rela_mem_free(l->mean);
}

static void free_job(job *j)
{
    for (int i = 0; j->lanes && i < j->n_lanes; i++)
        free_lane(&j->lanes[i]);
    rela_mem_free(j->lanes);
    rela_mem_free(j->gold);
    rela_mem_free(j->gold_lines);
    rela_word_weights_free(&j->shown);
    for (int i = 0; i < 2; i++)
        rela_buffer_free(&j->words[i]);
}

/* ---- what both passes share ---- */

/* Encodes the pairs of a block for one direction. */
static rela_status load(const job *j, lane *l, int d, const rela_rows *rows, rela_error *err)
{
    for (size_t i = 0; i < rows->n; i++) {
        const rela_span *c = rows->cells + i * 2;
        l->pairs[i] = d == 0 ? (rela_text_pair){ c[0], c[1] } : (rela_text_pair){ c[1], c[0] };
    }
    const rela_status st = rela_watcher_load(l->watcher[d], l->pairs, rows->n, err);
    if (st != RELA_OK)
        return rela_fail_at(err, st, j->o.src, rows->first);
    return st;
}

static const rela_watched *pair_of(const lane *l, int d, size_t i)
{
    return rela_watcher_pair(l->watcher[d], i);
}

/* Both models must see the same words, or links of the two cannot be put together. */
static rela_status compare_words(const job *j, const lane *l, size_t i, uint64_t line,
                                 rela_error *err)
{
    if (j->n_directions < 2)
        return RELA_OK;
    const rela_watched *a = pair_of(l, 0, i), *b = pair_of(l, 1, i);
    if (a->src_map.n_words == b->tgt_map.n_words && a->tgt_map.n_words == b->src_map.n_words)
        return RELA_OK;
    const rela_status st =
        rela_fail(err, RELA_FORMAT,
                  "the two models split it into different words: %zu and %zu of the source, %zu "
                  "and %zu of the target",
                  a->src_map.n_words, b->tgt_map.n_words, a->tgt_map.n_words, b->src_map.n_words);
    return rela_fail_at(err, st, j->o.src, line);
}

/* ---- choosing heads ---- */

static rela_status read_gold(job *j, rela_error *err)
{
    size_t len = 0;
    rela_status st = rela_file_read(&j->gold, &len, j->o.best_on, 0, err);
    if (st != RELA_OK)
        return st;
    const char *at = j->gold, *end = at + len;
    for (rela_span line; rela_next_line(&line, &at, end);) {
        rela_span *lines = rela_mem_grow(j->gold_lines, &j->cap_gold, j->n_gold + 1, sizeof *lines);
        if (!lines)
            return rela_fail(err, RELA_NOMEM, "%s: no memory for its lines", j->o.best_on);
        j->gold_lines = lines;
        lines[j->n_gold++] = line;
    }
    return j->n_gold ? RELA_OK : rela_fail(err, RELA_FORMAT, "%s: no lines", j->o.best_on);
}

static rela_status parse_gold(const job *j, lane *l, int d, size_t i, uint64_t line,
                              rela_error *err)
{
    const rela_watched *p = pair_of(l, d, i);
    const rela_link_form form = { .base = j->o.gold_base,
                                  .reverse = (j->o.gold_reverse != 0) != (d == 1),
                                  .check = 1,
                                  .n_src = p->src_map.n_words,
                                  .n_tgt = p->tgt_map.n_words };
    const rela_span text = j->gold_lines[line - 1];
    return rela_fail_at(err, rela_links_parse(&l->gold[d][i], text.text, text.len, &form, err),
                        j->o.best_on, line);
}

static rela_status score_heads(void *ctx, const rela_heads *h, rela_error *err)
{
    const ear *e = ctx;
    lane *l = e->l;
    return rela_head_aer_layer(&l->aer[e->direction], h, pair_of(l, e->direction, h->pair),
                               &l->gold[e->direction][h->pair], err);
}

static rela_status score_all_heads(void *ctx, size_t pair, rela_error *err)
{
    const ear *e = ctx;
    lane *l = e->l;
    return rela_head_aer_ran(&l->aer[e->direction], pair, &l->gold[e->direction][pair], err);
}

static rela_status score_block(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    job *j = ctx;
    lane *l = &j->lanes[thread];
    rela_status st = RELA_OK;
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++) {
        ear e = { j, l, d };
        const rela_watch watch = { .types = { [RELA_ATTN_CROSS] = true },
                                   .see = score_heads,
                                   .ran = score_all_heads,
                                   .ctx = &e };
        st = load(j, l, d, rows, err);
        for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
            st = parse_gold(j, l, d, i, rows->first + i, err);
            if (st == RELA_OK && pair_of(l, d, i)->state != RELA_WATCHED)
                rela_head_aer_missed(&l->aer[d], &l->gold[d][i]);
        }
        if (st == RELA_OK)
            st = rela_watcher_run(l->watcher[d], &watch, err);
    }
    return st;
}

static rela_status nothing(void *ctx, rela_rows *rows, rela_error *err)
{
    (void)ctx;
    (void)rows;
    (void)err;
    return RELA_OK;
}

static void log_choice(const job *j, int d, double aer)
{
    const rela_head_choice *c = &j->choice[d];
    const rela_log *log = &j->models[0]->runtime->log;
    const char *const way = c->shift ? "shifted" : "normal", *side = d ? "reverse: " : "";
    char heads[64];
    if (c->layer < 0)
        rela_format_text(heads, sizeof heads, "mean of all layers and heads");
    else if (c->head < 0)
        rela_format_text(heads, sizeof heads, "layer %d, mean of its heads", c->layer + 1);
    else
        rela_format_text(heads, sizeof heads, "layer %d, head %d", c->layer + 1, c->head + 1);
    rela_log_line(log, RELA_LOG_INFO, "%sbest on %s: %s, %s attention (AER %.1f on %zu pairs)",
                  side, j->o.best_on, heads, way, 100 * aer, j->n_gold);
}

static rela_status choose(job *j, rela_error *err)
{
    const char *const files[] = { j->o.src, j->o.tgt };
    uint64_t n = 0;
    rela_status st = read_gold(j, err);
    const rela_steps steps = { .files = files,
                               .n_files = 2,
                               .n_threads = j->n_lanes,
                               .block_rows = BLOCK_ROWS,
                               .limit = j->n_gold,
                               .work = score_block,
                               .done = nothing,
                               .ctx = j };
    if (st == RELA_OK)
        st = rela_steps_run(&n, &steps, err);
    if (st == RELA_OK && n < j->n_gold)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu lines but %s has %llu", j->o.best_on,
                       j->n_gold, j->o.src, (unsigned long long)n);
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++) {
        rela_head_aer *sum = &j->lanes[0].aer[d];
        for (int i = 1; i < j->n_lanes; i++)
            rela_head_aer_add(sum, &j->lanes[i].aer[d]);
        j->choice[d] = rela_head_aer_best(sum);
        *(d ? &j->report.reverse_aer : &j->report.aer) = rela_head_aer_get(sum, j->choice[d]);
        log_choice(j, d, rela_head_aer_get(sum, j->choice[d]));
    }
    j->report.dev_pairs = j->n_gold;
    return st;
}

/* ---- aligning ---- */

/* Adds the chosen attention of a layer to the sum of its pair. */
static rela_status gather(void *ctx, const rela_heads *h, rela_error *err)
{
    const ear *e = ctx;
    lane *l = e->l;
    const rela_head_choice *c = &e->j->choice[e->direction];
    const size_t n = h->n_q * h->n_k;
    if (c->layer >= 0 && (size_t)c->layer != h->layer)
        return RELA_OK;
    const real *w = c->head >= 0 ? h->w + (size_t)c->head * n : NULL;
    if (!w) {
        real *mean = rela_mem_grow(l->mean, &l->cap_mean, n, sizeof *mean);
        if (!mean)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu weights", n);
        l->mean = mean;
        rela_heads_mean(mean, h);
        w = mean;
    }
    const rela_status st =
        rela_word_weights_merge(&l->merged, w, pair_of(l, e->direction, h->pair), c->shift, err);
    return st == RELA_OK ? rela_word_weights_add(&l->sums[e->direction][h->pair], &l->merged, err)
                         : st;
}

static rela_status format_soft(rela_buffer *out, const rela_word_weights *m, const job *j,
                               rela_error *err)
{
    const size_t ld = m->n_src + 1;
    const size_t layers = j->choice[0].layer < 0 ? j->models[0]->net.config.dec_layers : 1;
    const char *gap = "";
    rela_status st = RELA_OK;
    for (size_t s = 0; s < m->n_src; s++)
        for (size_t t = 0; t < m->n_tgt && st == RELA_OK; t++) {
            const double w = (double)m->w[t * ld + s];
            double sum = 0;
            for (size_t k = 0; k < ld && j->o.threshold > 0 && w > 0; k++)
                sum += (double)m->w[t * ld + k];
            if (!(w > 0) || w < j->o.threshold * sum)
                continue;
            st = rela_buffer_printf(out, err, "%s%zu-%zu:%.4g", gap, s, t, w / (double)layers);
            gap = " ";
        }
    return st;
}

/* The links of one pair, all directions run. */
static rela_status format_pair(rela_buffer *out, const job *j, lane *l, size_t i, rela_error *err)
{
    static const rela_link_form PHARAOH = { 0 };
    if (j->o.soft)
        return format_soft(out, &l->sums[0][i], j, err);
    rela_status st = RELA_OK;
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++)
        st = rela_word_weights_links(&l->links[d], &l->sums[d][i], j->o.threshold, d == 1, err);
    const rela_links *result = &l->links[0];
    if (st == RELA_OK && j->n_directions == 2) {
        st = rela_links_symmetrise(&l->joined, &l->links[0], &l->links[1],
                                   (rela_symmetrise)j->o.symmetrise, err);
        result = &l->joined;
    }
    return st == RELA_OK ? rela_links_format(out, result, &PHARAOH, err) : st;
}

/* Keeps words and weights of the pair that is to be shown. */
static rela_status keep_shown(job *j, lane *l, const rela_rows *rows, size_t i, rela_error *err)
{
    const rela_word_weights *m = &l->sums[0][i];
    rela_status st = RELA_OK;
    for (int side = 0; side < 2 && st == RELA_OK; side++)
        st = rela_watcher_words(&j->words[side], l->watcher[0], side, rows->cells[2 * i + side],
                                err);
    return st == RELA_OK && m->w ? rela_word_weights_add(&j->shown, m, err) : st;
}

static rela_status align_block(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    job *j = ctx;
    lane *l = &j->lanes[thread];
    rela_status st = RELA_OK;
    if (!rows->extra && !(rows->extra = rela_mem_zalloc(sizeof(block))))
        return rela_fail(err, RELA_NOMEM, "no memory for a block");
    block *b = rows->extra;
    if (j->o.only && rows->first + rows->n <= j->o.only)
        return RELA_OK; /* only lines before the one that counts */
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++) {
        ear e = { j, l, d };
        const rela_watch watch = { .types = { [RELA_ATTN_CROSS] = true },
                                   .see = gather,
                                   .ctx = &e };
        st = load(j, l, d, rows, err);
        if (st == RELA_OK)
            st = rela_watcher_run(l->watcher[d], &watch, err);
    }
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        b->state[i] = pair_of(l, 0, i)->state;
        if (j->n_directions == 2 && b->state[i] == RELA_WATCHED)
            b->state[i] = pair_of(l, 1, i)->state;
        st = compare_words(j, l, i, rows->first + i, err);
        if (st == RELA_OK && b->state[i] == RELA_WATCHED)
            st = format_pair(&rows->out, j, l, i, err);
        if (st == RELA_OK && rows->first + i == j->o.only)
            st = keep_shown(j, l, rows, i, err);
        if (st == RELA_OK)
            st = rela_buffer_append_char(&rows->out, '\n', err);
        for (int d = 0; d < j->n_directions; d++)
            rela_word_weights_free(&l->sums[d][i]);
    }
    return st;
}

static void count_line(job *j, const block *b, size_t i, uint64_t number)
{
    rela_align_report *r = &j->report;
    const rela_log *log = &j->models[0]->runtime->log;
    r->lines++;
    r->empty += b->state[i] == RELA_WATCHED_EMPTY;
    if (b->state[i] != RELA_WATCHED_LONG)
        return;
    if (r->too_long++ < LONG_SHOWN)
        rela_log_line(log, RELA_LOG_WARNING, "line %llu: longer than %zu tokens: no links",
                      (unsigned long long)number, rela_watcher_limit(j->lanes[0].watcher[0]) - 1);
}

/* Pointers to the words of a buffer, whose line ends become NUL; given (rela_mem_free). */
static const char **list_words(rela_buffer *b, size_t *n)
{
    const char **list = NULL;
    size_t cap = 0, start = 0;
    *n = 0;
    for (size_t i = 0; i <= b->len; i++) {
        const bool end = i < b->len && b->data[i] == '\n';
        if (!end && i < b->len)
            continue;
        const char **more = rela_mem_grow((void *)list, &cap, *n + 1, sizeof *list);
        if (!more) {
            rela_mem_free((void *)list);
            return NULL;
        }
        list = more;
        if (!end)
            break; /* one place too many, so that there is a list even of nothing */
        b->data[i] = '\0';
        list[(*n)++] = b->data + start;
        start = i + 1;
    }
    return list;
}

static rela_status tell_shown(job *j, rela_aligned *a, rela_error *err)
{
    const size_t layers = j->choice[0].layer < 0 ? j->models[0]->net.config.dec_layers : 1;
    const rela_word_weights *m = &j->shown;
    const char **src = list_words(&j->words[0], &a->n_src);
    const char **tgt = list_words(&j->words[1], &a->n_tgt);
    rela_status st =
        src && tgt ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the words of a pair");
    if (st == RELA_OK && m->w && (a->n_src != m->n_src || a->n_tgt != m->n_tgt))
        st = rela_fail(err, RELA_UNSUP, "line %llu: words with odd blanks in them",
                       (unsigned long long)a->number);
    for (size_t i = 0; i < m->n_tgt * (m->n_src + 1); i++)
        m->w[i] /= (real)layers;
    a->src_words = src;
    a->tgt_words = tgt;
    a->weights = m->w;
    if (st == RELA_OK && j->tell(j->ctx, a))
        st = rela_fail(err, RELA_CANCEL, "cancelled");
    rela_mem_free((void *)src);
    rela_mem_free((void *)tgt);
    return st;
}

static rela_status tell_block(void *ctx, rela_rows *rows, rela_error *err)
{
    job *j = ctx;
    const char *at = rows->out.data, *end = at + rows->out.len;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && st == RELA_OK && rows->out.len && at < end; i++) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        rela_aligned a = { .number = rows->first + i,
                           .links = at,
                           .links_len = (size_t)(stop - at) };
        *stop = '\0';
        at = stop + 1;
        if (j->o.only && a.number != j->o.only)
            continue;
        count_line(j, rows->extra, i, a.number);
        if (j->o.only)
            st = tell_shown(j, &a, err);
        else if (j->tell(j->ctx, &a))
            st = rela_fail(err, RELA_CANCEL, "cancelled");
    }
    return st;
}

static rela_status align_lines(job *j, rela_error *err)
{
    const char *const files[] = { j->o.src, j->o.tgt };
    uint64_t n = 0;
    const rela_steps steps = { .files = files,
                               .n_files = 2,
                               .n_threads = j->n_lanes,
                               .block_rows = BLOCK_ROWS,
                               .limit = j->o.only,
                               .may_be_empty = true,
                               .work = align_block,
                               .done = tell_block,
                               .free_extra = rela_mem_free,
                               .ctx = j };
    const rela_status st = rela_steps_run(&n, &steps, err);
    if (st == RELA_OK && n < j->o.only)
        return rela_fail(err, RELA_ARG, "%s: no line %llu; it has %llu", j->o.src,
                         (unsigned long long)j->o.only, (unsigned long long)n);
    if (j->report.too_long > LONG_SHOWN)
        rela_log_line(&j->models[0]->runtime->log, RELA_LOG_WARNING,
                      "%llu pairs were too long in all", (unsigned long long)j->report.too_long);
    return st;
}
