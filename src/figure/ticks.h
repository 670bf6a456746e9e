/* SPDX-License-Identifier: MIT */
/* src/figure/ticks.h - round numbers along an axis. */
#ifndef RELA_FIGURE_TICKS_H
#define RELA_FIGURE_TICKS_H

#include <stddef.h>

/* 1, 2 or 5 times a power of ten: the smallest that fits into range at most n times. */
double rela_tick_step(double range, int n);
/* Formats the value at a tick, with as many digits as the step needs. */
void rela_tick_text(char *out, size_t size, double v, double step);

#endif
