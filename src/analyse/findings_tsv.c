/* SPDX-License-Identifier: MIT */
/* src/analyse/findings_tsv.c - an analysis as TSV tables; layers, heads and sources count from 0.
 */
#include "analyse/findings.h"

#include "base/file.h"
#include "base/utf8.h"

static rela_status field(rela_buffer *out, rela_span text, rela_error *err);
static rela_status heads_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status layers_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status models_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status pairs_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status tags_table(rela_buffer *out, const rela_analysis *a, rela_error *err);

rela_status rela_analysis_tsv(rela_file_set *set, const char *dir, const rela_analysis *a,
                              rela_error *err)
{
    static const struct {
        const char *name;
        rela_status (*fill)(rela_buffer *out, const rela_analysis *a, rela_error *err);
    } TABLES[] = { { "heads", heads_table },
                   { "layers", layers_table },
                   { "models", models_table },
                   { "pairs", pairs_table },
                   { "tags", tags_table } };
    rela_buffer text = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < (a->tag_names ? 5 : 4) && st == RELA_OK; i++) {
        rela_buffer_clear(&text);
        rela_buffer_clear(&path);
        st = rela_buffer_printf(&path, err, "%s/%s.tsv", dir, TABLES[i].name);
        if (st == RELA_OK)
            st = TABLES[i].fill(&text, a, err);
        if (st == RELA_OK)
            st = rela_file_write_in(set, path.data, text.data, text.len, err);
    }
    rela_buffer_free(&text);
    rela_buffer_free(&path);
    return st;
}

/* A name of the caller or of a tag, which may hold anything, and the end of its field. */
static rela_status field(rela_buffer *out, rela_span text, rela_error *err)
{
    const rela_status st = rela_utf8_append_printable(out, text.text, text.len, err);
    return st ? st : rela_buffer_append_char(out, '\t', err);
}

/* k counts the heads of all layers of the stack. */
static rela_status heads_row(rela_buffer *out, const rela_analysis *a, const rela_findings *f,
                             size_t stack, size_t k, rela_error *err)
{
    const rela_measures *m = &f->text;
    const rela_head_sums *s = &m->head[stack][k];
    const int32_t layer = (int32_t)(k / m->heads), head = (int32_t)(k % m->heads);
    rela_status st = field(out, rela_span_of(f->name), err);
    st = st ? st
            : rela_buffer_printf(out, err, "%s\t%d\t%d\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t",
                                 m->stacks[stack].key, layer, head, rela_sparsity_micro(s),
                                 rela_sparsity_macro(s), rela_null_micro(s), rela_null_macro(s),
                                 rela_null_micro(&f->permuted.head[stack][k]));
    if (st != RELA_OK)
        return st;
    if (!rela_findings_aligned(a, f, stack))
        return rela_buffer_append_text(out, "\t\n", err);
    return rela_buffer_printf(
        out, err, "%.2f\t%.2f\n",
        100 * rela_head_aer_get(&f->aer, (rela_head_choice){ layer, head, false }),
        100 * rela_head_aer_get(&f->aer, (rela_head_choice){ layer, head, true }));
}

static rela_status heads_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "model\tplace\tlayer\thead\tsparsity\tsparsity_macro\tnull_rate\tnull_rate_macro\t"
        "null_rate_permuted\taer\taer_shifted\n",
        err);
    for (size_t i = 0; i < a->n; i++) {
        const rela_findings *f = &a->models[i];
        const rela_measures *m = &f->text;
        for (size_t p = 0; p < m->n_stacks; p++)
            for (size_t k = 0; k < m->stacks[p].layers * m->heads && st == RELA_OK; k++)
                st = heads_row(out, a, f, p, k, err);
    }
    return st;
}

static rela_status append_aer(rela_buffer *out, const rela_head_aer *a, size_t layer,
                              rela_error *err)
{
    rela_status st = RELA_OK;
    for (int shift = 0; shift < 2 && st == RELA_OK; shift++) {
        const rela_head_choice mean = { (int32_t)layer, RELA_HEAD_MEAN, shift == 1 };
        const rela_head_choice best = rela_head_aer_best_of(a, layer, shift == 1);
        st = rela_buffer_printf(out, err, "\t%.2f\t%d\t%.2f", 100 * rela_head_aer_get(a, mean),
                                best.head, 100 * rela_head_aer_get(a, best));
    }
    return st;
}

static rela_status layers_row(rela_buffer *out, const rela_analysis *a, const rela_findings *f,
                              size_t stack, size_t layer, rela_error *err)
{
    const rela_measures *m = &f->text;
    const rela_spread null = rela_spread_over_heads(m, stack, layer, rela_null_micro);
    const rela_spread permuted =
        rela_spread_over_heads(&f->permuted, stack, layer, rela_null_micro);
    rela_status st = field(out, rela_span_of(f->name), err);
    st = st ? st
            : rela_buffer_printf(out, err, "%s\t%zu\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f\t%.6f",
                                 m->stacks[stack].key, layer,
                                 rela_spread_over_heads(m, stack, layer, rela_sparsity_micro).mean,
                                 rela_spread_over_heads(m, stack, layer, rela_sparsity_macro).mean,
                                 null.mean, null.variance, permuted.mean, permuted.variance);
    for (size_t tau = 0; tau < RELA_TAUS && st == RELA_OK; tau++)
        st = rela_buffer_printf(out, err, "\t%.6f", rela_layer_js(&m->layer[stack][layer], tau));
    if (st == RELA_OK && rela_findings_aligned(a, f, stack))
        st = append_aer(out, &f->aer, layer, err);
    else if (st == RELA_OK)
        st = rela_buffer_append_text(out, "\t\t\t\t\t\t", err);
    const rela_layer_sums *sums = &m->layer[stack][layer];
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "\t%.6f",
                                sums->rows ? (double)sums->null_rows / (double)sums->rows : 0);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static rela_status layers_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "model\tplace\tlayer\tsparsity\tsparsity_macro\tnull_rate\tnull_rate_variance\t"
        "null_rate_permuted\tnull_rate_permuted_variance\tdiversity_1\tdiversity_0.5\t"
        "diversity_0.25\tdiversity_0.1\taer_layer\tbest_head\taer_best\taer_layer_shifted\t"
        "best_head_shifted\taer_best_shifted\tnull_rate_of_mean\n",
        err);
    for (size_t i = 0; i < a->n; i++) {
        const rela_findings *f = &a->models[i];
        for (size_t p = 0; p < f->text.n_stacks; p++)
            for (size_t k = 0; k < f->text.stacks[p].layers && st == RELA_OK; k++)
                st = layers_row(out, a, f, p, k, err);
    }
    return st;
}

static rela_status models_row(rela_buffer *out, const rela_analysis *a, const rela_findings *f,
                              size_t stack, rela_error *err)
{
    const rela_attn_stack *p = &f->text.stacks[stack];
    rela_status st = field(out, rela_span_of(f->name), err);
    st = st ? st
            : rela_buffer_printf(out, err, "%s\t%s\t%llu\t%.6f\t%.6f\t%.6f\t%.6f", p->key,
                                 f->net->config.attention[p->type].text,
                                 (unsigned long long)f->pairs,
                                 rela_mean_over_heads(&f->text, stack, rela_sparsity_micro),
                                 rela_mean_over_heads(&f->text, stack, rela_sparsity_macro),
                                 rela_mean_over_heads(&f->text, stack, rela_null_micro),
                                 rela_mean_over_heads(&f->permuted, stack, rela_null_micro));
    for (size_t tau = 0; tau < RELA_TAUS && st == RELA_OK; tau++)
        st = rela_buffer_printf(out, err, "\t%.6f", rela_mean_js(&f->text, stack, tau));
    const rela_auc *auc = rela_attn_stack_cross(p) ? &f->source_auc[p->keys] : NULL;
    const bool shown = auc && !auc->blank;
    if (st == RELA_OK)
        st = shown ? rela_buffer_printf(out, err, "\t%.6f", auc->value)
                   : rela_buffer_append_char(out, '\t', err);
    for (int k = 0; k < 4 && st == RELA_OK; k++)
        st = rela_findings_aligned(a, f, stack)
                 ? rela_buffer_printf(out, err, "\t%.2f",
                                      100 * rela_mean_aer(&f->aer, k % 2 == 1, k > 1))
                 : rela_buffer_append_char(out, '\t', err);
    if (st == RELA_OK)
        st = shown ? rela_buffer_printf(out, err, "\t%.6f\t%.6f", auc->low, auc->high)
                   : rela_buffer_append_text(out, "\t\t", err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static rela_status models_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "model\tplace\tattention\tpairs\tsparsity\tsparsity_macro\tnull_rate\tnull_rate_permuted\t"
        "diversity_1\tdiversity_0.5\tdiversity_0.25\tdiversity_0.1\tauc_text_permuted\tAoL\t"
        "AoH\tAoL_shifted\tAoH_shifted\tauc_low\tauc_high\n",
        err);
    for (size_t i = 0; i < a->n; i++)
        for (size_t p = 0; p < a->models[i].text.n_stacks && st == RELA_OK; p++)
            st = models_row(out, a, &a->models[i], p, err);
    return st;
}

/* Negative: blank. */
static rela_status append_rate(rela_buffer *out, double rate, rela_error *err)
{
    return rate < 0 ? rela_buffer_append_char(out, '\t', err)
                    : rela_buffer_printf(out, err, "\t%.6f", rate);
}

/* Null rates of the cross attention of a pair: means over the heads of all layers, and of each
 * layer, with blanks for layers that the model does not have. */
static rela_status pairs_row(rela_buffer *out, const rela_analysis *a, const rela_findings *f,
                             size_t source, size_t line, size_t layers, rela_error *err)
{
    const size_t n = rela_config_layers(&f->net->config, RELA_ATTN_CROSS), lines = (size_t)a->lines;
    const rela_attn_stack *p = &f->text.stacks[rela_block_list_cross(&f->net->list, source)];
    rela_status st = rela_buffer_printf(out, err, "%s\t%s\t%zu", f->name, p->key, line);
    for (int k = 0; k < 2 && st == RELA_OK; k++)
        st = append_rate(out, rela_pair_null_mean(f, k == 1, source, line, lines), err);
    for (int k = 0; k < 2; k++) {
        const double *null = f->pair_null[k] + (source * lines + line) * n;
        for (size_t i = 0; i < layers && st == RELA_OK; i++)
            st = append_rate(out, i < n ? null[i] : -1, err);
    }
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static rela_status pairs_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    size_t layers = 0;
    for (size_t i = 0; i < a->n; i++) {
        const size_t has = rela_config_layers(&a->models[i].net->config, RELA_ATTN_CROSS);
        layers = has > layers ? has : layers;
    }
    rela_status st =
        rela_buffer_append_text(out, "model\tplace\tline\tnull_rate\tnull_rate_permuted", err);
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < layers && st == RELA_OK; i++)
            st = rela_buffer_printf(out, err, "\tnull_rate%s_%zu", k ? "_permuted" : "", i);
    st = st ? st : rela_buffer_append_char(out, '\n', err);
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->n_sources; k++)
            for (size_t line = 0; line < a->lines && st == RELA_OK; line++)
                st = pairs_row(out, a, &a->models[i], k, line, layers, err);
    return st;
}

static rela_status tags_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st =
        rela_buffer_append_text(out, "model\tlayer\thead\tafter\tqueries\tnull_rate\n", err);
    for (size_t i = 0; i < a->n; i++) {
        const rela_tag_null *t = &a->models[i].tags;
        for (size_t k = 0; k < t->layers * t->heads; k++)
            for (size_t tag = 0; tag < t->n_tags && st == RELA_OK; tag++) {
                const rela_span name = rela_map_key(a->tag_names, (uint32_t)tag);
                const rela_tag_sums *c = &t->cells[k * t->n_tags + tag];
                st = field(out, rela_span_of(a->models[i].name), err);
                st = st ? st
                        : rela_buffer_printf(out, err, "%zu\t%zu\t", k / t->heads, k % t->heads);
                st = st ? st : field(out, name, err);
                st = st ? st
                        : rela_buffer_printf(out, err, "%llu\t%.6f\n", (unsigned long long)c->rows,
                                             c->rows ? (double)c->null_rows / (double)c->rows : 0);
            }
    }
    return st;
}
