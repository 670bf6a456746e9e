/* SPDX-License-Identifier: MIT */
/* tests/unit/test_threads.c - the pool: callers at the same time, holders, forked children. */
#include "base/par.h"
#include "base/threads.h"
#include "check.h"
#include "rela/translate.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_THREAD__)
enum { WATCHERS = 1 }; /* ThreadSanitizer has a thread of its own */
#else
enum { WATCHERS = 0 };
#endif

enum { PARTS = 8, CALLERS = 4, REGIONS = 300 };

static int count_threads(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/task");
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    (void)closedir(dir);
    return n - WATCHERS;
}

/* A thread that was joined may stay in the list for a moment. */
static int count_threads_soon(int want)
{
    const struct timespec moment = { 0, 1000000 };
    for (int i = 0; i < 2000 && count_threads() != want; i++)
        (void)nanosleep(&moment, NULL);
    return count_threads();
}

static void count_part(void *ctx, size_t part)
{
    ((_Atomic int *)ctx)[part]++;
}

static void check_once(_Atomic int *seen, int times)
{
    for (size_t i = 0; i < PARTS; i++)
        CHECK(seen[i] == times, "part %zu ran %d times, not %d", i, seen[i], times);
}

static void each_part_runs_once(void **state)
{
    (void)state;
    _Atomic int seen[PARTS] = { 0 };
    for (int held = 0; held < 2; held++) {
        if (held)
            rela_threads_hold();
        for (int i = 0; i < REGIONS; i++)
            rela_threads_run(PARTS, count_part, seen);
        check_once(seen, REGIONS * (held + 1));
        if (held)
            rela_threads_release();
    }
    rela_threads_run(0, count_part, seen);
    check_once(seen, REGIONS * 2);
}

static void *call(void *seen)
{
    for (int i = 0; i < REGIONS; i++)
        rela_threads_run(PARTS, count_part, seen);
    return NULL;
}

static void several_callers_share_the_threads(void **state)
{
    (void)state;
    static _Atomic int seen[CALLERS][PARTS];
    pthread_t callers[CALLERS];
    rela_threads_hold();
    for (size_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call, seen[i]), 0);
    for (size_t i = 0; i < CALLERS; i++)
        (void)pthread_join(callers[i], NULL);
    CHECK(count_threads_soon(PARTS) == PARTS, "%d threads", count_threads());
    rela_threads_release();
    for (size_t i = 0; i < CALLERS; i++)
        check_once(seen[i], REGIONS);
}

static void *hold_and_call(void *seen)
{
    for (int i = 0; i < REGIONS / 10; i++) { /* threads start and end all the time */
        rela_threads_hold();
        rela_threads_run(PARTS, count_part, seen);
        rela_threads_release();
    }
    return NULL;
}

static void holders_come_and_go(void **state)
{
    (void)state;
    static _Atomic int seen[CALLERS][PARTS];
    pthread_t callers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, hold_and_call, seen[i]), 0);
    for (size_t i = 0; i < CALLERS; i++)
        (void)pthread_join(callers[i], NULL);
    for (size_t i = 0; i < CALLERS; i++)
        check_once(seen[i], REGIONS / 10);
    CHECK(count_threads_soon(1) == 1, "%d threads", count_threads());
}

static void no_thread_outlives_its_holders(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_threads_hold();
    CHECK_OK(rela_threads_start(3, &err), err);
    assert_int_equal(count_threads_soon(4), 4);
    rela_threads_hold();
    rela_threads_release();
    assert_int_equal(count_threads(), 4);
    rela_threads_release();
    assert_int_equal(count_threads_soon(1), 1);
    _Atomic int seen[PARTS] = { 0 };
    rela_threads_run(PARTS, count_part, seen); /* without a holder */
    assert_int_equal(count_threads_soon(1), 1);
}

static void no_thread_outlives_the_runtime(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_runtime *rt = NULL;
    rela_runtime_options o;
    rela_runtime_options_init(&o, sizeof o);
    o.n_threads = 4;
    CHECK_OK(rela_runtime_create(&rt, &o, &err), err);
    assert_int_equal(count_threads_soon(4), 4);
    rela_runtime_destroy(rt);
    assert_int_equal(count_threads_soon(1), 1);
}

/* In a child: 0 if a region of its own works. */
static int use_in_child(void)
{
    _Atomic int seen[PARTS] = { 0 };
    rela_threads_run(PARTS, count_part, seen);
    for (size_t i = 0; i < PARTS; i++)
        if (seen[i] != 1)
            return 1;
    return count_threads() == PARTS ? 0 : 2; /* held as in the parent */
}

static void check_child(void)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        _exit(use_in_child());
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %x", status);
}

static void a_forked_child_starts_threads_of_its_own(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* it does not allow threads in a child of a process that has threads */
#endif
    _Atomic int seen[PARTS] = { 0 };
    rela_threads_hold();
    rela_threads_run(PARTS, count_part, seen);
    for (int i = 0; i < 20; i++)
        check_child();
    rela_threads_run(PARTS, count_part, seen);
    rela_threads_release();
    check_once(seen, 2);
}

static _Atomic bool done;

static void *keep_busy(void *seen)
{
    while (!done)
        rela_threads_run(PARTS, count_part, seen);
    return NULL;
}

static void a_child_forked_while_others_work_does_too(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip();
#endif
    static _Atomic int seen[PARTS];
    pthread_t other;
    rela_threads_hold();
    assert_int_equal(pthread_create(&other, NULL, keep_busy, seen), 0);
    for (int i = 0; i < 20; i++)
        check_child();
    done = true;
    (void)pthread_join(other, NULL);
    rela_threads_release();
}

static _Atomic int n_blocked;

static void look_at_signals(void *ctx, size_t part)
{
    sigset_t now;
    (void)part;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &now);
    if (!pthread_equal(pthread_self(), *(pthread_t *)ctx))
        n_blocked += sigismember(&now, SIGINT) == 1 ? 1 : -1000;
    const struct timespec moment = { 0, 20000000 };
    (void)nanosleep(&moment, NULL);
}

static void signals_go_to_threads_of_the_program(void **state)
{
    (void)state;
    pthread_t self = pthread_self();
    rela_threads_run(PARTS, look_at_signals, &self);
    CHECK(n_blocked > 0, "%d", n_blocked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_runs_once),
        cmocka_unit_test(several_callers_share_the_threads),
        cmocka_unit_test(holders_come_and_go),
        cmocka_unit_test(no_thread_outlives_its_holders),
        cmocka_unit_test(no_thread_outlives_the_runtime),
        cmocka_unit_test(a_forked_child_starts_threads_of_its_own),
        cmocka_unit_test(a_child_forked_while_others_work_does_too),
        cmocka_unit_test(signals_go_to_threads_of_the_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
