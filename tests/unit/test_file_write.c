/* SPDX-License-Identifier: MIT */
/* tests/unit/test_file_write.c - atomic replacement, compression by name, odd targets. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>

/* Runs f in a child without the rights of root, in the scratch folder; it must return 0. */
static void without_rights(int (*f)(void))
{
    CHECK(chmod(scratch_dir, 0777) == 0, "chmod");
    const pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
            _exit(0);
        _exit(f());
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "the child returned %d",
          WEXITSTATUS(status));
}

static void a_file_is_replaced_at_commit_only(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_writer *w = NULL;
    const char *path = spill_text("a", "old");
    CHECK_OK(rela_writer_open(&w, path, &err), err);
    CHECK_OK(rela_writer_write(w, "new ", 4, &err), err);
    CHECK_OK(rela_writer_flush(w, &err), err);
    check_contents(path, "old", 3);
    CHECK_OK(rela_writer_write(w, "text", 4, &err), err);
    check_contents(path, "old", 3);
    CHECK_OK(rela_writer_commit(w, &err), err);
    check_contents(path, "new text", 8);
    assert_int_equal(count_files(scratch_dir, ".tmp-"), 0);
}

static void aborting_leaves_the_old_file(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_writer *w = NULL;
    const char *path = spill_text("b", "old");
    CHECK_OK(rela_writer_open(&w, path, &err), err);
    CHECK_OK(rela_writer_write(w, "new", 3, &err), err);
    rela_writer_abort(w);
    rela_writer_abort(NULL);
    check_contents(path, "old", 3);
    CHECK_OK(rela_writer_open(&w, scratch("never"), &err), err);
    rela_writer_abort(w);
    CHECK(!rela_file_exists(scratch("never")), "made by an abort");
    assert_int_equal(count_files(scratch_dir, ".tmp-"), 0);
}

/* What a process does that ends by it; 0 if all went well. */
static int open_many_and_abort_all(int n)
{
    rela_writer *w[100];
    char name[16];
    int failed = 0;
    for (int i = 0; i < n; i++) {
        (void)snprintf(name, sizeof name, "many%d", i);
        failed += rela_writer_open(&w[i], scratch(name), NULL) != RELA_OK;
    }
    for (int i = 0; i < n && !failed; i += 7) { /* first, last and in the middle */
        rela_writer_abort(w[i]);
        (void)snprintf(name, sizeof name, "many%d", i);
        failed += rela_writer_open(&w[i], scratch(name), NULL) != RELA_OK;
    }
    failed += failed || rela_writer_commit(w[0], NULL) != RELA_OK;
    failed += count_files(scratch_dir, "many") != (size_t)n;
    rela_file_abort_all();
    return failed;
}

static void a_signal_handler_can_remove_all_temporaries(void **state)
{
    (void)state;
    for (int n = 1; n <= 100; n += 33) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0)
            _exit(open_many_and_abort_all(n));
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "status %d", status);
        CHECK(rela_file_exists(scratch("many0")), "what was committed is gone");
        CHECK(count_files(scratch_dir, "many") == 1, "%d writers: %zu files are left", n,
              count_files(scratch_dir, "many") - 1);
    }
}

static int make_folder_and_abort_all(void)
{
    rela_buffer dir = RELA_BUFFER_INIT, name = RELA_BUFFER_INIT;
    rela_status st = rela_dir_temporary(&dir, NULL);
    for (int i = 0; i < 200 && st == RELA_OK; i++) { /* more than one read of the directory */
        rela_buffer_clear(&name);
        st = rela_buffer_printf(&name, NULL, "%s/below/%d/deeper", dir.data, i % 10);
        st = st ? st : rela_dir_make(name.data, NULL);
        st = st ? st : rela_buffer_printf(&name, NULL, "/a file with a long name %d", i);
        st = st ? st : rela_file_write(name.data, "text", 4, NULL);
    }
    rela_file_abort_all();
    return st != RELA_OK;
}

static void a_signal_handler_can_remove_temporary_folders(void **state)
{
    (void)state;
    int status = 0;
    CHECK(setenv("TMPDIR", scratch_dir, 1) == 0, "setenv");
    const pid_t child = fork();
    if (child == 0)
        _exit(make_folder_and_abort_all());
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    CHECK(count_files(scratch_dir, "rela-") == 0, "a folder is left");
    (void)unsetenv("TMPDIR");
}

static void what_a_killed_process_left_is_swept(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_writer *w = NULL, *other = NULL;
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        const bool good = rela_writer_open(&w, scratch("swept"), NULL) == RELA_OK &&
                          rela_writer_open(&other, scratch("swept-too"), NULL) == RELA_OK;
        _exit(!good); /* as if it was killed */
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    CHECK(count_files(scratch_dir, ".tmp-") == 2, "nothing to sweep");
    CHECK_OK(rela_writer_open(&w, scratch("swept"), &err), err);
    rela_file_sweep(scratch("swept"));
    CHECK(count_files(scratch_dir, ".tmp-") == 2, "%zu are left",
          count_files(scratch_dir, ".tmp-"));
    CHECK_OK(rela_writer_commit(w, &err), err); /* was not swept */
    rela_file_sweep(scratch_dir);
    CHECK(count_files(scratch_dir, ".tmp-") == 0, "one is left");
    rela_file_sweep("-");
    rela_file_sweep(scratch("missing/file"));
}

static void every_size_and_coding_round_trips(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "t", "t.gz", "t.zst" };
    static const size_t SIZES[] = { 0, 1, 1000, 262143, 262144, 262145, 700000 };
    char *want = malloc(700000);
    CHECK(want, "no memory");
    for (size_t i = 0; i < 700000; i++) /* neither constant nor random */
        want[i] = (char)(i * i / 1000 % 61 + 32);
    for (size_t n = 0; n < 3; n++)
        for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
            rela_error err = { RELA_OK, "" };
            char *got = NULL;
            size_t len = 0, step = 1 + SIZES[i] / 7;
            rela_writer *w = NULL;
            CHECK_OK(rela_writer_open(&w, scratch(NAMES[n]), &err), err);
            for (size_t at = 0; at < SIZES[i]; at += step)
                CHECK_OK(rela_writer_write(w, want + at,
                                           SIZES[i] - at < step ? SIZES[i] - at : step, &err),
                         err);
            CHECK_OK(rela_writer_flush(w, &err), err);
            CHECK_OK(rela_writer_commit(w, &err), err);
            CHECK_OK(rela_file_read(&got, &len, scratch(NAMES[n]), 0, &err), err);
            CHECK(len == SIZES[i] && memcmp(got, want, len) == 0, "%s: %zu of %zu", NAMES[n], len,
                  SIZES[i]);
            rela_mem_free(got);
            CHECK_OK(rela_file_write(scratch(NAMES[n]), want, SIZES[i], &err), err);
            CHECK_OK(rela_file_read(&got, &len, scratch(NAMES[n]), 0, &err), err);
            CHECK(len == SIZES[i] && memcmp(got, want, len) == 0, "%s at once", NAMES[n]);
            rela_mem_free(got);
        }
    free(want);
}

static void the_same_bytes_give_the_same_file(void **state)
{
    (void)state;
    static const char *const NAMES[][2] = { { "s1.gz", "s2.gz" }, { "s1.zst", "s2.zst" } };
    for (size_t i = 0; i < 2; i++) { /* no names and no times inside */
        rela_error err = { RELA_OK, "" };
        size_t len = 0;
        CHECK_OK(rela_file_write(scratch(NAMES[i][0]), "text\n", 5, &err), err);
        CHECK_OK(rela_file_write(scratch(NAMES[i][1]), "text\n", 5, &err), err);
        char *first = slurp(scratch(NAMES[i][0]), &len);
        CHECK((unsigned char)first[0] == (i == 0 ? 0x1F : 0x28), "not compressed");
        check_contents(scratch(NAMES[i][1]), first, len);
        free(first);
    }
}

static void rights_of_a_file_are_kept(void **state)
{
    (void)state;
    static const mode_t MODES[] = { 0600, 0644, 0666, 0755 };
    rela_error err = { RELA_OK, "" };
    struct stat info;
    const mode_t mask = umask(077);
    for (size_t i = 0; i < 4; i++) {
        CHECK(chmod(spill_text("mode", "old"), MODES[i]) == 0, "chmod");
        CHECK_OK(rela_file_write(scratch("mode"), "new", 3, &err), err);
        CHECK(stat(scratch("mode"), &info) == 0 && (info.st_mode & 0777) == MODES[i], "%o",
              info.st_mode);
    }
    CHECK_OK(rela_file_write(scratch("fresh"), "new", 3, &err), err);
    CHECK(stat(scratch("fresh"), &info) == 0 && (info.st_mode & 0777) == 0600, "%o", info.st_mode);
    (void)umask(mask);
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    struct stat info;
    CHECK(mkdir(scratch("dir"), 0777) == 0, "mkdir");
    (void)spill_text("dir/target", "old");
    CHECK(symlink("dir/target", scratch("link")) == 0, "symlink");
    CHECK_OK(rela_file_write(scratch("link"), "new", 3, &err), err);
    CHECK(lstat(scratch("link"), &info) == 0 && S_ISLNK(info.st_mode), "the link is gone");
    check_contents(scratch("dir/target"), "new", 3);
    assert_int_equal(count_files(scratch("dir"), NULL), 1);
}

static void long_names_work(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    char name[NAME_MAX + 2];
    memset(name, 'n', sizeof name);
    for (size_t len = NAME_MAX - 20; len <= NAME_MAX; len++) {
        name[len] = '\0';
        CHECK_OK(rela_file_write(scratch(name), "x", 1, &err), err);
        check_contents(scratch(name), "x", 1);
        name[len] = 'n';
    }
    name[NAME_MAX + 1] = '\0';
    assert_int_equal(rela_file_write(scratch(name), "x", 1, &err), RELA_IO);
    CHECK(strstr(err.message, "name too long"), "%s", err.message);
    assert_int_equal(count_files(scratch_dir, ".tmp-"), 0);
}

static void what_cannot_be_written_is_named(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_writer *w = NULL;
    assert_int_equal(rela_writer_open(&w, "", &err), RELA_ARG);
    assert_int_equal(rela_writer_open(&w, scratch_dir, &err), RELA_IO);
    CHECK(strstr(err.message, "Is a directory"), "%s", err.message);
    assert_int_equal(rela_writer_open(&w, scratch("no/such/dir"), &err), RELA_IO);
    CHECK(strstr(err.message, "no/such/dir: ") && strstr(err.message, "No such file"), "%s",
          err.message);
    assert_null(w);
}

static void a_full_device_is_an_error(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    assert_int_equal(rela_file_write("/dev/full", "x", 1, &err), RELA_IO);
    CHECK(strstr(err.message, "/dev/full: ") && strstr(err.message, "No space left"), "%s",
          err.message);
    CHECK_OK(rela_file_write("/dev/null", "x", 1, &err), err);
    CHECK(access("/dev/null", W_OK) == 0 && rela_file_exists("/dev/full"), "devices are gone");
}

static void a_closed_pipe_is_told_apart(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_writer *w = NULL;
    int ends[2];
    (void)signal(SIGPIPE, SIG_IGN);
    CHECK(pipe(ends) == 0, "pipe");
    char path[64];
    (void)snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    CHECK_OK(rela_writer_open(&w, path, &err), err);
    CHECK_OK(rela_writer_write(w, "now\n", 4, &err), err);
    CHECK_OK(rela_writer_flush(w, &err), err);
    char got[8];
    CHECK(read(ends[0], got, sizeof got) == 4, "not flushed");
    (void)close(ends[0]);
    CHECK_OK(rela_writer_write(w, "late\n", 5, &err), err);
    assert_int_equal(rela_writer_commit(w, &err), RELA_CLOSED);
    (void)close(ends[1]);
}

static void a_failed_write_is_never_committed(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "st", "st.gz", "st.zst" };
    char *big = malloc(1 << 20);
    CHECK(big, "no memory");
    for (size_t i = 0; i < 1 << 20; i++) /* does not compress away */
        big[i] = (char)(i * 2654435761u >> 11);
    for (size_t i = 0; i < 3; i++) {
        rela_error err = { RELA_OK, "" };
        rela_writer *w = NULL;
        const char *path = spill_text(NAMES[i], "old");
        CHECK_OK(rela_writer_open(&w, path, &err), err);
        CHECK_OK(rela_writer_write(w, "start", 5, &err), err);
        rela_fault_set(RELA_FAULT_FILE, 1, false);
        assert_int_equal(rela_writer_write(w, big, 1 << 20, &err), RELA_IO);
        rela_fault_set(RELA_FAULT_FILE, 0, false);
        assert_int_equal(rela_writer_write(w, "more", 4, &err), RELA_IO);
        err = (rela_error){ RELA_OK, "" };
        assert_int_equal(rela_writer_commit(w, &err), RELA_IO); /* a caller who did not look */
        CHECK(strstr(err.message, NAMES[i]), "'%s'", err.message);
        check_contents(path, "old", 3);
    }
    assert_int_equal(count_files(scratch_dir, ".tmp-"), 0);
    free(big);
}

static int write_to_read_only_places(void)
{
    rela_error err = { RELA_OK, "" };
    if (rela_file_write(scratch("closed/f"), "x", 1, &err) != RELA_IO ||
        !strstr(err.message, "closed/f: cannot be written: Permission denied"))
        return 1;
    if (rela_file_write(scratch("guarded"), "x", 1, &err) != RELA_IO ||
        !strstr(err.message, "guarded: cannot be written: Permission denied"))
        return 2;
    return rela_file_write(scratch("blind/f"), "x", 1, &err) == RELA_OK ? 0 : 3;
}

static void rights_of_folders_and_files_are_respected(void **state)
{
    (void)state;
    CHECK(mkdir(scratch("closed"), 0555) == 0 && chmod(scratch("closed"), 0555) == 0, "mkdir");
    CHECK(mkdir(scratch("blind"), 0333) == 0 && chmod(scratch("blind"), 0333) == 0, "mkdir");
    CHECK(chmod(spill_text("guarded", "old"), 0444) == 0, "chmod");
    without_rights(write_to_read_only_places);
    check_contents(scratch("guarded"), "old", 3);
    check_contents(scratch("blind/f"), "x", 1); /* a folder that cannot be listed is no obstacle */
}

static void input_and_output_may_be_the_same_file(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_writer *w = NULL;
    rela_line line;
    const char *path = spill_text("same", "one\ntwo\n");
    CHECK_OK(rela_reader_open(&r, path, NULL, &err), err);
    CHECK_OK(rela_writer_open(&w, path, &err), err);
    do {
        CHECK_OK(rela_reader_line(r, &line, &err), err);
        CHECK_OK(rela_writer_write(w, "-", line.text != NULL, &err), err);
    } while (line.text);
    CHECK_OK(rela_writer_commit(w, &err), err);
    rela_reader_close(r);
    check_contents(path, "--", 2);
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_dir_make(scratch("x/y/z"), &err), err);
    CHECK_OK(rela_dir_make(scratch("x/y/z"), &err), err);
    CHECK_OK(rela_dir_make(scratch("x//y/w/"), &err), err);
    CHECK_OK(rela_dir_make("/", &err), err);
    CHECK(rela_file_exists(scratch("x/y/w")), "not made");
    assert_int_equal(rela_dir_make("", &err), RELA_ARG);
    (void)spill_text("file", "");
    assert_int_equal(rela_dir_make(scratch("file"), &err), RELA_IO);
    CHECK(strstr(err.message, "Not a directory"), "%s", err.message);
    assert_int_equal(rela_dir_make(scratch("file/below"), &err), RELA_IO);
    CHECK(symlink("nowhere", scratch("hanging")) == 0, "symlink");
    assert_int_equal(rela_dir_make(scratch("hanging"), &err), RELA_IO);
    rela_fault_set(RELA_FAULT_MEM, 1, false);
    assert_int_equal(rela_dir_make(scratch("q"), &err), RELA_NOMEM);
    rela_fault_set(RELA_FAULT_MEM, 0, false);
}

static void removing_what_is_not_there_is_fine(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_file_remove(scratch("not there"), &err), err);
    CHECK_OK(rela_file_remove(spill_text("there", ""), &err), err);
    CHECK(!rela_file_exists(scratch("there")), "still there");
    assert_int_equal(rela_file_remove(scratch_dir, &err), RELA_IO);
    CHECK(strstr(err.message, "cannot be removed"), "%s", err.message);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_replaced_at_commit_only),
        cmocka_unit_test(aborting_leaves_the_old_file),
        cmocka_unit_test(a_signal_handler_can_remove_all_temporaries),
        cmocka_unit_test(a_signal_handler_can_remove_temporary_folders),
        cmocka_unit_test(what_a_killed_process_left_is_swept),
        cmocka_unit_test(every_size_and_coding_round_trips),
        cmocka_unit_test(the_same_bytes_give_the_same_file),
        cmocka_unit_test(rights_of_a_file_are_kept),
        cmocka_unit_test(a_link_stays_and_its_target_is_replaced),
        cmocka_unit_test(long_names_work),
        cmocka_unit_test(what_cannot_be_written_is_named),
        cmocka_unit_test(a_full_device_is_an_error),
        cmocka_unit_test(a_closed_pipe_is_told_apart),
        cmocka_unit_test(a_failed_write_is_never_committed),
        cmocka_unit_test(rights_of_folders_and_files_are_respected),
        cmocka_unit_test(input_and_output_may_be_the_same_file),
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test(removing_what_is_not_there_is_fine),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
