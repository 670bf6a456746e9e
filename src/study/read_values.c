/* SPDX-License-Identifier: MIT */
/* src/study/read_values.c - values of the kinds that studies have, for read_parts.h. */
#include "study/read_parts.h"

#include "base/nearest.h"
#include "base/str.h"
#include "study/arena_text.h"

#include <string.h>

static rela_status add_setting(rela_study_setting *out, size_t *n, const char *name,
                               const rela_tree *value, rela_error *err);
static bool among(const char *const *names, const char *name);
static rela_status need_model(const rela_study *s, const char *name, const rela_tree *at,
                              rela_error *err);

rela_status rela_study_no_memory(const rela_study *s, rela_error *err)
{
    return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", s->path);
}

rela_status rela_study_take_text(const char **out, const rela_tree *map, const char *key,
                                 rela_error *err)
{
    const rela_tree *at = rela_tree_get(map, key);
    const rela_status st = at ? rela_tree_expect(at, RELA_TREE_TEXT, key, err) : RELA_OK;
    if (at && st == RELA_OK)
        *out = at->text;
    return st;
}

rela_status rela_study_take_whole(int64_t *out, const rela_tree *at, int64_t least, rela_error *err)
{
    int64_t value = 0;
    if (!at)
        return RELA_OK;
    if (at->kind != RELA_TREE_TEXT || !rela_parse_i64(&value, at->text) || value < least)
        return rela_tree_fail(at, err, "expected a whole number from %lld", (long long)least);
    *out = value;
    return RELA_OK;
}

rela_status rela_study_take_flag(bool *out, const rela_tree *at, rela_error *err)
{
    if (!at)
        return RELA_OK;
    *out = strcmp(at->text, "true") == 0;
    return *out || strcmp(at->text, "false") == 0
               ? RELA_OK
               : rela_tree_fail(at, err, "expected true or false");
}

rela_status rela_study_take_names(rela_study_names *out, rela_study *s, const rela_tree *at,
                                  rela_error *err)
{
    if (!at)
        return RELA_OK;
    const size_t n = at->kind == RELA_TREE_TEXT ? 1 : at->n;
    const char **names = rela_arena_array(s->arena, n, sizeof *names);
    if (!names)
        return rela_study_no_memory(s, err);
    if (at->kind == RELA_TREE_MAP)
        return rela_tree_fail(at, err, "expected a list of names");
    for (size_t i = 0; i < n; i++) {
        const rela_tree *item = at->kind == RELA_TREE_TEXT ? at : at->items[i];
        const rela_status st = rela_tree_expect(item, RELA_TREE_TEXT, "a name", err);
        if (st != RELA_OK)
            return st;
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[k], item->text) == 0)
                return rela_tree_fail(item, err, "'%s' is given twice", item->text);
        names[i] = item->text;
    }
    *out = (rela_study_names){ names, n };
    return RELA_OK;
}

rela_status rela_study_take_seeds(const int64_t **out, size_t *n, rela_study *s,
                                  const rela_tree *at, rela_error *err)
{
    rela_study_names names = { NULL, 0 };
    rela_status st = rela_study_take_names(&names, s, at, err);
    if (!at || st != RELA_OK)
        return st;
    int64_t *seeds = rela_arena_array(s->arena, names.n, sizeof *seeds);
    if (!seeds)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; i < names.n && st == RELA_OK; i++)
        st = rela_study_take_whole(&seeds[i], at->kind == RELA_TREE_TEXT ? at : at->items[i], 0,
                                   err);
    if (st == RELA_OK && names.n == 0)
        st = rela_tree_fail(at, err, "expected at least one seed");
    *out = seeds;
    *n = names.n;
    return st;
}

rela_status rela_study_take_settings(rela_study_settings *out, rela_study *s, const rela_tree *at,
                                     const char *const *skip, rela_error *err)
{
    if (!at)
        return RELA_OK;
    rela_status st = rela_tree_expect(at, RELA_TREE_MAP, "options and values", err);
    size_t room = out->n, n = out->n;
    for (size_t i = 0; i < at->n && st == RELA_OK; i++)
        room += at->items[i]->kind == RELA_TREE_LIST ? at->items[i]->n : 1;
    rela_study_setting *items = rela_arena_array(s->arena, room, sizeof *items);
    if (!items)
        return rela_study_no_memory(s, err);
    if (n)
        memcpy(items, out->items, n * sizeof *items);
    for (size_t i = 0; i < at->n && st == RELA_OK; i++) {
        const rela_tree *value = at->items[i];
        if (among(skip, at->keys[i]))
            continue;
        for (size_t k = 0; value->kind == RELA_TREE_LIST && k < value->n && st == RELA_OK; k++)
            st = add_setting(items, &n, at->keys[i], value->items[k], err);
        if (value->kind != RELA_TREE_LIST && st == RELA_OK)
            st = add_setting(items, &n, at->keys[i], value, err);
    }
    *out = (rela_study_settings){ items, n };
    return st;
}

static rela_status add_setting(rela_study_setting *out, size_t *n, const char *name,
                               const rela_tree *value, rela_error *err)
{
    if (value->kind != RELA_TREE_TEXT)
        return rela_tree_fail(value, err, "expected a value of option '%s'", name);
    out[(*n)++] = (rela_study_setting){ name, value->text, value->line };
    return RELA_OK;
}

static bool among(const char *const *names, const char *name)
{
    for (size_t i = 0; names && names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

rela_status rela_study_check_name(const char *name, const rela_tree *at, rela_error *err)
{
    static const char ALLOWED[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "._+-";
    const size_t len = strspn(name, ALLOWED);
    return *name && !name[len] && *name != '.' && *name != '-'
               ? RELA_OK
               : rela_tree_fail(at, err,
                                "name '%s'; expected letters, digits and . _ + -, beginning with a "
                                "letter or digit",
                                name);
}

rela_status rela_study_take_models(rela_study_names *out, rela_study *s, const rela_tree *at,
                                   rela_error *err)
{
    rela_status st = RELA_OK;
    if (at && (at->kind != RELA_TREE_TEXT || strcmp(at->text, "all") != 0)) {
        st = rela_study_take_names(out, s, at, err);
        for (size_t i = 0; i < out->n && st == RELA_OK; i++)
            st = need_model(s, out->items[i], at->kind == RELA_TREE_TEXT ? at : at->items[i], err);
        return st;
    }
    const char **names = rela_arena_array(s->arena, s->n_models, sizeof *names);
    if (!names)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; i < s->n_models; i++)
        names[i] = s->models[i].name;
    *out = (rela_study_names){ names, s->n_models };
    return RELA_OK;
}

static rela_status need_model(const rela_study *s, const char *name, const rela_tree *at,
                              rela_error *err)
{
    rela_nearest best = { NULL, 0 };
    if (rela_study_find_model(s, name))
        return RELA_OK;
    for (size_t i = 0; i < s->n_models; i++)
        rela_nearest_offer(&best, name, s->models[i].name, strlen(s->models[i].name));
    return rela_tree_fail(at, err, "no model '%s' under 'models:'%s%s%s", name,
                          best.name ? "; did you mean '" : "", best.name ? best.name : "",
                          best.name ? "'?" : "");
}

rela_status rela_study_need_data(const rela_study *s, const char *name, const rela_tree *at,
                                 rela_error *err)
{
    rela_nearest best = { NULL, 0 };
    if (!name)
        return rela_tree_fail(at, err, "no 'data:', the name of an entry of 'data:'");
    if (rela_study_find_data(s, name))
        return RELA_OK;
    for (size_t i = 0; i < s->n_data; i++)
        rela_nearest_offer(&best, name, s->data[i].name, strlen(s->data[i].name));
    return rela_tree_fail(at, err, "no entry '%s' under 'data:'%s%s%s", name,
                          best.name ? "; did you mean '" : "", best.name ? best.name : "",
                          best.name ? "'?" : "");
}
