/* SPDX-License-Identifier: MIT */
/* src/study/read_study.c - a study from its file, for study.h. */
#include "study/study.h"

#include "base/nearest.h"
#include "study/arena_text.h"
#include "study/read_parts.h"

#include <stdio.h>
#include <string.h>

static rela_status read_parts(rela_study *s, const char *scale, rela_tree_sets sets,
                              rela_error *err);
static rela_status choose_scale(rela_study *s, const char *scale, rela_error *err);
static rela_status read_models(rela_study *s, rela_error *err);
static rela_status read_model(rela_study_model *m, rela_study *s, const rela_tree *at,
                              rela_error *err);
static rela_status check_reserved(const rela_study *s, rela_study_settings settings, bool of_model,
                                  rela_error *err);

rela_status rela_study_read(rela_study **out, const char *path, const char *scale,
                            rela_tree_sets sets, rela_error *err)
{
    rela_arena *arena = rela_arena_create(0);
    rela_study *s = arena ? rela_arena_array(arena, 1, sizeof *s) : NULL;
    *out = NULL;
    if (!s) {
        rela_arena_destroy(arena);
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    }
    s->arena = arena;
    s->path = rela_arena_copy(arena, path, strlen(path));
    rela_status st = s->path ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory to read a study");
    st = st ? st : read_parts(s, scale, sets, err);
    if (st != RELA_OK) {
        rela_study_destroy(s);
        return st;
    }
    *out = s;
    return RELA_OK;
}

void rela_study_destroy(rela_study *s)
{
    if (s)
        rela_arena_destroy(s->arena);
}

static rela_status read_parts(rela_study *s, const char *scale, rela_tree_sets sets,
                              rela_error *err)
{
    static const char *const KEYS[] = { "study",     "scales",   "set",    "seeds", "data",
                                        "defaults",  "models",   "tuning", "train", "scores",
                                        "translate", "analyses", "speed",  "plan",  "claims",
                                        "report",    NULL };
    static int64_t first_seed = 1;
    rela_status st = rela_tree_read(&s->tree, s->arena, s->path, sets, err);
    st = st ? st : choose_scale(s, scale, err);
    st = st ? st : rela_tree_check_values(s->tree, "scales", err);
    st = st ? st : rela_tree_check_keys(s->tree, KEYS, "a study", err);
    st = st ? st : rela_study_take_text(&s->name, s->tree, "study", err);
    if (st == RELA_OK && !s->name)
        st = rela_tree_fail(s->tree, err, "no 'study:', its name");
    st = st ? st : rela_study_check_name(s->name, rela_tree_get(s->tree, "study"), err);
    s->seeds = &first_seed;
    s->n_seeds = 1;
    st =
        st ? st
           : rela_study_take_seeds(&s->seeds, &s->n_seeds, s, rela_tree_get(s->tree, "seeds"), err);
    const rela_tree *defaults = rela_tree_get(s->tree, "defaults");
    st = st ? st : rela_study_take_settings(&s->defaults, s, defaults, NULL, err);
    st = st ? st : check_reserved(s, s->defaults, false, err);
    st = st ? st : rela_study_read_data(s, err);
    st = st ? st : read_models(s, err);
    st = st ? st : rela_study_read_tuning(s, err);
    st = st ? st : rela_study_read_rows(s, err);
    st = st ? st : rela_study_read_analyses(s, err);
    st = st ? st : rela_study_read_plan(s, err);
    s->claims = rela_tree_get(s->tree, "claims");
    s->report = rela_tree_get(s->tree, "report");
    return st;
}

/* Merges one of `scales:` over the rest of the study. */
static rela_status choose_scale(rela_study *s, const char *scale, rela_error *err)
{
    const rela_tree *scales = rela_tree_get(s->tree, "scales"), *chosen = NULL;
    rela_nearest best = { NULL, 0 };
    rela_status st =
        scales ? rela_tree_expect(scales, RELA_TREE_MAP, "names of scales", err) : RELA_OK;
    s->scale = scale && *scale ? rela_arena_copy(s->arena, scale, strlen(scale)) : "";
    if (!s->scale)
        return rela_study_no_memory(s, err);
    if (st != RELA_OK || (!scales && !*s->scale))
        return st;
    if (!scales)
        return rela_fail(err, RELA_ARG, "--scale %s: %s has no 'scales:'", s->scale, s->path);
    for (size_t i = 0; i < scales->n; i++)
        rela_nearest_offer(&best, s->scale, scales->keys[i], strlen(scales->keys[i]));
    chosen = rela_tree_get(scales, s->scale);
    if (!chosen) {
        char list[256] = "";
        for (size_t i = 0;
             i < scales->n && strlen(list) + strlen(scales->keys[i]) + 3 < sizeof list; i++) {
            const size_t len = strlen(list);
            (void)snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", scales->keys[i]);
        }
        return *s->scale ? rela_fail(err, RELA_ARG, "%s: no scale '%s'%s%s%s; it has %s", s->path,
                                     s->scale, best.name ? "; did you mean '" : "",
                                     best.name ? best.name : "", best.name ? "'?" : "", list)
                         : rela_fail(err, RELA_ARG, "%s: choose one of its scales with --scale: %s",
                                     s->path, list);
    }
    st = rela_tree_expect(chosen, RELA_TREE_MAP, "keys of a study", err);
    if (st == RELA_OK && !(s->tree = rela_tree_merge(s->arena, s->tree, chosen)))
        st = rela_study_no_memory(s, err);
    return st;
}

static rela_status read_models(rela_study *s, rela_error *err)
{
    const rela_tree *all = rela_tree_get(s->tree, "models");
    rela_status st = all ? rela_tree_expect(all, RELA_TREE_MAP, "names of models", err) : RELA_OK;
    s->models = rela_arena_array(s->arena, all ? all->n : 0, sizeof *s->models);
    if (!s->models)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; all && i < all->n && st == RELA_OK; i++) {
        rela_study_model *m = &s->models[s->n_models++];
        *m = (rela_study_model){ .name = all->keys[i],
                                 .title = all->keys[i],
                                 .line = all->key_lines[i] };
        const rela_tree at = { .path = s->path, .line = m->line };
        st = rela_study_check_name(m->name, &at, err);
        st = st ? st : rela_tree_expect(all->items[i], RELA_TREE_MAP, "options of train", err);
        st = st ? st : read_model(m, s, all->items[i], err);
    }
    return st;
}

static rela_status read_model(rela_study_model *m, rela_study *s, const rela_tree *at,
                              rela_error *err)
{
    static const char *const SKIP[] = { "title", "tuned-as", NULL };
    rela_status st = rela_study_take_text(&m->title, at, "title", err);
    st = st ? st : rela_study_take_text(&m->tuned_as, at, "tuned-as", err);
    st = st ? st : rela_study_take_settings(&m->settings, s, at, SKIP, err);
    return st ? st : check_reserved(s, m->settings, true, err);
}

/* Options of train that the study sets itself, or that models must share. */
static rela_status check_reserved(const rela_study *s, rela_study_settings settings, bool of_model,
                                  rela_error *err)
{
    static const struct {
        const char *name, *remedy;
        bool in_models;
    } RESERVED[] = {
        { "out", "the study chooses it", false },
        { "config", "write the options themselves", false },
        { "threads", "give --threads to 'rela study run'", false },
        { "seed", "give 'seeds:'", false },
        { "train-src", "give 'train:' of the data", false },
        { "train-tgt", "give 'train:' of the data", false },
        { "train-tsv", "give 'train:' of the data", false },
        { "valid-src", "give 'valid:' of the data", false },
        { "valid-tgt", "give 'valid:' of the data", false },
        { "valid-tsv", "give 'valid:' of the data", false },
        { "src-lang", "give 'src:' of the data", false },
        { "tgt-lang", "give 'tgt:' of the data", false },
        { "merges", "models share the subwords: give it in 'text:' of the data", true },
        { "vocab-size", "models share the vocabulary: give it in 'text:' of the data", true },
        { "vocab-min", "models share the vocabulary: give it in 'text:' of the data", true },
        { "tokenise", "models share the text: give it in 'text:' of the data", true },
        { "lowercase", "models share the text: give it in 'text:' of the data", true },
        { "normalise", "models share the text: give it in 'text:' of the data", true },
    };
    for (size_t i = 0; i < settings.n; i++)
        for (size_t k = 0; k < sizeof RESERVED / sizeof RESERVED[0]; k++)
            if (strcmp(settings.items[i].name, RESERVED[k].name) == 0 &&
                (of_model || !RESERVED[k].in_models)) {
                const rela_tree at = { .path = s->path, .line = settings.items[i].line };
                return rela_tree_fail(&at, err, "option '%s' cannot stand here; %s",
                                      RESERVED[k].name, RESERVED[k].remedy);
            }
    return RELA_OK;
}

const rela_study_data *rela_study_find_data(const rela_study *s, const char *name)
{
    for (size_t i = 0; i < s->n_data; i++)
        if (strcmp(s->data[i].name, name) == 0)
            return &s->data[i];
    return NULL;
}

const rela_study_model *rela_study_find_model(const rela_study *s, const char *name)
{
    for (size_t i = 0; i < s->n_models; i++)
        if (strcmp(s->models[i].name, name) == 0)
            return &s->models[i];
    return NULL;
}

const char *rela_study_setting_of(rela_study_settings s, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < s.n; i++)
        if (strcmp(s.items[i].name, name) == 0)
            value = s.items[i].value;
    return value;
}
