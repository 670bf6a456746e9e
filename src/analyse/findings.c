/* SPDX-License-Identifier: MIT */
/* src/analyse/findings.c - see findings.h: means, and the human-readable table. */
#include "analyse/findings.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMN_LEAST = 8, LABEL_WIDTH = 24 };

void rela_example_free(rela_example *e)
{
    rela_mem_free(e->w);
    rela_mem_free((void *)e->rows);
    rela_mem_free((void *)e->columns);
    rela_mem_free(e->gold);
    for (int i = 0; i < 2; i++) {
        rela_buffer_free(&e->texts[i]);
        rela_buffer_free(&e->sentence[i]);
    }
    *e = (rela_example){ 0 };
}

void rela_label_make(char out[RELA_LABEL_SIZE], rela_span text)
{
    static const char MORE[] = "\xE2\x80\xA6";
    char all[2 * RELA_LABEL_SIZE];
    const size_t most = text.len < sizeof all ? text.len : sizeof all - 1;
    rela_format_text(all, sizeof all, "%.*s", (int)most, text.text);
    rela_utf8_make_printable(all);
    const size_t len = strlen(all);
    if (text.len < sizeof all && rela_utf8_count(all, len) <= RELA_LABEL_CHARS)
        rela_format_text(out, RELA_LABEL_SIZE, "%s", all);
    else
        rela_format_text(out, RELA_LABEL_SIZE, "%.*s%s",
                         (int)rela_utf8_prefix(all, len, RELA_LABEL_CHARS - 1), all, MORE);
}

void rela_findings_deinit(rela_findings *f)
{
    rela_measures_deinit(&f->text);
    rela_measures_deinit(&f->permuted);
    rela_head_aer_deinit(&f->aer);
    rela_tag_null_deinit(&f->tags);
    rela_example_free(&f->example);
    rela_example_free(&f->example_permuted);
    for (int i = 0; i < 2; i++)
        rela_mem_free(f->pair_null[i]);
}

double rela_pair_null_mean(const rela_findings *f, bool permuted, size_t source, size_t line,
                           size_t lines)
{
    const size_t layers = rela_config_layers(&f->net->config, RELA_ATTN_CROSS);
    const double *null = f->pair_null[permuted] + (source * lines + line) * layers;
    double sum = 0;
    for (size_t i = 0; i < layers; i++)
        sum += null[i] / (double)layers;
    return sum;
}

double rela_mean_over_heads(const rela_measures *m, size_t stack,
                            double (*figure)(const rela_head_sums *s))
{
    double sum = 0;
    const size_t n = m->stacks[stack].layers * m->heads;
    for (size_t i = 0; i < n; i++)
        sum += figure(&m->head[stack][i]);
    return n ? sum / (double)n : 0;
}

double rela_mean_js(const rela_measures *m, size_t stack, size_t tau)
{
    double sum = 0;
    const size_t n = m->stacks[stack].layers;
    for (size_t i = 0; i < n; i++)
        sum += rela_layer_js(&m->layer[stack][i], tau);
    return n ? sum / (double)n : 0;
}

double rela_mean_aer(const rela_head_aer *a, bool best_head, bool shift)
{
    double sum = 0;
    for (size_t i = 0; i < a->layers; i++) {
        const rela_head_choice layer = { (int32_t)i, RELA_HEAD_MEAN, shift };
        sum += rela_head_aer_get(a, best_head ? rela_head_aer_best_of(a, i, shift) : layer);
    }
    return a->layers ? sum / (double)a->layers : 0;
}

bool rela_findings_aligned(const rela_analysis *a, const rela_findings *f, size_t stack)
{
    return f->aer.sums && stack == rela_block_list_cross(&f->net->list, a->source);
}

/* ---- the table ---- */

static int column_width(const rela_measures *m)
{
    int width = COLUMN_LEAST;
    for (size_t i = 0; i < m->n_stacks; i++) {
        const int n = (int)strlen(m->stacks[i].label);
        width = n > width ? n : width;
    }
    return width;
}

/* A short name is padded, so that the labels line up with their columns. */
static rela_status table_head(rela_buffer *out, const rela_findings *f, rela_error *err)
{
    const rela_measures *m = &f->text;
    const size_t start = out->len + 1;
    rela_status st = rela_buffer_append_char(out, '\n', err);
    st = st ? st : rela_utf8_append_printable(out, f->name, strlen(f->name), err);
    st = st ? st
            : rela_buffer_printf(out, err, " (%llu pair%s)", (unsigned long long)f->pairs,
                                 rela_plural(f->pairs));
    const size_t used = out->len - start;
    if (st == RELA_OK && used < LABEL_WIDTH)
        st = rela_buffer_printf(out, err, "%*s", (int)(LABEL_WIDTH - used), "");
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, " %*s", column_width(m), m->stacks[i].label);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

/* figure NULL: head diversity. */
static rela_status table_row(rela_buffer *out, const char *label, const rela_measures *m,
                             double (*figure)(const rela_head_sums *s), rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "  %-22s", label);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st =
            rela_buffer_printf(out, err, " %*.4f", column_width(m),
                               figure ? rela_mean_over_heads(m, i, figure) : rela_mean_js(m, i, 0));
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

enum { CELL_SIZE = 24 };

/* A row with one text per source, under its cross attention. */
static rela_status table_sources(rela_buffer *out, const char *label, const rela_measures *m,
                                 char cells[][CELL_SIZE], rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "  %-22s", label);
    for (size_t i = 0; i < m->n_stacks && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, " %*s", column_width(m),
                                rela_attn_stack_cross(&m->stacks[i]) ? cells[m->stacks[i].keys]
                                                                     : "");
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static rela_status table_empty(rela_buffer *out, const rela_findings *f, rela_error *err)
{
    char cells[RELA_SOURCES_MAX][CELL_SIZE];
    for (size_t i = 0; i < f->net->config.sources; i++)
        rela_format_text(cells[i], CELL_SIZE, "%llu", (unsigned long long)f->source_empty[i]);
    return table_sources(out, "pairs, source empty", &f->text, cells, err);
}

/* No rows without null attention: there is nothing to tell the texts apart by. */
static rela_status table_auc(rela_buffer *out, const rela_findings *f, rela_error *err)
{
    char values[RELA_SOURCES_MAX][CELL_SIZE] = { "" }, low[RELA_SOURCES_MAX][CELL_SIZE] = { "" };
    char high[RELA_SOURCES_MAX][CELL_SIZE] = { "" };
    bool any = false, chance = false;
    for (size_t i = 0; i < f->net->config.sources; i++) {
        const rela_auc *x = &f->source_auc[i];
        const double numbers[] = { x->value, x->low, x->high };
        char *const cells[] = { values[i], low[i], high[i] };
        for (int k = 0; k < 3; k++)
            rela_format_text(cells[k], CELL_SIZE, x->blank ? "" : "%.4f", numbers[k]);
        any = any || !x->blank;
        chance = chance || (!x->blank && rela_auc_is_chance(x));
    }
    if (!any)
        return RELA_OK;
    rela_status st = table_sources(out, "AUC text, permuted", &f->text, values, err);
    st = st ? st : table_sources(out, "  95 % interval from", &f->text, low, err);
    st = st ? st : table_sources(out, "  to", &f->text, high, err);
    if (st == RELA_OK && chance)
        st = rela_buffer_append_text(out, "  An interval that holds 0.5: no better than chance.\n",
                                     err);
    return st;
}

static rela_status table_model(rela_buffer *out, const rela_findings *f, rela_error *err)
{
    rela_status st = table_head(out, f, err);
    st = st ? st : table_row(out, "sparsity", &f->text, rela_sparsity_micro, err);
    st = st ? st : table_row(out, "null rate", &f->text, rela_null_micro, err);
    st = st ? st : table_row(out, "null rate, permuted", &f->permuted, rela_null_micro, err);
    st = st ? st : table_row(out, "head diversity (ln)", &f->text, NULL, err);
    st = st ? st : table_auc(out, f, err);
    if (st == RELA_OK && f->net->config.sources > 1)
        st = table_empty(out, f, err);
    if (st == RELA_OK && f->aer.sums)
        st = rela_buffer_printf(
            out, err, "  AER of layers / heads: normal %.1f / %.1f, shifted %.1f / %.1f\n",
            100 * rela_mean_aer(&f->aer, false, false), 100 * rela_mean_aer(&f->aer, true, false),
            100 * rela_mean_aer(&f->aer, false, true), 100 * rela_mean_aer(&f->aer, true, true));
    return st;
}

rela_status rela_analysis_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%llu line%s; targets permuted with seed %llu\n",
                                        (unsigned long long)a->lines, a->lines == 1 ? "" : "s",
                                        (unsigned long long)a->seed);
    for (size_t i = 0; i < a->n && st == RELA_OK; i++)
        st = table_model(out, &a->models[i], err);
    return st;
}
