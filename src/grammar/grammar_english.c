/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_english.c - says a plan in English: subject, verb, object, then the rest. */
#include "grammar/english.h"
#include "grammar/grammar_plan.h"

#include <stdio.h>
#include <string.h>

/* The position of a clause in the sentence. */
typedef enum clause_position { IN_MAIN, IN_SUB, IN_RELATIVE, AFTER_TO } clause_position;

/* The words of the verb in order; the first is the finite one. */
typedef struct group {
    char text[5][FORM_MAX];
    int tag[5];
    rela_pos pos[5];
    int n;
    bool helper; /* the first word is be, have, do or a modal: "not" and "often" follow it */
} group;

static void say_clause(rela_phrase *l, const rela_clause *c, clause_position where);
static void say_sub(rela_phrase *l, const rela_clause *c);
static void say_verb(rela_phrase *l, const rela_clause *c, clause_position where);
static void build_group(group *g, const rela_clause *c);
static void build_simple(group *g, const rela_clause *c, const char *forms, int tag);
static void build_helper_do(group *g, const rela_clause *c);
static void add(group *g, const char *text, rela_pos pos, int tag);
static void add_verb(group *g, const char *forms, rela_en_form form, rela_pos pos, int tag);
static void say_complements(rela_phrase *l, const rela_clause *c);
static void say_objects(rela_phrase *l, const rela_clause *c);
static void say_place(rela_phrase *l, const rela_clause *c);
static void say_time(rela_phrase *l, const rela_clause *c);
static void say_np(rela_phrase *l, const rela_np *np, bool subject);
static void say_determiner(rela_phrase *l, const rela_np *np, const char *next);
static void say_pronoun(rela_phrase *l, const rela_np *np, bool subject);
static void say_preposition(rela_phrase *l, const char *words, int tag);
static rela_pos particle_pos(const char *word);
static rela_pos moment_pos(const char *word);
static const char *be(rela_agreement a, bool past);

/* The forms of be, written as in the verb lists; its finite forms come from be(). */
static const char BE[] = "be was been being";

void rela_say_english(rela_phrase *line, const rela_sentence_plan *plan)
{
    const rela_clause *c = &plan->clause[0];
    say_clause(line, c, IN_MAIN);
    rela_phrase_put(line, c->question ? "?" : ".", POS_PUNCT, c->id + CL_STOP);
}

static void say_clause(rela_phrase *l, const rela_clause *c, clause_position where)
{
    if (c->sub_first) {
        say_sub(l, c);
        rela_phrase_put(l, ",", POS_PUNCT, c->id + CL_COMMA);
    }
    if (c->time_first)
        say_time(l, c);
    say_verb(l, c, where);
    say_complements(l, c);
    if (!c->time_first)
        say_time(l, c);
    if (c->sub && !c->sub_first)
        say_sub(l, c);
}

static void say_sub(rela_phrase *l, const rela_clause *c)
{
    static const char *const LINKS[] = { "",     "that", "to",    "because", "although",
                                         "when", "if",   "while", "and",     "but" };
    if (c->link == LINK_BUT)
        rela_phrase_put(l, ",", POS_PUNCT, c->id + CL_COMMA);
    if (c->link != LINK_TO)
        rela_phrase_put(l, LINKS[c->link], c->link >= LINK_AND ? POS_CCONJ : POS_SCONJ,
                        c->id + CL_LINK);
    say_clause(l, c->sub, c->link == LINK_TO ? AFTER_TO : c->link >= LINK_AND ? IN_MAIN : IN_SUB);
}

static void say_verb(rela_phrase *l, const rela_clause *c, clause_position where)
{
    group g = { .n = 0 };
    char base[FORM_MAX];
    if (where == AFTER_TO) {
        rela_phrase_put(l, "to", POS_PART, c->id + CL_TO);
        rela_en_verb(base, c->verb->en, EN_BASE);
        rela_phrase_put(l, base, POS_VERB, c->id + CL_VERB);
        return;
    }
    build_group(&g, c);
    if ((c->negated || c->question) && !g.helper)
        build_helper_do(&g, c);
    if (c->kind == CLAUSE_THERE && !c->question)
        rela_phrase_put(l, "there", POS_PRON, c->id + CL_THERE);
    if (!c->question && c->subject)
        say_np(l, c->subject, true);
    if (c->often && !g.helper)
        rela_phrase_put(l, c->often->en, POS_ADV, c->id + CL_OFTEN);
    rela_phrase_put(l, g.text[0], g.pos[0], g.tag[0]);
    if (c->kind == CLAUSE_THERE && c->question)
        rela_phrase_put(l, "there", POS_PRON, c->id + CL_THERE);
    if (c->question && c->subject)
        say_np(l, c->subject, true);
    if (c->negated)
        rela_phrase_put(l, "not", POS_PART, c->id + CL_NOT);
    if (c->often && g.helper)
        rela_phrase_put(l, c->often->en, POS_ADV, c->id + CL_OFTEN);
    for (int i = 1; i < g.n; i++)
        rela_phrase_put(l, g.text[i], g.pos[i], g.tag[i]);
}

static void build_group(group *g, const rela_clause *c)
{
    static const char *const MODALS[][2] = { { "", "" },           { "can", "could" },
                                             { "must", "had" },    { "should", "should" },
                                             { "want", "wanted" }, { "like", "liked" } };
    const bool copula = c->kind != CLAUSE_VERB || (c->verb->flags & VERB_COPULA);
    const bool passive = c->kind == CLAUSE_PASSIVE;
    const bool past = c->tense == TENSE_PAST;
    /* Forms and tag of "be" or of the verb; in the passive, "be" is an auxiliary of its own. */
    const char *forms = copula ? BE : c->verb->en;
    const bool own_verb = c->kind == CLAUSE_VERB && copula; /* is happy about */
    const int tag = passive ? c->id + CL_AUX_2 : c->id + CL_VERB + (own_verb ? TAG_LOOSE : 0);
    const rela_pos pos = copula && c->kind != CLAUSE_THERE ? POS_AUX : POS_VERB;
    if (c->modal) {
        char modal[FORM_MAX];
        const bool to = c->modal >= MODAL_WANT || (c->modal == MODAL_MUST && past);
        rela_word_join(modal, MODALS[c->modal][past], "", "");
        if (c->modal >= MODAL_WANT && !past && c->agreement.person == 3 && !c->agreement.plural)
            rela_word_join(modal, MODALS[c->modal][0], "s", "");
        add(g, modal, to ? POS_VERB : POS_AUX, c->id + CL_MODAL);
        g->helper = c->modal < MODAL_WANT;
        if (to)
            add(g, "to", POS_PART, 0);
        add_verb(g, forms, EN_BASE, pos, tag);
    } else if (c->tense == TENSE_FUTURE) {
        add(g, "will", POS_AUX, c->id + CL_AUX);
        g->helper = true;
        add_verb(g, forms, EN_BASE, pos, tag);
    } else if (c->tense == TENSE_PERFECT) {
        const bool has = c->agreement.person == 3 && !c->agreement.plural;
        add(g, has ? "has" : "have", POS_AUX, c->id + CL_AUX);
        g->helper = true;
        add_verb(g, forms, EN_PARTICIPLE, pos, tag);
    } else if (c->tense == TENSE_PROGRESSIVE) {
        add(g, be(c->agreement, false), POS_AUX, c->id + CL_VERB + TAG_LOOSE);
        g->helper = true;
        add_verb(g, forms, EN_ING, pos, tag);
    } else if (copula) {
        add(g, be(c->agreement, past), pos, passive ? c->id + CL_AUX : tag);
        g->helper = true;
    } else {
        build_simple(g, c, forms, tag);
    }
    if (passive)
        add_verb(g, c->verb->en, EN_PARTICIPLE, POS_VERB, c->id + CL_VERB);
    else if (own_verb)
        add_verb(g, c->verb->en, EN_BASE, POS_ADJ, c->id + CL_VERB);
}

static void build_simple(group *g, const rela_clause *c, const char *forms, int tag)
{
    const bool third = c->agreement.person == 3 && !c->agreement.plural;
    add_verb(g, forms,
             c->tense == TENSE_PAST ? EN_PAST
             : third                ? EN_THIRD
                                    : EN_BASE,
             POS_VERB, tag);
}

/* He does not see: do takes the ending, the verb loses it. */
static void build_helper_do(group *g, const rela_clause *c)
{
    const bool third = c->agreement.person == 3 && !c->agreement.plural;
    for (int i = g->n++; i > 0; i--) {
        memcpy(g->text[i], g->text[i - 1], FORM_MAX);
        g->tag[i] = g->tag[i - 1];
        g->pos[i] = g->pos[i - 1];
    }
    rela_word_join(g->text[0], c->tense == TENSE_PAST ? "did" : third ? "does" : "do", "", "");
    if (c->modal >= MODAL_WANT)
        rela_word_join(g->text[1], c->modal == MODAL_WANT ? "want" : "like", "", "");
    else
        rela_en_verb(g->text[1], c->verb->en, EN_BASE);
    g->tag[0] = 0; /* German has nothing like it */
    g->pos[0] = POS_AUX;
    g->helper = true;
}

static void add(group *g, const char *text, rela_pos pos, int tag)
{
    rela_word_join(g->text[g->n], text, "", "");
    g->pos[g->n] = pos;
    g->tag[g->n++] = tag;
}

static void add_verb(group *g, const char *forms, rela_en_form form, rela_pos pos, int tag)
{
    rela_en_verb(g->text[g->n], forms, form);
    g->pos[g->n] = pos;
    g->tag[g->n++] = tag;
}

static void say_complements(rela_phrase *l, const rela_clause *c)
{
    char word[FORM_MAX];
    if (c->kind == CLAUSE_BE) {
        const bool more = c->than && !rela_word_form(word, c->adjective->en, 1);
        if (!c->than || more)
            (void)rela_word_form(word, c->adjective->en, 0);
        if (more)
            rela_phrase_put(l, "more", POS_ADV, c->id + CL_ADJ);
        if (c->very)
            rela_phrase_put(l, "very", POS_ADV, c->id + CL_VERY);
        rela_phrase_put(l, word, POS_ADJ, c->id + CL_ADJ);
        if (c->than) {
            rela_phrase_put(l, "than", POS_ADP, c->id + CL_THAN);
            say_np(l, c->than, true);
        }
    }
    say_objects(l, c);
    if (c->price) {
        (void)snprintf(word, sizeof word, "%d.%02d", c->price / 100, c->price % 100);
        rela_phrase_put(l, "for", POS_ADP, c->id + CL_FOR);
        rela_phrase_put(l, word, POS_NUM, c->id + CL_PRICE);
        rela_phrase_put(l, "euros", POS_NOUN, c->id + CL_EURO);
    }
    if (c->manner)
        rela_phrase_put(l, c->manner->en, POS_ADV, c->id + CL_MANNER);
    say_place(l, c);
}

static void say_objects(rela_phrase *l, const rela_clause *c)
{
    const char *particle = c->verb ? rela_word_extra(c->verb->en) : NULL;
    char prep[FORM_MAX];
    /* "for", "at", "to" stay with the verb; "up", "on", "away" follow the object. */
    const bool before = particle && (strcmp(particle, "for") == 0 || strcmp(particle, "at") == 0 ||
                                     strcmp(particle, "to") == 0);
    if (before)
        rela_phrase_put(l, particle, POS_ADP, c->id + CL_PARTICLE);
    if (c->kind == CLAUSE_PASSIVE && particle && !before)
        rela_phrase_put(l, particle, particle_pos(particle), c->id + CL_PARTICLE);
    if (c->kind == CLAUSE_PASSIVE && c->object)
        rela_phrase_put(l, "by", POS_ADP, c->id + CL_BY);
    else if (c->object && c->verb && c->verb->prep && rela_word_form(prep, c->verb->prep, 0))
        rela_phrase_put(l, prep, POS_ADP, c->id + CL_PREP);
    if (c->indirect && !c->to_form)
        say_np(l, c->indirect, false);
    if (c->object)
        say_np(l, c->object, false);
    if (c->indirect && c->to_form) {
        rela_phrase_put(l, "to", POS_ADP, 0); /* German has a case for it */
        say_np(l, c->indirect, false);
    }
    if (c->kind != CLAUSE_PASSIVE && particle && !before)
        rela_phrase_put(l, particle, particle_pos(particle), c->id + CL_PARTICLE);
}

static void say_place(rela_phrase *l, const rela_clause *c)
{
    if (c->city) {
        rela_phrase_put(l, c->motion ? "to" : "in", POS_ADP, c->id + CL_WHERE);
        rela_phrase_put(l, c->city->en, POS_PROPN, c->id + CL_CITY);
    } else if (c->place) {
        if (c->motion && c->verb->frame == FRAME_GO)
            rela_phrase_put(l, c->to_place ? "to" : "into", POS_ADP, c->id + CL_WHERE);
        else
            say_preposition(l, c->where->en, c->id + CL_WHERE);
        say_np(l, c->place, false);
    }
}

static void say_time(rela_phrase *l, const rela_clause *c)
{
    const rela_time *t = &c->time;
    const int tag = c->id + CL_TIME;
    char number[FORM_MAX], units[FORM_MAX];
    if (t->number < 100)
        rela_en_number(number, t->number);
    else
        (void)snprintf(number, sizeof number, "%d", t->number);
    const char *word = t->word ? t->word->en : "";
    rela_word_join(units, word, "s", "");
    switch (t->kind) {
    case TIME_NONE:
        break;
    case TIME_MOMENT:
        rela_phrase_put(l, word, moment_pos(word), tag);
        break;
    case TIME_DAY:
    case TIME_MONTH:
    case TIME_PART:
        rela_phrase_put(l, t->kind == TIME_DAY ? "on" : "in", POS_ADP, tag);
        if (t->kind == TIME_PART)
            rela_phrase_put(l, "the", POS_DET, tag + 2);
        rela_phrase_put(l, word, t->kind == TIME_PART ? POS_NOUN : POS_PROPN, tag + 1);
        break;
    case TIME_YEAR:
    case TIME_CLOCK:
        rela_phrase_put(l, t->kind == TIME_YEAR ? "in" : "at", POS_ADP, tag);
        rela_phrase_put(l, number, POS_NUM, tag + 1);
        break;
    case TIME_AGO:
        rela_phrase_put(l, number, POS_NUM, tag);
        rela_phrase_put(l, units, POS_NOUN, tag + 1);
        rela_phrase_put(l, "ago", POS_ADV, tag + 2);
        break;
    case TIME_FOR:
        rela_phrase_put(l, "for", POS_ADP, tag + 2);
        rela_phrase_put(l, number, POS_NUM, tag);
        rela_phrase_put(l, units, POS_NOUN, tag + 1);
        break;
    case TIME_NEAR:
    case TIME_EVERY:
        rela_phrase_put(l,
                        t->kind == TIME_EVERY ? "every"
                        : t->next             ? "next"
                                              : "last",
                        t->kind == TIME_EVERY ? POS_DET : POS_ADJ, tag);
        rela_phrase_put(l, word, POS_NOUN, tag + 1);
        break;
    }
}

static void say_np(rela_phrase *l, const rela_np *np, bool subject)
{
    char noun[FORM_MAX], adjective[2][FORM_MAX];
    if (np->kind == NP_IS_PRONOUN) {
        say_pronoun(l, np, subject);
        return;
    }
    if (np->kind == NP_IS_NAME) {
        rela_phrase_put(l, np->name, POS_PROPN, np->id + NP_NOUN);
        if (np->surname)
            rela_phrase_put(l, np->surname, POS_PROPN, np->id + NP_MODIFIER);
        return;
    }
    rela_en_noun(noun, np->noun, np->plural, np->det >= DET_MY);
    for (int i = 0; i < 2 && np->adjective[i]; i++)
        (void)rela_word_form(adjective[i], np->adjective[i]->en, 0);
    say_determiner(l, np, np->adjective[0] ? adjective[0] : np->modifier ? np->modifier->en : noun);
    if (np->adjective[0])
        rela_phrase_put(l, adjective[0], POS_ADJ, np->id + NP_ADJ);
    if (np->adjective[1]) {
        rela_phrase_put(l, "and", POS_CCONJ, np->id + NP_ADJ_AND);
        rela_phrase_put(l, adjective[1], POS_ADJ, np->id + NP_ADJ_2);
    }
    if (np->modifier)
        rela_phrase_put(l, np->modifier->en, POS_NOUN, np->id + NP_MODIFIER);
    rela_phrase_put(l, noun, POS_NOUN, np->id + NP_NOUN);
    if (np->owner) {
        rela_phrase_put(l, "of", POS_ADP, np->id + NP_OF);
        say_np(l, np->owner, false);
    }
    if (np->relative) {
        const bool who = (np->noun->kinds & KIND_HUMAN) && !np->relative->object_is_noun;
        rela_phrase_put(l, who ? "who" : "that", POS_PRON, np->id + NP_REL);
        say_clause(l, np->relative, IN_RELATIVE);
    }
    if (np->and) {
        rela_phrase_put(l, "and", POS_CCONJ, np->id + NP_AND);
        say_np(l, np->and, subject);
    }
}

static void say_determiner(rela_phrase *l, const rela_np *np, const char *next)
{
    static const char *const WORDS[] = { "the",  "a",   "this", "every", "",     "my",
                                         "your", "his", "her",  "our",   "their" };
    const bool bare = np->det == DET_A && (np->plural || (np->noun->kinds & KIND_MASS));
    char number[FORM_MAX];
    if (np->det == DET_NUMBER) {
        rela_en_number(number, np->number);
        if (np->digits)
            (void)snprintf(number, sizeof number, "%d", np->number);
        rela_phrase_put(l, number, POS_NUM, np->id + NP_NUMBER);
    } else if (np->det == DET_A && !bare) {
        rela_phrase_put(l, rela_en_takes_an(next) ? "an" : "a", POS_DET, np->id + NP_DET);
    } else if (np->det == DET_THIS && np->plural) {
        rela_phrase_put(l, "these", POS_DET, np->id + NP_DET);
    } else if (!bare) {
        rela_phrase_put(l, WORDS[np->det], np->det >= DET_MY ? POS_PRON : POS_DET, np->id + NP_DET);
    }
}

static void say_pronoun(rela_phrase *l, const rela_np *np, bool subject)
{
    static const char *const FIRST[2][2] = { { "me", "I" }, { "us", "we" } };
    const rela_agreement a = np->agreement;
    const char *word = a.person == 1    ? FIRST[a.plural][subject]
                       : a.person == 2  ? "you"
                       : a.plural       ? subject ? "they" : "them"
                       : np->sex == 'm' ? subject ? "he" : "him"
                       : np->sex == 'f' ? subject ? "she" : "her"
                                        : "it";
    rela_phrase_put(l, word, POS_PRON, np->id + NP_NOUN);
}

/* on, next to, in front of */
static void say_preposition(rela_phrase *l, const char *words, int tag)
{
    char word[FORM_MAX];
    for (int i = 0; rela_word_form(word, words, i); i++)
        rela_phrase_put(l, word,
                        strcmp(word, "next") == 0    ? POS_ADV
                        : strcmp(word, "front") == 0 ? POS_NOUN
                                                     : POS_ADP,
                        tag);
}

static bool is_one_of(const char *word, const char *const *list)
{
    while (*list && strcmp(word, *list) != 0)
        list++;
    return *list != NULL;
}

/* away, asleep, up */
static rela_pos particle_pos(const char *word)
{
    static const char *const ADVERBS[] = { "away", "back", NULL };
    return is_one_of(word, ADVERBS) ? POS_ADV : strcmp(word, "asleep") == 0 ? POS_ADJ : POS_ADP;
}

/* today, now */
static rela_pos moment_pos(const char *word)
{
    static const char *const NOUNS[] = { "today", "yesterday", "tomorrow", NULL };
    return is_one_of(word, NOUNS) ? POS_NOUN : POS_ADV;
}

static const char *be(rela_agreement a, bool past)
{
    if (past)
        return a.plural || a.person == 2 ? "were" : "was";
    return a.plural || a.person == 2 ? "are" : a.person == 1 ? "am" : "is";
}
