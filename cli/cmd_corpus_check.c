/* SPDX-License-Identifier: MIT */
/* cli/cmd_corpus_check.c - rela corpus check: checks a parallel corpus against the rules and shows
 * its lengths and the cost of padding. */
#include "cli.h"
#include "models.h"

#include "rela/corpus.h"

typedef struct check_options {
    const char *src, *tgt, *tsv, *scratch;
    int64_t max_line, max_tokens, batch_tokens, memory;
    double max_ratio;
    bool cut, drop_identical, any_expansion;
} check_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 0, RELA_OPTION_FILE, offsetof(check_options, src), 0, 0, NULL, "FILE",
      "source side, one sentence per line; - is standard input" },
    { "tgt", 0, RELA_OPTION_FILE, offsetof(check_options, tgt), 0, 0, NULL, "FILE",
      "target side, one sentence per line" },
    { "tsv", 0, RELA_OPTION_FILE, offsetof(check_options, tsv), 0, 0, NULL, "FILE",
      "both sides in one file, separated by a tab, instead of --src and --tgt" },
    { "max-line", 0, RELA_OPTION_INT, offsetof(check_options, max_line), 1, RELA_LINE_MAX, "65536", "N",
      "drop pairs with a line of more than N bytes" },
    { "max-tokens", 0, RELA_OPTION_INT, offsetof(check_options, max_tokens), 1, RELA_CORPUS_TOKENS_MAX, "65535", "N",
      "drop pairs with more than N words on a side" },
    { "cut", 0, RELA_OPTION_FLAG, offsetof(check_options, cut), 0, 0, NULL, NULL,
      "cut lines at --max-tokens instead of dropping the pair" },
    { "max-ratio", 0, RELA_OPTION_REAL, offsetof(check_options, max_ratio), 0, 1e6, "0", "R",
      "drop pairs with one side more than R times as long as the other; 0: keep them" },
    { "drop-identical", 0, RELA_OPTION_FLAG, offsetof(check_options, drop_identical), 0, 0, NULL, NULL,
      "drop pairs with equal sides" },
    { "any-expansion", 0, RELA_OPTION_FLAG, offsetof(check_options, any_expansion), 0, 0, NULL, NULL,
      "accept compressed files that expand more than 200 times" },
    { "batch-tokens", 0, RELA_OPTION_INT, offsetof(check_options, batch_tokens), 1, INT32_MAX, "4096", "N",
      "target tokens per batch, to compute the padding" },
    { "memory", 0, RELA_OPTION_INT, offsetof(check_options, memory), 0, 1e15, "268435456", "N",
      "bytes of pairs to keep in memory before a scratch file is used" },
    { "scratch", 0, RELA_OPTION_DIR, offsetof(check_options, scratch), 0, 0, NULL, "DIR",
      "directory of that file [TMPDIR or /tmp]" },
    { .name = NULL },
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_corpus_check[] = {
    { .name = "corpus check",
      .summary = "check parallel text: what would be dropped, lengths, padding",
      .operands = "[SRC TGT]",
      .max_operands = 2,
      .description =
          "Reads a parallel corpus as training does, with space-separated words as tokens, and\n"
          "prints how many pairs are kept, how many are dropped and why (with the first lines of\n"
          "each reason), the sentence lengths, and the share of a batch of --batch-tokens that\n"
          "padding would waste. Files may be plain, gzip or zstd. Files with different numbers of\n"
          "lines are an error.",
      .examples = "rela corpus check train.en.gz train.de.gz\n"
                  "rela corpus check --tsv pairs.tsv --max-tokens 100 --max-ratio 9 --json",
      .options = OPTIONS,
      .options_size = sizeof(check_options),
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    check_options *o = options;
    const rela_status taken = rela_cli_take_texts(cli, &o->src, &o->tgt, err);
    if (taken != RELA_OK)
        return taken;
    if (cli->operands.n)
        return rela_fail(err, RELA_ARG, "name both files: %s is one side, or give it as --tsv",
                         cli->operands.items[0]);
    if (o->tsv ? o->src || o->tgt : !o->src || !o->tgt)
        return rela_fail(err, RELA_ARG,
                         "no text: name the two files, or --src and --tgt, or --tsv");
    if (o->max_ratio > 0 && o->max_ratio < 1)
        return rela_fail(err, RELA_ARG, "--max-ratio is %g; expected 0 or at least 1",
                         o->max_ratio);
    const char *const texts[] = { o->src, o->tgt, o->tsv };
    rela_cli_typed_text(cli, texts, sizeof texts / sizeof texts[0]);
    rela_cli_bar bar = { .cli = cli, .label = "reading", .unit = "bytes" };
    rela_corpus_rules rules;
    rela_corpus_rules_init(&rules, sizeof rules);
    rules.max_line = (uint64_t)o->max_line;
    rules.max_tokens = (int32_t)o->max_tokens;
    rules.cut = o->cut;
    rules.max_ratio = o->max_ratio;
    rules.drop_identical = o->drop_identical;
    rules.any_expansion = o->any_expansion;
    rela_corpus_check_options check;
    rela_corpus_check_options_init(&check, sizeof check);
    check.src = o->tsv ? o->tsv : o->src;
    check.tgt = o->tgt;
    check.rules = &rules;
    check.n_threads = (int32_t)cli->common.threads;
    check.batch_tokens = o->batch_tokens;
    check.seed = (uint64_t)cli->common.seed;
    check.memory = (uint64_t)o->memory;
    check.scratch_dir = o->scratch;
    check.progress = rela_cli_log;
    check.progress_ctx = &bar;
    rela_corpus_report report = { .struct_size = sizeof report };
    rela_corpus_stats stats = { .struct_size = sizeof stats };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_corpus_check(&report, &stats, &check, err);
    if (st == RELA_OK)
        (void)rela_cli_log(&bar, bar.bar.total, bar.bar.total);
    if (st == RELA_OK)
        st = cli->common.json ? rela_corpus_stats_json(&text, &report, &stats, err)
                              : rela_corpus_stats_table(&text, &report, &stats, err);
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}
