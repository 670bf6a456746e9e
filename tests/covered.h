/* SPDX-License-Identifier: MIT */
/* tests/covered.h - what tests have run, for the list at the end of `make test`. */
#ifndef RELA_TESTS_COVERED_H
#define RELA_TESTS_COVERED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records that something was run: covered("level", "avx2"), covered("attention path", "sparse").
 * Call it after the checks. Appends each pair once per program to the file that RELA_COVERED names;
 * without the variable nothing happens. tools/test-summary reads it. */
static inline void covered(const char *what, const char *name)
{
    enum { PAIRS = 128, LENGTH = 96 };
    static char noted[PAIRS][LENGTH];
    static size_t n;
    char line[LENGTH];
    const char *path = getenv("RELA_COVERED");
    if (!path)
        return;
    (void)snprintf(line, sizeof line, "%s\t%s\n", what, name);
    for (size_t i = 0; i < n; i++)
        if (strcmp(noted[i], line) == 0)
            return;
    if (n < PAIRS)
        memcpy(noted[n++], line, sizeof line);
    FILE *file = fopen(path, "a");
    if (file) {
        (void)fputs(line, file);
        (void)fclose(file);
    }
}

#endif
