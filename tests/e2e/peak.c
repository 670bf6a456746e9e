/* SPDX-License-Identifier: MIT */
/* tests/e2e/peak.c - peak FILE COMMAND...: runs the command, writes the most memory it had (KiB, as
 * the system counts it) to FILE, and ends with the command's exit code. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USAGE = 2, NOT_RUN = 127, BY_SIGNAL = 128 };

int main(int argc, char **argv)
{
    int status = 0;
    struct rusage usage;
    if (argc < 3)
        return USAGE;
    const pid_t child = fork();
    if (child == 0) {
        (void)execvp(argv[2], argv + 2);
        _exit(NOT_RUN);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return NOT_RUN;
    FILE *out = fopen(argv[1], "w");
    if (!out || fprintf(out, "%ld\n", usage.ru_maxrss) < 0 || fclose(out) != 0)
        return NOT_RUN;
    return WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status);
}
