/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_words.h - the word lists of the built-in corpus: simplified English and
 * German.
 *
 * Forms are kept in one string, separated by blanks; "-" stands for a form that follows the rules
 * of the language (english.c, german.c). Frequent words come first in their lists. */
#ifndef RELA_GRAMMAR_GRAMMAR_WORDS_H
#define RELA_GRAMMAR_GRAMMAR_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a noun stands for, so that sentences make some sense. */
enum {
    KIND_HUMAN = 1 << 0,
    KIND_ANIMAL = 1 << 1,
    KIND_LYING = 1 << 2,    /* "is on the table": liegt */
    KIND_STANDING = 1 << 3, /* "is on the table": steht */
    KIND_CLOTHES = 1 << 4,
    KIND_TEXT = 1 << 5,
    KIND_FOOD = 1 << 6,
    KIND_DRINK = 1 << 7,
    KIND_VEHICLE = 1 << 8,
    KIND_MACHINE = 1 << 9,
    KIND_OPENS = 1 << 10,
    KIND_SURFACE = 1 << 11, /* one can put things on it */
    KIND_HOUSE = 1 << 12,   /* one can be in it and go to it */
    KIND_ROOM = 1 << 13,
    KIND_PLACE = 1 << 14,
    KIND_WATER = 1 << 15,
    KIND_TASK = 1 << 16,
    KIND_IDEA = 1 << 17,
    KIND_SHORE = 1 << 18, /* the bank of a river, not the bank with the money */
    KIND_MASS = 1 << 19,  /* neither article "a" nor plural */
    KIND_HEAD = 1 << 20   /* can be the second part of a compound */
};

enum {
    KINDS_LIVING = KIND_HUMAN | KIND_ANIMAL,
    KINDS_CARRIED = KIND_LYING | KIND_STANDING,
    KINDS_INSIDE = KIND_HOUSE | KIND_ROOM | KIND_PLACE
};

enum { GENDER_M, GENDER_F, GENDER_N };

typedef struct rela_noun {
    const char *en; /* singular, plural; both after a possessive if another word is used there */
    const char *de; /* singular, plural, genitive ending; "=form": all other singular forms */
    uint8_t gender;
    char sex; /* 'm' or 'f': English he or she; 0: it */
    uint32_t kinds;
} rela_noun;

typedef struct rela_modifier {
    const char *en, *de; /* "kitchen", "Küchen" */
    uint32_t heads;
} rela_modifier;

typedef struct rela_adjective {
    const char *en; /* positive, comparative ("-": with more) */
    const char *de; /* positive, stem before endings, comparative */
    uint32_t kinds; /* nouns it goes with */
} rela_adjective;

enum {
    FRAME_NONE, /* sleeps */
    FRAME_ACC,  /* sees somebody */
    FRAME_DAT,  /* hilft jemandem */
    FRAME_BOTH, /* gives somebody something */
    FRAME_PREP, /* waits for somebody: preposition on both sides */
    FRAME_GO,   /* goes into or to a place */
    FRAME_PUT,  /* puts something on a place */
    FRAME_THAT, /* believes that */
    FRAME_TO,   /* tries to */
    N_FRAMES
};

enum {
    VERB_STATE = 1,     /* has no progressive form */
    VERB_SEIN = 2,      /* perfect with sein */
    VERB_REFLEXIVE = 4, /* sich, without a counterpart */
    VERB_COPULA = 8     /* English: be + the word in en */
};

typedef struct rela_verb {
    const char *en; /* infinitive, past, participle, -ing, +particle; a copula: the word after be */
    const char *de; /* stem, du, er, past, participle, +separable prefix */
    uint8_t frame;
    uint32_t subjects, objects; /* kinds */
    uint32_t flags;
    const char *prep; /* of FRAME_PREP: English ("-": none), German, its case ('a' or 'd') */
} rela_verb;

/* A word and its translation. */
typedef struct rela_word_pair {
    const char *en, *de;
    uint32_t use; /* a time: tenses it goes with; a name: 'm' or 'f'; a unit: gender */
} rela_word_pair;

typedef struct rela_preposition {
    const char *en, *de; /* en may be several words */
    uint32_t kinds;      /* of the place */
} rela_preposition;

extern const rela_noun RELA_NOUNS[];
extern const rela_modifier RELA_MODIFIERS[];
extern const rela_adjective RELA_ADJECTIVES[];
extern const rela_verb RELA_VERBS[];
extern const rela_preposition RELA_PLACES[];
extern const rela_word_pair RELA_MANNERS[], RELA_OFTEN[], RELA_DAYS[], RELA_MONTHS[], RELA_PARTS[];
extern const rela_word_pair RELA_MOMENTS[], RELA_UNITS[], RELA_CITIES[], RELA_NAMES[];
extern const char *const RELA_SURNAMES[];
extern const size_t RELA_N_NOUNS, RELA_N_MODIFIERS, RELA_N_ADJECTIVES, RELA_N_VERBS, RELA_N_PLACES;
extern const size_t RELA_N_MANNERS, RELA_N_OFTEN, RELA_N_DAYS, RELA_N_MONTHS, RELA_N_PARTS;
extern const size_t RELA_N_MOMENTS, RELA_N_UNITS, RELA_N_CITIES, RELA_N_NAMES, RELA_N_SURNAMES;

enum { FORM_MAX = 48 };

/* Copies form i, from 0, of a list; false, and out untouched, for "-" and past the end. */
bool rela_word_form(char out[FORM_MAX], const char *forms, int i);
/* What follows "+"; lent; NULL if nothing does. */
const char *rela_word_extra(const char *forms);
/* Concatenates three texts; what does not fit is cut, which no word of the lists needs. */
void rela_word_join(char out[FORM_MAX], const char *a, const char *b, const char *c);

#endif
