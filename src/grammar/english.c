/* SPDX-License-Identifier: MIT */
/* src/grammar/english.c - see english.h. */
#include "grammar/english.h"

#include <assert.h>
#include <string.h>

static const char *const ONES[] = { "zero",    "one",     "two",       "three",    "four",
                                    "five",    "six",     "seven",     "eight",    "nine",
                                    "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                    "fifteen", "sixteen", "seventeen", "eighteen", "nineteen" };
static const char *const TENS[] = { "",      "",      "twenty",  "thirty", "forty",
                                    "fifty", "sixty", "seventy", "eighty", "ninety" };

static void add_s(char out[FORM_MAX], const char *word);
static void add_ending(char out[FORM_MAX], const char *word, rela_en_form form);
static void shorten_and_add(char out[FORM_MAX], const char *word, const char *ending);
static bool ends_in(const char *word, const char *letters);
static bool ends_in_consonant_y(const char *word);

void rela_en_noun(char out[FORM_MAX], const rela_noun *n, bool plural, bool possessed)
{
    char base[FORM_MAX];
    if (possessed && rela_word_form(out, n->en, plural ? 3 : 2))
        return;
    (void)rela_word_form(base, n->en, 0);
    if (!plural)
        memcpy(out, base, FORM_MAX);
    else if (!rela_word_form(out, n->en, 1))
        add_s(out, base);
}

void rela_en_verb(char out[FORM_MAX], const char *forms, rela_en_form form)
{
    char base[FORM_MAX];
    (void)rela_word_form(base, forms, EN_BASE);
    if (form == EN_THIRD)
        add_s(out, base);
    else if (!rela_word_form(out, forms, (int)form))
        add_ending(out, base, form);
}

void rela_en_number(char out[FORM_MAX], int n)
{
    assert(n >= 0 && n < 100);
    if (n < 20)
        rela_word_join(out, ONES[n], "", "");
    else
        rela_word_join(out, TENS[n / 10], n % 10 ? "-" : "", n % 10 ? ONES[n % 10] : "");
}

bool rela_en_takes_an(const char *word)
{
    return strchr("aeiouAEIOU", *word) != NULL;
}

static void add_s(char out[FORM_MAX], const char *word)
{
    const size_t len = strlen(word);
    const bool hisses =
        ends_in(word, "sxz") ||
        (len > 2 && (strcmp(word + len - 2, "ch") == 0 || strcmp(word + len - 2, "sh") == 0));
    if (ends_in_consonant_y(word))
        shorten_and_add(out, word, "ies");
    else
        rela_word_join(out, word, hisses || strcmp(word, "go") == 0 ? "es" : "s", "");
}

static void add_ending(char out[FORM_MAX], const char *word, rela_en_form form)
{
    const size_t len = strlen(word);
    const bool silent_e = ends_in(word, "e");
    if (form == EN_ING && silent_e && word[len - 2] != 'e')
        shorten_and_add(out, word, "ing");
    else if (form == EN_ING)
        rela_word_join(out, word, "ing", "");
    else if (ends_in_consonant_y(word))
        shorten_and_add(out, word, "ied");
    else
        rela_word_join(out, word, silent_e ? "d" : "ed", "");
}

/* Replaces the last letter. */
static void shorten_and_add(char out[FORM_MAX], const char *word, const char *ending)
{
    char stem[FORM_MAX];
    rela_word_join(stem, word, "", "");
    stem[strlen(stem) - 1] = '\0';
    rela_word_join(out, stem, ending, "");
}

static bool ends_in(const char *word, const char *letters)
{
    const size_t len = strlen(word);
    return len > 0 && strchr(letters, word[len - 1]);
}

static bool ends_in_consonant_y(const char *word)
{
    const size_t len = strlen(word);
    return len > 1 && word[len - 1] == 'y' && !strchr("aeiou", word[len - 2]);
}
