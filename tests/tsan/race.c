/* SPDX-License-Identifier: MIT */
/* tests/tsan/race.c - races made on purpose, which ThreadSanitizer must report: race NAME. What the
 * library tells it about threads that wait for each other must not hide them. */
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

/* All parts at the same time. */
static void at_once(void *ctx, size_t begin, size_t end, int part)
{
    (void)ctx;
    (void)end;
    (void)part;
    shared += (int)begin;
}

/* With three parts on two threads, one thread has parts 0 and 2, the other part 1, which is done
 * long before part 2 begins; nothing makes it so but the time. */
static void one_after_the_other(void *ctx, size_t begin, size_t end, int part)
{
    (void)ctx;
    (void)end;
    if (part == 0)
        wait_a_little();
    else
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
    else if (strcmp(name, "one-after-the-other") == 0)
        rela_par_rows(3, 3, one_after_the_other, NULL);
    else if (strcmp(name, "none") == 0)
        for (int i = 0; i < 100; i++) /* each reads what another thread may have written before */
            rela_par_rows(3, 1 + i % 3, nothing_shared, sums);
    else
        return 2;
    (void)printf("%d\n", shared + sums[0] + sums[1] + sums[2]);
    return 0;
}
