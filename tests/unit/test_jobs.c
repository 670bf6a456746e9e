/* SPDX-License-Identifier: MIT */
/* tests/unit/test_jobs.c - jobs on text: the results of one process on any number of ranks and
 * threads; failures where one process has them; and the same after any end, from a record that may
 * be cut anywhere. Ranks are threads. */
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "dist/job_parts.h"
#include "dist/job_rows.h"
#include "scratch.h"
#include "sweep.h"
#include "thread_ranks.h"

enum { LINES = 500, BLOCK = 7 };

/* A job that joins the lines of two files, and where it is made to fail. */
typedef struct joining {
    const char *files[2], *record;
    int n_threads;
    uint64_t bad_line;   /* work fails on it; 0: none */
    uint64_t last_block; /* finishing is cancelled after so many; 0: never */
    const char *setting;
    /* results */
    rela_buffer text;
    uint64_t n_blocks, worked; /* worked: blocks, by one thread only */
    rela_status st;
    rela_error err;
} joining;

static rela_status work(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    joining *j = ctx;
    rela_status st = RELA_OK;
    j->worked += j->n_threads == 1 && n_thread_ranks == 1;
    (void)thread;
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        const rela_span *c = rows->lines + 2 * i;
        if (rows->first + i == j->bad_line)
            return rela_fail(err, RELA_NOTFINITE, "line %d is bad", (int)j->bad_line);
        st = rela_buffer_printf(&rows->out, err, "%d %.*s|%.*s\n", (int)(rows->first + i),
                                (int)c[0].len, c[0].text, (int)c[1].len, c[1].text);
    }
    return st;
}

static rela_status done(void *ctx, rela_rows *rows, rela_error *err)
{
    joining *j = ctx;
    if (++j->n_blocks == j->last_block)
        return rela_fail(err, RELA_CANCEL, "enough");
    return rela_buffer_append(&j->text, rows->out.data, rows->out.len, err);
}

static rela_status join(joining *j, rela_world *w, rela_error *err)
{
    const rela_steps s = { .files = j->files,
                           .n_files = 2,
                           .n_threads = j->n_threads,
                           .block_rows = BLOCK,
                           .work = work,
                           .done = done,
                           .ctx = j };
    rela_job_options o;
    rela_job *job = NULL;
    rela_job_options_init(&o, sizeof o);
    o.record = j->record;
    rela_status st = rela_job_open(&job, &o, err);
    if (st != RELA_OK)
        return st;
    job->world = w;
    st = rela_job_setting(job, "made\nwith", j->setting ? j->setting : "care", err);
    st = st ? st : rela_job_rows(NULL, job, &s, err);
    job->world = NULL; /* closed by the test */
    return rela_job_close(job, st, err);
}

static void join_ranks(rela_world *w, void *ctx)
{
    joining *j = ctx, own = *j;
    rela_error err = { RELA_OK, "" };
    const rela_status st = join(rela_world_rank(w) ? &own : j, w, &err);
    if (rela_world_rank(w) == 0) {
        j->st = st;
        j->err = err;
    } else {
        CHECK(own.n_blocks == 0, "rank %zu has finished blocks", rela_world_rank(w));
    }
}

/* Runs it on so many ranks; the text is freed by the caller. */
static void run(joining *j, size_t n_ranks)
{
    j->text = (rela_buffer)RELA_BUFFER_INIT;
    j->n_blocks = j->worked = 0;
    j->err = (rela_error){ RELA_OK, "" };
    n_thread_ranks = n_ranks;
    if (n_ranks == 1)
        j->st = join(j, NULL, &j->err);
    else
        run_thread_ranks(n_ranks, join_ranks, j);
}

static void make_text(joining *j, const char *a, const char *b, size_t lines)
{
    rela_error err = { RELA_OK, "" };
    static char paths[2][SCRATCH_PATH];
    const char *const names[] = { a, b };
    for (int side = 0; side < 2; side++) {
        rela_writer *w = NULL;
        rela_buffer text = RELA_BUFFER_INIT;
        (void)snprintf(paths[side], sizeof paths[side], "%s", scratch(names[side]));
        for (size_t i = 0; i < lines; i++) /* long lines, so that blocks lie far apart */
            CHECK_OK(rela_buffer_printf(&text, &err, "%s%d %0*d%s\n",
                                        i || side ? "" : "\xEF\xBB\xBF", (int)i,
                                        (int)(i * 37 % 200), side, i % 5 ? "" : "\r\r"),
                     err);
        CHECK_OK(rela_writer_open(&w, paths[side], &err), err);
        CHECK_OK(rela_writer_write(w, text.data, text.len - (size_t)side, &err), err);
        CHECK_OK(rela_writer_commit(w, &err), err);
        rela_buffer_free(&text);
        j->files[side] = paths[side];
    }
}

static void check_same(const joining *j, const joining *as, const char *what)
{
    CHECK(j->st == as->st && j->text.len == as->text.len &&
              (j->text.len == 0 || memcmp(j->text.data, as->text.data, as->text.len) == 0),
          "%s: status %d (%s), %zu bytes; status %d, %zu bytes", what, (int)j->st, j->err.message,
          j->text.len, (int)as->st, as->text.len);
}

static void compare_ranks(joining *j, const char *what)
{
    j->n_threads = 1;
    run(j, 1);
    joining one = *j;
    for (size_t n = 1; n <= 4; n++)
        for (j->n_threads = 1; j->n_threads <= 3; j->n_threads++) {
            run(j, n);
            check_same(j, &one, what);
            CHECK(!*one.err.message || strstr(j->err.message, one.err.message), "%s, not %s",
                  j->err.message, one.err.message);
            rela_buffer_free(&j->text);
        }
    rela_buffer_free(&one.text);
}

static void ranks_make_what_one_process_makes(void **state)
{
    (void)state;
    joining j = { .n_threads = 1 };
    make_text(&j, "a", "b", LINES);
    compare_ranks(&j, "plain");
    make_text(&j, "a.gz", "b.zst", LINES);
    compare_ranks(&j, "compressed");
    make_text(&j, "c", "d", 3);
    compare_ranks(&j, "three lines");
}

static void ranks_fail_where_one_process_fails(void **state)
{
    (void)state;
    joining j = { .n_threads = 1 };
    make_text(&j, "a", "b", LINES);
    for (uint64_t line = 1; line <= LINES; line += 83) {
        j.bad_line = line;
        compare_ranks(&j, "a bad line");
    }
    j.bad_line = 0;
    j.last_block = 9;
    compare_ranks(&j, "cancelled");
    j.last_block = 0;
    joining longer = { .n_threads = 1 };
    make_text(&longer, "a", "c", LINES);
    make_text(&j, "d", "b", LINES - 10);
    j.files[0] = "missing";
    compare_ranks(&j, "no such file");
    char uneven[SCRATCH_PATH];
    make_text(&j, "e", "f", LINES - 10);
    (void)snprintf(uneven, sizeof uneven, "%s", scratch("a"));
    j.files[0] = uneven;
    compare_ranks(&j, "lines of one file are missing");
    j.files[0] = j.files[1] = spill_text("nothing", "");
    compare_ranks(&j, "no lines");
}

static void a_job_goes_on_after_any_end(void **state)
{
    (void)state;
    joining j = { .n_threads = 1 };
    make_text(&j, "a", "b", LINES);
    run(&j, 1);
    joining whole = j;
    char record[SCRATCH_PATH];
    (void)snprintf(record, sizeof record, "%s", scratch("record"));
    j.record = record;
    for (uint64_t last = 1; last < LINES / BLOCK; last += 11)
        for (size_t n = 1; n <= 3; n++) {
            j.last_block = last;
            run(&j, n);
            CHECK(j.st == RELA_CANCEL && rela_file_exists(record), "%s", j.err.message);
            rela_buffer_free(&j.text);
            j.last_block = 0;
            run(&j, 4 - n);
            check_same(&j, &whole, "resumed");
            CHECK(n != 3 || j.worked < whole.worked, "all was done again");
            CHECK(!rela_file_exists(record), "the record is left");
            rela_buffer_free(&j.text);
        }
    rela_buffer_free(&whole.text);
}

/* What a process leaves that was killed while it wrote the record. */
static void a_record_may_be_cut_or_damaged_anywhere(void **state)
{
    (void)state;
    size_t len = 0;
    char record[SCRATCH_PATH];
    joining j = { .n_threads = 1 };
    make_text(&j, "a", "b", 20);
    run(&j, 1);
    joining whole = j;
    (void)snprintf(record, sizeof record, "%s", scratch("record"));
    j.record = record;
    j.last_block = 3;
    run(&j, 1);
    rela_buffer_free(&j.text);
    j.last_block = 0;
    char *bytes = slurp(record, &len);
    for (size_t cut = 0; cut <= len; cut++) {
        (void)spill("record", bytes, cut);
        run(&j, 1);
        check_same(&j, &whole, "cut");
        rela_buffer_free(&j.text);
    }
    for (size_t at = 18; at < len; at += 3) { /* after the title */
        bytes[at] ^= 1;
        (void)spill("record", bytes, len);
        run(&j, 1);
        check_same(&j, &whole, "damaged");
        rela_buffer_free(&j.text);
        bytes[at] ^= 1;
    }
    free(bytes);
    rela_buffer_free(&whole.text);
}

/* Leaves a record of three blocks of a text of 40 lines. */
static void leave_record(joining *j, char record[SCRATCH_PATH])
{
    *j = (joining){ .n_threads = 1, .last_block = 3 };
    make_text(j, "a", "b", 40);
    (void)snprintf(record, SCRATCH_PATH, "%s", scratch("record"));
    j->record = record;
    (void)unlink(record);
    run(j, 1);
    rela_buffer_free(&j->text);
    j->last_block = 0;
}

static void check_refused(joining *j, size_t n_ranks, const char *message)
{
    size_t len = 0;
    char *before = slurp(j->record, &len);
    run(j, n_ranks);
    CHECK(j->st == RELA_STATE && strstr(j->err.message, message), "%s", j->err.message);
    check_contents(j->record, before, len);
    rela_buffer_free(&j->text);
    free(before);
}

static void a_record_of_another_job_is_refused(void **state)
{
    (void)state;
    char record[SCRATCH_PATH];
    joining j;
    for (size_t n = 1; n <= 2; n++) {
        leave_record(&j, record);
        j.setting = "haste";
        check_refused(&j, n, "made with is haste, but care in the job that ");
        j.setting = NULL;
        (void)spill_text("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
        (void)spill_text("b", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
        check_refused(&j, n, "the hash of lines 1 to 7 is ");
        leave_record(&j, record);
        make_text(&j, "a", "b", 10);
        check_refused(&j, n, "the text has 10 lines, but it had 14 or more in the job that ");
        (void)spill_text("record", "rela is fine\n");
        check_refused(&j, n, "not the record of a job, so it is left alone");
    }
    rela_appender *other = NULL;
    rela_error err = { RELA_OK, "" };
    leave_record(&j, record);
    CHECK_OK(rela_appender_open(&other, record, UINT64_MAX, &err), err);
    CHECK_OK(rela_appender_lock(other, &err), err);
    check_refused(&j, 1, "in use by another process");
    rela_appender_close(other);
}

static void ranks_with_other_settings_are_refused_body(rela_world *w, void *ctx)
{
    joining j = *(const joining *)ctx;
    rela_error err = { RELA_OK, "" };
    j.setting = rela_world_rank(w) == 1 ? "haste" : "care";
    CHECK(join(&j, w, &err) == RELA_STATE, "accepted");
    CHECK(strstr(err.message, "made with is haste, but care on rank 0"), "%s", err.message);
    CHECK(j.n_blocks == 0, "it has begun");
}

static void ranks_with_other_settings_are_refused(void **state)
{
    (void)state;
    joining j = { .n_threads = 1 };
    make_text(&j, "a", "b", LINES);
    run_thread_ranks(3, ranks_with_other_settings_are_refused_body, &j);
}

static void nothing_is_lost_when_memory_or_disk_fail(void **state)
{
    (void)state;
    joining j, whole = { .n_threads = 1 };
    char record[SCRATCH_PATH];
    leave_record(&j, record);
    size_t len = 0;
    char *bytes = slurp(record, &len);
    make_text(&whole, "a", "b", 40);
    run(&whole, 1);
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        (void)spill("record", bytes, len);
        sweep_arm(&s);
        run(&j, 1);
        sweep_disarm(&s);
        if (j.st == RELA_OK) {
            check_same(&j, &whole, "swept");
        } else { /* what the failure has left is enough to go on from */
            rela_buffer_free(&j.text);
            run(&j, 1);
            check_same(&j, &whole, "after a failure");
        }
        rela_buffer_free(&j.text);
        sweep_check(&s);
    }
    rela_buffer_free(&whole.text);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_make_what_one_process_makes),
        cmocka_unit_test(ranks_fail_where_one_process_fails),
        cmocka_unit_test(a_job_goes_on_after_any_end),
        cmocka_unit_test(a_record_may_be_cut_or_damaged_anywhere),
        cmocka_unit_test(a_record_of_another_job_is_refused),
        cmocka_unit_test(ranks_with_other_settings_are_refused),
        cmocka_unit_test(nothing_is_lost_when_memory_or_disk_fail),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
