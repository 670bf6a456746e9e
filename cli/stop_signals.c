/* SPDX-License-Identifier: MIT */
/* cli/stop_signals.c - see stop_signals.h. */
#include "stop_signals.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double SAME_SIGNAL = 1; /* seconds */

static _Atomic(const rela_cli *) running;
static atomic_flag ending = ATOMIC_FLAG_INIT;
static atomic_int stop_signal, save_signal;

static void end_process(int number);
static bool report_crash(int number);
static void say(int number, const char *what);
static void write_line(const char *const *parts, size_t n);
static void *wait_for_signals(void *set);

/* A closed pipe and a file over the size limit become a rela_status, so that clean-up runs. Signals
 * without the default action are left alone: ignored under nohup, or handled by a sanitizer. */
void rela_cli_handle_signals(void)
{
    static const int HARMLESS[] = { SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH };
    struct sigaction old, action = { .sa_handler = end_process };
    (void)sigfillset(&action.sa_mask);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (int number = 1; number <= SIGRTMAX; number++) {
        bool ends = true;
        for (size_t i = 0; i < sizeof HARMLESS / sizeof HARMLESS[0]; i++)
            ends = ends && number != HARMLESS[i];
        if (ends && sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            (void)sigaction(number, &action, NULL); /* fails for SIGKILL and SIGSTOP */
    }
}

void rela_cli_signals_name(const rela_cli *cli)
{
    atomic_store(&running, cli);
}

/* Signals are blocked in all threads and awaited by a dedicated one. A handler would interrupt a
 * computing thread, which the matrix kernels of oneDNN do not survive: they were seen to corrupt
 * the heap when a signal frame landed among their registers. */
rela_status rela_cli_watch_signals(rela_error *err)
{
    static sigset_t set;
    pthread_t thread;
    (void)sigemptyset(&set);
    const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1 };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        (void)sigaddset(&set, numbers[i]);
    if (pthread_sigmask(SIG_BLOCK, &set, NULL) != 0 ||
        pthread_create(&thread, NULL, wait_for_signals, &set) != 0)
        return rela_fail(err, RELA_NOMEM, "no memory for a thread that waits for signals");
    (void)pthread_detach(thread);
    return RELA_OK;
}

int rela_cli_stop_signal(void)
{
    return atomic_load(&stop_signal);
}

bool rela_cli_save_signal(void)
{
    return atomic_exchange(&save_signal, 0);
}

/* The handler, async-signal-safe. Only the first signal gets to the end: another one, which a
 * second thread takes meanwhile, must not end the process before the files are removed. */
static void end_process(int number)
{
    sigset_t set;
    if (atomic_flag_test_and_set(&ending))
        for (;;)
            (void)pause();
    if (!report_crash(number)) {
        say(number, "stopped by signal ");
        rela_file_abort_all();
    }
    (void)signal(number, SIG_DFL);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, number);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    (void)raise(number);
    _exit(128 + number); /* not reached: the default action ends the process */
}

/* A library that cannot say that it has no memory ends in one of these, and so does a mistake.
 * Returns false for other signals. */
static bool report_crash(int number)
{
    static const struct {
        int number;
        const char *name;
    } CRASHES[] = { { SIGABRT, "SIGABRT" },
                    { SIGSEGV, "SIGSEGV" },
                    { SIGBUS, "SIGBUS" },
                    { SIGFPE, "SIGFPE" },
                    { SIGILL, "SIGILL" } };
    const char *purpose = rela_mem_purpose();
    for (size_t i = 0; i < sizeof CRASHES / sizeof CRASHES[0]; i++) {
        if (CRASHES[i].number != number)
            continue;
        const char *const parts[] = {
            purpose ? "rela: no memory for " : "rela: ended by ",
            purpose ? purpose : CRASHES[i].name,
            purpose ? "" : ": a mistake in the program, or a library that ran out of memory", "\n"
        };
        rela_file_abort_all();
        write_line(parts, sizeof parts / sizeof parts[0]);
        if (purpose)
            _exit(EXIT_FAILURE);
        return true;
    }
    return false;
}

/* A line that begins at the left of the terminal: where a progress bar is, or below the ^C that was
 * typed. */
static void say(int number, const char *what)
{
    char digits[4] = "";
    const char *start = "";
    const rela_cli *cli = atomic_load(&running);
    if (!cli || cli->common.quiet || cli->reported)
        return;
    digits[0] = (char)('0' + number / 10);
    digits[number > 9] = (char)('0' + number % 10);
    if (cli->bar_open)
        start = "\r\033[K";
    else if ((number == SIGINT || number == SIGQUIT) && isatty(STDERR_FILENO))
        start = "\n";
    const char *const parts[] = { start, "rela ", cli->command->name, ": ", what, digits, "\n" };
    write_line(parts, sizeof parts / sizeof parts[0]);
}

/* In one call, which is async-signal-safe. */
static void write_line(const char *const *parts, size_t n)
{
    char line[240];
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        for (const char *at = parts[i]; *at && len < sizeof line; at++)
            line[len++] = *at;
    if (write(STDERR_FILENO, line, len) < 0)
        return; /* standard error is closed */
}

static void *wait_for_signals(void *set)
{
    int number = 0;
    double first = 0;
    while (sigwait(set, &number) == 0) {
        if (number == SIGHUP || number == SIGUSR1) {
            atomic_store(&save_signal, 1);
        } else if (!atomic_load(&stop_signal)) {
            first = rela_clock_seconds();
            atomic_store(&stop_signal, number);
        } else if (rela_clock_seconds() - first >= SAME_SIGNAL) {
            say(number, "ended at once by signal ");
            rela_file_abort_all();
            _Exit(128 + number);
        }
    }
    return NULL;
}
