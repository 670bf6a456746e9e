/* SPDX-License-Identifier: MIT */
/* src/base/nearest.h - the name that may have been meant, for "did you mean" in messages. */
#ifndef RELA_BASE_NEAREST_H
#define RELA_BASE_NEAREST_H

#include <stddef.h>

/* The nearest name so far; zero-initialise. */
typedef struct rela_nearest {
    const char *name; /* lent; NULL: none is close */
    size_t distance;
} rela_nearest;

/* Compares a name of len bytes with the part of given before '=', and keeps it if it is closer. By
 * edit distance, where case does not count, '-' equals '_' and a transposition counts one: at most
 * 2, and for short names at most a third of their length, rounded up. Names of up to three bytes
 * must also begin alike, since most such words are near to some name. */
void rela_nearest_offer(rela_nearest *n, const char *given, const char *name, size_t len);

#endif
