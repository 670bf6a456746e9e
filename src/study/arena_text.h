/* SPDX-License-Identifier: MIT */
/* src/study/arena_text.h - texts and arrays in an arena; NULL when out of memory. */
#ifndef RELA_STUDY_ARENA_TEXT_H
#define RELA_STUDY_ARENA_TEXT_H

#include "base/arena.h"
#include "base/error.h"

const char *rela_arena_copy(rela_arena *a, const char *text, size_t len);
const char *rela_arena_printf(rela_arena *a, const char *format, ...) RELA_PRINTF(2, 3);
/* n elements of the given size, zeroed. */
void *rela_arena_array(rela_arena *a, size_t n, size_t size);

#endif
