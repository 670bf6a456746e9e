/* SPDX-License-Identifier: MIT */
/* src/nn/attn/spec.h - which kinds of attention the layers and heads of one place have, as text:
 *
 *   place  = layers { "," layers }                       rela-g
 *   layers = [ range "=" ] heads                         1-2=local:window=4,3-6=rela-g
 *   heads  = group { "+" group }                         6xrela-g+2xlocal:window=4
 *   group  = [ count "x" ] kind { ":" name "=" value }   entmax:alpha=1.3
 *
 * Layers are counted from 1. An entry without a range is for all layers that no range names, and a
 * group without a count has the heads that the others leave. The same text is used by options,
 * YAML, model files, the C and the Python interface. */
#ifndef RELA_NN_ATTN_SPEC_H
#define RELA_NN_ATTN_SPEC_H

#include "base/error.h"
#include "nn/attn/kind.h"

enum {
    RELA_GROUPS_MAX = 8,       /* groups of heads of a layer */
    RELA_ATTN_SPEC_MAX = 256,  /* bytes of a text */
    RELA_ATTN_RANGES_MAX = 24, /* ranges of layers */
};

/* The text in its shortest form: equal texts mean equal attention. */
typedef struct rela_attn_spec {
    char text[RELA_ATTN_SPEC_MAX];
} rela_attn_spec;

/* Neighbouring heads of one kind. */
typedef struct rela_attn_group {
    const rela_attn_kind *kind;
    real numbers[RELA_ATTN_NUMBERS_MAX];
    size_t first, heads;
} rela_attn_group;

/* RELA_ARG says where the text is wrong. */
rela_status rela_attn_spec_parse(rela_attn_spec *out, const char *text, rela_error *err);
/* Checks that it names every layer once and fits the number of heads. */
rela_status rela_attn_spec_check(const rela_attn_spec *s, size_t layers, size_t heads,
                                 rela_error *err);
/* Drops what is redundant for this number of layers and heads. */
rela_status rela_attn_spec_shorten(rela_attn_spec *s, size_t layers, size_t heads, rela_error *err);
/* The groups of a layer (from 0) of a text that passed the check; returns how many. */
size_t rela_attn_spec_groups(rela_attn_group groups[RELA_GROUPS_MAX], const rela_attn_spec *s,
                             size_t layer, size_t heads);
/* Sets the hyper-parameter of that alias in every group whose kind has it and whose text does not
 * set it. */
rela_status rela_attn_spec_alias(rela_attn_spec *s, const char *alias, double value,
                                 rela_error *err);

/* The default hyper-parameters of a kind. */
void rela_attn_numbers_start(real numbers[RELA_ATTN_NUMBERS_MAX], const rela_attn_kind *kind);
/* A hyper-parameter of that alias; NULL: none. */
const rela_attn_number *rela_attn_alias_find(const char *alias, size_t len);

#endif
