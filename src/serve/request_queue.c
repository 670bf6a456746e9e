/* SPDX-License-Identifier: MIT */
/* src/serve/request_queue.c - see request_queue.h. */
#include "serve/request_queue.h"

#include "base/mem.h"

#include <string.h>

enum { NONE = -1 };
static const double WINDOW = 0.25;    /* seconds of work from which a speed is read */
static const double FIRST_WINDOW = 1; /* before a forecast refuses anyone */
/* A forecast may be wrong by as much: for the request itself, and for what is ahead of it. A queue
 * that is half as long as it could be costs no speed. */
static const double MARGIN = 1.25, MARGIN_AHEAD = 2;

typedef struct request {
    uint64_t id; /* 0: the slot is free */
    size_t connection;
    uint64_t supersede;
    double deadline;
    void *owner;
    uint32_t *tokens;
    size_t n, next; /* sentences; the first that waits */
    size_t running;
    bool cancelled;
    int32_t after; /* the next request of the connection that waits, or the next free slot */
} request;

/* A connection with waiting sentences is in the ring. */
typedef struct line {
    int32_t first, last; /* its requests, in order */
    uint64_t tokens;     /* waiting */
    int32_t before, after;
} line;

struct rela_queue {
    rela_queue_limits limits;
    request *requests;
    line *lines; /* of the connections */
    int32_t free, turn;
    uint64_t issued;
    rela_queue_load load;
    double mark,
        busy;        /* the last time that work was counted; seconds of work since a measurement */
    double last;     /* speed that was measured last, while something waited; 0: nothing did */
    uint64_t worked; /* tokens done in these seconds */
    bool saturated;  /* something waited all the time since then */
};

static request *find(rela_queue *a, uint64_t id);
static double speed_now(const rela_queue *a);
static void forecast_for(const rela_queue *a, rela_queue_forecast *f, size_t connection,
                         uint64_t tokens);
static void enter_ring(rela_queue *a, size_t connection);
static void leave_ring(rela_queue *a, size_t connection);
static void drop_waiting(rela_queue *a, request *r);
static void forget(rela_queue *a, request *r);
static void measure(rela_queue *a, double now);

rela_status rela_queue_create(rela_queue **out, const rela_queue_limits *limits, rela_error *err)
{
    *out = NULL;
    rela_queue *a = rela_mem_zalloc(sizeof *a);
    if (a) {
        a->limits = *limits;
        a->requests = rela_mem_array(limits->requests, sizeof *a->requests);
        a->lines = rela_mem_array(limits->connections, sizeof *a->lines);
    }
    if (!a || !a->requests || !a->lines) {
        rela_queue_destroy(a);
        return rela_fail(err, RELA_NOMEM, "no memory for the queue");
    }
    for (size_t i = 0; i < limits->requests; i++)
        a->requests[i] = (request){ .after = i + 1 < limits->requests ? (int32_t)(i + 1) : NONE };
    for (size_t i = 0; i < limits->connections; i++)
        a->lines[i] = (line){ NONE, NONE, 0, NONE, NONE };
    a->free = limits->requests ? 0 : NONE;
    a->turn = NONE;
    a->saturated = true;
    a->load.tokens_per_second = limits->tokens_per_second;
    *out = a;
    return RELA_OK;
}

void rela_queue_destroy(rela_queue *a)
{
    for (size_t i = 0; a && a->requests && i < a->limits.requests; i++)
        if (a->requests[i].id)
            rela_mem_free(a->requests[i].tokens);
    if (a) {
        rela_mem_free(a->requests);
        rela_mem_free(a->lines);
    }
    rela_mem_free(a);
}

rela_queue_verdict rela_queue_submit(rela_queue *a, uint64_t *id, rela_queue_forecast *forecast,
                                     const rela_queue_request *r, double now)
{
    uint64_t tokens = 0;
    rela_queue_forecast own = { 0 };
    rela_queue_forecast *f = forecast ? forecast : &own;
    for (size_t i = 0; i < r->n; i++)
        tokens += r->tokens[i];
    forecast_for(a, f, r->connection, tokens);
    *id = 0;
    if (a->load.draining)
        return RELA_QUEUE_DRAINING;
    if (tokens > a->limits.waiting_tokens)
        return RELA_QUEUE_TOO_LONG;
    if (a->free == NONE || a->load.waiting_tokens + tokens > a->limits.waiting_tokens)
        return RELA_QUEUE_FULL;
    const double speed = f->seconds > 0 ? speed_now(a) : 0;
    const double itself = speed > 0 ? (double)tokens / speed : 0;
    if (now + MARGIN * itself + MARGIN_AHEAD * (f->seconds - itself) > r->deadline)
        return RELA_QUEUE_LATE;
    uint32_t *copy = rela_mem_array(r->n, sizeof *copy);
    if (!copy)
        return RELA_QUEUE_NO_MEMORY;
    memcpy(copy, r->tokens, r->n * sizeof *copy);
    const int32_t slot = a->free;
    request *q = &a->requests[slot];
    line *l = &a->lines[r->connection];
    a->free = q->after;
    *q = (request){ .id = ++a->issued * a->limits.requests + (uint64_t)slot,
                    .connection = r->connection,
                    .supersede = r->supersede,
                    .deadline = r->deadline,
                    .owner = r->owner,
                    .tokens = copy,
                    .n = r->n,
                    .after = NONE };
    if (l->last == NONE)
        l->first = slot;
    else
        a->requests[l->last].after = slot;
    l->last = slot;
    if (l->tokens == 0 && l->first == slot)
        enter_ring(a, r->connection);
    l->tokens += tokens;
    a->load.waiting_tokens += tokens;
    a->load.waiting_sentences += r->n;
    a->load.requests++;
    *id = q->id;
    return RELA_QUEUE_YES;
}

bool rela_queue_next(rela_queue *a, rela_queue_turn *turn, double now)
{
    if (a->turn == NONE || a->load.running_sentences >= a->limits.running_sentences)
        return false;
    const size_t connection = (size_t)a->turn;
    line *l = &a->lines[connection];
    request *r = &a->requests[l->first];
    const uint32_t tokens = r->tokens[r->next];
    if (a->load.running_sentences > 0 && a->load.running_tokens + tokens > a->limits.running_tokens)
        return false;
    if (a->load.running_sentences == 0)
        a->mark = now;
    *turn = (rela_queue_turn){ r->id, r->owner, r->next++ };
    r->running++;
    l->tokens -= tokens;
    a->load.waiting_tokens -= tokens;
    a->load.waiting_sentences--;
    a->load.running_tokens += tokens;
    a->load.running_sentences++;
    if (r->next == r->n) {
        l->first = r->after;
        l->last = l->first == NONE ? NONE : l->last;
        r->after = NONE;
    }
    a->turn = l->after;
    if (l->first == NONE)
        leave_ring(a, connection);
    return true;
}

bool rela_queue_done(rela_queue *a, uint64_t id, size_t sentence, bool translated, double now)
{
    request *r = find(a, id);
    const uint32_t tokens = r->tokens[sentence];
    r->running--;
    a->load.running_tokens -= tokens;
    a->load.running_sentences--;
    a->worked += translated ? tokens : 0;
    measure(a, now);
    const bool last = r->running == 0 && (r->cancelled || r->next == r->n);
    if (last)
        forget(a, r);
    return last;
}

bool rela_queue_cancel(rela_queue *a, uint64_t id)
{
    request *r = find(a, id);
    drop_waiting(a, r);
    r->cancelled = true;
    if (r->running)
        return false;
    forget(a, r);
    return true;
}

bool rela_queue_expired(const rela_queue *a, uint64_t *id, void **owner, double now)
{
    for (size_t i = 0; i < a->limits.requests && a->load.requests; i++) {
        const request *r = &a->requests[i];
        if (r->id && !r->cancelled && r->deadline <= now) {
            *id = r->id;
            *owner = r->owner;
            return true;
        }
    }
    return false;
}

bool rela_queue_find(const rela_queue *a, uint64_t *id, void **owner, uint64_t supersede)
{
    for (size_t i = 0; i < a->limits.requests && supersede; i++) {
        const request *r = &a->requests[i];
        if (r->id && !r->cancelled && r->supersede == supersede) {
            *id = r->id;
            *owner = r->owner;
            return true;
        }
    }
    return false;
}

void rela_queue_drain(rela_queue *a)
{
    a->load.draining = true;
}

rela_queue_load rela_queue_look(const rela_queue *a)
{
    return a->load;
}

/* ---- helpers ---- */

static request *find(rela_queue *a, uint64_t id)
{
    return &a->requests[id % a->limits.requests];
}

/* The mean, or what was measured last if it is less; 0: not known yet. */
static double speed_now(const rela_queue *a)
{
    const double mean = a->load.tokens_per_second;
    return a->last > 0 && a->last < mean ? a->last : mean;
}

/* Connections take turns, a sentence each: until a request has had its own, every other connection
 * has had at most as many tokens as there are up to its end on its own connection, or its next
 * sentence, if that is longer. */
static void forecast_for(const rela_queue *a, rela_queue_forecast *f, size_t connection,
                         uint64_t tokens)
{
    const uint64_t own = a->lines[connection].tokens + tokens;
    uint64_t ahead = a->load.running_tokens + own;
    for (int32_t k = a->turn; k != NONE;) {
        const line *l = &a->lines[k];
        const request *r = &a->requests[l->first];
        const uint64_t turn = r->tokens[r->next] > own ? r->tokens[r->next] : own;
        if ((size_t)k != connection)
            ahead += l->tokens < turn ? l->tokens : turn;
        k = l->after == a->turn ? NONE : l->after;
    }
    const double speed = speed_now(a);
    f->position = a->load.waiting_sentences;
    f->seconds = speed > 0 ? (double)ahead / speed : 0;
}

/* At its end, which is before the one whose turn it is. */
static void enter_ring(rela_queue *a, size_t connection)
{
    line *l = &a->lines[connection];
    const int32_t own = (int32_t)connection;
    if (a->turn == NONE) {
        l->before = l->after = own;
        a->turn = own;
        return;
    }
    line *next = &a->lines[a->turn];
    l->before = next->before;
    l->after = a->turn;
    a->lines[l->before].after = own;
    next->before = own;
}

static void leave_ring(rela_queue *a, size_t connection)
{
    line *l = &a->lines[connection];
    const int32_t own = (int32_t)connection;
    if (a->turn == own)
        a->turn = l->after == own ? NONE : l->after;
    a->lines[l->before].after = l->after;
    a->lines[l->after].before = l->before;
    l->before = l->after = NONE;
}

static void drop_waiting(rela_queue *a, request *r)
{
    line *l = &a->lines[r->connection];
    const int32_t slot = (int32_t)(r - a->requests);
    if (r->next == r->n)
        return;
    for (int32_t k = l->first, before = NONE; k != NONE; before = k, k = a->requests[k].after)
        if (k == slot) {
            if (before == NONE)
                l->first = r->after;
            else
                a->requests[before].after = r->after;
            l->last = l->last == slot ? before : l->last;
            break;
        }
    for (; r->next < r->n; r->next++) {
        l->tokens -= r->tokens[r->next];
        a->load.waiting_tokens -= r->tokens[r->next];
        a->load.waiting_sentences--;
    }
    if (l->first == NONE)
        leave_ring(a, r->connection);
}

static void forget(rela_queue *a, request *r)
{
    rela_mem_free(r->tokens);
    *r = (request){ .after = a->free };
    a->free = (int32_t)(r - a->requests);
    a->load.requests--;
}

/* A backend with few sentences is slower per token than a full one: while nothing waits, what is
 * measured may only raise the speed. */
static void measure(rela_queue *a, double now)
{
    rela_queue_load *l = &a->load;
    a->busy += now - a->mark;
    a->mark = now;
    a->saturated = a->saturated && l->waiting_sentences > 0;
    if (a->worked == 0 || a->busy < (l->tokens_per_second > 0 ? WINDOW : FIRST_WINDOW))
        return;
    const double speed = (double)a->worked / a->busy;
    a->last = a->saturated ? speed : 0;
    if (l->tokens_per_second <= 0)
        l->tokens_per_second = speed;
    else if (a->saturated || speed > l->tokens_per_second)
        l->tokens_per_second += 0.3 * (speed - l->tokens_per_second);
    a->busy = 0;
    a->worked = 0;
    a->saturated = true;
}
