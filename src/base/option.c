/* SPDX-License-Identifier: MIT */
/* src/base/option.c - the options of a command: which were given, and where. Values are read and
 * written in option_value.c; help and manual pages are in option_text.c. */
#include "base/option.h"

#include "base/mem.h"
#include "base/nearest.h"
#include "base/str.h"

#include <string.h>

enum { NAME_MAX_BYTES = 64 };

typedef enum source { SOURCE_DEFAULT, SOURCE_CONFIG, SOURCE_COMMAND_LINE } source;

struct rela_option_state {
    rela_option_group *groups;
    size_t n_groups;
    source **given; /* [group][row] */
    char **texts;   /* copies made by rela_options_set */
    size_t n_texts, cap_texts;
    void **lists; /* item arrays */
    size_t n_lists, cap_lists;
};

typedef struct place {
    const rela_option *option;
    void *field;
    source *given;
} place;

static bool find(const rela_option_state *s, place *p, const char *name, size_t len, char letter);
static bool same_spelling(const char *a, const char *b, size_t len);
static bool has_option(const void *state, const char *name, size_t len);
static const char *suggest(const rela_option_state *s, const char *name);
static rela_status unknown_option(const char *arg, const char *near, rela_error *err);
static bool only_command_line(const char *key);
static rela_status assign(rela_option_state *s, const place *p, const char *value, source from,
                          rela_error *err);
static rela_status append_item(rela_option_state *s, rela_list *list, const char *value,
                               rela_error *err);
static size_t rows(const rela_option *options);

static bool is_list(const rela_option *o)
{
    return o->type == RELA_OPTION_LIST || o->type == RELA_OPTION_FILES;
}

rela_option_state *rela_options_create(const rela_option_group *groups, size_t n_groups)
{
    rela_option_state *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return NULL;
    s->groups = rela_mem_array(n_groups, sizeof *s->groups);
    s->given = rela_mem_zalloc(n_groups * sizeof *s->given);
    bool good = s->groups && s->given;
    for (size_t i = 0; good && i < n_groups; i++) {
        s->groups[i] = groups[i];
        s->given[i] = rela_mem_zalloc(rows(groups[i].options) * sizeof **s->given);
        good = s->given[i] != NULL;
        s->n_groups = i + 1;
    }
    if (!good) {
        rela_options_destroy(s);
        return NULL;
    }
    return s;
}

void rela_options_destroy(rela_option_state *s)
{
    if (!s)
        return;
    for (size_t i = 0; s->given && i < s->n_groups; i++)
        rela_mem_free(s->given[i]);
    for (size_t i = 0; i < s->n_texts; i++)
        rela_mem_free(s->texts[i]);
    for (size_t i = 0; i < s->n_lists; i++)
        rela_mem_free(s->lists[i]);
    rela_mem_free(s->lists);
    rela_mem_free(s->texts);
    rela_mem_free(s->given);
    rela_mem_free(s->groups);
    rela_mem_free(s);
}

rela_status rela_options_default(rela_option_state *s, rela_error *err)
{
    for (size_t g = 0; g < s->n_groups; g++) {
        const rela_option *row = s->groups[g].options;
        for (size_t i = 0; row[i].name; i++) {
            place p = { &row[i], (char *)s->groups[g].fields + row[i].offset, &s->given[g][i] };
            if (!row[i].initial)
                continue;
            const rela_status st = assign(s, &p, row[i].initial, SOURCE_DEFAULT, err);
            if (st != RELA_OK)
                return st;
        }
    }
    return RELA_OK;
}

/* One argument that starts with a dash. *used: the next argument was taken as its value. */
static rela_status parse_option(rela_option_state *s, const char *arg, const char *next, bool *used,
                                rela_error *err)
{
    place p;
    const char *value = NULL;
    const bool is_long = arg[1] == '-';
    const char *name = arg + 2;
    const size_t len = is_long ? strcspn(name, "=") : 0;
    if (is_long && name[len] == '=')
        value = name + len + 1;
    else if (!is_long && arg[2])
        value = arg[2] == '=' ? arg + 3 : arg + 2;
    if (!is_long && arg[2] && find(s, &p, arg + 1, strcspn(arg + 1, "="), 0))
        return unknown_option(arg, p.option->name, err); /* -output is not -o utput */
    bool found = is_long ? find(s, &p, name, len, 0) : find(s, &p, "", 0, arg[1]);
    if (!found && is_long && strncmp(name, "no-", 3) == 0 && !value &&
        find(s, &p, name + 3, len - 3, 0) && p.option->type == RELA_OPTION_FLAG)
        return assign(s, &p, "false", SOURCE_COMMAND_LINE, err);
    if (!found)
        return unknown_option(arg, suggest(s, is_long ? name : arg + 1), err);
    if (!is_long && arg[2] && arg[2] != '=' && p.option->type == RELA_OPTION_FLAG)
        return unknown_option(arg, p.option->name, err); /* -lc */
    if (p.option->type == RELA_OPTION_FLAG && !value)
        return assign(s, &p, "true", SOURCE_COMMAND_LINE, err);
    if (!value) {
        if (!next)
            return rela_fail(err, RELA_ARG, "option --%s needs a value", p.option->name);
        value = next;
        *used = true;
    }
    const rela_status st = assign(s, &p, value, SOURCE_COMMAND_LINE, err);
    const char *meant = st == RELA_ARG && !is_long && arg[2]
                            ? rela_option_foreign(arg + 1, strlen(arg + 1), has_option, s)
                            : NULL;
    return meant ? unknown_option(arg, meant, err) : st; /* -tok 13a */
}

/* near: NULL, an option, or after ! a remedy in words. */
static rela_status unknown_option(const char *arg, const char *near, rela_error *err)
{
    if (near && *near == '!')
        return rela_fail(err, RELA_ARG, "unknown option %s; %s", arg, near + 1);
    return rela_fail(err, RELA_ARG, "unknown option %s%s%s%s", arg, near ? "; did you mean --" : "",
                     near ? near : "", near ? "?" : "");
}

rela_status rela_options_parse(rela_option_state *s, rela_list *operands, int argc,
                               const char *const *argv, rela_error *err)
{
    bool only_operands = false;
    for (int i = 0; i < argc; i++) {
        const char *arg = argv[i];
        rela_status st = RELA_OK;
        bool used = false;
        if (!only_operands && strcmp(arg, "--") == 0)
            only_operands = true;
        else if (only_operands || arg[0] != '-' || arg[1] == '\0')
            st = append_item(s, operands, arg, err);
        else
            st = parse_option(s, arg, i + 1 < argc ? argv[i + 1] : NULL, &used, err);
        if (st != RELA_OK)
            return st;
        i += used;
    }
    return RELA_OK;
}

rela_status rela_options_set(rela_option_state *s, const char *key, const char *value,
                             rela_error *err)
{
    place p;
    if (!find(s, &p, key, strlen(key), 0)) {
        const char *near = suggest(s, key);
        if (near && *near == '!')
            return rela_fail(err, RELA_ARG, "unknown key '%s'; %s", key, near + 1);
        return rela_fail(err, RELA_ARG, "unknown key '%s'%s%.*s%s", key,
                         near ? "; did you mean '" : "", near ? (int)strcspn(near, " ") : 0,
                         near ? near : "", near ? "'?" : "");
    }
    if (only_command_line(key))
        return rela_fail(err, RELA_ARG, "key '%s' belongs on the command line", key);
    if (*p.given == SOURCE_COMMAND_LINE)
        return RELA_OK;
    char **texts = rela_mem_grow(s->texts, &s->cap_texts, s->n_texts + 1, sizeof *texts);
    if (texts)
        s->texts = texts;
    char *copy = texts ? rela_str_copy(value, strlen(value)) : NULL;
    if (!copy)
        return rela_fail(err, RELA_NOMEM, "no memory for key '%s'", key);
    s->texts[s->n_texts++] = copy;
    return assign(s, &p, copy, SOURCE_CONFIG, err);
}

bool rela_options_is_list(const rela_option_state *s, const char *key)
{
    place p;
    return find(s, &p, key, strlen(key), 0) && is_list(p.option);
}

bool rela_options_given(const rela_option_state *s, const char *name)
{
    place p;
    return find(s, &p, name, strlen(name), 0) && *p.given != SOURCE_DEFAULT;
}

bool rela_options_typed(const rela_option_state *s, const char *name)
{
    place p;
    return find(s, &p, name, strlen(name), 0) && *p.given == SOURCE_COMMAND_LINE;
}

const char *rela_options_text(const rela_option_state *s, const char *name)
{
    place p;
    const bool text = find(s, &p, name, strlen(name), 0) &&
                      (p.option->type == RELA_OPTION_TEXT || p.option->type == RELA_OPTION_CHOICE);
    return text ? *(const char *const *)p.field : NULL;
}

rela_status rela_options_dump(rela_buffer *out, const rela_option_state *s, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t g = 0; g < s->n_groups; g++)
        for (const rela_option *o = s->groups[g].options; o->name && st == RELA_OK; o++)
            if (!only_command_line(o->name))
                st = rela_option_dump(out, o, s->groups[g].fields, err);
    return st;
}

const char *rela_option_present_name(const char *name, size_t *len)
{
    static const char *const RENAMED[][2] = { { "piece-rows", "micro-batch" } };
    for (size_t i = 0; i < sizeof RENAMED / sizeof RENAMED[0]; i++)
        if (strlen(RENAMED[i][0]) == *len && memcmp(RENAMED[i][0], name, *len) == 0) {
            *len = strlen(RENAMED[i][1]);
            return RENAMED[i][1];
        }
    return name;
}

static bool find(const rela_option_state *s, place *p, const char *name, size_t len, char letter)
{
    if (!letter)
        name = rela_option_present_name(name, &len);
    for (size_t g = 0; g < s->n_groups; g++) {
        const rela_option *row = s->groups[g].options;
        for (size_t i = 0; row[i].name; i++) {
            const bool same =
                letter ? row[i].letter == letter
                       : strlen(row[i].name) == len && same_spelling(row[i].name, name, len);
            if (!same)
                continue;
            *p = (place){ &row[i], (char *)s->groups[g].fields + row[i].offset, &s->given[g][i] };
            return true;
        }
    }
    return false;
}

static bool same_spelling(const char *a, const char *b, size_t len)
{
    static const char *const SPELLINGS[][2] = { { "ise", "ize" }, { "licence", "license" } };
    for (size_t at = 0; at < len;) {
        size_t step = a[at] == b[at];
        for (size_t i = 0; i < sizeof SPELLINGS / sizeof SPELLINGS[0]; i++)
            for (size_t uk = 0; uk < 2; uk++) {
                const size_t n = strlen(SPELLINGS[i][uk]);
                if (at + n <= len && memcmp(a + at, SPELLINGS[i][uk], n) == 0 &&
                    memcmp(b + at, SPELLINGS[i][!uk], n) == 0)
                    step = n;
            }
        if (step == 0)
            return false;
        at += step;
    }
    return true;
}

static bool has_option(const void *state, const char *name, size_t len)
{
    place p;
    return find(state, &p, name, len, 0);
}

/* The option that was probably meant; NULL if there is no guess. */
static const char *suggest(const rela_option_state *s, const char *name)
{
    const char *known = rela_option_foreign(name, strcspn(name, "="), has_option, s);
    rela_nearest best = { NULL, 0 };
    place p;
    if (known)
        return known;
    if (strncmp(name, "no-", 3) == 0 && find(s, &p, name + 3, strlen(name + 3), 0) &&
        p.option->type == RELA_OPTION_FLAG)
        return name; /* with one dash */
    for (size_t g = 0; g < s->n_groups; g++)
        for (const rela_option *o = s->groups[g].options; o->name; o++)
            rela_nearest_offer(&best, name, o->name, strlen(o->name));
    return best.name;
}

/* Keys that make no sense inside a configuration. */
static bool only_command_line(const char *key)
{
    return strcmp(key, "config") == 0 || strcmp(key, "help") == 0;
}

static rela_status assign(rela_option_state *s, const place *p, const char *value, source from,
                          rela_error *err)
{
    if (from == SOURCE_COMMAND_LINE && *p->given == from && !is_list(p->option))
        return rela_fail(err, RELA_ARG, "option --%s is given twice", p->option->name);
    if (is_list(p->option) && *p->given < from) /* a stronger source replaces the whole list */
        ((rela_list *)p->field)->n = 0;
    *p->given = from;
    const bool stored = !is_list(p->option);
    const rela_status st = rela_option_store(p->option, stored ? p->field : NULL, value, err);
    return st || stored ? st : append_item(s, p->field, value, err);
}

static rela_status append_item(rela_option_state *s, rela_list *list, const char *value,
                               rela_error *err)
{
    /* Copies to a new array; all arrays live until the state, their only owner, is destroyed. Lists
     * are short. */
    void **lists = rela_mem_grow(s->lists, &s->cap_lists, s->n_lists + 1, sizeof *lists);
    if (lists)
        s->lists = lists;
    const char **items = lists ? rela_mem_array(list->n + 1, sizeof *items) : NULL;
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for the arguments");
    if (list->n)
        memcpy(items, list->items, list->n * sizeof *items);
    items[list->n] = value;
    s->lists[s->n_lists++] = items;
    list->items = items;
    list->n++;
    return RELA_OK;
}

static size_t rows(const rela_option *options)
{
    size_t n = 0;
    while (options[n].name)
        n++;
    return n + 1;
}
