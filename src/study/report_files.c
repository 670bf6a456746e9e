/* SPDX-License-Identifier: MIT */
/* src/study/report_files.c - see report_files.h. */
#include "study/report_files.h"

#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

static bool left_out(const rela_study_report *r, bool timing)
{
    return timing && r->options.no_timings;
}

static void number_tsv(rela_composer *t, double value)
{
    if (isfinite(value))
        rela_compose(t, "\t%.6g", value);
    else
        rela_compose(t, "\t");
}

rela_status rela_report_tsv(rela_buffer *out, const rela_study_report *r, rela_error *err)
{
    rela_composer t = { out, err, RELA_OK };
    rela_compose(&t, "exhibit\trow\tcolumn\tvalue\tlow\thigh\tp\tspread\tn\tseeds\tpublished\tstate"
                     "\tplanned\tjobs\n");
    for (size_t i = 0; i < r->n_cells; i++) {
        const rela_cell *c = &r->cells[i];
        if (left_out(r, c->timing))
            continue;
        rela_compose(&t, "%s\t%s\t%s", c->exhibit, c->row, c->column);
        number_tsv(&t, c->value);
        number_tsv(&t, c->low);
        number_tsv(&t, c->high);
        number_tsv(&t, c->p);
        number_tsv(&t, c->spread);
        rela_compose(&t, "\t%zu\t%zu", c->n, c->n_seeds);
        number_tsv(&t, c->published);
        rela_compose(&t, "\t%s\t%d\t%s\n", c->state, c->planned, c->jobs);
    }
    for (size_t i = 0; i < r->claims->n; i++) {
        const rela_claim_result *v = &r->verdicts[i];
        if (left_out(r, v->timing))
            continue;
        rela_compose(&t, "claim-%zu\t%s\t%s", i + 1, r->claims->items[i].text,
                     rela_claim_rule_name(r->claims->items[i].rule));
        number_tsv(&t, v->effect.value);
        number_tsv(&t, v->effect.low);
        number_tsv(&t, v->effect.high);
        number_tsv(&t, v->effect.p);
        rela_compose(&t, "\t\t%zu\t%zu\t\t%s\t0\t%s\n", v->effect.n, v->effect.n_seeds,
                     rela_verdict_name(v->verdict), v->jobs);
    }
    return t.status;
}

static void text_json(rela_composer *t, const char *name, const char *text)
{
    rela_compose(t, "\"%s\": ", name);
    if (t->status == RELA_OK)
        t->status = rela_json_quote(t->out, text, strlen(text), t->err);
}

static void number_json(rela_composer *t, const char *name, double value)
{
    rela_compose(t, ", \"%s\": ", name);
    if (t->status == RELA_OK)
        t->status = rela_json_number(t->out, value, 6, t->err);
}

static void cell_json(rela_composer *t, const rela_cell *c)
{
    rela_compose(t, "    {");
    text_json(t, "exhibit", c->exhibit);
    rela_compose(t, ", ");
    text_json(t, "row", c->row);
    rela_compose(t, ", ");
    text_json(t, "column", c->column);
    number_json(t, "value", c->value);
    number_json(t, "low", c->low);
    number_json(t, "high", c->high);
    number_json(t, "p", c->p);
    number_json(t, "spread", c->spread);
    number_json(t, "published", c->published);
    rela_compose(t, ", \"n\": %zu, \"seeds\": %zu, \"planned\": %s, ", c->n, c->n_seeds,
                 c->planned ? "true" : "false");
    text_json(t, "state", c->state);
    rela_compose(t, ", ");
    text_json(t, "jobs", c->jobs);
    rela_compose(t, "}");
}

static void claim_json(rela_composer *t, const rela_claim *c, const rela_claim_result *v)
{
    rela_compose(t, "    {");
    text_json(t, "claim", c->text);
    rela_compose(t, ", ");
    text_json(t, "section", c->section);
    rela_compose(t, ", ");
    text_json(t, "rule", rela_claim_rule_name(c->rule));
    rela_compose(t, ", ");
    text_json(t, "verdict", rela_verdict_name(v->verdict));
    number_json(t, "value", v->effect.value);
    number_json(t, "low", v->effect.low);
    number_json(t, "high", v->effect.high);
    number_json(t, "p", v->effect.p);
    number_json(t, "a", v->a);
    number_json(t, "b", v->b);
    rela_compose(t, ", \"n\": %zu, \"seeds\": %zu, ", v->effect.n, v->effect.n_seeds);
    text_json(t, "jobs", v->jobs);
    rela_compose(t, "}");
}

rela_status rela_report_json(rela_buffer *out, const rela_study_report *r, rela_error *err)
{
    rela_composer t = { out, err, RELA_OK };
    bool first = true;
    rela_compose(&t, "{\n  ");
    text_json(&t, "study", r->study->name);
    rela_compose(&t, ",\n  ");
    text_json(&t, "scale", r->study->scale);
    rela_compose(&t, ",\n  \"cells\": [\n");
    for (size_t i = 0; i < r->n_cells; i++) {
        if (left_out(r, r->cells[i].timing))
            continue;
        rela_compose(&t, "%s", first ? "" : ",\n");
        cell_json(&t, &r->cells[i]);
        first = false;
    }
    rela_compose(&t, "\n  ],\n  \"claims\": [\n");
    first = true;
    for (size_t i = 0; i < r->claims->n; i++) {
        if (left_out(r, r->verdicts[i].timing))
            continue;
        rela_compose(&t, "%s", first ? "" : ",\n");
        claim_json(&t, &r->claims->items[i], &r->verdicts[i]);
        first = false;
    }
    rela_compose(&t, "\n  ]\n}\n");
    return t.status;
}
