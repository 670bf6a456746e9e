/* SPDX-License-Identifier: MIT */
/* src/study/claims.h - claims of a paper and the verdict that the facts give on each, by rules that
 * stand in the study. */
#ifndef RELA_STUDY_CLAIMS_H
#define RELA_STUDY_CLAIMS_H

#include "rela/metric.h"
#include "study/facts.h"
#include "study/test.h"
#include "study/tree.h"

/* clang-format off */
#define RELA_CLAIM_RULE_MAP(X)                                                                     \
    X(GREATER,     "greater")     /* a - b is at least `effect` */                                 \
    X(LESS,        "less")                                                                         \
    X(NOT_GREATER, "not-greater") /* a - b is below `effect`: a is no better */                    \
    X(NOT_LESS,    "not-less")                                                                     \
    X(EQUAL,       "equal")       /* a - b is within `margin` of 0 */                              \
    X(TREND_UP,    "trend-up")    /* the slope over layers is at least `effect` */                 \
    X(TREND_DOWN,  "trend-down")                                                                   \
    X(PEAK,        "peak-middle") /* layers between the first and the last exceed these */         \
    X(TROUGH,      "trough-middle")                                                                \
    X(BREAKS,      "fails")       /* training failed: no value, or none below `bound` */
/* clang-format on */

typedef enum rela_claim_rule {
#define RELA_X(name, text) RELA_CLAIM_##name,
    RELA_CLAIM_RULE_MAP(RELA_X)
#undef RELA_X
        RELA_CLAIM_RULES
} rela_claim_rule;

/* What a value is taken over, which is what an interval speaks about. */
typedef enum rela_claim_units {
    RELA_UNITS_SEEDS, /* one value per model and seed */
    RELA_UNITS_LAYERS,
    RELA_UNITS_HEADS,
    RELA_UNITS_SENTENCES
} rela_claim_units;

/* One side of a comparison: a query of facts, or a number. */
typedef struct rela_claim_side {
    rela_fact_key key;
    const char *label; /* of sentences; NULL: all */
    bool is_number;
    double number;
} rela_claim_side;

typedef struct rela_claim {
    const char *text, *section, *unit; /* unit of the measure, for people; "" */
    const char *published;             /* what the paper says in figures, or "" */
    rela_claim_rule rule;
    rela_claim_units units;
    rela_claim_side a;
    rela_claim_side *b; /* all of them must be exceeded, reached ... */
    size_t n_b;
    double effect, margin; /* the smallest that counts; the largest that does not */
    bool ratio;            /* values are compared by their quotient */
    bool area;             /* how well a value tells a from b: area under the ROC curve - 0.5 */
    bool every_layer, every_data; /* the claim is about each of them */
    bool planned;                 /* one of the comparisons that the plan names */
    size_t line;
} rela_claim;

typedef struct rela_claims {
    rela_claim *items;
    size_t n;
} rela_claims;

typedef enum rela_verdict {
    RELA_VERDICT_HOLDS,
    RELA_VERDICT_REFUTED,
    RELA_VERDICT_OPEN,
    RELA_VERDICT_NOT_RUN,
    RELA_VERDICTS
} rela_verdict;

/* The outcome of a claim. Of several comparisons or layers, the effect is that of the one that
 * decided. */
typedef struct rela_claim_result {
    rela_verdict verdict;
    rela_study_effect effect; /* of logarithms, if the claim is about quotients */
    double a, b;              /* the two values compared; NAN: there is none */
    size_t against;           /* number of b */
    int64_t layer;            /* RELA_FACT_NONE: all */
    const char *data;         /* NULL: all */
    bool timing;
    const char *jobs; /* keys, separated by blanks; lent by the facts */
} rela_claim_result;

/* How scores are resampled. */
typedef struct rela_claim_means {
    int64_t samples;
    uint64_t seed;
    const rela_metric *bleu, *bleu_tokenised, *chrf;
} rela_claim_means;

const char *rela_claim_rule_name(rela_claim_rule rule);
const char *rela_verdict_name(rela_verdict verdict); /* "holds", "does not hold" ... */

/* Reads `claims:`; list NULL: there are none. RELA_FORMAT with the line of a mistake. */
rela_status rela_claims_read(rela_claims *out, rela_arena *arena, const rela_tree *list,
                             rela_error *err);

/* The rule itself: the interval must lie wholly on the side of the claim, and the effect must
 * count, for `holds`; wholly on the other side, or wholly below what counts, for `does not hold`.
 */
rela_verdict rela_claim_judge(const rela_claim *c, const rela_study_effect *e);

rela_status rela_claim_decide(rela_claim_result *out, const rela_claim *c, rela_facts *facts,
                              const rela_claim_means *how, rela_error *err);

/* a - b of two models on the same data, over all its test sets and all seeds. RELA_OK with n 0:
 * there are no scores of one of them, or not of the same sentences. b NULL: the score of a. */
rela_status rela_scores_compare(rela_study_effect *out, const rela_facts *facts,
                                const rela_fact_key *a, const rela_fact_key *b,
                                const rela_claim_means *how, rela_error *err);
/* The score of one seed on all test sets; NAN: there is none. */
double rela_scores_of_seed(const rela_facts *facts, const rela_fact_key *query, int64_t seed,
                           const rela_claim_means *how);
/* Seeds that have scores, ascending; their number. */
size_t rela_scores_seeds(int64_t *seeds, size_t max, const rela_facts *facts,
                         const rela_fact_key *query);

#endif
