/* SPDX-License-Identifier: MIT */
/* src/session/sentences.h - a text of several sentences, which are translated one by one. */
#ifndef RELA_SESSION_SENTENCES_H
#define RELA_SESSION_SENTENCES_H

#include "rela/text.h"
#include "session/translation.h"

/* The sentences of a text, in order. All zero is empty. */
typedef struct rela_sentences {
    const char **texts;
    size_t *lens;
    size_t n, cap_texts, cap_lens;
} rela_sentences;

/* Splits a text; one of one sentence, or none, stays as it is. At most most_bytes are split: the
 * rest is part of the last sentence. */
rela_status rela_sentences_find(rela_sentences *s, const rela_splitter *splitter, const char *text,
                                size_t len, size_t most_bytes, rela_error *err);
void rela_sentences_free(rela_sentences *s);

/* Joins the results of n sentences into that of their text. They stay part of it. */
rela_status rela_sentences_join(rela_translated *out, rela_arena *arena,
                                const rela_translated *parts, size_t n, rela_error *err);

#endif
