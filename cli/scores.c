/* SPDX-License-Identifier: MIT */
/* cli/scores.c - see scores.h. */
#include "scores.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "row_jobs.h"

#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TOKENISED_MIN = 100, /* lines, as in sacrebleu */
    PATIENCE = 2000      /* milliseconds without input before we say that we wait */
};

/* Header of a block in rows->out, before its statistics. */
typedef struct block_head {
    uint64_t n_repaired, n_tokenised;
} block_head;

/* Lines of a block as segments. */
typedef struct block_text {
    rela_segment *segments;
    const char **refs; /* (n, n_refs) */
    size_t *lens;
} block_text;

static rela_status count_block(void *ctx, rela_cli_rows *rows, rela_error *err);
static rela_status count_system(uint32_t **at, block_head *head, const rela_cli_scoring *s,
                                const rela_cli_rows *rows, const block_text *t, size_t system,
                                rela_error *err);
static rela_status make_segments(block_text *t, const rela_cli_scoring *s,
                                 const rela_cli_rows *rows, rela_error *err);
static void free_segments(block_text *t);
static uint64_t count_bad(const rela_cli_rows *rows, size_t n_files);
static rela_status add_block(void *ctx, const rela_cli_rows *rows, rela_error *err);
static rela_status report_lines(rela_buffer *out, bool json, const rela_cli_scoring *s,
                                const rela_metric *m, int64_t width, rela_error *err);
static rela_status report_text(rela_buffer *out, const rela_cli_scoring *s,
                               const rela_cli_score_options *o, const rela_interval *interval,
                               const char *signature, const rela_cli_details *details,
                               rela_error *err);
static rela_status report_json(rela_buffer *out, const rela_cli_scoring *s,
                               const rela_interval *interval, const char *signature,
                               const rela_cli_details *details, rela_error *err);

/* Users of other tools name the translation after the reference. */
static rela_status fail_no_input(const rela_cli *cli, const rela_cli_scoring *s, rela_status status,
                                 const char *what, rela_error *err)
{
    const char *hypothesis = s->refs.items[s->refs.n - 1], *name = cli->command->name;
    return rela_fail(err, status, "%s; to score %s against %s: rela %s %s -i %s", what, hypothesis,
                     s->refs.items[0], name, s->refs.items[0], hypothesis);
}

static bool reads_unasked(const rela_cli *cli, const rela_cli_scoring *s)
{
    return s->systems.n == 1 && strcmp(s->systems.items[0], "-") == 0 &&
           !rela_options_given(cli->state, "input");
}

/* Such as /dev/null, or what is left of a pipe that has ended. */
static bool is_empty(const struct pollfd *input)
{
    struct stat file;
    if (fstat(input->fd, &file) != 0)
        return false;
    return S_ISCHR(file.st_mode) || (S_ISREG(file.st_mode) && file.st_size == 0) ||
           ((input->revents & POLLHUP) && !(input->revents & POLLIN));
}

static rela_status check_input(rela_cli *cli, const rela_cli_scoring *s, rela_error *err)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    if (!reads_unasked(cli, s))
        return RELA_OK;
    if (isatty(STDIN_FILENO)) /* one reference: a translation may be typed */
        return s->refs.n < 2 ? RELA_OK : fail_no_input(cli, s, RELA_ARG, "no translation", err);
    if (poll(&input, 1, PATIENCE) != 0)
        return s->refs.n > 1 && is_empty(&input)
                   ? fail_no_input(cli, s, RELA_FORMAT, "no translation on standard input", err)
                   : RELA_OK;
    const char *name = cli->command->name, *ref = s->refs.items[0];
    rela_log_line(&cli->sink, RELA_LOG_INFO,
                  "waiting for the translation on standard input; for one in a file: rela %s %s -i "
                  "%s",
                  name, ref, s->refs.n < 2 ? "FILE" : s->refs.items[s->refs.n - 1]);
    return RELA_OK;
}

rela_status rela_cli_count(rela_cli *cli, rela_cli_scoring *s, rela_error *err)
{
    const rela_status ready = check_input(cli, s, err);
    if (ready != RELA_OK)
        return ready;
    const char *files[2 * RELA_CLI_FILES_MAX];
    const size_t n_systems = s->systems.n, n_refs = s->refs.n;
    if (n_systems > RELA_CLI_FILES_MAX || n_refs > RELA_CLI_FILES_MAX)
        return rela_fail(err, RELA_ARG, "more than %d files", RELA_CLI_FILES_MAX);
    for (size_t i = 0; i < n_systems; i++)
        files[i] = s->systems.items[i];
    for (size_t i = 0; i < n_refs; i++)
        files[n_systems + i] = s->refs.items[i];
    s->counts = rela_mem_zalloc(n_systems * s->n_metrics * sizeof *s->counts);
    if (!s->counts)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu systems", n_systems);
    const rela_cli_steps job = { .files = { files, n_systems + n_refs },
                                 .label = "counting",
                                 .work = count_block,
                                 .done = add_block,
                                 .ctx = s };
    return rela_cli_run_steps(cli, &job, err);
}

void rela_cli_scoring_free(rela_cli_scoring *s)
{
    for (size_t i = 0; s->counts && i < s->systems.n * s->n_metrics; i++)
        rela_mem_free(s->counts[i].stats);
    rela_mem_free(s->counts);
    s->counts = NULL;
}

rela_scored rela_cli_scored(const rela_cli_scoring *s, size_t system, size_t metric)
{
    const rela_metric *m = s->metrics[metric];
    return (rela_scored){ .stats = s->counts[system * s->n_metrics + metric].stats,
                          .n = (size_t)s->n_lines,
                          .k = rela_metric_n_stats(m),
                          .score = rela_metric_score_fn,
                          .ctx = m };
}

void rela_cli_warn(rela_cli *cli, const rela_cli_scoring *s, bool tokenised)
{
    if (s->n_repaired)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%llu line%s not UTF-8; bad bytes count as U+FFFD",
                      (unsigned long long)s->n_repaired, s->n_repaired == 1 ? " is" : "s are");
    if (tokenised && s->n_tokenised >= TOKENISED_MIN)
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "%llu lines end in a tokenised period (' .'); the text should be "
                      "detokenised, or the score is too low; --force silences this",
                      (unsigned long long)s->n_tokenised);
}

rela_status rela_cli_report(rela_cli *cli, const rela_cli_scoring *s, const rela_metric *lines,
                            const rela_cli_score_options *o, const rela_cli_details *details,
                            rela_error *err)
{
    rela_status st = RELA_OK;
    rela_buffer out = RELA_BUFFER_INIT, sign = RELA_BUFFER_INIT;
    rela_interval interval = { 0, 0, 0, 0 };
    const rela_signature signature = { .struct_size = sizeof signature,
                                       .n_refs = s->refs.n,
                                       .bootstrap = o->confidence ? o->samples : 0,
                                       .seed = (uint64_t)cli->common.seed };
    if (o->confidence && !o->sentence) {
        const rela_scored scored = rela_cli_scored(s, 0, 0);
        const rela_resampling r = { .struct_size = sizeof r,
                                    .samples = o->samples,
                                    .seed = (uint64_t)cli->common.seed,
                                    .n_threads = (int32_t)cli->common.threads };
        st = rela_bootstrap(&interval, &scored, &r, err);
    }
    if (st == RELA_OK)
        st = rela_metric_signature(&sign, s->metrics[0], &signature, err);
    const rela_interval *shown = o->confidence ? &interval : NULL;
    if (st == RELA_OK && o->sentence)
        st = report_lines(&out, cli->common.json, s, lines, o->width, err);
    else if (st == RELA_OK && cli->common.json)
        st = report_json(&out, s, shown, sign.data, details, err);
    else if (st == RELA_OK)
        st = report_text(&out, s, o, shown, sign.data, details, err);
    if (st == RELA_OK)
        st = rela_cli_print(&out, err);
    rela_buffer_free(&sign);
    rela_buffer_free(&out);
    return st;
}

rela_status rela_cli_json_text(rela_buffer *out, const char *text, rela_error *err)
{
    rela_buffer good = RELA_BUFFER_INIT;
    size_t n_bad = 0;
    rela_status st = rela_utf8_repair(&good, &n_bad, text, strlen(text), err);
    if (st == RELA_OK)
        st = rela_buffer_append_char(out, '"', err);
    for (size_t i = 0; i < good.len && st == RELA_OK; i++) {
        const unsigned char c = (unsigned char)good.data[i];
        if (c == '"' || c == '\\')
            st = rela_buffer_printf(out, err, "\\%c", c);
        else if (c < 0x20)
            st = rela_buffer_printf(out, err, "\\u%04x", c);
        else
            st = rela_buffer_append_char(out, (char)c, err);
    }
    if (st == RELA_OK)
        st = rela_buffer_append_char(out, '"', err);
    rela_buffer_free(&good);
    return st;
}

rela_status rela_cli_json_interval(rela_buffer *out, const char *name, const rela_interval *i,
                                   rela_error *err)
{
    return rela_buffer_printf(
        out, err, ", \"%s\": {\"mean\": %.17g, \"low\": %.17g, \"high\": %.17g, \"half\": %.17g}",
        name, i->mean, i->low, i->high, i->half);
}

static rela_status count_block(void *ctx, rela_cli_rows *rows, rela_error *err)
{
    const rela_cli_scoring *s = ctx;
    block_text t = { NULL, NULL, NULL };
    block_head head = { 0, 0 };
    size_t per_line = 0;
    for (size_t i = 0; i < s->n_metrics; i++)
        per_line += rela_metric_n_stats(s->metrics[i]);
    const size_t size = sizeof head + rows->n * s->systems.n * per_line * sizeof(uint32_t);
    rela_status st = rela_buffer_reserve(&rows->out, size, err);
    if (st == RELA_OK)
        st = make_segments(&t, s, rows, err);
    uint32_t *at = st == RELA_OK ? (uint32_t *)(void *)(rows->out.data + sizeof head) : NULL;
    for (size_t i = 0; i < s->systems.n && st == RELA_OK; i++)
        st = count_system(&at, &head, s, rows, &t, i, err);
    if (st == RELA_OK) {
        head.n_repaired = count_bad(rows, s->systems.n + s->refs.n);
        memcpy(rows->out.data, &head, sizeof head);
        rows->out.len = size;
    }
    free_segments(&t);
    return st;
}

static rela_status count_system(uint32_t **at, block_head *head, const rela_cli_scoring *s,
                                const rela_cli_rows *rows, const block_text *t, size_t system,
                                rela_error *err)
{
    const size_t n_files = s->systems.n + s->refs.n;
    for (size_t i = 0; i < rows->n; i++) {
        const rela_span hyp = rows->lines[i * n_files + system];
        const size_t len = rela_segment_end(hyp.text, hyp.len);
        t->segments[i].hyp = hyp.text;
        t->segments[i].hyp_len = len;
        head->n_tokenised += len > 1 && memcmp(hyp.text + len - 2, " .", 2) == 0;
    }
    for (size_t i = 0; i < s->n_metrics; i++) {
        const rela_status st = rela_metric_count(*at, s->metrics[i], t->segments, rows->n, 1, err);
        if (st != RELA_OK)
            return st;
        *at += rows->n * rela_metric_n_stats(s->metrics[i]);
    }
    return RELA_OK;
}

static rela_status make_segments(block_text *t, const rela_cli_scoring *s,
                                 const rela_cli_rows *rows, rela_error *err)
{
    const size_t n_refs = s->refs.n, n_files = s->systems.n + n_refs;
    t->segments = rela_mem_array(rows->n, sizeof *t->segments);
    t->refs = rela_mem_array(rows->n * n_refs, sizeof *t->refs);
    t->lens = rela_mem_array(rows->n * n_refs, sizeof *t->lens);
    if (!t->segments || !t->refs || !t->lens)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu lines", rows->n);
    for (size_t i = 0; i < rows->n; i++) {
        for (size_t r = 0; r < n_refs; r++) {
            const rela_span ref = rows->lines[i * n_files + s->systems.n + r];
            t->refs[i * n_refs + r] = ref.text;
            t->lens[i * n_refs + r] = rela_segment_end(ref.text, ref.len);
        }
        t->segments[i] = (rela_segment){ .refs = t->refs + i * n_refs,
                                         .ref_lens = t->lens + i * n_refs,
                                         .n_refs = n_refs };
    }
    return RELA_OK;
}

static void free_segments(block_text *t)
{
    rela_mem_free(t->segments);
    rela_mem_free(t->refs);
    rela_mem_free(t->lens);
}

/* Counts lines that are not UTF-8 in at least one file. */
static uint64_t count_bad(const rela_cli_rows *rows, size_t n_files)
{
    uint64_t n_bad = 0;
    for (size_t i = 0; i < rows->n; i++) {
        bool good = true;
        for (size_t f = 0; f < n_files && good; f++) {
            const rela_span s = rows->lines[i * n_files + f];
            good = rela_utf8_valid(s.text, s.len) == s.len;
        }
        n_bad += !good;
    }
    return n_bad;
}

/* Appends the statistics of a block to the tables. */
static rela_status add_block(void *ctx, const rela_cli_rows *rows, rela_error *err)
{
    rela_cli_scoring *s = ctx;
    block_head head;
    memcpy(&head, rows->out.data, sizeof head);
    const uint32_t *at = (const uint32_t *)(const void *)(rows->out.data + sizeof head);
    for (size_t i = 0; i < s->systems.n * s->n_metrics; i++) {
        rela_cli_counts *c = &s->counts[i];
        const size_t k = rela_metric_n_stats(s->metrics[i % s->n_metrics]);
        const size_t used = (size_t)s->n_lines * k, more = rows->n * k;
        uint32_t *stats = rela_mem_grow(c->stats, &c->cap, used + more, sizeof *stats);
        if (!stats)
            return rela_fail(err, RELA_NOMEM, "no memory for the statistics of %llu lines",
                             (unsigned long long)s->n_lines);
        c->stats = stats;
        memcpy(stats + used, at, more * sizeof *stats);
        rela_stats_add(c->sums, at, rows->n, k);
        at += more;
    }
    s->n_lines += rows->n;
    s->n_repaired += head.n_repaired;
    s->n_tokenised += head.n_tokenised;
    return RELA_OK;
}

static rela_status report_lines(rela_buffer *out, bool json, const rela_cli_scoring *s,
                                const rela_metric *m, int64_t width, rela_error *err)
{
    const size_t k = rela_metric_n_stats(m);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_lines && st == RELA_OK; i++) {
        uint64_t sums[RELA_STATS_MAX] = { 0 };
        rela_stats_add(sums, s->counts[0].stats + i * k, 1, k);
        const double score = rela_metric_score(m, sums);
        st = json ? rela_buffer_printf(out, err, "{\"line\": %zu, \"score\": %.17g}\n", i, score)
                  : rela_buffer_printf(out, err, "%.*f\n", (int)width, score);
    }
    return st;
}

static rela_status report_text(rela_buffer *out, const rela_cli_scoring *s,
                               const rela_cli_score_options *o, const rela_interval *interval,
                               const char *signature, const rela_cli_details *details,
                               rela_error *err)
{
    const rela_metric *m = s->metrics[0];
    const int width = (int)o->width;
    rela_status st = RELA_OK;
    if (!o->score_only)
        st = rela_buffer_printf(out, err, "%s|%s = ", rela_metric_name(m), signature);
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, "%.*f", width, rela_metric_score(m, s->counts[0].sums));
    if (st == RELA_OK && interval)
        st = rela_buffer_printf(out, err, " (\xCE\xBC = %.*f \xC2\xB1 %.*f)", width, interval->mean,
                                width, interval->half);
    if (st == RELA_OK && !o->score_only && details) {
        st = rela_buffer_append_char(out, ' ', err);
        if (st == RELA_OK)
            st = details->text(out, m, s->counts[0].sums, err);
    }
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

static rela_status report_json(rela_buffer *out, const rela_cli_scoring *s,
                               const rela_interval *interval, const char *signature,
                               const rela_cli_details *details, rela_error *err)
{
    const rela_metric *m = s->metrics[0];
    rela_status st = rela_buffer_printf(
        out, err, "{\"name\": \"%s\", \"score\": %.17g, \"signature\": \"%s\", \"lines\": %llu",
        rela_metric_name(m), rela_metric_score(m, s->counts[0].sums), signature,
        (unsigned long long)s->n_lines);
    if (st == RELA_OK && details)
        st = details->json(out, m, s->counts[0].sums, err);
    if (st == RELA_OK && interval)
        st = rela_cli_json_interval(out, "confidence", interval, err);
    return st == RELA_OK ? rela_buffer_append_text(out, "}\n", err) : st;
}
