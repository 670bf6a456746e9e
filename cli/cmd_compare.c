/* SPDX-License-Identifier: MIT */
/* cli/cmd_compare.c - rela compare: do systems differ by more than chance? */
#include "scores.h"

#include "base/utf8.h"

#include <string.h>

typedef struct compare_options {
    rela_list refs;
    const char *metric, *test, *tokenize;
    int64_t samples, trials, width, char_order, word_order;
    bool lowercase, force;
} compare_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "ref", 'r', RELA_OPTION_LIST, offsetof(compare_options, refs), 0, 0, NULL, "FILE",
      "another reference; may be repeated" },
    { "metric", 'm', RELA_OPTION_CHOICE, offsetof(compare_options, metric), 0, 0, "both", "bleu|chrf|both",
      "metric to compare by" },
    { "test", 0, RELA_OPTION_CHOICE, offsetof(compare_options, test), 0, 0, "both", "bs|ar|both",
      "paired bootstrap, paired approximate randomisation or both" },
    { "samples", 0, RELA_OPTION_INT, offsetof(compare_options, samples), 1, 1e7, "1000", "N",
      "bootstrap samples" },
    { "trials", 0, RELA_OPTION_INT, offsetof(compare_options, trials), 1, 1e7, "10000", "N",
      "randomisation trials" },
    { "tokenize", 'k', RELA_OPTION_CHOICE, offsetof(compare_options, tokenize), 0, 0, "13a", "13a|intl|char|none",
      "tokeniser of BLEU" },
    { "char-order", 0, RELA_OPTION_INT, offsetof(compare_options, char_order), 1, RELA_CHRF_ORDER_MAX, "6", "N",
      "chrF: maximum order of character n-grams" },
    { "word-order", 0, RELA_OPTION_INT, offsetof(compare_options, word_order), 0, RELA_CHRF_ORDER_MAX, "0", "N",
      "chrF: maximum order of word n-grams; 2 gives chrF++" },
    { "lowercase", 'l', RELA_OPTION_FLAG, offsetof(compare_options, lowercase), 0, 0, NULL, NULL,
      "ignore case" },
    { "width", 'w', RELA_OPTION_INT, offsetof(compare_options, width), 0, 17, "2", "N",
      "digits after the decimal point" },
    { "force", 0, RELA_OPTION_FLAG, offsetof(compare_options, force), 0, 0, NULL, NULL,
      "do not warn about text that looks tokenised" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "tokenize", "!metric=chrf",
    "force", "!metric=chrf",
    "char-order", "!metric=bleu",
    "word-order", "!metric=bleu",
    "samples", "!test=ar",
    "trials", "!test=bs",
    NULL,
};
/* clang-format on */

static const double SIGNIFICANT = 0.05;

/* One cell of the table. */
typedef struct result {
    double score;
    rela_interval interval; /* with the bootstrap */
    double p_bootstrap, p_randomise;
} result;

typedef struct comparison {
    const rela_cli *cli;
    const compare_options *o;
    const rela_cli_scoring *s;
    bool bootstrap, randomise;
} comparison;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status make_metrics(rela_metric **out, size_t *n, const compare_options *o,
                                rela_error *err);
static rela_status collect_refs(const char **out, const rela_cli *cli, const compare_options *o,
                                rela_error *err);
static rela_status compare_all(const comparison *c, rela_error *err);
static rela_status test_system(result *out, const comparison *c, size_t system, size_t metric,
                               rela_error *err);
static rela_status append_table(rela_buffer *out, const comparison *c, size_t metric,
                                rela_error *err);
static rela_status append_head(rela_buffer *out, const comparison *c, const char *name,
                               int name_width, rela_error *err);
static rela_status append_row(rela_buffer *out, const comparison *c, size_t system, const result *r,
                              int name_width, rela_error *err);
static rela_status append_p(rela_buffer *out, double p, rela_error *err);
static rela_status end_line(rela_buffer *out, rela_error *err);
static rela_status append_json(rela_buffer *out, const comparison *c, size_t metric,
                               rela_error *err);
static rela_status append_json_row(rela_buffer *out, const comparison *c, size_t system,
                                   const result *r, rela_error *err);
static rela_status append_signature(rela_buffer *out, const comparison *c, size_t metric,
                                    rela_error *err);

const rela_command rela_commands_compare[] = {
    { .name = "compare",
      .summary = "compare systems by BLEU and chrF, with significance",
      .operands = "REF BASELINE SYSTEM [SYSTEM...]",
      .min_operands = 3,
      .max_operands = RELA_CLI_FILES_MAX,
      .description =
          "Scores the translations of several systems against a reference and reports for each\n"
          "system whether it differs from the first one, the baseline, by more than chance: p by\n"
          "paired bootstrap resampling and by paired approximate randomisation. A star marks p\n"
          "below 0.05. With the bootstrap, mean and 95 % confidence interval are given as well.\n"
          "The result depends on --seed, not on --threads.",
      .examples = "rela compare test.de baseline.de new.de\n"
                  "rela compare test.de a.de b.de c.de --metric chrf --word-order 2 --json\n"
                  "rela compare test1.de --ref test2.de a.de b.de --samples 5000",
      .options = OPTIONS,
      .options_size = sizeof(compare_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const compare_options *o = options;
    const char *refs[RELA_CLI_FILES_MAX];
    rela_metric *metrics[RELA_CLI_METRICS_MAX] = { NULL, NULL };
    rela_cli_scoring s = { .refs = { refs, o->refs.n + 1 },
                           .systems = { cli->operands.items + 1, cli->operands.n - 1 } };
    const comparison c = { .cli = cli,
                           .o = o,
                           .s = &s,
                           .bootstrap = strcmp(o->test, "ar") != 0,
                           .randomise = strcmp(o->test, "bs") != 0 };
    rela_status st = collect_refs(refs, cli, o, err);
    if (st == RELA_OK)
        st = make_metrics(metrics, &s.n_metrics, o, err);
    for (size_t i = 0; i < s.n_metrics; i++)
        s.metrics[i] = metrics[i];
    if (st == RELA_OK)
        st = rela_cli_count(cli, &s, err);
    if (st == RELA_OK) {
        rela_cli_warn(cli, &s, !o->force && strcmp(o->metric, "chrf") != 0);
        st = compare_all(&c, err);
    }
    rela_cli_scoring_free(&s);
    for (size_t i = 0; i < RELA_CLI_METRICS_MAX; i++)
        rela_metric_destroy(metrics[i]);
    return st;
}

static rela_status make_metrics(rela_metric **out, size_t *n, const compare_options *o,
                                rela_error *err)
{
    static const char *const TOKENS[] = { "13a", "intl", "char", "none" };
    rela_status st = RELA_OK;
    *n = 0;
    if (strcmp(o->metric, "chrf") != 0) {
        rela_bleu_options b;
        rela_bleu_options_init(&b, sizeof b);
        while (strcmp(TOKENS[b.tokens], o->tokenize) != 0)
            b.tokens++;
        b.lowercase = o->lowercase;
        st = rela_metric_create_bleu(&out[(*n)++], &b, err);
    }
    if (st == RELA_OK && strcmp(o->metric, "bleu") != 0) {
        rela_chrf_options c;
        rela_chrf_options_init(&c, sizeof c);
        c.char_order = (int32_t)o->char_order;
        c.word_order = (int32_t)o->word_order;
        c.lowercase = o->lowercase;
        st = rela_metric_create_chrf(&out[(*n)++], &c, err);
    }
    return st;
}

static rela_status collect_refs(const char **out, const rela_cli *cli, const compare_options *o,
                                rela_error *err)
{
    if (o->refs.n + 1 > RELA_CLI_FILES_MAX)
        return rela_fail(err, RELA_ARG, "more than %d references", RELA_CLI_FILES_MAX);
    out[0] = cli->operands.items[0];
    for (size_t i = 0; i < o->refs.n; i++)
        out[1 + i] = o->refs.items[i];
    return RELA_OK;
}

static rela_status compare_all(const comparison *c, rela_error *err)
{
    const bool json = c->cli->common.json;
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    if (json)
        st = rela_buffer_printf(&out, err, "{\"lines\": %llu, \"metrics\": [",
                                (unsigned long long)c->s->n_lines);
    for (size_t i = 0; i < c->s->n_metrics && st == RELA_OK; i++) {
        if (i)
            st = rela_buffer_append_text(&out, json ? ", " : "\n", err);
        if (st == RELA_OK)
            st = json ? append_json(&out, c, i, err) : append_table(&out, c, i, err);
    }
    if (st == RELA_OK && json)
        st = rela_buffer_append_text(&out, "]}\n", err);
    if (st == RELA_OK)
        st = rela_cli_print(&out, err);
    rela_buffer_free(&out);
    return st;
}

static rela_status test_system(result *out, const comparison *c, size_t system, size_t metric,
                               rela_error *err)
{
    const rela_scored base = rela_cli_scored(c->s, 0, metric);
    const rela_scored own = rela_cli_scored(c->s, system, metric);
    rela_resampling r = { .struct_size = sizeof r,
                          .samples = c->o->samples,
                          .seed = (uint64_t)c->cli->common.seed,
                          .n_threads = (int32_t)c->cli->common.threads };
    rela_status st = RELA_OK;
    *out = (result){ .score =
                         rela_metric_score(c->s->metrics[metric],
                                           c->s->counts[system * c->s->n_metrics + metric].sums) };
    if (c->bootstrap)
        st = system == 0
                 ? rela_bootstrap(&out->interval, &own, &r, err)
                 : rela_bootstrap_paired(&out->p_bootstrap, &out->interval, &base, &own, &r, err);
    r.samples = c->o->trials;
    if (st == RELA_OK && c->randomise && system > 0)
        st = rela_randomise_paired(&out->p_randomise, &base, &own, &r, err);
    return st;
}

static rela_status append_table(rela_buffer *out, const comparison *c, size_t metric,
                                rela_error *err)
{
    const char *name = rela_metric_name(c->s->metrics[metric]);
    size_t name_width = strlen("system");
    for (size_t i = 0; i < c->s->systems.n; i++) {
        const size_t len = strlen(c->s->systems.items[i]);
        name_width = len > name_width ? len : name_width;
    }
    name_width = name_width > 60 ? 60 : name_width;
    rela_status st = rela_buffer_printf(out, err, "%s|", name);
    if (st == RELA_OK)
        st = append_signature(out, c, metric, err);
    if (st == RELA_OK)
        st = append_head(out, c, name, (int)name_width, err);
    for (size_t i = 0; i < c->s->systems.n && st == RELA_OK; i++) {
        result r;
        st = test_system(&r, c, i, metric, err);
        if (st == RELA_OK)
            st = append_row(out, c, i, &r, (int)name_width, err);
    }
    return st;
}

/* Column widths must match append_row, where the plus-minus sign takes two bytes. */
static rela_status append_head(rela_buffer *out, const comparison *c, const char *name,
                               int name_width, rela_error *err)
{
    const int mean_width = 2 * (int)c->o->width + 12;
    rela_status st = rela_buffer_printf(out, err, "\n%-*s  %8s", name_width, "system", name);
    if (st == RELA_OK && c->bootstrap)
        st = rela_buffer_printf(out, err, "%*s  p (bs) ", mean_width, "mean \xC2\xB1 95 %");
    if (st == RELA_OK && c->randomise)
        st = rela_buffer_append_text(out, "  p (ar)", err);
    return st == RELA_OK ? end_line(out, err) : st;
}

static rela_status append_row(rela_buffer *out, const comparison *c, size_t system, const result *r,
                              int name_width, rela_error *err)
{
    const int width = (int)c->o->width;
    const char *name = c->s->systems.items[system];
    const size_t start = out->len;
    rela_status st = rela_utf8_append_printable(out, name, strlen(name), err);
    while (st == RELA_OK && out->len < start + (size_t)name_width)
        st = rela_buffer_append_char(out, ' ', err);
    st = st ? st : rela_buffer_printf(out, err, "  %8.*f", width, r->score);
    if (st == RELA_OK && c->bootstrap)
        st = rela_buffer_printf(out, err, "  %*.*f \xC2\xB1 %*.*f", width + 4, width,
                                r->interval.mean, width + 2, width, r->interval.half);
    if (st == RELA_OK && c->bootstrap && system > 0)
        st = append_p(out, r->p_bootstrap, err);
    if (st == RELA_OK && c->randomise && system > 0)
        st = append_p(out, r->p_randomise, err);
    if (st == RELA_OK && system == 0)
        st = rela_buffer_append_text(out, "  baseline", err);
    return st == RELA_OK ? end_line(out, err) : st;
}

static rela_status append_p(rela_buffer *out, double p, rela_error *err)
{
    return rela_buffer_printf(out, err, "  %.4f%c", p, p < SIGNIFICANT ? '*' : ' ');
}

/* Removes trailing spaces. */
static rela_status end_line(rela_buffer *out, rela_error *err)
{
    while (out->data[out->len - 1] == ' ')
        out->len--;
    return rela_buffer_append_char(out, '\n', err);
}

static rela_status append_json(rela_buffer *out, const comparison *c, size_t metric,
                               rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "{\"name\": \"%s\", \"signature\": \"",
                                        rela_metric_name(c->s->metrics[metric]));
    if (st == RELA_OK)
        st = append_signature(out, c, metric, err);
    if (st == RELA_OK)
        st = rela_buffer_append_text(out, "\", \"systems\": [", err);
    for (size_t i = 0; i < c->s->systems.n && st == RELA_OK; i++) {
        result r;
        st = test_system(&r, c, i, metric, err);
        if (st == RELA_OK)
            st = append_json_row(out, c, i, &r, err);
    }
    return st == RELA_OK ? rela_buffer_append_text(out, "]}", err) : st;
}

static rela_status append_json_row(rela_buffer *out, const comparison *c, size_t system,
                                   const result *r, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s{\"system\": ", system ? ", " : "");
    if (st == RELA_OK)
        st = rela_cli_json_text(out, c->s->systems.items[system], err);
    if (st == RELA_OK)
        st = rela_buffer_printf(out, err, ", \"baseline\": %s, \"score\": %.17g",
                                system ? "false" : "true", r->score);
    if (st == RELA_OK && c->bootstrap)
        st = rela_cli_json_interval(out, "bootstrap", &r->interval, err);
    if (st == RELA_OK && c->bootstrap && system > 0)
        st = rela_buffer_printf(out, err, ", \"p_bootstrap\": %.17g", r->p_bootstrap);
    if (st == RELA_OK && c->randomise && system > 0)
        st = rela_buffer_printf(out, err, ", \"p_randomisation\": %.17g", r->p_randomise);
    return st == RELA_OK ? rela_buffer_append_char(out, '}', err) : st;
}

static rela_status append_signature(rela_buffer *out, const comparison *c, size_t metric,
                                    rela_error *err)
{
    const rela_signature s = { .struct_size = sizeof s,
                               .n_refs = c->s->refs.n,
                               .bootstrap = c->bootstrap ? c->o->samples : 0,
                               .randomise = c->randomise ? c->o->trials : 0,
                               .seed = (uint64_t)c->cli->common.seed };
    return rela_metric_signature(out, c->s->metrics[metric], &s, err);
}
