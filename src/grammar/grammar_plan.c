/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_plan.c - samples what a sentence says; see grammar_plan.h. Numbers in this
 * file that are not named are chances in per cent, chosen for sentences of eight to fourteen words
 * with a tail of long ones. */
#include "grammar/grammar_sample.h"

#include <assert.h>
#include <string.h>

static void sample_sentence(rela_sentence_plan *p, rela_clause *c);
static void sample_clause(rela_sentence_plan *p, rela_clause *c, int depth);
static void sample_verb_clause(rela_sentence_plan *p, rela_clause *c, uint32_t frames, int depth);
static void sample_objects(rela_sentence_plan *p, rela_clause *c, int depth);
static void sample_be_clause(rela_sentence_plan *p, rela_clause *c);
static void sample_located_clause(rela_sentence_plan *p, rela_clause *c);
static void sample_passive_clause(rela_sentence_plan *p, rela_clause *c);
static void sample_tense(rela_sentence_plan *p, rela_clause *c);
static void sample_adverbs(rela_sentence_plan *p, rela_clause *c);
static void sample_time(rela_sentence_plan *p, rela_clause *c);
static void sample_place(rela_sentence_plan *p, rela_clause *c, uint32_t kinds);
static void sample_sub_clause(rela_sentence_plan *p, rela_clause *c);

void rela_sentence_plan_sample(rela_sentence_plan *plan)
{
    plan->n_np = plan->n_clauses = 0;
    sample_sentence(plan, rela_sample_clause(plan));
}

static void sample_sentence(rela_sentence_plan *p, rela_clause *c)
{
    static const uint32_t SHAPES[] = { 46, 12, 18, 12, 8 }, EASY[] = { 1, 0, 0, 0, 0 };
    switch (rela_sample_weighted(p, p->easy ? EASY : SHAPES, 5)) {
    case 0:
        sample_clause(p, c, 0);
        break;
    case 1: /* two main clauses */
        sample_clause(p, c, 1);
        c->link = rela_sample_chance(p, 65) ? LINK_AND : LINK_BUT;
        sample_sub_clause(p, c);
        break;
    case 2: /* main and subordinate */
        sample_clause(p, c, 1);
        c->link =
            (rela_conjunction)(LINK_BECAUSE + (int)rela_sample_below(p, LINK_AND - LINK_BECAUSE));
        c->sub_first = rela_sample_chance(p, 35);
        c->time_first = c->time_first && !c->sub_first;
        sample_sub_clause(p, c);
        break;
    case 3: /* that, or an infinitive with to */
        sample_verb_clause(p, c, 1u << FRAME_THAT | 1u << FRAME_TO, 1);
        break;
    default:
        sample_clause(p, c, 1);
        c->question = true;
        c->time_first = false;
        if (c->modal == MODAL_MUST)
            c->tense = TENSE_PRESENT; /* "had he to" is not said */
        break;
    }
    const bool statement = !p->easy && !c->question && c->tense != TENSE_FUTURE && !c->modal;
    if (statement && rela_sample_chance(p, 5)) {
        static const char *const FLAVOURS[] = { "ja", "doch", "wohl" };
        c->flavour = FLAVOURS[rela_sample_below(p, 3)];
    }
}

static void sample_clause(rela_sentence_plan *p, rela_clause *c, int depth)
{
    static const uint32_t KINDS[] = { 70, 11, 7, 5, 7 };
    enum {
        PLAIN_FRAMES = 1u << FRAME_NONE | 1u << FRAME_ACC | 1u << FRAME_DAT | 1u << FRAME_BOTH |
                       1u << FRAME_PREP | 1u << FRAME_GO | 1u << FRAME_PUT
    };
    switch (rela_sample_weighted(p, KINDS, 5)) {
    case 0:
        sample_verb_clause(p, c, PLAIN_FRAMES, depth);
        break;
    case 1:
        sample_be_clause(p, c);
        break;
    case 2:
        sample_located_clause(p, c);
        break;
    case 3:
        c->kind = CLAUSE_THERE;
        c->object = rela_sample_np(p, KINDS_LIVING | KINDS_CARRIED | KIND_HOUSE, NEEDS_NOUN, depth);
        c->object->det =
            c->object->agreement.plural && rela_sample_chance(p, 50) ? DET_NUMBER : DET_A;
        c->object->number = 2 + (int)rela_sample_below(p, 11);
        c->object->digits = false;
        c->agreement = c->object->agreement;
        sample_tense(p, c);
        sample_place(p, c, c->object->noun->kinds);
        break;
    default:
        sample_passive_clause(p, c);
        break;
    }
}

static void sample_verb_clause(rela_sentence_plan *p, rela_clause *c, uint32_t frames, int depth)
{
    c->kind = CLAUSE_VERB;
    c->verb = rela_sample_verb(p, frames);
    c->subject = rela_sample_np(p, c->verb->subjects, RICH, depth);
    c->agreement = c->subject->agreement;
    sample_tense(p, c);
    sample_objects(p, c, depth);
    if (c->verb->frame == FRAME_THAT || c->verb->frame == FRAME_TO) {
        c->negated = c->negated && c->verb->frame == FRAME_THAT;
        c->link = c->verb->frame == FRAME_THAT ? LINK_THAT : LINK_TO;
        sample_sub_clause(p, c);
    } else {
        sample_adverbs(p, c);
    }
}

static void sample_objects(rela_sentence_plan *p, rela_clause *c, int depth)
{
    const rela_verb *v = c->verb;
    switch (v->frame) {
    case FRAME_ACC:
    case FRAME_DAT:
    case FRAME_PREP:
        c->object = rela_sample_np(p, v->objects, RICH, depth);
        if ((c->verb->objects & KIND_FOOD) && !c->negated && !p->easy && rela_sample_chance(p, 12))
            c->price =
                50 * (1 + (int)rela_sample_below(p, 200)) + (rela_sample_chance(p, 40) ? 49 : 0);
        break;
    case FRAME_BOTH:
        c->object = rela_sample_np(p, v->objects, MAY_GROW, depth);
        c->indirect = rela_sample_np(p, KIND_HUMAN, MAY_BE_PRONOUN | MAY_BE_NAME, depth);
        c->to_form = c->indirect->kind != NP_IS_PRONOUN && rela_sample_chance(p, 45);
        break;
    case FRAME_GO:
        if ((v->objects & KIND_HOUSE) == 0 || rela_sample_chance(p, 20)) {
            c->city = &RELA_CITIES[rela_sample_below(p, (uint32_t)RELA_N_CITIES)];
            break;
        }
        c->place = rela_sample_np(p, v->objects, NEEDS_NOUN, depth);
        c->where = &RELA_PLACES[0];
        c->to_place = (c->place->noun->kinds & KIND_HOUSE) && rela_sample_chance(p, 50);
        break;
    case FRAME_PUT:
        c->object = rela_sample_np(p, v->objects, MAY_GROW, depth);
        c->where = &RELA_PLACES[1 + rela_sample_below(p, 2)];
        c->place = rela_sample_np(p, c->where->kinds, NEEDS_NOUN, depth);
        break;
    default:
        break;
    }
    c->motion = v->frame == FRAME_GO || v->frame == FRAME_PUT;
}

static void sample_be_clause(rela_sentence_plan *p, rela_clause *c)
{
    c->kind = CLAUSE_BE;
    enum { KINDS = KINDS_LIVING | KINDS_CARRIED | KIND_HOUSE | KIND_VEHICLE | KIND_TASK };
    c->subject = rela_sample_np(p, KINDS, MAY_GROW | NEEDS_NOUN, 1);
    c->agreement = c->subject->agreement;
    c->adjective = rela_sample_adjective(p, c->subject->noun->kinds);
    sample_tense(p, c);
    if (rela_sample_chance(p, 30))
        c->than = rela_sample_np(p, c->adjective->kinds & c->subject->noun->kinds, NEEDS_NOUN, 1);
    else
        c->very = !c->negated && rela_sample_chance(p, 25);
}

static void sample_located_clause(rela_sentence_plan *p, rela_clause *c)
{
    c->kind = CLAUSE_LOCATED;
    c->subject =
        rela_sample_np(p, KINDS_LIVING | KINDS_CARRIED | KIND_VEHICLE, MAY_GROW | NEEDS_NOUN, 1);
    c->agreement = c->subject->agreement;
    sample_tense(p, c);
    sample_place(p, c, c->subject->noun->kinds);
    sample_time(p, c);
}

static void sample_passive_clause(rela_sentence_plan *p, rela_clause *c)
{
    c->kind = CLAUSE_PASSIVE;
    do
        c->verb = rela_sample_verb(p, 1u << FRAME_ACC);
    while (c->verb->flags & VERB_STATE);
    c->subject = rela_sample_np(p, c->verb->objects, MAY_GROW | NEEDS_NOUN, 1);
    c->agreement = c->subject->agreement;
    sample_tense(p, c);
    if (rela_sample_chance(p, 55))
        c->object = rela_sample_np(p, c->verb->subjects, MAY_BE_NAME, 1); /* by whom */
    sample_time(p, c);
}

static void sample_tense(rela_sentence_plan *p, rela_clause *c)
{
    static const uint32_t TENSES[] = { 40, 10, 34, 10, 8 };
    c->tense = (rela_tense)rela_sample_weighted(p, TENSES, 5);
    const bool state = c->kind != CLAUSE_VERB || (c->verb->flags & (VERB_STATE | VERB_COPULA)) != 0;
    if (c->tense == TENSE_PROGRESSIVE && state)
        c->tense = TENSE_PRESENT;
    const bool simple = c->tense == TENSE_PRESENT || c->tense == TENSE_PAST;
    if (simple && !state && rela_sample_chance(p, 18))
        c->modal = (rela_modal)(MODAL_CAN + (int)rela_sample_below(p, MODAL_LIKE));
    if (c->modal == MODAL_SHOULD)
        c->tense = TENSE_PRESENT;
    /* "must not" and "nicht müssen" differ; "likes not to" is odd in both. */
    c->negated = c->modal != MODAL_MUST && c->modal != MODAL_LIKE && rela_sample_chance(p, 12);
}

static void sample_adverbs(rela_sentence_plan *p, rela_clause *c)
{
    const bool plain = !c->negated && c->modal == MODAL_NONE;
    if (plain && c->tense != TENSE_PROGRESSIVE && rela_sample_chance(p, 9))
        c->often = &RELA_OFTEN[rela_sample_below(p, (uint32_t)RELA_N_OFTEN)];
    else if (c->verb->frame <= FRAME_ACC && !(c->verb->flags & VERB_STATE) &&
             rela_sample_chance(p, 12))
        c->manner = &RELA_MANNERS[rela_sample_below(p, (uint32_t)RELA_N_MANNERS)];
    if (!c->place && !c->city && (c->verb->subjects & KIND_HUMAN) && rela_sample_chance(p, 14)) {
        if (rela_sample_chance(p, 25))
            c->city = &RELA_CITIES[rela_sample_below(p, (uint32_t)RELA_N_CITIES)];
        else
            sample_place(p, c, KIND_HUMAN);
    }
    sample_time(p, c);
}

static void sample_time(rela_sentence_plan *p, rela_clause *c)
{
    static const rela_time_kind PAST[] = { TIME_MOMENT, TIME_DAY,  TIME_YEAR,  TIME_AGO,
                                           TIME_NEAR,   TIME_PART, TIME_MONTH, TIME_FOR };
    static const rela_time_kind NOW[] = { TIME_MOMENT, TIME_DAY, TIME_CLOCK, TIME_EVERY,
                                          TIME_PART };
    static const rela_time_kind LATER[] = { TIME_MOMENT, TIME_DAY, TIME_MONTH, TIME_CLOCK,
                                            TIME_NEAR };
    const bool past = c->tense == TENSE_PAST, later = c->tense == TENSE_FUTURE;
    if (c->tense == TENSE_PERFECT || c->tense == TENSE_PROGRESSIVE || !rela_sample_chance(p, 34))
        return;
    rela_time *t = &c->time;
    t->kind = past    ? PAST[rela_sample_below(p, sizeof PAST / sizeof PAST[0])]
              : later ? LATER[rela_sample_below(p, sizeof LATER / sizeof LATER[0])]
                      : NOW[rela_sample_below(p, sizeof NOW / sizeof NOW[0])];
    if (p->easy && t->kind == TIME_YEAR)
        t->kind = TIME_MOMENT; /* years would be a hundred rare words */
    t->number = 2 + (int)rela_sample_below(p, 8);
    t->next = later;
    switch (t->kind) {
    case TIME_MOMENT:
        t->word = &RELA_MOMENTS[past    ? 1
                                : later ? 2 + 2 * rela_sample_below(p, 2)
                                        : 3 * rela_sample_below(p, 2)];
        break;
    case TIME_DAY:
        t->word = &RELA_DAYS[rela_sample_below(p, (uint32_t)RELA_N_DAYS)];
        break;
    case TIME_MONTH:
        t->word = &RELA_MONTHS[rela_sample_below(p, (uint32_t)RELA_N_MONTHS)];
        break;
    case TIME_PART:
        t->word = &RELA_PARTS[rela_sample_below(p, (uint32_t)RELA_N_PARTS)];
        break;
    case TIME_YEAR:
        t->number = 1900 + (int)rela_sample_below(p, 120);
        break;
    case TIME_CLOCK:
        t->number = 1 + (int)rela_sample_below(p, 12);
        break;
    default:
        t->word = &RELA_UNITS[rela_sample_below(p, (uint32_t)RELA_N_UNITS)];
        break;
    }
    c->time_first = rela_sample_chance(p, 40);
}

/* Where something of these kinds can be. */
static void sample_place(rela_sentence_plan *p, rela_clause *c, uint32_t kinds)
{
    const uint32_t n = (uint32_t)RELA_N_PLACES;
    const bool carried = (kinds & KINDS_CARRIED) != 0;
    const uint32_t i = carried                     ? 1 + rela_sample_below(p, 2)
                       : rela_sample_chance(p, 60) ? 0
                                                   : 3 + rela_sample_below(p, n - 3);
    c->where = &RELA_PLACES[i];
    c->place = rela_sample_np(p, c->where->kinds, NEEDS_NOUN, 1);
    if (c->where->kinds == KIND_SHORE) { /* what follows tells which bank is meant */
        c->place->owner = rela_sample_np(p, KIND_WATER, NEEDS_NOUN, 2);
        c->place->det = c->place->owner->det = DET_THE;
        c->place->plural = false;
        c->place->adjective[0] = c->place->adjective[1] = NULL;
    }
}

static void sample_sub_clause(rela_sentence_plan *p, rela_clause *c)
{
    rela_clause *s = rela_sample_clause(p);
    c->sub = s;
    if (c->link == LINK_TO) {
        enum { FRAMES = 1u << FRAME_ACC | 1u << FRAME_DAT | 1u << FRAME_BOTH | 1u << FRAME_PUT };
        do
            s->verb = rela_sample_verb(p, FRAMES);
        while (!(s->verb->subjects & KIND_HUMAN) || (s->verb->flags & VERB_STATE));
        s->kind = CLAUSE_VERB;
        s->agreement = c->agreement;
        sample_objects(p, s, 1);
        s->price = 0;
        return;
    }
    sample_clause(p, s, 1);
    s->time_first = s->time_first && c->link >= LINK_AND;
    if (c->link != LINK_AND && c->link != LINK_BUT) { /* the tenses agree */
        const bool past = c->tense == TENSE_PAST || c->tense == TENSE_PERFECT;
        s->tense = past ? TENSE_PAST : TENSE_PRESENT;
        s->modal = s->modal == MODAL_SHOULD ? MODAL_NONE : s->modal;
        s->time = (rela_time){ .kind = TIME_NONE };
    }
    /* A pronoun for what the first clause is about, if it fits as the subject of the second. */
    rela_np *const about[] = { c->object, c->subject };
    for (int i = 0; i < 2; i++) {
        const rela_np *np = about[i];
        if (!np || np->kind != NP_IS_NOUN || !np->noun || np->and || !s->subject || s->subject->and)
            continue;
        const uint32_t needs = s->kind == CLAUSE_VERB      ? s->verb->subjects
                               : s->kind == CLAUSE_PASSIVE ? s->verb->objects
                               : s->kind == CLAUSE_BE      ? s->adjective->kinds
                               : s->subject->noun          ? s->subject->noun->kinds
                                                           : 0;
        const bool person = (np->noun->kinds & KIND_HUMAN) != 0;
        if (!(np->noun->kinds & needs) || (person && !np->sex && !np->agreement.plural) ||
            !rela_sample_chance(p, 60))
            continue;
        s->subject = rela_sample_reference(p, np);
        s->agreement = s->subject->agreement;
        return;
    }
}
