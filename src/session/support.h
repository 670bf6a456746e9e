/* SPDX-License-Identifier: MIT */
/* src/session/support.h - which words of a pair its cross attention does not support: source words
 * that may be missing from the target, target words that may be made up.
 *
 * A target word is doubtful if the model gave it less than RELA_SUPPORT_LEAST of the probability:
 * what its heads looked at in that row is what the model would rather have translated. If that
 * source word gets most of its attention in such rows, it may be missing; otherwise the target word
 * may be made up. Without probabilities (attention of other tools) only what is certain counts: a
 * source word that gets hardly any attention, a target word for which all heads that look at
 * something elsewhere look at nothing. One object per thread. */
#ifndef RELA_SESSION_SUPPORT_H
#define RELA_SESSION_SUPPORT_H

#include "base/str.h"
#include "session/word_map.h"

#include <stdbool.h>

/* A pair to look at. Texts have an end symbol, which the maps do not count. */
typedef struct rela_support_pair {
    size_t n_q, n_k; /* tokens of the target and of the source, ends included */
    rela_word_map tgt, src;
    const double *logps;  /* (n_q) log-probabilities of the target tokens; NULL: not known */
    size_t layers, heads; /* of the cross attention */
} rela_support_pair;

enum { RELA_SUPPORT_DOUBTS = 3, RELA_SUPPORT_HEADS = 4 };

/* A head of the cross attention; both numbers from 0. */
typedef struct rela_support_head {
    size_t layer, head;
} rela_support_head;

/* What is not supported; words from 0, RELA_NO_LINK: none. */
typedef struct rela_doubt {
    uint32_t src, tgt;
    bool missing;       /* the source word may be missing; otherwise the target word made up */
    bool either;        /* missing, and it cannot be told from a target word made up */
    double probability; /* of the target word; 1 if it is not known */
    rela_support_head by[RELA_SUPPORT_HEADS]; /* the heads that say so, strongest first */
    size_t n_heads, more_heads;               /* those listed, and how many more there are */
} rela_doubt;

/* All zero is empty. */
typedef struct rela_support {
    rela_support_pair pair;
    /* Each row of each head spreads one unit over its keys in proportion to its weights. */
    double *look;  /* (n_q, source words): sum over the heads */
    double *most;  /* (heads of all layers, n_q): largest share of a source word */
    uint32_t *top; /* (heads of all layers, n_q): that word; RELA_NO_LINK: the row is null */
    bool *null;    /* (heads of all layers, n_q) */
    size_t caps[4];
    double null_rate; /* share of rows that are null */
    rela_doubt doubts[RELA_SUPPORT_DOUBTS];
    size_t n; /* doubts */
} rela_support;

void rela_support_free(rela_support *s);

/* Begins a pair; its arrays are lent until the doubts have been found. */
rela_status rela_support_start(rela_support *s, const rela_support_pair *pair, rela_error *err);
/* Weights (n_q, n_k) of a head; all heads must be given. */
void rela_support_add(rela_support *s, size_t layer, size_t head, const real *w);
/* Fills doubts and null_rate. */
void rela_support_find(rela_support *s);

/* Appends one sentence for people that names the words and the heads; nothing if there is no doubt.
 * Words as rela_span, without the end symbol. */
rela_status rela_support_say(rela_buffer *out, const rela_support *s, const rela_span *src,
                             const rela_span *tgt, rela_error *err);

#endif
