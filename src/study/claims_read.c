/* SPDX-License-Identifier: MIT */
/* src/study/claims_read.c - `claims:` of a study, see claims.h. */
#include "base/str.h"
#include "study/claims.h"

#include <math.h>
#include <string.h>

static const char *const KEYS[] = { "claim", "section", "published", "rule",  "measure", "data",
                                    "model", "place",   "test",      "tag",   "units",   "a",
                                    "b",     "effect",  "margin",    "bound", "each",    "ratio",
                                    "area",  "unit",    NULL };
static const char *const SIDE_KEYS[] = { "measure", "data",  "model", "place", "test",
                                         "tag",     "label", "layer", NULL };
static const char *const RULES[] = {
#define RELA_X(name, text) text,
    RELA_CLAIM_RULE_MAP(RELA_X)
#undef RELA_X
};
static const char *const UNITS[] = { "seeds", "layers", "heads", "sentences" };

static rela_status read_claim(rela_claim *c, rela_arena *arena, const rela_tree *map,
                              rela_error *err);
static rela_status read_sides(rela_claim *c, rela_arena *arena, const rela_tree *map,
                              rela_error *err);
static rela_status read_side(rela_claim_side *s, const rela_claim *c, const rela_tree *at,
                             rela_error *err);
static rela_status read_word(size_t *out, const rela_tree *map, const char *key,
                             const char *const *words, size_t n, rela_error *err);
static rela_status read_number(double *out, const rela_tree *map, const char *key, rela_error *err);
static rela_status read_flag(bool *out, const rela_tree *map, const char *key, rela_error *err);
static rela_status check_rule(const rela_claim *c, const rela_tree *map, rela_error *err);

const char *rela_claim_rule_name(rela_claim_rule rule)
{
    return RULES[rule];
}

rela_status rela_claims_read(rela_claims *out, rela_arena *arena, const rela_tree *list,
                             rela_error *err)
{
    *out = (rela_claims){ .n = 0 };
    if (!list)
        return RELA_OK;
    rela_status st = rela_tree_expect(list, RELA_TREE_LIST, "a list of claims", err);
    if (st == RELA_OK && list->n) {
        out->items = rela_arena_alloc(arena, list->n * sizeof *out->items);
        if (!out->items)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu claims", list->n);
    }
    for (; st == RELA_OK && out->n < list->n; out->n++)
        st = read_claim(&out->items[out->n], arena, list->items[out->n], err);
    return st;
}

static const char *text_or_none(const rela_tree *map, const char *key)
{
    const char *text = rela_tree_text(map, key);
    return text ? text : "";
}

static rela_status read_claim(rela_claim *c, rela_arena *arena, const rela_tree *map,
                              rela_error *err)
{
    size_t rule = 0, units = RELA_UNITS_SEEDS;
    rela_status st = rela_tree_expect(map, RELA_TREE_MAP, "a map with `claim:`", err);
    st = st ? st : rela_tree_check_keys(map, KEYS, "claims", err);
    if (st == RELA_OK && (!rela_tree_text(map, "claim") || !rela_tree_text(map, "rule")))
        st = rela_tree_fail(map, err, "a claim needs `claim:` and `rule:`");
    st = st ? st : read_word(&rule, map, "rule", RULES, RELA_CLAIM_RULES, err);
    st = st ? st : read_word(&units, map, "units", UNITS, 4, err);
    if (st != RELA_OK)
        return st;
    *c = (rela_claim){ .text = rela_tree_text(map, "claim"),
                       .section = text_or_none(map, "section"),
                       .unit = text_or_none(map, "unit"),
                       .published = text_or_none(map, "published"),
                       .rule = (rela_claim_rule)rule,
                       .units = (rela_claim_units)units,
                       .line = map->line };
    const char *each = rela_tree_text(map, "each");
    c->every_layer = each && strcmp(each, "layer") == 0;
    c->every_data = each && strcmp(each, "data") == 0;
    if (each && !c->every_layer && !c->every_data)
        return rela_tree_fail(rela_tree_get(map, "each"), err,
                              "each is '%s'; expected layer or data", each);
    st = read_number(&c->effect, map, "effect", err);
    st = st ? st : read_number(&c->margin, map, "margin", err);
    st = st ? st : read_flag(&c->ratio, map, "ratio", err);
    st = st ? st : read_flag(&c->area, map, "area", err);
    st = st ? st : read_sides(c, arena, map, err);
    return st ? st : check_rule(c, map, err);
}

static rela_status read_sides(rela_claim *c, rela_arena *arena, const rela_tree *map,
                              rela_error *err)
{
    const rela_tree *b = rela_tree_get(map, "b"), *bound = rela_tree_get(map, "bound");
    c->a.key = rela_fact_any(rela_tree_text(map, "measure"));
    c->a.key.data = rela_tree_text(map, "data");
    c->a.key.model = rela_tree_text(map, "model");
    c->a.key.place = rela_tree_text(map, "place");
    c->a.key.test = rela_tree_text(map, "test");
    c->a.key.tag = rela_tree_text(map, "tag");
    const rela_claim common = *c;
    rela_status st = read_side(&c->a, &common, rela_tree_get(map, "a"), err);
    if (b && bound)
        return rela_tree_fail(bound, err, "a claim has either `b:` or `bound:`");
    b = b ? b : bound;
    if (!b || st != RELA_OK)
        return st;
    const bool list = b->kind == RELA_TREE_LIST;
    c->n_b = list ? b->n : 1;
    c->b = rela_arena_alloc(arena, c->n_b * sizeof *c->b);
    if (!c->b)
        return rela_fail(err, RELA_NOMEM, "no memory for claims");
    for (size_t i = 0; i < c->n_b && st == RELA_OK; i++)
        st = read_side(&c->b[i], &common, list ? b->items[i] : b, err);
    return st;
}

/* A number, the name of a model, or a map of what differs from the rest of the claim. */
static rela_status read_side(rela_claim_side *s, const rela_claim *c, const rela_tree *at,
                             rela_error *err)
{
    *s = c->a;
    if (!at)
        return RELA_OK;
    if (at->kind == RELA_TREE_LIST)
        return rela_tree_fail(at, err, "expected a model, a number or a map");
    if (at->kind == RELA_TREE_TEXT) {
        s->is_number = rela_parse_f64(&s->number, at->text);
        if (!s->is_number)
            s->key.model = at->text;
        return RELA_OK;
    }
    const rela_status st = rela_tree_check_keys(at, SIDE_KEYS, "a side of a claim", err);
    const char **const texts[] = { &s->key.measure, &s->key.data, &s->key.model, &s->key.place,
                                   &s->key.test,    &s->key.tag,  &s->label };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (rela_tree_text(at, SIDE_KEYS[i]))
            *texts[i] = rela_tree_text(at, SIDE_KEYS[i]);
    if (rela_tree_text(at, "layer") && !rela_parse_i64(&s->key.layer, rela_tree_text(at, "layer")))
        return rela_tree_fail(at, err, "layer is no number");
    return st;
}

static rela_status read_word(size_t *out, const rela_tree *map, const char *key,
                             const char *const *words, size_t n, rela_error *err)
{
    const char *text = rela_tree_text(map, key);
    if (!text)
        return RELA_OK;
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return RELA_OK;
        }
    rela_buffer known = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_printf(&known, err, "%s%s", i ? ", " : "", words[i]);
    if (st == RELA_OK)
        st = rela_tree_fail(rela_tree_get(map, key), err, "%s is '%s'; expected one of %s", key,
                            text, known.data);
    rela_buffer_free(&known);
    return st;
}

static rela_status read_number(double *out, const rela_tree *map, const char *key, rela_error *err)
{
    const rela_tree *at = rela_tree_get(map, key);
    if (!at || (at->kind == RELA_TREE_TEXT && rela_parse_f64(out, at->text) && *out >= 0))
        return RELA_OK;
    return rela_tree_fail(at, err, "%s is '%s'; expected a number of at least 0", key, at->text);
}

static rela_status read_flag(bool *out, const rela_tree *map, const char *key, rela_error *err)
{
    const char *text = rela_tree_text(map, key);
    if (text && strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        return rela_tree_fail(rela_tree_get(map, key), err, "%s is '%s'; expected true or false",
                              key, text);
    *out = text && *text == 't';
    return RELA_OK;
}

/* What each rule needs. */
static rela_status check_rule(const rela_claim *c, const rela_tree *map, rela_error *err)
{
    const bool compares = c->rule <= RELA_CLAIM_EQUAL || c->rule == RELA_CLAIM_BREAKS;
    if (!c->a.key.measure)
        return rela_tree_fail(map, err, "a claim needs `measure:`");
    if (compares && c->n_b == 0)
        return rela_tree_fail(map, err, "rule %s needs `b:`", RULES[c->rule]);
    if (!compares && c->n_b)
        return rela_tree_fail(map, err, "rule %s takes no `b:`", RULES[c->rule]);
    if (c->rule == RELA_CLAIM_EQUAL && !(c->margin > 0))
        return rela_tree_fail(map, err, "rule equal needs `margin:`");
    if ((c->rule == RELA_CLAIM_NOT_GREATER || c->rule == RELA_CLAIM_NOT_LESS) && !(c->effect > 0))
        return rela_tree_fail(map, err, "rule %s needs `effect:`", RULES[c->rule]);
    if (!compares && c->units != RELA_UNITS_HEADS && c->units != RELA_UNITS_LAYERS)
        return rela_tree_fail(map, err, "rule %s needs `units: heads` or `units: layers`",
                              RULES[c->rule]);
    if (c->ratio && (c->effect || c->margin) && !(c->effect >= 1 || c->margin >= 1))
        return rela_tree_fail(map, err, "with `ratio:`, effect and margin are quotients above 1");
    return RELA_OK;
}
