/* SPDX-License-Identifier: MIT */
/* src/base/clock.h - monotonic time; never goes backwards when the wall clock is set. */
#ifndef RELA_BASE_CLOCK_H
#define RELA_BASE_CLOCK_H

#include <time.h>

double rela_clock_seconds(void); /* since an arbitrary start */
/* The moment this many seconds from now, for waiting with CLOCK_MONOTONIC. */
struct timespec rela_clock_after(double seconds);
/* The time of day in UTC, as in "2026-01-31T12:00:00Z". */
void rela_clock_text(char out[32]);
/* The time of day in seconds since 1970, to compare with times of files only. */
double rela_clock_since_1970(void);

/* The same so many seconds from now. */
void rela_clock_text_after(char out[32], double seconds);
/* CPU time of the calling thread only. */
double rela_clock_thread_seconds(void);

#endif
