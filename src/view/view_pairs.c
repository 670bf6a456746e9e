/* SPDX-License-Identifier: MIT */
/* src/view/view_pairs.c - rela_view: runs models on sentences and their targets and writes the
 * attention document, sentence by sentence, in order. */
#include "base/line_rows.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "page/web_page.h"
#include "rela/view.h"
#include "session/session.h"
#include "session/support.h"
#include "session/watch.h"
#include "view/document.h"
#include "view/inseq_form.h"
#include "view/worth.h"

#include <math.h>
#include <string.h>

/* As many pairs at once as rela_analyse: the same batches give the same weights, to the last bit.
 */
enum { LABEL_SIZE = 96, NAME_SIZE = 32, VIEW_PAIRS = 16 };

/* What is known of a pair after it was run. */
typedef struct seen_pair {
    rela_support support;
    rela_document_rows rows[RELA_STACKS_MAX];
    double *logps;
    size_t cap_logps;
} seen_pair;

/* One model on one thread. */
typedef struct reader {
    rela_watcher *watcher;
    rela_worth worth;
    seen_pair seen[VIEW_PAIRS];
    const char **pieces[RELA_STREAMS_MAX];
    size_t caps[RELA_STREAMS_MAX];
    rela_buffer text[RELA_STREAMS_MAX]; /* the subwords of a line, each ended by NUL */
} reader;

typedef struct job {
    const rela_model *const *models;
    const rela_view_text *text;
    rela_view_options o;
    size_t n, n_sources;
    rela_document_model *documents; /* (n) */
    reader *readers;                /* (threads, n) */
    size_t next, next_target;       /* to be read */
    rela_buffer *out;
    size_t written, outputs;
} job;

/* Some sentences on their way. */
typedef struct block {
    size_t first, n; /* sentences */
    size_t first_target, n_targets;
    rela_buffer *parts; /* (targets, models): outputs; empty if it was left out */
    size_t cap_parts, made;
    rela_buffer json;
    size_t outputs;
} block;

static rela_status check(const job *j, rela_error *err);
static rela_status start(job *j, char (*names)[NAME_SIZE], int n_threads, rela_error *err);
static void finish(job *j, int n_threads);
static rela_status run_all(job *j, int n_threads, rela_error *err);

void rela_view_options_init(rela_view_options *o, size_t size)
{
    const rela_view_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

static rela_status wrap(rela_buffer *out, const rela_buffer *json, const rela_view_options *o,
                        rela_error *err)
{
    return o->form ? rela_buffer_append(out, json->data, json->len, err)
                   : rela_page_add_viewer(out, o->title, json->data, json->len, err);
}

rela_status rela_view_page(rela_buffer *out, const char *title, const char *json, size_t len,
                           rela_error *err)
{
    return rela_page_add_viewer(out, title, json, len, err);
}

static bool inseq_of(const job *j)
{
    return j->o.form == RELA_VIEW_INSEQ;
}

rela_status rela_view(rela_buffer *out, const rela_model *const *models, size_t n,
                      const rela_view_text *text, const rela_view_options *o, rela_error *err)
{
    rela_buffer json = RELA_BUFFER_INIT;
    rela_view_text own = { .struct_size = sizeof own };
    job j = { .models = models, .text = &own, .n = n, .out = &json };
    rela_view_options_init(&j.o, sizeof j.o);
    rela_status st = rela_sized_take(&j.o, sizeof j.o, o, "rela_view_options", err);
    st = st ? st : rela_sized_take(&own, sizeof own, text, "rela_view_text", err);
    st = st ? st : check(&j, err);
    if (st != RELA_OK)
        return st;
    const int n_threads = models[0]->runtime->n_threads;
    char(*names)[NAME_SIZE] = rela_mem_zalloc(n * sizeof *names);
    st = names ? start(&j, names, n_threads, err) : rela_fail(err, RELA_NOMEM, "no memory");
    if (st == RELA_OK)
        st = inseq_of(&j) ? rela_inseq_begin(&json, err)
                          : rela_document_begin(&json, j.o.title, j.documents, n, err);
    st = st ? st : run_all(&j, n_threads, err);
    if (st == RELA_OK)
        st = inseq_of(&j) ? rela_inseq_end(&json, j.documents[0].name, err)
                          : rela_document_end(&json, err);
    if (st == RELA_OK && j.outputs == 0)
        st = rela_fail(err, RELA_FORMAT, "no pair could be run");
    st = st ? st : wrap(out, &json, &j.o, err);
    finish(&j, n_threads);
    rela_mem_free(names);
    rela_buffer_free(&json);
    return st;
}

static rela_status check(const job *j, rela_error *err)
{
    if (j->n == 0 || j->text->n == 0)
        return rela_fail(err, RELA_ARG, "a model and a sentence are needed");
    if (j->o.gold_base < 0 || j->o.gold_base > 1)
        return rela_fail(err, RELA_ARG, "gold links count words from %d; expected 0 or 1",
                         j->o.gold_base);
    if (j->o.form < RELA_VIEW_PAGE || j->o.form > RELA_VIEW_INSEQ)
        return rela_fail(err, RELA_ARG, "form is %d; expected 0..%d", (int)j->o.form,
                         RELA_VIEW_INSEQ);
    if (inseq_of(j) && (j->n > 1 || j->models[0]->net.config.sources > 1))
        return rela_fail(err, RELA_ARG, "inseq takes one model with one source");
    for (size_t i = 0; i < j->n; i++) {
        rela_status st = rela_model_check_translates(j->models[i], err);
        st = st ? st : rela_model_check_full(j->models[i], err);
        if (st != RELA_OK)
            return st;
        if (j->models[i]->net.config.sources != j->models[0]->net.config.sources)
            return rela_fail(err, RELA_ARG, "%s has %zu sources but %s has %zu", j->models[i]->path,
                             j->models[i]->net.config.sources, j->models[0]->path,
                             j->models[0]->net.config.sources);
    }
    for (size_t i = 0; i < j->text->n_targets; i++)
        if (j->text->targets[i].sentence >= j->text->n ||
            (i && j->text->targets[i].sentence < j->text->targets[i - 1].sentence))
            return rela_fail(err, RELA_ARG, "target %zu is out of order", i);
    return RELA_OK;
}

/* ---- models ---- */

static void describe(rela_document_model *d, const rela_model *m, const char *name)
{
    const rela_block_list *list = &m->net.list;
    const size_t target = rela_block_list_target(list);
    *d = (rela_document_model){ .name = name,
                                .description = m->card.description,
                                .n_texts = target + 1,
                                .n_stacks = list->n_stacks };
    for (size_t i = 0; i <= target; i++) {
        const char *language = rela_pipeline_parts_of(m->pipeline)->side[i].language;
        const char *card = i == target ? m->card.target : m->card.source;
        d->languages[i] = *language ? language : card;
    }
    for (size_t i = 0; i < list->n_stacks; i++) {
        const rela_attn_stack *s = &list->stacks[i];
        d->stacks[i] = (rela_document_stack){ .key = s->key,
                                              .label = s->label,
                                              .kind = m->net.config.attention[s->type].text,
                                              .queries = s->queries,
                                              .keys = s->keys,
                                              .layers = s->layers,
                                              .heads = m->net.config.heads,
                                              .causal = s->causal };
    }
}

static rela_status start(job *j, char (*names)[NAME_SIZE], int n_threads, rela_error *err)
{
    const size_t n_readers = (size_t)n_threads * j->n;
    rela_status st = RELA_OK;
    j->n_sources = j->models[0]->net.config.sources;
    j->documents = rela_mem_zalloc(j->n * sizeof *j->documents);
    j->readers = rela_mem_zalloc(n_readers * sizeof *j->readers);
    if (!j->documents || !j->readers)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu models", j->n);
    for (size_t i = 0; i < j->n; i++) {
        rela_format_text(names[i], NAME_SIZE, "model %zu", i + 1);
        describe(&j->documents[i], j->models[i], j->o.names ? j->o.names[i] : names[i]);
    }
    for (size_t i = 0; i < n_readers && st == RELA_OK; i++) {
        const rela_model *m = j->models[i % j->n];
        st = rela_watcher_create(&j->readers[i].watcher, &m->net, m->pipeline, err);
        if (st == RELA_OK && j->o.worth)
            st = rela_worth_init(&j->readers[i].worth, &m->net, m->pipeline, err);
    }
    return st;
}

static void free_reader(reader *r)
{
    rela_watcher_destroy(r->watcher);
    rela_worth_deinit(&r->worth);
    for (int i = 0; i < VIEW_PAIRS; i++) {
        rela_support_free(&r->seen[i].support);
        for (int k = 0; k < RELA_STACKS_MAX; k++)
            rela_buffer_free(&r->seen[i].rows[k].bytes);
        rela_mem_free(r->seen[i].logps);
    }
    for (int k = 0; k < RELA_STREAMS_MAX; k++) {
        rela_mem_free(r->pieces[k]);
        rela_buffer_free(&r->text[k]);
    }
}

static void finish(job *j, int n_threads)
{
    for (size_t i = 0; j->readers && i < (size_t)n_threads * j->n; i++)
        free_reader(&j->readers[i]);
    rela_mem_free(j->readers);
    rela_mem_free(j->documents);
}

/* ---- a pair ---- */

/* The subwords of a line as they stand in the text; if there are others than tokens, those of the
 * vocabulary. */
static rela_status list_pieces(reader *r, const rela_model *m, size_t side, rela_span line,
                               const rela_watched_text *t, rela_error *err)
{
    rela_buffer *text = &r->text[side];
    rela_buffer pieces = RELA_BUFFER_INIT;
    size_t n = 0;
    const char **list = rela_mem_grow(r->pieces[side], &r->caps[side], t->n + 1, sizeof *list);
    if (!list)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", t->n);
    r->pieces[side] = list;
    rela_buffer_clear(text);
    rela_status st = rela_watcher_pieces(&pieces, r->watcher, side, line, err);
    const char *at = pieces.data, *end = at + pieces.len;
    for (rela_span word; st == RELA_OK && pieces.len && rela_next_word(&word, &at, end); n++) {
        st = rela_buffer_append(text, word.text, word.len, err);
        st = st ? st : rela_buffer_append_char(text, '\0', err);
    }
    rela_buffer_free(&pieces);
    const rela_vocab *v = rela_pipeline_vocab(m->pipeline, side);
    const char *piece = text->data;
    for (size_t i = 0; i < t->n && st == RELA_OK; i++) {
        const bool own = i < t->map.n_pieces && n == t->map.n_pieces;
        list[i] = own ? piece : rela_vocab_token(v, t->ids[i]);
        piece = own ? piece + strlen(piece) + 1 : piece;
    }
    return st;
}

static rela_document_text text_of(const reader *r, size_t side, const rela_watched_text *t)
{
    return (rela_document_text){ .pieces = r->pieces[side], .n = t->n, .map = t->map };
}

/* Cross attention to the first source says which words have support. It comes before the
 * log-probabilities are known, which are put into place at the end. */
static rela_status on_heads(void *ctx, const rela_heads *h, rela_error *err)
{
    reader *r = ctx;
    seen_pair *seen = &r->seen[h->pair];
    rela_status st = RELA_OK;
    for (size_t head = 0; head < h->heads; head++) {
        const real *w = h->w + head * h->n_q * h->n_k;
        for (size_t q = 0; q < h->n_q && st == RELA_OK; q++)
            st = rela_document_add_row(&seen->rows[h->stack], w + q * h->n_k, rela_heads_keys(h, q),
                                       err);
        if (rela_attn_stack_cross(h->of) && h->of->keys == 0)
            rela_support_add(&seen->support, h->layer, head, w);
    }
    return st;
}

static rela_status on_pair_end(void *ctx, size_t pair, rela_error *err)
{
    reader *r = ctx;
    seen_pair *seen = &r->seen[pair];
    const real *nll = rela_watcher_nll(r->watcher, pair);
    (void)err;
    for (size_t i = 0; i < seen->support.pair.n_q; i++)
        seen->logps[i] = -(double)nll[i];
    rela_support_find(&seen->support);
    return RELA_OK;
}

static rela_status start_pair(seen_pair *seen, const rela_model *m, const rela_watched *p,
                              rela_error *err)
{
    double *logps = rela_mem_grow(seen->logps, &seen->cap_logps, p->tgt.n, sizeof *logps);
    if (!logps)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", p->tgt.n);
    seen->logps = logps;
    for (size_t i = 0; i < m->net.list.n_stacks; i++)
        rela_buffer_clear(&seen->rows[i].bytes);
    const rela_support_pair pair = { .n_q = p->tgt.n,
                                     .n_k = p->src[0].n,
                                     .tgt = p->tgt.map,
                                     .src = p->src[0].map,
                                     .logps = logps,
                                     .layers = m->net.config.dec_layers,
                                     .heads = m->net.config.heads };
    return rela_support_start(&seen->support, &pair, err);
}

/* Runs n pairs, which are loaded. */
static rela_status run_pairs(reader *r, const rela_model *m, size_t n, rela_error *err)
{
    const rela_watch watch = { .stacks = RELA_WATCH_ALL,
                               .nll = true,
                               .on_heads = on_heads,
                               .on_pair_end = on_pair_end,
                               .ctx = r };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if (rela_watcher_pair(r->watcher, i)->state == RELA_WATCHED)
            st = start_pair(&r->seen[i], m, rela_watcher_pair(r->watcher, i), err);
    return st ? st : rela_watcher_run(r->watcher, &watch, err);
}

static rela_text_pair pair_of(const job *j, const rela_view_target *t)
{
    rela_text_pair pair = { .tgt = { t->text, t->len } };
    for (size_t k = 0; k < j->n_sources; k++) {
        const size_t i = t->sentence * j->n_sources + k;
        const char *text = j->text->src[i];
        pair.src[k] = (rela_span){ text, j->text->src_lens ? j->text->src_lens[i] : strlen(text) };
    }
    return pair;
}

/* "rela-g", "target 2", "rela-g, target 2"; empty if the sentence has one output. */
static void label_of(char *out, const job *j, size_t model, size_t target)
{
    const rela_view_target *t = &j->text->targets[target];
    const char *name = j->documents[model].name;
    size_t rank = 0;
    while (rank < target && t[-1 - (ptrdiff_t)rank].sentence == t->sentence)
        rank++;
    const bool alone =
        rank == 0 && (target + 1 == j->text->n_targets || t[1].sentence != t->sentence);
    out[0] = '\0';
    if (!alone && j->n > 1)
        rela_format_text(out, LABEL_SIZE, "%s, target %zu", name, rank + 1);
    else if (!alone)
        rela_format_text(out, LABEL_SIZE, "target %zu", rank + 1);
    else if (j->n > 1)
        rela_format_text(out, LABEL_SIZE, "%s", name);
}

static rela_status add_worth(rela_document_output *o, reader *r, const rela_text_pair *pair,
                             const rela_watched *p, size_t n_sources, rela_error *err)
{
    const rela_status st = rela_worth_find(&r->worth, pair, p, err);
    for (size_t k = 0; k < n_sources; k++)
        o->dropped[k] = r->worth.dropped[k];
    o->silenced = r->worth.silenced;
    return st;
}

/* Writes the output of pair i of those that were run. */
static rela_status add_output(rela_buffer *out, const job *j, reader *r, size_t model,
                              size_t target, size_t i, rela_error *err)
{
    const rela_model *m = j->models[model];
    const rela_view_target *t = &j->text->targets[target];
    const rela_watched *p = rela_watcher_pair(r->watcher, i);
    const rela_text_pair pair = pair_of(j, t);
    char label[LABEL_SIZE];
    rela_status st = RELA_OK;
    label_of(label, j, model, target);
    rela_document_output o = { .model = model,
                               .label = label,
                               .logps = r->seen[i].logps,
                               .scored = t->scored,
                               .score = t->score,
                               .support = &r->seen[i].support,
                               .silenced_layers = m->net.config.dec_layers,
                               .silenced_heads = m->net.config.heads };
    for (size_t k = 0; k <= j->n_sources && st == RELA_OK; k++) {
        const bool last = k == j->n_sources;
        const rela_watched_text *text = last ? &p->tgt : &p->src[k];
        st = list_pieces(r, m, k, last ? pair.tgt : pair.src[k], text, err);
        o.texts[k] = text_of(r, k, text);
    }
    if (st == RELA_OK && j->o.worth)
        st = add_worth(&o, r, &pair, p, j->n_sources, err);
    if (st == RELA_OK && inseq_of(j))
        return rela_inseq_add(out, &j->documents[model], &o, r->seen[i].rows, err);
    return st ? st
              : rela_document_add_output(out, true, &j->documents[model], &o, r->seen[i].rows, err);
}

/* Runs a model on n targets from the given one on. */
static rela_status add_pairs(const job *j, block *b, reader *r, size_t model, size_t target,
                             size_t n, rela_error *err)
{
    rela_text_pair pairs[VIEW_PAIRS];
    for (size_t i = 0; i < n; i++)
        pairs[i] = pair_of(j, &j->text->targets[target + i]);
    rela_status st = rela_watcher_load(r->watcher, pairs, n, err);
    st = st ? st : run_pairs(r, j->models[model], n, err);
    const size_t odd = st == RELA_OK ? rela_watcher_not_finite(r->watcher, n) : n;
    if (odd < n)
        st = rela_fail_not_finite(err, NULL,
                                  j->text->first_line + j->text->targets[target + odd].sentence + 1,
                                  "attention is");
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if (rela_watcher_pair(r->watcher, i)->state == RELA_WATCHED)
            st = add_output(&b->parts[(target + i - b->first_target) * j->n + model], j, r, model,
                            target + i, i, err);
    return st;
}

/* ---- sentences ---- */

static rela_status read_block(void *ctx, void *to, bool *more, rela_error *err)
{
    job *j = ctx;
    block *b = to;
    (void)err;
    *more = j->next < j->text->n;
    if (!*more)
        return RELA_OK;
    b->first = j->next;
    b->first_target = j->next_target;
    while (j->next < j->text->n && j->next - b->first < VIEW_PAIRS &&
           j->next_target - b->first_target < VIEW_PAIRS) {
        while (j->next_target < j->text->n_targets &&
               j->text->targets[j->next_target].sentence == j->next)
            j->next_target++;
        j->next++;
    }
    b->n = j->next - b->first;
    b->n_targets = j->next_target - b->first_target;
    return RELA_OK;
}

static rela_status parse_gold(rela_links *gold, const job *j, size_t sentence, rela_error *err)
{
    const rela_link_format form = { .struct_size = sizeof form,
                                    .base = j->o.gold_base,
                                    .reverse = j->o.gold_reverse };
    const char *line = j->text->gold[sentence];
    return rela_fail_at(err, rela_links_parse(gold, line, strlen(line), &form, err), "gold links",
                        j->text->first_line + sentence + 1);
}

/* Joins the outputs of a sentence, which has n targets from the given one of the block on. */
static rela_status join_outputs(const job *j, block *b, size_t sentence, size_t target, size_t n,
                                rela_error *err)
{
    rela_links gold = { .n = 0 };
    const bool has_gold = sentence < j->text->n_gold;
    size_t found = 0;
    for (size_t i = target * j->n; i < (target + n) * j->n; i++)
        found += b->parts[i].len > 0;
    if (found == 0)
        return RELA_OK;
    rela_status st = has_gold ? parse_gold(&gold, j, sentence, err) : RELA_OK;
    if (st == RELA_OK && inseq_of(j) && b->outputs)
        st = rela_buffer_append_char(&b->json, ',', err);
    else if (st == RELA_OK && !inseq_of(j))
        st = rela_document_sentence(&b->json, b->outputs == 0, j->text->first_line + sentence + 1,
                                    has_gold ? &gold : NULL, err);
    rela_links_free(&gold);
    bool first = true;
    for (size_t i = target * j->n; i < (target + n) * j->n && st == RELA_OK; i++) {
        if (b->parts[i].len == 0)
            continue;
        st = first ? RELA_OK : rela_buffer_append_char(&b->json, ',', err);
        st = st ? st : rela_buffer_append(&b->json, b->parts[i].data, b->parts[i].len, err);
        first = false;
    }
    b->outputs += found;
    return st || inseq_of(j) ? st : rela_document_sentence_end(&b->json, err);
}

static rela_status join_sentences(const job *j, block *b, rela_error *err)
{
    rela_status st = RELA_OK;
    size_t target = 0;
    rela_buffer_clear(&b->json);
    b->outputs = 0;
    for (size_t s = b->first; s < b->first + b->n && st == RELA_OK; s++) {
        size_t n = 0;
        while (target + n < b->n_targets &&
               j->text->targets[b->first_target + target + n].sentence == s)
            n++;
        st = join_outputs(j, b, s, target, n, err);
        target += n;
    }
    return st;
}

static rela_status work_block(void *ctx, void *of, int thread, rela_error *err)
{
    const job *j = ctx;
    block *b = of;
    const size_t n_parts = b->n_targets * j->n;
    rela_buffer *parts = rela_mem_grow(b->parts, &b->cap_parts, n_parts + 1, sizeof *parts);
    if (!parts)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu targets", b->n_targets);
    b->parts = parts;
    for (; b->made < n_parts; b->made++)
        parts[b->made] = (rela_buffer)RELA_BUFFER_INIT;
    for (size_t i = 0; i < n_parts; i++)
        rela_buffer_clear(&parts[i]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n; i++)
        for (size_t t = 0; t < b->n_targets && st == RELA_OK; t += VIEW_PAIRS) {
            const size_t rest = b->n_targets - t;
            st = add_pairs(j, b, &j->readers[(size_t)thread * j->n + i], i, b->first_target + t,
                           rest < VIEW_PAIRS ? rest : VIEW_PAIRS, err);
        }
    return st ? st : join_sentences(j, b, err);
}

static void log_left_out(const job *j, const block *b)
{
    for (size_t t = 0; t < b->n_targets; t++)
        for (size_t i = 0; i < j->n; i++)
            if (b->parts[t * j->n + i].len == 0)
                rela_log_line(&j->models[i]->runtime->log, RELA_LOG_WARNING,
                              "line %llu: a side is empty or longer than the %zu tokens that the "
                              "model takes: left out",
                              (unsigned long long)(j->text->first_line + 1 +
                                                   j->text->targets[b->first_target + t].sentence),
                              rela_watcher_limit(j->readers[i].watcher) - 1);
}

static rela_status write_block(void *ctx, void *of, rela_error *err)
{
    job *j = ctx;
    const block *b = of;
    rela_status st = RELA_OK;
    log_left_out(j, b);
    if (b->outputs) {
        st = j->outputs ? rela_buffer_append_char(j->out, ',', err) : RELA_OK;
        st = st ? st : rela_buffer_append(j->out, b->json.data, b->json.len, err);
    }
    j->outputs += b->outputs;
    j->written += b->n;
    if (st == RELA_OK && j->o.progress && j->o.progress(j->o.progress_ctx, j->written, j->text->n))
        return rela_fail(err, RELA_CANCEL, "cancelled");
    return st;
}

static void free_block(block *b)
{
    for (size_t i = 0; i < b->made; i++)
        rela_buffer_free(&b->parts[i]);
    rela_mem_free(b->parts);
    rela_buffer_free(&b->json);
}

static rela_status run_all(job *j, int n_threads, rela_error *err)
{
    block *blocks = rela_mem_zalloc((size_t)n_threads * sizeof *blocks);
    void **list = rela_mem_zalloc((size_t)n_threads * sizeof *list);
    rela_status st =
        blocks && list ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for sentences");
    for (int i = 0; i < n_threads && st == RELA_OK; i++)
        list[i] = &blocks[i];
    const rela_pipe pipe = { .read = read_block,
                             .work = work_block,
                             .write = write_block,
                             .ctx = j,
                             .blocks = list,
                             .n_threads = n_threads };
    st = st ? st : rela_pipe_run(&pipe, err);
    for (int i = 0; blocks && i < n_threads; i++)
        free_block(&blocks[i]);
    rela_mem_free(blocks);
    rela_mem_free(list);
    return st;
}
