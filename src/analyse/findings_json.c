/* SPDX-License-Identifier: MIT */
/* src/analyse/findings_json.c - an analysis as one JSON object; docs/analyse.md lists its keys. */
#include "analyse/findings.h"

#include "format/json_tree.h"

static json_t *model_json(const rela_findings *f, const rela_map *tag_names);
static json_t *place_json(const rela_findings *f, size_t number);
static json_t *layer_json(const rela_findings *f, size_t stack, size_t layer);
static json_t *empty_json(const rela_findings *f);
static void set_auc(json_t *to, const rela_auc *x);
static json_t *aer_json(const rela_head_aer *a);
static json_t *tags_json(const rela_tag_null *t, const rela_map *names);
static json_t *heads_json(const rela_head_sums *heads, size_t n,
                          double (*figure)(const rela_head_sums *s));

rela_status rela_analysis_json(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    json_t *root = json_object(), *models = json_array();
    json_object_set_new(root, "version", json_integer(2));
    json_object_set_new(root, "lines", json_integer((json_int_t)a->lines));
    json_object_set_new(root, "seed", json_integer((json_int_t)a->seed));
    json_object_set_new(root, "end_row_counted", json_boolean(!a->skip_end));
    json_object_set_new(root, "logarithm", json_string("natural"));
    if (a->n_sources > 1) {
        json_object_set_new(root, "sources", json_integer((json_int_t)a->n_sources));
        json_object_set_new(root, "source", json_integer((json_int_t)a->source));
    }
    for (size_t i = 0; i < a->n; i++)
        json_array_append_new(models, model_json(&a->models[i], a->tag_names));
    json_object_set_new(root, "models", models);
    const rela_status st =
        rela_json_tree_append(out, root, JSON_INDENT(1) | JSON_REAL_PRECISION(15), err);
    json_decref(root);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static json_t *model_json(const rela_findings *f, const rela_map *tag_names)
{
    json_t *m = json_object(), *kinds = json_object(), *stacks = json_object();
    json_object_set_new(m, "name", json_string(f->name));
    json_object_set_new(m, "pairs", json_integer((json_int_t)f->pairs));
    json_object_set_new(m, "empty", json_integer((json_int_t)f->empty));
    json_object_set_new(m, "too_long", json_integer((json_int_t)f->too_long));
    if (f->net->config.sources > 1)
        json_object_set_new(m, "source_empty", empty_json(f));
    for (size_t i = 0; i < f->text.n_stacks; i++) {
        const rela_attn_stack *p = &f->text.stacks[i];
        json_object_set_new(kinds, p->key, json_string(f->net->config.attention[p->type].text));
        json_object_set_new(stacks, p->key, place_json(f, i));
    }
    json_object_set_new(m, "attention", kinds);
    json_object_set_new(m, "places", stacks);
    set_auc(m, &f->auc);
    if (f->aer.sums)
        json_object_set_new(m, "aer", aer_json(&f->aer));
    if (f->tags.cells) {
        json_object_set_new(m, "untagged", json_integer((json_int_t)f->untagged));
        json_object_set_new(m, "tags", tags_json(&f->tags, tag_names));
    }
    return m;
}

static void set_auc(json_t *to, const rela_auc *x)
{
    json_object_set_new(to, "auc_text_permuted", x->blank ? json_null() : json_real(x->value));
    if (!x->blank)
        json_object_set_new(to, "auc_interval", json_pack("[ff]", x->low, x->high));
}

static json_t *empty_json(const rela_findings *f)
{
    json_t *list = json_array();
    for (size_t i = 0; i < f->net->config.sources; i++)
        json_array_append_new(list, json_integer((json_int_t)f->source_empty[i]));
    return list;
}

static json_t *place_json(const rela_findings *f, size_t number)
{
    const rela_measures *m = &f->text;
    const rela_attn_stack *p = &m->stacks[number];
    json_t *stack = json_object(), *layers = json_array(), *js = json_object();
    json_object_set_new(stack, "sparsity",
                        json_real(rela_mean_over_heads(m, number, rela_sparsity_micro)));
    json_object_set_new(stack, "sparsity_macro",
                        json_real(rela_mean_over_heads(m, number, rela_sparsity_macro)));
    json_object_set_new(stack, "null_rate",
                        json_real(rela_mean_over_heads(m, number, rela_null_micro)));
    json_object_set_new(stack, "null_rate_permuted",
                        json_real(rela_mean_over_heads(&f->permuted, number, rela_null_micro)));
    if (f->net->config.sources > 1 && rela_attn_stack_cross(p))
        set_auc(stack, &f->source_auc[p->keys]);
    for (size_t k = 0; k < RELA_TAUS; k++) {
        char name[16];
        rela_format_text(name, sizeof name, "%g", rela_taus[k]);
        json_object_set_new(js, name, json_real(rela_mean_js(m, number, k)));
    }
    json_object_set_new(stack, "diversity", js);
    for (size_t i = 0; i < p->layers; i++)
        json_array_append_new(layers, layer_json(f, number, i));
    json_object_set_new(stack, "layers", layers);
    return stack;
}

static json_t *layer_json(const rela_findings *f, size_t stack, size_t layer)
{
    const rela_measures *m = &f->text;
    const rela_head_sums *heads = m->head[stack] + layer * m->heads;
    const rela_head_sums *n_permuted = f->permuted.head[stack] + layer * m->heads;
    const rela_layer_sums *sums = &m->layer[stack][layer];
    const rela_spread null = rela_spread_over_heads(m, stack, layer, rela_null_micro);
    const rela_spread permuted =
        rela_spread_over_heads(&f->permuted, stack, layer, rela_null_micro);
    json_t *l = json_object(), *js = json_array();
    json_object_set_new(l, "layer", json_integer((json_int_t)layer));
    json_object_set_new(
        l, "sparsity",
        json_real(rela_spread_over_heads(m, stack, layer, rela_sparsity_micro).mean));
    json_object_set_new(
        l, "sparsity_macro",
        json_real(rela_spread_over_heads(m, stack, layer, rela_sparsity_macro).mean));
    json_object_set_new(l, "null_rate", json_real(null.mean));
    json_object_set_new(l, "null_rate_variance", json_real(null.variance));
    json_object_set_new(l, "null_rate_permuted", json_real(permuted.mean));
    json_object_set_new(l, "null_rate_permuted_variance", json_real(permuted.variance));
    json_object_set_new(l, "null_rate_of_mean",
                        json_real(sums->rows ? (double)sums->null_rows / (double)sums->rows : 0));
    for (size_t k = 0; k < RELA_TAUS; k++)
        json_array_append_new(js, json_real(rela_layer_js(sums, k)));
    json_object_set_new(l, "diversity", js);
    json_object_set_new(l, "head_sparsity", heads_json(heads, m->heads, rela_sparsity_micro));
    json_object_set_new(l, "head_null_rate", heads_json(heads, m->heads, rela_null_micro));
    json_object_set_new(l, "head_null_rate_permuted",
                        heads_json(n_permuted, m->heads, rela_null_micro));
    return l;
}

static json_t *heads_json(const rela_head_sums *heads, size_t n,
                          double (*figure)(const rela_head_sums *s))
{
    json_t *list = json_array();
    for (size_t k = 0; k < n; k++)
        json_array_append_new(list, json_real(figure(&heads[k])));
    return list;
}

static json_t *aer_json(const rela_head_aer *a)
{
    static const char *const WAYS[] = { "normal", "shifted" };
    json_t *all = json_object();
    json_object_set_new(all, "pairs", json_integer((json_int_t)a->pairs));
    for (int shift = 0; shift < 2; shift++) {
        json_t *way = json_object(), *layers = json_array();
        const rela_head_choice mean = { RELA_HEAD_MEAN, RELA_HEAD_MEAN, shift == 1 };
        json_object_set_new(way, "AoL", json_real(100 * rela_mean_aer(a, false, shift == 1)));
        json_object_set_new(way, "AoH", json_real(100 * rela_mean_aer(a, true, shift == 1)));
        json_object_set_new(way, "all_layers", json_real(100 * rela_head_aer_get(a, mean)));
        for (size_t i = 0; i < a->layers; i++) {
            json_t *l = json_object(), *heads = json_array();
            const rela_head_choice layer = { (int32_t)i, RELA_HEAD_MEAN, shift == 1 };
            const rela_head_choice best = rela_head_aer_best_of(a, i, shift == 1);
            json_object_set_new(l, "layer", json_integer((json_int_t)i));
            json_object_set_new(l, "mean_of_heads", json_real(100 * rela_head_aer_get(a, layer)));
            json_object_set_new(l, "best_head", json_integer(best.head));
            json_object_set_new(l, "best", json_real(100 * rela_head_aer_get(a, best)));
            for (size_t k = 0; k < a->heads; k++) {
                const rela_head_choice c = { (int32_t)i, (int32_t)k, shift == 1 };
                json_array_append_new(heads, json_real(100 * rela_head_aer_get(a, c)));
            }
            json_object_set_new(l, "heads", heads);
            json_array_append_new(layers, l);
        }
        json_object_set_new(way, "layers", layers);
        json_object_set_new(all, WAYS[shift], way);
    }
    return all;
}

static json_t *tags_json(const rela_tag_null *t, const rela_map *names)
{
    json_t *all = json_object();
    for (size_t tag = 0; tag < t->n_tags; tag++) {
        const rela_span name = rela_map_key(names, (uint32_t)tag);
        json_t *one = json_object(), *layers = json_array();
        json_object_set_new(one, "queries", json_integer((json_int_t)t->cells[tag].rows));
        for (size_t i = 0; i < t->layers; i++) {
            json_t *heads = json_array();
            for (size_t k = 0; k < t->heads; k++) {
                const rela_tag_sums *c = &t->cells[(i * t->heads + k) * t->n_tags + tag];
                json_array_append_new(
                    heads, json_real(c->rows ? (double)c->null_rows / (double)c->rows : 0));
            }
            json_array_append_new(layers, heads);
        }
        json_object_set_new(one, "null_rate", layers);
        char key[64];
        rela_format_text(key, sizeof key, "%.*s", (int)(name.len < 60 ? name.len : 60), name.text);
        json_object_set_new(all, key, one);
    }
    return all;
}
