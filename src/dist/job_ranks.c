/* SPDX-License-Identifier: MIT */
/* src/dist/job_ranks.c - a flow of blocks on several ranks, in rounds: rank 0 reads blocks and
 * broadcasts their places, every rank works on a consecutive share of them, and rank 0 gathers the
 * results and finishes them. */
#include "base/mem.h"
#include "base/par.h"
#include "dist/job_parts.h"

#include <string.h>

enum {
    PER_THREAD = 8,         /* blocks per thread in a round: ranks wait for each other at its end */
    ROUND_BYTES = 256 << 20 /* of text, about: rank 0 holds all blocks of a round */
};

/* Broadcast by rank 0 at the start of a round. */
typedef struct plan {
    uint64_t n;             /* blocks */
    uint64_t failed;        /* reading failed after them */
    uint64_t *lines;        /* (n) of each block */
    rela_job_place *places; /* (n) */
} plan;

/* What a rank has done in a round. */
typedef struct tally {
    uint64_t done;  /* blocks */
    uint64_t bytes; /* of their results */
    uint64_t cut;
} tally;

typedef struct team {
    rela_job *j;
    const rela_flow *f;
    size_t rank, size;
    size_t most;          /* maximum blocks of a round */
    rela_job_slot *slots; /* (n_slots) all blocks on rank 0, else the own ones */
    size_t n_slots;
    plan plan;
    size_t first, end; /* of the own blocks */
    /* the work of this rank */
    rela_job_slot *own;
    size_t next, done;
    void **blocks; /* (threads) */
    size_t *numbers;
    bool cut; /* the work on the last block done failed */
    rela_buffer sent, got;
    tally *tallies;         /* (size) */
    rela_message *messages; /* (size) */
} team;

static rela_status start(team *t, rela_error *err);
static void stop(team *t);
static rela_status run_round(team *t, bool *more, rela_error *err);
static rela_status read_round(team *t, bool *more, rela_error *err);
static void share_plan(team *t);
static rela_status fetch_own(team *t, rela_error *err);
static rela_status work_own(team *t, rela_error *err);
static rela_status collect(team *t, rela_status own, rela_error *err);

rela_status rela_job_run_ranks(rela_job *j, const rela_flow *f, rela_error *err)
{
    team t = { .j = j, .f = f };
    bool more = true;
    rela_status st = rela_world_agree(j->world, start(&t, err), err);
    while (st == RELA_OK && more)
        st = run_round(&t, &more, err);
    stop(&t);
    return st;
}

/* Ranks may have different numbers of threads. */
static rela_status start(team *t, rela_error *err)
{
    rela_world *w = t->j->world;
    const size_t threads = (size_t)t->f->n_threads;
    const size_t each =
        (size_t)rela_world_max(w, (int64_t)(threads > 1 ? threads * PER_THREAD : 1));
    t->rank = rela_world_rank(w);
    t->size = rela_world_size(w);
    t->most = each * t->size;
    t->n_slots = t->rank ? each : t->most;
    t->slots = rela_job_slots_create(t->f, t->n_slots, err);
    t->plan.lines = rela_mem_zalloc(t->most * sizeof *t->plan.lines);
    t->plan.places = rela_mem_zalloc(t->most * sizeof *t->plan.places);
    t->blocks = rela_mem_zalloc(threads * sizeof *t->blocks);
    t->numbers = rela_mem_zalloc(threads * sizeof *t->numbers);
    t->tallies = rela_mem_zalloc(t->size * sizeof *t->tallies);
    t->messages = rela_mem_zalloc(t->size * sizeof *t->messages);
    if (!t->slots || !t->plan.lines || !t->plan.places || !t->blocks || !t->numbers ||
        !t->tallies || !t->messages)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu blocks", t->n_slots);
    for (size_t i = 0; i < threads; i++)
        t->blocks[i] = &t->numbers[i];
    return RELA_OK;
}

static void stop(team *t)
{
    rela_job_slots_destroy(t->slots, t->f, t->n_slots);
    rela_mem_free(t->plan.lines);
    rela_mem_free(t->plan.places);
    rela_mem_free(t->blocks);
    rela_mem_free(t->numbers);
    rela_mem_free(t->tallies);
    rela_mem_free(t->messages);
    rela_buffer_free(&t->sent);
    rela_buffer_free(&t->got);
}

/* A read failure is returned after the blocks before it have been finished. */
static rela_status run_round(team *t, bool *more, rela_error *err)
{
    rela_error why = { RELA_OK, "" }, unread = { RELA_OK, "" };
    const rela_status read = t->rank ? RELA_OK : read_round(t, more, &unread);
    t->plan.failed = read != RELA_OK;
    share_plan(t);
    *more = t->plan.n > 0;
    t->first = t->rank * t->plan.n / t->size;
    t->end = (t->rank + 1) * t->plan.n / t->size;
    t->own = t->rank ? t->slots : t->slots + t->first;
    t->next = t->done = 0;
    t->cut = false;
    rela_status st = fetch_own(t, &why);
    st = st ? st : work_own(t, &why);
    st = collect(t, st, &why);
    st = rela_world_agree(t->j->world, st, &why);
    if (st == RELA_OK && t->plan.failed) {
        why = unread;
        st = rela_world_agree(t->j->world, read, &why);
    }
    if (st != RELA_OK && err)
        *err = why;
    return st;
}

/* ---- reading ---- */

/* Bytes between two places, as far as they are known. */
static uint64_t bytes_between(const rela_job_place *a, const rela_job_place *b)
{
    uint64_t sum = 0;
    for (int i = 0; i < RELA_PLACE_FILES; i++)
        if (a->bytes[i] != UINT64_MAX && b->bytes[i] != UINT64_MAX && b->bytes[i] > a->bytes[i])
            sum += b->bytes[i] - a->bytes[i];
    return sum;
}

/* Rank 0: reads the blocks of the round. */
static rela_status read_round(team *t, bool *more, rela_error *err)
{
    const rela_flow *f = t->f;
    plan *p = &t->plan;
    rela_status st = RELA_OK;
    p->n = 0;
    while (st == RELA_OK && *more && p->n < t->most) {
        rela_job_slot *s = &t->slots[p->n];
        f->place(f->ctx, &p->places[p->n]);
        if (bytes_between(&p->places[0], &p->places[p->n]) > ROUND_BYTES)
            break;
        st = f->read(f->ctx, s->block, 0, &s->lines, err);
        *more = s->lines > 0;
        if (st == RELA_OK && *more)
            p->lines[p->n++] = s->lines;
    }
    return st;
}

static void share_plan(team *t)
{
    rela_world *w = t->j->world;
    plan *p = &t->plan;
    uint64_t head[] = { p->n, p->failed };
    rela_world_broadcast(w, head, sizeof head);
    p->n = head[0];
    p->failed = head[1];
    rela_world_broadcast(w, p->lines, p->n * sizeof *p->lines);
    rela_world_broadcast(w, p->places, p->n * sizeof *p->places);
}

/* Other ranks: read their own blocks, at the places that rank 0 named. */
static rela_status fetch_own(team *t, rela_error *err)
{
    const rela_flow *f = t->f;
    if (t->rank == 0 || t->first == t->end)
        return RELA_OK;
    rela_status st = f->seek(f->ctx, &t->plan.places[t->first], err);
    for (size_t i = t->first; i < t->end && st == RELA_OK; i++) {
        rela_job_slot *s = &t->own[i - t->first];
        st = f->read(f->ctx, s->block, t->plan.lines[i], &s->lines, err);
        if (st == RELA_OK && s->lines != t->plan.lines[i])
            st = rela_fail(err, RELA_IO, "the text ends after line %llu, but not on rank 0",
                           (unsigned long long)(t->plan.places[i].line + s->lines));
    }
    return st;
}

/* ---- work ---- */

static rela_status next_own(void *ctx, void *number, bool *more, rela_error *err)
{
    team *t = ctx;
    (void)err;
    *(size_t *)number = t->next;
    *more = t->next < t->end - t->first;
    t->next += *more;
    return RELA_OK;
}

static rela_status work_one(void *ctx, void *number, int thread, rela_error *err)
{
    const team *t = ctx;
    return rela_job_work(t->f, &t->own[*(const size_t *)number], thread, err);
}

/* Called in order; a failure drops the results of later blocks. */
static rela_status count_one(void *ctx, void *number, rela_error *err)
{
    team *t = ctx;
    const rela_job_slot *s = &t->own[*(const size_t *)number];
    t->done++;
    t->cut = s->st != RELA_OK;
    if (t->cut && err)
        *err = s->why;
    return s->st;
}

static rela_status work_own(team *t, rela_error *err)
{
    const rela_pipe pipe = { .read = next_own,
                             .work = work_one,
                             .write = count_one,
                             .ctx = t,
                             .blocks = t->blocks,
                             .n_threads = t->f->n_threads };
    return rela_pipe_run(&pipe, err);
}

/* ---- results ---- */

/* Packs length and bytes of every result of another rank, for rank 0. */
static rela_status pack(team *t, rela_error *err)
{
    rela_status st = RELA_OK;
    rela_buffer_clear(&t->sent);
    for (size_t i = 0; i < t->done && t->rank && st == RELA_OK; i++) {
        const rela_buffer *b = &t->own[i].result;
        const uint64_t len = b->len;
        st = rela_buffer_append(&t->sent, (const char *)&len, sizeof len, err);
        st = st ? st : rela_buffer_append(&t->sent, b->data ? b->data : "", b->len, err);
    }
    return st;
}

/* Unpacks what a rank has sent into the slots of its blocks; moves *at past it. */
static rela_status unpack(team *t, size_t first, size_t n, const char **at, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = first; i < first + n && st == RELA_OK; i++) {
        uint64_t len;
        memcpy(&len, *at, sizeof len);
        rela_buffer_clear(&t->slots[i].result);
        st = rela_buffer_append(&t->slots[i].result, *at + sizeof len, len, err);
        *at += sizeof len + len;
    }
    return st;
}

/* Rank 0: finishes the results of the first n_ranks ranks. */
static rela_status finish_all(team *t, size_t n_ranks, rela_error *err)
{
    const char *at = t->got.data;
    rela_status st = RELA_OK;
    for (size_t r = 0; r < n_ranks && st == RELA_OK; r++) {
        const size_t first = r * t->plan.n / t->size, n = (size_t)t->tallies[r].done;
        st = r ? unpack(t, first, n, &at, err) : RELA_OK;
        for (size_t i = first; i < first + n && st == RELA_OK; i++) {
            t->slots[i].st = t->tallies[r].cut && i + 1 == first + n ? RELA_STATE : RELA_OK;
            st = rela_job_finish(t->j, t->f, &t->slots[i], err);
        }
    }
    return st;
}

/* Sends the results of the first n_ranks ranks to rank 0, which has reserved room. */
static void transfer(team *t, size_t n_ranks)
{
    const rela_message out = { 0, t->sent.data, t->sent.len };
    const bool sends = t->rank && t->rank < n_ranks && t->sent.len;
    size_t n_in = 0, at = 0;
    for (size_t r = 1; r < n_ranks && t->rank == 0; r++) {
        const size_t len = (size_t)t->tallies[r].bytes;
        if (len)
            t->messages[n_in++] = (rela_message){ r, t->got.data + at, len };
        at += len;
    }
    rela_world_begin(t->j->world, &out, sends, t->messages, n_in);
    rela_world_wait(t->j->world);
}

/* Gathers the results on rank 0, up to those of the first rank that failed: output stays in order.
 * own: status of this rank's work. */
static rela_status collect(team *t, rela_status own, rela_error *err)
{
    rela_world *w = t->j->world;
    const size_t failed = (size_t)rela_world_min(w, (int64_t)(own ? t->rank : t->size));
    const size_t n_ranks = failed < t->size ? failed + 1 : t->size;
    rela_error why = { RELA_OK, "" };
    size_t room = 0;
    rela_status st = pack(t, &why);
    t->tallies[t->rank] = (tally){ t->done, t->sent.len, t->cut };
    rela_world_share_equal(w, t->tallies, sizeof *t->tallies);
    for (size_t r = 1; r < n_ranks; r++)
        room += (size_t)t->tallies[r].bytes;
    rela_buffer_clear(&t->got);
    if (st == RELA_OK && t->rank == 0)
        st = rela_buffer_reserve(&t->got, room, &why);
    st = rela_world_agree(w, st, &why);
    if (st == RELA_OK) {
        transfer(t, n_ranks);
        st = t->rank ? RELA_OK : finish_all(t, n_ranks, &why);
    }
    if (st != RELA_OK && own == RELA_OK && err)
        *err = why;
    return own ? own : st;
}
