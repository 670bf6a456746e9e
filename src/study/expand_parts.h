/* SPDX-License-Identifier: MIT */
/* src/study/expand_parts.h - makes jobs; for the expand_*.c only.
 *
 * A job is begun, gets inputs and words, and is kept by the list. After the first failure all
 * functions do nothing, so that callers check once, at the end. */
#ifndef RELA_STUDY_EXPAND_PARTS_H
#define RELA_STUDY_EXPAND_PARTS_H

#include "study/study_job.h"

#include "base/map.h"

enum { RELA_STUDY_INPUTS_MAX = 10000, RELA_STUDY_WORDS_MAX = 20000 };

typedef struct rela_study_making {
    rela_study *s;
    rela_study_job *jobs;
    size_t n, room;
    rela_map *names; /* number in it: number of the job */
    rela_status st;
    rela_error *err;
    /* Of the job that is being made. */
    rela_study_job job;
    rela_study_input *inputs;
    size_t inputs_room;
    rela_study_step *steps;
    size_t steps_room;
    const char **words;
    size_t n_words, words_room;
} rela_study_making;

/* Begins a job; name is printf-style. */
void rela_study_begin(rela_study_making *m, rela_study_kind kind, const char *format, ...)
    RELA_PRINTF(3, 4);
/* A file of the user; nothing if path is NULL. */
void rela_study_input_file(rela_study_making *m, const char *role, const char *path, size_t line);
/* An output of the job with this name, which must have been made. */
void rela_study_input_job(rela_study_making *m, const char *role, const char *job,
                          const char *output);
/* A text of a data entry: a file of the user, or of its corpus job. */
void rela_study_input_text(rela_study_making *m, const char *role, const rela_study_data *d,
                           const char *path, size_t line, bool generated);
/* Words of the current step, up to RELA_WORDS_END (NULL alone need not be a pointer there). */
#define RELA_WORDS_END ((const char *)NULL)
void rela_study_words(rela_study_making *m, ...) __attribute__((sentinel));
/* Options: --name value, --name or --no-name for true and false. */
void rela_study_words_of(rela_study_making *m, rela_study_settings settings);
/* Ends the step. */
void rela_study_end_step(rela_study_making *m);
/* Ends the job. If there is one of the same name already, it must be the same. Returns its number.
 * line: of the study, for messages. */
int rela_study_end(rela_study_making *m, size_t line);

/* The settings of layers, where a later one replaces what an earlier one says. */
rela_study_settings rela_study_layers(rela_study_making *m, const rela_study_settings *layers,
                                      size_t n);

/* The sections, in this order; order: of the next stage. */
void rela_study_expand_training(rela_study_making *m, size_t *order);
void rela_study_expand_analyses(rela_study_making *m, size_t *order);

#endif
