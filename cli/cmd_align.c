/* SPDX-License-Identifier: MIT */
/* cli/cmd_align.c - rela align: word links of parallel text from the attention of a model. */
#include "jobs.h"
#include "languages.h"
#include "models.h"
#include "terminal_heatmap.h"

#include "base/textlines.h"
#include "rela/analyse.h"
#include "rela/metric.h"
#include "rela/model.h"
#include "rela/train.h"

#include <string.h>
#include <unistd.h>

typedef struct align_options {
    const char *src, *src_2, *src_3, *src_4, *tgt, *output;
    int64_t source, layer, head, reverse_layer, reverse_head;
    bool shift, reverse_shift, soft;
    double threshold;
    const char *reverse, *symmetrise, *best_on;
    int64_t gold_base, show;
    bool gold_reverse;
    /* to learn a model */
    const char *save, *src_lang, *tgt_lang;
    bool tokenise;
    int64_t merges, updates;
    const char *resume;
} align_options;

#define AT(member) offsetof(align_options, member)
#define METHODS    "intersect|union|grow-diag|grow-diag-final|grow-diag-final-and|mean"

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 's', RELA_OPTION_FILE, AT(src), 0, 0, NULL, "FILE", "source text; - is standard input" },
    { "tgt", 0, RELA_OPTION_FILE, AT(tgt), 0, 0, NULL, "FILE", "target text, parallel to the source text" },
    { "src-2", 0, RELA_OPTION_FILE, AT(src_2), 0, 0, NULL, "FILE", "text of a second source, if the model has one; lines may be empty" },
    { "src-3", 0, RELA_OPTION_FILE, AT(src_3), 0, 0, NULL, "FILE", "text of a third source" },
    { "src-4", 0, RELA_OPTION_FILE, AT(src_4), 0, 0, NULL, "FILE", "text of a fourth source" },
    { "source", 0, RELA_OPTION_INT, AT(source), 1, RELA_SOURCES_MAX, "1", "N", "with several sources: the source whose words are linked" },
    { "layer", 'l', RELA_OPTION_INT, AT(layer), 0, 256, "0", "N", "decoder layer, from 1; 0: mean of all layers and heads" },
    { "head", 0, RELA_OPTION_INT, AT(head), 0, 256, "0", "N", "head of that layer, from 1; 0: mean of its heads" },
    { "shift", 0, RELA_OPTION_FLAG, AT(shift), 0, 0, NULL, NULL, "use the attention of the step after the target word is predicted, when it is the decoder input" },
    { "best-on", 0, RELA_OPTION_FILE, AT(best_on), 0, 0, NULL, "GOLD", "gold links of the first lines; use the layer, head and shift with the lowest error on them" },
    { "gold-base", 0, RELA_OPTION_INT, AT(gold_base), 0, 1, "0", "0|1", "number of the first word in GOLD" },
    { "gold-reverse", 0, RELA_OPTION_FLAG, AT(gold_reverse), 0, 0, NULL, NULL, "GOLD has the target word first" },
    { "threshold", 0, RELA_OPTION_REAL, AT(threshold), 0, 1, "0", "X", "link a target word to all source words with at least this share of its attention; 0: to the one with most" },
    { "soft", 0, RELA_OPTION_FLAG, AT(soft), 0, 0, NULL, NULL, "write i-j:weight for all non-zero weights" },
    { "reverse", 0, RELA_OPTION_FILE, AT(reverse), 0, 0, NULL, "MODEL2", "model of the other direction, to combine the links of both" },
    { "reverse-layer", 0, RELA_OPTION_INT, AT(reverse_layer), 0, 256, "0", "N", "as --layer, for MODEL2" },
    { "reverse-head", 0, RELA_OPTION_INT, AT(reverse_head), 0, 256, "0", "N", "as --head, for MODEL2" },
    { "reverse-shift", 0, RELA_OPTION_FLAG, AT(reverse_shift), 0, 0, NULL, NULL, "as --shift, for MODEL2" },
    { "symmetrise", 0, RELA_OPTION_CHOICE, AT(symmetrise), 0, 0, "intersect", METHODS, "how to combine the links of both directions; phrase tables are built from grow-diag-final-and" },
    { "show", 0, RELA_OPTION_INT, AT(show), 0, 9007199254740991.0, "0", "N", "draw the attention of line N instead" },
    { "output", 'o', RELA_OPTION_OUTPUT, AT(output), 0, 0, "-", "FILE", "output file for the links; - is standard output" },
    { "resume", 0, RELA_OPTION_OUTPUT, AT(resume), 0, 0, NULL, "FILE", RELA_CLI_RESUME_HELP },
    { "save", 0, RELA_OPTION_OUTPUT, AT(save), 0, 0, NULL, "FILE", "without a model: save the learned models of both directions, for use as MODEL" },
    { "tokenise", 0, RELA_OPTION_FLAG, AT(tokenise), 0, 0, NULL, NULL, "without a model: tokenise the text; links then count tokens" },
    { "src-lang", 0, RELA_OPTION_TEXT, AT(src_lang), 0, 0, NULL, "CODE", "source language, for the tokeniser: en, fra, French [by the name of the file, as text.en.gz]" },
    { "tgt-lang", 0, RELA_OPTION_TEXT, AT(tgt_lang), 0, 0, NULL, "CODE", "target language" },
    { "merges", 0, RELA_OPTION_INT, AT(merges), 0, 1e7, "0", "N", "without a model: BPE merges to learn; 0: by the size of the text" },
    { "updates", 0, RELA_OPTION_INT, AT(updates), 0, 1e9, "0", "N", "without a model: training updates for each direction; 0: by the size of the text" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "gold-base", "best-on",
    "gold-reverse", "best-on",
    "src-lang", "tokenise",
    "tgt-lang", "tokenise",
    NULL,
};
/* clang-format on */

/* Those that have no effect with one direction alone. */
static const char *const REVERSE_NEEDS[] = { "reverse-layer", "reverse",       "reverse-head",
                                             "reverse",       "reverse-shift", "reverse",
                                             "symmetrise",    "reverse",       NULL };

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_align[] = {
    { .name = "align",
      .summary = "link words of parallel text",
      .operands = "[MODEL] [SRC TGT]",
      .min_operands = 1,
      .max_operands = 3,
      .description =
          "Writes one line per pair: space-separated links i-j between source word i and target\n"
          "word j, both from 0. Words are those that the tokeniser of the model gives. A target\n"
          "word is linked to the source word it attends to most; it has no link if that is the\n"
          "end of the sentence, or if it attends to nothing. A pair with an empty side, or too\n"
          "long for the model, gives an empty line. A model with several sources needs the text\n"
          "of each; one of them is linked (--source).\n"
          "Without a model, models for both directions are first trained on the text itself,\n"
          "which takes seconds to minutes, and their links are combined by --symmetrise.",
      .examples =
          "rela align corpus.de corpus.en > corpus.align\n"
          "rela align corpus.de corpus.en --save aligner.rela > corpus.align\n"
          "rela align aligner.rela test.de test.en > test.align\n"
          "rela align run/model.rela --src test.en --tgt test.de --layer 2 --shift > test.align\n"
          "rela align run/model.rela --src all.en --tgt all.de --best-on first150.align -o "
          "all.align\n"
          "rela align en-de.rela --reverse de-en.rela --src a.en --tgt a.de --symmetrise "
          "grow-diag\n"
          "rela align run/model.rela --src test.en --tgt test.de --show 3\n"
          "rela align en+fr-de.rela --src a.en --src-2 a.fr --tgt a.de --source 2 > fr-de.align",
      .options = OPTIONS,
      .options_size = sizeof(align_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

typedef struct aligner {
    rela_cli *cli;
    align_options *o;
    const char *model; /* NULL: learn one */
    bool pair;         /* the model file holds both directions */
    rela_cli_models models;
    rela_job *job;
    rela_writer *writer; /* on rank 0 */
    rela_progress progress;
    size_t columns; /* of the terminal that --show writes to; 0: none */
    rela_buffer out;
    rela_status st;
    rela_error *err;
} aligner;

static rela_status take_operands(aligner *a, rela_error *err);
static rela_status check_learning(const aligner *a, rela_error *err);
static rela_status check_save(const char *path, rela_error *err);
static rela_status load_models(aligner *a, rela_error *err);
static rela_status open_all(aligner *a, rela_error *err);
static rela_status align(aligner *a, rela_align_report *r, rela_error *err);
static void set_options(rela_align_options *to, const aligner *a);
static rela_status check(const aligner *a, rela_error *err);
static int write_line(void *ctx, const rela_aligned *line);
static rela_status report(const aligner *a, const rela_align_report *r, rela_error *err);

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    aligner a = { .cli = cli, .o = options, .err = err };
    rela_align_report r = { .struct_size = sizeof r };
    rela_status st = take_operands(&a, err);
    if (strcmp(a.o->output, "-") == 0)
        a.columns = rela_cli_terminal_width(STDOUT_FILENO);
    st = st ? st : check(&a, err);
    st = st ? st : rela_cli_job_open(&a.job, cli, a.o->resume, err);
    st = st ? st : rela_job_agree(a.job, open_all(&a, err), err);
    st = st ? st : align(&a, &r, err);
    if (st == RELA_OK && a.writer) {
        st = rela_writer_commit(a.writer, err);
    } else if (a.writer) {
        if (strcmp(a.o->output, "-") == 0)
            (void)rela_writer_flush(a.writer, NULL); /* what was done before the failure */
        rela_writer_abort(a.writer);
    }
    if (st == RELA_OK && cli->common.json && rela_job_rank(a.job) == 0)
        st = report(&a, &r, err);
    rela_buffer_free(&a.out);
    rela_cli_models_close(&a.models);
    return rela_job_close(a.job, rela_job_agree(a.job, st, err), err);
}

static rela_status open_all(aligner *a, rela_error *err)
{
    if (rela_cli_job_shared(a->job, a->o->resume) && (!a->model || a->o->show))
        return rela_fail(err, RELA_ARG, "%s: for one process, without --resume%s",
                         a->model ? "--show" : "learning from the text",
                         a->model ? ""
                                  : "; 'rela align SRC TGT --save MODEL' makes a model for it");
    rela_status st = RELA_OK;
    if (rela_job_rank(a->job) == 0) /* first: learning takes minutes */
        st = rela_writer_open(&a->writer, a->o->output, err);
    st = st ? st : a->model ? RELA_OK : check_learning(a, err);
    return st ? st : load_models(a, err);
}

static rela_status align(aligner *a, rela_align_report *r, rela_error *err)
{
    rela_align_options o;
    set_options(&o, a);
    const char *const texts[] = { o.src, o.src_2, o.src_3, o.src_4, o.tgt };
    rela_cli_typed_text(a->cli, texts, sizeof texts / sizeof texts[0]);
    rela_cli_progress(a->cli, &a->progress, "aligning", "pairs", 0);
    rela_progress_start(&a->progress, 0);
    const rela_status st = rela_align(r, a->models.models[0], &o, write_line, a, err);
    if (st == RELA_OK && a->progress.visible)
        rela_progress_finish(&a->progress, r->lines, NULL);
    return st == RELA_CANCEL && a->st ? a->st : st;
}

/* MODEL with --src and --tgt, or SRC TGT, or all three. */
static rela_status take_operands(aligner *a, rela_error *err)
{
    const rela_status st = rela_cli_take_texts(a->cli, &a->o->src, &a->o->tgt, err);
    a->model = a->cli->operands.n ? a->cli->operands.items[0] : NULL;
    return st;
}

static rela_status load_pair(aligner *a, const char *path, rela_error *err)
{
    rela_status st = RELA_OK;
    for (a->models.part = 1; a->models.part <= 2 && st == RELA_OK; a->models.part++)
        st = rela_cli_models_load(&a->models, a->cli, &path, 1, err);
    return st;
}

static int on_update(void *ctx, int32_t direction, uint64_t update, uint64_t updates)
{
    static const char *const LABELS[] = { "learning 1/2", "learning 2/2" };
    aligner *a = ctx;
    if (update == 1) {
        rela_cli_progress(a->cli, &a->progress, LABELS[direction], "updates", updates);
        rela_progress_start(&a->progress, 0);
    }
    rela_progress_update(&a->progress, update, NULL);
    if (update == updates)
        rela_progress_finish(&a->progress, updates, NULL);
    return 0;
}

/* Without --save the pair goes into a temporary directory and is deleted once loaded. */
static rela_status learn_models(aligner *a, rela_error *err)
{
    const align_options *o = a->o;
    rela_buffer dir = RELA_BUFFER_INIT, pair = RELA_BUFFER_INIT;
    rela_align_learn_options how;
    rela_align_learn_options_init(&how, sizeof how);
    how.src = o->src;
    how.tgt = o->tgt;
    how.src_lang = o->src_lang;
    how.tgt_lang = o->tgt_lang;
    how.tokenise = o->tokenise;
    how.merges = o->merges;
    how.updates = o->updates;
    how.threads = a->cli->common.threads;
    how.seed = a->cli->common.seed;
    how.progress = on_update;
    how.progress_ctx = a;
    rela_status st = RELA_OK;
    if (o->tokenise)
        rela_cli_say_languages(a->cli, o->src_lang, o->src, o->tgt_lang, o->tgt);
    if (!o->save) {
        st = rela_dir_temporary(&dir, err);
        st = st ? st : rela_buffer_printf(&pair, err, "%s/pair.rela", dir.data);
    }
    const char *path = o->save ? o->save : pair.data;
    st = st ? st : rela_align_learn(path, &how, err);
    st = st ? st : load_pair(a, path, err);
    if (dir.len && rela_dir_remove(dir.data, NULL) != RELA_OK)
        rela_log_line(&a->cli->sink, RELA_LOG_WARNING, "%s: cannot be removed", dir.data);
    rela_buffer_free(&dir);
    rela_buffer_free(&pair);
    return st;
}

/* What would fail only after the models have been learned. */
static rela_status check_learning(const aligner *a, rela_error *err)
{
    const align_options *o = a->o;
    rela_text_lines gold = { .n = 0 };
    uint64_t n = 0;
    rela_status st = o->save ? check_save(o->save, err) : RELA_OK;
    if (st == RELA_OK && o->best_on)
        st = rela_text_lines_read(&gold, o->best_on, err);
    if (st == RELA_OK && o->best_on && gold.n == 0)
        st = rela_fail(err, RELA_FORMAT, "%s: no lines", o->best_on);
    if (st == RELA_OK && (o->best_on || o->show))
        st = rela_file_count_lines(&n, o->src, err);
    if (st == RELA_OK && gold.n > n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu line%s but %s has %llu", o->best_on, gold.n,
                       rela_plural(gold.n), o->src, (unsigned long long)n);
    if (st == RELA_OK && o->show && (uint64_t)o->show > n)
        st = rela_fail(err, RELA_ARG, "%s: no line %lld; it has %llu", o->src, (long long)o->show,
                       (unsigned long long)n);
    rela_text_lines_free(&gold);
    return st;
}

/* rela_align_learn checks that it can be written. */
static rela_status check_save(const char *path, rela_error *err)
{
    const bool file = rela_name_taken(path) ? rela_file_same(path, path) : strcmp(path, "-") != 0;
    if (!file && !rela_dir_exists(path)) /* it could not be read again */
        return rela_fail(err, RELA_ARG, "--save needs the name of a file");
    const char *dot = strrchr(path, '.');
    if (dot && (strcmp(dot, ".gz") == 0 || strcmp(dot, ".zst") == 0))
        return rela_fail(err, RELA_ARG, "%s: models cannot be compressed", path);
    return RELA_OK;
}

static rela_status load_models(aligner *a, rela_error *err)
{
    a->pair = !a->model || rela_model_is_pair(a->model);
    if (a->pair && a->o->soft)
        return rela_fail(err, RELA_ARG,
                         "--soft and --reverse cannot go together, nor --soft and "
                         "a pair of models");
    if (a->pair && a->o->reverse)
        return rela_fail(err, RELA_ARG, "--reverse goes with a model of one direction");
    if (a->o->reverse && rela_model_is_pair(a->o->reverse))
        return rela_fail(err, RELA_ARG,
                         "%s: a pair of models; --reverse takes a model of one direction",
                         a->o->reverse);
    if (!a->model)
        return learn_models(a, err);
    if (a->pair)
        return load_pair(a, a->model, err);
    rela_cli_check_effect(a->cli, REVERSE_NEEDS);
    const rela_status st = rela_cli_models_load(&a->models, a->cli, &a->model, 1, err);
    return st || !a->o->reverse ? st
                                : rela_cli_models_load(&a->models, a->cli, &a->o->reverse, 1, err);
}

static rela_status check(const aligner *a, rela_error *err)
{
    const align_options *o = a->o;
    if (!o->src || !o->tgt)
        return rela_fail(err, RELA_ARG, "no text: name the two files, or --src and --tgt");
    if (a->model &&
        (o->save || o->tokenise || o->src_lang || o->tgt_lang || o->merges || o->updates))
        return rela_fail(err, RELA_ARG,
                         "--save, --tokenise, --src-lang, --tgt-lang, --merges and --updates are "
                         "for learning from the text, without a model");
    if (!a->model && (strcmp(o->src, "-") == 0 || strcmp(o->tgt, "-") == 0))
        return rela_fail(
            err, RELA_ARG,
            "text is read several times to learn from it, so it cannot be standard input");
    if (o->soft && !a->model)
        return rela_fail(err, RELA_ARG, "--soft needs a model of one direction");
    if (!a->model && (o->source > 1 || o->src_2 || o->src_3 || o->src_4))
        return rela_fail(err, RELA_ARG, "--source and --src-2 need a model with several sources");
    if (!a->model && (o->layer > 1 || o->head > 1 || o->reverse_layer > 1 || o->reverse_head > 1))
        return rela_fail(err, RELA_ARG, "no layer or head %lld; a learned model has 1 of each",
                         (long long)(o->layer > 1           ? o->layer
                                     : o->head > 1          ? o->head
                                     : o->reverse_layer > 1 ? o->reverse_layer
                                                            : o->reverse_head));
    if (o->head && !o->layer)
        return rela_fail(err, RELA_ARG, "--head needs --layer");
    if (o->reverse_head && !o->reverse_layer)
        return rela_fail(err, RELA_ARG, "--reverse-head needs --reverse-layer");
    if (o->soft && o->reverse)
        return rela_fail(err, RELA_ARG, "--soft and --reverse cannot go together");
    if (o->reverse && o->src_2 && !rela_options_given(a->cli->state, "source"))
        return rela_fail(err, RELA_ARG,
                         "--reverse with several sources needs --source: the one that MODEL2 "
                         "translates to");
    if (o->best_on && (o->layer || o->shift || o->reverse_layer || o->reverse_shift))
        return rela_fail(err, RELA_ARG, "--best-on chooses layer, head and shift itself");
    if (a->cli->common.json && strcmp(o->output, "-") == 0)
        return rela_fail(err, RELA_ARG, "--json prints a report: the links need --output");
    return RELA_OK;
}

static void set_options(rela_align_options *to, const aligner *a)
{
    static const char *const NAMES[] = { "intersect",           "union",
                                         "grow-diag",           "grow-diag-final",
                                         "grow-diag-final-and", "mean" };
    const align_options *o = a->o;
    rela_align_options_init(to, sizeof *to);
    to->src = o->src;
    to->src_2 = o->src_2;
    to->src_3 = o->src_3;
    to->src_4 = o->src_4;
    to->source = (int32_t)o->source - 1;
    to->tgt = o->tgt;
    to->layer = (int32_t)o->layer - 1;
    to->head = (int32_t)o->head - 1;
    to->shift = o->shift;
    to->threshold = o->threshold;
    to->soft = o->soft;
    to->reverse = o->reverse || a->pair ? a->models.models[1] : NULL;
    to->reverse_layer = (int32_t)o->reverse_layer - 1;
    to->reverse_head = (int32_t)o->reverse_head - 1;
    to->reverse_shift = o->reverse_shift;
    while (strcmp(NAMES[to->symmetrise], o->symmetrise) != 0)
        to->symmetrise = (to->symmetrise + 1) % (RELA_ALIGN_MEAN + 1);
    to->best_on = o->best_on;
    to->gold_base = (int32_t)o->gold_base;
    to->gold_reverse = o->gold_reverse;
    to->only = o->show - 1;
    to->job = rela_cli_job_shared(a->job, o->resume) ? a->job : NULL;
}

static int write_line(void *ctx, const rela_aligned *line)
{
    aligner *a = ctx;
    rela_buffer_clear(&a->out);
    if (a->o->show) {
        a->st = rela_cli_heatmap(&a->out, line, a->columns, a->err);
    } else {
        a->st = rela_buffer_append(&a->out, line->links, line->links_len, a->err);
        if (a->st == RELA_OK)
            a->st = rela_buffer_append_char(&a->out, '\n', a->err);
    }
    if (a->st == RELA_OK)
        a->st = rela_writer_write(a->writer, a->out.data, a->out.len, a->err);
    rela_progress_update(&a->progress, line->line + 1, NULL);
    return a->st != RELA_OK;
}

static rela_status report(const aligner *a, const rela_align_report *r, rela_error *err)
{
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(
        &out, err,
        "{\"lines\": %llu, \"empty\": %llu, \"too_long\": %llu, \"layer\": %d, \"head\": %d, "
        "\"shift\": %s",
        (unsigned long long)r->lines, (unsigned long long)r->empty, (unsigned long long)r->too_long,
        r->layer, r->head, r->shift ? "true" : "false");
    if (st == RELA_OK && a->o->src_2)
        st = rela_buffer_printf(&out, err, ", \"source\": %d", (int)a->o->source - 1);
    if (st == RELA_OK && (a->o->reverse || a->pair))
        st = rela_buffer_printf(
            &out, err, ", \"reverse_layer\": %d, \"reverse_head\": %d, \"reverse_shift\": %s",
            r->reverse_layer, r->reverse_head, r->reverse_shift ? "true" : "false");
    if (st == RELA_OK && a->o->best_on)
        st = rela_buffer_printf(&out, err, ", \"dev_pairs\": %llu, \"dev_aer\": %.17g",
                                (unsigned long long)r->dev_pairs, 100 * r->aer);
    if (st == RELA_OK && a->o->best_on && (a->o->reverse || a->pair))
        st = rela_buffer_printf(&out, err, ", \"dev_reverse_aer\": %.17g", 100 * r->reverse_aer);
    if (st == RELA_OK)
        st = rela_buffer_append_text(&out, "}\n", err);
    if (st == RELA_OK)
        st = rela_cli_print(&out, err);
    rela_buffer_free(&out);
    return st;
}
