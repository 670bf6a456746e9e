/* SPDX-License-Identifier: MIT */
/* tests/unit/test_committer.c - files that are committed in the background: all of them, in order,
 * and after a failure none. */
#include "base/committer.h"
#include "base/fault.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"

enum { N_FILES = 12 };

static void write_number(rela_committer *c, const char *path, int number)
{
    rela_error err = { RELA_OK, "" };
    rela_writer *w = NULL;
    char text[16];
    (void)snprintf(text, sizeof text, "%d", number);
    CHECK_OK(rela_writer_open(&w, path, &err), err);
    CHECK_OK(rela_writer_write(w, text, strlen(text), &err), err);
    CHECK_OK(rela_writer_flush(w, &err), err);
    rela_committer_add(c, w);
}

static int read_number(const char *path)
{
    rela_error err = { RELA_OK, "" };
    char *text = NULL;
    size_t len = 0;
    CHECK_OK(rela_file_read(&text, &len, path, 0, &err), err);
    const int number = atoi(text);
    rela_mem_free(text);
    return number;
}

static rela_committer *make(void)
{
    rela_error err = { RELA_OK, "" };
    rela_committer *c = NULL;
    CHECK_OK(rela_committer_create(&c, &err), err);
    return c;
}

static void the_last_of_several_files_stays(void **state)
{
    rela_error err = { RELA_OK, "" };
    rela_committer *c = make();
    (void)state;
    CHECK(rela_committer_done(c), "nothing to do");
    for (int i = 0; i < N_FILES; i++)
        write_number(c, scratch("same"), i);
    CHECK_OK(rela_committer_wait(c, &err), err);
    CHECK(rela_committer_done(c), "it has waited");
    CHECK(read_number(scratch("same")) == N_FILES - 1, "%d", read_number(scratch("same")));
    rela_committer_destroy(c);
}

static void destroy_commits_what_is_left(void **state)
{
    rela_committer *c = make();
    (void)state;
    write_number(c, scratch("left"), 7);
    rela_committer_destroy(c);
    CHECK(read_number(scratch("left")) == 7, "lost");
    rela_committer_destroy(NULL);
}

/* The disk is full when the second file is made durable: the third must not be there either. */
static void a_failure_is_reported_once_and_stops_the_rest(void **state)
{
    rela_error err = { RELA_OK, "" };
    rela_committer *c = make();
    (void)state;
    write_number(c, scratch("first"), 1);
    CHECK_OK(rela_committer_wait(c, &err), err);
    rela_writer *w[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++)
        CHECK_OK(rela_writer_open(&w[i], scratch(i ? "third" : "second"), &err), err);
    rela_fault_set(RELA_FAULT_FILE, 1, false); /* the sync of the second */
    rela_committer_add(c, w[0]);
    while (!rela_committer_done(c))
        ;
    rela_committer_add(c, w[1]);
    CHECK(rela_committer_wait(c, &err) == RELA_IO, "%s", err.message);
    CHECK(strstr(err.message, "second"), "%s", err.message);
    rela_fault_set(RELA_FAULT_FILE, 0, false);
    CHECK(rela_file_exists(scratch("first")), "gone");
    CHECK(!rela_file_exists(scratch("second")) && !rela_file_exists(scratch("third")), "there");
    CHECK_OK(rela_committer_wait(c, &err), err);
    write_number(c, scratch("third"), 3);
    rela_committer_destroy(c);
    CHECK(read_number(scratch("third")) == 3, "does not go on");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_several_files_stays),
        cmocka_unit_test(destroy_commits_what_is_left),
        cmocka_unit_test(a_failure_is_reported_once_and_stops_the_rest),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
