/* SPDX-License-Identifier: MIT */
/* src/analyse/report_html.c - report.html: tables and all figures of an analysis in one
 * self-contained file. Its drawings are in report_drawings.c. */
#include "analyse/report.h"
#include "base/file.h"
#include "base/markup.h"
#include "base/mem.h"
#include "page/web_page.h"
#include "rela/rela.h"

#include <string.h>

static rela_status start(rela_buffer *out, const rela_analysis *a, const rela_buffer *rules,
                         rela_error *err);
static rela_status head(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status places_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status diversity_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status aer_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status aer_layers_table(rela_buffer *out, const rela_analysis *a, rela_error *err);

rela_status rela_analysis_html(rela_file_set *set, const char *dir, const rela_analysis *a,
                               const rela_figure *figures, size_t n, rela_error *err)
{
    rela_report r = { .set = set, .dir = dir };
    rela_buffer page = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = head(&r.body, a, err);
    if (st == RELA_OK)
        st = places_table(&r.body, a, err);
    if (st == RELA_OK)
        st = diversity_table(&r.body, a, err);
    if (st == RELA_OK && a->models[0].aer.sums)
        st = aer_table(&r.body, a, err);
    if (st == RELA_OK && a->models[0].aer.sums)
        st = aer_layers_table(&r.body, a, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_report_figure(&r, &figures[i], i + 1, err);
    if (st == RELA_OK && n == 0)
        st = rela_buffer_append_text(&r.body, "<p>This build draws no figures.</p>\n", err);
    if (st == RELA_OK)
        st = start(&page, a, &r.rules, err);
    if (st == RELA_OK)
        st = rela_buffer_append(&page, r.body.data, r.body.len, err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(&page, "</body></html>\n", err);
    if (st == RELA_OK)
        st = rela_buffer_printf(&path, err, "%s/report.html", dir);
    if (st == RELA_OK)
        st = rela_file_write_in(set, path.data, page.data, page.len, err);
    rela_buffer_free(&r.body);
    rela_buffer_free(&r.rules);
    rela_buffer_free(&page);
    rela_buffer_free(&path);
    return st;
}

/* ---- what was analysed ---- */

/* The last part of a path: the same text in another folder gives the same report. */
static rela_status file_name(rela_buffer *out, const char *before, const char *path,
                             rela_error *err)
{
    const char *slash = strrchr(path, '/');
    const rela_status st = rela_buffer_append_text(out, before, err);
    return st ? st : rela_markup_append(out, slash ? slash + 1 : path, err);
}

static rela_status model_names(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < a->n && st == RELA_OK; i++) {
        st = rela_buffer_append_text(out, i ? ", " : "", err);
        st = st ? st : rela_markup_append(out, a->models[i].name, err);
    }
    return st;
}

/* Everything before the body. */
static rela_status start(rela_buffer *out, const rela_analysis *a, const rela_buffer *rules,
                         rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>Attention of ",
        err);
    st = st ? st : model_names(out, a, err);
    st = st ? st : file_name(out, " on ", a->src, err);
    st = st ? st : rela_buffer_append_text(out, "</title><style>", err);
    st = st ? st : rela_page_add_style(out, RELA_PAGE_REPORT, err);
    if (st == RELA_OK && rules->len)
        st = rela_buffer_append(out, rules->data, rules->len, err);
    return st ? st : rela_buffer_append_text(out, "</style></head><body>\n", err);
}

static rela_status list_files(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = file_name(out, "<p>Text: ", a->src, err);
    for (size_t i = 1; i < a->n_sources && st == RELA_OK; i++)
        if (a->more_src[i - 1])
            st = file_name(out, ", ", a->more_src[i - 1], err);
    st = st ? st : file_name(out, ", ", a->tgt, err);
    st = st ? st
            : rela_buffer_printf(out, err, " (%llu line%s)", (unsigned long long)a->lines,
                                 rela_plural(a->lines));
    if (st == RELA_OK && a->gold)
        st = file_name(out, "; gold links: ", a->gold, err);
    if (st == RELA_OK && a->tags)
        st = file_name(out, "; tags: ", a->tags, err);
    return st ? st : rela_buffer_append_text(out, ". rela " RELA_VERSION_TEXT ".</p>\n", err);
}

/* The attention kinds of all stacks, then the names of the stacks in brackets; one kind once. */
static rela_status kinds(rela_buffer *out, const rela_findings *f, rela_error *err)
{
    const size_t n = f->text.n_stacks;
    const rela_attn_spec *specs = f->net->config.attention;
    rela_status st = RELA_OK;
    bool same = true;
    for (size_t i = 1; i < n; i++)
        same = same &&
               strcmp(specs[f->text.stacks[i].type].text, specs[f->text.stacks[0].type].text) == 0;
    if (same)
        return rela_buffer_printf(out, err, "%s in all places", specs[f->text.stacks[0].type].text);
    for (size_t i = 0; i < 2 * n && st == RELA_OK; i++) {
        const rela_attn_stack *p = &f->text.stacks[i % n];
        const char *gap = i == 0 ? "" : i == n ? " (" : ", ";
        st = rela_buffer_printf(out, err, "%s%s", gap,
                                i < n ? f->net->config.attention[p->type].text : p->label);
    }
    return st == RELA_OK ? rela_buffer_append_char(out, ')', err) : st;
}

/* What the model is for and how good it is, if its card says so. */
static rela_status purpose(rela_buffer *out, const rela_card_summary *c, rela_error *err)
{
    const char *const parts[] = { c->description, *c->test_score ? c->test_score : c->score };
    const char *between = ": ";
    rela_status st = RELA_OK;
    if (*c->source && *c->target) {
        st = rela_buffer_append_text(out, " (", err);
        st = st ? st : rela_markup_append(out, c->source, err);
        st = st ? st : rela_buffer_append_text(out, " to ", err);
        st = st ? st : rela_markup_append(out, c->target, err);
        st = st ? st : rela_buffer_append_char(out, ')', err);
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && st == RELA_OK; i++)
        if (*parts[i]) {
            st = rela_buffer_append_text(out, between, err);
            between = "; ";
            st = st ? st : rela_markup_append(out, parts[i], err);
        }
    return st;
}

static rela_status list_models(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "<ul>\n", err);
    for (size_t i = 0; i < a->n && st == RELA_OK; i++) {
        const rela_findings *f = &a->models[i];
        const rela_config *c = &f->net->config;
        st = rela_buffer_append_text(out, "<li><b>", err);
        if (st == RELA_OK)
            st = rela_markup_append(out, f->name, err);
        st = st ? st : rela_buffer_append_text(out, "</b>", err);
        st = st ? st : purpose(out, f->card, err);
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, ".<br>%zu + %zu layers, %zu head%s; attention ",
                                    c->enc_layers, c->dec_layers, c->heads, rela_plural(c->heads));
        st = st ? st : kinds(out, f, err);
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "; %llu pair%s, %llu empty, %llu too long</li>\n",
                                    (unsigned long long)f->pairs, rela_plural(f->pairs),
                                    (unsigned long long)f->empty, (unsigned long long)f->too_long);
    }
    return st == RELA_OK ? rela_buffer_append_text(out, "</ul>\n", err) : st;
}

static rela_status head(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "<h1>What the attention does</h1>\n", err);
    st = st ? st : list_files(out, a, err);
    st = st ? st : list_models(out, a, err);
    if (st == RELA_OK)
        st = rela_buffer_printf(
            out, err,
            "<p>Teacher forced. <em>Permuted</em>: the same sources with the targets of other "
            "lines "
            "(seed %llu). <em>Null attention</em>: all weights of a query are zero; the <em>null "
            "rate</em> is the share of such queries. The query that predicts &lt;eos&gt; %s null "
            "rates.",
            (unsigned long long)a->seed, a->skip_end ? "is left out of" : "counts in");
    if (st == RELA_OK && a->n_sources > 1)
        st = rela_buffer_printf(
            out, err,
            " Queries to an empty source have null attention. Alignment errors, tags and "
            "maps are about source %zu.",
            a->source + 1);
    return st == RELA_OK ? rela_buffer_append_text(out, "</p>\n", err) : st;
}

/* ---- tables ---- */

static rela_status row_start(rela_buffer *out, const char *name, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "<tr><td>", err);
    if (st == RELA_OK)
        st = rela_markup_append(out, name, err);
    return st == RELA_OK ? rela_buffer_append_text(out, "</td>", err) : st;
}

static void auc_text(char *out, size_t size, const rela_auc *x)
{
    rela_format_text(out, size, "%.3f (%.3f to %.3f%s)", x->value, x->low, x->high,
                     rela_auc_is_chance(x) ? ": no better than chance" : "");
}

static rela_status places_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out,
                                             "<table><tr><th>model</th><th class=\"text\">place</"
                                             "th><th>sparsity</th><th>null rate</th><th>null rate, "
                                             "permuted</th><th>AUC</th></tr>\n",
                                             err);
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->models[i].text.n_stacks && st == RELA_OK; k++) {
            const rela_findings *f = &a->models[i];
            const rela_attn_stack *p = &f->text.stacks[k];
            char auc[96] = "";
            if (rela_attn_stack_cross(p) && !f->source_auc[p->keys].blank)
                auc_text(auc, sizeof auc, &f->source_auc[p->keys]);
            st = row_start(out, f->name, err);
            if (st == RELA_OK)
                st = rela_buffer_printf(
                    out, err,
                    "<td class=\"text\">%s</td><td>%.4f</td><td>%.4f</td><td>%.4f</td><td>%s"
                    "</td></tr>\n",
                    p->label, rela_mean_over_heads(&f->text, k, rela_sparsity_micro),
                    rela_mean_over_heads(&f->text, k, rela_null_micro),
                    rela_mean_over_heads(&f->permuted, k, rela_null_micro), auc);
        }
    if (st == RELA_OK)
        st = rela_buffer_append_text(
            out,
            "</table>\n<p class=\"note\">Means over all heads. AUC: how often the mean "
            "cross-attention null rate "
            "of a pair with a wrong target is above that of a right one, with its 95 % interval; "
            "0.5 is chance. It is blank where there is no null attention.</p>\n",
            err);
    return st;
}

static bool all_sum_one(const rela_analysis *a)
{
    bool all = true;
    for (size_t i = 0; i < a->n; i++)
        all = all && rela_measures_sum_one(&a->models[i].text);
    return all;
}

/* temperatures: the table has a column of them. */
static rela_status diversity_row(rela_buffer *out, const rela_findings *f, size_t tau,
                                 bool temperatures, rela_error *err)
{
    const rela_measures *m = &f->text;
    rela_status st = row_start(out, f->name, err);
    if (st == RELA_OK && temperatures && rela_measures_sum_one(m))
        st = rela_buffer_append_text(out, "<td>none</td>", err);
    else if (st == RELA_OK && temperatures)
        st = rela_buffer_printf(out, err, "<td>%.2f</td>", rela_taus[tau]);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "<td>%.3f</td>", rela_mean_js(m, i, tau));
    return st == RELA_OK ? rela_buffer_append_text(out, "</tr>\n", err) : st;
}

static rela_status diversity_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    const rela_measures *m = &a->models[0].text;
    const bool temperatures = !all_sum_one(a);
    rela_status st = rela_buffer_printf(out, err, "<table><tr><th>head diversity</th>%s",
                                        temperatures ? "<th>temperature</th>" : "");
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "<th>%s</th>", m->stacks[i].label);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, "</tr>\n", err);
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < (rela_measures_sum_one(&a->models[i].text) ? 1 : RELA_TAUS); k++)
            st = st ? st : diversity_row(out, &a->models[i], k, temperatures, err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out,
                                     "</table>\n<p class=\"note\">Jensen-Shannon divergence of the "
                                     "heads of a layer (natural logarithm), mean over layers: 0 if "
                                     "all heads attend alike, at most ln(heads).",
                                     err);
    if (st == RELA_OK && temperatures)
        st = rela_buffer_append_text(
            out,
            " Weights that do not sum to one are first turned into a distribution: softmax of "
            "w<sup>temperature</sup> over the keys, in which a weight of zero still gets a share; "
            "if all weights of a query are zero, everything goes to a place of its own. So heads "
            "without a common key stay below ln(heads): compare models of different kinds with "
            "care.",
            err);
    return st == RELA_OK ? rela_buffer_append_text(out, "</p>\n", err) : st;
}

static rela_status aer_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "<table><tr><th>alignment error (%)</th><th>AoL</th><th>AoH</th><th>AoL, shifted</th>"
        "<th>AoH, shifted</th></tr>\n",
        err);
    for (size_t i = 0; i < a->n && st == RELA_OK; i++) {
        const rela_head_aer *e = &a->models[i].aer;
        st = row_start(out, a->models[i].name, err);
        for (int k = 0; k < 4 && st == RELA_OK; k++)
            st = rela_buffer_printf(out, err, "<td>%.2f</td>",
                                    100 * rela_mean_aer(e, k % 2 == 1, k > 1));
        if (st == RELA_OK)
            st = rela_buffer_append_text(out, "</tr>\n", err);
    }
    return st == RELA_OK
               ? rela_buffer_append_text(
                     out,
                     "</table>\n<p class=\"note\">Word links from attention against gold links; "
                     "lower is better. "
                     "AoL: links of the mean of the heads of a layer, AoH: of the best head of "
                     "each layer; both means over the layers. Without \"shifted\" they are "
                     "normal: from the attention of the step that predicts the target word. "
                     "Shifted: from the step after it, which has the word as its input; in models "
                     "with two or three layers shifted links say little.</p>\n",
                     err)
               : st;
}

static rela_status aer_row(rela_buffer *out, const rela_findings *f, bool best_head, size_t layers,
                           rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "<tr><td>", err);
    st = st ? st : rela_markup_append(out, f->name, err);
    st = st ? st
            : rela_buffer_printf(out, err, ", %s</td>", best_head ? "best head" : "mean of heads");
    for (size_t i = 0; i < layers && st == RELA_OK; i++) {
        const rela_head_choice mean = { (int32_t)i, RELA_HEAD_MEAN, false };
        st = i < f->aer.layers
                 ? rela_buffer_printf(
                       out, err, "<td>%.2f</td>",
                       100 * rela_head_aer_get(&f->aer,
                                               best_head ? rela_head_aer_best_of(&f->aer, i, false)
                                                         : mean))
                 : rela_buffer_append_text(out, "<td></td>", err);
    }
    return st ? st : rela_buffer_append_text(out, "</tr>\n", err);
}

static rela_status aer_layers_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    size_t layers = 0;
    for (size_t i = 0; i < a->n; i++)
        layers = a->models[i].aer.layers > layers ? a->models[i].aer.layers : layers;
    rela_status st = rela_buffer_append_text(
        out, "<table><tr><th>alignment error by layer (%), normal</th>", err);
    for (size_t i = 0; i < layers && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "<th>layer %zu</th>", i + 1);
    st = st ? st : rela_buffer_append_text(out, "</tr>\n", err);
    for (size_t i = 0; i < 2 * a->n && st == RELA_OK; i++)
        st = aer_row(out, &a->models[i / 2], i % 2 == 1, layers, err);
    return st ? st
              : rela_buffer_append_text(
                    out,
                    "</table>\n<p class=\"note\">A head links nothing where it has null attention, "
                    "which counts as lost recall: a head that links few words, all of them right, "
                    "has a high error. The seed of training moves single layers by several points: "
                    "compare means of several models.</p>\n",
                    err);
}
