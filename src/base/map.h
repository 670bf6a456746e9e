/* SPDX-License-Identifier: MIT */
/* src/base/map.h - hash map from byte strings to dense numbers 0, 1, 2 ... in order of insertion.
 *
 * The caller keeps values in its own arrays, indexed by the number. Keys are copied and may hold
 * any bytes. Several threads may read while none adds. */
#ifndef RELA_BASE_MAP_H
#define RELA_BASE_MAP_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rela_map rela_map;

enum { RELA_MAP_NONE = UINT32_MAX };

rela_map *rela_map_create(size_t expected); /* NULL when out of memory */
void rela_map_destroy(rela_map *m);         /* NULL is fine */

/* The number of the key, which is added if it is new (then the number equals the old size).
 * RELA_MAP_NONE when out of memory or full. */
uint32_t rela_map_add(rela_map *m, const char *key, size_t len);
uint32_t rela_map_find(const rela_map *m, const char *key, size_t len); /* RELA_MAP_NONE: absent */

/* The same with a precomputed hash (rela_map_hash of the same bytes). */
uint64_t rela_map_hash(const char *key, size_t len);
uint32_t rela_map_add_hashed(rela_map *m, const char *key, size_t len, uint64_t hash);
uint32_t rela_map_find_hashed(const rela_map *m, const char *key, size_t len, uint64_t hash);

size_t rela_map_size(const rela_map *m);
rela_span rela_map_key(const rela_map *m, uint32_t number); /* lent; number < size */

#endif
