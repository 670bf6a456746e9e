/* SPDX-License-Identifier: MIT */
/* src/serve/passages.h - texts cut into sentences to translate and what stays between them, and put
 * together again.
 *
 * Line breaks and blank lines stay as they are. The sentences of a line are translated one by one
 * and joined as rela_translate joins them. */
#ifndef RELA_SERVE_PASSAGES_H
#define RELA_SERVE_PASSAGES_H

#include "base/str.h"
#include "rela/text.h"

#include <stdbool.h>

typedef struct rela_passage {
    size_t begin, end;  /* of all texts together */
    bool sentence;      /* or to be copied */
    size_t tag, n_tags; /* of a sentence with mark-up: its tags */
} rela_passage;

/* A tag inside a sentence. */
typedef struct rela_passage_tag {
    size_t begin, end; /* of all texts together */
    size_t at;         /* where it stands in the sentence */
    int kind;          /* for markup_text.c */
} rela_passage_tag;

/* All zero is empty. */
typedef struct rela_passages {
    rela_buffer texts; /* one after the other */
    rela_passage *items;
    size_t n, cap;
    size_t *first; /* (n_texts + 1) the first piece of a text */
    size_t n_texts, cap_texts;
    size_t n_sentences;
    rela_passage_tag *tags; /* of all sentences, in order */
    size_t n_tags, cap_tags;
} rela_passages;

/* Adds a text. splitter NULL: every line is one sentence; whole: the text is, as it is. */
rela_status rela_passages_add(rela_passages *p, const char *text, size_t len,
                              const rela_splitter *splitter, bool whole, rela_error *err);
void rela_passages_free(rela_passages *p);

/* Appends a piece of the text that is added next: for texts with mark-up. */
rela_status rela_passages_add_passage(rela_passages *p, size_t begin, size_t end, bool sentence,
                                      rela_error *err);
/* The text that the last pieces were added for is complete. */
rela_status rela_passages_end_text(rela_passages *p, rela_error *err);
/* Splits bytes [begin, end) of the texts into sentences and what is between them. */
rela_status rela_passages_split(rela_passages *p, size_t begin, size_t end,
                                const rela_splitter *splitter, rela_error *err);

/* Appends text number `text`, with each sentence replaced by what `translation` says of it;
 * sentences are counted through all texts. */
rela_status rela_passages_join(rela_buffer *out, const rela_passages *p, size_t text,
                               rela_span (*translation)(const void *ctx, size_t sentence),
                               const void *ctx, rela_error *err);

/* About how many tokens a sentence has, before it is tokenised: one for each four bytes, at least
 * one per word. */
uint32_t rela_passages_tokens(const char *text, size_t len);

#endif
