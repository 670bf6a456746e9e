/* SPDX-License-Identifier: MIT */
/* src/train/slot_runner.c - see slot_runner.h. */
#include "train/slot_runner.h"

#include "base/mem.h"

#include <string.h>

/* About 512 rows are enough for full speed. The margin saves a micro-batch when a slot is just
 * above a multiple of 512 rows, as quarters of 4096 tokens are. */
enum { MICRO_BATCH_ROWS = 576 };

/* Sentences [first, last) of a slot. */
typedef struct micro_batch {
    size_t first, last;
} micro_batch;

static micro_batch next_micro_batch(const rela_slot_job *j, const rela_slot *part, size_t from,
                                    size_t rows);
static void run_micro_batch(const rela_slot_job *j, rela_slot_runner *r, rela_slot *part,
                            micro_batch m, real *grads);
static rela_tokens micro_batch_tokens(const rela_tokens *all, micro_batch m, size_t copies,
                                      uint32_t *at, int32_t *ids);

static size_t length_of(const rela_tokens *t, size_t i)
{
    return t->at[i + 1] - t->at[i];
}

rela_row_count rela_count_rows(const rela_slot_job *j, size_t first, size_t last)
{
    rela_row_count c = { 0, 0 };
    for (size_t i = 0; i < j->net->list.n_streams; i++) {
        const uint32_t *at = j->update->streams[i].at;
        const size_t rows = at[last] - at[first];
        c.all += rows;
        c.most = rows > c.most ? rows : c.most;
    }
    return c;
}

size_t rela_micro_batch_rows(const rela_update_options *o)
{
    return o->micro_batch_rows ? o->micro_batch_rows : MICRO_BATCH_ROWS;
}

size_t rela_sentence_copies(const rela_update_options *o)
{
    return o->r_drop > 0 ? 2 : 1;
}

/* Rows available to the sentences of a micro-batch, each counted once even if R-Drop doubles it. */
static size_t room_of(const rela_update_options *o)
{
    const size_t room = rela_micro_batch_rows(o) / rela_sentence_copies(o);
    return room > 0 ? room : 1;
}

/* Most rows of a micro-batch in one stream; a single sentence may exceed the usual limit. */
static size_t rows_needed(const rela_slot_job *j, const rela_tokens *t)
{
    size_t rows = rela_micro_batch_rows(j->o);
    for (size_t i = 0; i < t->n; i++) {
        const size_t len = rela_sentence_copies(j->o) * length_of(t, i);
        rows = len > rows ? len : rows;
    }
    return rows;
}

void rela_slot_runner_deinit(rela_slot_runner *r)
{
    rela_worker_destroy(r->worker);
    for (size_t k = 0; k < RELA_STREAMS_MAX; k++)
        rela_mem_free(r->offsets[k]);
    rela_mem_free(r->ids);
    rela_mem_free(r->row_weight);
}

rela_status rela_slot_runner_grow(rela_slot_runner *r, const rela_slot_job *j, rela_error *err)
{
    const size_t target = j->net->list.n_streams - 1,
                 tgt = rows_needed(j, &j->update->streams[target]);
    size_t src = 0;
    bool good = true;
    for (size_t i = 0; i < target; i++) {
        const size_t rows = rows_needed(j, &j->update->streams[i]);
        src = rows > src ? rows : src;
    }
    for (size_t i = 0; i <= target; i++) { /* sentences <= rows of the target */
        uint32_t *offsets =
            rela_mem_grow(r->offsets[i], &r->cap_offsets[i], tgt + 1, sizeof *offsets);
        r->offsets[i] = offsets ? offsets : r->offsets[i];
        good = good && offsets;
    }
    const size_t n_ids = rela_sentence_copies(j->o) > 1 ? target * src + tgt : 1;
    int32_t *ids = rela_mem_grow(r->ids, &r->cap_ids, n_ids, sizeof *ids);
    r->ids = ids ? ids : r->ids;
    real *weight = rela_mem_grow(r->row_weight, &r->cap_weight, tgt, sizeof *weight);
    r->row_weight = weight ? weight : r->row_weight;
    if (!good || !ids || !weight)
        return rela_fail(err, RELA_NOMEM, "no memory for a batch of %zu rows", tgt);
    if (r->worker && src <= r->max_src && tgt <= r->max_tgt)
        return RELA_OK;
    rela_worker_destroy(r->worker);
    r->worker = NULL;
    r->max_src = src > r->max_src ? src : r->max_src;
    r->max_tgt = tgt > r->max_tgt ? tgt : r->max_tgt;
    return rela_worker_create(&r->worker, j->net, r->max_src, r->max_tgt, true, err);
}

void rela_slot_run(rela_slot_runner *r, rela_slot *part, const rela_slot_job *j, real *grads)
{
    if (part->first == part->last)
        return;
    /* Micro-batches of equal size: matrix products of a small last one would be inefficient. */
    const size_t most = rela_count_rows(j, part->first, part->last).most, room = room_of(j->o);
    const size_t n = most > room ? (most + room - 1) / room : 1, rows = (most + n - 1) / n;
    for (size_t at = part->first; at < part->last && !part->stopped;) {
        const micro_batch m = next_micro_batch(j, part, at, rows);
        run_micro_batch(j, r, part, m, grads);
        part->stopped = rela_stop_asked(&j->o->stop);
        at = m.last;
    }
}

/* About the given number of rows in the longest stream, at most room_of; at least one sentence. */
static micro_batch next_micro_batch(const rela_slot_job *j, const rela_slot *part, size_t from,
                                    size_t rows)
{
    const size_t room = room_of(j->o);
    size_t to = from + 1;
    while (to < part->last && rela_count_rows(j, from, to).most < rows &&
           rela_count_rows(j, from, to + 1).most <= room)
        to++;
    return (micro_batch){ from, to };
}

static void run_micro_batch(const rela_slot_job *j, rela_slot_runner *r, rela_slot *part,
                            micro_batch m, real *grads)
{
    const rela_model_batch *u = j->update;
    const size_t copies = j->training ? rela_sentence_copies(j->o) : 1,
                 target = j->net->list.n_streams - 1;
    rela_model_batch b = { .first = { 0 } };
    size_t n_ids = 0;
    for (size_t i = 0; i <= target; i++) {
        b.streams[i] = micro_batch_tokens(&u->streams[i], m, copies, r->offsets[i], r->ids + n_ids);
        b.first[i] = (uint32_t)copies * u->streams[i].at[m.first];
        n_ids += copies > 1 ? rela_tokens_rows(&b.streams[i]) : 0;
    }
    const rela_tokens *tgt = &b.streams[target];
    for (size_t i = 0; j->o->sentence_mean && i < tgt->n; i++)
        for (size_t t = tgt->at[i]; t < tgt->at[i + 1]; t++)
            r->row_weight[t] = 1 / (real)length_of(tgt, i);
    const bool is_last = m.last == part->last;
    const rela_pass_options pass = { .training = j->training,
                                     .seed = j->o->seed,
                                     .update = j->number,
                                     .on_gradients = is_last ? r->on_gradients : NULL,
                                     .on_gradients_ctx = r,
                                     .stop = j->o->stop,
                                     .loss = { .smooth = (real)j->o->smooth,
                                               .kl_weight = j->training ? (real)j->o->r_drop : 0,
                                               .row_weight =
                                                   j->o->sentence_mean ? r->row_weight : NULL } };
    const rela_loss_sums sums = rela_worker_train(r->worker, j->training ? grads : NULL, &b, &pass);
    part->loss += sums.loss;
    part->nll += sums.nll;
}

/* One stream of a micro-batch, each sentence followed by its copies: thus the row numbers of a
 * sentence within the update, on which dropout depends, do not depend on the division into
 * micro-batches. */
static rela_tokens micro_batch_tokens(const rela_tokens *all, micro_batch m, size_t copies,
                                      uint32_t *at, int32_t *ids)
{
    const uint32_t first = all->at[m.first];
    size_t n = 0;
    at[0] = 0;
    for (size_t i = m.first; i < m.last; i++)
        for (size_t c = 0; c < copies; c++, n++) {
            const size_t len = length_of(all, i);
            at[n + 1] = at[n] + (uint32_t)len;
            if (copies > 1)
                memcpy(ids + at[n], all->ids + all->at[i], len * sizeof *ids);
        }
    return (rela_tokens){ copies > 1 ? ids : all->ids + first, at, n };
}
