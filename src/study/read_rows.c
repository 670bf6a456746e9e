/* SPDX-License-Identifier: MIT */
/* src/study/read_rows.c - `train:`, `analyses:`, `speed:` and `plan:` of a study, for
 * read_parts.h. */
#include "study/read_parts.h"

#include "base/nearest.h"
#include "base/str.h"
#include "study/arena_text.h"

#include <string.h>
#include <xxhash.h>

static rela_status read_row(rela_study_row *r, rela_study *s, const rela_tree *at, rela_error *err);
static rela_status read_analysis(rela_study_analysis *a, rela_study *s, const rela_tree *at,
                                 rela_error *err);
static rela_status read_speed(rela_study *s, rela_error *err);
static rela_status read_comparisons(rela_study *s, const rela_tree *at, rela_error *err);
static rela_status check_among(const char *const *known, const char *what, const char *name,
                               const rela_tree *at, rela_error *err);
static rela_status hash_plan(rela_study *s, const rela_tree *plan, rela_error *err);
static rela_status append_tree(rela_buffer *out, const rela_tree *t, rela_error *err);

rela_status rela_study_read_rows(rela_study *s, rela_error *err)
{
    const rela_tree *all = rela_tree_get(s->tree, "train");
    rela_status st = all ? rela_tree_expect(all, RELA_TREE_LIST, "what is trained", err) : RELA_OK;
    s->rows = rela_arena_array(s->arena, all ? all->n : 0, sizeof *s->rows);
    if (!s->rows)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; all && i < all->n && st == RELA_OK; i++)
        st = read_row(&s->rows[s->n_rows++], s, all->items[i], err);
    return st;
}

static rela_status read_row(rela_study_row *r, rela_study *s, const rela_tree *at, rela_error *err)
{
    static const char *const KEYS[] = { "stage",   "data",    "models", "seeds",
                                        "updates", "options", NULL };
    static const char *const ONLY_UPDATES[] = {
        "stage", "data", "models", "seeds", "options", NULL
    };
    *r = (rela_study_row){
        .stage = "train", .line = at->line, .seeds = s->seeds, .n_seeds = s->n_seeds
    };
    rela_status st = rela_tree_expect(at, RELA_TREE_MAP, "data, models ...", err);
    st = st ? st : rela_tree_check_keys(at, KEYS, "an item of 'train:'", err);
    st = st ? st : rela_study_take_text(&r->stage, at, "stage", err);
    st = st ? st : rela_study_check_name(r->stage, at, err);
    st = st ? st : rela_study_take_text(&r->data, at, "data", err);
    st = st ? st : rela_study_need_data(s, r->data, at, err);
    st = st ? st : rela_study_take_models(&r->models, s, rela_tree_get(at, "models"), err);
    st =
        st ? st : rela_study_take_seeds(&r->seeds, &r->n_seeds, s, rela_tree_get(at, "seeds"), err);
    st = st ? st : rela_study_take_settings(&r->train, s, at, ONLY_UPDATES, err);
    return st ? st
              : rela_study_take_settings(&r->train, s, rela_tree_get(at, "options"), NULL, err);
}

rela_status rela_study_read_analyses(rela_study *s, rela_error *err)
{
    const rela_tree *all = rela_tree_get(s->tree, "analyses");
    rela_status st = all ? rela_tree_expect(all, RELA_TREE_LIST, "analyses", err) : RELA_OK;
    s->analyses = rela_arena_array(s->arena, all ? all->n : 0, sizeof *s->analyses);
    if (!s->analyses)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; all && i < all->n && st == RELA_OK; i++)
        st = read_analysis(&s->analyses[s->n_analyses++], s, all->items[i], err);
    return st ? st : read_speed(s, err);
}

static rela_status read_analysis(rela_study_analysis *a, rela_study *s, const rela_tree *at,
                                 rela_error *err)
{
    static const char *const KEYS[] = {
        "data", "models", "what", "limit", "layers", "heads", NULL
    };
    static const char *const WHAT[] = { "sparsity", "null", "diversity", "permuted", "maps",
                                        "gold",     "tags", "ranking",   NULL };
    const rela_tree *what = rela_tree_get(at, "what");
    *a = (rela_study_analysis){ .line = at->line };
    rela_status st = rela_tree_expect(at, RELA_TREE_MAP, "data, models, what", err);
    st = st ? st : rela_tree_check_keys(at, KEYS, "an item of 'analyses:'", err);
    st = st ? st : rela_study_take_text(&a->data, at, "data", err);
    st = st ? st : rela_study_need_data(s, a->data, at, err);
    st = st ? st : rela_study_take_models(&a->models, s, rela_tree_get(at, "models"), err);
    st = st ? st : rela_study_take_whole(&a->limit, rela_tree_get(at, "limit"), 0, err);
    a->layers = a->heads = 1;
    st = st ? st : rela_study_take_whole(&a->layers, rela_tree_get(at, "layers"), 1, err);
    st = st ? st : rela_study_take_whole(&a->heads, rela_tree_get(at, "heads"), 1, err);
    st = st ? st : rela_study_take_names(&a->what, s, what, err);
    for (size_t i = 0; i < a->what.n && st == RELA_OK; i++)
        st = check_among(WHAT, "analysis", a->what.items[i],
                         what->kind == RELA_TREE_LIST ? what->items[i] : what, err);
    const rela_study_data *d = st ? NULL : rela_study_find_data(s, a->data);
    for (size_t i = 0; i < a->what.n && st == RELA_OK; i++) {
        const char *w = a->what.items[i];
        if (strcmp(w, "gold") == 0 && !d->gold_links)
            st = rela_tree_fail(what, err, "data %s has no 'gold:'", d->name);
        else if (strcmp(w, "tags") == 0 && !d->tags_file)
            st = rela_tree_fail(what, err, "data %s has no 'tags:'", d->name);
        else if (strcmp(w, "gold") != 0 && strcmp(w, "tags") != 0 && d->n_tests == 0)
            st = rela_tree_fail(what, err, "data %s has no 'test:' to analyse", d->name);
    }
    return st;
}

static rela_status read_speed(rela_study *s, rela_error *err)
{
    const rela_tree *all = rela_tree_get(s->tree, "speed");
    static const char *const WHAT[] = { "train", "translate", "attention", "all", NULL };
    rela_status st =
        all ? rela_tree_expect(all, RELA_TREE_MAP, "what is measured, with options", err) : RELA_OK;
    st = st || !all ? st : rela_tree_check_keys(all, WHAT, "'speed:'", err);
    s->speed = rela_arena_array(s->arena, all ? all->n : 0, sizeof *s->speed);
    if (!s->speed)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; all && i < all->n && st == RELA_OK; i++) {
        rela_study_speed *p = &s->speed[s->n_speed++];
        *p = (rela_study_speed){ .what = all->keys[i], .line = all->key_lines[i] };
        st = rela_study_take_settings(&p->settings, s, all->items[i], NULL, err);
    }
    return st;
}

rela_status rela_study_read_plan(rela_study *s, rela_error *err)
{
    static const char *const KEYS[] = { "primary", "comparisons", "level", "samples", NULL };
    static const char *const SCORES[] = { "bleu", "bleu-tokenised", "chrf", NULL };
    static const char *const ONE_SCORE[] = { "bleu" };
    const rela_tree *scores = rela_tree_get(s->tree, "scores");
    const rela_tree *plan = rela_tree_get(s->tree, "plan");
    s->scores = (rela_study_names){ ONE_SCORE, 1 };
    rela_status st = rela_study_take_names(&s->scores, s, scores, err);
    for (size_t i = 0; scores && i < s->scores.n && st == RELA_OK; i++)
        st = check_among(SCORES, "score", s->scores.items[i],
                         scores->kind == RELA_TREE_LIST ? scores->items[i] : scores, err);
    st = st ? st
            : rela_study_take_settings(&s->translate, s, rela_tree_get(s->tree, "translate"), NULL,
                                       err);
    s->plan = (rela_study_plan){ .level = 0.05,
                                 .samples = 10000,
                                 .primary = s->scores.n ? s->scores.items[0] : "bleu" };
    if (st == RELA_OK && plan) {
        const rela_tree *level = rela_tree_get(plan, "level");
        st = rela_tree_expect(plan, RELA_TREE_MAP, "primary, comparisons ...", err);
        st = st ? st : rela_tree_check_keys(plan, KEYS, "'plan:'", err);
        st = st ? st : rela_study_take_text(&s->plan.primary, plan, "primary", err);
        st = st ? st : check_among(SCORES, "score", s->plan.primary, plan, err);
        st = st ? st
                : rela_study_take_whole(&s->plan.samples, rela_tree_get(plan, "samples"), 1, err);
        if (st == RELA_OK && level &&
            (!rela_parse_f64(&s->plan.level, level->text) || s->plan.level <= 0 ||
             s->plan.level >= 1))
            st = rela_tree_fail(level, err, "expected a level between 0 and 1");
        st = st ? st : read_comparisons(s, rela_tree_get(plan, "comparisons"), err);
    }
    return st ? st : hash_plan(s, plan, err);
}

static rela_status read_comparisons(rela_study *s, const rela_tree *at, rela_error *err)
{
    rela_status st = at ? rela_tree_expect(at, RELA_TREE_LIST, "pairs of models", err) : RELA_OK;
    rela_study_comparison *all = rela_arena_array(s->arena, at ? at->n : 0, sizeof *all);
    if (!all)
        return rela_study_no_memory(s, err);
    for (size_t i = 0; at && i < at->n && st == RELA_OK; i++) {
        rela_study_names pair = { NULL, 0 };
        st = rela_study_take_models(&pair, s, at->items[i], err);
        if (st == RELA_OK && pair.n != 2)
            st = rela_tree_fail(at->items[i], err, "expected two models: [A, B]");
        if (st == RELA_OK)
            all[s->plan.n_comparisons++] =
                (rela_study_comparison){ pair.items[0], pair.items[1], at->items[i]->line };
    }
    s->plan.comparisons = all;
    return st;
}

static rela_status check_among(const char *const *known, const char *what, const char *name,
                               const rela_tree *at, rela_error *err)
{
    rela_nearest best = { NULL, 0 };
    for (size_t i = 0; known[i]; i++) {
        if (strcmp(known[i], name) == 0)
            return RELA_OK;
        rela_nearest_offer(&best, name, known[i], strlen(known[i]));
    }
    return rela_tree_fail(at, err, "unknown %s '%s'%s%s%s", what, name,
                          best.name ? "; did you mean '" : "", best.name ? best.name : "",
                          best.name ? "'?" : "");
}

/* What must not change after test text was read: the plan, the scores, what is trained and how it
 * is translated. */
static rela_status hash_plan(rela_study *s, const rela_tree *plan, rela_error *err)
{
    static const char *const PARTS[] = { "scores", "seeds", "train", "translate" };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = plan ? append_tree(&text, plan, err) : RELA_OK;
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0] && st == RELA_OK; i++) {
        const rela_tree *part = rela_tree_get(s->tree, PARTS[i]);
        st = rela_buffer_printf(&text, err, "\n%s ", PARTS[i]);
        st = st || !part ? st : append_tree(&text, part, err);
    }
    const XXH128_hash_t h = XXH3_128bits(text.data ? text.data : "", text.len);
    rela_format_text(s->plan.hash, sizeof s->plan.hash, "%016llx%016llx",
                     (unsigned long long)h.high64, (unsigned long long)h.low64);
    rela_buffer_free(&text);
    return st;
}

static rela_status append_tree(rela_buffer *out, const rela_tree *t, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%d %zu %s\n", (int)t->kind, t->n, t->text);
    for (size_t i = 0; i < t->n && st == RELA_OK; i++) {
        if (t->kind == RELA_TREE_MAP)
            st = rela_buffer_printf(out, err, "%s ", t->keys[i]);
        st = st ? st : append_tree(out, t->items[i], err);
    }
    return st;
}
