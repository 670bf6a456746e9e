/* SPDX-License-Identifier: MIT */
/* src/session/text_job.h - one text from its bytes to its translations, in three stages, each on
 * any thread of a pool: its sentences become ids (text_encode.c), these are tasks of the pool, and
 * the thread that ends the last of them makes text of the results (text_build.c).
 *
 * A sentence is one task, or several if it is longer than the model allows. */
#ifndef RELA_SESSION_TEXT_JOB_H
#define RELA_SESSION_TEXT_JOB_H

#include "decode/pool.h"
#include "session/sentences.h"
#include "session/translation.h"

/* What texts with the same options share. */
typedef struct rela_text_call {
    const rela_model *model;
    const rela_splitter *splitter; /* NULL: texts are not split */
    rela_splitter *own_splitter;   /* for a language that the options ask for */
    rela_translate_options options;
    rela_search_options search;
    size_t n_sources; /* texts of each sentence */
    size_t source;    /* that results refer to */
    size_t most;      /* maximum tokens of a source, without its end symbol */
    double deadline;  /* 0: none */
    rela_callback *callback;
} rela_text_call;

/* Scratch of one thread. All zero is empty. */
typedef struct rela_text_scratch {
    rela_pipeline_scratch *pipeline;
    rela_sentences sentences;
    rela_id_list sources, prefix;
    rela_buffer text;
    rela_span *instead; /* what replaces each token of a translation */
    size_t cap_instead;
    rela_buffer pieces; /* of a source with unknown words in its translation */
    rela_span *spans;   /* of the pieces */
    size_t cap_spans;
    rela_buffer words; /* what unknown words are replaced with */
} rela_text_scratch;

typedef struct rela_text_job rela_text_job;

/* What is translated at a time. */
typedef struct rela_text_part {
    rela_pool_task task; /* first: the pool gives it back */
    rela_text_job *job;
    rela_search_result found;
} rela_text_part;

typedef struct rela_text_sentence {
    const char *text; /* of the source that results refer to */
    size_t len;
    const int32_t *src; /* (n_src) the end symbol last */
    const uint32_t *words;
    size_t n_src;
    size_t first_part;
} rela_text_sentence;

struct rela_text_job {
    /* Set by the caller; texts and prefix are lent. */
    const rela_text_call *call;
    const char *const *texts; /* one for each source */
    const size_t *lens;       /* or NULL */
    const char *prefix;       /* or NULL */
    size_t prefix_len;
    uint64_t line; /* from 1 */
    void *ctx;
    /* Called when all parts have ended, on the thread that ended the last. */
    void (*on_end)(rela_text_job *j, size_t worker);
    /* Where the results of a thread go; NULL: no memory. */
    rela_arena *(*arena)(rela_text_job *j, size_t worker);
    /* Written. */
    bool cut,
        divided; /* a sentence was too long: its rest was dropped, it was translated in parts */
    rela_text_sentence *sentences; /* (n_sentences + 1) */
    rela_text_part *parts;
    size_t n_sentences, n_parts, cap_sentences, cap_parts;
    _Atomic size_t left; /* parts that have not ended */
    pthread_mutex_t lock;
    rela_status status; /* of the first failure; protected by the lock */
    rela_error err;
};

/* Options that are in range for a model and its ensemble; what they need. */
rela_status rela_text_call_init(rela_text_call *c, const rela_session *s,
                                const rela_translate_options *o, rela_error *err);
void rela_text_call_deinit(rela_text_call *c);

rela_status rela_text_scratch_init(rela_text_scratch *s, const rela_model *m, rela_error *err);
void rela_text_scratch_deinit(rela_text_scratch *s);

/* Makes the parts, which then may be submitted in any order. */
rela_status rela_text_job_encode(rela_text_job *j, rela_text_scratch *s, rela_arena *arena,
                                 rela_error *err);
/* Bytes of the next piece of a sentence, preferably up to the end of a sentence or of a word in its
 * second half: encoding needs many times the memory of what is encoded at a time. */
size_t rela_text_piece(const rela_text_job *j, const char *text, size_t len);
/* The translations; parts lie in the arenas of j. */
rela_status rela_text_job_build(rela_translated *out, const rela_text_job *j, rela_text_scratch *s,
                                rela_arena *arena, rela_error *err);
/* Warnings about sentences that were too long. */
void rela_text_job_warn(const rela_text_job *j);
void rela_text_job_deinit(rela_text_job *j);

#endif
