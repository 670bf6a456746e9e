/* SPDX-License-Identifier: MIT */
/* src/base/clock.c - see clock.h. */
#include "base/clock.h"

#include <time.h>

double rela_clock_seconds(void)
{
    struct timespec t = { 0, 0 };
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
