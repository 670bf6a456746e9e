/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_german.c - says a plan in German: the finite verb comes second in a main
 * clause, first in a question and last in a subordinate clause; the rest of the verb closes the
 * clause. */
#include "grammar/grammar_german.h"

#include <stdio.h>
#include <string.h>

static void say_clause(rela_phrase *l, const rela_clause *c, rela_clause_position where);
static void say_sub(rela_phrase *l, const rela_clause *c);
static void say_middle(rela_phrase *l, const rela_clause *c, bool with_subject);
static void say_late(rela_phrase *l, const rela_clause *c);
static void say_subject(rela_phrase *l, const rela_clause *c);
static void say_part(rela_phrase *l, const rela_verb_part *p);
static void say_place(rela_phrase *l, const rela_clause *c);
static void say_time(rela_phrase *l, const rela_clause *c);
static void say_span(rela_phrase *l, const rela_time *t, int tag);
static bool takes_kein(const rela_clause *c);

void rela_say_german(rela_phrase *line, const rela_sentence_plan *plan)
{
    const rela_clause *c = &plan->clause[0];
    say_clause(line, c, IN_MAIN);
    rela_phrase_put(line, c->question ? "?" : ".", POS_PUNCT, c->id + CL_STOP);
}

void rela_german_relative(rela_phrase *line, const rela_clause *c)
{
    say_clause(line, c, IN_SUB);
}

static void say_clause(rela_phrase *l, const rela_clause *c, rela_clause_position where)
{
    rela_verb_group g = { .n_tail = 0 };
    rela_german_verb_group(&g, c, where);
    const bool verb_first = where == IN_MAIN;
    const bool fronted = c->sub_first || c->time_first;
    if (c->sub_first) {
        say_sub(l, c);
        rela_phrase_put(l, ",", POS_PUNCT, c->id + CL_COMMA);
    } else if (c->time_first) {
        say_time(l, c);
    }
    if (verb_first && !fronted && !c->question)
        say_subject(l, c);
    if (verb_first)
        say_part(l, &g.finite);
    say_middle(l, c, where != AFTER_ZU && (!verb_first || fronted || c->question));
    for (int i = 0; i < g.n_tail; i++)
        say_part(l, &g.tail[i]);
    if (where == IN_SUB)
        say_part(l, &g.finite);
    if (c->sub && !c->sub_first)
        say_sub(l, c);
}

static void say_sub(rela_phrase *l, const rela_clause *c)
{
    static const char *const LINKS[] = { "",     "dass", "",        "weil", "obwohl",
                                         "wenn", "wenn", "während", "und",  "aber" };
    const bool past = c->sub->tense == TENSE_PAST;
    const char *link = c->link == LINK_WHEN && past ? "als" : LINKS[c->link];
    if (c->link == LINK_BUT)
        rela_phrase_put(l, ",", POS_PUNCT, c->id + CL_COMMA);
    else if (!c->sub_first && c->link != LINK_AND)
        rela_phrase_put(l, ",", POS_PUNCT, 0);
    if (c->link != LINK_TO)
        rela_phrase_put(l, link, c->link >= LINK_AND ? POS_CCONJ : POS_SCONJ, c->id + CL_LINK);
    say_clause(l, c->sub, c->link == LINK_TO ? AFTER_ZU : c->link >= LINK_AND ? IN_MAIN : IN_SUB);
}

/* Pronouns, time, objects; then "nicht" and what it stands before. */
static void say_middle(rela_phrase *l, const rela_clause *c, bool with_subject)
{
    static const char *const REFLEXIVE[] = { "mich", "dich", "sich", "uns" };
    const rela_agreement a = c->agreement;
    const bool accusative = c->kind == CLAUSE_THERE || (c->verb && (c->verb->frame == FRAME_ACC ||
                                                                    c->verb->frame == FRAME_BOTH ||
                                                                    c->verb->frame == FRAME_PUT));
    const rela_case k = accusative ? CASE_ACC : CASE_DAT;
    const bool plain_object = c->object && c->kind != CLAUSE_PASSIVE && !(c->verb && c->verb->prep);
    const bool early = plain_object && c->object->kind == NP_IS_PRONOUN;
    if (with_subject)
        say_subject(l, c);
    if (c->kind == CLAUSE_VERB && c->verb && (c->verb->flags & VERB_REFLEXIVE)) {
        const int i = a.person == 3 ? 2 : a.plural ? 3 : a.person - 1;
        rela_phrase_put(l, REFLEXIVE[i], POS_PRON, 0);
    }
    if (early)
        rela_german_np(l, c->object, k);
    if (c->indirect && c->indirect->kind == NP_IS_PRONOUN)
        rela_german_np(l, c->indirect, CASE_DAT);
    if (c->flavour)
        rela_phrase_put(l, c->flavour, POS_ADV, 0);
    if (!c->time_first)
        say_time(l, c);
    if (c->often)
        rela_phrase_put(l, c->often->de, POS_ADV, c->id + CL_OFTEN);
    if (c->modal == MODAL_LIKE)
        rela_phrase_put(l, "gern", POS_ADV, c->id + CL_MODAL);
    if (c->indirect && c->indirect->kind != NP_IS_PRONOUN)
        rela_german_np(l, c->indirect, CASE_DAT);
    if (plain_object && !early && takes_kein(c))
        rela_german_no_np(l, c->object, k, c->id + CL_NOT);
    else if (plain_object && !early)
        rela_german_np(l, c->object, k);
    if (c->negated && !takes_kein(c))
        rela_phrase_put(l, "nicht", POS_PART, c->id + CL_NOT);
    say_late(l, c);
}

static void say_late(rela_phrase *l, const rela_clause *c)
{
    char word[FORM_MAX];
    if (c->kind == CLAUSE_PASSIVE && c->object)
        rela_german_with(l, "von", c->id + CL_BY, c->object, CASE_DAT);
    if (c->price) {
        (void)snprintf(word, sizeof word, "%d,%02d", c->price / 100, c->price % 100);
        rela_phrase_put(l, "für", POS_ADP, c->id + CL_FOR);
        rela_phrase_put(l, word, POS_NUM, c->id + CL_PRICE);
        rela_phrase_put(l, "Euro", POS_NOUN, c->id + CL_EURO);
    }
    if (c->manner)
        rela_phrase_put(l, c->manner->de, POS_ADV, c->id + CL_MANNER);
    if (c->kind == CLAUSE_VERB && c->verb->prep && c->object) {
        char english[FORM_MAX], k[FORM_MAX] = "";
        (void)rela_word_form(word, c->verb->prep, 1);
        (void)rela_word_form(k, c->verb->prep, 2);
        const bool both = rela_word_form(english, c->verb->prep, 0);
        rela_german_with(l, word, both ? c->id + CL_PREP : c->id + CL_VERB + TAG_LOOSE, c->object,
                         *k == 'a' ? CASE_ACC : CASE_DAT);
    }
    say_place(l, c);
    if (c->kind == CLAUSE_BE) {
        if (c->very)
            rela_phrase_put(l, "sehr", POS_ADV, c->id + CL_VERY);
        (void)rela_word_form(word, c->adjective->de, 0);
        char positive[FORM_MAX];
        rela_word_join(positive, word, "", "");
        if (c->than && !rela_word_form(word, c->adjective->de, 2))
            rela_word_join(word, positive, "er", "");
        rela_phrase_put(l, word, POS_ADJ, c->id + CL_ADJ);
        if (c->than) {
            rela_phrase_put(l, "als", POS_CCONJ, c->id + CL_THAN);
            rela_german_np(l, c->than, CASE_NOM);
        }
    }
}

static void say_subject(rela_phrase *l, const rela_clause *c)
{
    if (c->kind == CLAUSE_THERE)
        rela_phrase_put(l, "es", POS_PRON, c->id + CL_THERE);
    else if (c->subject)
        rela_german_np(l, c->subject, CASE_NOM);
}

static void say_part(rela_phrase *l, const rela_verb_part *p)
{
    rela_phrase_put(l, p->text, p->pos, p->tag[0]);
    rela_phrase_tag(l, p->tag[1]);
    rela_phrase_tag(l, p->tag[2]);
}

static void say_place(rela_phrase *l, const rela_clause *c)
{
    if (c->city) {
        rela_phrase_put(l, c->motion ? "nach" : "in", POS_ADP, c->id + CL_WHERE);
        rela_phrase_put(l, c->city->de, POS_PROPN, c->id + CL_CITY);
    } else if (c->place && c->to_place) {
        rela_german_with(l, "zu", c->id + CL_WHERE, c->place, CASE_DAT);
    } else if (c->place) {
        rela_german_with(l, c->where->de, c->id + CL_WHERE, c->place,
                         c->motion ? CASE_ACC : CASE_DAT);
    }
}

static void say_time(rela_phrase *l, const rela_clause *c)
{
    const rela_time *t = &c->time;
    const int tag = c->id + CL_TIME;
    char word[FORM_MAX];
    switch (t->kind) {
    case TIME_NONE:
        break;
    case TIME_MOMENT:
        rela_phrase_put(l, t->word->de, POS_ADV, tag);
        break;
    case TIME_DAY:
    case TIME_MONTH:
    case TIME_PART:
        rela_phrase_put(l, t->kind == TIME_MONTH ? "im" : "am", POS_ADP, tag);
        rela_phrase_tag(l, t->kind == TIME_PART ? tag + 2 : 0);
        rela_phrase_put(l, t->word->de, POS_NOUN, tag + 1);
        break;
    case TIME_YEAR:
        (void)snprintf(word, sizeof word, "%d", t->number);
        rela_phrase_put(l, "im", POS_ADP, tag);
        rela_phrase_put(l, "Jahr", POS_NOUN, tag + 1 + TAG_LOOSE);
        rela_phrase_put(l, word, POS_NUM, tag + 1);
        break;
    case TIME_CLOCK:
        rela_de_number(word, t->number);
        rela_phrase_put(l, "um", POS_ADP, tag);
        rela_phrase_put(l, t->number == 1 ? "ein" : word, POS_NUM, tag + 1);
        rela_phrase_put(l, "Uhr", POS_NOUN, tag + 1 + TAG_LOOSE);
        break;
    case TIME_AGO:
    case TIME_FOR:
        say_span(l, t, tag);
        break;
    case TIME_NEAR:
    case TIME_EVERY:
        rela_de_like_der(word,
                         t->kind == TIME_EVERY ? "jed"
                         : t->next             ? "nächst"
                                               : "letzt",
                         CASE_ACC, (int)t->word->use);
        rela_phrase_put(l, word, t->kind == TIME_EVERY ? POS_DET : POS_ADJ, tag);
        rela_phrase_put(l, t->word->de, POS_NOUN, tag + 1);
        break;
    }
}

/* vor drei Tagen, drei Tage lang */
static void say_span(rela_phrase *l, const rela_time *t, int tag)
{
    char number[FORM_MAX], units[FORM_MAX];
    const bool ago = t->kind == TIME_AGO, feminine = t->word->use == GENDER_F;
    rela_de_number(number, t->number);
    rela_word_join(units, t->word->de, feminine ? "n" : ago ? "en" : "e", "");
    if (ago)
        rela_phrase_put(l, "vor", POS_ADP, tag + 2);
    rela_phrase_put(l, number, POS_NUM, tag);
    rela_phrase_put(l, units, POS_NOUN, tag + 1);
    if (!ago)
        rela_phrase_put(l, "lang", POS_ADV, tag + 2);
}

static bool takes_kein(const rela_clause *c)
{
    const rela_np *np = c->object;
    return c->negated && np && np->kind == NP_IS_NOUN && np->det == DET_A && !np->and
           &&c->kind != CLAUSE_PASSIVE && !(c->verb && c->verb->prep);
}
