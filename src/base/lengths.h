/* SPDX-License-Identifier: MIT */
/* src/base/lengths.h - the order in which sentences are put into batches: neighbours in length
 * share one, and the longest come first, so that no thread is left alone with them at the end. */
#ifndef RELA_BASE_LENGTHS_H
#define RELA_BASE_LENGTHS_H

#include <stddef.h>

typedef struct rela_length {
    size_t length;
    size_t at; /* place in the input */
} rela_length;

/* Longest first; equal lengths in the order of the input. */
void rela_lengths_sort(rela_length *x, size_t n);

#endif
