/* SPDX-License-Identifier: MIT */
/* tests/unit/test_stop_signals.c - signals as requests: two of them at once are one, a later one
 * ends the process. */
#include "check.h"
#include "stop_signals.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void wait_for(int milliseconds)
{
    const struct timespec t = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
    (void)nanosleep(&t, NULL);
}

static bool becomes(int signal_number)
{
    for (int i = 0; i < 500 && rela_cli_stop_signal() != signal_number; i++)
        wait_for(10);
    return rela_cli_stop_signal() == signal_number;
}

/* The child sends signals to itself; its exit code is 1 if it is still there at the end. */
static int ends_with(void (*run)(void))
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        if (rela_cli_watch_signals(NULL) != RELA_OK)
            _exit(9);
        run();
        _exit(1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void send_twice_at_once(void)
{
    (void)kill(getpid(), SIGTERM);
    if (!becomes(SIGTERM))
        _exit(2);
    (void)kill(getpid(), SIGTERM);
    (void)kill(getpid(), SIGINT); /* what mpirun adds to a ^C */
    wait_for(300);
    if (rela_cli_stop_signal() != SIGTERM || rela_cli_save_signal())
        _exit(3);
}

static void send_again_later(void)
{
    (void)kill(getpid(), SIGINT);
    if (!becomes(SIGINT))
        _exit(2);
    wait_for(1100);
    (void)kill(getpid(), SIGTERM);
    wait_for(5000);
}

static void ask_to_save(void)
{
    (void)kill(getpid(), SIGHUP);
    for (int i = 0; i < 500; i++, wait_for(10))
        if (rela_cli_save_signal())
            _exit(rela_cli_stop_signal() == 0 && !rela_cli_save_signal() ? 4 : 5);
}

static void two_signals_within_a_second_are_one(void **state)
{
    (void)state;
    assert_int_equal(ends_with(send_twice_at_once), 1);
}

static void a_later_signal_ends_the_process(void **state)
{
    (void)state;
    assert_int_equal(ends_with(send_again_later), 128 + SIGTERM);
}

static void a_signal_that_asks_to_save_does_not_stop(void **state)
{
    (void)state;
    assert_int_equal(ends_with(ask_to_save), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_signals_within_a_second_are_one),
        cmocka_unit_test(a_later_signal_ends_the_process),
        cmocka_unit_test(a_signal_that_asks_to_save_does_not_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
