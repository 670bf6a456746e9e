/* SPDX-License-Identifier: MIT */
/* src/session/sentences.h - texts of several sentences, which are translated one by one. */
#ifndef RELA_SESSION_SENTENCES_H
#define RELA_SESSION_SENTENCES_H

#include "base/callback.h"
#include "rela/text.h"
#include "session/translation.h"

/* The sentences of all texts, in order. All zero is empty. */
typedef struct rela_sentences {
    const char **texts;
    size_t *lens;
    size_t *text_of; /* (n) number of the text that a sentence is in */
    size_t *first;   /* (n_texts + 1) first sentence of a text; each has at least one */
    size_t n, n_texts, cap_texts, cap_lens, cap_text_of;
    rela_callback *callback; /* polled while texts are split, lent; may be NULL */
} rela_sentences;

/* Splits n texts, but not those with a prefix. A text of one sentence, or none, stays as it is. At
 * most most_bytes of each text are split: the rest is part of its last sentence. */
rela_status rela_sentences_find(rela_sentences *s, const rela_splitter *splitter,
                                const char *const *texts, const size_t *lens, size_t n,
                                const rela_translate_options *o, size_t most_bytes,
                                rela_error *err);
void rela_sentences_free(rela_sentences *s);

/* Joins the results of sentences into results of texts. */
rela_status rela_sentences_join(rela_result *r, const rela_sentences *s, rela_error *err);

#endif
