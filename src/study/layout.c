/* SPDX-License-Identifier: MIT */
/* src/study/layout.c - see layout.h. */
#include "study/layout.h"

#include "base/str.h"

#include <string.h>

static const char *const KINDS[] = {
#define RELA_X(name, text) text,
    RELA_EXHIBIT_MAP(RELA_X)
#undef RELA_X
};

static rela_status read_exhibit(rela_exhibit *e, const rela_study *s, const rela_tree *at,
                                rela_error *err);
static rela_status read_kind(rela_exhibit *e, const rela_tree *at, rela_error *err);
static rela_status read_part(rela_exhibit_part *p, const rela_tree *at, rela_error *err);
static rela_status read_names(rela_study_names *out, const rela_study *s, const rela_tree *at,
                              const char *what, bool models, rela_error *err);
static rela_status read_published(rela_exhibit *e, const rela_study *s, const rela_tree *at,
                                  rela_error *err);
static rela_status by_itself(rela_layout *out, const rela_study *s, rela_error *err);
static rela_status read_head(rela_layout *out, const rela_study *s, const rela_tree *at,
                             rela_error *err);
static rela_status no_memory(const rela_study *s, rela_error *err);

const char *rela_exhibit_kind_name(rela_exhibit_kind kind)
{
    return KINDS[kind];
}

const char *rela_layout_data_title(const rela_layout *s, const char *data)
{
    const char *title = s->titles ? rela_tree_text(s->titles, data) : NULL;
    return title ? title : data;
}

rela_status rela_layout_read(rela_layout *out, const rela_study *study, rela_error *err)
{
    static const char *const KEYS[] = { "title", "question", "answer", "titles", "show", NULL };
    const rela_tree *at = study->report, *show = rela_tree_get(at, "show");
    *out = (rela_layout){ .title = study->name, .question = "" };
    rela_status st = at ? rela_tree_expect(at, RELA_TREE_MAP, "keys of a report", err) : RELA_OK;
    st = st || !at ? st : rela_tree_check_keys(at, KEYS, "'report:'", err);
    st = st || !at ? st : read_head(out, study, at, err);
    if (st == RELA_OK && show)
        st = rela_tree_expect(show, RELA_TREE_LIST, "a list of tables and figures", err);
    if (st != RELA_OK || !show)
        return st ? st : by_itself(out, study, err);
    rela_exhibit *items = rela_arena_alloc(study->arena, (show->n + 1) * sizeof *items);
    if (!items)
        return no_memory(study, err);
    out->items = items;
    for (; out->n < show->n && st == RELA_OK; out->n++)
        st = read_exhibit(&items[out->n], study, show->items[out->n], err);
    return st;
}

static rela_status no_memory(const rela_study *s, rela_error *err)
{
    return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", s->path);
}

static const char *text_or(const rela_tree *map, const char *key, const char *otherwise)
{
    const char *text = rela_tree_text(map, key);
    return text ? text : otherwise;
}

static rela_status known_model(const rela_study *s, const rela_tree *at, const char *name,
                               rela_error *err)
{
    return rela_study_find_model(s, name)
               ? RELA_OK
               : rela_tree_fail(at, err, "no model '%s' under 'models:'", name);
}

static rela_status read_head(rela_layout *out, const rela_study *s, const rela_tree *at,
                             rela_error *err)
{
    static const char *const ANSWER[] = { "a", "b", "data", NULL };
    const rela_tree *answer = rela_tree_get(at, "answer");
    out->title = text_or(at, "title", s->name);
    out->question = text_or(at, "question", "");
    out->titles = rela_tree_get(at, "titles");
    if (!answer)
        return RELA_OK;
    const rela_status st = rela_tree_check_keys(answer, ANSWER, "'answer:'", err);
    out->a = rela_tree_text(answer, "a");
    out->b = rela_tree_text(answer, "b");
    out->data = rela_tree_text(answer, "data");
    if (st == RELA_OK && (!out->a || !out->b || !out->data))
        return rela_tree_fail(answer, err, "an answer compares models `a:` and `b:` on `data:`");
    const rela_status known = st ? st : known_model(s, answer, out->a, err);
    return known ? known : known_model(s, answer, out->b, err);
}

/* A study without `report:`: its models, on every corpus, against the first one. */
static rela_status by_itself(rela_layout *out, const rela_study *s, rela_error *err)
{
    rela_exhibit *items = rela_arena_alloc(s->arena, (s->n_rows + 1) * sizeof *items);
    const char **models = rela_arena_alloc(s->arena, (s->n_models + 1) * sizeof *models);
    if (!items || !models)
        return no_memory(s, err);
    for (size_t i = 0; i < s->n_models; i++)
        models[i] = s->models[i].name;
    out->items = items;
    for (size_t i = 0; i < s->n_rows; i++) {
        bool known = false;
        for (size_t k = 0; k < out->n; k++)
            known = known || strcmp(items[k].data, s->rows[i].data) == 0;
        if (known)
            continue;
        items[out->n++] = (rela_exhibit){ .id = s->rows[i].data,
                                          .name = "Scores",
                                          .title = s->rows[i].data,
                                          .note = "",
                                          .says = "",
                                          .kind = RELA_EXHIBIT_SCORES,
                                          .data = s->rows[i].data,
                                          .against = models[0],
                                          .models = { models, s->n_models },
                                          .measures = s->scores };
    }
    if (!out->a && s->n_models > 1 && s->n_rows) {
        out->a = models[1];
        out->b = models[0];
        out->data = s->rows[0].data;
    }
    return RELA_OK;
}

static rela_status read_exhibit(rela_exhibit *e, const rela_study *s, const rela_tree *at,
                                rela_error *err)
{
    static const char *const KEYS[] = { "id",        "name", "title",    "kind",  "data",
                                        "models",    "says", "measures", "parts", "against",
                                        "published", "note", "columns",  NULL };
    rela_status st = rela_tree_expect(at, RELA_TREE_MAP, "a table or figure", err);
    st = st ? st : rela_tree_check_keys(at, KEYS, "a table or figure", err);
    if (st != RELA_OK)
        return st;
    *e = (rela_exhibit){ .id = rela_tree_text(at, "id"),
                         .name = text_or(at, "name", ""),
                         .title = text_or(at, "title", ""),
                         .note = text_or(at, "note", ""),
                         .says = text_or(at, "says", ""),
                         .against = rela_tree_text(at, "against"),
                         .data = rela_tree_text(at, "data"),
                         .line = at->line };
    if (!e->id || !*e->id || strspn(e->id, "abcdefghijklmnopqrstuvwxyz0123456789-") < strlen(e->id))
        return rela_tree_fail(at, err, "a table or figure needs `id:` of letters, digits and -");
    st = read_kind(e, at, err);
    st = st ? st : read_names(&e->models, s, rela_tree_get(at, "models"), "models", true, err);
    st = st ? st
            : read_names(&e->measures, s, rela_tree_get(at, "measures"), "measures", false, err);
    st = st ? st
            : read_names(&e->published_columns, s, rela_tree_get(at, "columns"), "columns", false,
                         err);
    if (st == RELA_OK && e->against)
        st = known_model(s, at, e->against, err);
    const rela_tree *parts = rela_tree_get(at, "parts");
    if (st == RELA_OK && parts) {
        st = rela_tree_expect(parts, RELA_TREE_LIST, "a list of columns or panels", err);
        rela_exhibit_part *p = rela_arena_alloc(s->arena, (parts->n + 1) * sizeof *p);
        if (!p)
            return no_memory(s, err);
        e->parts = p;
        for (; e->n_parts < parts->n && st == RELA_OK; e->n_parts++)
            st = read_part(&p[e->n_parts], parts->items[e->n_parts], err);
    }
    return st ? st : read_published(e, s, at, err);
}

static rela_status read_kind(rela_exhibit *e, const rela_tree *at, rela_error *err)
{
    const char *kind = text_or(at, "kind", "");
    for (size_t i = 0; i < RELA_EXHIBIT_KINDS; i++)
        if (strcmp(kind, KINDS[i]) == 0) {
            e->kind = (rela_exhibit_kind)i;
            return RELA_OK;
        }
    return rela_tree_fail(at, err,
                          "kind is '%s'; expected scores, pairs, means, layers, speed, lengths, "
                          "operations, tags, ranking or maps",
                          kind);
}

static rela_status read_part(rela_exhibit_part *p, const rela_tree *at, rela_error *err)
{
    static const char *const KEYS[] = { "title", "measure", "place", "second",
                                        "unit",  "percent", NULL };
    rela_status st = rela_tree_expect(at, RELA_TREE_MAP, "title, measure, place", err);
    st = st ? st : rela_tree_check_keys(at, KEYS, "a column or panel", err);
    const char *percent = rela_tree_text(at, "percent");
    *p = (rela_exhibit_part){ .title = text_or(at, "title", ""),
                              .measure = rela_tree_text(at, "measure"),
                              .place = rela_tree_text(at, "place"),
                              .second = rela_tree_text(at, "second"),
                              .unit = text_or(at, "unit", ""),
                              .factor = percent && strcmp(percent, "true") == 0 ? 100 : 1 };
    return st || p->measure ? st : rela_tree_fail(at, err, "a column needs `measure:`");
}

static rela_status read_names(rela_study_names *out, const rela_study *s, const rela_tree *at,
                              const char *what, bool models, rela_error *err)
{
    if (!at)
        return RELA_OK;
    rela_status st = rela_tree_expect(at, RELA_TREE_LIST, what, err);
    const char **items = rela_arena_alloc(s->arena, (at->n + 1) * sizeof *items);
    if (!items)
        return no_memory(s, err);
    for (size_t i = 0; i < at->n && st == RELA_OK; i++) {
        items[i] = at->items[i]->text;
        if (models)
            st = known_model(s, at->items[i], items[i], err);
    }
    *out = (rela_study_names){ items, at->n };
    return st;
}

/* A map: model to a number or a list of numbers, "-" where training failed. */
static rela_status read_published(rela_exhibit *e, const rela_study *s, const rela_tree *at,
                                  rela_error *err)
{
    e->published = rela_tree_get(at, "published");
    if (!e->published)
        return RELA_OK;
    rela_status st = rela_tree_expect(e->published, RELA_TREE_MAP, "models and numbers", err);
    for (size_t i = 0; st == RELA_OK && i < e->published->n; i++)
        if (strcmp(e->published->keys[i], "from") != 0)
            st = known_model(s, e->published->items[i], e->published->keys[i], err);
    return st;
}
