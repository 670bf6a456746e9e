/* SPDX-License-Identifier: MIT */
/* src/serve/outcome.h - what has become of one sentence: translations, figures and details.
 *
 * Made on the thread that has translated it, so that the thread of the connections only copies. */
#ifndef RELA_SERVE_OUTCOME_H
#define RELA_SERVE_OUTCOME_H

#include "base/str.h"
#include "rela/translate.h"

/* What comes with a translation. */
enum {
    RELA_WANT_TOKENS = 1,    /* with their log-probabilities */
    RELA_WANT_LINKS = 2,     /* between words */
    RELA_WANT_ATTENTION = 4, /* weights of cross attention that are not zero */
    RELA_WANT_NULL_RATE = 8, /* share of its rows that attend to nothing */
    RELA_WANT_WARNINGS = 16
};

/* One translation. Texts are positions in the outcome's buffer. */
typedef struct rela_outcome_text {
    size_t begin, end;     /* of the translation */
    size_t details, ended; /* of what was wanted, as members of a JSON object: ,"name":value... */
    double score, logp;
} rela_outcome_text;

/* A link of the best translation, between words that stand at these bytes of source and text. */
typedef struct rela_outcome_link {
    uint32_t source, source_end, target, target_end;
} rela_outcome_link;

typedef struct rela_outcome {
    void *call; /* of the service */
    size_t sentence;
    rela_status status;
    rela_error err;
    rela_buffer text;
    rela_outcome_text *best; /* (n) */
    size_t n;
    rela_outcome_link *links; /* if links are wanted */
    size_t n_links;
    size_t source_tokens, target_tokens;
    double null_rate;          /* of the best; below 0: not known */
    uint32_t warnings;         /* bits of RELA_WARNING_... of the best */
    struct rela_outcome *next; /* for whoever has it */
} rela_outcome;

/* Why a translation may be wrong. */
enum {
    RELA_WARNING_CUT = 1,      /* it reached its maximum length without an end */
    RELA_WARNING_LENGTH = 2,   /* much longer or shorter than its source */
    RELA_WARNING_REPEATS = 4,  /* the same tokens again and again */
    RELA_WARNING_UNLIKELY = 8, /* the model itself thinks it improbable */
    RELA_WARNING_UNSURE = 16,  /* not finite: the model overflowed */
    RELA_WARNING_KINDS = 5
};
const char *rela_warning_name(size_t kind); /* number of the bit, from 0 */

/* From the only text of a result, which may be NULL after a failure (err). source: the text; shape:
 * of the model. NULL: no memory. Never fails otherwise: a failure is part of the outcome. */
rela_outcome *rela_outcome_create(const rela_result *result, const rela_error *err,
                                  rela_span source, const rela_model_shape *shape, int wants);
/* One without a result, with n identical translations; for tests. */
rela_outcome *rela_outcome_of_text(const char *text, size_t len, size_t n);
void rela_outcome_free(rela_outcome *o); /* NULL is fine */

#endif
