/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_german_np.c - German noun phrases: articles, endings, compounds, genitives.
 */
#include "grammar/grammar_german.h"

#include <stdio.h>

static void say_after_determiner(rela_phrase *l, const rela_np *np, rela_case k, bool bare);
static void say_owner(rela_phrase *l, const rela_np *np);
static void say_determiner(rela_phrase *l, const rela_np *np, rela_case k);
static void say_pronoun(rela_phrase *l, const rela_np *np, rela_case k);
static bool is_bare(const rela_np *np);
static int column_of(const rela_np *np);

void rela_german_np(rela_phrase *l, const rela_np *np, rela_case k)
{
    if (np->kind == NP_IS_PRONOUN) {
        say_pronoun(l, np, k);
    } else if (np->kind == NP_IS_NAME) {
        rela_phrase_put(l, np->name, POS_PROPN, np->id + NP_NOUN);
        if (np->surname)
            rela_phrase_put(l, np->surname, POS_PROPN, np->id + NP_MODIFIER);
    } else {
        say_determiner(l, np, k);
        say_after_determiner(l, np, k, is_bare(np));
    }
}

void rela_german_no_np(rela_phrase *l, const rela_np *np, rela_case k, int not_tag)
{
    char word[FORM_MAX];
    rela_de_like_ein(word, "kein", k, column_of(np));
    rela_phrase_put(l, word, POS_DET, not_tag);
    rela_phrase_tag(l, is_bare(np) ? 0 : np->id + NP_DET + TAG_LOOSE);
    say_after_determiner(l, np, k, false);
}

void rela_german_with(rela_phrase *l, const char *preposition, int tag, const rela_np *np,
                      rela_case k)
{
    const bool article = np->kind == NP_IS_NOUN && np->det == DET_THE;
    const char *one = article ? rela_de_contraction(preposition, k, column_of(np)) : NULL;
    rela_phrase_put(l, one ? one : preposition, POS_ADP, tag);
    if (!one) {
        rela_german_np(l, np, k);
        return;
    }
    rela_phrase_tag(l, np->id + NP_DET);
    say_after_determiner(l, np, k, false);
}

static void say_after_determiner(rela_phrase *l, const rela_np *np, rela_case k, bool bare)
{
    char word[FORM_MAX], noun[FORM_MAX];
    const bool weak = np->det == DET_THE || np->det == DET_THIS || np->det == DET_EVERY;
    const rela_declension d = bare ? DECLENSION_STRONG : weak ? DECLENSION_WEAK : DECLENSION_MIXED;
    for (int i = 0; i < 2 && np->adjective[i]; i++) {
        if (i)
            rela_phrase_put(l, "und", POS_CCONJ, np->id + NP_ADJ_AND);
        rela_de_adjective(word, np->adjective[i], d, k, column_of(np));
        rela_phrase_put(l, word, POS_ADJ, np->id + (i ? NP_ADJ_2 : NP_ADJ));
    }
    rela_de_noun(noun, np->noun, k, np->plural);
    if (np->modifier)
        rela_de_compound(word, np->modifier->de, noun);
    rela_phrase_put(l, np->modifier ? word : noun, POS_NOUN, np->id + NP_NOUN);
    rela_phrase_tag(l, np->modifier ? np->id + NP_MODIFIER : 0);
    if (np->owner)
        say_owner(l, np);
    if (np->relative) {
        const bool object = np->relative->object_is_noun;
        rela_phrase_put(l, ",", POS_PUNCT, 0);
        rela_phrase_put(l, rela_de_relative(object ? CASE_ACC : CASE_NOM, column_of(np)), POS_PRON,
                        np->id + NP_REL);
        rela_german_relative(l, np->relative);
        l->comma_due = true;
    }
    if (np->and) {
        rela_phrase_put(l, "und", POS_CCONJ, np->id + NP_AND);
        rela_german_np(l, np->and, k);
    }
}

/* der Hund des Lehrers, der Hund von Anna */
static void say_owner(rela_phrase *l, const rela_np *np)
{
    if (np->owner->kind == NP_IS_NAME) {
        rela_phrase_put(l, "von", POS_ADP, np->id + NP_OF);
        rela_german_np(l, np->owner, CASE_DAT);
        return;
    }
    say_determiner(l, np->owner, CASE_GEN);
    rela_phrase_tag(l, np->id + NP_OF + TAG_LOOSE);
    say_after_determiner(l, np->owner, CASE_GEN, false);
}

static void say_determiner(rela_phrase *l, const rela_np *np, rela_case k)
{
    static const char *const STEMS[] = { "",     "ein",  "dies", "jed",   "",   "mein",
                                         "dein", "sein", "ihr",  "unser", "ihr" };
    char word[FORM_MAX];
    const int column = column_of(np);
    if (np->det == DET_NUMBER) {
        rela_de_number(word, np->number);
        if (np->digits)
            (void)snprintf(word, sizeof word, "%d", np->number);
        rela_phrase_put(l, word, POS_NUM, np->id + NP_NUMBER);
        return;
    }
    if (is_bare(np))
        return;
    if (np->det == DET_THE)
        rela_word_join(word, rela_de_article(k, column), "", "");
    else if (np->det == DET_THIS || np->det == DET_EVERY)
        rela_de_like_der(word, STEMS[np->det], k, column);
    else
        rela_de_like_ein(word, STEMS[np->det], k, column);
    rela_phrase_put(l, word, POS_DET, np->id + NP_DET);
}

static void say_pronoun(rela_phrase *l, const rela_np *np, rela_case k)
{
    static const char *const WORDS[][3] = { { "ich", "mich", "mir" }, { "du", "dich", "dir" },
                                            { "wir", "uns", "uns" },  { "er", "ihn", "ihm" },
                                            { "sie", "sie", "ihr" },  { "es", "es", "ihm" },
                                            { "sie", "sie", "ihnen" } };
    const rela_agreement a = np->agreement;
    const int row = a.person == 1   ? a.plural ? 2 : 0
                    : a.person == 2 ? 1
                    : a.plural      ? 6
                                    : 3 + np->gender;
    rela_phrase_put(l, WORDS[row][k], POS_PRON, np->id + NP_NOUN);
}

/* No article, at most a number: strong endings. */
static bool is_bare(const rela_np *np)
{
    return np->det == DET_NUMBER ||
           (np->det == DET_A && (np->plural || (np->noun->kinds & KIND_MASS)));
}

static int column_of(const rela_np *np)
{
    return np->plural ? COLUMN_PLURAL : np->noun->gender;
}
