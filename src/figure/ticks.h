/* SPDX-License-Identifier: MIT */
/* src/figure/ticks.h - round numbers along an axis. */
#ifndef RELA_FIGURE_TICKS_H
#define RELA_FIGURE_TICKS_H

#include <stddef.h>

/* 1, 2 or 5 times a power of ten: the smallest that a range has at most n of. */
double rela_tick_step(double range, int n);
/* A value at a tick, with the digits that the step needs. */
void rela_tick_text(char *out, size_t size, double v, double step);

#endif
