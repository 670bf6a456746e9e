/* SPDX-License-Identifier: MIT */
/* src/train/train_options.h - presets and checks of rela_train_options. */
#ifndef RELA_TRAIN_TRAIN_OPTIONS_H
#define RELA_TRAIN_TRAIN_OPTIONS_H

#include "model/config.h"
#include "rela/train.h"
#include "train/loop.h"

#define RELA_PRESET_ALIGN "align" /* makes a model for alignment */

/* Copies the members that the caller's version of the struct has, and fills in the rest from the
 * preset. RELA_ARG if a value or file is missing or invalid. */
rela_status rela_train_resolve(rela_train_options *out, const rela_train_options *in,
                               rela_error *err);

/* Index of a value among n words; RELA_ARG, listing them, if it is none of them. */
rela_status rela_train_one_of(size_t *which, const char *name, const char *value,
                              const char *const *words, size_t n, rela_error *err);

/* The model, without vocabulary sizes. o is resolved. */
rela_status rela_train_config(rela_config *c, const rela_train_options *o, rela_error *err);

/* Training texts: number 0 and o->n_more others. */
rela_train_text rela_train_text_at(const rela_train_options *o, size_t i);
rela_train_text rela_train_valid_text(const rela_train_options *o);
size_t rela_train_sources(const rela_train_options *o);
static inline rela_stop rela_train_stop(const rela_train_options *o)
{
    return (rela_stop){ o->stop, o->stop_ctx };
}

/* Languages as codes; RELA_ARG if one is not known. */
rela_status rela_train_check_languages(rela_train_options *o, rela_error *err);
/* Takes those that are not given from the names of the files; RELA_ARG if the text has to be
 * tokenised or normalised and one is still not known. */
rela_status rela_train_find_languages(rela_train_options *o, rela_error *err);
const char *rela_train_language(const rela_train_options *o, size_t source); /* NULL: not known */
void rela_train_languages_text(char *out, size_t size, const rela_train_options *o);

/* Lines of the training text that a new run holds out at most; o->hold_out < 0: not chosen. */
int64_t rela_train_hold_out(const rela_train_options *o);

rela_status rela_train_loop_options(rela_loop_options *l, const rela_train_options *o,
                                    rela_error *err);
rela_step_options rela_train_step_options(const rela_train_options *o);

/* All settings as YAML, which --config reads back. */
rela_status rela_train_options_dump(rela_buffer *out, const rela_train_options *o, rela_error *err);

#endif
