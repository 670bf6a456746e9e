/* SPDX-License-Identifier: MIT */
/* include/rela/vocab.h - word counts and the vocabulary of a model.
 *
 * Word counts are used to learn subwords (subword.h) and to build vocabularies. A vocabulary maps
 * tokens to ids: three special tokens, then the tokens of the text by descending frequency. It is
 * immutable, so any number of threads may read it. */
#ifndef RELA_VOCAB_H
#define RELA_VOCAB_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rela_word_counts rela_word_counts; /* one thread at a time */
typedef struct rela_vocab rela_vocab;

/* The ids of the special tokens `<pad>`, `<unk>` and `<eos>`, and the one that means "not found".
 */
enum { RELA_VOCAB_PAD, RELA_VOCAB_UNK, RELA_VOCAB_EOS, RELA_VOCAB_N_SPECIAL, RELA_VOCAB_NONE = -1 };

/* Limits of a vocabulary: bytes of a token, number of tokens. */
enum { RELA_VOCAB_TOKEN_MAX = 1024, RELA_VOCAB_SIZE_MAX = 1 << 24 };

/* What was seen while counting. */
typedef struct rela_word_stats {
    size_t struct_size; /* set by the caller */
    uint64_t n_lines;
    uint64_t n_words;  /* running words */
    uint64_t n_types;  /* distinct words */
    uint64_t n_bad;    /* lines that are not UTF-8; their words are not counted */
    uint64_t bad_line; /* the first of them */
    uint64_t n_long;   /* running words of more than RELA_WORD_LONG characters */
    uint64_t longest;  /* characters of the longest word */
    uint64_t longest_line;
    const char *bad_encoding; /* what bad_line may be, "LATIN1" or "UTF-16"; NULL: unknown */
} rela_word_stats;

/* Words longer than RELA_WORD_MAX bytes are not counted, as files of codes or counts with them
 * could not be read back. They are included in n_long. */
enum { RELA_WORD_LONG = 100, RELA_WORD_MAX = (1 << 20) - 64 };

/* How a word that occurs twice in a dictionary is counted. */
typedef enum rela_duplicates { RELA_DUPLICATES_SUM, RELA_DUPLICATES_MAX } rela_duplicates;

/* ---- word counts ---- */

RELA_API rela_status rela_word_counts_create(rela_word_counts **out, rela_error *err);
RELA_API void rela_word_counts_destroy(rela_word_counts *c); /* NULL is fine */

/* Counts the blank-separated words of a file (plain, gzip or zstd; "-" is standard input) on
 * n_threads threads (0: all cores). The result does not depend on their number. Several files
 * count as one text, in the order of the calls. After a failure only destroy is allowed. */
RELA_API rela_status rela_word_counts_add_file(rela_word_counts *c, const char *path, int n_threads,
                                               rela_error *err);

/* The same for a text in memory, on the calling thread. */
RELA_API rela_status rela_word_counts_add_text(rela_word_counts *c, const char *text, size_t len,
                                               rela_error *err);

/* Reads lines `word count`, the format of `rela vocab` and subword-nmt get-vocab. A word that
 * contains CR is RELA_FORMAT: text has none, and no file of words could hold it. */
RELA_API rela_status rela_word_counts_add_dictionary(rela_word_counts *c, const char *path,
                                                     rela_duplicates duplicates, rela_error *err);

RELA_API rela_status rela_word_counts_stats_get(rela_word_stats *out, const rela_word_counts *c,
                                                rela_error *err);

/* Sorts the words by descending frequency; ties by first occurrence (by_text 0, the order of
 * subword-nmt) or by code point (1). Ranks 0 .. n_types-1 are then valid until the next add. */
RELA_API rela_status rela_word_counts_sort(rela_word_counts *c, int by_text, rela_error *err);

/* The word at a rank, lent; its length and count go to *len and *count. */
RELA_API const char *rela_word_counts_get(const rela_word_counts *c, size_t rank, size_t *len,
                                          uint64_t *count);

/* Appends lines `word count`, as sorted by rela_word_counts_sort: at most max_lines of them (0: no
 * limit) and no word with a count below min_frequency. rela_word_counts_add_dictionary reads them
 * back unchanged: to this end, a first word that starts with U+FEFF is preceded by a byte order
 * mark, which readers remove. */
RELA_API rela_status rela_word_counts_write(rela_buffer *out, const rela_word_counts *c,
                                            uint64_t max_lines, uint64_t min_frequency,
                                            rela_error *err);

/* ---- vocabulary ---- */

/* The special tokens, then the words that occur at least min_frequency times, by descending
 * frequency and then by code point, until the vocabulary has max_size tokens (0: no limit). Words
 * that a vocabulary file cannot hold (a special token, NUL bytes, too long) are left out and
 * counted in *n_left_out, which may be NULL. */
RELA_API rela_status rela_vocab_build(rela_vocab **out, size_t *n_left_out, rela_word_counts *c,
                                      size_t max_size, uint64_t min_frequency, rela_error *err);

/* One token per line, special tokens first. Anything else is RELA_FORMAT with the line number. name
 * is used in messages as the name of the text. */
RELA_API rela_status rela_vocab_parse(rela_vocab **out, const char *name, const char *text,
                                      size_t len, rela_error *err);
RELA_API rela_status rela_vocab_load(rela_vocab **out, const char *path, rela_error *err);

/* Vocabularies of other tools. */
typedef enum rela_vocab_format {
    RELA_VOCAB_MARIAN,  /* lines `token: number`, tokens quoted as YAML does */
    RELA_VOCAB_FAIRSEQ, /* dict.txt: lines `token count`, special tokens left out */
    RELA_VOCAB_OPENNMT, /* lines `token` or `token<TAB>count` */
    RELA_VOCAB_JOEYNMT  /* one token per line */
} rela_vocab_format;

/* Reads the tokens in the order of their ids. The special tokens of the other tool (`<s>`, `</s>`,
 * `<pad>`, `<blank>`, `<unk>`) are replaced by ours, so ids change. Anything that the tool would
 * not have written is RELA_FORMAT with the line number. */
RELA_API rela_status rela_vocab_import(rela_vocab **out, const char *path, rela_vocab_format form,
                                       rela_error *err);
RELA_API void rela_vocab_free(rela_vocab *v); /* NULL is fine */

/* Appends the text that rela_vocab_parse reads. */
RELA_API rela_status rela_vocab_write(rela_buffer *out, const rela_vocab *v, rela_error *err);
RELA_API rela_status rela_vocab_save(const rela_vocab *v, const char *path, rela_error *err);

RELA_API size_t rela_vocab_size(const rela_vocab *v);

/* The token with this id, NUL-terminated and lent; 0 <= id < size. */
RELA_API const char *rela_vocab_token(const rela_vocab *v, int32_t id);

/* The id of a token, special tokens included; RELA_VOCAB_NONE if it is not in the vocabulary. */
RELA_API int32_t rela_vocab_find(const rela_vocab *v, const char *token, size_t len);

/* The id of a token of running text: RELA_VOCAB_UNK if it is not in the vocabulary, or if it is
 * spelt like a special token. */
RELA_API int32_t rela_vocab_id(const rela_vocab *v, const char *token, size_t len);

#ifdef __cplusplus
}
#endif
#endif
