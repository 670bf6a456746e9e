/* SPDX-License-Identifier: MIT */
/* src/format/json_tree.h - trees of jansson that notice a lack of memory.
 *
 * jansson leaves out a value that it has no memory for, and calls a token that it has no memory for
 * an error of syntax. What is stored must not lack a part, and a good file is not a bad one. */
#ifndef RELA_FORMAT_JSON_TREE_H
#define RELA_FORMAT_JSON_TREE_H

#include "base/str.h"

#include <jansson.h>

/* RELA_FORMAT says what is wrong with the text; RELA_NOMEM. */
rela_status rela_json_tree_read(json_t **out, rela_span text, rela_error *err);

/* Takes value, NULL: no memory for it. If it cannot be added, *object is freed and set to NULL, and
 * further calls do nothing: whoever writes the tree in the end finds that there is none. */
void rela_json_tree_put(json_t **object, const char *key, json_t *value);

/* Appends a tree as text, whole or with RELA_NOMEM; tree NULL: there was no memory for it. flags:
 * of json_dumps, which itself leaves out what it has no memory for. */
rela_status rela_json_tree_append(rela_buffer *out, const json_t *tree, size_t flags,
                                  rela_error *err);

#endif
