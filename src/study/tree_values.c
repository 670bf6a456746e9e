/* SPDX-License-Identifier: MIT */
/* src/study/tree_values.c - ${name} in trees, merging, and looking things up. */
#include "study/tree_values.h"

#include "base/nearest.h"
#include "base/str.h"
#include "study/arena_text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128 };

typedef struct values values;
struct values {
    rela_arena *arena;
    const rela_tree *set; /* `set:` of the file, or NULL */
    rela_tree_sets sets;
    /* The value that this one is in, to find cycles; NULL: a value of the study itself. */
    const char *name;
    const values *outer;
    const rela_tree *top;
    bool in_scales; /* a value that is missing may belong to a scale that is not chosen */
};

static rela_status check_set(const values *v, const rela_tree *tree, const char *set,
                             rela_error *err);
static rela_status replace_tree(const values *v, rela_tree *t, rela_error *err);
static rela_status replace(const char **out, const values *v, const char *text, const rela_tree *at,
                           rela_error *err);
static rela_status append_value(rela_buffer *out, const values *v, const char *name, size_t len,
                                const rela_tree *at, rela_error *err);
static rela_status find_value(const char **out, const values *v, const char *name,
                              const rela_tree *at, rela_error *err);
static rela_status unknown_value(const values *v, const char *name, const rela_tree *at,
                                 rela_error *err);

rela_status rela_tree_set_values(rela_tree *tree, rela_arena *arena, rela_tree_sets sets,
                                 rela_error *err)
{
    const values v = { arena, rela_tree_get(tree, "set"),
                       sets,  NULL,
                       NULL,  tree->kind == RELA_TREE_MAP ? tree : NULL,
                       false };
    rela_status st =
        v.set ? rela_tree_expect(v.set, RELA_TREE_MAP, "names and values", err) : RELA_OK;
    for (size_t i = 0; v.set && i < v.set->n && st == RELA_OK; i++)
        st = rela_tree_expect(v.set->items[i], RELA_TREE_TEXT, "a value", err);
    for (size_t i = 0; i < sets.n && st == RELA_OK; i++)
        st = check_set(&v, tree, sets.items[i], err);
    return st ? st : replace_tree(&v, tree, err);
}

static bool text_uses(const char *text, const char *name, size_t len)
{
    for (const char *at = text; (at = strstr(at, "${")); at += 2)
        if (strncmp(at + 2, name, len) == 0 && at[2 + len] == '}')
            return true;
    return false;
}

static bool tree_uses(const rela_tree *t, const char *name, size_t len)
{
    bool uses = t->kind == RELA_TREE_TEXT && text_uses(t->text, name, len);
    for (size_t i = 0; i < t->n && !uses; i++)
        uses = tree_uses(t->items[i], name, len);
    return uses;
}

/* A value that nothing uses is a mistyped name, or an option's name taken for a value's. */
static rela_status check_set(const values *v, const rela_tree *tree, const char *set,
                             rela_error *err)
{
    char name[NAME_MAX_BYTES];
    const size_t len = strcspn(set, "=");
    rela_nearest best = { NULL, 0 };
    if (!set[len] || len == 0)
        return rela_fail(err, RELA_ARG, "--set %s: expected NAME=VALUE", set);
    bool used = tree_uses(tree, set, len);
    for (size_t i = 0; i < v->sets.n && !used; i++)
        used = text_uses(v->sets.items[i], set, len);
    rela_format_text(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1),
                     set);
    for (size_t i = 0; v->set && i < v->set->n; i++) {
        used = used || strcmp(v->set->keys[i], name) == 0;
        rela_nearest_offer(&best, name, v->set->keys[i], strlen(v->set->keys[i]));
    }
    return used ? RELA_OK
                : rela_fail(err, RELA_ARG, "--set %s: ${%s} stands nowhere in the study%s%s%s", set,
                            name, best.name ? "; did you mean ${" : "", best.name ? best.name : "",
                            best.name ? "}?" : "");
}

static rela_status replace_tree(const values *v, rela_tree *t, rela_error *err)
{
    rela_status st = RELA_OK;
    if (t->kind == RELA_TREE_TEXT && strstr(t->text, "${"))
        st = replace(&t->text, v, t->text, t, err);
    for (size_t i = 0; i < t->n && st == RELA_OK; i++) {
        values inner = *v;
        inner.in_scales = v->in_scales || (t == v->top && strcmp(t->keys[i], "scales") == 0);
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): still ours to change */
        st = replace_tree(&inner, (rela_tree *)(uintptr_t)t->items[i], err);
    }
    return st;
}

rela_status rela_tree_check_values(const rela_tree *tree, const char *skip, rela_error *err)
{
    rela_status st = RELA_OK;
    const char *dollar = tree->kind == RELA_TREE_TEXT ? strstr(tree->text, "${") : NULL;
    if (dollar) {
        const values v = { .set = NULL };
        char name[NAME_MAX_BYTES];
        rela_format_text(name, sizeof name, "%.*s", (int)strcspn(dollar + 2, "}"), dollar + 2);
        return unknown_value(&v, name, tree, err);
    }
    for (size_t i = 0; i < tree->n && st == RELA_OK; i++)
        if (tree->kind != RELA_TREE_MAP || !skip || strcmp(tree->keys[i], skip) != 0)
            st = rela_tree_check_values(tree->items[i], NULL, err);
    return st;
}

static rela_status replace(const char **out, const values *v, const char *text, const rela_tree *at,
                           rela_error *err)
{
    rela_buffer built = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_append_text(&built, "", err);
    while (st == RELA_OK && *text) {
        const char *dollar = strstr(text, "${"), *end = dollar ? strchr(dollar, '}') : NULL;
        if (dollar && !end)
            st = rela_tree_fail(at, err, "'${' without '}'");
        else if (!dollar)
            st = rela_buffer_append_text(&built, text, err);
        else
            st = rela_buffer_append(&built, text, (size_t)(dollar - text), err);
        if (st == RELA_OK && dollar)
            st = append_value(&built, v, dollar + 2, (size_t)(end - dollar) - 2, at, err);
        text = dollar && end ? end + 1 : text + strlen(text);
    }
    if (st == RELA_OK &&
        !(*out = rela_arena_copy(v->arena, built.data ? built.data : "", built.len)))
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to read it", at->path);
    rela_buffer_free(&built);
    return st;
}

static rela_status append_value(rela_buffer *out, const values *v, const char *name, size_t len,
                                const rela_tree *at, rela_error *err)
{
    char key[NAME_MAX_BYTES];
    const char *value = NULL;
    if (len == 0 || len >= sizeof key)
        return rela_tree_fail(at, err, "'${' without a name");
    memcpy(key, name, len);
    key[len] = '\0';
    for (const values *o = v; o; o = o->outer)
        if (o->name && strcmp(o->name, key) == 0)
            return rela_tree_fail(at, err, "the value of ${%s} contains itself", key);
    if (v->in_scales && find_value(&value, v, key, at, NULL) != RELA_OK)
        return rela_buffer_printf(out, err, "${%s}", key);
    rela_status st = find_value(&value, v, key, at, err);
    if (st == RELA_OK && strstr(value, "${")) {
        values inner = *v;
        inner.name = key;
        inner.outer = v;
        st = replace(&value, &inner, value, at, err);
    }
    return st ? st : rela_buffer_append_text(out, value, err);
}

static rela_status find_value(const char **out, const values *v, const char *name,
                              const rela_tree *at, rela_error *err)
{
    const size_t len = strlen(name);
    for (size_t i = v->sets.n; i-- > 0;)
        if (strncmp(v->sets.items[i], name, len) == 0 && v->sets.items[i][len] == '=') {
            *out = v->sets.items[i] + len + 1;
            return RELA_OK;
        }
    *out = rela_tree_text(v->set, name);
    if (!*out)
        *out = getenv(name);
    return *out ? RELA_OK : unknown_value(v, name, at, err);
}

static rela_status unknown_value(const values *v, const char *name, const rela_tree *at,
                                 rela_error *err)
{
    rela_nearest best = { NULL, 0 };
    for (size_t i = 0; v->set && i < v->set->n; i++)
        rela_nearest_offer(&best, name, v->set->keys[i], strlen(v->set->keys[i]));
    return rela_tree_fail(at, err,
                          "${%s} has no value; %s%s%sgive it under 'set:', in the "
                          "environment or with --set",
                          name, best.name ? "did you mean ${" : "", best.name ? best.name : "",
                          best.name ? "}? " : "");
}

const rela_tree *rela_tree_merge(rela_arena *arena, const rela_tree *base, const rela_tree *over)
{
    if (!base || base->kind != RELA_TREE_MAP || over->kind != RELA_TREE_MAP)
        return over;
    rela_tree *t = rela_arena_array(arena, 1, sizeof *t);
    if (!t)
        return NULL;
    *t = *base;
    const rela_tree **items = rela_arena_array(arena, base->n + over->n, sizeof *items);
    const char **keys = rela_arena_array(arena, base->n + over->n, sizeof *keys);
    size_t *lines = rela_arena_array(arena, base->n + over->n, sizeof *lines);
    if (!items || !keys || !lines)
        return NULL;
    for (size_t i = 0; i < base->n; i++) {
        const rela_tree *other = rela_tree_get(over, base->keys[i]);
        keys[i] = base->keys[i];
        lines[i] = base->key_lines[i];
        items[i] = other ? rela_tree_merge(arena, base->items[i], other) : base->items[i];
        if (!items[i])
            return NULL;
    }
    for (size_t i = 0; i < over->n; i++)
        if (!rela_tree_get(base, over->keys[i])) {
            keys[t->n] = over->keys[i];
            lines[t->n] = over->key_lines[i];
            items[t->n++] = over->items[i];
        }
    t->items = items;
    t->keys = keys;
    t->key_lines = lines;
    return t;
}

const rela_tree *rela_tree_get(const rela_tree *map, const char *key)
{
    if (map && map->kind == RELA_TREE_MAP)
        for (size_t i = 0; i < map->n; i++)
            if (strcmp(map->keys[i], key) == 0)
                return map->items[i];
    return NULL;
}

const char *rela_tree_text(const rela_tree *map, const char *key)
{
    const rela_tree *t = rela_tree_get(map, key);
    return t && t->kind == RELA_TREE_TEXT ? t->text : NULL;
}

rela_status rela_tree_fail(const rela_tree *at, rela_error *err, const char *format, ...)
{
    enum { MESSAGE_MAX = 400 };
    char message[MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    rela_format(message, sizeof message, format, args);
    va_end(args);
    return rela_fail(err, RELA_FORMAT, "%s: line %zu: %s", at->path, at->line, message);
}

rela_status rela_tree_expect(const rela_tree *at, rela_tree_kind kind, const char *what,
                             rela_error *err)
{
    static const char *const KINDS[] = { "value", "list", "map" };
    if (at->kind == kind && (kind != RELA_TREE_TEXT || *at->text))
        return RELA_OK;
    return rela_tree_fail(at, err, "expected a %s: %s", KINDS[kind], what);
}

rela_status rela_tree_check_keys(const rela_tree *map, const char *const *known, const char *what,
                                 rela_error *err)
{
    for (size_t i = 0; i < map->n; i++) {
        rela_nearest best = { NULL, 0 };
        bool found = false;
        for (size_t k = 0; known[k] && !found; k++) {
            found = strcmp(map->keys[i], known[k]) == 0;
            rela_nearest_offer(&best, map->keys[i], known[k], strlen(known[k]));
        }
        if (found)
            continue;
        const rela_tree at = { .path = map->path, .line = map->key_lines[i] };
        return rela_tree_fail(&at, err, "unknown key '%s' in %s%s%s%s", map->keys[i], what,
                              best.name ? "; did you mean '" : "", best.name ? best.name : "",
                              best.name ? "'?" : "");
    }
    return RELA_OK;
}
