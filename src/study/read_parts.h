/* SPDX-License-Identifier: MIT */
/* src/study/read_parts.h - the sections of a study, for read_study.c only.
 *
 * A section that is missing leaves its part of the study empty. */
#ifndef RELA_STUDY_READ_PARTS_H
#define RELA_STUDY_READ_PARTS_H

#include "study/study.h"

rela_status rela_study_read_data(rela_study *s, rela_error *err);
rela_status rela_study_read_tuning(rela_study *s, rela_error *err);
rela_status rela_study_read_rows(rela_study *s, rela_error *err);
rela_status rela_study_read_analyses(rela_study *s, rela_error *err);
rela_status rela_study_read_plan(rela_study *s, rela_error *err);

/* Values of the kinds that studies have. at NULL leaves the output as it is. */
rela_status rela_study_take_text(const char **out, const rela_tree *map, const char *key,
                                 rela_error *err);
rela_status rela_study_take_whole(int64_t *out, const rela_tree *at, int64_t least,
                                  rela_error *err);
rela_status rela_study_take_flag(bool *out, const rela_tree *at, rela_error *err);
/* A value stands for a list of one. */
rela_status rela_study_take_names(rela_study_names *out, rela_study *s, const rela_tree *at,
                                  rela_error *err);
rela_status rela_study_take_seeds(const int64_t **out, size_t *n, rela_study *s,
                                  const rela_tree *at, rela_error *err);
/* Options, appended to those in *out; a list repeats its option. skip: keys that are none (NULL
 * ends them); may be NULL. */
rela_status rela_study_take_settings(rela_study_settings *out, rela_study *s, const rela_tree *at,
                                     const char *const *skip, rela_error *err);
/* Letters, digits and . _ + - only, as names become names of files. */
rela_status rela_study_check_name(const char *name, const rela_tree *at, rela_error *err);
/* Models by name; "all" or no list: all of the study. */
rela_status rela_study_take_models(rela_study_names *out, rela_study *s, const rela_tree *at,
                                   rela_error *err);
/* RELA_FORMAT with the nearest name if there is no data of this name. */
rela_status rela_study_need_data(const rela_study *s, const char *name, const rela_tree *at,
                                 rela_error *err);
rela_status rela_study_no_memory(const rela_study *s, rela_error *err);

#endif
