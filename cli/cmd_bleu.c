/* SPDX-License-Identifier: MIT */
/* cli/cmd_bleu.c - rela bleu: BLEU of a translation, compatible with sacrebleu and multi-bleu. */
#include "scores.h"

#include <string.h>

typedef struct bleu_options {
    rela_cli_score_options score;
    const char *tokenize, *smooth;
    double smooth_value;
    int64_t max_order;
    bool lowercase, effective_order, multi_bleu, force;
} bleu_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "input", 'i', RELA_OPTION_FILE, offsetof(bleu_options, score.input), 0, 0, "-", "FILE",
      "the translation, one segment per line; - is standard input" },
    { "tokenize", 'k', RELA_OPTION_CHOICE, offsetof(bleu_options, tokenize), 0, 0, "13a", "13a|intl|char|none",
      "tokeniser, as in sacrebleu" },
    { "lowercase", 'l', RELA_OPTION_FLAG, offsetof(bleu_options, lowercase), 0, 0, NULL, NULL,
      "ignore case" },
    { "smooth", 's', RELA_OPTION_CHOICE, offsetof(bleu_options, smooth), 0, 0, "exp", "exp|floor|add-k|none",
      "smoothing of precisions that are zero" },
    { "smooth-value", 0, RELA_OPTION_REAL, offsetof(bleu_options, smooth_value), 0, 1e9, NULL, "X",
      "value for floor and add-k [0.1 and 1]" },
    { "max-order", 0, RELA_OPTION_INT, offsetof(bleu_options, max_order), 1, RELA_BLEU_ORDER_MAX, "4", "N",
      "maximum n-gram order" },
    { "effective-order", 'e', RELA_OPTION_FLAG, offsetof(bleu_options, effective_order), 0, 0, NULL, NULL,
      "leave out n-gram orders longer than the segments; always on with --sentence" },
    { "sentence", 0, RELA_OPTION_FLAG, offsetof(bleu_options, score.sentence), 0, 0, NULL, NULL,
      "print one score per line of the translation" },
    { "multi-bleu", 0, RELA_OPTION_FLAG, offsetof(bleu_options, multi_bleu), 0, 0, NULL, NULL,
      "print the score as multi-bleu.perl does, for tokenised text" },
    { "confidence", 0, RELA_OPTION_FLAG, offsetof(bleu_options, score.confidence), 0, 0, NULL, NULL,
      "add the 95 % confidence interval by bootstrap resampling" },
    { "samples", 0, RELA_OPTION_INT, offsetof(bleu_options, score.samples), 1, 1e7, "1000", "N",
      "bootstrap samples" },
    { "width", 'w', RELA_OPTION_INT, offsetof(bleu_options, score.width), 0, 17, "1", "N",
      "digits after the decimal point" },
    { "score-only", 'b', RELA_OPTION_FLAG, offsetof(bleu_options, score.score_only), 0, 0, NULL, NULL,
      "print the score and nothing else" },
    { "force", 0, RELA_OPTION_FLAG, offsetof(bleu_options, force), 0, 0, NULL, NULL,
      "do not warn about text that looks tokenised" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "samples", "confidence",
    "smooth-value", "smooth",
    "seed", "confidence",
    NULL,
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status make_metric(rela_metric **out, const rela_cli *cli, const bleu_options *o,
                               bool lines, rela_error *err);
static int32_t choice(const char *const *names, const char *name);
static rela_status check(const rela_cli *cli, const bleu_options *o, rela_error *err);
static rela_status detail_text(rela_buffer *out, const rela_metric *m, const uint64_t *sums,
                               rela_error *err);
static rela_status detail_json(rela_buffer *out, const rela_metric *m, const uint64_t *sums,
                               rela_error *err);
static rela_status print_multi(const rela_cli_scoring *s, rela_error *err);

const rela_command rela_commands_bleu[] = {
    { .name = "bleu",
      .summary = "score a translation with BLEU",
      .operands = "REF [REF...]",
      .min_operands = 1,
      .max_operands = RELA_CLI_FILES_MAX,
      .description =
          "Compares a translation with one or more references, line by line, and prints the score\n"
          "with a signature of everything it depends on. The text should be detokenised. Scores\n"
          "equal those of sacrebleu 2.6.0. With --multi-bleu the text must be tokenised.",
      .examples = "rela bleu test.de < output.de\n"
                  "rela bleu -i output.de -k intl --lowercase ref1.de ref2.de\n"
                  "rela bleu --sentence -w 2 test.de < output.de\n"
                  "rela bleu --multi-bleu test.tok.de < output.tok.de",
      .options = OPTIONS,
      .options_size = sizeof(bleu_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    static const rela_cli_details DETAILS = { detail_text, detail_json };
    const bleu_options *o = options;
    rela_metric *metric = NULL, *lines = NULL;
    const char *input[] = { o->score.input };
    rela_cli_scoring s = { .n_metrics = 1, .refs = cli->operands, .systems = { input, 1 } };
    rela_status st = check(cli, o, err);
    if (st == RELA_OK)
        st = make_metric(&metric, cli, o, false, err);
    if (st == RELA_OK)
        st = make_metric(&lines, cli, o, true, err);
    s.metrics[0] = metric;
    if (st == RELA_OK)
        st = rela_cli_count(cli, &s, err);
    if (st == RELA_OK)
        rela_cli_warn(cli, &s, !o->force && !o->multi_bleu);
    if (st == RELA_OK && o->multi_bleu)
        st = print_multi(&s, err);
    else if (st == RELA_OK)
        st = rela_cli_report(cli, &s, lines, &o->score, &DETAILS, err);
    rela_cli_scoring_free(&s);
    rela_metric_destroy(lines);
    rela_metric_destroy(metric);
    return st;
}

static rela_status check(const rela_cli *cli, const bleu_options *o, rela_error *err)
{
    static const char *const FIXED[] = { "tokenize", "smooth",     "smooth-value",
                                         "sentence", "max-order",  "effective-order",
                                         "width",    "score-only", "confidence" };
    for (size_t i = 0; o->multi_bleu && i < sizeof FIXED / sizeof FIXED[0]; i++)
        if (rela_options_given(cli->state, FIXED[i]))
            return rela_fail(err, RELA_ARG, "--%s does not go with --multi-bleu", FIXED[i]);
    if (o->multi_bleu && cli->common.json)
        return rela_fail(err, RELA_ARG, "--json does not go with --multi-bleu");
    if (o->score.sentence && o->score.confidence)
        return rela_fail(err, RELA_ARG, "--confidence does not go with --sentence");
    return RELA_OK;
}

static rela_status make_metric(rela_metric **out, const rela_cli *cli, const bleu_options *o,
                               bool lines, rela_error *err)
{
    static const char *const TOKENS[] = { "13a", "intl", "char", "none" };
    static const char *const SMOOTH[] = { "exp", "floor", "add-k", "none" };
    rela_bleu_options b;
    rela_bleu_options_init(&b, sizeof b);
    b.tokens = o->multi_bleu ? RELA_BLEU_BLANKS : choice(TOKENS, o->tokenize);
    b.smoothing = o->multi_bleu ? RELA_SMOOTH_NONE : choice(SMOOTH, o->smooth);
    if (rela_options_given(cli->state, "smooth-value"))
        b.smooth_value = o->smooth_value;
    b.max_order = (int32_t)o->max_order;
    b.lowercase = o->lowercase;
    b.effective_order = o->effective_order || lines;
    return rela_metric_create_bleu(out, &b, err);
}

/* The option table guarantees a match. */
static int32_t choice(const char *const *names, const char *name)
{
    int32_t i = 0;
    while (strcmp(names[i], name) != 0)
        i++;
    return i;
}

static rela_status detail_text(rela_buffer *out, const rela_metric *m, const uint64_t *sums,
                               rela_error *err)
{
    rela_bleu_figures f = { .struct_size = sizeof f };
    rela_status st = rela_bleu_figures_get(&f, m, sums, err);
    for (int i = 0; i < f.max_order && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%.1f", i ? "/" : "", f.precision[i]);
    if (st != RELA_OK)
        return st;
    return rela_buffer_printf(out, err, " (BP = %.3f ratio = %.3f hyp_len = %llu ref_len = %llu)",
                              f.brevity, f.ratio, (unsigned long long)f.hyp_len,
                              (unsigned long long)f.ref_len);
}

static rela_status append_array(rela_buffer *out, const char *name, const double *values, int n,
                                rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, ", \"%s\": [", name);
    for (int i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%.17g", i ? ", " : "", values[i]);
    return st == RELA_OK ? rela_buffer_append_char(out, ']', err) : st;
}

static rela_status detail_json(rela_buffer *out, const rela_metric *m, const uint64_t *sums,
                               rela_error *err)
{
    rela_bleu_figures f = { .struct_size = sizeof f };
    rela_status st = rela_bleu_figures_get(&f, m, sums, err);
    if (st == RELA_OK)
        st = append_array(out, "precisions", f.precision, f.max_order, err);
    if (st == RELA_OK)
        st = append_array(out, "counts", f.correct, f.max_order, err);
    if (st == RELA_OK)
        st = append_array(out, "totals", f.total, f.max_order, err);
    if (st != RELA_OK)
        return st;
    return rela_buffer_printf(
        out, err, ", \"bp\": %.17g, \"ratio\": %.17g, \"hyp_len\": %llu, \"ref_len\": %llu",
        f.brevity, f.ratio, (unsigned long long)f.hyp_len, (unsigned long long)f.ref_len);
}

static rela_status print_multi(const rela_cli_scoring *s, rela_error *err)
{
    rela_bleu_figures f = { .struct_size = sizeof f };
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = rela_bleu_figures_get(&f, s->metrics[0], s->counts[0].sums, err);
    if (st == RELA_OK && f.ref_len == 0)
        st = rela_buffer_append_text(
            &out, "BLEU = 0, 0/0/0/0 (BP=0, ratio=0, hyp_len=0, ref_len=0)\n", err);
    else if (st == RELA_OK)
        st = rela_buffer_printf(&out, err,
                                "BLEU = %.2f, %.1f/%.1f/%.1f/%.1f "
                                "(BP=%.3f, ratio=%.3f, hyp_len=%llu, ref_len=%llu)\n",
                                f.score, f.precision[0], f.precision[1], f.precision[2],
                                f.precision[3], f.brevity, f.ratio, (unsigned long long)f.hyp_len,
                                (unsigned long long)f.ref_len);
    if (st == RELA_OK)
        st = rela_cli_print(&out, err);
    rela_buffer_free(&out);
    return st;
}
