/* SPDX-License-Identifier: MIT */
/* src/study/read_tuning.c - `tuning:` of a study, for read_parts.h. */
#include "study/read_parts.h"

#include "study/arena_text.h"

#include <string.h>

static rela_status read_grids(rela_study *s, const rela_tree *at, rela_error *err);
static rela_status cross(rela_study_settings **out, size_t *n, rela_study *s, const rela_tree *grid,
                         rela_error *err);
static rela_status read_list(rela_study_settings **out, size_t *n, rela_study *s,
                             const rela_tree *list, rela_error *err);
static rela_status link_models(rela_study *s, rela_error *err);

rela_status rela_study_read_tuning(rela_study *s, rela_error *err)
{
    static const char *const KEYS[] = { "data", "models",  "grid", "grids", "updates",
                                        "by",   "options", "seed", NULL };
    static const char *const ONLY_UPDATES[] = { "data", "models",  "grid", "grids",
                                                "by",   "options", "seed", NULL };
    const rela_tree *at = rela_tree_get(s->tree, "tuning");
    rela_study_tuning *t = &s->tuning;
    if (!at)
        return link_models(s, err);
    *t = (rela_study_tuning){ .line = at->line, .by = "nll", .seed = s->seeds[0] };
    rela_status st = rela_tree_expect(at, RELA_TREE_MAP, "data, models, grid", err);
    st = st ? st : rela_tree_check_keys(at, KEYS, "'tuning:'", err);
    st = st ? st : rela_study_take_text(&t->data, at, "data", err);
    st = st ? st : rela_study_need_data(s, t->data, at, err);
    st = st ? st : rela_study_take_text(&t->by, at, "by", err);
    if (st == RELA_OK && strcmp(t->by, "nll") != 0 && strcmp(t->by, "bleu") != 0)
        st = rela_tree_fail(rela_tree_get(at, "by"), err, "expected nll or bleu");
    if (st == RELA_OK && !rela_study_find_data(s, t->data)->valid.src)
        st = rela_tree_fail(at, err, "data %s has no 'valid:' to choose by", t->data);
    st = st ? st : rela_study_take_models(&t->models, s, rela_tree_get(at, "models"), err);
    st = st ? st : rela_study_take_whole(&t->seed, rela_tree_get(at, "seed"), 0, err);
    st = st ? st : rela_study_take_settings(&t->train, s, at, ONLY_UPDATES, err);
    st = st ? st : rela_study_take_settings(&t->train, s, rela_tree_get(at, "options"), NULL, err);
    st = st ? st : read_grids(s, at, err);
    return st ? st : link_models(s, err);
}

/* The same number of settings for every model, as otherwise one had more chances. */
static rela_status read_grids(rela_study *s, const rela_tree *at, rela_error *err)
{
    rela_study_tuning *t = &s->tuning;
    const rela_tree *grid = rela_tree_get(at, "grid"), *grids = rela_tree_get(at, "grids");
    const rela_study_settings **all = rela_arena_array(s->arena, t->models.n, sizeof *all);
    if (!all)
        return rela_study_no_memory(s, err);
    t->settings = all;
    rela_status st =
        grids ? rela_tree_expect(grids, RELA_TREE_MAP, "lists of settings", err) : RELA_OK;
    for (size_t i = 0; grids && i < grids->n && st == RELA_OK; i++) {
        bool tuned = false;
        for (size_t k = 0; k < t->models.n; k++)
            tuned = tuned || strcmp(t->models.items[k], grids->keys[i]) == 0;
        if (!tuned)
            st = rela_tree_fail(grids->items[i], err, "'%s' is not among the models of 'tuning:'",
                                grids->keys[i]);
    }
    for (size_t i = 0; i < t->models.n && st == RELA_OK; i++) {
        const rela_tree *own = rela_tree_get(grids, t->models.items[i]);
        rela_study_settings *settings = NULL;
        size_t n = 0;
        if (own && own->kind == RELA_TREE_LIST)
            st = read_list(&settings, &n, s, own, err);
        else if (own || grid)
            st = cross(&settings, &n, s, own ? own : grid, err);
        else
            st = rela_tree_fail(at, err, "no 'grid:', and no grid of %s", t->models.items[i]);
        if (st == RELA_OK && i > 0 && n != t->n_settings)
            st =
                rela_tree_fail(own ? own : at, err,
                               "%s has %zu settings, %s has %zu: every model needs the same number",
                               t->models.items[i], n, t->models.items[0], t->n_settings);
        t->n_settings = n;
        all[i] = settings;
    }
    return st;
}

/* Every combination of the values: the last key changes fastest. */
static rela_status cross(rela_study_settings **out, size_t *n, rela_study *s, const rela_tree *grid,
                         rela_error *err)
{
    enum { SETTINGS_MAX = 10000 };
    rela_status st = rela_tree_expect(grid, RELA_TREE_MAP, "options with lists of values", err);
    *n = 1;
    for (size_t i = 0; i < grid->n && st == RELA_OK; i++) {
        *n *= grid->items[i]->kind == RELA_TREE_LIST ? grid->items[i]->n : 1;
        if (*n == 0 || *n > SETTINGS_MAX)
            st = rela_tree_fail(grid, err, "%zu settings; expected 1..%d", *n, SETTINGS_MAX);
    }
    if (st != RELA_OK)
        return st;
    *out = rela_arena_array(s->arena, *n, sizeof **out);
    for (size_t i = 0; i < *n && *out && st == RELA_OK; i++) {
        rela_study_setting *items = rela_arena_array(s->arena, grid->n, sizeof *items);
        if (!items)
            return rela_study_no_memory(s, err);
        for (size_t k = grid->n, rest = i; k-- > 0 && st == RELA_OK;) {
            const rela_tree *values = grid->items[k], *value = values;
            if (values->kind == RELA_TREE_LIST) {
                value = values->items[rest % values->n];
                rest /= values->n;
            }
            st = rela_tree_expect(value, RELA_TREE_TEXT, "a value of an option", err);
            items[k] = (rela_study_setting){ grid->keys[k], value->text, value->line };
        }
        (*out)[i] = (rela_study_settings){ items, grid->n };
    }
    return *out ? st : rela_study_no_memory(s, err);
}

static rela_status read_list(rela_study_settings **out, size_t *n, rela_study *s,
                             const rela_tree *list, rela_error *err)
{
    rela_status st = RELA_OK;
    *n = list->n;
    *out = rela_arena_array(s->arena, *n, sizeof **out);
    if (!*out)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; i < *n && st == RELA_OK; i++)
        st = rela_study_take_settings(&(*out)[i], s, list->items[i], NULL, err);
    return st;
}

/* Which choice a model takes: its own, or that of the model it names. */
static rela_status link_models(rela_study *s, rela_error *err)
{
    for (size_t i = 0; i < s->n_models; i++) {
        rela_study_model *m = &s->models[i];
        const char *wanted = m->tuned_as ? m->tuned_as : m->name;
        bool tuned = false;
        for (size_t k = 0; k < s->tuning.models.n; k++)
            tuned = tuned || strcmp(s->tuning.models.items[k], wanted) == 0;
        if (m->tuned_as && !tuned) {
            const rela_tree at = { .path = s->path, .line = m->line };
            return rela_tree_fail(&at, err, "tuned-as: '%s' is not among the models of 'tuning:'",
                                  wanted);
        }
        m->tuned_as = tuned ? wanted : NULL;
    }
    return RELA_OK;
}
