/* SPDX-License-Identifier: MIT */
/* src/base/duration.h - lengths of time as people write them. */
#ifndef RELA_BASE_DURATION_H
#define RELA_BASE_DURATION_H

#include <stdbool.h>

enum { RELA_DURATION_SIZE = 32 };

/* "20m", "2h", "1h30m", "90s", "1d" or "90", in seconds; false for anything else. */
bool rela_duration_parse(double *seconds, const char *text);
/* The two largest units: "2 d 3 h", "1 h 30 min", "4 min 5 s", "12 s". */
void rela_duration_text(char out[RELA_DURATION_SIZE], double seconds);

#endif
