/* SPDX-License-Identifier: MIT */
/* src/data/corpus_report.c - the reports of rela/corpus.h as tables and as JSON. */
#include "rela/corpus.h"

#include "base/sized.h"
#include "base/str.h"

#include <inttypes.h>

static const char *const KEY[] = {
#define RELA_X(name, key, text) key,
    RELA_CORPUS_REASON_MAP(RELA_X)
#undef RELA_X
};

_Static_assert((int)RELA_CORPUS_N_REASONS <= (int)RELA_CORPUS_REASONS_MAX,
               "the report has no room");

static const char *const TEXT[] = {
#define RELA_X(name, key, text) text,
    RELA_CORPUS_REASON_MAP(RELA_X)
#undef RELA_X
};

static rela_status put_row(rela_buffer *out, const char *name, uint64_t n, uint64_t of,
                           rela_error *err);
static rela_status put_offenders(rela_buffer *out, const rela_corpus_report *r, int reason,
                                 rela_error *err);
static rela_status put_note(rela_buffer *out, const char *text, uint64_t n, rela_error *err);
static rela_status put_json_reason(rela_buffer *out, const rela_corpus_report *r, int reason,
                                   rela_error *err);

void rela_corpus_rules_init(rela_corpus_rules *rules, size_t size)
{
    const rela_corpus_rules defaults = { .struct_size = size,
                                         .max_line = RELA_CORPUS_LINE_MAX,
                                         .max_tokens = RELA_CORPUS_TOKENS_MAX };
    rela_sized_init(rules, size, &defaults, sizeof defaults);
}

const char *rela_corpus_reason_key(rela_corpus_reason reason)
{
    return (unsigned)reason < RELA_CORPUS_N_REASONS ? KEY[reason] : NULL;
}

const char *rela_corpus_reason_text(rela_corpus_reason reason)
{
    return (unsigned)reason < RELA_CORPUS_N_REASONS ? TEXT[reason] : NULL;
}

rela_status rela_corpus_report_table(rela_buffer *out, const rela_corpus_report *given,
                                     rela_error *err)
{
    rela_corpus_report own = { .read = 0 };
    const rela_corpus_report *report = &own;
    rela_status st = rela_sized_take(&own, sizeof own, given, "rela_corpus_report", err);
    if (st == RELA_OK)
        st = put_row(out, "pairs read", report->read, report->read, err);
    if (st == RELA_OK)
        st = put_row(out, "kept", report->kept, report->read, err);
    if (st == RELA_OK)
        st = put_row(out, "dropped", report->read - report->kept, report->read, err);
    for (int i = 0; i < RELA_CORPUS_N_REASONS && st == RELA_OK; i++)
        if (report->dropped[i])
            st = put_offenders(out, report, i, err);
    if (st == RELA_OK)
        st = put_note(out, "byte order marks removed", report->marks, err);
    if (st == RELA_OK)
        st = put_note(out, "CR before LF removed", report->returns, err);
    if (st == RELA_OK)
        st = put_note(out, "pairs with NUL kept", report->nuls, err);
    if (st == RELA_OK)
        st = put_note(out, "pairs cut", report->cut, err);
    return st;
}

rela_status rela_corpus_report_json(rela_buffer *out, const rela_corpus_report *given,
                                    rela_error *err)
{
    rela_corpus_report own = { .read = 0 };
    const rela_corpus_report *report = &own;
    rela_status st = rela_sized_take(&own, sizeof own, given, "rela_corpus_report", err);
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err,
                                "{\"read\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"dropped\": {",
                                report->read, report->kept);
    for (int i = 0; i < RELA_CORPUS_N_REASONS && st == RELA_OK; i++)
        st = put_json_reason(out, report, i, err);
    if (st != RELA_OK)
        return st;
    return rela_buffer_printf(out, err,
                              "}, \"marks\": %" PRIu64 ", \"returns\": %" PRIu64
                              ", \"nuls\": %" PRIu64 ", \"cut\": %" PRIu64 "}",
                              report->marks, report->returns, report->nuls, report->cut);
}

static rela_status put_row(rela_buffer *out, const char *name, uint64_t n, uint64_t of,
                           rela_error *err)
{
    const double share = of ? 100.0 * (double)n / (double)of : 0.0;
    char count[RELA_GROUPED_SIZE];
    return rela_buffer_printf(out, err, "%-28s %12s %7.2f %%\n", name, rela_grouped(count, n),
                              share);
}

static rela_status put_offenders(rela_buffer *out, const rela_corpus_report *r, int reason,
                                 rela_error *err)
{
    const uint64_t n = r->dropped[reason];
    const double share = 100.0 * (double)n / (double)r->read;
    char count[RELA_GROUPED_SIZE];
    rela_status st = rela_buffer_printf(out, err, "  %-26s %12s %7.2f %%  line%s", TEXT[reason],
                                        rela_grouped(count, n), share, rela_plural(n));
    for (uint64_t i = 0; i < n && i < RELA_CORPUS_SHOWN && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s %" PRIu64, i ? "," : "", r->first[reason][i] + 1);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, n > RELA_CORPUS_SHOWN ? " ...\n" : "\n", err);
    return st;
}

static rela_status put_note(rela_buffer *out, const char *text, uint64_t n, rela_error *err)
{
    char count[RELA_GROUPED_SIZE];
    return n ? rela_buffer_printf(out, err, "%-28s %12s\n", text, rela_grouped(count, n)) : RELA_OK;
}

static rela_status put_json_reason(rela_buffer *out, const rela_corpus_report *r, int reason,
                                   rela_error *err)
{
    const uint64_t n = r->dropped[reason];
    rela_status st = rela_buffer_printf(out, err, "%s\"%s\": {\"pairs\": %" PRIu64 ", \"first\": [",
                                        reason ? ", " : "", KEY[reason], n);
    for (uint64_t i = 0; i < n && i < RELA_CORPUS_SHOWN && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%" PRIu64, i ? ", " : "", r->first[reason][i]);
    return st == RELA_OK ? rela_buffer_append_text(out, "]}", err) : st;
}
