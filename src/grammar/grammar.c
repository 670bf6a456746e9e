/* SPDX-License-Identifier: MIT */
/* src/grammar/grammar.c - see grammar.h. */
#include "grammar/grammar.h"

#include <string.h>

/* Separates the random numbers of the corpus from those of other users of the same seed. */
static const uint64_t DOMAIN = UINT64_C(0x636f) << 48;

enum { LOOSE_OR_NONE = -1 };

static void link_words(rela_builtin_pair *e);
static int match(const rela_token *a, const rela_token *b);
static bool is_mark(const char *text);
static void capitalise(char *text);

void rela_builtin_pair_start(rela_builtin_pair *e, uint64_t seed, uint64_t number)
{
    e->plan.rng = rela_rng_start(seed, number ^ DOMAIN);
}

void rela_builtin_pair_draw(rela_builtin_pair *e)
{
    do {
        for (int i = 0; i < 2; i++) {
            e->line[i].n = 0;
            e->line[i].comma_due = e->line[i].too_long = false;
        }
        rela_sentence_plan_sample(&e->plan);
        rela_say_english(&e->line[e->reverse], &e->plan);
        rela_say_german(&e->line[!e->reverse], &e->plan);
    } while (e->line[0].too_long || e->line[1].too_long);
    link_words(e);
}

rela_status rela_builtin_pair_text(rela_buffer *out, const rela_builtin_pair *e, int side,
                                   bool tokenised, rela_error *err)
{
    const rela_phrase *l = &e->line[side];
    rela_status st = RELA_OK;
    for (int i = 0; i < l->n && st == RELA_OK; i++) {
        char text[FORM_MAX];
        memcpy(text, l->token[i].text, FORM_MAX);
        if (i == 0)
            capitalise(text);
        if (i > 0 && (tokenised || !is_mark(text)))
            st = rela_buffer_append_char(out, ' ', err);
        if (st == RELA_OK)
            st = rela_buffer_append_text(out, text, err);
    }
    return st;
}

rela_status rela_builtin_pair_pos(rela_buffer *out, const rela_builtin_pair *e, int side,
                                  rela_error *err)
{
    static const char *const NAMES[N_POS] = { "ADJ",   "ADP",   "ADV",   "AUX",  "CCONJ",
                                              "DET",   "NOUN",  "NUM",   "PART", "PRON",
                                              "PROPN", "PUNCT", "SCONJ", "VERB" };
    const rela_phrase *l = &e->line[side];
    rela_status st = RELA_OK;
    for (int i = 0; i < l->n && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%s", i ? " " : "", NAMES[l->token[i].pos]);
    return st;
}

rela_status rela_builtin_pair_links(rela_buffer *out, const rela_builtin_pair *e, rela_error *err)
{
    rela_status st = RELA_OK;
    for (int i = 0; i < e->n_links && st == RELA_OK; i++) {
        const rela_link_pair *k = &e->link[i];
        st = rela_buffer_printf(out, err, "%s%d%c%d", i ? " " : "", k->from,
                                k->possible ? '?' : '-', k->to);
    }
    return st;
}

void rela_phrase_put(rela_phrase *line, const char *text, rela_pos pos, int tag)
{
    const bool comma = line->comma_due && !is_mark(text);
    line->comma_due = false;
    if (comma)
        rela_phrase_put(line, ",", POS_PUNCT, 0);
    if (line->n == WORDS_MAX) {
        line->too_long = true;
        return;
    }
    rela_token *t = &line->token[line->n++];
    rela_word_join(t->text, text, "", "");
    t->n_tags = 0;
    t->pos = (uint8_t)pos;
    rela_phrase_tag(line, tag);
}

void rela_phrase_tag(rela_phrase *line, int tag)
{
    if (tag == 0 || line->too_long)
        return;
    rela_token *t = &line->token[line->n - 1];
    t->tag[t->n_tags++] = (uint16_t)tag;
}

static void link_words(rela_builtin_pair *e)
{
    const rela_phrase *a = &e->line[0], *b = &e->line[1];
    e->n_links = 0;
    for (int i = 0; i < a->n; i++)
        for (int j = 0; j < b->n; j++) {
            const int how = match(&a->token[i], &b->token[j]);
            if (how != 0)
                e->link[e->n_links++] =
                    (rela_link_pair){ (uint8_t)i, (uint8_t)j, how == LOOSE_OR_NONE };
        }
}

/* 1: the words share a tag that is sure on both sides; -1: only one that is not; 0: none. */
static int match(const rela_token *a, const rela_token *b)
{
    int how = 0;
    for (int i = 0; i < a->n_tags; i++)
        for (int j = 0; j < b->n_tags; j++) {
            if ((a->tag[i] & (TAG_LOOSE - 1)) != (b->tag[j] & (TAG_LOOSE - 1)))
                continue;
            if (!((a->tag[i] | b->tag[j]) & TAG_LOOSE))
                return 1;
            how = LOOSE_OR_NONE;
        }
    return how;
}

static bool is_mark(const char *text)
{
    return strchr(",.?", *text) != NULL;
}

static void capitalise(char *text)
{
    unsigned char *s = (unsigned char *)text;
    enum { LATIN_1 = 0xC3, SMALL_A_GRAVE = 0xA0 }; /* the lead byte of ä, ö, ü in UTF-8 */
    if (*s >= 'a' && *s <= 'z')
        *s = (unsigned char)(*s - 'a' + 'A');
    else if (s[0] == LATIN_1 && s[1] >= SMALL_A_GRAVE)
        s[1] = (unsigned char)(s[1] - ('a' - 'A'));
}
