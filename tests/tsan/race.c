/* SPDX-License-Identifier: MIT */
/* tests/tsan/race.c - races made on purpose, which ThreadSanitizer must report: race NAME. The
 * locks of the pool must not hide them. */
#include "base/par.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int shared;

static void wait_a_little(void)
{
    const struct timespec t = { .tv_nsec = 200000000 };
    (void)nanosleep(&t, NULL);
}

/* Each part waits, so that the other has been taken by another thread. */
static void at_once(void *ctx, size_t begin, size_t end, int part)
{
    (void)ctx;
    (void)end;
    (void)part;
    wait_a_little();
    shared += (int)begin;
}

static void nothing_shared(void *ctx, size_t begin, size_t end, int part)
{
    int *sums = ctx;
    (void)end;
    sums[part] += (int)begin;
}

int main(int argc, char **argv)
{
    int sums[3] = { 0, 0, 0 };
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "at-once") == 0)
        rela_par_rows(2, 2, at_once, NULL);
    else if (strcmp(name, "none") == 0)
        for (int i = 0; i < 100; i++) /* each reads what another thread may have written before */
            rela_par_rows(3, 1 + i % 3, nothing_shared, sums);
    else
        return 2;
    (void)printf("%d\n", shared + sums[0] + sums[1] + sums[2]);
    return 0;
}
