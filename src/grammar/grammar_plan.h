/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_plan.h - what a sentence of the built-in corpus says, before either language.
 *
 * A plan is a small tree of clauses and noun phrases, sampled at random. Each language walks the
 * tree and puts words into a line. Every part of the tree has a number (a tag); words of the two
 * lines that carry the same tag are aligned. So the alignment is right by construction. */
#ifndef RELA_GRAMMAR_GRAMMAR_PLAN_H
#define RELA_GRAMMAR_GRAMMAR_PLAN_H

#include "base/rng.h"
#include "grammar/german.h"
#include "grammar/grammar_words.h"

#include <stdbool.h>
#include <stdint.h>

/* Plans never need more parts than this: two clauses with four phrases each, which have at most
 * one phrase and one clause inside. */
enum { WORDS_MAX = 44, TAGS_MAX = 4, NPS_MAX = 24, CLAUSES_MAX = 12 };

/* Added to a tag: links of this word are possible, not sure. */
enum { TAG_LOOSE = 1 << 14 };

/* Parts of speech, as in Universal Dependencies. */
typedef enum rela_pos {
    POS_ADJ,
    POS_ADP,
    POS_ADV,
    POS_AUX,
    POS_CCONJ,
    POS_DET,
    POS_NOUN,
    POS_NUM,
    POS_PART,
    POS_PRON,
    POS_PROPN,
    POS_PUNCT,
    POS_SCONJ,
    POS_VERB,
    N_POS
} rela_pos;

typedef struct rela_token {
    char text[FORM_MAX];
    uint16_t tag[TAGS_MAX];
    uint8_t n_tags, pos;
} rela_token;

typedef struct rela_phrase {
    rela_token token[WORDS_MAX];
    int n;
    bool
        comma_due; /* a clause inside the sentence has ended: a comma unless another mark follows */
    bool too_long;
} rela_phrase;

/* Parts of a noun phrase and of a clause; the tag of a part is the id of the whole plus its own. */
enum {
    NP_DET,
    NP_NUMBER,
    NP_ADJ,
    NP_ADJ_AND,
    NP_ADJ_2,
    NP_MODIFIER,
    NP_NOUN,
    NP_OF,
    NP_REL,
    NP_AND,
    NP_PARTS = 16
};
enum {
    CL_VERB,
    CL_AUX,
    CL_AUX_2,
    CL_PARTICLE,
    CL_NOT,
    CL_OFTEN,
    CL_MANNER,
    CL_PREP,
    CL_WHERE,
    CL_CITY,
    CL_ADJ,
    CL_VERY,
    CL_THAN,
    CL_TO,
    CL_LINK,
    CL_COMMA,
    CL_STOP,
    CL_MODAL,
    CL_BY,
    CL_FOR,
    CL_PRICE,
    CL_EURO,
    CL_THERE,
    CL_TIME, /* and the four after it */
    CL_PARTS = 32
};

typedef enum rela_determiner {
    DET_THE,
    DET_A,
    DET_THIS,
    DET_EVERY,
    DET_NUMBER,
    DET_MY, /* from here on possessives */
    DET_YOUR,
    DET_HIS,
    DET_HER,
    DET_OUR,
    DET_THEIR
} rela_determiner;

typedef enum rela_np_kind { NP_IS_NOUN, NP_IS_NAME, NP_IS_PRONOUN } rela_np_kind;

typedef struct rela_clause rela_clause;

typedef struct rela_np {
    rela_np_kind kind;
    uint16_t id;
    rela_agreement agreement;
    uint8_t gender; /* German; of a pronoun: of what it stands for */
    char sex;       /* English he, she, it: 'm', 'f', 0 */
    /* a noun */
    const rela_noun *noun;
    bool plural; /* of the noun itself: "a man and a woman" is plural only as a whole */
    const rela_modifier *modifier;
    const rela_adjective *adjective[2];
    rela_determiner det;
    int number;  /* of DET_NUMBER */
    bool digits; /* write it in digits */
    struct rela_np *owner;
    struct rela_np *and; /* a second phrase */
    rela_clause *relative;
    /* a name */
    char name[FORM_MAX];
    const char *surname;
} rela_np;

typedef enum rela_tense {
    TENSE_PRESENT,
    TENSE_PROGRESSIVE,
    TENSE_PAST,
    TENSE_PERFECT,
    TENSE_FUTURE
} rela_tense;
typedef enum rela_modal {
    MODAL_NONE,
    MODAL_CAN,
    MODAL_MUST,
    MODAL_SHOULD,
    MODAL_WANT,
    MODAL_LIKE
} rela_modal;

typedef enum rela_clause_kind {
    CLAUSE_VERB,
    CLAUSE_BE,      /* is old, is older than */
    CLAUSE_LOCATED, /* is on the table */
    CLAUSE_THERE,   /* there is a dog in the garden */
    CLAUSE_PASSIVE
} rela_clause_kind;

typedef enum rela_time_kind {
    TIME_NONE,
    TIME_MOMENT, /* today */
    TIME_DAY,    /* on Monday */
    TIME_MONTH,  /* in May */
    TIME_YEAR,   /* in 1987 */
    TIME_CLOCK,  /* at seven */
    TIME_PART,   /* in the morning */
    TIME_AGO,    /* three days ago */
    TIME_FOR,    /* for three days */
    TIME_NEAR,   /* last week, next week */
    TIME_EVERY   /* every day */
} rela_time_kind;

typedef struct rela_time {
    rela_time_kind kind;
    const rela_word_pair *word;
    int number;
    bool next; /* of TIME_NEAR */
} rela_time;

typedef enum rela_conjunction {
    LINK_NONE,
    LINK_THAT,
    LINK_TO,
    LINK_BECAUSE,
    LINK_ALTHOUGH,
    LINK_WHEN,
    LINK_IF,
    LINK_WHILE,
    LINK_AND,
    LINK_BUT
} rela_conjunction;

struct rela_clause {
    rela_clause_kind kind;
    uint16_t id;
    rela_tense tense;
    rela_modal modal;
    bool negated, question;
    const rela_verb *verb;
    rela_np *subject, *object, *indirect; /* subject of a relative clause may be NULL: the noun */
    rela_agreement agreement;             /* of the subject, even if not expressed */
    bool object_is_noun;                  /* relative clause: the noun is the object */
    bool to_form;                         /* gives it to somebody */
    const rela_adjective *adjective;
    bool very;
    rela_np *than;
    const rela_preposition *where; /* with place */
    rela_np *place;
    bool motion;                /* into, not in */
    const rela_word_pair *city; /* in Vienna, to Vienna */
    bool to_place;              /* goes to the school */
    const rela_word_pair *often, *manner;
    rela_time time;
    bool time_first;
    int price;             /* in cents; 0: none */
    const char *flavour;   /* German ja, doch: nothing in English; or NULL */
    rela_conjunction link; /* to sub */
    rela_clause *sub;
    bool sub_first;
};

typedef struct rela_sentence_plan {
    rela_rng rng;
    bool easy; /* one clause, short phrases, common words; set before sampling */
    rela_np np[NPS_MAX];
    int n_np;
    rela_clause clause[CLAUSES_MAX];
    int n_clauses;
} rela_sentence_plan;

/* Samples a sentence with plan->rng. */
void rela_sentence_plan_sample(rela_sentence_plan *plan);

/* Put the plan into words in one language; line starts empty. */
void rela_say_english(rela_phrase *line, const rela_sentence_plan *plan);
void rela_say_german(rela_phrase *line, const rela_sentence_plan *plan);

/* put adds a word (text is copied); tag adds a further tag to the last word. Tag 0: none. */
void rela_phrase_put(rela_phrase *line, const char *text, rela_pos pos, int tag);
void rela_phrase_tag(rela_phrase *line, int tag);

#endif
