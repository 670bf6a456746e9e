/* SPDX-License-Identifier: MIT */
/* tests/unit/test_file_set.c - files that are replaced together: all old or all new after a
 * failure, and never old beside new, whatever ends the process. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"
#include "sweep.h"

#include <signal.h>
#include <sys/wait.h>

/* "first" and "last" are replaced, "gone" is removed, "extra" is new, "link" leads to "target". */
static const char *const OLD[] = { "first", "target", "gone", "last" };
static const char *const NEW[] = { "first", "link", "extra", "last" };

enum { N = 4 };

static rela_status replace_all(rela_error *err)
{
    rela_file_set *s = NULL;
    rela_status st = rela_file_set_create(&s, err);
    for (int i = 0; i < N && st == RELA_OK; i++) {
        if (i == 2)
            st = rela_file_set_remove(s, scratch("gone"), err);
        st = st ? st : rela_file_write_in(s, scratch(NEW[i]), "new", 3, err);
    }
    return rela_file_set_finish(s, st, err);
}

static void put_old(void)
{
    for (int i = 0; i < N; i++)
        (void)spill_text(OLD[i], "old");
    (void)unlink(scratch("extra"));
}

/* 'o', 'n', or '-' for a missing file. */
static char state_of(const char *name)
{
    char text[4] = "";
    FILE *f = fopen(scratch(name), "rb");
    if (!f)
        return '-';
    const size_t n = fread(text, 1, 3, f);
    (void)fclose(f);
    CHECK(n == 3 && (text[0] == 'o' || text[0] == 'n'), "%s: '%s'", name, text);
    return text[0];
}

/* The files first, target, gone, extra, last. */
static const char *states(void)
{
    static const char *const NAMES[] = { "first", "target", "gone", "extra", "last" };
    static char all[6];
    for (int i = 0; i < 5; i++)
        all[i] = state_of(NAMES[i]);
    return all;
}

static int prepare(void **state)
{
    char target[SCRATCH_PATH];
    const int st = scratch_make(state);
    (void)snprintf(target, sizeof target, "%s", scratch("target"));
    return st ? st : symlink(target, scratch("link"));
}

static void all_are_replaced(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    put_old();
    CHECK_OK(replace_all(&err), err);
    assert_string_equal(states(), "nn-nn");
    assert_int_equal(count_files(scratch_dir, NULL), 5);
    struct stat info;
    CHECK(lstat(scratch("link"), &info) == 0 && S_ISLNK(info.st_mode), "the link is no link");
}

static void a_failure_leaves_all_as_they_were(void **state)
{
    (void)state;
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        rela_error err = { RELA_OK, "" };
        put_old();
        sweep_arm(&s);
        const rela_status st = replace_all(&err);
        sweep_disarm(&s);
        sweep_status(&s, st, &err);
        const char *is = states();
        const bool settled = strstr(err.message, "durable") != NULL;
        CHECK(strcmp(is, st ? "ooo-o" : "nn-nn") == 0 || (settled && strcmp(is, "nn-nn") == 0),
              "class %d call %d: %s: %s", s.kind, (int)s.n, is, err.message);
        assert_int_equal(count_files(scratch_dir, ".tmp-"), 0);
        sweep_check(&s);
    }
}

/* Ends a child that replaces the files at its n-th file call; false once it is not reached. */
static bool killed_at(uint64_t n, int number)
{
    int status = 0;
    const pid_t pid = fork();
    CHECK(pid >= 0, "no process");
    if (pid == 0) {
        rela_error err = { RELA_OK, "" };
        rela_fault_set_signal(number, n, false);
        _exit(replace_all(&err) == RELA_OK ? 0 : 1);
    }
    CHECK(waitpid(pid, &status, 0) == pid, "no child");
    if (!WIFSIGNALED(status))
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "call %d: status %d", (int)n, status);
    return WIFSIGNALED(status);
}

static void a_killed_process_never_leaves_old_beside_new(void **state)
{
    (void)state;
    uint64_t n = 1;
    int partly = 0;
    for (bool more = true; more; n++) {
        put_old();
        more = killed_at(n, SIGKILL);
        const char *is = states();
        CHECK(!strchr(is, 'o') || !strchr(is, 'n'), "call %d: %s", (int)n, is);
        CHECK(!strchr(is, '-') || is[4] == '-' || strcmp(is, "nn-nn") == 0 ||
                  strcmp(is, "ooo-o") == 0,
              "call %d: %s is incomplete, but has its last file", (int)n, is);
        partly += strcmp(is, "nn-nn") != 0 && strcmp(is, "ooo-o") != 0;
    }
    CHECK(n > 20 && partly > 4, "%d calls, %d incomplete sets", (int)n, partly);
    char command[2 * SCRATCH_PATH];
    (void)snprintf(command, sizeof command, "rm -f '%s'/*.tmp-*", scratch_dir);
    assert_int_equal(system(command), 0);
}

/* A signal that ends the process waits until all files have their names. */
static void other_signals_wait_for_the_names(void **state)
{
    (void)state;
    for (uint64_t n = 1, more = true; more; n++) {
        put_old();
        more = killed_at(n, SIGTERM);
        const char *is = states();
        CHECK(strcmp(is, "nn-nn") == 0 || strcmp(is, "ooo-o") == 0, "call %d: %s", (int)n, is);
    }
    char command[2 * SCRATCH_PATH];
    (void)snprintf(command, sizeof command, "rm -f '%s'/*.tmp-*", scratch_dir);
    assert_int_equal(system(command), 0);
}

static void a_file_is_found_before_it_has_its_name(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_file_set *s = NULL;
    put_old();
    CHECK_OK(rela_file_set_create(&s, &err), err);
    CHECK_OK(rela_file_write_in(s, scratch("link"), "new", 3, &err), err);
    check_contents(rela_file_set_find(s, scratch("link")), "new", 3);
    check_contents(rela_file_set_find(s, scratch("last")), "old", 3);
    check_contents(rela_file_set_find(NULL, scratch("last")), "old", 3);
    assert_int_equal(rela_file_set_finish(s, RELA_FORMAT, &err), RELA_FORMAT);
    assert_string_equal(states(), "ooo-o");
    assert_int_equal(count_files(scratch_dir, ".tmp-"), 0);
    assert_int_equal(rela_file_set_finish(NULL, RELA_OK, &err), RELA_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_replaced),
        cmocka_unit_test(a_failure_leaves_all_as_they_were),
        cmocka_unit_test(a_killed_process_never_leaves_old_beside_new),
        cmocka_unit_test(other_signals_wait_for_the_names),
        cmocka_unit_test(a_file_is_found_before_it_has_its_name),
    };
    return cmocka_run_group_tests(tests, prepare, scratch_remove);
}
