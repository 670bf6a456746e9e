/* SPDX-License-Identifier: MIT */
/* src/base/clock.h - monotonic time; never goes backwards when the wall clock is set. */
#ifndef RELA_BASE_CLOCK_H
#define RELA_BASE_CLOCK_H

double rela_clock_seconds(void); /* since an arbitrary start */
/* Processor time of the calling thread: what others use does not count. */
double rela_clock_thread_seconds(void);

#endif
