/* SPDX-License-Identifier: MIT */
/* src/study/blame.c - which option of a study a command refuses, for key.h. */
#include "study/key.h"

#include "base/str.h"

#include <string.h>

typedef struct search {
    const rela_study *s;
    const rela_study_normaliser *normaliser;
    rela_error *err;
} search;

static bool is_bad(const search *f, const char *command, const char *operand,
                   const rela_study_setting *o);

static bool find(const search *f, const char *command, const char *operand,
                 rela_study_settings settings)
{
    for (size_t i = 0; i < settings.n; i++)
        if (is_bad(f, command, operand, &settings.items[i]))
            return true;
    return false;
}

bool rela_study_blame(const rela_study *s, const rela_study_normaliser *normaliser, rela_error *err)
{
    const search f = { s, normaliser, err };
    bool found = find(&f, "train", NULL, s->defaults) ||
                 find(&f, "translate", "model", s->translate) ||
                 find(&f, "train", NULL, s->tuning.train);
    for (size_t i = 0; i < s->n_models && !found; i++)
        found = find(&f, "train", NULL, s->models[i].settings);
    for (size_t i = 0; i < s->n_data && !found; i++)
        found =
            find(&f, "corpus", NULL, s->data[i].corpus) || find(&f, "train", NULL, s->data[i].text);
    for (size_t i = 0; i < s->tuning.models.n && !found; i++)
        for (size_t k = 0; k < s->tuning.n_settings && !found; k++)
            found = find(&f, "train", NULL, s->tuning.settings[i][k]);
    for (size_t i = 0; i < s->n_rows && !found; i++)
        found = find(&f, "train", NULL, s->rows[i].train);
    for (size_t i = 0; i < s->n_speed && !found; i++)
        found = find(&f, "bench", s->speed[i].what, s->speed[i].settings);
    return found;
}

static bool is_bad(const search *f, const char *command, const char *operand,
                   const rela_study_setting *o)
{
    enum { OPTION_MAX = 128, WORDS = 4 };
    char option[OPTION_MAX];
    const char *words[WORDS];
    size_t n = 0;
    rela_buffer out = RELA_BUFFER_INIT;
    rela_error why = { RELA_OK, "" };
    const bool no = strcmp(o->value, "false") == 0, yes = strcmp(o->value, "true") == 0;
    rela_format_text(option, sizeof option, no ? "--no-%s" : "--%s", o->name);
    words[n++] = command;
    if (operand)
        words[n++] = operand;
    words[n++] = option;
    if (!no && !yes)
        words[n++] = o->value;
    const rela_status st = f->normaliser->normalise(f->normaliser->ctx, &out, words, n, &why);
    rela_buffer_free(&out);
    const rela_tree at = { .path = f->s->path, .line = o->line };
    if (st == RELA_ARG)
        (void)rela_tree_fail(&at, f->err, "%s", why.message);
    return st == RELA_ARG;
}
