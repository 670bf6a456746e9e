/* SPDX-License-Identifier: MIT */
/* cli/stop_signals.c - see stop_signals.h. */
#include "stop_signals.h"

#include "base/file.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int stop_signal, save_signal;

static void *wait_for_signals(void *set);

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

static void *wait_for_signals(void *set)
{
    int number = 0;
    while (sigwait(set, &number) == 0) {
        if (number == SIGHUP || number == SIGUSR1) {
            atomic_store(&save_signal, 1);
            continue;
        }
        if (atomic_load(&stop_signal)) { /* second signal: exit at once */
            rela_file_abort_all();
            _Exit(128 + number);
        }
        atomic_store(&stop_signal, number);
    }
    return NULL;
}
