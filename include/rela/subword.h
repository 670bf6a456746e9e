/* SPDX-License-Identifier: MIT */
/* include/rela/subword.h - byte pair encoding, compatible with subword-nmt: same codes, same
 * segmentation, byte for byte.
 *
 * A rela_bpe is immutable and may be shared by any number of threads; each thread needs its own
 * scratch object. */
#ifndef RELA_SUBWORD_H
#define RELA_SUBWORD_H

#include "rela/rela.h"
#include "rela/vocab.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rela_bpe rela_bpe;                 /* codes: read-only, shareable */
typedef struct rela_bpe_scratch rela_bpe_scratch; /* cache and workspace: one thread at a time */

/* ---- learning ---- */

/* Fill with rela_bpe_learn_options_init, then change what is needed. Defaults are after the colon.
 */
typedef struct rela_bpe_learn_options {
    size_t struct_size;
    uint64_t n_symbols;     /* merges to learn: 10,000 */
    uint64_t min_frequency; /* stop when no pair is at least this frequent: 2 */
    bool total_symbols;     /* subtract the number of characters from n_symbols: false */
    /* Called from time to time; a return value other than 0 stops with RELA_CANCEL. May be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
} rela_bpe_learn_options;

typedef struct rela_bpe_learn_report {
    size_t struct_size; /* set by the caller */
    uint64_t n_merges;
    uint64_t n_inner; /* distinct characters inside words */
    uint64_t n_final; /* distinct characters at the end of words */
    int exhausted;    /* stopped because no pair was frequent enough */
    char reserved[4]; /* leave it 0 */
} rela_bpe_learn_report;

RELA_API void rela_bpe_learn_options_init(rela_bpe_learn_options *o, size_t size);

/* Appends the codes, in format version 0.2, to out. o and report may be NULL. */
RELA_API rela_status rela_bpe_learn(rela_buffer *out, rela_bpe_learn_report *report,
                                    const rela_word_counts *counts, const rela_bpe_learn_options *o,
                                    rela_error *err);

/* ---- applying ---- */

/* Fill with rela_bpe_options_init, then change what is needed. rela_bpe_parse and rela_bpe_load
 * copy everything. Defaults are after the colon. */
typedef struct rela_bpe_options {
    size_t struct_size;
    int64_t merges;        /* how many merges to use, from the first; -1, the default: all */
    const char *separator; /* marks a piece that is not the last of its word: "@@" */
    const rela_word_counts *vocabulary; /* NULL, or the pieces that may be produced; others are
                                         * split again, undoing their merges */
    uint64_t vocabulary_threshold;      /* minimum count of a piece in vocabulary: 0 */
    const char *const *glossaries;      /* PCRE2 regular expressions; matches are not split */
    size_t n_glossaries;
    double dropout; /* BPE-dropout: probability of skipping a merge: 0 */
    uint64_t seed;  /* of the dropout: 1 */
} rela_bpe_options;

/* One piece of a line, with the separator unless it ends its word. */
typedef struct rela_piece {
    const char *text; /* not NUL-terminated */
    size_t len;
} rela_piece;

RELA_API void rela_bpe_options_init(rela_bpe_options *o, size_t size);

/* Reads codes of version 0.1 or 0.2; anything else is RELA_FORMAT with the line number. name is
 * used in messages as the name of the text. o may be NULL: defaults. */
RELA_API rela_status rela_bpe_parse(rela_bpe **out, const char *name, const char *codes, size_t len,
                                    const rela_bpe_options *o, rela_error *err);
RELA_API rela_status rela_bpe_load(rela_bpe **out, const char *path, const rela_bpe_options *o,
                                   rela_error *err);
RELA_API void rela_bpe_free(rela_bpe *b); /* NULL is fine */

RELA_API size_t rela_bpe_n_merges(const rela_bpe *b);

/* A scratch object works with the codes it was created for, which must outlive it. */
RELA_API rela_status rela_bpe_scratch_create(rela_bpe_scratch **out, const rela_bpe *b,
                                             rela_error *err);
RELA_API void rela_bpe_scratch_destroy(rela_bpe_scratch *s); /* NULL is fine */

/* Appends the segmented line to out. Blanks at both ends are kept; runs of them between words
 * become one. Bytes that are not UTF-8 are replaced by U+FFFD. number: any number that identifies
 * the line, such as its line number; dropout depends on it, the seed and the position in the line,
 * not on the order of calls. */
RELA_API rela_status rela_bpe_apply(rela_buffer *out, rela_bpe_scratch *s, const char *line,
                                    size_t len, uint64_t number, rela_error *err);

/* The same, but as an array of pieces, lent until the next call with this scratch object. */
RELA_API rela_status rela_bpe_pieces(const rela_piece **pieces, size_t *n, rela_bpe_scratch *s,
                                     const char *line, size_t len, uint64_t number,
                                     rela_error *err);

/* Number of invalid UTF-8 sequences replaced so far. */
RELA_API uint64_t rela_bpe_n_replaced(const rela_bpe_scratch *s);

/* Joins the pieces again: appends the line without each separator followed by a space, and without
 * a separator at its end. */
RELA_API rela_status rela_bpe_undo(rela_buffer *out, const char *separator, const char *line,
                                   size_t len, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
