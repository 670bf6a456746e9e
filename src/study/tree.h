/* SPDX-License-Identifier: MIT */
/* src/study/tree.h - YAML as a tree of maps, lists and texts that know their lines.
 *
 * Strict: one document, no anchors, aliases or tags, no key twice, at most TREE_DEPTH levels. A
 * tree lives in the arena it was read into, and is never changed afterwards. */
#ifndef RELA_STUDY_TREE_H
#define RELA_STUDY_TREE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum rela_tree_kind { RELA_TREE_TEXT, RELA_TREE_LIST, RELA_TREE_MAP } rela_tree_kind;

typedef struct rela_tree rela_tree;
struct rela_tree {
    rela_tree_kind kind;
    const char *text;  /* of a TEXT, with ${name} replaced; otherwise "" */
    size_t line;       /* from 1 */
    const char *path;  /* of the file, for messages */
    size_t n;          /* items of a list or map */
    const char **keys; /* of a map */
    size_t *key_lines;
    const rela_tree **items;
};

/* One "NAME=VALUE" each; they win over `set:` of the file, which wins over the environment. */
typedef struct rela_tree_sets {
    const char *const *items;
    size_t n;
} rela_tree_sets;

/* Reads a file and replaces ${name}. RELA_FORMAT with "FILE: line N: reason". */
rela_status rela_tree_read(const rela_tree **out, rela_arena *arena, const char *path,
                           rela_tree_sets sets, rela_error *err);
/* The same for text in memory; path is for messages. */
rela_status rela_tree_parse(const rela_tree **out, rela_arena *arena, const char *text, size_t len,
                            const char *path, rela_tree_sets sets, rela_error *err);

/* Values of `scales:` may be missing, as only one of them is chosen: fails for a ${name} that is
 * left. skip: a key at the top that is not looked at. */
rela_status rela_tree_check_values(const rela_tree *tree, const char *skip, rela_error *err);

/* over merged into base: maps key by key, everything else replaces. NULL when out of memory. */
const rela_tree *rela_tree_merge(rela_arena *arena, const rela_tree *base, const rela_tree *over);

/* The value of a key; NULL if the tree is NULL, no map, or has no such key. */
const rela_tree *rela_tree_get(const rela_tree *map, const char *key);
/* Its text; NULL if there is none or it is a list or map. */
const char *rela_tree_text(const rela_tree *map, const char *key);

/* RELA_FORMAT with "FILE: line N: " before the message. */
rela_status rela_tree_fail(const rela_tree *at, rela_error *err, const char *format, ...)
    RELA_PRINTF(3, 4);
/* Fails if the tree is not of this kind; what names it: "expected WHAT". */
rela_status rela_tree_expect(const rela_tree *at, rela_tree_kind kind, const char *what,
                             rela_error *err);
/* Fails with the nearest known key if the map has one that is not among known (NULL ends them).
 * what names the map: "models". */
rela_status rela_tree_check_keys(const rela_tree *map, const char *const *known, const char *what,
                                 rela_error *err);

#endif
