/* SPDX-License-Identifier: MIT */
/* include/rela/text.h - text as the Moses tools treat it: normalise, tokenise, truecase, and back;
 * and sentences of running text.
 *
 * The objects are immutable after creation: any number of threads may use one at a time. Texts are
 * single lines without their line end, of any length below 4 GiB; NUL is data. Invalid UTF-8 is
 * read as if each bad sequence were U+FFFD. Results are appended to a buffer, always valid UTF-8
 * and never more than one line for one line; on failure the buffer keeps its old length.
 *
 * A language is a code such as "en", "de", "fr", "cs" or "pt-BR"; NULL means "en". Codes without
 * rules of their own get the general ones. Options start with their _init function: all defaults,
 * as with NULL. */
#ifndef RELA_TEXT_H
#define RELA_TEXT_H

#include "rela/rela.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tokeniser: words and punctuation marks, separated by single blanks. */
typedef struct rela_tokeniser rela_tokeniser;

typedef struct rela_tokeniser_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *language;
    bool no_escape;             /* leave & | < > ' " [ ] as they are, not as &amp; and so on */
    bool aggressive_dash;       /* split words at hyphens, marked @-@ */
    bool lowercase;             /* lower-case the tokens */
    const char *const *protect; /* PCRE2 patterns of what must stay one token, case ignored */
    size_t n_protect;
} rela_tokeniser_options;

/* Patterns for URLs, e-mail addresses, @names and #tags, and for XML tags, e-mail addresses and
 * URLs; lent. name: "web" or "basic"; NULL and *n 0 for others. */
RELA_API const char *const *rela_tokeniser_patterns(size_t *n, const char *name);

RELA_API void rela_tokeniser_options_init(rela_tokeniser_options *o, size_t size);
RELA_API rela_status rela_tokeniser_create(rela_tokeniser **out,
                                           const rela_tokeniser_options *options, rela_error *err);
RELA_API void rela_tokeniser_destroy(rela_tokeniser *t); /* NULL is fine */
RELA_API rela_status rela_tokenise(rela_buffer *out, const rela_tokeniser *t, const char *text,
                                   size_t len, rela_error *err);

/* Detokeniser: joins tokens to running text. */
typedef struct rela_detokeniser rela_detokeniser;

typedef struct rela_detokeniser_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *language;
    bool no_unescape; /* leave &amp; and so on as they are */
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
    rela_unicode_form form; /* first of all */
    bool keep_breaks;       /* keep VT, FF, U+0085, U+2028, U+2029; otherwise each is a space */
    bool wide_punctuation;  /* turn East Asian punctuation and digits into ASCII */
    bool no_punctuation;    /* none of the Moses rules */
    bool keep_penn;         /* of these, keep ` and '' as they are */
    bool no_quote_commas;   /* keep the order of quotes and commas */
    bool no_numbers;        /* keep no-break spaces between digits */
    bool remove_control;    /* drop control, format, private and unassigned characters */
    bool collapse_blanks;   /* every run of blanks of any kind is one space */
    bool lowercase;
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
    bool lowercase;     /* the input has no case: lower-case it first and trust no spelling */
} rela_truecaser_options;

RELA_API void rela_truecaser_options_init(rela_truecaser_options *o, size_t size);
RELA_API rela_status rela_truecaser_load(rela_truecaser **out, const char *path,
                                         const rela_truecaser_options *options, rela_error *err);

/* The same from memory; name stands for the file in messages. */
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
 * can be filled concurrently and merged, and the model depends only on the lines. */
typedef struct rela_truecase_counts rela_truecase_counts;

/* first_words: also learn from sentence-initial words that are not capitalised, and a little
 * from lines of one word. */
RELA_API rela_status rela_truecase_counts_create(rela_truecase_counts **out, bool first_words,
                                                 rela_error *err);
RELA_API void rela_truecase_counts_destroy(rela_truecase_counts *c); /* NULL is fine */

/* number: of the line in the whole input, so that first occurrences can be ordered. */
RELA_API rela_status rela_truecase_counts_add(rela_truecase_counts *c, const char *text, size_t len,
                                              uint64_t number, rela_error *err);
RELA_API rela_status rela_truecase_counts_merge(rela_truecase_counts *into,
                                                const rela_truecase_counts *from, rela_error *err);

/* Appends the model. */
RELA_API rela_status rela_truecase_counts_write(rela_buffer *out, const rela_truecase_counts *c,
                                                rela_error *err);

/* Splitter: the sentences of running text. */
typedef struct rela_splitter rela_splitter;

typedef struct rela_splitter_options {
    size_t struct_size;   /* set by _init; lets the struct grow at its end */
    const char *language; /* of the abbreviations */
} rela_splitter_options;

/* A sentence: bytes [begin, end) of a text, without the blanks around it. */
typedef struct rela_sentence {
    size_t begin, end;
} rela_sentence;

RELA_API void rela_splitter_options_init(rela_splitter_options *o, size_t size);
RELA_API rela_status rela_splitter_create(rela_splitter **out, const rela_splitter_options *options,
                                          rela_error *err);
RELA_API void rela_splitter_destroy(rela_splitter *s); /* NULL is fine */

/* The next sentence of a text, from *at, which starts at 0 and moves past the sentence and the
 * blanks after it. False: nothing but blanks is left, and *at is len. Nothing is changed, copied or
 * allocated; sentences never cut a character, and bytes between them are blanks. */
RELA_API bool rela_split_next(rela_sentence *out, size_t *at, const rela_splitter *s,
                              const char *text, size_t len);

#ifdef __cplusplus
}
#endif
#endif
