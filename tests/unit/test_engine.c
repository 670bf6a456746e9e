/* SPDX-License-Identifier: MIT */
/* tests/unit/test_engine.c - sentences that are admitted and cancelled at random times, with
 * options of their own, end like those that are alone. */
#include "decode_probe.h"

#include "base/clock.h"
#include "decode/engine.h"
#include "decode/pool.h"

enum { SENTENCES = 10000, DISTINCT = 500, LONGEST = 20, WAYS = 10, VOCABULARY = 90, SPREAD = 24 };

/* A sentence with the options it has, and its result when it is alone. */
typedef struct sample {
    rela_source source;
    const rela_search_options *options;
    rela_search_result want;
} sample;

typedef struct setting {
    probe p;
    int32_t ids[DISTINCT * LONGEST], prefix[2];
    sample samples[DISTINCT];
    rela_search_options ways[WAYS];
    rela_arena *arena;
} setting;

static void make_ways(setting *s)
{
    for (size_t i = 0; i < WAYS; i++) {
        rela_search_options *o = &s->ways[i];
        rela_search_options_init(o);
        o->beam = i < 6 ? 1 + i : 4;
        o->n_best = 1 + i % 2 * (o->beam > 1);
        o->alpha = 0.2 * (double)i;
        o->max_factor = 1 + 0.1 * (double)(i % 3);
        o->max_extra = (long)(i % 4);
        o->forbid_unk = i % 2;
        o->attention = i == 4 || i == 8;
        if (i >= 7) {
            o->method = RELA_SEARCH_SAMPLE;
            o->n_best = i - 6;
            o->top_k = i == 8 ? 5 : 0;
            o->top_p = i == 9 ? 0.8 : 1;
            o->seed = i;
        }
    }
}

static void setting_start(setting *s, const char *kind)
{
    rela_error err;
    const rela_config c = probe_config(kind, VOCABULARY);
    probe_start(&s->p, &c, 7, 4);
    s->arena = rela_arena_create(0);
    rela_rng r = rela_rng_start(3, 3);
    make_ways(s);
    s->prefix[0] = 5;
    s->prefix[1] = 11;
    rela_engine *alone = NULL;
    CHECK_OK(rela_engine_create(&alone, s->p.nets, 1, &err), err);
    for (size_t i = 0; i < DISTINCT; i++) {
        sample *x = &s->samples[i];
        int32_t *ids = s->ids + i * LONGEST;
        x->source = (rela_source){ .text = { { ids, rela_rng_below(&r, LONGEST) } }, .number = i };
        for (size_t k = 0; k < x->source.text[0].n; k++)
            ids[k] = (int32_t)(3 + rela_rng_below(&r, VOCABULARY - 3));
        if (i % 7 == 0 && x->source.text[0].n > 2) {
            x->source.prefix = s->prefix;
            x->source.n_prefix = 2;
        }
        x->options = &s->ways[rela_rng_below(&r, WAYS)];
        rela_search_result got;
        CHECK_OK(rela_search_run(alone, &got, &x->source, 1, x->options, &err), err);
        CHECK_OK(rela_search_result_keep(&x->want, s->arena, &got, &x->source, x->options, &err),
                 err);
    }
    rela_engine_destroy(alone);
}

static void setting_end(setting *s)
{
    rela_arena_destroy(s->arena);
    probe_end(&s->p);
}

static void same(const sample *x, const rela_search_result *got)
{
    CHECK(got->n == x->want.n, "%zu hypotheses, want %zu", got->n, x->want.n);
    for (size_t i = 0; i < got->n; i++) {
        const rela_hypothesis *a = &got->best[i], *b = &x->want.best[i];
        const size_t n = (a->n + a->complete) * got->n_heads * (x->source.text[0].n + 1);
        CHECK(same_hypothesis(a, b), "sentence %d, rank %zu: not as alone", (int)x->source.number,
              i);
        if (x->options->attention && x->source.text[0].n)
            CHECK(memcmp(a->attention, b->attention, n * sizeof *a->attention) == 0,
                  "attention of sentence %d: not as alone", (int)x->source.number);
    }
}

/* ---- one engine ---- */

/* Up to 9 more sentences. */
static size_t admit_some(rela_engine *e, setting *s, rela_rng *r, size_t left)
{
    rela_error err;
    rela_admission a[9];
    uint32_t places[9];
    size_t n = 1 + rela_rng_below(r, 9);
    n = n < left ? n : left;
    for (size_t i = 0; i < n; i++) {
        sample *x = &s->samples[rela_rng_below(r, DISTINCT)];
        a[i] = (rela_admission){ &x->source, x->options, x };
        CHECK_OK(rela_engine_check(e, &x->source, i, x->options, &err), err);
    }
    CHECK_OK(rela_engine_admit(e, places, a, n, &err), err);
    return n;
}

static void cancel_one(rela_engine *e, rela_rng *r, size_t *n_cancelled)
{
    const size_t n = rela_engine_n_places(e);
    const uint32_t place = n ? (uint32_t)rela_rng_below(r, n) : 0;
    if (n && rela_engine_ctx(e, place)) {
        rela_engine_cancel(e, place);
        ++*n_cancelled;
    }
}

static size_t take_ended(rela_engine *e, rela_arena *arena)
{
    rela_error err;
    size_t n = 0;
    for (uint32_t place = 0; (place = rela_engine_next_ended(e)) != RELA_NO_PLACE; n++) {
        const sample *x = rela_engine_ctx(e, place);
        rela_search_result got;
        rela_arena_reset(arena);
        CHECK_OK(rela_engine_take(e, &got, place, arena, &err), err);
        same(x, &got);
    }
    return n;
}

static void any_company_gives_the_same_bytes(const char *kind, size_t n)
{
    setting s;
    rela_error err;
    rela_engine *e = NULL;
    setting_start(&s, kind);
    rela_arena *arena = rela_arena_create(0);
    CHECK_OK(rela_engine_create(&e, s.p.nets, 1, &err), err);
    rela_rng r = rela_rng_start(1, 2);
    size_t admitted = 0, taken = 0, cancelled = 0;
    while (admitted < n || rela_engine_n_live(e) > 0) {
        const uint64_t dice = rela_rng_below(&r, 6);
        if (admitted < n && rela_engine_n_live(e) < 64 && dice < 2)
            admitted += admit_some(e, &s, &r, n - admitted);
        if (dice == 2 || dice == 3)
            cancel_one(e, &r, &cancelled);
        CHECK_OK(rela_engine_step(e, &err), err);
        if (dice > 3)
            taken += take_ended(e, arena);
        if (rela_engine_n_live(e) == 0 && dice == 5) {
            taken += take_ended(e, arena);
            rela_engine_trim(e);
        }
    }
    taken += take_ended(e, arena);
    CHECK(taken + cancelled == n && cancelled > n / 50, "%zu taken and %zu cancelled of %zu", taken,
          cancelled, n);
    rela_engine_destroy(e);
    rela_arena_destroy(arena);
    setting_end(&s);
}

static void sentences_that_come_and_go_end_as_alone(void **state)
{
    (void)state;
    any_company_gives_the_same_bytes("rela-g", SENTENCES);
    any_company_gives_the_same_bytes("softmax", SENTENCES / 10);
}

/* What is given back after many sentences at a time is what one sentence took before. */
static void memory_is_given_back_after_a_peak(void **state)
{
    (void)state;
    setting s;
    rela_error err;
    rela_engine *e = NULL;
    setting_start(&s, "rela-g");
    rela_arena *arena = rela_arena_create(0);
    CHECK_OK(rela_engine_create(&e, s.p.nets, 1, &err), err);
    (void)rela_arena_alloc(arena, 1);
    const uint64_t before = memory_now().live;
    uint64_t peak = 0;
    for (int round = 0; round < 3; round++) {
        for (size_t n = 0; n < 100; n++) {
            const sample *x = &s.samples[n];
            const rela_admission a = { &x->source, x->options, &s.samples[n] };
            uint32_t place = 0;
            CHECK_OK(rela_engine_admit(e, &place, &a, 1, &err), err);
        }
        while (rela_engine_n_live(e) > 0)
            CHECK_OK(rela_engine_step(e, &err), err);
        CHECK(take_ended(e, arena) == 100, "not all have ended");
        const uint64_t now = memory_now().live;
        CHECK(round == 0 || now == peak, "round %d: %d bytes more", round, (int)(now - peak));
        peak = now;
    }
    rela_engine_trim(e);
    CHECK(memory_now().live == before, "%d bytes are left", (int)(memory_now().live - before));
    rela_engine_destroy(e);
    rela_arena_destroy(arena);
    setting_end(&s);
}

/* ---- several engines ---- */

typedef struct job {
    rela_pool_task task; /* first */
    const sample *x;
    bool cancel, late;
    _Atomic int *ends; /* with a result, without */
} job;

static void on_end(rela_pool_task *t, size_t worker, const rela_search_result *r,
                   const rela_error *why)
{
    job *j = (job *)t;
    (void)worker;
    if (r)
        same(j->x, r);
    else
        CHECK((j->cancel || j->late) && why->status == RELA_CANCEL, "%s", why->message);
    CHECK(!j->late || !r, "a sentence that was too late has a result");
    atomic_fetch_add(&j->ends[r == NULL], 1);
}

typedef struct source {
    rela_search_pool *pool;
    job *jobs;
    size_t n;
    _Atomic size_t next;
} source;

/* Submits some more, and cancels some of those submitted. */
static bool feed(void *ctx, size_t worker)
{
    source *f = ctx;
    (void)worker;
    const size_t first = atomic_fetch_add(&f->next, SPREAD);
    for (size_t i = first; i < first + SPREAD && i < f->n; i++) {
        rela_pool_submit(f->pool, &f->jobs[i].task);
        if (i >= SPREAD && f->jobs[i - SPREAD].cancel)
            rela_pool_cancel(f->pool, &f->jobs[i - SPREAD].task);
    }
    return first + SPREAD < f->n;
}

static void several_engines_give_the_same_bytes(void **state)
{
    (void)state;
    setting s;
    rela_error err;
    rela_search_pool *pool = NULL;
    _Atomic int ends[2] = { 0, 0 };
    setting_start(&s, "rela-g");
    CHECK_OK(rela_search_pool_create(&pool, s.p.nets, 1, 3, &err), err);
    job *jobs = rela_mem_zalloc(SENTENCES * sizeof *jobs);
    rela_rng r = rela_rng_start(9, 9);
    for (size_t i = 0; i < SENTENCES; i++) {
        job *j = &jobs[i];
        j->x = &s.samples[rela_rng_below(&r, DISTINCT)];
        j->cancel = rela_rng_below(&r, 20) == 0;
        j->late = rela_rng_below(&r, 50) == 0;
        j->ends = ends;
        j->task = (rela_pool_task){ .source = j->x->source,
                                    .options = j->x->options,
                                    .deadline = j->late ? rela_clock_seconds() : 0,
                                    .on_end = on_end };
        if (j->cancel && i % 2)
            rela_pool_cancel(pool, &j->task);
    }
    source f = { .pool = pool, .jobs = jobs, .n = SENTENCES };
    const rela_pool_run run = { .limits = { 3, 40, 400 }, .feed = feed, .ctx = &f };
    CHECK_OK(rela_pool_work(pool, &run, &err), err);
    CHECK(ends[0] + ends[1] == SENTENCES && ends[1] > SENTENCES / 50, "%d ended, %d without result",
          ends[0], ends[1]);
    rela_pool_trim(pool);
    rela_search_pool_destroy(pool);
    rela_mem_free(jobs);
    setting_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_that_come_and_go_end_as_alone),
        cmocka_unit_test(memory_is_given_back_after_a_peak),
        cmocka_unit_test(several_engines_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
