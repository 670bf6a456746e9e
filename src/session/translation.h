/* SPDX-License-Identifier: MIT */
/* src/session/translation.h - translations as the caller keeps them. */
#ifndef RELA_SESSION_TRANSLATION_H
#define RELA_SESSION_TRANSLATION_H

#include "base/arena.h"
#include "session/session.h"

typedef struct rela_translation {
    rela_span text; /* NUL-terminated */
    double score, logp;
    const int32_t *ids; /* (n) the end symbol last unless it was cut off */
    const real *logps;  /* (n) */
    size_t n;
    const real *attention; /* (n, heads, source tokens) or NULL */
} rela_translation;

typedef struct rela_translated {
    rela_translation *best;
    size_t n_best;
    const int32_t *src; /* (n_src) the end symbol last */
    const uint32_t *src_words;
    size_t n_src;
    bool not_finite; /* there is one translation, which is empty */
    /* For a text of several sentences: the result of each, with its attention. Otherwise none. */
    const struct rela_translated *sentences;
    size_t n_sentences;
} rela_translated;

struct rela_result {
    const rela_model *model;
    rela_translated *items;
    size_t n;
    rela_arena **arenas; /* by thread; all that items point to */
    size_t n_arenas;
};

/* Room for n texts. */
rela_status rela_result_create(rela_result **out, const rela_model *m, size_t n, size_t n_arenas,
                               rela_error *err);
/* Sees to it that there is arena number i. */
rela_status rela_result_arena(rela_result *r, size_t i, rela_error *err);

#endif
