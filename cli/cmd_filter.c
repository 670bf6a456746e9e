/* SPDX-License-Identifier: MIT */
/* cli/cmd_filter.c - rela filter: keep the good pairs of parallel text. */
#include "jobs.h"
#include "models.h"

#include "rela/analyse.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

typedef struct filter_options {
    const char *src, *tgt, *out_src, *out_tgt, *scores;
    const char *src_script, *tgt_script, *duplicates, *by, *heads;
    const char *trusted_src, *trusted_tgt;
    int64_t min_words, max_words, max_bytes, calibrate;
    double max_ratio, max_overlap, script_share, min_score, keep;
    bool keep_copies, dry_run;
    const char *resume;
} filter_options;

#define AT(member) offsetof(filter_options, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 's', RELA_OPTION_FILE, AT(src), 0, 0, NULL, "FILE", "source text" },
    { "tgt", 0, RELA_OPTION_FILE, AT(tgt), 0, 0, NULL, "FILE", "target text, parallel to the source text" },
    { "out-src", 0, RELA_OPTION_OUTPUT, AT(out_src), 0, 0, NULL, "FILE", "output file for the source side of kept pairs" },
    { "out-tgt", 0, RELA_OPTION_OUTPUT, AT(out_tgt), 0, 0, NULL, "FILE", "output file for their target side" },
    { "scores", 0, RELA_OPTION_OUTPUT, AT(scores), 0, 0, NULL, "FILE", "write a table: line, reason, score, null rate, uncovered share, log-probability per token" },
    { "resume", 0, RELA_OPTION_OUTPUT, AT(resume), 0, 0, NULL, "FILE", RELA_CLI_RESUME_HELP },
    { "dry-run", 0, RELA_OPTION_FLAG, AT(dry_run), 0, 0, NULL, NULL, "write no text, only report what would be dropped" },
    { "by", 0, RELA_OPTION_CHOICE, AT(by), 0, 0, "combined", "combined|null|uncovered|logprob", "what to score pairs by" },
    { "min-score", 0, RELA_OPTION_REAL, AT(min_score), 0, 1, NULL, "X", "drop pairs with a lower score [if combined, by calibration: clean text passes; else 0]" },
    { "keep", 0, RELA_OPTION_REAL, AT(keep), 0, 1, "0", "SHARE", "keep this share of the pairs that pass the rules, the best ones, instead of --min-score" },
    { "heads", 0, RELA_OPTION_TEXT, AT(heads), 0, 0, NULL, "L:H,...", "cross-attention heads that count for the null rate, as layer:head from 1 [all]" },
    { "calibrate", 0, RELA_OPTION_INT, AT(calibrate), 20, 1e6, "2000", "N", "pairs to calibrate the combined score on" },
    { "trusted-src", 0, RELA_OPTION_FILE, AT(trusted_src), 0, 0, NULL, "FILE", "clean text to calibrate on, source side [the text to be filtered]" },
    { "trusted-tgt", 0, RELA_OPTION_FILE, AT(trusted_tgt), 0, 0, NULL, "FILE", "clean text to calibrate on, target side" },
    { "min-words", 0, RELA_OPTION_INT, AT(min_words), 0, 1e6, "1", "N", "minimum number of words on a side" },
    { "max-words", 0, RELA_OPTION_INT, AT(max_words), 1, 1e6, "200", "N", "maximum number of words on a side" },
    { "max-bytes", 0, RELA_OPTION_INT, AT(max_bytes), 1, 67108864, "65536", "N", "maximum number of bytes on a side" },
    { "max-ratio", 0, RELA_OPTION_REAL, AT(max_ratio), 0, 1e6, "3", "X", "maximum ratio of the word counts of the two sides; 0: any" },
    { "keep-copies", 0, RELA_OPTION_FLAG, AT(keep_copies), 0, 0, NULL, NULL, "do not drop pairs whose target is a copy of the source" },
    { "max-overlap", 0, RELA_OPTION_REAL, AT(max_overlap), 0, 1, "0.8", "X", "maximum share of target words that also occur in the source; 1: any" },
    { "src-script", 0, RELA_OPTION_TEXT, AT(src_script), 0, 0, NULL, "NAME,...", "allowed scripts of the source, or any [those of the vocabulary]" },
    { "tgt-script", 0, RELA_OPTION_TEXT, AT(tgt_script), 0, 0, NULL, "NAME,...", "allowed scripts of the target, or any [those of the vocabulary]" },
    { "script-share", 0, RELA_OPTION_REAL, AT(script_share), 0, 1, "0.5", "X", "minimum share of letters in these scripts" },
    { "duplicates", 0, RELA_OPTION_CHOICE, AT(duplicates), 0, 0, "pair", "keep|pair|source|target", "duplicates to drop: none, or those with the same pair, source or target as an earlier pair" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "calibrate", "by=combined",
    "trusted-src", "by=combined",
    "heads", "by=combined|by=null|scores",
    "out-src", "!dry-run",
    "out-tgt", "!dry-run",
    "seed", "by=combined",
    NULL,
};

/* Checked once the texts are no longer among the operands. */
static const char *const MODEL_NEEDS[] = {
    "by", "MODEL",
    "min-score", "MODEL",
    "calibrate", "MODEL",
    "trusted-src", "MODEL",
    "seed", "MODEL",
    NULL,
};
/* clang-format on */

static rela_status parse_heads(rela_head **heads, size_t *n, const char *text, rela_error *err);
static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status print_report(const rela_cli *cli, const rela_filter_report *r, rela_error *err);

const rela_command rela_commands_filter[] = {
    { .name = "filter",
      .summary = "remove pairs that are not translations from parallel text",
      .operands = "[MODEL] [SRC TGT]",
      .min_operands = 0,
      .max_operands = 3,
      .description =
          "Drops pairs by rules (encoding, length, ratio, copies, script, duplicates), then by\n"
          "the score of a model: how many target words attend to nothing (null rate), how many\n"
          "source words get little attention (uncovered), how probable the target is (logprob),\n"
          "or all of these combined in one probability, calibrated on the first pairs of the text\n"
          "against corrupted copies of them. The order is kept. Without MODEL only the rules\n"
          "apply. Prints how many pairs were dropped and why.",
      .examples = "rela filter run/model.rela c.en c.de --dry-run --scores c.tsv\n"
                  "rela filter run/model.rela c.en c.de \\\n"
                  "    --out-src clean.en --out-tgt clean.de\n"
                  "rela filter c.en c.de --max-words 80 \\\n"
                  "    --out-src clean.en --out-tgt clean.de",
      .options = OPTIONS,
      .options_size = sizeof(filter_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static int32_t number_of(const char *name, const char *const *list)
{
    int32_t i = 0;
    while (strcmp(list[i], name) != 0)
        i++;
    return i;
}

static void set_options(rela_filter_options *to, const rela_cli *cli, const filter_options *o)
{
    static const char *const SCORES[] = { "combined", "null", "uncovered", "logprob" };
    static const char *const WAYS[] = { "keep", "pair", "source", "target" };
    rela_filter_options_init(to, sizeof *to);
    to->src = o->src;
    to->tgt = o->tgt;
    to->out_src = o->dry_run ? NULL : o->out_src;
    to->out_tgt = o->dry_run ? NULL : o->out_tgt;
    to->scores = o->scores;
    to->n_threads = (int32_t)cli->common.threads;
    to->min_words = o->min_words;
    to->max_words = o->max_words;
    to->max_bytes = o->max_bytes;
    to->max_ratio = o->max_ratio;
    to->keep_copies = o->keep_copies;
    to->max_overlap = o->max_overlap;
    to->src_script = o->src_script;
    to->tgt_script = o->tgt_script;
    to->script_share = o->script_share;
    to->duplicates = number_of(o->duplicates, WAYS);
    to->by = number_of(o->by, SCORES);
    to->min_score = rela_options_given(cli->state, "min-score") ? o->min_score : -1;
    to->keep = o->keep;
    to->calibrate = o->calibrate;
    to->trusted_src = o->trusted_src;
    to->trusted_tgt = o->trusted_tgt;
    to->seed = (uint64_t)cli->common.seed;
}

typedef struct display {
    rela_cli *cli;
    rela_progress bar;
    bool started;
} display;

/* The bar starts with the first pairs, not during calibration. */
static int on_progress(void *ctx, uint64_t lines)
{
    display *s = ctx;
    if (!s->started) {
        rela_cli_progress(s->cli, &s->bar, "filtering", "pairs", 0);
        rela_progress_start(&s->bar, 0);
        s->started = true;
    }
    rela_progress_update(&s->bar, lines, NULL);
    return 0;
}

static rela_status check(const rela_cli *cli, const filter_options *o, rela_error *err)
{
    if (!o->src || !o->tgt)
        return rela_fail(err, RELA_ARG, "no text: name the two files, or --src and --tgt");
    if (!o->dry_run && (!o->out_src || !o->out_tgt))
        return rela_fail(err, RELA_ARG, "--out-src and --out-tgt are needed, or --dry-run");
    if (!o->trusted_src != !o->trusted_tgt)
        return rela_fail(err, RELA_ARG, "--trusted-src and --trusted-tgt must be given together");
    if (cli->operands.n == 0 && (o->keep > 0 || o->heads))
        return rela_fail(err, RELA_ARG, "--keep and --heads need a model");
    if (o->min_words > o->max_words)
        return rela_fail(err, RELA_ARG, "--min-words %lld is more than --max-words %lld",
                         (long long)o->min_words, (long long)o->max_words);
    if (o->keep > 0 && rela_options_given(cli->state, "min-score"))
        return rela_fail(err, RELA_ARG, "--keep and --min-score cannot go together");
    return RELA_OK;
}

/* Parses "2:1,3:4", layer:head counting from 1. *heads is given (rela_mem_free). */
static rela_status parse_heads(rela_head **heads, size_t *n, const char *text, rela_error *err)
{
    size_t cap = 0;
    for (const char *at = text; at && *at;) {
        char *end = NULL;
        const double layer = rela_scan_f64(at, &end);
        const double head = *end == ':' ? rela_scan_f64(end + 1, &end) : 0;
        const bool whole = layer >= 1 && layer <= INT16_MAX && layer == floor(layer) && head >= 1 &&
                           head <= INT16_MAX && head == floor(head);
        if (!whole || (*end != '\0' && *end != ','))
            return rela_fail(err, RELA_ARG,
                             "--heads: '%s' is no list of heads; expected layer:head,... from 1",
                             text);
        rela_head *more = rela_mem_grow(*heads, &cap, *n + 1, sizeof *more);
        if (!more)
            return rela_fail(err, RELA_NOMEM, "no memory for heads");
        *heads = more;
        more[(*n)++] = (rela_head){ (int32_t)layer - 1, (int32_t)head - 1 };
        at = *end == ',' ? end + 1 : end;
    }
    return RELA_OK;
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    filter_options *o = options;
    rela_cli_models m = { .runtime = NULL };
    rela_filter_report r = { .struct_size = sizeof r };
    rela_head *heads = NULL;
    size_t n_heads = 0;
    rela_job *job = NULL;
    rela_status st = rela_cli_take_texts(cli, &o->src, &o->tgt, err);
    st = st ? st : check(cli, o, err);
    if (st == RELA_OK)
        rela_cli_check_effect(cli, MODEL_NEEDS);
    st = st ? st : rela_cli_job_open(&job, cli, o->resume, err);
    if (st == RELA_OK)
        st = parse_heads(&heads, &n_heads, o->heads, err);
    if (st == RELA_OK)
        st = rela_cli_models_load(&m, cli, cli->operands.items, cli->operands.n, err);
    st = rela_job_agree(job, st, err);
    if (st == RELA_OK) {
        rela_filter_options f;
        display s = { .cli = cli };
        set_options(&f, cli, o);
        const char *const texts[] = { f.src, f.tgt };
        rela_cli_typed_text(cli, texts, sizeof texts / sizeof texts[0]);
        f.heads = heads;
        f.n_heads = n_heads;
        f.progress = on_progress;
        f.progress_ctx = &s;
        f.job = rela_cli_job_shared(job, o->resume) ? job : NULL;
        st = rela_filter(&r, m.n ? m.models[0] : NULL, &f, err);
        if (st == RELA_OK && s.bar.visible)
            rela_progress_finish(&s.bar, r.read, NULL);
    }
    if (st == RELA_OK && rela_job_rank(job) == 0)
        st = print_report(cli, &r, err);
    rela_mem_free(heads);
    rela_cli_models_close(&m);
    return rela_job_close(job, rela_job_agree(job, st, err), err);
}

static rela_status print_report(const rela_cli *cli, const rela_filter_report *r, rela_error *err)
{
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = cli->common.json ? rela_filter_report_json(&out, r, err)
                                      : rela_filter_report_table(&out, r, err);
    st = st ? st : rela_cli_print(&out, err);
    rela_buffer_free(&out);
    return st;
}
