/* SPDX-License-Identifier: MIT */
/* src/view/worth.h - what a source word and a head are worth: the log-probability of a target
 * without them. One object per thread. */
#ifndef RELA_VIEW_WORTH_H
#define RELA_VIEW_WORTH_H

#include "session/watch.h"

/* All zero is empty. */
typedef struct rela_worth {
    double *dropped[RELA_SOURCES_MAX]; /* (words of the source) */
    double *silenced;                  /* (layers, heads); NULL: no such parameters */
    size_t caps[RELA_SOURCES_MAX], cap_silenced;
    /* private */
    rela_net net; /* a copy, whose values of one head at a time are zero */
    rela_watcher *reader;
} rela_worth;

/* Room for a copy of the weights. */
rela_status rela_worth_init(rela_worth *w, const rela_net *net, const rela_pipeline *p,
                            rela_error *err);
void rela_worth_deinit(rela_worth *w);

/* Fills dropped and silenced. pair: the texts; seen: that pair, as a watcher has loaded it, by
 * which words are counted. A source word is left out of the text before it is cut into subwords;
 * without its only word a source is empty, and the result not a number. */
rela_status rela_worth_find(rela_worth *w, const rela_text_pair *pair, const rela_watched *seen,
                            rela_error *err);

#endif
