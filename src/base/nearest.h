/* SPDX-License-Identifier: MIT */
/* src/base/nearest.h - the name that may have been meant, for "did you mean" in messages. */
#ifndef RELA_BASE_NEAREST_H
#define RELA_BASE_NEAREST_H

#include <stddef.h>

/* The nearest so far; all zero to start with. */
typedef struct rela_nearest {
    const char *name; /* lent; NULL: none is close */
    size_t distance;
} rela_nearest;

/* Offers a name of len bytes for what was given, up to a '='. Edit distance with '-' and '_' alike,
 * neighbours that changed places counting one:
 * at most 2, and less than a third of the name in short ones. */
void rela_nearest_offer(rela_nearest *n, const char *given, const char *name, size_t len);

#endif
