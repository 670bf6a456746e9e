/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar_german_verb.c - the verb of a German clause: the finite word, and what closes
 * the clause. */
#include "grammar/grammar_german.h"

#include <string.h>

static void build_passive(rela_verb_group *g, const rela_clause *c);
static void build_simple(rela_verb_group *g, const rela_clause *c, const char *forms,
                         rela_clause_position where);
static void build_with_helper(rela_verb_group *g, const rela_clause *c, const char *forms);
static void build_zu(rela_verb_group *g, const rela_clause *c);
static void set_finite(rela_verb_group *g, const char *text, rela_pos pos, int tag, int tag_2);
static void add_tail(rela_verb_group *g, const char *text, rela_pos pos, int tag, int tag_2,
                     int tag_3);
static rela_pos prefix_pos(const char *prefix);
static const char *verb_forms(const rela_clause *c);
static rela_agreement subject_agreement(const rela_clause *c);
static int particle_tag(const rela_clause *c);

static const char SEIN[] = "sei - - - gewesen";
static const char LIEGEN[] = "lieg - - lag gelegen";
static const char STEHEN[] = "steh - - stand gestanden";
static const char GEBEN[] = "geb gibst gibt gab gegeben";

void rela_german_verb_group(rela_verb_group *g, const rela_clause *c, rela_clause_position where)
{
    const char *forms = verb_forms(c);
    const bool helper = c->tense == TENSE_PERFECT || c->tense == TENSE_FUTURE ||
                        (c->modal && c->modal != MODAL_LIKE);
    if (where == AFTER_ZU)
        build_zu(g, c);
    else if (c->kind == CLAUSE_PASSIVE)
        build_passive(g, c);
    else if (helper)
        build_with_helper(g, c, forms);
    else
        build_simple(g, c, forms, where);
}

static void build_passive(rela_verb_group *g, const rela_clause *c)
{
    char participle[FORM_MAX];
    const bool perfect = c->tense == TENSE_PERFECT;
    rela_de_participle(participle, c->verb->de);
    set_finite(
        g, rela_de_auxiliary(perfect ? AUX_SEIN : AUX_WERDEN, c->agreement, c->tense == TENSE_PAST),
        POS_AUX, c->id + CL_AUX, 0);
    add_tail(g, participle, POS_VERB, c->id + CL_VERB, particle_tag(c), 0);
    if (perfect || c->tense == TENSE_FUTURE)
        add_tail(g, perfect ? "worden" : "werden", POS_AUX, c->id + CL_AUX_2, 0, 0);
}

static void build_simple(rela_verb_group *g, const rela_clause *c, const char *forms,
                         rela_clause_position where)
{
    const rela_agreement a = subject_agreement(c);
    const bool past = c->tense == TENSE_PAST;
    const char *prefix = rela_word_extra(forms);
    const int tag = c->id + CL_VERB, particle = particle_tag(c);
    char finite[FORM_MAX], whole[FORM_MAX];
    if (forms == SEIN)
        rela_word_join(finite, rela_de_auxiliary(AUX_SEIN, a, past), "", "");
    else if (past)
        rela_de_past(finite, forms, a);
    else
        rela_de_present(finite, forms, a);
    const rela_pos pos = forms == SEIN ? POS_AUX : POS_VERB;
    if (!prefix) {
        set_finite(g, finite, pos, tag, particle);
    } else if (where == IN_SUB) { /* the prefix is back in its place: abholt */
        rela_word_join(whole, prefix, finite, "");
        set_finite(g, whole, pos, tag, particle);
    } else {
        set_finite(g, finite, pos, tag, 0);
        add_tail(g, prefix, prefix_pos(prefix), particle ? particle : tag, 0, 0);
    }
}

static void build_with_helper(rela_verb_group *g, const rela_clause *c, const char *forms)
{
    static const rela_auxiliary MODALS[] = { AUX_WERDEN, AUX_CAN, AUX_MUST, AUX_SHOULD, AUX_WANT };
    const rela_agreement a = subject_agreement(c);
    char word[FORM_MAX];
    if (c->modal || c->tense == TENSE_FUTURE) {
        const bool past = c->modal && c->tense == TENSE_PAST;
        set_finite(g, rela_de_auxiliary(MODALS[c->modal], a, past), POS_AUX,
                   c->id + (c->modal ? CL_MODAL : CL_AUX), 0);
        if (forms == SEIN)
            rela_word_join(word, "sein", "", "");
        else
            rela_de_infinitive(word, forms, false);
    } else {
        const bool sein = forms == SEIN || (c->kind == CLAUSE_VERB && (c->verb->flags & VERB_SEIN));
        set_finite(g, rela_de_auxiliary(sein ? AUX_SEIN : AUX_HABEN, a, false), POS_AUX,
                   c->id + CL_AUX, 0);
        rela_de_participle(word, forms);
    }
    add_tail(g, word, forms == SEIN ? POS_AUX : POS_VERB, c->id + CL_VERB, particle_tag(c), 0);
}

static void build_zu(rela_verb_group *g, const rela_clause *c)
{
    char word[FORM_MAX];
    const bool separable = rela_word_extra(c->verb->de) != NULL;
    rela_de_infinitive(word, c->verb->de, separable);
    if (!separable)
        add_tail(g, "zu", POS_PART, c->id + CL_TO, 0, 0);
    /* anzurufen: one word for "to call" */
    add_tail(g, word, POS_VERB, c->id + CL_VERB, particle_tag(c), separable ? c->id + CL_TO : 0);
}

static void set_finite(rela_verb_group *g, const char *text, rela_pos pos, int tag, int tag_2)
{
    g->finite.pos = pos;
    rela_word_join(g->finite.text, text, "", "");
    g->finite.tag[0] = tag;
    g->finite.tag[1] = tag_2;
}

static void add_tail(rela_verb_group *g, const char *text, rela_pos pos, int tag, int tag_2,
                     int tag_3)
{
    rela_verb_part *p = &g->tail[g->n_tail++];
    p->pos = pos;
    rela_word_join(p->text, text, "", "");
    p->tag[0] = tag;
    p->tag[1] = tag_2;
    p->tag[2] = tag_3;
}

/* Of a separated prefix: weg, kaputt, auf. */
static rela_pos prefix_pos(const char *prefix)
{
    const bool adverb = strcmp(prefix, "weg") == 0 || strcmp(prefix, "zurück") == 0;
    return adverb ? POS_ADV : strcmp(prefix, "kaputt") == 0 ? POS_ADJ : POS_ADP;
}

static const char *verb_forms(const rela_clause *c)
{
    switch (c->kind) {
    case CLAUSE_BE:
        return SEIN;
    case CLAUSE_THERE:
        return GEBEN;
    case CLAUSE_LOCATED: { /* the pronoun it stands for a thing that lies or stands */
        const uint32_t kinds = c->subject->noun ? c->subject->noun->kinds : 0;
        return kinds & KIND_STANDING ? STEHEN : kinds & KIND_LYING ? LIEGEN : SEIN;
    }
    default:
        return c->verb->de;
    }
}

/* "there is": gibt agrees with es. */
static rela_agreement subject_agreement(const rela_clause *c)
{
    return c->kind == CLAUSE_THERE ? (rela_agreement){ 3, false } : c->agreement;
}

/* An English particle belongs to the German prefix, or to the verb if that has none. */
static int particle_tag(const rela_clause *c)
{
    return c->verb && rela_word_extra(c->verb->en) ? c->id + CL_PARTICLE : 0;
}
