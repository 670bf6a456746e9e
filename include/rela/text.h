/* SPDX-License-Identifier: MIT */
/* include/rela/text.h - text processing compatible with the Moses tools: normalise, tokenise,
 * truecase, and back; and sentence splitting.
 *
 * Unless noted, objects are immutable after creation and any number of threads may share one. Texts
 * are single lines without their line end, of any length below 4 GiB; NUL is data. Each invalid
 * UTF-8 sequence is read as U+FFFD. Results are appended to a buffer, always valid UTF-8 and never
 * more than one line for one line; on failure the buffer keeps its old length.
 *
 * A language is a code such as "en", "de", "fr", "cs" or "pt-BR", or what rela_language_code makes
 * one of ("fra", "French"); NULL means "en". Languages without rules of their own use the general
 * rules; unknown ones are RELA_ARG. The _init function of an options struct sets all
 * defaults; NULL for the options means the same. */
#ifndef RELA_TEXT_H
#define RELA_TEXT_H

#include "rela/rela.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The code of a language: of two letters (ISO 639-1) where there is one, else of three. name: such
 * a code, with a region or not; a code of three letters (ISO 639-2 or 639-3); an English name.
 * *code: static, or name itself; NULL with RELA_ARG for an unknown name. */
RELA_API rela_status rela_language_code(const char **code, const char *name, rela_error *err);

/* The language that the name of a file ends in, as "fr" of "train.tok.fr.gz"; static, or NULL. */
RELA_API const char *rela_language_of_file(const char *path);

/* Tokeniser: words and punctuation marks, separated by single blanks. */
typedef struct rela_tokeniser rela_tokeniser;

typedef struct rela_tokeniser_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *language;
    bool no_escape;             /* leave & | < > ' " [ ] as they are, not as &amp; and so on */
    bool aggressive_dash;       /* split words at hyphens, marked @-@ */
    bool lowercase;             /* lower-case the tokens */
    const char *const *protect; /* PCRE2 patterns, case-insensitive: a match stays one token */
    size_t n_protect;
} rela_tokeniser_options;

/* Patterns for options.protect, lent. name: "web" (URLs, e-mail addresses, @names, #tags) or
 * "basic" (XML tags, e-mail addresses, URLs); for any other name NULL, with *n 0. */
RELA_API const char *const *rela_tokeniser_patterns(size_t *n, const char *name);

RELA_API void rela_tokeniser_options_init(rela_tokeniser_options *o, size_t size);
RELA_API rela_status rela_tokeniser_create(rela_tokeniser **out,
                                           const rela_tokeniser_options *options, rela_error *err);
RELA_API void rela_tokeniser_destroy(rela_tokeniser *t); /* NULL is fine */
RELA_API rela_status rela_tokenise(rela_buffer *out, const rela_tokeniser *t, const char *text,
                                   size_t len, rela_error *err);

/* Detokeniser: joins tokens into running text. */
typedef struct rela_detokeniser rela_detokeniser;

typedef struct rela_detokeniser_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *language;
    bool no_unescape; /* leave &amp; and so on as they are */
    char reserved[7]; /* leave it 0 */
} rela_detokeniser_options;

RELA_API void rela_detokeniser_options_init(rela_detokeniser_options *o, size_t size);
RELA_API rela_status rela_detokeniser_create(rela_detokeniser **out,
                                             const rela_detokeniser_options *options,
                                             rela_error *err);
RELA_API void rela_detokeniser_destroy(rela_detokeniser *d); /* NULL is fine */
RELA_API rela_status rela_detokenise(rela_buffer *out, const rela_detokeniser *d, const char *text,
                                     size_t len, rela_error *err);

/* Normaliser: one spelling for quotes, dashes and blanks. */
typedef struct rela_normaliser rela_normaliser;

typedef enum rela_unicode_form {
    RELA_UNICODE_AS_IS,
    RELA_UNICODE_NFC,
    RELA_UNICODE_NFKC
} rela_unicode_form;

typedef struct rela_normaliser_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *language;
    rela_unicode_form form; /* applied before everything else */
    bool keep_breaks;       /* keep VT, FF, U+0085, U+2028, U+2029; otherwise each is a space */
    bool wide_punctuation;  /* turn East Asian punctuation and digits into ASCII */
    bool no_punctuation;    /* apply none of the Moses rules */
    bool keep_penn;         /* of the Moses rules: leave ` and '' as they are */
    bool no_quote_commas;   /* keep the order of quotes and commas */
    bool no_numbers;        /* keep no-break spaces between digits */
    bool remove_control;    /* drop control, format, private-use and unassigned characters */
    bool collapse_blanks;   /* turn every run of whitespace into one space */
    bool lowercase;
    char reserved[3]; /* leave it 0 */
} rela_normaliser_options;

RELA_API void rela_normaliser_options_init(rela_normaliser_options *o, size_t size);
RELA_API rela_status rela_normaliser_create(rela_normaliser **out,
                                            const rela_normaliser_options *options,
                                            rela_error *err);
RELA_API void rela_normaliser_destroy(rela_normaliser *n); /* NULL is fine */
RELA_API rela_status rela_normalise(rela_buffer *out, const rela_normaliser *n, const char *text,
                                    size_t len, rela_error *err);

/* Truecaser: gives each word of a tokenised line the spelling it usually has. A model is a text
 * file of lines like "word (7/9) Word (2)": forms of one word with their counts, best first. */
typedef struct rela_truecaser rela_truecaser;

typedef struct rela_truecaser_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    bool all_words;     /* also change known spellings inside sentences */
    bool lowercase;     /* the input has no reliable case: lower-case it first, and keep no
                         * spelling just because it is known */
    char reserved[6];   /* leave it 0 */
} rela_truecaser_options;

RELA_API void rela_truecaser_options_init(rela_truecaser_options *o, size_t size);
RELA_API rela_status rela_truecaser_load(rela_truecaser **out, const char *path,
                                         const rela_truecaser_options *options, rela_error *err);

/* The same from memory; name is used in messages as the file name. */
RELA_API rela_status rela_truecaser_parse(rela_truecaser **out, const char *name, const char *model,
                                          size_t len, const rela_truecaser_options *options,
                                          rela_error *err);
RELA_API void rela_truecaser_free(rela_truecaser *t); /* NULL is fine */
RELA_API rela_status rela_truecase(rela_buffer *out, const rela_truecaser *t, const char *text,
                                   size_t len, rela_error *err);

/* Capitalises the first word of each sentence of a tokenised line; headline: every word except
 * articles, prepositions and the like (English). */
RELA_API rela_status rela_detruecase(rela_buffer *out, const char *text, size_t len, bool headline,
                                     rela_error *err);

/* Counts of spellings, from which a model is written. One thread at a time per object; several
 * can be filled concurrently and merged: the model depends only on the lines. */
typedef struct rela_truecase_counts rela_truecase_counts;

/* first_words: also learn from sentence-initial words that are not capitalised, and a little
 * from lines of one word. */
RELA_API rela_status rela_truecase_counts_create(rela_truecase_counts **out, bool first_words,
                                                 rela_error *err);
RELA_API void rela_truecase_counts_destroy(rela_truecase_counts *c); /* NULL is fine */

/* number: the number of the line in the whole input, which orders first occurrences. */
RELA_API rela_status rela_truecase_counts_add(rela_truecase_counts *c, const char *text, size_t len,
                                              uint64_t number, rela_error *err);
RELA_API rela_status rela_truecase_counts_merge(rela_truecase_counts *into,
                                                const rela_truecase_counts *from, rela_error *err);

/* Appends the model, as rela_truecaser_parse reads it. */
RELA_API rela_status rela_truecase_counts_write(rela_buffer *out, const rela_truecase_counts *c,
                                                rela_error *err);

/* Splitter: splits running text into sentences. */
typedef struct rela_splitter rela_splitter;

typedef struct rela_splitter_options {
    size_t struct_size;   /* set by _init; lets the struct grow at its end */
    const char *language; /* whose abbreviations are known */
} rela_splitter_options;

/* A sentence: bytes [begin, end) of a text, without the blanks around it. */
typedef struct rela_sentence {
    size_t begin, end;
} rela_sentence;

RELA_API void rela_splitter_options_init(rela_splitter_options *o, size_t size);
RELA_API rela_status rela_splitter_create(rela_splitter **out, const rela_splitter_options *options,
                                          rela_error *err);
RELA_API void rela_splitter_destroy(rela_splitter *s); /* NULL is fine */

/* Finds the next sentence of a text from *at, which starts at 0 and advances past the sentence and
 * the whitespace after it. False if only whitespace is left; *at is then len. Nothing is changed,
 * copied or allocated; sentences never split a character, and only whitespace lies between them. */
RELA_API bool rela_split_next(rela_sentence *out, size_t *at, const rela_splitter *s,
                              const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
