/* SPDX-License-Identifier: MIT */
/* src/data/corpus_check.c - rela_corpus_check of rela/corpus.h: rules, lengths and padding of a
 * corpus. */
#include "rela/corpus.h"

#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "base/str.h"
#include "data/batch.h"

#include <inttypes.h>

enum { SOURCE, TARGET, SIDES };
enum { BATCH_TOKENS = 4096, MEMORY = 256 << 20, LENGTHS = RELA_CORPUS_TOKENS_MAX + 1 };

static rela_status check(rela_corpus_report *report, rela_corpus_stats *stats,
                         const rela_corpus_check_options *o, rela_error *err);
static rela_status encode_words(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                                rela_error *err);
static rela_status measure_lengths(rela_corpus_lengths *out, const rela_store *store, size_t side,
                                   rela_error *err);
static uint32_t quantile(const uint32_t *count, uint64_t n, double share);
static rela_status measure_padding(rela_corpus_stats *out, const rela_store *store,
                                   const rela_corpus_check_options *o, rela_error *err);
static rela_status put_json_side(rela_buffer *out, const char *name, const rela_corpus_lengths *l,
                                 rela_error *err);

void rela_corpus_check_options_init(rela_corpus_check_options *o, size_t size)
{
    const rela_corpus_check_options defaults = {
        .struct_size = size, .batch_tokens = BATCH_TOKENS, .seed = 1, .memory = MEMORY
    };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_corpus_check(rela_corpus_report *report, rela_corpus_stats *stats,
                              const rela_corpus_check_options *o, rela_error *err)
{
    rela_corpus_check_options own;
    rela_corpus_report counted = { .read = 0 };
    rela_corpus_stats measured = { .batches = 0 };
    rela_corpus_check_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_corpus_check_options", err);
    if (st == RELA_OK && report)
        st = rela_sized_check(report, sizeof *report, "rela_corpus_report", err);
    if (st == RELA_OK && stats)
        st = rela_sized_check(stats, sizeof *stats, "rela_corpus_stats", err);
    if (st != RELA_OK)
        return st;
    st = check(&counted, &measured, &own, err);
    rela_sized_give(report, &counted, sizeof counted);
    rela_sized_give(stats, &measured, sizeof measured);
    return st;
}

static rela_status check(rela_corpus_report *report, rela_corpus_stats *stats,
                         const rela_corpus_check_options *o, rela_error *err)
{
    if (!o->src)
        return rela_fail(err, RELA_ARG, "no source file is given");
    if (o->batch_tokens < 1 || o->batch_tokens > INT32_MAX)
        return rela_fail(err, RELA_ARG, "batch_tokens is %lld; expected 1..%d",
                         (long long)o->batch_tokens, INT32_MAX);
    rela_store *store = NULL;
    const rela_corpus_files files = { .side = { o->src, o->tgt } };
    rela_corpus_job job = { .files = &files,
                            .n_files = 1,
                            .n_sides = SIDES,
                            .n_threads = rela_par_threads(o->n_threads),
                            .encode = encode_words,
                            .progress = o->progress,
                            .progress_ctx = o->progress_ctx };
    rela_corpus_rules_init(&job.rules, sizeof job.rules);
    rela_status st =
        rela_sized_take(&job.rules, sizeof job.rules, o->rules, "rela_corpus_rules", err);
    st = st ? st : rela_store_read(&store, report, &job, o->memory, o->scratch_dir, err);
    for (size_t side = 0; side < SIDES && st == RELA_OK; side++)
        st = measure_lengths(&stats->side[side], store, side, err);
    if (st == RELA_OK)
        st = measure_padding(stats, store, o, err);
    rela_store_destroy(store);
    return st;
}

rela_status rela_corpus_stats_table(rela_buffer *out, const rela_corpus_report *report,
                                    const rela_corpus_stats *stats, rela_error *err)
{
    rela_corpus_stats own = { .batches = 0 };
    rela_status st = rela_sized_take(&own, sizeof own, stats, "rela_corpus_stats", err);
    const rela_corpus_lengths *s = &own.side[SOURCE], *t = &own.side[TARGET];
    const struct {
        const char *name;
        uint64_t value[SIDES];
    } rows[] = {
        { "shortest", { s->shortest, t->shortest } }, { "median", { s->median, t->median } },
        { "95 % have at most", { s->p95, t->p95 } },  { "99 % have at most", { s->p99, t->p99 } },
        { "longest", { s->longest, t->longest } },
    };
    char n[SIDES][RELA_GROUPED_SIZE];
    st = st ? st : rela_corpus_report_table(out, report, err);
    if (st == RELA_OK)
        st = rela_buffer_printf(
            out, err, "\n%-28s %12s %12s\n%-28s %12s %12s\n%-28s %12.2f %12.2f\n",
            "tokens of kept pairs", "source", "target", "in all", rela_grouped(n[0], s->tokens),
            rela_grouped(n[1], t->tokens), "mean", s->mean, t->mean);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0] && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%-28s %12s %12s\n", rows[i].name,
                                rela_grouped(n[0], rows[i].value[0]),
                                rela_grouped(n[1], rows[i].value[1]));
    if (st != RELA_OK)
        return st;
    return rela_buffer_printf(
        out, err, "\nbatches of %s target tokens: %s, padding would be %.2f %%\n",
        rela_grouped(n[0], own.batch_tokens), rela_grouped(n[1], own.batches), 100.0 * own.padding);
}

rela_status rela_corpus_stats_json(rela_buffer *out, const rela_corpus_report *report,
                                   const rela_corpus_stats *stats, rela_error *err)
{
    rela_corpus_stats own = { .batches = 0 };
    rela_status st = rela_sized_take(&own, sizeof own, stats, "rela_corpus_stats", err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, "{\"pairs\": ", err);
    if (st == RELA_OK)
        st = rela_corpus_report_json(out, report, err);
    if (st == RELA_OK)
        st = put_json_side(out, "source", &own.side[SOURCE], err);
    if (st == RELA_OK)
        st = put_json_side(out, "target", &own.side[TARGET], err);
    if (st != RELA_OK)
        return st;
    return rela_buffer_printf(
        out, err, ", \"batch_tokens\": %" PRIu64 ", \"batches\": %" PRIu64 ", \"padding\": %.6f}\n",
        own.batch_tokens, own.batches, own.padding);
}

/* Only lengths matter here: every word gets the same id. */
static rela_status encode_words(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                                rela_error *err)
{
    (void)ctx, (void)thread;
    const char *at = line->text, *end = at + line->len;
    rela_span word;
    rela_status st = RELA_OK;
    while (st == RELA_OK && rela_next_word(&word, &at, end))
        st = rela_ids_push(out, 0, err);
    return st;
}

static rela_status measure_lengths(rela_corpus_lengths *out, const rela_store *store, size_t side,
                                   rela_error *err)
{
    const uint32_t n = rela_store_size(store);
    uint32_t *count = rela_mem_zalloc(LENGTHS * sizeof *count);
    if (!count)
        return rela_fail(err, RELA_NOMEM, "no memory to count lengths");
    for (uint32_t i = 0; i < n; i++)
        count[rela_store_length(store, i, side)]++;
    out->tokens = rela_store_tokens(store, side);
    out->mean = n ? (double)out->tokens / (double)n : 0.0;
    out->shortest = quantile(count, n, 0.0);
    out->median = quantile(count, n, 0.5);
    out->p95 = quantile(count, n, 0.95);
    out->p99 = quantile(count, n, 0.99);
    out->longest = quantile(count, n, 1.0);
    rela_mem_free(count);
    return RELA_OK;
}

/* The smallest length that at least this share of the n sentences does not exceed. */
static uint32_t quantile(const uint32_t *count, uint64_t n, double share)
{
    uint64_t seen = 0;
    for (uint32_t len = 0; len < LENGTHS && n; len++) {
        seen += count[len];
        if (seen && (double)seen >= share * (double)n)
            return len;
    }
    return 0;
}

static rela_status measure_padding(rela_corpus_stats *out, const rela_store *store,
                                   const rela_corpus_check_options *o, rela_error *err)
{
    rela_batches *batches = NULL;
    rela_batches_options options;
    out->batch_tokens = (uint64_t)o->batch_tokens;
    if (rela_store_size(store) == 0)
        return RELA_OK;
    rela_batches_options_init(&options, (uint32_t)o->batch_tokens);
    options.order.seed = o->seed;
    rela_status st = rela_batches_create(&batches, store, &options, err);
    rela_batch batch = { .last = false };
    while (st == RELA_OK && !batch.last)
        st = rela_batches_next(batches, &batch, err);
    if (st == RELA_OK) {
        const rela_padding p = rela_batches_padding(batches);
        out->batches = p.batches;
        out->padding = rela_padding_share(p);
    }
    rela_batches_destroy(batches);
    return st;
}

static rela_status put_json_side(rela_buffer *out, const char *name, const rela_corpus_lengths *l,
                                 rela_error *err)
{
    return rela_buffer_printf(out, err,
                              ", \"%s\": {\"tokens\": %" PRIu64
                              ", \"mean\": %.4f, \"shortest\": %u, \"median\": %u, \"p95\": %u, "
                              "\"p99\": %u, \"longest\": %u}",
                              name, l->tokens, l->mean, l->shortest, l->median, l->p95, l->p99,
                              l->longest);
}
