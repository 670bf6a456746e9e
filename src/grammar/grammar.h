/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar.h - one sentence pair of the built-in corpus: simplified English and German.
 *
 * A pair is a pure function of (seed, number), so any of them can be made on any thread. */
#ifndef RELA_GRAMMAR_GRAMMAR_H
#define RELA_GRAMMAR_GRAMMAR_H

#include "base/str.h"
#include "grammar/grammar_plan.h"

typedef struct rela_link_pair {
    uint8_t from, to; /* words of the source and of the target line, from 0 */
    bool possible;    /* not sure */
} rela_link_pair;

enum { LINKS_MAX = WORDS_MAX * TAGS_MAX * 2 };

typedef struct rela_builtin_pair {
    rela_sentence_plan plan;
    bool reverse;        /* German to English; set before drawing */
    rela_phrase line[2]; /* source, target; the first word is not capitalised yet */
    rela_link_pair link[LINKS_MAX];
    int n_links; /* ordered by from, then to; no pair of words twice */
} rela_builtin_pair;

/* Starts the random stream of this number. */
void rela_builtin_pair_start(rela_builtin_pair *e, uint64_t seed, uint64_t number);
/* Samples a pair; each further call gives another one. */
void rela_builtin_pair_draw(rela_builtin_pair *e);

/* Appends the line as text with a capital at the start; if tokenised, with blanks between words and
 * punctuation, otherwise in normal spelling. */
rela_status rela_builtin_pair_text(rela_buffer *out, const rela_builtin_pair *e, int side,
                                   bool tokenised, rela_error *err);
/* Appends the part of speech of every word, separated by blanks. */
rela_status rela_builtin_pair_pos(rela_buffer *out, const rela_builtin_pair *e, int side,
                                  rela_error *err);
/* Appends the links as "i-j" (sure) and "i?j" (possible), separated by blanks. */
rela_status rela_builtin_pair_links(rela_buffer *out, const rela_builtin_pair *e, rela_error *err);

#endif
