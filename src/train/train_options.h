/* SPDX-License-Identifier: MIT */
/* src/train/train_options.h - checks of rela_train_options, and what is made of them. */
#ifndef RELA_TRAIN_TRAIN_OPTIONS_H
#define RELA_TRAIN_TRAIN_OPTIONS_H

#include "model/config.h"
#include "rela/train.h"
#include "train/loop.h"
#include "train/train_settings.h"

/* Texts that options refer to and that have no other owner. */
typedef struct rela_train_own {
    char attention[RELA_ATTN_N_TYPES][RELA_ATTN_SPEC_MAX], same[RELA_ATTN_SPEC_MAX];
} rela_train_own;

/* Copies the members that the caller's version of the struct has, and fills in the rest from the
 * model to start from and the preset. own must outlive out. RELA_ARG if a value or file is missing
 * or invalid. */
rela_status rela_train_resolve(rela_train_options *out, rela_train_own *own,
                               const rela_train_options *in, rela_error *err);

/* The model of a preset for translation, with one source and without vocabulary sizes. */
rela_status rela_train_preset_config(rela_config *c, const char *preset, rela_error *err);
/* The model, without vocabulary sizes. o is resolved. */
rela_status rela_train_config(rela_config *c, const rela_train_options *o, rela_error *err);

/* The files of a text; NULL: the model has no such source. */
typedef struct rela_train_files {
    const char *src[RELA_SOURCES_MAX];
    const char *tgt;
} rela_train_files;

/* Training texts: number 0 and o->n_more others. */
rela_train_files rela_train_text_at(const rela_train_options *o, size_t i);
rela_train_files rela_train_valid_text(const rela_train_options *o);
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

enum { RELA_UPDATES_ANY = 1000000000 }; /* as many as the time allows */

/* Chooses preset and time if they are not set: those of the run that is there, otherwise by the
 * size of the training text. */
rela_status rela_train_default(rela_train_options *o, rela_error *err);

/* What is not set is taken from the model o->init, or if the run is there already from it. */
rela_status rela_train_take_init(rela_train_options *o, rela_train_own *own, rela_error *err);
/* Makes rate, warm-up and length of the preset fit for a model that has learned, unless they were
 * given. */
void rela_train_tune(rela_train_options *o, const rela_train_options *given);

/* Lines of the training text that a new run holds out at most; o->hold_out < 0: not chosen. */
int64_t rela_train_hold_out(const rela_train_options *o);

rela_status rela_train_loop_options(rela_loop_options *l, const rela_train_options *o,
                                    rela_error *err);
rela_update_options rela_train_step_options(const rela_train_options *o);

#endif
