/* SPDX-License-Identifier: MIT */
/* cli/study_process.h - the processes of a study's jobs, and the signals that end or stop them. */
#ifndef RELA_CLI_STUDY_PROCESS_H
#define RELA_CLI_STUDY_PROCESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on signals wait until rela_cli_next_event asks for them. */
rela_status rela_cli_hold_signals(rela_error *err);

typedef struct rela_cli_process {
    int64_t pid; /* 0: not started */
    /* When it has ended. */
    int code; /* exit code, 128 + n after signal n */
    double cpu_seconds;
    uint64_t peak_bytes;
} rela_cli_process;

/* Runs words[0] in a process group of its own: in a directory, with output appended to a log and
 * without input. It is killed if this process ends without waiting for it. */
rela_status rela_cli_process_start(rela_cli_process *p, const char *const *words,
                                   const char *directory, const char *log, rela_error *err);
/* Sends a signal to all of its group. */
void rela_cli_process_signal(const rela_cli_process *p, int number);
/* Whether it has ended; then the results are filled in. */
bool rela_cli_process_ended(rela_cli_process *p);

/* Waits for a signal, or at most so many seconds. The number of a signal that asks this process to
 * stop; 0: a process has ended, or time is up. */
int rela_cli_next_event(double seconds);

#endif
