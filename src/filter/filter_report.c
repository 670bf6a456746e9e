/* SPDX-License-Identifier: MIT */
/* src/filter/filter_report.c - the report of a filter run, as text and as JSON. */
#include "base/sized.h"
#include "base/str.h"
#include "rela/analyse.h"

static const char *const KEYS[] = {
#define RELA_X(name, key, text) key,
    RELA_FILTER_REASON_MAP(RELA_X)
#undef RELA_X
};

_Static_assert((int)RELA_FILTER_N_REASONS <= (int)RELA_FILTER_REASONS_MAX,
               "the report has no room");

static const char *const TEXTS[] = {
#define RELA_X(name, key, text) text,
    RELA_FILTER_REASON_MAP(RELA_X)
#undef RELA_X
};

const char *rela_filter_reason_key(rela_filter_reason reason)
{
    return (unsigned)reason < RELA_FILTER_N_REASONS ? KEYS[reason] : NULL;
}

const char *rela_filter_reason_text(rela_filter_reason reason)
{
    return (unsigned)reason < RELA_FILTER_N_REASONS ? TEXTS[reason] : NULL;
}

rela_status rela_filter_report_table(rela_buffer *out, const rela_filter_report *given,
                                     rela_error *err)
{
    rela_filter_report own = { .read = 0 };
    const rela_filter_report *r = &own;
    char n[RELA_GROUPED_SIZE];
    rela_status st = rela_sized_take(&own, sizeof own, given, "rela_filter_report", err);
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "%-10s %12s\n", "read", rela_grouped(n, r->read));
    for (int i = 0; i < RELA_FILTER_N_REASONS && st == RELA_OK; i++)
        if (i == RELA_FILTER_KEPT || r->count[i])
            st = rela_buffer_printf(
                out, err, "%-10s %12s %6.2f %%%s%s\n", KEYS[i], rela_grouped(n, r->count[i]),
                r->read ? 100 * (double)r->count[i] / (double)r->read : 0,
                i == RELA_FILTER_KEPT ? "" : "  ", i == RELA_FILTER_KEPT ? "" : TEXTS[i]);
    return st;
}

rela_status rela_filter_report_json(rela_buffer *out, const rela_filter_report *given,
                                    rela_error *err)
{
    rela_filter_report own = { .read = 0 };
    const rela_filter_report *r = &own;
    rela_status st = rela_sized_take(&own, sizeof own, given, "rela_filter_report", err);
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "{\"read\": %llu", (unsigned long long)r->read);
    for (int i = 0; i < RELA_FILTER_N_REASONS && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, ", \"%s\": %llu", KEYS[i],
                                (unsigned long long)r->count[i]);
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, ", \"cut\": %.9g, \"mean_score\": %.9g", r->cut,
                                r->mean_score);
    if (st == RELA_OK && r->calibrated)
        st = rela_buffer_printf(out, err, ", \"calibrated\": %llu, \"auc\": %.9g",
                                (unsigned long long)r->calibrated, r->auc);
    return st == RELA_OK ? rela_buffer_append_text(out, "}\n", err) : st;
}
