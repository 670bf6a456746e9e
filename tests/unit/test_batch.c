/* SPDX-License-Identifier: MIT */
/* tests/unit/test_batch.c - store, order and batches: nothing lost, nothing twice, exact resume. */
#include "check.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/str.h"
#include "data/batch.h"

#include <stdlib.h>
#include <string.h>

enum { PAIRS = 257, LENGTH_MAX = 40, EOS = 2, SIDES = 2 };

static size_t length_of(uint32_t pair, size_t side)
{
    rela_rng r = rela_rng_start(7, (uint64_t)pair * 2 + (uint64_t)side);
    return 1 + (size_t)rela_rng_below(&r, pair % 50 == 49 ? LENGTH_MAX : LENGTH_MAX / 4);
}

/* Numbers of every width, a function of (pair, side, place). */
static int32_t id_of(uint32_t pair, size_t side, size_t i)
{
    rela_rng r = rela_rng_start(11, ((uint64_t)pair << 20) + i * 2 + (uint64_t)side);
    return (int32_t)(rela_rng_u32(&r) >> (1 + rela_rng_below(&r, 30)));
}

static uint64_t line_of(uint32_t pair)
{
    return (uint64_t)pair * 3 + 1;
}

static rela_store *make_store(uint32_t n, uint64_t memory)
{
    rela_error err;
    rela_store *s = NULL;
    CHECK_OK(rela_store_create(&s, SIDES, memory, NULL, &err), err);
    for (uint32_t i = 0; i < n; i++) {
        int32_t ids[SIDES][LENGTH_MAX];
        rela_pair p = { { ids[0], ids[1] }, { 0, 0 }, line_of(i) };
        for (size_t side = 0; side < SIDES; side++) {
            p.n[side] = length_of(i, side);
            for (size_t k = 0; k < p.n[side]; k++)
                ids[side][k] = id_of(i, side, k);
        }
        CHECK_OK(rela_store_add(s, &p, &err), err);
    }
    CHECK_OK(rela_store_finish(s, &err), err);
    return s;
}

static rela_batches_options small_options(void)
{
    rela_batches_options o;
    rela_batches_options_init(&o, 60);
    o.order.pool_sentences = 50; /* several pools in a small corpus */
    return o;
}

static rela_batches *start(const rela_store *s, const rela_batches_options *o)
{
    rela_error err;
    rela_batches *b = NULL;
    CHECK_OK(rela_batches_create(&b, s, o, &err), err);
    return b;
}

/* The pairs of one epoch in order of delivery, and the ends of its batches. */
typedef struct walk {
    uint32_t pair[PAIRS], batch_end[PAIRS];
    uint32_t n, n_batches;
} walk;

static void check_row(const rela_batch *b, uint32_t row, const rela_batches_options *o)
{
    const uint32_t pair = (uint32_t)((b->line[row] - 1) / 3);
    CHECK(pair < PAIRS && line_of(pair) == b->line[row], "line %d", (int)b->line[row]);
    for (size_t side = 0; side < SIDES; side++) {
        const int32_t *ids = b->ids[side] + b->offsets[side][row];
        const size_t n = b->offsets[side][row + 1] - b->offsets[side][row],
                     extra = o->eos[side] >= 0;
        CHECK(n == length_of(pair, side) + extra, "pair %u side %d: %zu tokens", pair, side, n);
        for (size_t i = 0; i + extra < n; i++)
            CHECK(ids[i] == id_of(pair, side, i), "pair %u side %d token %zu", pair, side, i);
        CHECK(!extra || ids[n - 1] == o->eos[side], "pair %u side %d: no end", pair, side);
    }
}

static void read_epoch(walk *w, rela_batches *b, const rela_batches_options *o)
{
    rela_error err;
    rela_batch batch = { .last = false };
    *w = (walk){ .n = 0 };
    const rela_position first = rela_batches_position(b);
    while (!batch.last) {
        CHECK_OK(rela_batches_next(b, &batch, &err), err);
        CHECK(batch.start.epoch == first.epoch && batch.start.sentences == first.sentences + w->n,
              "batch starts at %d", (int)batch.start.sentences);
        for (uint32_t i = 0; i < batch.n; i++) {
            check_row(&batch, i, o);
            w->pair[w->n++] = (uint32_t)((batch.line[i] - 1) / 3);
        }
        w->batch_end[w->n_batches++] = w->n;
    }
    CHECK(batch.next.epoch == first.epoch + 1 && batch.next.sentences == 0, "no next epoch");
}

static void check_complete(const walk *w)
{
    bool seen[PAIRS] = { false };
    CHECK(w->n == PAIRS, "%u pairs", w->n);
    for (uint32_t i = 0; i < w->n; i++) {
        CHECK(!seen[w->pair[i]], "pair %u came twice", w->pair[i]);
        seen[w->pair[i]] = true;
    }
}

static void every_pair_comes_once_per_epoch(void **state)
{
    (void)state;
    rela_store *s = make_store(PAIRS, UINT64_MAX);
    rela_batches_options o = small_options();
    rela_batches *b = start(s, &o);
    for (int epoch = 0; epoch < 3; epoch++) {
        walk w;
        read_epoch(&w, b, &o);
        check_complete(&w);
    }
    const rela_padding p = rela_batches_padding(b);
    CHECK(p.sentences == 3 * PAIRS && p.cells >= p.tokens, "padding counts");
    CHECK(rela_padding_share(p) >= 0 && rela_padding_share(p) < 0.5, "share %g",
          rela_padding_share(p));
    rela_batches_destroy(b);
    rela_store_destroy(s);
}

static void budgets_hold_and_large_pairs_come_alone(void **state)
{
    (void)state;
    static const rela_budget BUDGETS[] = { { 60, 0, 0 }, { 0, 35, 0 },  { 0, 0, 7 },
                                           { 1, 0, 0 },  { 50, 45, 5 }, { UINT32_MAX, 0, 0 } };
    rela_store *s = make_store(PAIRS, UINT64_MAX);
    for (size_t i = 0; i < sizeof BUDGETS / sizeof BUDGETS[0]; i++) {
        rela_error err;
        rela_batches_options o = small_options();
        const rela_budget *k = &BUDGETS[i];
        o.order.budget = *k;
        rela_batches *b = start(s, &o);
        rela_batch batch = { .last = false };
        uint32_t n = 0;
        while (!batch.last) {
            CHECK_OK(rela_batches_next(b, &batch, &err), err);
            n += batch.n;
            CHECK(batch.n == 1 ||
                      ((!k->target_tokens || batch.offsets[1][batch.n] <= k->target_tokens) &&
                       (!k->source_tokens || batch.offsets[0][batch.n] <= k->source_tokens) &&
                       (!k->sentences || batch.n <= k->sentences)),
                  "budget %zu: %u rows", i, batch.n);
        }
        CHECK(n == PAIRS, "budget %zu: %u pairs", i, n);
        rela_batches_destroy(b);
    }
    rela_store_destroy(s);
}

static void seed_and_epoch_decide_the_order(void **state)
{
    (void)state;
    rela_store *s = make_store(PAIRS, UINT64_MAX);
    rela_batches_options o = small_options();
    walk same[2], other, second;
    for (int i = 0; i < 2; i++) {
        rela_batches *b = start(s, &o);
        read_epoch(&same[i], b, &o);
        if (i == 1)
            read_epoch(&second, b, &o);
        rela_batches_destroy(b);
    }
    o.order.seed = 2;
    rela_batches *b = start(s, &o);
    read_epoch(&other, b, &o);
    rela_batches_destroy(b);
    assert_memory_equal(&same[0], &same[1], sizeof(walk));
    CHECK(memcmp(same[0].pair, other.pair, sizeof other.pair) != 0, "seed 2 gives the same order");
    CHECK(memcmp(same[0].pair, second.pair, sizeof second.pair) != 0, "epoch 1 repeats epoch 0");
    rela_store_destroy(s);
}

static void order_can_be_kept(void **state)
{
    (void)state;
    rela_store *s = make_store(PAIRS, UINT64_MAX);
    rela_batches_options o = small_options();
    o.order.keep_order = true;
    walk first, second;
    rela_batches *b = start(s, &o);
    read_epoch(&first, b, &o);
    read_epoch(&second, b, &o);
    check_complete(&first);
    assert_memory_equal(&first, &second, sizeof first);
    for (uint32_t i = 1; i < 50; i++) /* the first pool */
        CHECK(first.pair[i] < 50 && length_of(first.pair[i - 1], 1) <= length_of(first.pair[i], 1),
              "pool 0 is not sorted at %u", i);
    rela_batches_destroy(b);
    rela_store_destroy(s);
}

static void seek_to_every_sentence_gives_the_same_rest(void **state)
{
    (void)state;
    rela_error err;
    rela_store *s = make_store(PAIRS, UINT64_MAX);
    rela_batches_options o = small_options();
    walk all[2];
    rela_batches *b = start(s, &o), *c = start(s, &o);
    read_epoch(&all[0], b, &o);
    read_epoch(&all[1], b, &o);
    for (uint32_t at = 0; at <= 2 * PAIRS; at++) {
        walk rest;
        const rela_position p = { at > PAIRS, at > PAIRS ? at - PAIRS : at };
        CHECK_OK(rela_batches_seek(c, p, &err), err);
        if (p.sentences == PAIRS) { /* the end of an epoch is the start of the next */
            const rela_position now = rela_batches_position(c);
            CHECK(now.epoch == p.epoch + 1 && now.sentences == 0, "at %u", at);
            continue;
        }
        read_epoch(&rest, c, &o);
        const walk *w = &all[p.epoch];
        const uint32_t from = (uint32_t)p.sentences;
        CHECK(rest.n == PAIRS - from, "at %u: %u pairs", at, rest.n);
        assert_memory_equal(rest.pair, w->pair + from, rest.n * sizeof *w->pair);
        uint32_t k = 0;
        while (w->batch_end[k] <= from)
            k++;
        for (uint32_t i = 0; i < rest.n_batches; i++)
            CHECK(rest.batch_end[i] + from == w->batch_end[k + i], "at %u: batch %u", at, i);
    }
    CHECK(rela_batches_seek(c, (rela_position){ 0, PAIRS + 1 }, &err) == RELA_FORMAT, "beyond");
    rela_batches_destroy(b);
    rela_batches_destroy(c);
    rela_store_destroy(s);
}

static void disk_and_memory_give_the_same_batches(void **state)
{
    (void)state;
    static const uint64_t MEMORY[] = { 0, 1, 1000, 5000, UINT64_MAX };
    walk want[2];
    uint64_t digest = 0;
    for (size_t i = sizeof MEMORY / sizeof MEMORY[0]; i-- > 0;) {
        rela_store *s = make_store(PAIRS, MEMORY[i]);
        rela_batches_options o = small_options();
        rela_batches *b = start(s, &o);
        CHECK(rela_store_on_disk(s) == (MEMORY[i] <= 5000), "memory %d", (int)MEMORY[i]);
        if (digest == 0)
            digest = rela_store_digest(s);
        CHECK(digest == rela_store_digest(s), "digest");
        for (int epoch = 0; epoch < 2; epoch++) {
            walk w;
            read_epoch(&w, b, &o);
            if (MEMORY[i] == UINT64_MAX)
                want[epoch] = w;
            assert_memory_equal(&w, &want[epoch], sizeof w);
        }
        rela_batches_destroy(b);
        rela_store_destroy(s);
    }
}

static void store_keeps_lengths_places_and_digest(void **state)
{
    (void)state;
    enum { MANY = 10000 }; /* more than one part of the index */
    rela_store *s = make_store(MANY, UINT64_MAX), *t = make_store(MANY - 1, UINT64_MAX);
    CHECK(rela_store_digest(s) != rela_store_digest(t), "the digest misses a pair");
    assert_int_equal(rela_store_size(s), MANY);
    uint64_t sum[SIDES] = { 0, 0 };
    for (uint32_t i = 0; i < MANY; i++) {
        int32_t ids[SIDES][LENGTH_MAX];
        const uint64_t place = rela_store_place(s, i);
        CHECK(place < rela_store_place(s, i + 1), "pair %u has no bytes", i);
        CHECK(rela_store_decode(s, i, rela_store_view(s, place),
                                (int32_t *const[]){ ids[0], ids[1] }) == line_of(i),
              "line of %u", i);
        for (size_t side = 0; side < SIDES; side++) {
            const uint32_t n = rela_store_length(s, i, side);
            sum[side] += n;
            CHECK(n == length_of(i, side) && ids[side][n - 1] == id_of(i, side, n - 1),
                  "pair %u side %d", i, side);
        }
    }
    CHECK(sum[0] == rela_store_tokens(s, 0) && sum[1] == rela_store_tokens(s, 1), "tokens");
    CHECK(rela_store_place(s, MANY) == rela_store_bytes(s), "end");
    rela_store_destroy(s);
    rela_store_destroy(t);
}

static void a_store_is_read_from_memory_or_disk(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_store *small = make_store(100, UINT64_MAX), *large = make_store(100, 0), *lost = NULL;
    const uint64_t from = rela_store_place(small, 10), to = rela_store_place(small, 20);
    unsigned char a[1000], b[1000];
    assert_true(to - from <= sizeof a);
    CHECK_OK(rela_store_load(small, a, from, to, &err), err);
    CHECK_OK(rela_store_load(large, b, from, to, &err), err);
    assert_memory_equal(a, b, to - from);
    CHECK_OK(rela_store_load(small, a, from, from, &err), err);
    assert_null(rela_store_view(large, from));
    rela_store_destroy(small);
    rela_store_destroy(large);
    const int32_t id = 5;
    const rela_pair p = { { &id, &id }, { 1, 1 }, 1 };
    CHECK_OK(rela_store_create(&lost, SIDES, 0, "no/such/directory", &err), err);
    assert_int_equal(rela_store_add(lost, &p, &err), RELA_IO);
    CHECK(strstr(err.message, "no/such/directory"), "%s", err.message);
    rela_store_destroy(lost);
}

/* From memory and from disk, in parts of one pair, of some, and of all. */
static void pairs_go_to_another_store(void **state)
{
    static const size_t BYTES[] = { 1, 1000, 1 << 20 };
    (void)state;
    rela_error err = { RELA_OK, "" };
    for (size_t i = 0; i < 6; i++) {
        rela_store *from = make_store(300, i % 2 ? 1 << 20 : 100), *to = NULL;
        rela_buffer pairs = RELA_BUFFER_INIT;
        size_t parts = 0;
        CHECK_OK(rela_store_create(&to, SIDES, 1 << 20, NULL, &err), err);
        for (uint32_t at = 0; at < 300; parts++) {
            rela_buffer_clear(&pairs);
            CHECK_OK(rela_store_pack(&pairs, from, &at, BYTES[i / 2], &err), err);
            CHECK_OK(rela_store_unpack(to, pairs.data, pairs.len, &err), err);
        }
        CHECK_OK(rela_store_finish(to, &err), err);
        CHECK(i / 2 == 0   ? parts == 300
              : i / 2 == 1 ? parts > 2 && parts < 100
                           : parts == 1,
              "%zu parts of %zu bytes", parts, BYTES[i / 2]);
        CHECK(rela_store_size(to) == 300 && rela_store_digest(to) == rela_store_digest(from) &&
                  rela_store_tokens(to, 1) == rela_store_tokens(from, 1),
              "other pairs");
        rela_buffer_free(&pairs);
        rela_store_destroy(from);
        rela_store_destroy(to);
    }
}

static void one_pair_and_no_pair(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_batches_options o = small_options();
    rela_store *one = make_store(1, 0), *none = make_store(0, 0);
    rela_batches *b = start(one, &o);
    rela_batch batch;
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        CHECK_OK(rela_batches_next(b, &batch, &err), err);
        CHECK(batch.n == 1 && batch.last && batch.start.epoch == epoch, "epoch %d", (int)epoch);
    }
    rela_batches_destroy(b);
    assert_int_equal(rela_batches_create(&b, none, &o, &err), RELA_FORMAT);
    CHECK(strstr(err.message, "no pair"), "%s", err.message);
    o.order.budget = (rela_budget){ 0, 0, 0 };
    assert_int_equal(rela_batches_create(&b, one, &o, &err), RELA_ARG);
    o = small_options();
    o.order.pool_tokens = UINT64_MAX;
    assert_int_equal(rela_batches_create(&b, one, &o, &err), RELA_ARG);
    rela_store_destroy(one);
    rela_store_destroy(none);
}

static rela_status alternate(void *ctx, uint64_t epoch, const rela_store **store, rela_error *err)
{
    rela_store *const *stores = ctx;
    if (epoch == 3)
        return rela_fail(err, RELA_CANCEL, "no such generation");
    *store = stores[epoch % 2];
    return RELA_OK;
}

static void each_epoch_may_have_its_own_store(void **state)
{
    (void)state;
    rela_error err;
    rela_store *stores[2] = { make_store(PAIRS, UINT64_MAX), make_store(PAIRS / 2, 0) };
    rela_batches_options o = small_options();
    o.generation = alternate;
    o.generation_ctx = stores;
    rela_batches *b = start(stores[0], &o);
    rela_batch batch;
    for (int epoch = 0; epoch < 3; epoch++) {
        walk w;
        read_epoch(&w, b, &o);
        CHECK(w.n == (epoch % 2 ? PAIRS / 2 : PAIRS), "epoch %d: %u", epoch, w.n);
    }
    assert_int_equal(rela_batches_next(b, &batch, &err), RELA_CANCEL);
    CHECK_OK(rela_batches_seek(b, (rela_position){ 1, PAIRS / 2 - 1 }, &err), err);
    CHECK_OK(rela_batches_next(b, &batch, &err), err);
    CHECK(batch.n == 1 && batch.last, "the last pair of epoch 1");
    rela_batches_destroy(b);
    rela_store_destroy(stores[0]);
    rela_store_destroy(stores[1]);
}

static void no_end_symbol_if_none_is_wanted(void **state)
{
    (void)state;
    rela_store *s = make_store(PAIRS, UINT64_MAX);
    rela_batches_options o = small_options();
    o.eos[0] = -1;
    o.eos[1] = 9;
    rela_batches *b = start(s, &o);
    walk w;
    read_epoch(&w, b, &o); /* check_row looks at the ends */
    check_complete(&w);
    rela_batches_destroy(b);
    rela_store_destroy(s);
}

static void sort_is_stable_and_complete(void **state)
{
    (void)state;
    enum { N = 5000 };
    uint64_t *key = rela_mem_array(N, sizeof *key), *spare = rela_mem_array(N, sizeof *spare);
    assert_non_null(key);
    assert_non_null(spare);
    rela_rng r = rela_rng_start(3, 3);
    for (uint64_t i = 0; i < N; i++)
        key[i] = rela_rng_below(&r, UINT64_C(1) << (i % 2 ? 32 : 6)) << 32 | i;
    rela_order_sort(key, spare, N);
    for (size_t i = 1; i < N; i++)
        CHECK(key[i - 1] < key[i], "out of order at %zu", i);
    rela_mem_free(key);
    rela_mem_free(spare);
}

/* Store on disk, two epochs, a seek: each failing call gives a message, leaks nothing, and does
 * not move the position, so that the rest is right when the call is repeated. */
static rela_status use_all(rela_error *err)
{
    rela_store *s = NULL;
    rela_batches *b = NULL;
    rela_batches_options o = small_options();
    rela_batch batch = { .last = false };
    rela_status st = rela_store_create(&s, SIDES, 100, NULL, err);
    for (uint32_t i = 0; i < 100 && st == RELA_OK; i++) {
        const int32_t ids[2] = { 5, 700 };
        const rela_pair p = { { ids, ids }, { 1 + i % 2, 2 - i % 2 }, i + 1 };
        st = rela_store_add(s, &p, err);
    }
    if (st == RELA_OK)
        st = rela_store_finish(s, err);
    if (st == RELA_OK)
        st = rela_batches_create(&b, s, &o, err);
    for (int i = 0; i < 2; i++) {
        while (st == RELA_OK && !batch.last)
            st = rela_batches_next(b, &batch, err);
        batch.last = false;
        if (st == RELA_OK)
            st = rela_batches_seek(b, (rela_position){ 5, 55 }, err);
    }
    rela_batches_destroy(b);
    rela_store_destroy(s);
    return st;
}

static void every_failing_call_is_survived(void **state)
{
    (void)state;
    for (int c = 0; c < RELA_FAULT_N_CLASSES; c++)
        for (int persistent = 0; persistent < 2; persistent++)
            for (uint64_t n = 1;; n++) {
                rela_error err = { RELA_OK, "" };
                rela_memory_stats before, after;
                before = memory_now();
                rela_fault_set((rela_fault_class)c, n, persistent);
                const rela_status st = use_all(&err);
                const uint64_t seen = rela_fault_seen((rela_fault_class)c);
                rela_fault_set((rela_fault_class)c, 0, false);
                after = memory_now();
                CHECK(after.live == before.live, "class %d n %d: leak", c, (int)n);
                if (seen < n) {
                    CHECK(st == RELA_OK, "class %d n %d: %s", c, (int)n, err.message);
                    break;
                }
                CHECK(st == RELA_OK || *err.message, "class %d n %d: no message", c, (int)n);
            }
}

static void a_failed_call_can_be_repeated(void **state)
{
    (void)state;
    rela_error err;
    rela_store *s = make_store(PAIRS, 0);
    rela_batches_options o = small_options();
    rela_batches *b = start(s, &o), *c = start(s, &o);
    rela_batch want, got;
    for (uint64_t n = 1; n < 200; n++) {
        rela_fault_set(n % 2 ? RELA_FAULT_MEM : RELA_FAULT_FILE, 1 + n / 2 % 3, false);
        rela_status st = rela_batches_next(c, &got, NULL);
        rela_fault_set(RELA_FAULT_MEM, 0, false);
        rela_fault_set(RELA_FAULT_FILE, 0, false);
        if (st != RELA_OK)
            CHECK_OK(rela_batches_next(c, &got, &err), err);
        CHECK_OK(rela_batches_next(b, &want, &err), err);
        CHECK(got.n == want.n && got.start.sentences == want.start.sentences, "call %d", (int)n);
        assert_memory_equal(got.line, want.line, want.n * sizeof *want.line);
        assert_memory_equal(got.ids[1], want.ids[1], want.offsets[1][want.n] * sizeof(int32_t));
    }
    rela_batches_destroy(b);
    rela_batches_destroy(c);
    rela_store_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_comes_once_per_epoch),
        cmocka_unit_test(budgets_hold_and_large_pairs_come_alone),
        cmocka_unit_test(seed_and_epoch_decide_the_order),
        cmocka_unit_test(order_can_be_kept),
        cmocka_unit_test(seek_to_every_sentence_gives_the_same_rest),
        cmocka_unit_test(disk_and_memory_give_the_same_batches),
        cmocka_unit_test(store_keeps_lengths_places_and_digest),
        cmocka_unit_test(a_store_is_read_from_memory_or_disk),
        cmocka_unit_test(pairs_go_to_another_store),
        cmocka_unit_test(one_pair_and_no_pair),
        cmocka_unit_test(each_epoch_may_have_its_own_store),
        cmocka_unit_test(no_end_symbol_if_none_is_wanted),
        cmocka_unit_test(sort_is_stable_and_complete),
        cmocka_unit_test(every_failing_call_is_survived),
        cmocka_unit_test(a_failed_call_can_be_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
