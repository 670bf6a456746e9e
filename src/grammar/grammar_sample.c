/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_sample.c - samples noun phrases and words; see grammar_sample.h. Numbers that
 * are not named are chances in per cent. */
#include "grammar/grammar_sample.h"

#include <assert.h>
#include <string.h>

enum { EASY_WORDS = 12 };

static void sample_relative(rela_sentence_plan *p, rela_np *np);
static void sample_noun(rela_sentence_plan *p, rela_np *np, uint32_t kinds);
static void sample_name(rela_sentence_plan *p, rela_np *np);
static void sample_pronoun(rela_sentence_plan *p, rela_np *np);
static void grow_np(rela_sentence_plan *p, rela_np *np, uint32_t kinds, int depth);
/* The n-th of a list is sampled with weight 1/(n + 8): common words and a tail of rare ones. */
static uint32_t rank_weight(size_t rank);
/* Easy sentences use only the first words of a list that fit. */
static bool is_known(const rela_sentence_plan *p, size_t fitting);
static rela_np *new_np(rela_sentence_plan *p);

uint32_t rela_sample_below(rela_sentence_plan *p, uint32_t n)
{
    return (uint32_t)rela_rng_below(&p->rng, n);
}

bool rela_sample_chance(rela_sentence_plan *p, uint32_t percent)
{
    return rela_sample_below(p, 100) < percent;
}

int rela_sample_weighted(rela_sentence_plan *p, const uint32_t *weight, int n)
{
    uint32_t sum = 0;
    for (int i = 0; i < n; i++)
        sum += weight[i];
    assert(sum > 0);
    uint32_t at = rela_sample_below(p, sum);
    int i = 0;
    while (at >= weight[i])
        at -= weight[i++];
    return i;
}

rela_clause *rela_sample_clause(rela_sentence_plan *p)
{
    assert(p->n_clauses < CLAUSES_MAX);
    rela_clause *c = &p->clause[p->n_clauses++];
    *c = (rela_clause){ .id = (uint16_t)(p->n_clauses * CL_PARTS) };
    return c;
}

rela_np *rela_sample_np(rela_sentence_plan *p, uint32_t kinds, int may, int depth)
{
    rela_np *np = new_np(p);
    const bool human = (kinds & KIND_HUMAN) != 0;
    if (human && (may & MAY_BE_PRONOUN) && rela_sample_chance(p, p->easy ? 30 : 17))
        sample_pronoun(p, np);
    else if (human && (may & MAY_BE_NAME) && rela_sample_chance(p, 16))
        sample_name(p, np);
    else
        sample_noun(p, np, kinds);
    if (np->kind == NP_IS_NOUN && (may & MAY_GROW) && depth < 2 && !p->easy)
        grow_np(p, np, kinds, depth);
    return np;
}

rela_np *rela_sample_reference(rela_sentence_plan *p, const rela_np *np)
{
    rela_np *pronoun = new_np(p);
    pronoun->kind = NP_IS_PRONOUN;
    pronoun->noun = np->noun;
    pronoun->agreement = np->agreement;
    pronoun->gender = np->gender;
    pronoun->sex = np->sex;
    return pronoun;
}

const rela_adjective *rela_sample_adjective(rela_sentence_plan *p, uint32_t kinds)
{
    uint32_t weight[64] = { 0 };
    uint32_t sum = 0;
    size_t fitting = 0;
    assert(RELA_N_ADJECTIVES <= 64);
    for (size_t i = 0; i < RELA_N_ADJECTIVES; i++) {
        const bool fits = (RELA_ADJECTIVES[i].kinds & kinds) && is_known(p, fitting++);
        weight[i] = fits ? rank_weight(i) : 0;
        sum += weight[i];
    }
    return sum ? &RELA_ADJECTIVES[rela_sample_weighted(p, weight, (int)RELA_N_ADJECTIVES)] : NULL;
}

const rela_verb *rela_sample_verb(rela_sentence_plan *p, uint32_t frames)
{
    static const uint32_t SHARE[N_FRAMES] = { 22, 34, 8, 9, 12, 8, 6, 60, 40 };
    uint32_t share[N_FRAMES], weight[160] = { 0 };
    for (int f = 0; f < N_FRAMES; f++)
        share[f] = frames >> f & 1 ? SHARE[f] : 0;
    const int frame = rela_sample_weighted(p, share, N_FRAMES);
    assert(RELA_N_VERBS <= 160);
    size_t rank = 0;
    for (size_t i = 0; i < RELA_N_VERBS; i++)
        if (RELA_VERBS[i].frame == frame && is_known(p, rank))
            weight[i] = rank_weight(rank++);
    return &RELA_VERBS[rela_sample_weighted(p, weight, (int)RELA_N_VERBS)];
}

static void sample_noun(rela_sentence_plan *p, rela_np *np, uint32_t kinds)
{
    static const uint32_t DETERMINERS[] = { 46, 24, 6, 3, 8, 4, 2, 3, 3, 2, 2 };
    uint32_t weight[256] = { 0 };
    assert(RELA_N_NOUNS <= 256);
    kinds &= ~(uint32_t)(KIND_MASS | KIND_HEAD); /* these say nothing about the meaning */
    for (size_t i = 0, fitting = 0; i < RELA_N_NOUNS; i++)
        if ((RELA_NOUNS[i].kinds & kinds) && is_known(p, fitting++))
            weight[i] = rank_weight(i);
    np->kind = NP_IS_NOUN;
    np->noun = &RELA_NOUNS[rela_sample_weighted(p, weight, (int)RELA_N_NOUNS)];
    np->gender = np->noun->gender;
    np->sex = np->noun->sex;
    np->det = (rela_determiner)rela_sample_weighted(p, DETERMINERS, 11);
    const bool mass = (np->noun->kinds & KIND_MASS) != 0;
    if (mass && (np->det == DET_EVERY || np->det == DET_NUMBER))
        np->det = DET_THE;
    np->plural =
        !mass && (np->det == DET_NUMBER || rela_sample_chance(p, 26)) && np->det != DET_EVERY;
    np->agreement = (rela_agreement){ 3, np->plural };
    if (np->det == DET_NUMBER) {
        np->number = p->easy || rela_sample_chance(p, 70) ? 2 + (int)rela_sample_below(p, 11)
                                                          : 13 + (int)rela_sample_below(p, 87);
        np->digits = np->number > 12 && rela_sample_chance(p, 40);
    }
    if (rela_sample_chance(p, 28))
        np->adjective[0] = rela_sample_adjective(p, np->noun->kinds);
    if (np->adjective[0] && !p->easy && rela_sample_chance(p, 12)) {
        np->adjective[1] = rela_sample_adjective(p, np->noun->kinds);
        if (np->adjective[1] == np->adjective[0])
            np->adjective[1] = NULL;
    }
    if ((np->noun->kinds & KIND_HEAD) && !p->easy && rela_sample_chance(p, 30)) {
        const rela_modifier *m = &RELA_MODIFIERS[rela_sample_below(p, (uint32_t)RELA_N_MODIFIERS)];
        char own[FORM_MAX];
        (void)rela_word_form(own, np->noun->en, 0);
        if ((m->heads & np->noun->kinds) && strcmp(own, m->en) != 0)
            np->modifier = m;
    }
}

static void sample_name(rela_sentence_plan *p, rela_np *np)
{
    static const char *const START[] = { "Ta",  "Bel", "Ko", "Mir", "Sa",
                                         "Lun", "Dor", "Ve", "Ras", "Ni" };
    static const char *const MIDDLE[] = { "lo", "ra", "ti", "mu", "ne", "sa", "vi", "do" };
    static const char *const END[] = { "n", "ris", "ma", "dek", "lia", "mir", "na", "tor" };
    np->kind = NP_IS_NAME;
    np->agreement = (rela_agreement){ 3, false };
    if (!p->easy &&
        rela_sample_chance(p, 20)) { /* a name nobody has heard before has to be copied */
        rela_word_join(np->name, START[rela_sample_below(p, 10)], MIDDLE[rela_sample_below(p, 8)],
                       END[rela_sample_below(p, 8)]);
    } else {
        const rela_word_pair *name = &RELA_NAMES[rela_sample_below(p, (uint32_t)RELA_N_NAMES)];
        rela_word_join(np->name, name->en, "", "");
        np->sex = (char)name->use;
    }
    if (!p->easy && rela_sample_chance(p, 25))
        np->surname = RELA_SURNAMES[rela_sample_below(p, (uint32_t)RELA_N_SURNAMES)];
}

static void sample_pronoun(rela_sentence_plan *p, rela_np *np)
{
    static const struct {
        int person;
        bool plural;
        char sex;
        uint8_t gender;
    } pronouns[] = { { 1, false, 0, 0 },          { 2, false, 0, 0 }, { 3, false, 'm', GENDER_M },
                     { 3, false, 'f', GENDER_F }, { 1, true, 0, 0 },  { 3, true, 0, 0 } };
    const uint32_t i = rela_sample_below(p, 6);
    np->kind = NP_IS_PRONOUN;
    np->agreement = (rela_agreement){ pronouns[i].person, pronouns[i].plural };
    np->sex = pronouns[i].sex;
    np->gender = pronouns[i].gender;
}

static void grow_np(rela_sentence_plan *p, rela_np *np, uint32_t kinds, int depth)
{
    if (depth == 0 && rela_sample_chance(p, 9)) {
        rela_np *owner = rela_sample_np(p, KIND_HUMAN, MAY_BE_NAME, 2);
        np->owner = owner;
        if (owner->kind == NP_IS_NOUN &&
            (owner->det == DET_A || owner->det == DET_NUMBER || owner->det == DET_EVERY))
            owner->det = DET_THE; /* a genitive needs an article that shows it */
    } else if (rela_sample_chance(p, depth == 0 ? 13 : 5)) {
        sample_relative(p, np);
    } else if (depth == 0 && rela_sample_chance(p, 10)) {
        np->and = rela_sample_np(p, kinds & np->noun->kinds, PLAIN, 2);
        np->agreement.plural = true;
    }
}

static void sample_relative(rela_sentence_plan *p, rela_np *np)
{
    rela_clause *c = rela_sample_clause(p);
    const uint32_t kinds = np->noun->kinds;
    const bool living = (kinds & KINDS_LIVING) != 0;
    c->object_is_noun = !living || rela_sample_chance(p, 35);
    int tries = 0;
    do
        c->verb = rela_sample_verb(p, 1u << FRAME_ACC | (c->object_is_noun ? 0 : 1u << FRAME_NONE));
    while (!((c->object_is_noun ? c->verb->objects : c->verb->subjects) & kinds) && ++tries < 50);
    if (tries == 50) {
        p->n_clauses--; /* nothing fits: no relative clause */
        return;
    }
    c->kind = CLAUSE_VERB;
    c->tense = rela_sample_chance(p, 50) ? TENSE_PRESENT : TENSE_PAST;
    if (c->object_is_noun)
        c->subject = rela_sample_np(p, c->verb->subjects, MAY_BE_NAME | MAY_BE_PRONOUN, 2);
    else if (c->verb->frame == FRAME_ACC)
        c->object = rela_sample_np(p, c->verb->objects, PLAIN, 2);
    c->agreement = c->subject ? c->subject->agreement : np->agreement;
    np->relative = c;
}

static uint32_t rank_weight(size_t rank)
{
    return 100000 / (uint32_t)(rank + 8);
}

static bool is_known(const rela_sentence_plan *p, size_t fitting)
{
    return !p->easy || fitting < EASY_WORDS;
}

static rela_np *new_np(rela_sentence_plan *p)
{
    assert(p->n_np < NPS_MAX);
    rela_np *np = &p->np[p->n_np++];
    *np = (rela_np){ .id = (uint16_t)((CLAUSES_MAX + 1) * CL_PARTS + p->n_np * NP_PARTS) };
    return np;
}
