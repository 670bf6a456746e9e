/* SPDX-License-Identifier: MIT */
/* tests/unit/test_request_queue.c - the queue of the server: bounds, forecasts, turns, and
 * thousands of random histories, each from its seed: RELA_SEED=N repeats one. */
#include "check.h"

#include "base/mem.h"
#include "base/rng.h"
#include "serve/client_rates.h"
#include "serve/request_queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static rela_queue *make(size_t connections, uint64_t waiting, uint64_t running, size_t sentences)
{
    rela_queue *a = NULL;
    rela_error err;
    const rela_queue_limits limits = { connections, 64, waiting, running, sentences, 0 };
    CHECK_OK(rela_queue_create(&a, &limits, &err), err);
    return a;
}

static rela_queue_verdict submit(rela_queue *a, size_t connection, size_t n, uint32_t tokens,
                                 double deadline, uint64_t *id)
{
    uint32_t all[64];
    for (size_t i = 0; i < n; i++)
        all[i] = tokens;
    const rela_queue_request r = {
        .connection = connection, .deadline = deadline, .tokens = all, .n = n
    };
    return rela_queue_submit(a, id, NULL, &r, 0);
}

static void connections_take_turns(void **state)
{
    (void)state;
    rela_queue *a = make(3, 1000, 1000, 100);
    uint64_t ids[3];
    rela_queue_turn turn;
    static const size_t WANT[] = { 0, 1, 2, 0, 2, 0, 0 };
    assert_int_equal(submit(a, 0, 4, 5, 10, &ids[0]), RELA_QUEUE_YES);
    assert_int_equal(submit(a, 1, 1, 5, 10, &ids[1]), RELA_QUEUE_YES);
    assert_int_equal(submit(a, 2, 2, 5, 10, &ids[2]), RELA_QUEUE_YES);
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        assert_true(rela_queue_next(a, &turn, 0));
        CHECK(turn.id == ids[WANT[i]], "turn %zu is that of another connection", i);
    }
    assert_false(rela_queue_next(a, &turn, 0));
    rela_queue_destroy(a);
}

static void the_queue_is_bounded_in_tokens(void **state)
{
    (void)state;
    rela_queue *a = make(2, 20, 10, 100);
    uint64_t id, first;
    rela_queue_turn turn;
    assert_int_equal(submit(a, 0, 1, 21, 10, &id), RELA_QUEUE_TOO_LONG);
    assert_int_equal(submit(a, 0, 4, 5, 10, &first), RELA_QUEUE_YES);
    assert_int_equal(submit(a, 1, 1, 1, 10, &id), RELA_QUEUE_FULL);
    assert_true(rela_queue_next(a, &turn, 0) && rela_queue_next(a, &turn, 0));
    assert_false(rela_queue_next(a, &turn, 0)); /* the backend has 10 tokens */
    assert_int_equal(submit(a, 1, 1, 10, 10, &id), RELA_QUEUE_YES);
    assert_false(rela_queue_done(a, first, 0, true, 0));
    assert_true(rela_queue_next(a, &turn, 0)); /* the turn of the first again */
    assert_int_equal(turn.id, first);
    assert_int_equal(rela_queue_look(a).waiting_tokens, 15);
    rela_queue_drain(a);
    assert_int_equal(submit(a, 0, 1, 1, 10, &id), RELA_QUEUE_DRAINING);
    rela_queue_destroy(a);
}

static void a_sentence_longer_than_the_backend_takes_runs_alone(void **state)
{
    (void)state;
    rela_queue *a = make(1, 100, 10, 100);
    uint64_t id;
    rela_queue_turn turn;
    assert_int_equal(submit(a, 0, 2, 50, 10, &id), RELA_QUEUE_YES);
    assert_true(rela_queue_next(a, &turn, 0));
    assert_false(rela_queue_next(a, &turn, 0));
    assert_false(rela_queue_done(a, id, 0, true, 1));
    assert_true(rela_queue_next(a, &turn, 1));
    assert_true(rela_queue_done(a, id, 1, true, 1));
    assert_int_equal(rela_queue_look(a).requests, 0);
    rela_queue_destroy(a);
}

static void who_would_be_late_is_refused_at_once(void **state)
{
    (void)state;
    rela_queue *a = make(3, 10000, 100, 100);
    uint64_t id, other;
    rela_queue_turn turn;
    assert_int_equal(submit(a, 0, 10, 10, 1e9, &id), RELA_QUEUE_YES);
    for (size_t i = 0; i < 10; i++) {
        assert_true(rela_queue_next(a, &turn, 0.1 * (double)i));
        (void)rela_queue_done(a, turn.id, turn.sentence, true, 0.1 * (double)(i + 1));
    }
    const double speed = rela_queue_look(a).tokens_per_second; /* 100 tokens in a second */
    CHECK(speed > 90 && speed < 110, "%g tokens per second", speed);
    assert_int_equal(submit(a, 0, 50, 100, 1e9, &id), RELA_QUEUE_YES);
    /* Another connection gets its turn beside the long list. */
    assert_int_equal(submit(a, 1, 1, 100, 4, &other), RELA_QUEUE_YES);
    assert_int_equal(submit(a, 0, 1, 100, 40, &other), RELA_QUEUE_LATE);
    rela_queue_forecast f;
    const uint32_t tokens = 100;
    const rela_queue_request r = { .connection = 2, .deadline = 2.5, .tokens = &tokens, .n = 1 };
    assert_int_equal(rela_queue_submit(a, &other, &f, &r, 0), RELA_QUEUE_LATE);
    CHECK(f.position == 51 && f.seconds > 2.7 && f.seconds < 3.3, "%d sentences, %g s",
          (int)f.position, f.seconds);
    rela_queue_destroy(a);
}

static void cancelled_requests_leave_the_others(void **state)
{
    (void)state;
    rela_queue *a = make(2, 1000, 1000, 100);
    uint64_t id[3], found;
    void *owner;
    rela_queue_turn turn;
    assert_int_equal(submit(a, 0, 2, 5, 10, &id[0]), RELA_QUEUE_YES);
    assert_int_equal(submit(a, 0, 2, 5, 5, &id[1]), RELA_QUEUE_YES);
    assert_int_equal(submit(a, 1, 1, 5, 10, &id[2]), RELA_QUEUE_YES);
    assert_true(rela_queue_next(a, &turn, 0) && turn.id == id[0]);
    assert_false(rela_queue_cancel(a, id[0]));
    assert_true(rela_queue_expired(a, &found, &owner, 6) && found == id[1]);
    assert_true(rela_queue_cancel(a, id[1]));
    assert_false(rela_queue_expired(a, &found, &owner, 6));
    assert_int_equal(rela_queue_look(a).waiting_tokens, 5);
    assert_true(rela_queue_next(a, &turn, 0) && turn.id == id[2]);
    assert_true(rela_queue_done(a, id[0], 0, true, 1));
    assert_true(rela_queue_done(a, id[2], 0, true, 1));
    assert_int_equal(rela_queue_look(a).requests, 0);
    rela_queue_destroy(a);
}

static void clients_have_a_rate(void **state)
{
    (void)state;
    rela_client_rates *r = NULL;
    rela_error err;
    CHECK_OK(rela_client_rates_create(&r, 16, &err), err);
    for (int i = 0; i < 60; i++)
        CHECK(rela_client_rates_take(r, 7, 60, 0) <= 0, "request %d", i);
    const double wait = rela_client_rates_take(r, 7, 60, 0);
    CHECK(wait > 0.99 && wait < 1.01, "%g s", wait);
    static const struct {
        uint64_t client;
        double now;
        bool served;
    } LATER[] = { { 8, 0, true }, { 7, 0.5, false }, { 7, 1.01, true }, { 7, 1.02, false } };
    for (size_t i = 0; i < sizeof LATER / sizeof *LATER; i++)
        CHECK((rela_client_rates_take(r, LATER[i].client, 60, LATER[i].now) <= 0) ==
                  LATER[i].served,
              "row %zu", i);
    rela_client_rates_destroy(r);
}

static void more_clients_than_slots_are_answered(void **state)
{
    (void)state;
    rela_client_rates *r = NULL;
    rela_error err;
    CHECK_OK(rela_client_rates_create(&r, 16, &err), err);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK(rela_client_rates_take(r, 1000 + 7 * i, 1, 2) <= 0, "client %d", (int)i);
    rela_client_rates_destroy(r);
}

/* ---- random histories ---- */

enum { CONNECTIONS = 12, REQUESTS = 64, SENTENCES = 20, WAITING = 600, RUNNING = 120, STEPS = 400 };

/* What the test knows of a request. */
typedef struct shadow {
    uint64_t id;
    size_t connection, n, next, running, done;
    uint32_t tokens[SENTENCES];
    double deadline;
    bool cancelled, live;
} shadow;

typedef struct started {
    shadow *owner;
    size_t sentence;
} started;

typedef struct history {
    rela_rng rng;
    rela_queue *queue;
    shadow requests[REQUESTS];
    started running[REQUESTS * SENTENCES];
    size_t n_running;
    double now, speed;
    uint64_t served[CONNECTIONS], accepted, ended;
} history;

static uint64_t current; /* the seed, for messages */

static uint64_t below(history *h, uint64_t n)
{
    return rela_rng_below(&h->rng, n);
}

static void check_load(const history *h)
{
    const rela_queue_load l = rela_queue_look(h->queue);
    uint64_t waiting = 0, running = 0, n_running = 0, live = 0, sentences = 0;
    for (size_t i = 0; i < REQUESTS; i++) {
        const shadow *s = &h->requests[i];
        live += s->live;
        n_running += s->live ? s->running : 0;
        for (size_t k = s->next; s->live && !s->cancelled && k < s->n; k++) {
            waiting += s->tokens[k];
            sentences++;
        }
    }
    for (size_t i = 0; i < h->n_running; i++)
        running += h->running[i].owner->tokens[h->running[i].sentence];
    CHECK(l.waiting_tokens == waiting && l.running_tokens == running && l.requests == live &&
              l.running_sentences == n_running && l.waiting_sentences == sentences,
          "seed %d: the queue counts otherwise", (int)current);
    CHECK(waiting <= WAITING && (running <= RUNNING || n_running == 1), "seed %d: over a bound",
          (int)current);
}

static void arrive(history *h)
{
    size_t i = 0;
    while (i < REQUESTS && h->requests[i].live)
        i++;
    if (i == REQUESTS)
        return;
    shadow *s = &h->requests[i];
    *s = (shadow){ .connection = below(h, CONNECTIONS), .n = 1 };
    if (below(h, 4) == 0)
        s->n = 1 + below(h, SENTENCES);
    for (size_t k = 0; k < s->n; k++)
        s->tokens[k] = 1 + (uint32_t)below(h, 40);
    s->deadline = h->now + 0.1 * (double)below(h, 100);
    const rela_queue_request r = { .connection = s->connection,
                                   .deadline = s->deadline,
                                   .tokens = s->tokens,
                                   .n = s->n,
                                   .owner = s };
    s->live = rela_queue_submit(h->queue, &s->id, NULL, &r, h->now) == RELA_QUEUE_YES;
    CHECK(s->live == (s->id != 0), "seed %d: a refused request has a name", (int)current);
    h->accepted += s->live;
}

static void run_turns(history *h)
{
    rela_queue_turn t;
    while (rela_queue_next(h->queue, &t, h->now)) {
        shadow *s = t.owner;
        CHECK(s->live && !s->cancelled && s->id == t.id,
              "seed %d: a turn of a request that has ended", (int)current);
        CHECK(t.sentence == s->next, "seed %d: sentences out of order", (int)current);
        s->next++;
        s->running++;
        h->running[h->n_running++] = (started){ s, t.sentence };
        h->served[s->connection]++;
    }
}

static void end_one(history *h)
{
    if (h->n_running == 0)
        return;
    const size_t i = below(h, h->n_running);
    const started r = h->running[i];
    h->running[i] = h->running[--h->n_running];
    shadow *s = r.owner;
    h->now += (double)s->tokens[r.sentence] / h->speed;
    s->running--;
    s->done++;
    const bool last = rela_queue_done(h->queue, s->id, r.sentence, true, h->now);
    CHECK(last == (s->running == 0 && (s->cancelled || s->done == s->n)),
          "seed %d: ends too early or late", (int)current);
    s->live = !last;
    h->ended += last;
}

static void cancel(history *h, shadow *s)
{
    if (!s->live || s->cancelled)
        return;
    s->cancelled = true;
    const bool gone = rela_queue_cancel(h->queue, s->id);
    CHECK(gone == (s->running == 0), "seed %d: a running request is forgotten", (int)current);
    s->live = !gone;
    h->ended += gone;
}

static void expire(history *h)
{
    uint64_t id;
    void *owner;
    while (rela_queue_expired(h->queue, &id, &owner, h->now)) {
        shadow *s = owner;
        CHECK(s->id == id && s->deadline <= h->now, "seed %d: expired before its time",
              (int)current);
        cancel(h, s);
    }
}

static void live_through(uint64_t seed)
{
    history *h = test_calloc(1, sizeof *h);
    h->rng = rela_rng_start(seed, 0);
    h->queue = make(CONNECTIONS, WAITING, RUNNING, 1 + below(h, 40));
    h->speed = 50 * (double)(1 + below(h, 20));
    const uint64_t load = 1 + below(h, 8); /* from idle to a flood */
    for (size_t step = 0; step < STEPS; step++) {
        const uint64_t what = below(h, 12);
        if (what < load)
            arrive(h);
        else if (what < 10)
            end_one(h);
        else if (what == 10)
            cancel(h, &h->requests[below(h, REQUESTS)]);
        else
            h->now += 0.05 * (double)below(h, 10);
        run_turns(h);
        expire(h);
        check_load(h);
    }
    rela_queue_drain(h->queue);
    while (h->n_running) {
        end_one(h);
        run_turns(h);
    }
    check_load(h);
    CHECK(h->accepted == h->ended && rela_queue_look(h->queue).requests == 0,
          "seed %d: accepted requests that never end", (int)current);
    rela_queue_destroy(h->queue);
    test_free(h);
}

static void every_accepted_request_ends_once(void **state)
{
    (void)state;
    const char *one = getenv("RELA_SEED");
    const uint64_t first = one ? strtoull(one, NULL, 10) : 1, n = one ? 1 : EMULATED ? 50 : 2000;
    for (current = first; current < first + n; current++)
        live_through(current);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connections_take_turns),
        cmocka_unit_test(the_queue_is_bounded_in_tokens),
        cmocka_unit_test(a_sentence_longer_than_the_backend_takes_runs_alone),
        cmocka_unit_test(who_would_be_late_is_refused_at_once),
        cmocka_unit_test(cancelled_requests_leave_the_others),
        cmocka_unit_test(clients_have_a_rate),
        cmocka_unit_test(more_clients_than_slots_are_answered),
        cmocka_unit_test(every_accepted_request_ends_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
