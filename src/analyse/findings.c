/* SPDX-License-Identifier: MIT */
/* src/analyse/findings.c - see findings.h: means, and the table for people. */
#include "analyse/findings.h"

#include "base/mem.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b);
static size_t drop_negative(double *values, size_t n);

void rela_example_free(rela_example *e)
{
    rela_mem_free(e->w);
    rela_mem_free((void *)e->rows);
    rela_mem_free((void *)e->columns);
    *e = (rela_example){ 0 };
}

void rela_findings_deinit(rela_findings *f)
{
    rela_measures_deinit(&f->text);
    rela_measures_deinit(&f->twin);
    rela_head_aer_deinit(&f->aer);
    rela_tag_null_deinit(&f->tags);
    rela_example_free(&f->example);
    rela_example_free(&f->example_twin);
    for (int i = 0; i < 2; i++)
        rela_mem_free(f->pair_null[i]);
}

double rela_auc(double *a, size_t n_a, double *b, size_t n_b)
{
    n_a = drop_negative(a, n_a);
    n_b = drop_negative(b, n_b);
    qsort(a, n_a, sizeof *a, by_value);
    qsort(b, n_b, sizeof *b, by_value);
    double sum = 0;
    size_t below = 0, equal = 0; /* of a, against the present b */
    for (size_t i = 0; i < n_b; i++) {
        while (below < n_a && a[below] < b[i])
            below++;
        equal = below;
        while (equal < n_a && a[equal] == b[i])
            equal++;
        sum += (double)below + 0.5 * (double)(equal - below);
    }
    return n_a && n_b ? sum / ((double)n_a * (double)n_b) : 0.5;
}

double rela_mean_over_heads(const rela_measures *m, rela_attn_type type,
                            double (*figure)(const rela_head_sums *s))
{
    double sum = 0;
    const size_t n = m->layers[type] * m->heads;
    for (size_t i = 0; i < n; i++)
        sum += figure(&m->head[type][i]);
    return n ? sum / (double)n : 0;
}

double rela_mean_js(const rela_measures *m, rela_attn_type type, size_t tau)
{
    double sum = 0;
    for (size_t i = 0; i < m->layers[type]; i++)
        sum += rela_layer_js(&m->layer[type][i], tau);
    return m->layers[type] ? sum / (double)m->layers[type] : 0;
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

const char *rela_place_name(rela_attn_type t)
{
    static const char *const NAMES[] = { "encoder", "decoder", "cross" };
    return NAMES[t];
}

rela_status rela_analysis_table(rela_buffer *out, const rela_analysis *a, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%llu lines; targets permuted with seed %llu\n",
                                        (unsigned long long)a->lines, (unsigned long long)a->seed);
    for (size_t i = 0; i < a->n && st == RELA_OK; i++) {
        const rela_findings *f = &a->models[i];
        st = rela_buffer_printf(out, err, "\n%s (%llu pairs)%*s  encoder  decoder    cross\n",
                                f->name, (unsigned long long)f->pairs, 0, "");
        const struct {
            const char *label;
            const rela_measures *m;
            double (*figure)(const rela_head_sums *s);
        } rows[] = { { "sparsity", &f->text, rela_sparsity_micro },
                     { "null rate", &f->text, rela_null_micro },
                     { "null rate, permuted", &f->twin, rela_null_micro } };
        for (size_t k = 0; k < 3 && st == RELA_OK; k++)
            st = rela_buffer_printf(
                out, err, "  %-22s %8.4f %8.4f %8.4f\n", rows[k].label,
                rela_mean_over_heads(rows[k].m, RELA_ATTN_ENC, rows[k].figure),
                rela_mean_over_heads(rows[k].m, RELA_ATTN_DEC, rows[k].figure),
                rela_mean_over_heads(rows[k].m, RELA_ATTN_CROSS, rows[k].figure));
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "  %-22s %8.4f %8.4f %8.4f\n", "head diversity (ln)",
                                    rela_mean_js(&f->text, RELA_ATTN_ENC, 0),
                                    rela_mean_js(&f->text, RELA_ATTN_DEC, 0),
                                    rela_mean_js(&f->text, RELA_ATTN_CROSS, 0));
        if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "  %-22s %26.4f\n", "AUC text, permuted", f->auc);
        if (st == RELA_OK && f->aer.sums)
            st = rela_buffer_printf(
                out, err, "  AER of layers / heads: normal %.1f / %.1f, shifted %.1f / %.1f\n",
                100 * rela_mean_aer(&f->aer, false, false),
                100 * rela_mean_aer(&f->aer, true, false),
                100 * rela_mean_aer(&f->aer, false, true),
                100 * rela_mean_aer(&f->aer, true, true));
    }
    return st;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static size_t drop_negative(double *values, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (values[i] >= 0)
            values[kept++] = values[i];
    return kept;
}
