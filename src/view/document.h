/* SPDX-License-Identifier: MIT */
/* src/view/document.h - writes attention documents (docs/viewer.md): the only file that knows their
 * form. One thread at a time per object. */
#ifndef RELA_VIEW_DOCUMENT_H
#define RELA_VIEW_DOCUMENT_H

#include "base/str.h"
#include "rela/metric.h"
#include "session/support.h"

enum { RELA_DOCUMENT_VERSION = 1, RELA_DOCUMENT_STACKS = 9, RELA_DOCUMENT_TEXTS = 5 };

/* One attention sublayer across all layers. */
typedef struct rela_document_stack {
    const char *key, *label, *kind; /* kind may be NULL */
    size_t queries, keys;           /* numbers of texts; the target is the last */
    size_t layers, heads;
    bool causal;
} rela_document_stack;

typedef struct rela_document_model {
    const char *name, *description;
    const char *languages[RELA_DOCUMENT_TEXTS]; /* of the texts; "" or NULL: not known */
    size_t n_texts;
    rela_document_stack stacks[RELA_DOCUMENT_STACKS];
    size_t n_stacks;
} rela_document_model;

/* The tokens of a text, its end symbol included; word_of counts those before it. */
typedef struct rela_document_text {
    const char *const *pieces;
    size_t n;
    rela_word_map map;
} rela_document_text;

/* What an output has besides its attention. */
typedef struct rela_document_output {
    size_t model;
    const char *label;                             /* may be NULL */
    rela_document_text texts[RELA_DOCUMENT_TEXTS]; /* n_texts of the model */
    const double *logps;                           /* (tokens of the target) or NULL */
    bool scored;
    double score;
    const rela_support *support; /* after rela_support_find; NULL: none */
    /* Log-probabilities without one source word, (source words) for each source but the target, and
     * with one head of the cross attention to the first source silenced (layers, heads); NULL. */
    const double *dropped[RELA_DOCUMENT_TEXTS];
    const double *silenced;
    size_t silenced_layers, silenced_heads;
} rela_document_output;

/* Rows of weights, packed: for each row a bit for each key that can be seen, the lowest first, then
 * a half-precision number, little endian, for each bit that is set. */
typedef struct rela_document_rows {
    rela_buffer bytes;
} rela_document_rows;

/* Appends a row of weights; those that are not zero stay so, and none becomes infinite. */
rela_status rela_document_add_row(rela_document_rows *rows, const real *row, size_t n,
                                  rela_error *err);
uint16_t rela_document_half(float x);

rela_status rela_document_begin(rela_buffer *out, const char *title,
                                const rela_document_model *models, size_t n, rela_error *err);
/* line: from 1. gold may be NULL. Outputs follow, then _sentence_end. */
rela_status rela_document_sentence(rela_buffer *out, bool first, uint64_t line,
                                   const rela_links *gold, rela_error *err);
/* rows: those of each stack of the model. */
rela_status rela_document_add_output(rela_buffer *out, bool first, const rela_document_model *m,
                                     const rela_document_output *o, const rela_document_rows *rows,
                                     rela_error *err);
rela_status rela_document_sentence_end(rela_buffer *out, rela_error *err);
rela_status rela_document_end(rela_buffer *out, rela_error *err);

#endif
