/* SPDX-License-Identifier: MIT */
/* src/align/align_lines.c - word links of parallel text, block by block in order. */
#include "align/align_job.h"
#include "base/encoding.h"
#include "base/mem.h"
#include "dist/job_rows.h"

#include <string.h>

static const double MEAN_THRESHOLD = 0.4;

static uint64_t number_shown(const rela_align_job *j);

/* Both models must see the same words, or their links cannot be combined. */
static rela_status compare_words(const rela_align_job *j, const rela_align_worker *l, size_t i,
                                 uint64_t line, rela_error *err)
{
    if (j->n_directions < 2)
        return RELA_OK;
    const rela_watched *a = rela_align_pair(l, 0, i), *b = rela_align_pair(l, 1, i);
    const rela_word_map *src = &a->src[rela_align_source(j, 0)].map, *tgt = &a->tgt.map;
    if (src->n_words == b->tgt.map.n_words && tgt->n_words == b->src[0].map.n_words)
        return RELA_OK;
    const rela_status st =
        rela_fail(err, RELA_FORMAT,
                  "the two models split it into different words: %zu and %zu of the source, %zu "
                  "and %zu of the target",
                  src->n_words, b->tgt.map.n_words, tgt->n_words, b->src[0].map.n_words);
    return rela_fail_at(err, st, j->files[rela_align_source(j, 0)], line);
}

rela_status rela_align_gather(void *ctx, const rela_heads *h, rela_error *err)
{
    const rela_align_callback *e = ctx;
    rela_align_worker *l = e->l;
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
    const rela_watched *p = rela_align_pair(l, e->direction, h->pair);
    const rela_status st =
        rela_word_weights_merge(&l->merged, w, &p->src[h->of->keys], &p->tgt, c->shift, err);
    return st == RELA_OK ? rela_word_weights_add(&l->sums[e->direction][h->pair], &l->merged, err)
                         : st;
}

static rela_status format_soft(rela_buffer *out, const rela_word_weights *m,
                               const rela_align_job *j, rela_error *err)
{
    const size_t ld = m->n_src + 1;
    const size_t layers =
        j->choice[0].layer < 0 ? rela_config_layers(&j->models[0]->net.config, RELA_ATTN_CROSS) : 1;
    const char *gap = "";
    rela_status st = RELA_OK;
    for (size_t s = 0; s < m->n_src; s++)
        for (size_t t = 0; t < m->n_tgt && st == RELA_OK; t++) {
            const double w = (double)m->w[t * ld + s];
            if (!(w > 0) ||
                (j->o.threshold > 0 && w < j->o.threshold * rela_weight_sum(m->w + t * ld, ld)))
                continue;
            st = rela_buffer_printf(out, err, "%s%zu-%zu:%.4g", gap, s, t, w / (double)layers);
            gap = " ";
        }
    return st;
}

/* Appends the links of pair i; all directions must have run. */
static rela_status format_pair(rela_buffer *out, const rela_align_job *j, rela_align_worker *l,
                               size_t i, rela_error *err)
{
    static const rela_link_format PHARAOH = { .struct_size = sizeof PHARAOH };
    if (j->o.soft)
        return format_soft(out, &l->sums[0][i], j, err);
    rela_status st = RELA_OK;
    if (j->n_directions == 2 && j->o.symmetrise == RELA_ALIGN_MEAN) {
        st = rela_word_weights_both(&l->joined, &l->sums[0][i], &l->sums[1][i],
                                    j->o.threshold > 0 ? j->o.threshold : MEAN_THRESHOLD, err);
        return st == RELA_OK ? rela_links_format(out, &l->joined, &PHARAOH, err) : st;
    }
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

/* Keeps the words and weights of the line of options.only for the caller. */
static rela_status keep_shown(rela_align_job *j, rela_align_worker *l, const rela_rows *rows,
                              size_t i, rela_error *err)
{
    const rela_word_weights *m = &l->sums[0][i];
    const size_t sides[] = { rela_align_source(j, 0), j->n_sources };
    rela_status st = RELA_OK;
    for (int k = 0; k < 2 && st == RELA_OK; k++)
        st = rela_watcher_words(&j->words[k], l->watcher[0], sides[k],
                                rows->lines[i * j->n_files + sides[k]], err);
    return st == RELA_OK && m->w ? rela_word_weights_add(&j->shown, m, err) : st;
}

/* Output of a block: one state byte per pair, then one line of links per pair. */
static rela_status align_block(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    rela_align_job *j = ctx;
    rela_align_worker *l = &j->workers[thread];
    char states[RELA_ALIGN_ROWS] = { 0 };
    if (number_shown(j) && rows->first + rows->n <= number_shown(j))
        return RELA_OK; /* all lines are before options.only */
    rela_status st = rela_buffer_append(&rows->out, states, rows->n, err);
    for (int d = 0; d < j->n_directions && st == RELA_OK; d++) {
        rela_align_callback e = { j, l, d };
        const rela_watch watch = { .stacks = rela_align_stack(j, d),
                                   .on_heads = rela_align_gather,
                                   .ctx = &e };
        st = rela_align_load(j, l, d, rows, err);
        if (st == RELA_OK)
            st = rela_align_watch(j, l, d, rows, &watch, err);
    }
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        rela_watched_state state = rela_align_pair(l, 0, i)->state;
        if (j->n_directions == 2 && state == RELA_WATCHED)
            state = rela_align_pair(l, 1, i)->state;
        rows->out.data[i] = (char)state;
        st = compare_words(j, l, i, rows->first + i, err);
        if (st == RELA_OK && state == RELA_WATCHED)
            st = format_pair(&rows->out, j, l, i, err);
        if (st == RELA_OK && rows->first + i == number_shown(j))
            st = keep_shown(j, l, rows, i, err);
        if (st == RELA_OK)
            st = rela_buffer_append_char(&rows->out, '\n', err);
        for (int d = 0; d < j->n_directions; d++)
            rela_word_weights_free(&l->sums[d][i]);
    }
    return st;
}

/* options.only as a line number from 1, as readers count; 0: all lines are shown. */
static uint64_t number_shown(const rela_align_job *j)
{
    return j->o.only < 0 ? 0 : (uint64_t)j->o.only + 1;
}

static const char *name_of(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

/* Reports the first line that is not UTF-8. */
static void check_encoding(rela_align_job *j, const rela_rows *rows)
{
    const rela_log *log = &j->models[0]->runtime->log;
    for (size_t i = 0; i < rows->n * j->n_files && !j->encoding_reported; i++) {
        const rela_span line = rows->lines[i];
        j->encoding_reported =
            line.len < RELA_ALIGN_LINE && /* else cut, perhaps in a character */
            rela_encoding_check(log, name_of(j->files[i % j->n_files]), line.text, line.len,
                                rows->first + i / j->n_files);
    }
}

static void count_line(rela_align_job *j, char state, uint64_t number)
{
    rela_align_report *r = &j->report;
    r->lines++;
    r->empty += state == RELA_WATCHED_EMPTY;
    r->too_long += state == RELA_WATCHED_LONG;
    if (state == RELA_WATCHED_LONG)
        rela_align_log_long(j, number);
}

void rela_align_log_long(const rela_align_job *j, uint64_t line)
{
    rela_log_line(&j->models[0]->runtime->log, RELA_LOG_WARNING,
                  "%s: line %llu: longer than %zu tokens: no links", name_of(j->o.src),
                  (unsigned long long)line, rela_watcher_limit(j->workers[0].watcher[0]) - 1);
}

/* Pointers to the words of a buffer, one per line; line ends become NUL. The list is given to the
 * caller (rela_mem_free), its words are lent. NULL: no memory. */
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
            break; /* with one spare slot, so that an empty list is not NULL */
        b->data[i] = '\0';
        list[(*n)++] = b->data + start;
        start = i + 1;
    }
    return list;
}

static rela_status report_shown(rela_align_job *j, rela_aligned *a, rela_error *err)
{
    const size_t layers =
        j->choice[0].layer < 0 ? rela_config_layers(&j->models[0]->net.config, RELA_ATTN_CROSS) : 1;
    const rela_word_weights *m = &j->shown;
    const char **src = list_words(&j->words[0], &a->n_src);
    const char **tgt = list_words(&j->words[1], &a->n_tgt);
    rela_status st =
        src && tgt ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the words of a pair");
    if (st == RELA_OK && m->w && (a->n_src != m->n_src || a->n_tgt != m->n_tgt))
        st = rela_fail(err, RELA_UNSUP, "line %llu: words that contain unusual blanks",
                       (unsigned long long)a->line + 1);
    for (size_t i = 0; m->w && i < m->n_tgt * (m->n_src + 1); i++)
        m->w[i] /= (real)layers;
    a->src_words = src;
    a->tgt_words = tgt;
    a->weights = m->w;
    if (st == RELA_OK && j->on_line(j->ctx, a))
        st = rela_fail(err, RELA_CANCEL, "cancelled");
    rela_mem_free((void *)src);
    rela_mem_free((void *)tgt);
    return st;
}

static rela_status report_block(void *ctx, rela_rows *rows, rela_error *err)
{
    rela_align_job *j = ctx;
    if (rows->out.len == 0)
        return RELA_OK;
    check_encoding(j, rows);
    const char *states = rows->out.data, *end = states + rows->out.len;
    const char *at = rows->out.len > rows->n ? states + rows->n : end;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            return rela_fail(err, RELA_FORMAT, "line %llu: no links in its result",
                             (unsigned long long)(rows->first + i));
        rela_aligned a = { .line = rows->first + i - 1,
                           .links = at,
                           .links_len = (size_t)(stop - at) };
        *stop = '\0';
        at = stop + 1;
        if (number_shown(j) && rows->first + i != number_shown(j))
            continue;
        count_line(j, states[i], rows->first + i);
        if (number_shown(j))
            st = report_shown(j, &a, err);
        else if (j->on_line(j->ctx, &a))
            st = rela_fail(err, RELA_CANCEL, "cancelled");
    }
    return st;
}

rela_status rela_align_lines(rela_align_job *j, rela_error *err)
{
    uint64_t n = 0;
    const rela_steps steps = { .files = j->files,
                               .n_files = j->n_files,
                               .n_threads = j->n_workers,
                               .block_rows = RELA_ALIGN_ROWS,
                               .max_line = RELA_ALIGN_LINE,
                               .limit = number_shown(j),
                               .may_be_empty = true,
                               .work = align_block,
                               .done = report_block,
                               .ctx = j };
    const rela_status st = rela_job_rows(&n, j->o.job, &steps, err);
    if (st == RELA_OK && n < number_shown(j))
        return rela_fail(err, RELA_ARG, "%s: no line %llu; it has %llu", j->o.src,
                         (unsigned long long)number_shown(j), (unsigned long long)n);
    return st;
}
