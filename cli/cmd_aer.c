/* SPDX-License-Identifier: MIT */
/* cli/cmd_aer.c - rela aer: alignment error rate of word links, with precision and recall. */
#include "row_jobs.h"
#include "scores.h"

typedef struct aer_options {
    const char *input, *src, *tgt;
    int64_t base, gold_base, samples, width;
    bool reverse, gold_reverse, sentence;
} aer_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "input", 'i', RELA_OPTION_FILE, offsetof(aer_options, input), 0, 0, "-", "FILE",
      "the links, one sentence pair per line; - is standard input" },
    { "base", 0, RELA_OPTION_INT, offsetof(aer_options, base), 0, 1, "0", "0|1",
      "number of the first word in the links" },
    { "gold-base", 0, RELA_OPTION_INT, offsetof(aer_options, gold_base), 0, 1, "0", "0|1",
      "number of the first word in GOLD" },
    { "reverse", 0, RELA_OPTION_FLAG, offsetof(aer_options, reverse), 0, 0, NULL, NULL,
      "the links have the target word first" },
    { "gold-reverse", 0, RELA_OPTION_FLAG, offsetof(aer_options, gold_reverse), 0, 0, NULL, NULL,
      "GOLD has the target word first" },
    { "src", 0, RELA_OPTION_FILE, offsetof(aer_options, src), 0, 0, NULL, "FILE",
      "source text; links beyond its words are an error" },
    { "tgt", 0, RELA_OPTION_FILE, offsetof(aer_options, tgt), 0, 0, NULL, "FILE",
      "target text; needed with --src" },
    { "sentence", 0, RELA_OPTION_FLAG, offsetof(aer_options, sentence), 0, 0, NULL, NULL,
      "print the scores of each sentence pair instead" },
    { "samples", 0, RELA_OPTION_INT, offsetof(aer_options, samples), 0, 1e7, "1000", "N",
      "bootstrap samples for the 95 % confidence interval; 0: none" },
    { "width", 'w', RELA_OPTION_INT, offsetof(aer_options, width), 0, 17, "1", "N",
      "digits after the decimal point" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "samples", "!sentence",
    "seed", "!sentence",
    NULL,
};
/* clang-format on */

enum { LINKS, GOLD, SRC, TGT, FILES_MAX };

typedef struct scoring {
    const aer_options *o;
    const char *files[FILES_MAX];
    size_t n_files;
    rela_buffer stats; /* (n_lines, RELA_AER_STATS) of uint32_t */
    uint64_t n_lines;
} scoring;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status count_block(void *ctx, rela_cli_rows *rows, rela_error *err);
static rela_status read_links(rela_links *out, const scoring *s, const rela_cli_rows *rows,
                              size_t row, int file, rela_error *err);
static size_t count_words(rela_span s);
static rela_status add_block(void *ctx, const rela_cli_rows *rows, rela_error *err);
static rela_status report(rela_cli *cli, const scoring *s, rela_error *err);
static rela_status append_lines(rela_buffer *out, bool json, const scoring *s, rela_error *err);
static rela_status append_line(rela_buffer *out, const scoring *s, const rela_aer_figures *f,
                               const rela_interval *interval, rela_error *err);
static rela_status append_json(rela_buffer *out, const scoring *s, const rela_aer_figures *f,
                               const rela_interval *interval, rela_error *err);
static rela_status append_count(rela_buffer *out, uint64_t n, rela_error *err);

const rela_command rela_commands_aer[] = {
    { .name = "aer",
      .summary = "score word links by alignment error rate",
      .operands = "GOLD",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Compares word links with gold links: i-j is a sure gold link, i?j or ipj a possible\n"
          "one; words count from 0 unless an option says otherwise. Prints the alignment error "
          "rate\n"
          "1 - (|A&S| + |A&P|) / (|A| + |S|), precision |A&P| / |A|, recall |A&S| / |S|, their\n"
          "harmonic mean, the number of links, and the 95 % interval of the error rate. P holds\n"
          "the sure links too.",
      .examples = "rela aer gold.align < links.align\n"
                  "rela aer --gold-base 1 gold.align -i links.align --src a.de --tgt a.en",
      .options = OPTIONS,
      .options_size = sizeof(aer_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const aer_options *o = options;
    if (!o->src != !o->tgt)
        return rela_fail(err, RELA_ARG, "--src and --tgt must be given together");
    scoring s = { .o = o,
                  .files = { o->input, cli->operands.items[0], o->src, o->tgt },
                  .n_files = o->src ? FILES_MAX : SRC };
    const rela_cli_steps job = { .files = { s.files, s.n_files },
                                 .label = "reading",
                                 .work = count_block,
                                 .done = add_block,
                                 .ctx = &s };
    rela_status st = rela_cli_run_steps(cli, &job, err);
    if (st == RELA_OK)
        st = report(cli, &s, err);
    rela_buffer_free(&s.stats);
    return st;
}

static rela_status count_block(void *ctx, rela_cli_rows *rows, rela_error *err)
{
    const scoring *s = ctx;
    rela_links gold = { NULL, 0, 0 }, links = { NULL, 0, 0 };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        uint32_t stats[RELA_AER_STATS];
        st = read_links(&gold, s, rows, i, GOLD, err);
        if (st == RELA_OK)
            st = read_links(&links, s, rows, i, LINKS, err);
        if (st != RELA_OK)
            break;
        rela_aer_count(stats, &gold, &links);
        st = rela_buffer_append(&rows->out, (const char *)stats, sizeof stats, err);
    }
    rela_links_free(&gold);
    rela_links_free(&links);
    return st;
}

static rela_status read_links(rela_links *out, const scoring *s, const rela_cli_rows *rows,
                              size_t row, int file, rela_error *err)
{
    const rela_span *cells = rows->lines + row * s->n_files;
    rela_link_format form = { .struct_size = sizeof form,
                              .base = (int32_t)(file == GOLD ? s->o->gold_base : s->o->base),
                              .reverse = file == GOLD ? s->o->gold_reverse : s->o->reverse,
                              .check = s->n_files > SRC };
    if (form.check) {
        form.n_src = count_words(cells[SRC]);
        form.n_tgt = count_words(cells[TGT]);
    }
    return rela_cli_fail_at(err,
                            rela_links_parse(out, cells[file].text, cells[file].len, &form, err),
                            s->files[file], rows->first + row);
}

static size_t count_words(rela_span s)
{
    const char *at = s.text;
    rela_span word;
    size_t n = 0;
    while (rela_next_word(&word, &at, s.text + s.len))
        n++;
    return n;
}

static rela_status add_block(void *ctx, const rela_cli_rows *rows, rela_error *err)
{
    scoring *s = ctx;
    s->n_lines += rows->n;
    return rela_buffer_append(&s->stats, rows->out.data, rows->out.len, err);
}

static rela_status report(rela_cli *cli, const scoring *s, rela_error *err)
{
    const rela_scored scored = { .stats = (const uint32_t *)(const void *)s->stats.data,
                                 .n = (size_t)s->n_lines,
                                 .k = RELA_AER_STATS,
                                 .score = rela_aer_score_fn };
    const rela_resampling r = { .struct_size = sizeof r,
                                .samples = s->o->samples,
                                .seed = (uint64_t)cli->common.seed,
                                .n_threads = (int32_t)cli->common.threads };
    uint64_t sums[RELA_AER_STATS] = { 0 };
    rela_aer_figures f = { .struct_size = sizeof f };
    rela_interval interval;
    rela_buffer out = RELA_BUFFER_INIT;
    const bool sampled = r.samples > 0 && !s->o->sentence;
    rela_stats_add(sums, scored.stats, scored.n, scored.k);
    rela_status st = rela_aer_figures_get(&f, sums, err);
    if (st == RELA_OK && sampled)
        st = rela_bootstrap(&interval, &scored, &r, err);
    if (st == RELA_OK && s->o->sentence)
        st = append_lines(&out, cli->common.json, s, err);
    else if (st == RELA_OK)
        st = (cli->common.json ? append_json : append_line)(&out, s, &f, sampled ? &interval : NULL,
                                                            err);
    if (st == RELA_OK)
        st = rela_cli_print(&out, err);
    rela_buffer_free(&out);
    return st;
}

static rela_status append_lines(rela_buffer *out, bool json, const scoring *s, rela_error *err)
{
    const uint32_t *stats = (const uint32_t *)(const void *)s->stats.data;
    const int width = (int)s->o->width;
    rela_status st =
        json ? RELA_OK
             : rela_buffer_append_text(out, "line\tAER\tP\tR\tF1\tlinks\tsure\tpossible\n", err);
    for (size_t i = 0; i < s->n_lines && st == RELA_OK; i++) {
        uint64_t sums[RELA_AER_STATS] = { 0 };
        rela_aer_figures f = { .struct_size = sizeof f };
        rela_stats_add(sums, stats + i * RELA_AER_STATS, 1, RELA_AER_STATS);
        st = rela_aer_figures_get(&f, sums, err);
        if (st == RELA_OK && json)
            st = append_json(out, NULL, &f, NULL, err);
        else if (st == RELA_OK)
            st = rela_buffer_printf(out, err, "%zu\t%.*f\t%.*f\t%.*f\t%.*f\t%llu\t%llu\t%llu\n",
                                    i + 1, width, 100 * f.aer, width, 100 * f.precision, width,
                                    100 * f.recall, width, 100 * f.f1,
                                    (unsigned long long)f.n_links, (unsigned long long)f.n_sure,
                                    (unsigned long long)(f.n_gold - f.n_sure));
    }
    return st;
}

static rela_status append_line(rela_buffer *out, const scoring *s, const rela_aer_figures *f,
                               const rela_interval *interval, rela_error *err)
{
    const int width = (int)s->o->width;
    rela_status st =
        rela_buffer_printf(out, err, "AER %.*f (P %.*f / R %.*f / F1 %.*f / ", width, 100 * f->aer,
                           width, 100 * f->precision, width, 100 * f->recall, width, 100 * f->f1);
    if (st == RELA_OK)
        st = append_count(out, f->n_links, err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, " links)", err);
    if (st == RELA_OK && interval)
        st = rela_buffer_printf(out, err, " 95 %% [%.*f, %.*f]", width, interval->low, width,
                                interval->high);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}

/* s NULL: results of one pair, without the number of lines. */
static rela_status append_json(rela_buffer *out, const scoring *s, const rela_aer_figures *f,
                               const rela_interval *interval, rela_error *err)
{
    rela_status st = rela_buffer_printf(
        out, err,
        "{\"aer\": %.17g, \"precision\": %.17g, \"recall\": %.17g, \"f1\": %.17g, "
        "\"links\": %llu, \"sure\": %llu, \"possible\": %llu",
        100 * f->aer, 100 * f->precision, 100 * f->recall, 100 * f->f1,
        (unsigned long long)f->n_links, (unsigned long long)f->n_sure,
        (unsigned long long)(f->n_gold - f->n_sure));
    if (st == RELA_OK && s)
        st = rela_buffer_printf(out, err, ", \"lines\": %llu", (unsigned long long)s->n_lines);
    if (st == RELA_OK && interval)
        st = rela_cli_json_interval(out, "bootstrap", interval, err);
    return st == RELA_OK ? rela_buffer_append_text(out, "}\n", err) : st;
}

/* 3456 as 3,456. */
static rela_status append_count(rela_buffer *out, uint64_t n, rela_error *err)
{
    uint64_t unit = 1;
    while (n / unit >= 1000)
        unit *= 1000;
    rela_status st = rela_buffer_printf(out, err, "%llu", (unsigned long long)(n / unit));
    for (; unit > 1 && st == RELA_OK; unit /= 1000)
        st =
            rela_buffer_printf(out, err, ",%03llu", (unsigned long long)(n % unit / (unit / 1000)));
    return st;
}
