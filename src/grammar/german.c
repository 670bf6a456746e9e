/* SPDX-License-Identifier: MIT */
/* src/grammar/german.c - see german.h. */
#include "grammar/german.h"

#include <assert.h>
#include <string.h>

/* Columns: masculine, feminine, neuter, plural. */
static const char *const ARTICLE[N_CASES][N_COLUMNS] = { { "der", "die", "das", "die" },
                                                         { "den", "die", "das", "die" },
                                                         { "dem", "der", "dem", "den" },
                                                         { "des", "der", "des", "der" } };
static const char *const LIKE_DER[N_CASES][N_COLUMNS] = { { "er", "e", "es", "e" },
                                                          { "en", "e", "es", "e" },
                                                          { "em", "er", "em", "en" },
                                                          { "es", "er", "es", "er" } };
static const char *const LIKE_EIN[N_CASES][N_COLUMNS] = { { "", "e", "", "e" },
                                                          { "en", "e", "", "e" },
                                                          { "em", "er", "em", "en" },
                                                          { "es", "er", "es", "er" } };
static const char *const ADJECTIVE[3][N_CASES][N_COLUMNS] = {
    { { "e", "e", "e", "en" },
      { "en", "e", "e", "en" },
      { "en", "en", "en", "en" },
      { "en", "en", "en", "en" } },
    { { "er", "e", "es", "en" },
      { "en", "e", "es", "en" },
      { "en", "en", "en", "en" },
      { "en", "en", "en", "en" } },
    { { "er", "e", "es", "e" },
      { "en", "e", "es", "e" },
      { "em", "er", "em", "en" },
      { "en", "er", "en", "er" } },
};

/* ich, du, er, wir, then the same in the past. */
static const char *const AUXILIARY[][8] = {
    { "bin", "bist", "ist", "sind", "war", "warst", "war", "waren" },
    { "habe", "hast", "hat", "haben", "hatte", "hattest", "hatte", "hatten" },
    { "werde", "wirst", "wird", "werden", "wurde", "wurdest", "wurde", "wurden" },
    { "kann", "kannst", "kann", "können", "konnte", "konntest", "konnte", "konnten" },
    { "muss", "musst", "muss", "müssen", "musste", "musstest", "musste", "mussten" },
    { "soll", "sollst", "soll", "sollen", "sollte", "solltest", "sollte", "sollten" },
    { "will", "willst", "will", "wollen", "wollte", "wolltest", "wollte", "wollten" },
};

static const char *const ONES[] = { "null",     "eins",     "zwei",     "drei",     "vier",
                                    "fünf",     "sechs",    "sieben",   "acht",     "neun",
                                    "zehn",     "elf",      "zwölf",    "dreizehn", "vierzehn",
                                    "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn" };
static const char *const TENS[] = { "",        "",        "zwanzig", "dreißig", "vierzig",
                                    "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig" };

enum { FORM_STEM, FORM_DU, FORM_ER, FORM_PAST, FORM_PARTICIPLE };

static int slot(rela_agreement a);
static bool ends_in(const char *word, const char *ending);
static bool ends_in_dental(const char *word);
static bool ends_in_hiss(const char *word);
static void join(char out[FORM_MAX], const char *a, const char *b);

const char *rela_de_article(rela_case c, int column)
{
    return ARTICLE[c][column];
}

const char *rela_de_relative(rela_case c, int column)
{
    return c == CASE_DAT && column == COLUMN_PLURAL ? "denen" : ARTICLE[c][column];
}

void rela_de_like_der(char out[FORM_MAX], const char *stem, rela_case c, int column)
{
    join(out, stem, LIKE_DER[c][column]);
}

void rela_de_like_ein(char out[FORM_MAX], const char *stem, rela_case c, int column)
{
    join(out, stem, LIKE_EIN[c][column]);
}

void rela_de_adjective(char out[FORM_MAX], const rela_adjective *a, rela_declension d, rela_case c,
                       int column)
{
    char stem[FORM_MAX];
    if (!rela_word_form(stem, a->de, 1))
        (void)rela_word_form(stem, a->de, 0);
    join(out, stem, ADJECTIVE[d][c][column]);
}

void rela_de_noun(char out[FORM_MAX], const rela_noun *n, rela_case c, bool plural)
{
    char form[FORM_MAX] = "", ending[FORM_MAX] = "";
    (void)rela_word_form(form, n->de, plural ? 1 : 0);
    (void)rela_word_form(ending, n->de, 2);
    if (plural)
        join(out, form, c == CASE_DAT && !ends_in(form, "n") && !ends_in(form, "s") ? "n" : "");
    else if (*ending == '=' && c != CASE_NOM)
        join(out, ending + 1, "");
    else
        join(out, form, c == CASE_GEN && *ending != '=' ? ending : "");
}

void rela_de_compound(char out[FORM_MAX], const char *modifier, const char *head)
{
    const char first[2] = { (char)(*head - 'A' + 'a'), '\0' };
    assert(*head >= 'A' && *head <= 'Z'); /* no head of the lists begins with an umlaut */
    rela_word_join(out, modifier, first, head + 1);
}

const char *rela_de_contraction(const char *preposition, rela_case c, int column)
{
    static const struct {
        const char *preposition, *article, *result;
    } table[] = { { "in", "dem", "im" },    { "an", "dem", "am" },  { "in", "das", "ins" },
                  { "von", "dem", "vom" },  { "zu", "dem", "zum" }, { "zu", "der", "zur" },
                  { "bei", "dem", "beim" }, { "an", "das", "ans" } };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].preposition, preposition) == 0 &&
            strcmp(table[i].article, ARTICLE[c][column]) == 0)
            return table[i].result;
    return NULL;
}

void rela_de_present(char out[FORM_MAX], const char *forms, rela_agreement a)
{
    char stem[FORM_MAX];
    (void)rela_word_form(stem, forms, FORM_STEM);
    if (a.plural) {
        rela_de_infinitive(out, forms, false);
        const char *prefix = rela_word_extra(forms);
        if (prefix)
            memmove(out, out + strlen(prefix), strlen(out + strlen(prefix)) + 1);
    } else if (a.person == 1) {
        /* wissen is the one verb of the lists whose first person has no ending */
        join(out, strcmp(stem, "wiss") == 0 ? "weiß" : stem, strcmp(stem, "wiss") == 0 ? "" : "e");
    } else if (a.person == 2) {
        if (!rela_word_form(out, forms, FORM_DU))
            join(out, stem, ends_in_dental(stem) ? "est" : ends_in_hiss(stem) ? "t" : "st");
    } else if (!rela_word_form(out, forms, FORM_ER)) {
        join(out, stem, ends_in_dental(stem) ? "et" : "t");
    }
}

void rela_de_past(char out[FORM_MAX], const char *forms, rela_agreement a)
{
    char stem[FORM_MAX], past[FORM_MAX];
    (void)rela_word_form(stem, forms, FORM_STEM);
    if (!rela_word_form(past, forms, FORM_PAST))
        join(past, stem, ends_in_dental(stem) ? "ete" : "te");
    const bool weak = ends_in(past, "te");
    if (a.plural)
        join(out, past, weak ? "n" : "en");
    else if (a.person == 2)
        join(out, past, !weak && (ends_in_dental(past) || ends_in_hiss(past)) ? "est" : "st");
    else
        join(out, past, "");
}

void rela_de_participle(char out[FORM_MAX], const char *forms)
{
    char stem[FORM_MAX], part[FORM_MAX];
    const char *prefix = rela_word_extra(forms);
    (void)rela_word_form(stem, forms, FORM_STEM);
    if (!rela_word_form(part, forms, FORM_PARTICIPLE))
        rela_word_join(part, "ge", stem, ends_in_dental(stem) ? "et" : "t");
    join(out, prefix ? prefix : "", part);
}

void rela_de_infinitive(char out[FORM_MAX], const char *forms, bool with_zu)
{
    char stem[FORM_MAX];
    const char *prefix = rela_word_extra(forms);
    (void)rela_word_form(stem, forms, FORM_STEM);
    char bare[FORM_MAX];
    const bool short_ending = ends_in(stem, "er") && !ends_in(stem, "ier"); /* füttern, verlieren */
    join(bare, stem, short_ending ? "n" : "en");
    rela_word_join(out, prefix ? prefix : "", with_zu ? "zu" : "", bare);
}

const char *rela_de_auxiliary(rela_auxiliary x, rela_agreement a, bool past)
{
    return AUXILIARY[x][slot(a) + (past ? 4 : 0)];
}

void rela_de_number(char out[FORM_MAX], int n)
{
    assert(n >= 0 && n < 100);
    if (n < 20)
        join(out, ONES[n], "");
    else if (n % 10 == 0)
        join(out, TENS[n / 10], "");
    else
        rela_word_join(out, n % 10 == 1 ? "ein" : ONES[n % 10], "und", TENS[n / 10]);
}

static int slot(rela_agreement a)
{
    return a.plural ? 3 : a.person - 1;
}

static bool ends_in(const char *word, const char *ending)
{
    const size_t n = strlen(word), m = strlen(ending);
    return n >= m && strcmp(word + n - m, ending) == 0;
}

static bool ends_in_dental(const char *word)
{
    return ends_in(word, "t") || ends_in(word, "d");
}

static bool ends_in_hiss(const char *word)
{
    return ends_in(word, "s") || ends_in(word, "ß") || ends_in(word, "z");
}

static void join(char out[FORM_MAX], const char *a, const char *b)
{
    rela_word_join(out, a, b, "");
}
