/* SPDX-License-Identifier: MIT */
/* src/base/lengths.h - the order in which sentences are batched: sentences of similar length share
 * a batch, and the longest come first, so that no thread is left alone with them at the end. */
#ifndef RELA_BASE_LENGTHS_H
#define RELA_BASE_LENGTHS_H

#include <stddef.h>

typedef struct rela_length {
    size_t length;
    size_t at; /* index in the input */
} rela_length;

/* Longest first; equal lengths in input order. */
void rela_lengths_sort(rela_length *x, size_t n);

#endif
