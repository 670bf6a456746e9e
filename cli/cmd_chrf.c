/* SPDX-License-Identifier: MIT */
/* cli/cmd_chrf.c - rela chrf: chrF and chrF++ of a translation, compatible with sacrebleu. */
#include "scores.h"

typedef struct chrf_options {
    rela_cli_score_options score;
    int64_t char_order, word_order;
    double beta;
    bool lowercase, whitespace, eps_smoothing;
} chrf_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "input", 'i', RELA_OPTION_FILE, offsetof(chrf_options, score.input), 0, 0, "-", "FILE",
      "the translation, one segment per line; - is standard input" },
    { "char-order", 0, RELA_OPTION_INT, offsetof(chrf_options, char_order), 1, RELA_CHRF_ORDER_MAX, "6", "N",
      "maximum order of character n-grams" },
    { "word-order", 0, RELA_OPTION_INT, offsetof(chrf_options, word_order), 0, RELA_CHRF_ORDER_MAX, "0", "N",
      "maximum order of word n-grams; 2 gives chrF++" },
    { "beta", 0, RELA_OPTION_REAL, offsetof(chrf_options, beta), 0, 100, "2", "X",
      "weight of recall relative to precision" },
    { "lowercase", 'l', RELA_OPTION_FLAG, offsetof(chrf_options, lowercase), 0, 0, NULL, NULL,
      "ignore case" },
    { "whitespace", 0, RELA_OPTION_FLAG, offsetof(chrf_options, whitespace), 0, 0, NULL, NULL,
      "count spaces as characters" },
    { "eps-smoothing", 0, RELA_OPTION_FLAG, offsetof(chrf_options, eps_smoothing), 0, 0, NULL, NULL,
      "mean of the F-scores of all orders, as in chrF++.py, instead of the F-score of the means" },
    { "sentence", 0, RELA_OPTION_FLAG, offsetof(chrf_options, score.sentence), 0, 0, NULL, NULL,
      "print one score per line of the translation" },
    { "confidence", 0, RELA_OPTION_FLAG, offsetof(chrf_options, score.confidence), 0, 0, NULL, NULL,
      "add the 95 % confidence interval by bootstrap resampling" },
    { "samples", 0, RELA_OPTION_INT, offsetof(chrf_options, score.samples), 1, 1e7, "1000", "N",
      "bootstrap samples" },
    { "width", 'w', RELA_OPTION_INT, offsetof(chrf_options, score.width), 0, 17, "1", "N",
      "digits after the decimal point" },
    { "score-only", 'b', RELA_OPTION_FLAG, offsetof(chrf_options, score.score_only), 0, 0, NULL, NULL,
      "print the score and nothing else" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "samples", "confidence",
    "seed", "confidence",
    NULL,
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_chrf[] = {
    { .name = "chrf",
      .summary = "score a translation with chrF or chrF++",
      .operands = "REF [REF...]",
      .min_operands = 1,
      .max_operands = RELA_CLI_FILES_MAX,
      .description =
          "Compares the character n-grams (with --word-order also the word n-grams) of a\n"
          "translation with those of one or more references, line by line, and prints the F-score\n"
          "with a signature of everything it depends on. Scores equal those of sacrebleu 2.6.0.",
      .examples = "rela chrf test.de < output.de\n"
                  "rela chrf --word-order 2 -i output.de ref1.de ref2.de",
      .options = OPTIONS,
      .options_size = sizeof(chrf_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const chrf_options *o = options;
    rela_metric *metric = NULL;
    rela_chrf_options c;
    rela_chrf_options_init(&c, sizeof c);
    c.char_order = (int32_t)o->char_order;
    c.word_order = (int32_t)o->word_order;
    c.beta = o->beta;
    c.lowercase = o->lowercase;
    c.whitespace = o->whitespace;
    c.eps_smoothing = o->eps_smoothing;
    const char *input[] = { o->score.input };
    rela_cli_scoring s = { .n_metrics = 1, .refs = cli->operands, .systems = { input, 1 } };
    if (o->score.sentence && o->score.confidence)
        return rela_fail(err, RELA_ARG, "--confidence does not go with --sentence");
    rela_status st = rela_metric_create_chrf(&metric, &c, err);
    s.metrics[0] = metric;
    if (st == RELA_OK)
        st = rela_cli_count(cli, &s, err);
    if (st == RELA_OK) {
        rela_cli_warn(cli, &s, false);
        st = rela_cli_report(cli, &s, metric, &o->score, NULL, err);
    }
    rela_cli_scoring_free(&s);
    rela_metric_destroy(metric);
    return st;
}
