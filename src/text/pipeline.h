/* SPDX-License-Identifier: MIT */
/* src/text/pipeline.h - the text pipeline of a model: from raw text to token ids and back.
 *
 * Per side: normalise punctuation, tokenise, lower-case (each optional), then BPE with joint codes
 * (optional), then the vocabulary. Back: undo BPE, detokenise. The sides are the sources, which
 * share a vocabulary, followed by the target. Immutable once made, so any number of threads may
 * share it; each needs its own scratch object. */
#ifndef RELA_TEXT_PIPELINE_H
#define RELA_TEXT_PIPELINE_H

#include "base/stop.h"
#include "base/str.h"
#include "rela/subword.h"
#include "text/language.h"

#include <stdbool.h>

enum {
    RELA_PIPELINE_SIDES_MAX = RELA_SOURCES_MAX + 1,
    RELA_PIPELINE_VOCABS = 2,
    RELA_PIPELINE_BITS = 4 /* of a digit of rela_pipeline_parts.source */
};

typedef struct rela_pipeline_side {
    char language[RELA_LANGUAGE_SIZE]; /* "en"; selects rules; "": not known */
    bool normalise;                    /* punctuation, as normalise-punctuation does */
    bool tokenise;                     /* Moses conventions, without escaping */
    bool lowercase;
} rela_pipeline_side;

/* What a pipeline is made of. Empty codes: words are the tokens. */
typedef struct rela_pipeline_parts {
    size_t n_sides; /* 0: two, a source and the target */
    rela_pipeline_side side[RELA_PIPELINE_SIDES_MAX];
    rela_span codes;                       /* BPE, version 0.2 */
    rela_span vocab[RELA_PIPELINE_VOCABS]; /* of sources and target, one token per line; target
                                            * NULL: shared */
    /* Of a joint vocabulary: the tokens that belong to text of the sources, a bit each, in
     * hexadecimal digits, the lowest bit first. Empty: not known. */
    rela_span source;
} rela_pipeline_parts;

typedef struct rela_pipeline rela_pipeline;
typedef struct rela_pipeline_scratch rela_pipeline_scratch;

/* Everything is copied. */
rela_status rela_pipeline_create(rela_pipeline **out, const rela_pipeline_parts *parts,
                                 rela_error *err);
void rela_pipeline_destroy(rela_pipeline *p); /* NULL is fine */

size_t rela_pipeline_target(const rela_pipeline *p); /* the last side */
const rela_vocab *rela_pipeline_vocab(const rela_pipeline *p, size_t side);
/* Whether text of the sources normally has that token: it is not <unk>, nor one that is ten times
 * as frequent in the target, as far as that is known. */
bool rela_pipeline_is_source(const rela_pipeline *p, int32_t id);
/* What it was made of, for saving; lent. */
const rela_pipeline_parts *rela_pipeline_parts_of(const rela_pipeline *p);

rela_status rela_pipeline_scratch_create(rela_pipeline_scratch **out, const rela_pipeline *p,
                                         rela_error *err);
void rela_pipeline_scratch_destroy(rela_pipeline_scratch *s); /* NULL is fine */

/* ---- BPE dropout: random segmentation, for training ---- */

/* The codes of p with dropout, for any number of scratch objects. *out is NULL if p has none. */
rela_status rela_pipeline_sampled(rela_bpe **out, const rela_pipeline *p, double dropout,
                                  uint64_t seed, rela_error *err);

/* A scratch that segments lines with sampled, which must outlive it; NULL: with the codes of p. */
rela_status rela_pipeline_scratch_create_sampled(rela_pipeline_scratch **out,
                                                 const rela_pipeline *p, const rela_bpe *sampled,
                                                 rela_error *err);

/* Sets the line number: what is sampled for the next lines depends on the seed and it alone. */
void rela_pipeline_scratch_number(rela_pipeline_scratch *s, uint64_t number);

/* ---- encoding and decoding ---- */

/* Token ids of a line, without EOS; lent until the next call. */
rela_status rela_pipeline_encode(const int32_t **ids, size_t *n, rela_pipeline_scratch *s,
                                 size_t side, const char *text, size_t len, rela_error *err);

/* Index, from 0, of the word of each token of the last encoded line; lent until the next encode. */
const uint32_t *rela_pipeline_words(const rela_pipeline_scratch *s);

/* Appends the text of target-side token ids, without special tokens except <unk>. instead: NULL, or
 * n spans, of which those with a text replace their tokens. */
rela_status rela_pipeline_decode(rela_buffer *out, rela_pipeline_scratch *s, const int32_t *ids,
                                 const rela_span *instead, size_t n, rela_error *err);

/* True if a token of the vocabulary is not the last of its word. */
bool rela_piece_continues(const char *piece, size_t len);

/* Appends the subwords of a line, separated by blanks, as encode looks them up. */
rela_status rela_pipeline_pieces(rela_buffer *out, rela_pipeline_scratch *s, size_t side,
                                 const char *text, size_t len, rela_error *err);

/* ---- learning ---- */

/* A training file. */
typedef struct rela_pipeline_text {
    const char *path;
    size_t side, column, n_columns; /* n_columns > 1: one column of a tab-separated file */
} rela_pipeline_text;

typedef struct rela_pipeline_recipe {
    size_t n_sides;
    rela_pipeline_side side[RELA_PIPELINE_SIDES_MAX];
    const rela_pipeline_text *texts;
    size_t n_texts;
    size_t max_line;    /* bytes; longer lines are ignored; 0: RELA_LINE_MAX */
    uint64_t merges;    /* 0: no BPE */
    rela_span codes;    /* to be used as they are; empty: learn them */
    size_t vocab_size;  /* limit, special tokens included; 0: none */
    uint64_t vocab_min; /* minimum frequency of a token */
    bool joint_vocab;   /* one vocabulary for both sides */
    double dropout;     /* above 0: the vocabulary also has the pieces of sampled segmentations */
    uint64_t seed;      /* of these samples */
    int n_threads;
    rela_stop stop; /* asked between blocks of text and while BPE is learned: RELA_CANCEL */
} rela_pipeline_recipe;

/* Learns codes and vocabularies from the training text. */
rela_status rela_pipeline_learn(rela_pipeline **out, const rela_pipeline_recipe *r,
                                rela_error *err);

#endif
