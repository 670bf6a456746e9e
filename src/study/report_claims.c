/* SPDX-License-Identifier: MIT */
/* src/study/report_claims.c - the table of claims with its verdicts. */
#include "study/study_report.h"

#include <math.h>
#include <string.h>

static const char *const CLASSES[] = { "holds", "refuted", "open", "missing" };

static void claim_row(rela_study_report *r, size_t number);
static void measured(rela_study_report *r, const rela_claim *c, const rela_claim_result *v);

void rela_report_claims(rela_study_report *r)
{
    size_t counts[RELA_VERDICTS] = { 0 };
    if (r->claims->n == 0)
        return;
    for (size_t i = 0; i < r->claims->n; i++)
        counts[r->verdicts[i].verdict]++;
    rela_compose(
        &r->t,
        "<section id=\"claims\"><h2>Claims and verdicts</h2>\n<p>A claim "
        "<em>holds</em> if the 95&nbsp;%% interval lies wholly on its side and the "
        "effect is at least as large as the study says beforehand that it must be; "
        "it <em>does not hold</em> if the interval lies wholly on the other side, "
        "or leaves no room for an effect that large; otherwise it <em>cannot be "
        "told at this scale</em>. The rules stand in the study file. With one seed, intervals of "
        "scores are over sentences only.</p>\n<ul "
        "class=\"tally\">");
    for (size_t i = 0; i < RELA_VERDICTS; i++)
        if (counts[i])
            rela_compose(&r->t, "<li class=\"verdict %s\"><b>%zu</b> %s</li>", CLASSES[i],
                         counts[i], rela_verdict_name((rela_verdict)i));
    rela_compose(&r->t, "</ul>\n");
    rela_report_table_head(r, "Every claim of the paper");
    rela_compose(&r->t, "<thead><tr><th scope=\"col\">no.</th><th scope=\"col\" class=\"text\">"
                        "claim</th><th scope=\"col\" class=\"text\">measured</th><th scope=\"col\""
                        " class=\"text\">verdict</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < r->claims->n; i++)
        if (!(r->verdicts[i].timing && r->options.no_timings))
            claim_row(r, i);
    rela_compose(&r->t, "</tbody></table></div></section>\n");
}

static const char *unit_name(const rela_claim *c)
{
    static const char *const NAMES[] = { "run", "layer", "head", "sentence" };
    return c->ratio ? "round" : NAMES[c->units];
}

static void claim_row(rela_study_report *r, size_t number)
{
    const rela_claim *c = &r->claims->items[number];
    const rela_claim_result *v = &r->verdicts[number];
    rela_compose(&r->t, "<tr id=\"claim-%zu\"><td>%zu</td><td class=\"text claim\">", number + 1,
                 number + 1);
    rela_chart_text(&r->t, c->text);
    rela_compose(&r->t, " <small class=\"paper\">");
    rela_chart_text(&r->t, c->section);
    if (*c->published) {
        rela_compose(&r->t, "; published: ");
        rela_chart_text(&r->t, c->published);
    }
    rela_compose(&r->t, "</small></td><td class=\"text\">");
    measured(r, c, v);
    rela_compose(&r->t, "</td><td class=\"text\"><span class=\"verdict %s\">%s</span></td></tr>\n",
                 CLASSES[v->verdict], rela_verdict_name(v->verdict));
}

static void side_name(rela_study_report *r, const rela_claim *c, const rela_claim_side *s)
{
    const rela_claim_side *a = &c->a;
    if (s->is_number) {
        rela_compose(&r->t, "%g", s->number);
        return;
    }
    const char *parts[] = { s->key.model, s->key.place, s->label, s->key.test };
    bool any = false;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i]) {
            rela_compose(&r->t, "%s", any ? ", " : "");
            rela_chart_text(&r->t, parts[i]);
            any = true;
        }
    if (!any || (s != a && s->key.measure != a->key.measure)) {
        rela_compose(&r->t, "%s", any ? ", " : "");
        rela_chart_text(&r->t, s->key.measure);
    }
}

/* What was compared, the effect with its interval, and over how many. */
static void measured(rela_study_report *r, const rela_claim *c, const rela_claim_result *v)
{
    const bool logs = c->ratio;
    const double value = logs ? exp(v->effect.value) : v->effect.value;
    const double low = logs ? exp(v->effect.low) : v->effect.low;
    const double high = logs ? exp(v->effect.high) : v->effect.high;
    if (v->verdict == RELA_VERDICT_NOT_RUN) {
        rela_compose(&r->t, "<span class=\"none\">&ndash;</span>");
        return;
    }
    side_name(r, c, &c->a);
    if (c->n_b) {
        rela_compose(&r->t, " against ");
        side_name(r, c, &c->b[v->against]);
    }
    if (v->data) {
        rela_compose(&r->t, " on ");
        rela_chart_text(&r->t, rela_layout_data_title(r->layout, v->data));
    }
    if (v->layer >= 0)
        rela_compose(&r->t, ", layer %lld", (long long)v->layer + 1);
    if (isfinite(v->a) && isfinite(v->b))
        rela_compose(&r->t, ": %.3g and %.3g", v->a, v->b);
    if (c->rule == RELA_CLAIM_BREAKS) {
        rela_compose(&r->t, " <small>lowest of %zu run%s; the bound is %g</small>", v->effect.n,
                     v->effect.n == 1 ? "" : "s", c->b[0].number);
        return;
    }
    const char *sort = logs      ? "ratio"
                       : c->area ? "AUC &minus; 0.5"
                       : c->rule == RELA_CLAIM_TREND_UP || c->rule == RELA_CLAIM_TREND_DOWN
                           ? "slope per layer"
                           : "difference";
    rela_compose(&r->t, logs ? "<br>%s <b>%.3g</b> " : "<br>%s <b>%+.3g</b> ", sort, value);
    rela_chart_text(&r->t, c->unit);
    if (isfinite(low) && isfinite(high))
        rela_compose(&r->t, logs ? " <small>%.3g to %.3g, " : " <small>%+.3g to %+.3g, ", low,
                     high);
    else
        rela_compose(&r->t, " <small>no interval, ");
    if (v->effect.n_seeds)
        rela_compose(&r->t, "%zu sentences, %zu seed%s", v->effect.n, v->effect.n_seeds,
                     v->effect.n_seeds == 1 ? "" : "s");
    else
        rela_compose(&r->t, "%zu %s%s", v->effect.n, unit_name(c), v->effect.n == 1 ? "" : "s");
    if (c->effect > 0)
        rela_compose(&r->t, "; counts from %g", c->effect);
    if (c->margin > 0)
        rela_compose(&r->t, "; margin %g", c->margin);
    rela_compose(&r->t, "</small>");
}
