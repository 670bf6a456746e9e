/* SPDX-License-Identifier: MIT */
/* cli/study_process.c - see study_process.h. */
#include "study_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STARTING_FAILED = 127, STANDARD_FILES = 3 };

static sigset_t awaited;

static void run_child(const char *const *words, const char *directory, int log, pid_t parent);

/* SIGUSR1 is what a batch system sends some time before it ends a job. SIGHUP is left alone where
 * it is ignored, as under nohup. */
rela_status rela_cli_hold_signals(rela_error *err)
{
    static const int NUMBERS[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD };
    struct sigaction old;
    (void)sigemptyset(&awaited);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof NUMBERS[0]; i++)
        if (sigaction(NUMBERS[i], NULL, &old) != 0 || old.sa_handler != SIG_IGN)
            (void)sigaddset(&awaited, NUMBERS[i]);
    return sigprocmask(SIG_BLOCK, &awaited, NULL) == 0
               ? RELA_OK
               : rela_fail_errno(err, errno, "signals cannot be held");
}

rela_status rela_cli_process_start(rela_cli_process *p, const char *const *words,
                                   const char *directory, const char *log, rela_error *err)
{
    const int file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return rela_fail_errno(err, errno, "%s", log);
    const pid_t parent = getpid(), pid = fork();
    if (pid == 0)
        run_child(words, directory, file, parent);
    const int reason = errno;
    (void)close(file);
    if (pid < 0)
        return rela_fail_errno(err, reason, "no process for %s", words[0]);
    (void)setpgid(pid, pid); /* here too, as a signal may be sent before the child has done it */
    *p = (rela_cli_process){ .pid = pid };
    return RELA_OK;
}

static void run_child(const char *const *words, const char *directory, int log, pid_t parent)
{
    sigset_t none;
    const int input = open("/dev/null", O_RDONLY);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || input < 0 || chdir(directory) != 0 || dup2(input, 0) < 0 ||
        dup2(log, 1) < 0 || dup2(log, 2) < 0)
        _exit(STARTING_FAILED);
    if (input >= STANDARD_FILES)
        (void)close(input);
    (void)unsetenv("SOURCE_DATE_EPOCH"); /* its day would be part of models */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    union {
        const char *const *words;
        char *const *arguments; /* as POSIX has it; they are not changed */
    } given = { .words = words };
    (void)execvp(words[0], given.arguments);
    static const char FAILED[] = "the program cannot be started\n";
    (void)!write(2, FAILED, sizeof FAILED - 1);
    _exit(STARTING_FAILED);
}

void rela_cli_process_signal(const rela_cli_process *p, int number)
{
    if (p->pid > 0)
        (void)kill((pid_t)-p->pid, number);
}

bool rela_cli_process_ended(rela_cli_process *p)
{
    enum { SIGNAL_BASE = 128, KIB = 1024 };
    struct rusage used;
    int status = 0;
    if (wait4((pid_t)p->pid, &status, WNOHANG, &used) != (pid_t)p->pid)
        return false;
    p->code = WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
    p->cpu_seconds = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                     (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    p->peak_bytes = (uint64_t)used.ru_maxrss * KIB;
    p->pid = 0;
    return true;
}

int rela_cli_next_event(double seconds)
{
    const struct timespec limit = { (time_t)seconds,
                                    (long)((seconds - (double)(time_t)seconds) * 1e9) };
    const int number = sigtimedwait(&awaited, NULL, &limit);
    return number > 0 && number != SIGCHLD ? number : 0;
}
