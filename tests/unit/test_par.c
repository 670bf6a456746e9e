/* SPDX-License-Identifier: MIT */
/* tests/unit/test_par.c - the split of rows, and order and failures of the pipe. */
#include "base/par.h"
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROWS_MAX = 1000, PARTS_MAX = 64, BLOCKS_MAX = 60, THREADS_MAX = 8 };

typedef struct rows {
    unsigned char seen[ROWS_MAX];
    size_t begin[PARTS_MAX], end[PARTS_MAX];
    _Atomic int n_parts;
} rows;

static void mark(void *ctx, size_t begin, size_t end, int part)
{
    rows *r = ctx;
    for (size_t i = begin; i < end; i++)
        r->seen[i]++;
    r->begin[part] = begin;
    r->end[part] = end;
    r->n_parts++;
}

static void check_rows(const rows *r, size_t n, int n_threads)
{
    for (size_t i = 0; i < ROWS_MAX; i++)
        CHECK(r->seen[i] == (i < n), "%zu rows, %d threads: row %zu seen %d times", n, n_threads, i,
              r->seen[i]);
    const size_t want = n < (size_t)n_threads ? n : (size_t)n_threads;
    CHECK(r->n_parts == (int)want, "%zu rows, %d threads: %d parts", n, n_threads, r->n_parts);
    for (int i = 0; i < r->n_parts; i++) {
        const size_t len = r->end[i] - r->begin[i];
        CHECK(r->begin[i] == (i ? r->end[i - 1] : 0), "part %d has a gap", i);
        CHECK(len >= n / want && len <= n / want + 1, "part %d of %d has %zu rows", i, r->n_parts,
              len);
    }
}

static void every_row_belongs_to_one_part(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= THREADS_MAX; n_threads++)
        for (size_t n = 0; n <= 40; n++) {
            rows r = { .n_parts = 0 };
            rela_par_rows(n, n_threads, mark, &r);
            check_rows(&r, n, n_threads);
        }
    rows r = { .n_parts = 0 };
    rela_par_rows(ROWS_MAX, 64, mark, &r);
    check_rows(&r, ROWS_MAX, 64);
}

static void split(void *ctx, size_t begin, size_t end, int part)
{
    rows *r = ctx;
    (void)part;
    for (size_t i = begin; i < end; i++)
        rela_par_rows(101, 4, mark, &r[i]);
}

static void the_split_is_the_same_inside_a_parallel_region(void **state)
{
    (void)state;
    rows r[2] = { { .n_parts = 0 }, { .n_parts = 0 } };
    rela_par_rows(2, 2, split, r);
    check_rows(&r[0], 101, 4);
    check_rows(&r[1], 101, 4);
}

static _Atomic size_t sum_of_rows;

static void add_rows(void *ctx, size_t begin, size_t end, int part)
{
    (void)ctx;
    (void)part;
    sum_of_rows += end - begin;
}

static void the_largest_number_of_rows_does_not_wrap(void **state)
{
    (void)state;
    sum_of_rows = 0;
    rela_par_rows(SIZE_MAX, 7, add_rows, NULL);
    CHECK(sum_of_rows == SIZE_MAX, "%zu rows", sum_of_rows);
}

static void the_number_of_threads_is_bounded(void **state)
{
    (void)state;
    assert_int_equal(rela_par_threads(3), 3);
    assert_int_equal(rela_par_threads(1000000), RELA_PAR_MAX);
    (void)setenv("OMP_NUM_THREADS", "5", 1);
    assert_int_equal(rela_par_threads(0), 5);
    assert_int_equal(rela_par_threads(-1), 5);
    (void)setenv("OMP_NUM_THREADS", "3,2", 1); /* a list: of nested regions */
    assert_int_equal(rela_par_threads(0), 3);
    (void)setenv("OMP_NUM_THREADS", "1000000", 1);
    assert_int_equal(rela_par_threads(0), RELA_PAR_MAX);
    (void)unsetenv("OMP_NUM_THREADS");
    CHECK(rela_par_threads(0) >= 1, "%d threads", rela_par_threads(0));
}

/* A pipe that turns the numbers 0 .. n-1 into themselves and fails where it is told to. */
typedef struct job {
    int n, next;
    int read_fails_at, work_fails_at, work_also_fails_at, write_fails_at; /* -1: never */
    bool silent;                                                          /* no message */
    int written[BLOCKS_MAX];
    int n_written;
    _Atomic int n_reading, n_writing, n_worked;
    _Atomic unsigned threads; /* bit set of those that worked */
} job;

typedef struct block {
    int value, result;
} block;

static void wait_a_little(int value)
{
    const struct timespec t = { 0, (value * 7919 % 5) * 200000L };
    (void)nanosleep(&t, NULL);
}

static rela_status fail_at(const job *j, int value, int at, const char *what, rela_error *err)
{
    if (value != at)
        return RELA_OK;
    return j->silent ? RELA_IO : rela_fail(err, RELA_IO, "%s %d", what, value);
}

static rela_status read_number(void *ctx, void *b, bool *more, rela_error *err)
{
    job *j = ctx;
    block *k = b;
    CHECK(j->n_reading++ == 0, "two reads at once");
    k->value = j->next;
    *more = j->next < j->n;
    j->next += *more;
    const rela_status st = fail_at(j, k->value, j->read_fails_at, "read", err);
    j->n_reading--;
    return st;
}

static rela_status square(void *ctx, void *b, int thread, rela_error *err)
{
    job *j = ctx;
    block *k = b;
    wait_a_little(k->value);
    j->n_worked++;
    j->threads |= 1u << thread;
    k->result = k->value * k->value;
    const rela_status st = fail_at(j, k->value, j->work_fails_at, "work", err);
    return st == RELA_OK ? fail_at(j, k->value, j->work_also_fails_at, "work", err) : st;
}

static rela_status write_number(void *ctx, void *b, rela_error *err)
{
    job *j = ctx;
    const block *k = b;
    CHECK(j->n_writing++ == 0, "two writes at once");
    const rela_status st = fail_at(j, k->value, j->write_fails_at, "write", err);
    if (st == RELA_OK)
        j->written[j->n_written++] = k->result;
    j->n_writing--;
    return st;
}

static int blocks_per_thread = 1; /* each test runs with one and with three */

static rela_status run(job *j, int n_threads, rela_error *err)
{
    enum { MOST = 3 * THREADS_MAX };
    block storage[MOST];
    void *blocks[MOST];
    for (int i = 0; i < MOST; i++)
        blocks[i] = &storage[i];
    const int n_blocks = n_threads * blocks_per_thread;
    const rela_pipe p = { read_number, square, write_number, j, blocks, n_threads, n_blocks };
    return rela_pipe_run(&p, err);
}

static job make_job(int n)
{
    return (job){ .n = n,
                  .read_fails_at = -1,
                  .work_fails_at = -1,
                  .work_also_fails_at = -1,
                  .write_fails_at = -1 };
}

static void check_written(const job *j, int n, int n_threads)
{
    CHECK(j->n_written == n, "%d threads: %d of %d blocks written", n_threads, j->n_written, n);
    for (int i = 0; i < n; i++)
        CHECK(j->written[i] == i * i, "%d threads: block %d is %d", n_threads, i, j->written[i]);
}

static void blocks_are_written_in_the_order_of_reading(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= THREADS_MAX; n_threads++)
        for (int n = 0; n <= BLOCKS_MAX; n += 12) {
            rela_error err = { RELA_OK, "" };
            job j = make_job(n);
            CHECK_OK(run(&j, n_threads, &err), err);
            check_written(&j, n, n_threads);
            CHECK(j.threads < 1u << n_threads, "thread numbers %x", j.threads);
        }
}

static void a_failed_read_comes_after_the_blocks_before_it(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= THREADS_MAX; n_threads++)
        for (int at = 0; at <= 20; at += 5) {
            rela_error err = { RELA_OK, "" };
            job j = make_job(40);
            j.read_fails_at = at;
            assert_int_equal(run(&j, n_threads, &err), RELA_IO);
            check_written(&j, at, n_threads);
            CHECK(strncmp(err.message, "read", 4) == 0, "%s", err.message);
        }
}

static void the_earliest_failed_work_is_reported(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= THREADS_MAX; n_threads++)
        for (int at = 0; at <= 20; at += 4) {
            rela_error err = { RELA_OK, "" };
            char want[32];
            job j = make_job(60);
            j.work_fails_at = at + 1; /* often found first */
            j.work_also_fails_at = at;
            j.read_fails_at = at + 3;
            assert_int_equal(run(&j, n_threads, &err), RELA_IO);
            check_written(&j, at, n_threads);
            (void)snprintf(want, sizeof want, "work %d", at);
            assert_string_equal(err.message, want);
            CHECK(j.n_worked <= at + 1 + n_threads, "%d blocks worked on", j.n_worked);
        }
}

static void a_failed_write_stops_the_pipe(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= THREADS_MAX; n_threads++) {
        rela_error err = { RELA_OK, "" };
        job j = make_job(60);
        j.write_fails_at = 7;
        j.work_fails_at = 9;
        assert_int_equal(run(&j, n_threads, &err), RELA_IO);
        check_written(&j, 7, n_threads);
        assert_string_equal(err.message, "write 7");
        CHECK(j.next < 60, "everything was read");
    }
}

static void a_failure_without_a_message_keeps_its_status(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    job j = make_job(10);
    j.silent = true;
    j.work_fails_at = 3;
    assert_int_equal(run(&j, 3, &err), RELA_IO);
    assert_int_equal(err.status, RELA_IO);
    assert_int_equal(run(&j, 3, NULL), RELA_OK); /* the rest: nothing fails any more */
}

static void run_jobs(void *ctx, size_t begin, size_t end, int part)
{
    job *j = ctx;
    (void)part;
    for (size_t i = begin; i < end; i++)
        CHECK(run(&j[i], 4, NULL) == RELA_OK, "job %zu failed", i);
}

static void a_pipe_inside_a_parallel_region_runs_alone(void **state)
{
    (void)state;
    job j[2] = { make_job(20), make_job(30) };
    rela_par_rows(2, 2, run_jobs, j);
    check_written(&j[0], 20, 4);
    check_written(&j[1], 30, 4);
    CHECK(j[0].threads == 1 && j[1].threads == 1, "nested threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_belongs_to_one_part),
        cmocka_unit_test(the_split_is_the_same_inside_a_parallel_region),
        cmocka_unit_test(the_largest_number_of_rows_does_not_wrap),
        cmocka_unit_test(the_number_of_threads_is_bounded),
        cmocka_unit_test(blocks_are_written_in_the_order_of_reading),
        cmocka_unit_test(a_failed_read_comes_after_the_blocks_before_it),
        cmocka_unit_test(the_earliest_failed_work_is_reported),
        cmocka_unit_test(a_failed_write_stops_the_pipe),
        cmocka_unit_test(a_failure_without_a_message_keeps_its_status),
        cmocka_unit_test(a_pipe_inside_a_parallel_region_runs_alone),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    blocks_per_thread = 3;
    return failed ? failed : cmocka_run_group_tests(tests, NULL, NULL);
}
