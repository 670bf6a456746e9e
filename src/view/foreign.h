/* SPDX-License-Identifier: MIT */
/* src/view/foreign.h - attention that other programs have written, as attention documents.
 *
 * All input is hostile: the readers take bytes in memory, check every size and position, and fail
 * with the place and the reason. One thread per object. */
#ifndef RELA_VIEW_FOREIGN_H
#define RELA_VIEW_FOREIGN_H

#include "base/textlines.h"
#include "rela/view.h"
#include "view/document.h"

enum { RELA_FOREIGN_TOKENS_MAX = 4096, RELA_FOREIGN_HEADS_MAX = 1 << 16 };

typedef struct rela_foreign_text {
    rela_buffer bytes; /* the pieces, each ended by NUL */
    const char **pieces;
    uint32_t *word_of;
    size_t n, cap_pieces, cap_words;
    bool has_end; /* the last piece is an end symbol */
} rela_foreign_text;

/* What the readers fill. All zero is empty. */
typedef struct rela_foreign {
    const rela_view_import *from;
    const char *name;               /* of the file, for messages */
    rela_text_lines src, tgt, gold; /* of from */
    rela_buffer json;
    rela_document_model model;
    size_t sentences; /* written */
    /* the sentence that is being read */
    rela_foreign_text texts[RELA_DOCUMENT_TEXTS];
    rela_document_rows rows[RELA_DOCUMENT_STACKS];
    rela_support support;
    double *logps;
    real *weights; /* of one head */
    size_t cap_logps, cap_weights;
} rela_foreign;

void rela_foreign_free(rela_foreign *f);

/* Readers of whole files; text is modified. */
rela_status rela_foreign_marian(rela_foreign *f, char *text, size_t len, rela_error *err);
rela_status rela_foreign_inseq(rela_foreign *f, char *text, size_t len, rela_error *err);
rela_status rela_foreign_dump(rela_foreign *f, const char *bytes, size_t len, rela_error *err);

/* For the readers: the limit of sentences has been reached. */
bool rela_foreign_full(const rela_foreign *f);
/* Begins the document: model must be set. */
rela_status rela_foreign_begin(rela_foreign *f, rela_error *err);
/* Empties the texts and rows of the last sentence. */
void rela_foreign_clear(rela_foreign *f);
rela_status rela_foreign_add_piece(rela_foreign_text *t, rela_span piece, rela_error *err);
/* After the last piece, which is an end symbol if has_end: finds the words. Pieces of BPE end in
 * "@@" if the word goes on, those of SentencePiece begin with U+2581 if it is new; otherwise each
 * is a word. */
rela_status rela_foreign_end_text(rela_foreign_text *t, bool has_end, rela_error *err);
/* The texts are complete: rows may be added, and those of cross attention to the first source be
 * given to support. logps: f->logps has log-probabilities. */
rela_status rela_foreign_start_rows(rela_foreign *f, bool logps, rela_error *err);
/* Room for n weights in f->weights. */
rela_status rela_foreign_room(rela_foreign *f, size_t n, rela_error *err);
/* Adds a head (n_q, n_k) in f->weights to a stack; heads come in order. */
rela_status rela_foreign_add_head(rela_foreign *f, size_t stack, size_t layer, size_t head,
                                  rela_error *err);
/* Writes the sentence. */
rela_status rela_foreign_add_sentence(rela_foreign *f, uint64_t line, bool logps, bool scored,
                                      double score, rela_error *err);

#endif
