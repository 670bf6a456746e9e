/* SPDX-License-Identifier: MIT */
/* src/text/counts.h - what the other parts of text may see of word counts. */
#ifndef RELA_TEXT_COUNTS_H
#define RELA_TEXT_COUNTS_H

#include "base/map.h"

#include "rela/vocab.h"

/* Highest count of one word and of all together: sums of pair frequencies stay far from the
 * limits of 64 bits. */
#define RELA_COUNT_MAX (INT64_C(1) << 40)

const rela_map *rela_word_counts_map(const rela_word_counts *c);
uint64_t rela_word_counts_of(const rela_word_counts *c, uint32_t number); /* number in the map */

#endif
