/* SPDX-License-Identifier: MIT */
/* src/session/translate_job.h - one call of rela_translate, from its texts to its results. */
#ifndef RELA_SESSION_TRANSLATE_JOB_H
#define RELA_SESSION_TRANSLATE_JOB_H

#include "session/sentences.h"
#include "session/translation.h"

typedef struct rela_translate_job {
    rela_session *session;
    const rela_model *model;
    const char *const *texts;
    const size_t *lens;
    size_t n;         /* sentences */
    size_t n_sources; /* texts of each sentence */
    size_t source;    /* that results refer to */
    size_t most;      /* maximum tokens of a source, without its end symbol */
    const rela_translate_options *options;
    rela_callback callback;
    rela_sentences sentences; /* empty: texts are not split */
    rela_result *result;
    rela_id_list prefixes;
    rela_source *parts; /* of all texts, in order */
    size_t *first_part; /* (n + 1) */
    size_t n_parts, cap_parts;
    rela_buffer text;
    rela_span *instead; /* scratch: what replaces each token of a translation */
    size_t cap_instead;
    rela_buffer pieces; /* of a source with unknown words in its translation */
    rela_span *spans;   /* of the pieces */
    size_t cap_spans;
    rela_buffer words; /* what unknown words are replaced with */
} rela_translate_job;

/* The sources of a sentence cannot be divided at matching places, so they are cut off. */
static inline bool rela_translate_cuts(const rela_translate_job *j)
{
    return j->n_sources > 1 || j->options->long_sentence == RELA_LONG_CUT;
}

/* The number of the text that sentence i is in. */
static inline size_t rela_translate_text_of(const rela_translate_job *j, size_t i)
{
    return j->sentences.n ? j->sentences.text_of[i] : i;
}

/* The number of its line, from 1. */
static inline uint64_t rela_translate_number(const rela_translate_job *j, size_t i)
{
    return j->options->first_line + rela_translate_text_of(j, i) + 1;
}

/* translate_sources.c. Replaces the texts of the job by their sentences. */
rela_status rela_translate_split(rela_translate_job *j, rela_error *err);
/* Encodes texts and prefixes to ids, and divides the ids into the parts that are translated. */
rela_status rela_translate_encode(rela_translate_job *j, rela_error *err);

#endif
