/* SPDX-License-Identifier: MIT */
/* src/base/clock.c - see clock.h. */
#include "base/clock.h"

#include <math.h>

static double seconds_of(clockid_t clock)
{
    struct timespec t = { 0, 0 };
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double rela_clock_seconds(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

struct timespec rela_clock_after(double seconds)
{
    const double at = rela_clock_seconds() + seconds, whole = floor(at);
    return (struct timespec){ (time_t)whole, (long)((at - whole) * 1e9) };
}

double rela_clock_thread_seconds(void)
{
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

double rela_clock_since_1970(void)
{
    return seconds_of(CLOCK_REALTIME);
}

void rela_clock_text(char out[32])
{
    rela_clock_text_after(out, 0);
}

void rela_clock_text_after(char out[32], double seconds)
{
    const time_t then = time(NULL) + (time_t)seconds;
    struct tm parts;
    out[0] = '\0';
    if (gmtime_r(&then, &parts))
        (void)strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}
