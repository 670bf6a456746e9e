/* SPDX-License-Identifier: MIT */
/* src/study/claims.c - see claims.h. */
#include "study/claims.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum { LAYERS_MAX = 64, JOBS_MAX = 24 };

static const rela_study_effect NOTHING = { .value = NAN, .low = NAN, .high = NAN, .p = NAN };

/* Values of one side, in the order of the facts, with what they are about. */
typedef struct values {
    double *items;
    const rela_fact **facts; /* NULL: of a column */
    size_t n;
} values;

typedef struct decider {
    const rela_claim *c;
    rela_facts *facts;
    const rela_claim_means *how;
    rela_claim_result *out;
    int64_t layer;    /* this one only, or RELA_FACT_NONE */
    const char *data; /* this one only, or NULL */
    bool first;       /* nothing has been decided yet */
    rela_error *err;
} decider;

static rela_status decide_side(decider *d, size_t b);
static rela_status decide_layers(decider *d, size_t b);
static rela_status decide_data(decider *d, size_t b);
static rela_status compare(decider *d, rela_claim_result *r, const rela_claim_side *b);
static rela_status compare_columns(decider *d, rela_claim_result *r, const rela_claim_side *b);
static rela_status shape(decider *d, rela_claim_result *r);
static rela_status breaks(decider *d, rela_claim_result *r, const rela_claim_side *b);
static rela_status collect(values *out, const decider *d, const rela_claim_side *s);
static rela_status collect_column(values *out, const decider *d, const rela_claim_side *s,
                                  const double **raw);
static void free_values(values *v);
static bool paired(const rela_claim *c, const rela_claim_side *b);
static void keep_worst(decider *d, const rela_claim_result *r, bool first);
static const char *join_jobs(decider *d, const rela_claim_side *a, const rela_claim_side *b);
static bool has_scores(const rela_facts *f, const char *measure);

const char *rela_verdict_name(rela_verdict verdict)
{
    static const char *const NAMES[] = { "holds", "does not hold", "cannot be told at this scale",
                                         "not run" };
    return NAMES[verdict];
}

rela_verdict rela_claim_judge(const rela_claim *c, const rela_study_effect *e)
{
    const bool down = c->rule == RELA_CLAIM_LESS || c->rule == RELA_CLAIM_NOT_LESS ||
                      c->rule == RELA_CLAIM_TREND_DOWN || c->rule == RELA_CLAIM_TROUGH;
    const double effect = c->ratio && c->effect ? log(c->effect) : c->effect;
    const double margin = c->ratio ? log(c->margin) : c->margin;
    const double value = down ? -e->value : e->value;
    const double low = down ? -e->high : e->low, high = down ? -e->low : e->high;
    if (isnan(value))
        return RELA_VERDICT_NOT_RUN;
    if (c->rule == RELA_CLAIM_EQUAL) {
        if (low > -margin && high < margin)
            return RELA_VERDICT_HOLDS;
        return low > margin || high < -margin ? RELA_VERDICT_REFUTED : RELA_VERDICT_OPEN;
    }
    const bool there = low > 0 && value >= effect, absent = high < effect || high <= 0;
    if (c->rule == RELA_CLAIM_NOT_GREATER || c->rule == RELA_CLAIM_NOT_LESS)
        return absent ? RELA_VERDICT_HOLDS : there ? RELA_VERDICT_REFUTED : RELA_VERDICT_OPEN;
    return there ? RELA_VERDICT_HOLDS : absent ? RELA_VERDICT_REFUTED : RELA_VERDICT_OPEN;
}

rela_status rela_claim_decide(rela_claim_result *out, const rela_claim *c, rela_facts *facts,
                              const rela_claim_means *how, rela_error *err)
{
    *out = (rela_claim_result){ .verdict = RELA_VERDICT_NOT_RUN,
                                .a = (double)NAN,
                                .b = (double)NAN,
                                .layer = RELA_FACT_NONE,
                                .jobs = "" };
    out->effect = NOTHING;
    decider d = { c, facts, how, out, RELA_FACT_NONE, NULL, true, err };
    rela_status st = RELA_OK;
    const size_t n_b = c->n_b ? c->n_b : 1;
    for (size_t b = 0; b < n_b && st == RELA_OK; b++)
        st = c->every_layer  ? decide_layers(&d, b)
             : c->every_data ? decide_data(&d, b)
                             : decide_side(&d, b);
    return st;
}

static rela_status decide_layers(decider *d, size_t b)
{
    rela_fact_key all = d->c->a.key;
    const rela_facts *facts = d->facts;
    int64_t last = RELA_FACT_NONE;
    size_t at = 0;
    all.layer = RELA_FACT_EACH;
    for (const rela_fact *f; (f = rela_facts_next(facts, &all, &at));)
        last = f->key.layer > last ? f->key.layer : last;
    for (size_t i = 0; i < facts->n_columns; i++)
        if (rela_fact_matches(&facts->columns[i].key, &all) && facts->columns[i].key.layer > last)
            last = facts->columns[i].key.layer;
    rela_status st = RELA_OK;
    for (d->layer = 0; d->layer <= last && st == RELA_OK; d->layer++)
        st = decide_side(d, b);
    d->layer = RELA_FACT_NONE;
    return st;
}

/* Every corpus on which the model of side a has scores. */
static rela_status decide_data(decider *d, size_t b)
{
    const rela_facts *facts = d->facts;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < facts->n_scores && st == RELA_OK; i++) {
        const rela_fact_key *key = &facts->scores[i].key;
        bool known = !rela_fact_matches(key, &d->c->a.key);
        for (size_t k = 0; k < i && !known; k++)
            known = rela_fact_matches(&facts->scores[k].key, &d->c->a.key) &&
                    strcmp(facts->scores[k].key.data, key->data) == 0;
        d->data = key->data;
        st = known ? RELA_OK : decide_side(d, b);
    }
    d->data = NULL;
    return st;
}

/* One comparison, or one layer of it; what decides is kept. */
static rela_status decide_side(decider *d, size_t b)
{
    const rela_claim *c = d->c;
    rela_claim_result r = { .a = (double)NAN,
                            .b = (double)NAN,
                            .against = b,
                            .layer = d->layer,
                            .data = d->data,
                            .jobs = "" };
    r.effect = NOTHING;
    const rela_claim_side *side = c->n_b ? &c->b[b] : NULL;
    rela_status st;
    if (c->rule == RELA_CLAIM_BREAKS) {
        st = breaks(d, &r, side);
    } else {
        st = !side                              ? shape(d, &r)
             : c->units == RELA_UNITS_SENTENCES ? compare_columns(d, &r, side)
                                                : compare(d, &r, side);
        /* A maximum at one of the ends is no peak, whatever the means say. */
        const rela_verdict verdict = rela_claim_judge(c, &r.effect);
        r.verdict = r.verdict == RELA_VERDICT_OPEN && verdict == RELA_VERDICT_HOLDS
                        ? RELA_VERDICT_OPEN
                        : verdict;
    }
    if (st != RELA_OK)
        return st;
    r.jobs = join_jobs(d, &c->a, side);
    if (!r.jobs)
        return rela_fail(d->err, RELA_NOMEM, "no memory for claims");
    keep_worst(d, &r, d->first);
    d->first = false;
    return RELA_OK;
}

/* What is furthest from `holds`; among equals, what leaves the least room. */
static void keep_worst(decider *d, const rela_claim_result *r, bool first)
{
    static const int BAD[] = { 0, 2, 1, 3 }; /* by verdict */
    const rela_claim_result *old = d->out;
    const bool down = d->c->rule == RELA_CLAIM_LESS || d->c->rule == RELA_CLAIM_NOT_GREATER;
    bool worse = BAD[r->verdict] > BAD[old->verdict];
    if (BAD[r->verdict] == BAD[old->verdict])
        worse = d->c->rule == RELA_CLAIM_EQUAL ? fabs(r->effect.value) > fabs(old->effect.value)
                : down                         ? r->effect.value > old->effect.value
                                               : r->effect.value < old->effect.value;
    if (first || worse)
        *d->out = *r;
}

/* ---- comparisons ---- */

static rela_status compare(decider *d, rela_claim_result *r, const rela_claim_side *b)
{
    const rela_claim *c = d->c;
    if (has_scores(d->facts, c->a.key.measure)) {
        rela_fact_key key_a = c->a.key, key_b = b->key;
        if (d->data)
            key_a.data = key_b.data = d->data;
        const rela_status st = rela_scores_compare(&r->effect, d->facts, &key_a,
                                                   b->is_number ? NULL : &key_b, d->how, d->err);
        if (st == RELA_OK && r->effect.n == 0)
            r->effect = NOTHING;
        if (st == RELA_OK && b->is_number) {
            r->effect.value -= b->number;
            r->effect.low -= b->number;
            r->effect.high -= b->number;
        }
        return st;
    }
    values va = { .n = 0 }, vb = { .n = 0 };
    rela_status st = collect(&va, d, &c->a);
    if (st == RELA_OK && !b->is_number)
        st = collect(&vb, d, b);
    if (st != RELA_OK || va.n == 0 || (!b->is_number && vb.n == 0))
        goto out;
    rela_study_effect mean;
    rela_study_mean(&mean, va.items, va.n);
    r->a = c->ratio ? exp(mean.value) : mean.value;
    if (b->is_number) {
        const double number = c->ratio ? log(b->number) : b->number;
        r->b = b->number;
        for (size_t i = 0; i < va.n; i++)
            va.items[i] -= number;
        rela_study_mean(&r->effect, va.items, va.n);
        goto out;
    }
    rela_study_mean(&mean, vb.items, vb.n);
    r->b = c->ratio ? exp(mean.value) : mean.value;
    if (va.n == vb.n && paired(c, b)) {
        for (size_t i = 0; i < va.n; i++)
            va.items[i] -= vb.items[i];
        rela_study_mean(&r->effect, va.items, va.n);
    } else {
        rela_study_means(&r->effect, va.items, va.n, vb.items, vb.n);
    }
out:
    r->timing = va.n && va.facts[0]->timing;
    free_values(&va);
    free_values(&vb);
    return st;
}

/* Values belong together one by one if the sides differ in the measure, the text or the model of
 * the same layers; heads of two models, or of two places, have nothing in common but their number.
 */
static bool paired(const rela_claim *c, const rela_claim_side *b)
{
    const rela_fact_key *x = &c->a.key, *y = &b->key;
    const bool same_model =
        x->model == y->model || (x->model && y->model && strcmp(x->model, y->model) == 0);
    const bool same_place =
        x->place == y->place || (x->place && y->place && strcmp(x->place, y->place) == 0);
    return same_place && (same_model || c->units != RELA_UNITS_HEADS);
}

static rela_status compare_columns(decider *d, rela_claim_result *r, const rela_claim_side *b)
{
    values va = { .n = 0 }, vb = { .n = 0 };
    const double *column_a = NULL, *column_b = NULL;
    rela_status st = collect_column(&va, d, &d->c->a, &column_a);
    if (st == RELA_OK && !b->is_number)
        st = collect_column(&vb, d, b, &column_b);
    if (st != RELA_OK || va.n == 0 || (!b->is_number && vb.n == 0))
        goto out;
    rela_study_effect mean;
    rela_study_mean(&mean, va.items, va.n);
    r->a = mean.value;
    rela_study_mean(&mean, vb.items, vb.n);
    r->b = b->is_number ? b->number : mean.value;
    if (d->c->area) {
        st = rela_study_area(&r->effect, va.items, va.n, vb.items, vb.n, d->err);
        if (st == RELA_OK && b->is_number)
            r->effect = NOTHING;
    } else if (b->is_number || (va.n == vb.n && column_a != column_b)) {
        for (size_t i = 0; i < va.n; i++)
            va.items[i] -= b->is_number ? b->number : vb.items[i];
        rela_study_mean(&r->effect, va.items, va.n);
    } else {
        rela_study_means(&r->effect, va.items, va.n, vb.items, vb.n);
    }
out:
    free_values(&va);
    free_values(&vb);
    return st;
}

/* ---- shapes over layers ---- */

static void middle_against_ends(decider *d, rela_claim_result *r, const values *v, int64_t last)
{
    double *middle = v->items + v->n, *ends = v->items + 2 * v->n; /* room made by collect */
    double sums[LAYERS_MAX] = { 0 }, counts[LAYERS_MAX] = { 0 };
    size_t n_middle = 0, n_ends = 0;
    for (size_t i = 0; i < v->n; i++) {
        const int64_t layer = v->facts[i]->key.layer;
        if (layer > 0 && layer < last)
            middle[n_middle++] = v->items[i];
        else
            ends[n_ends++] = v->items[i];
        sums[layer] += v->items[i];
        counts[layer]++;
    }
    if (n_middle == 0)
        return;
    rela_study_means(&r->effect, middle, n_middle, ends, n_ends);
    r->a = rela_study_average(middle, n_middle);
    r->b = rela_study_average(ends, n_ends);
    const double sign = d->c->rule == RELA_CLAIM_PEAK ? 1 : -1;
    int64_t top = 0;
    for (int64_t i = 1; i <= last; i++)
        if (counts[i] && sign * sums[i] / counts[i] > sign * sums[top] / counts[top])
            top = i;
    r->layer = top;
    r->verdict = top == 0 || top == last ? RELA_VERDICT_OPEN : RELA_VERDICT_HOLDS;
}

static rela_status shape(decider *d, rela_claim_result *r)
{
    values v = { .n = 0 };
    const rela_status st = collect(&v, d, &d->c->a);
    int64_t last = 0;
    for (size_t i = 0; i < v.n; i++)
        last = v.facts[i]->key.layer > last ? v.facts[i]->key.layer : last;
    if (st != RELA_OK || v.n == 0 || last >= LAYERS_MAX)
        goto out;
    if (d->c->rule == RELA_CLAIM_PEAK || d->c->rule == RELA_CLAIM_TROUGH) {
        middle_against_ends(d, r, &v, last);
    } else if (last > 0) {
        double *x = v.items + v.n;
        for (size_t i = 0; i < v.n; i++)
            x[i] = (double)v.facts[i]->key.layer;
        rela_study_slope(&r->effect, x, v.items, v.n);
    }
out:
    free_values(&v);
    return st;
}

/* Every run must stay above the bound, or have ended without a figure that is a number. */
static rela_status breaks(decider *d, rela_claim_result *r, const rela_claim_side *b)
{
    size_t at = 0;
    double least = INFINITY;
    const double bound = b ? b->number : (double)INFINITY; /* the reader has asked for one */
    for (const rela_fact *f; (f = rela_facts_next(d->facts, &d->c->a.key, &at)); r->effect.n++)
        least = f->value < least ? f->value : least;
    r->verdict = r->effect.n == 0 ? RELA_VERDICT_NOT_RUN
                 : least >= bound ? RELA_VERDICT_HOLDS
                                  : RELA_VERDICT_REFUTED;
    if (r->effect.n == 0)
        return RELA_OK;
    r->a = least;
    r->b = bound;
    r->effect.value = least - bound;
    r->effect.low = -INFINITY;
    r->effect.high = INFINITY;
    return RELA_OK;
}

/* ---- values ---- */

static rela_fact_key narrowed(const decider *d, const rela_claim_side *s)
{
    rela_fact_key key = s->key;
    const rela_claim_units units = d->c->units;
    if (units == RELA_UNITS_HEADS)
        key.head = RELA_FACT_EACH;
    if (units == RELA_UNITS_LAYERS)
        key.head = RELA_FACT_NONE;
    if (units == RELA_UNITS_HEADS || units == RELA_UNITS_LAYERS)
        key.layer = key.layer == RELA_FACT_ANY ? RELA_FACT_EACH : key.layer;
    if (d->layer != RELA_FACT_NONE)
        key.layer = d->layer;
    return key;
}

/* Three times the room, for callers that sort them apart. */
static rela_status collect(values *out, const decider *d, const rela_claim_side *s)
{
    const rela_fact_key key = narrowed(d, s);
    size_t n = 0, at = 0;
    (void)rela_facts_mean(d->facts, &key, &n);
    out->items = rela_mem_array(3 * n + 1, sizeof *out->items);
    out->facts = rela_mem_array(n + 1, sizeof(void *));
    if (!out->items || !out->facts)
        return rela_fail(d->err, RELA_NOMEM, "no memory for %zu values", n);
    for (const rela_fact *f; (f = rela_facts_next(d->facts, &key, &at));) {
        const double value = d->c->ratio ? log(f->value) : f->value;
        if (!isfinite(value))
            continue;
        out->facts[out->n] = f;
        out->items[out->n++] = value;
    }
    return RELA_OK;
}

/* All columns that match, one after the other. */
static rela_status collect_column(values *out, const decider *d, const rela_claim_side *s,
                                  const double **raw)
{
    rela_fact_key key = s->key;
    size_t n = 0;
    if (d->layer != RELA_FACT_NONE)
        key.layer = d->layer;
    for (size_t i = 0; i < d->facts->n_columns; i++)
        n += rela_fact_matches(&d->facts->columns[i].key, &key) ? d->facts->columns[i].n : 0;
    out->items = rela_mem_array(n + 1, sizeof *out->items);
    if (!out->items)
        return rela_fail(d->err, RELA_NOMEM, "no memory for %zu values", n);
    for (size_t i = 0; i < d->facts->n_columns; i++) {
        const rela_fact_column *column = &d->facts->columns[i];
        if (!rela_fact_matches(&column->key, &key))
            continue;
        *raw = column->values;
        for (size_t j = 0; j < column->n; j++)
            if (!s->label || (column->labels && strcmp(column->labels[j], s->label) == 0))
                out->items[out->n++] = column->values[j];
    }
    return RELA_OK;
}

static void free_values(values *v)
{
    rela_mem_free(v->items);
    rela_mem_free(v->facts);
}

/* ---- where it comes from ---- */

static void note_job(const char **jobs, size_t *n, const char *job)
{
    for (size_t i = 0; i < *n; i++)
        if (!job || strcmp(jobs[i], job) == 0)
            return;
    if (job && *n < JOBS_MAX)
        jobs[(*n)++] = job;
}

static void note_jobs(const char **jobs, size_t *n, const rela_facts *f, const rela_fact_key *key)
{
    size_t at = 0;
    for (const rela_fact *fact; (fact = rela_facts_next(f, key, &at));)
        note_job(jobs, n, fact->job);
    for (size_t i = 0; i < f->n_scores; i++)
        if (rela_fact_matches(&f->scores[i].key, key))
            note_job(jobs, n, f->scores[i].job);
    for (size_t i = 0; i < f->n_columns; i++)
        if (rela_fact_matches(&f->columns[i].key, key))
            note_job(jobs, n, f->columns[i].job);
}

static const char *join_jobs(decider *d, const rela_claim_side *a, const rela_claim_side *b)
{
    const char *jobs[JOBS_MAX];
    size_t n = 0;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    note_jobs(jobs, &n, d->facts, &a->key);
    if (b && !b->is_number)
        note_jobs(jobs, &n, d->facts, &b->key);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_printf(&text, d->err, "%s%s", i ? " " : "", jobs[i]);
    const char *joined =
        st == RELA_OK ? rela_facts_text(d->facts, text.data ? text.data : "", text.len) : NULL;
    rela_buffer_free(&text);
    return joined;
}

static bool has_scores(const rela_facts *f, const char *measure)
{
    for (size_t i = 0; i < f->n_scores; i++)
        if (strcmp(f->scores[i].key.measure, measure) == 0)
            return true;
    return false;
}
