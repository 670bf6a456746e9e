/* SPDX-License-Identifier: MIT */
/* src/study/tree_values.h - replaces ${name} in a tree that was just read; for tree.c only. */
#ifndef RELA_STUDY_TREE_VALUES_H
#define RELA_STUDY_TREE_VALUES_H

#include "study/tree.h"

rela_status rela_tree_set_values(rela_tree *tree, rela_arena *arena, rela_tree_sets sets,
                                 rela_error *err);

#endif
