/* SPDX-License-Identifier: MIT */
/* src/text/counts.h - access to word counts for the rest of src/text. */
#ifndef RELA_TEXT_COUNTS_H
#define RELA_TEXT_COUNTS_H

#include "base/map.h"

#include "rela/vocab.h"

/* Limit on the count of one word and on the sum of all counts, so that sums of pair frequencies
 * stay far below the limits of 64 bits. */
#define RELA_COUNT_MAX (INT64_C(1) << 40)

const rela_map *rela_word_counts_map(const rela_word_counts *c);
uint64_t rela_word_counts_of(const rela_word_counts *c, uint32_t number); /* id in the map */

#endif
