/* SPDX-License-Identifier: MIT */
/* src/analyse/report_html.c - report.html: tables and all figures of an analysis in one
 * self-contained file. */
#include "analyse/findings.h"
#include "base/file.h"
#include "base/markup.h"
#include "base/mem.h"

#include <string.h>

static const char STYLE[] =
    "body{font:15px/1.45 sans-serif;max-width:72em;margin:2em auto;padding:0 1em;color:#111}"
    "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .7em;border-bottom:1px solid "
    "#ccc;text-align:right}td:first-child,th:first-child{text-align:left}figure{margin:2em "
    "0}figcaption{max-width:46em}svg{max-width:100%;height:auto}h2{margin:.2em "
    "0;overflow-wrap:anywhere}.narrow{display:none}"
    /* On phones panels are one below the other. What has no panels and is wide, and tables, keep a
     * readable size and scroll on their own; figures say so. */
    "@media(max-width:50em){table{display:block;overflow-x:auto;font-size:13px}td,th{padding:.2em "
    ".25em}.broad{display:none}.narrow{display:block}}"
    "@media(max-width:38em){.wide{overflow-x:auto}.wide svg{max-width:none}.wide::before{content:"
    "\"scroll sideways \\2192\";position:sticky;left:0;display:block;width:max-content;font-size:"
    "13px;color:#555}}";

enum { WIDE = 450 }; /* points, the 38em above: smaller ones shrink to a phone and stay readable */

static rela_status head(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status places_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status diversity_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status aer_table(rela_buffer *out, const rela_analysis *a, rela_error *err);
static rela_status figure(rela_buffer *out, const char *dir, const rela_figure *f, size_t number,
                          rela_error *err);

rela_status rela_analysis_html(const char *dir, const rela_analysis *a, const rela_figure *figures,
                               size_t n, rela_error *err)
{
    rela_buffer out = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = head(&out, a, err);
    if (st == RELA_OK)
        st = places_table(&out, a, err);
    if (st == RELA_OK)
        st = diversity_table(&out, a, err);
    if (st == RELA_OK && a->models[0].aer.sums)
        st = aer_table(&out, a, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = figure(&out, dir, &figures[i], i + 1, err);
    if (st == RELA_OK && n == 0)
        st = rela_buffer_append_text(&out, "<p>This build draws no figures.</p>\n", err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(&out, "</body></html>\n", err);
    if (st == RELA_OK)
        st = rela_buffer_printf(&path, err, "%s/report.html", dir);
    if (st == RELA_OK)
        st = rela_file_write(path.data, out.data, out.len, err);
    rela_buffer_free(&out);
    rela_buffer_free(&path);
    return st;
}

/* The attention kinds of all stacks, then the names of the stacks in brackets. */
static rela_status kinds(rela_buffer *out, const rela_findings *f, rela_error *err)
{
    const size_t n = f->text.n_stacks;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < 2 * n && st == RELA_OK; i++) {
        const rela_attn_stack *p = &f->text.stacks[i % n];
        const char *gap = i == 0 ? "" : i == n ? " (" : ", ";
        st = rela_buffer_printf(out, err, "%s%s", gap,
                                i < n ? f->net->config.attention[p->type].text : p->label);
    }
    return st == RELA_OK ? rela_buffer_append_char(out, ')', err) : st;
}

static rela_status head(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_printf(
        out, err,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><title>Attention</title><style>%s</style></head><body>\n"
        "<h1>What the attention does</h1>\n<p>%llu line%s, teacher forced. <em>Permuted</em>: the "
        "same sources with the targets of other lines (seed %llu). <em>Null attention</em>: all "
        "weights of a query are zero; the <em>null rate</em> is the share of such queries. The "
        "query that predicts &lt;eos&gt; %s in null rates.",
        STYLE, (unsigned long long)a->lines, rela_plural(a->lines), (unsigned long long)a->seed,
        a->skip_end ? "is left out" : "counts");
    if (st == RELA_OK && a->n_sources > 1)
        st = rela_buffer_printf(
            out, err,
            " Queries to an empty source have null attention. Alignment errors, tags and "
            "maps are about source %zu.",
            a->source + 1);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, "</p>\n<ul>\n", err);
    for (size_t i = 0; i < a->n && st == RELA_OK; i++) {
        const rela_findings *f = &a->models[i];
        const rela_config *c = &f->net->config;
        st = rela_buffer_append_text(out, "<li><b>", err);
        if (st == RELA_OK)
            st = rela_markup_append(out, f->name, err);
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "</b>: %zu + %zu layers, %zu head%s; attention ",
                                    c->enc_layers, c->dec_layers, c->heads, rela_plural(c->heads));
        st = st ? st : kinds(out, f, err);
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "; %llu pair%s, %llu empty, %llu too long</li>\n",
                                    (unsigned long long)f->pairs, rela_plural(f->pairs),
                                    (unsigned long long)f->empty, (unsigned long long)f->too_long);
    }
    return st == RELA_OK ? rela_buffer_append_text(out, "</ul>\n", err) : st;
}

static rela_status row_start(rela_buffer *out, const char *name, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "<tr><td>", err);
    if (st == RELA_OK)
        st = rela_markup_append(out, name, err);
    return st == RELA_OK ? rela_buffer_append_text(out, "</td>", err) : st;
}

static rela_status places_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out,
                                             "<table><tr><th>model</th><th>attention</"
                                             "th><th>sparsity</th><th>null rate</th><th>null rate, "
                                             "permuted</th><th>AUC</th></tr>\n",
                                             err);
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->models[i].text.n_stacks && st == RELA_OK; k++) {
            const rela_findings *f = &a->models[i];
            const rela_attn_stack *p = &f->text.stacks[k];
            char auc[16] = "";
            if (rela_attn_stack_cross(p))
                rela_format_text(auc, sizeof auc, "%.3f", f->source_auc[p->keys]);
            st = row_start(out, f->name, err);
            if (st == RELA_OK)
                st = rela_buffer_printf(
                    out, err,
                    "<td>%s</td><td>%.4f</td><td>%.4f</td><td>%.4f</td><td>%s"
                    "</td></tr>\n",
                    p->label, rela_mean_over_heads(&f->text, k, rela_sparsity_micro),
                    rela_mean_over_heads(&f->text, k, rela_null_micro),
                    rela_mean_over_heads(&f->permuted, k, rela_null_micro), auc);
        }
    if (st == RELA_OK)
        st = rela_buffer_append_text(
            out,
            "</table>\n<p>Means over all heads. AUC: how often the mean cross-attention null rate "
            "of a pair with a wrong target is above that of a right one; 0.5 is chance.</p>\n",
            err);
    return st;
}

/* Temperatures only apply to weights that do not sum to one. */
static bool all_sum_one(const rela_measures *m)
{
    bool all = true;
    for (size_t i = 0; i < m->n_stacks; i++)
        all = all && m->sum_one[i];
    return all;
}

static rela_status diversity_row(rela_buffer *out, const rela_findings *f, size_t tau,
                                 rela_error *err)
{
    const rela_measures *m = &f->text;
    rela_status st = row_start(out, f->name, err);
    if (st == RELA_OK && all_sum_one(m))
        st = rela_buffer_append_text(out, "<td></td>", err);
    else if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "<td>%g</td>", rela_taus[tau]);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "<td>%.3f</td>", rela_mean_js(m, i, tau));
    return st == RELA_OK ? rela_buffer_append_text(out, "</tr>\n", err) : st;
}

static rela_status diversity_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    const rela_measures *m = &a->models[0].text;
    rela_status st =
        rela_buffer_append_text(out, "<table><tr><th>head diversity</th><th>temperature</th>", err);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "<th>%s</th>", m->stacks[i].label);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, "</tr>\n", err);
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < (all_sum_one(&a->models[i].text) ? 1 : RELA_TAUS); k++)
            st = st ? st : diversity_row(out, &a->models[i], k, err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(
            out, "</table>\n<p>Jensen-Shannon divergence, mean over layers.</p>\n", err);
    return st;
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
                     "</table>\n<p>Word links from attention against gold links; lower is better. "
                     "AoL: links of the mean of the heads of a layer, AoH: of the best head of "
                     "each layer; both means over the layers. Shifted: attention with the target "
                     "word as input, not while it is predicted.</p>\n",
                     err)
               : st;
}

/* Prefixes the ids in a drawing with the number of the figure, so that drawings on one page do not
 * clash. */
static rela_status inline_svg(rela_buffer *out, const char *svg, size_t len, size_t number,
                              rela_error *err)
{
    static const char *const MARKS[] = { "id=\"", "href=\"#", "url(#" };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < len && st == RELA_OK;) {
        size_t k = 0;
        while (k < 3 &&
               (len - i < strlen(MARKS[k]) || memcmp(svg + i, MARKS[k], strlen(MARKS[k])) != 0))
            k++;
        if (k < 3) {
            st = rela_buffer_printf(out, err, "%sf%zu-", MARKS[k], number);
            i += strlen(MARKS[k]);
        } else {
            st = rela_buffer_append_char(out, svg[i++], err);
        }
    }
    return st;
}

/* Adds the SVG at path to the page. class NULL: by its width. number: prefix of the ids in it. */
static rela_status drawing(rela_buffer *out, const rela_buffer *path, const char *class,
                           size_t number, rela_error *err)
{
    char *svg = NULL;
    size_t len = 0;
    rela_status st = rela_file_read(&svg, &len, path->data, 0, err);
    if (st == RELA_OK) {
        const char *start = strstr(svg, "<svg"); /* skip the XML declaration */
        start = start ? start : svg;
        const char *width = strstr(start, "width=\"");
        const bool wide = width && rela_scan_f64(width + strlen("width=\""), NULL) > WIDE;
        st = rela_buffer_printf(out, err, "<div class=\"%s\">",
                                class  ? class
                                : wide ? "wide"
                                       : "small");
        st = st ? st : inline_svg(out, start, len - (size_t)(start - svg), number, err);
        st = st ? st : rela_buffer_append_text(out, "</div>\n", err);
    }
    rela_mem_free(svg);
    return st;
}

static rela_status figure(rela_buffer *out, const char *dir, const rela_figure *f, size_t number,
                          rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_append_text(out, "<figure><h2>", err);
    st = st ? st : rela_markup_append(out, f->title, err);
    st = st ? st : rela_buffer_append_text(out, "</h2>\n", err);
    st = st ? st : rela_buffer_printf(&path, err, "%s/%s.svg", dir, f->stem);
    st = st ? st : drawing(out, &path, f->narrow ? "broad" : NULL, 2 * number, err);
    rela_buffer_clear(&path);
    if (st == RELA_OK && f->narrow)
        st = rela_buffer_printf(&path, err, "%s/%s-narrow.svg", dir, f->stem);
    if (st == RELA_OK && f->narrow)
        st = drawing(out, &path, "narrow", 2 * number + 1, err);
    st = st ? st : rela_buffer_append_text(out, "<figcaption>", err);
    st = st ? st : rela_markup_append(out, f->text, err);
    st = st ? st : rela_buffer_append_text(out, "</figcaption></figure>\n", err);
    rela_buffer_free(&path);
    return st;
}
