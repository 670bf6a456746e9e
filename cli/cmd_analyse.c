/* SPDX-License-Identifier: MIT */
/* cli/cmd_analyse.c - rela analyse: tables and figures of the attention of models. */
#include "display_names.h"
#include "jobs.h"
#include "models.h"

#include "rela/analyse.h"

#include <string.h>

typedef struct analyse_options {
    const char *src, *src_2, *src_3, *src_4, *tgt, *gold, *tags, *out, *dump;
    int64_t source, gold_base, limit, example, layer;
    bool gold_reverse, skip_end, pieces;
    rela_list names, compare;
    const char *resume;
} analyse_options;

#define AT(member) offsetof(analyse_options, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 's', RELA_OPTION_FILE, AT(src), 0, 0, NULL, "FILE", "source text" },
    { "tgt", 0, RELA_OPTION_FILE, AT(tgt), 0, 0, NULL, "FILE", "target text, parallel to the source text" },
    { "src-2", 0, RELA_OPTION_FILE, AT(src_2), 0, 0, NULL, "FILE", "text of a second source, if the models have one; lines may be empty" },
    { "src-3", 0, RELA_OPTION_FILE, AT(src_3), 0, 0, NULL, "FILE", "text of a third source" },
    { "src-4", 0, RELA_OPTION_FILE, AT(src_4), 0, 0, NULL, "FILE", "text of a fourth source" },
    { "source", 0, RELA_OPTION_INT, AT(source), 1, RELA_SOURCES_MAX, "1", "N", "with several sources: the source for gold links, tags and attention maps" },
    { "out", 'o', RELA_OPTION_DIR, AT(out), 0, 0, NULL, "DIR", "directory for tables, figures and the report" },
    { "compare", 0, RELA_OPTION_FILES, AT(compare), 0, 0, NULL, "MODEL2", "another model to compare; the same as a further operand" },
    { "names", 0, RELA_OPTION_LIST, AT(names), 0, 0, NULL, "NAME", "name of a model in tables and figures; once for each model [from its path]" },
    { "gold", 0, RELA_OPTION_FILE, AT(gold), 0, 0, NULL, "FILE", "gold links of the first lines, for alignment errors" },
    { "gold-base", 0, RELA_OPTION_INT, AT(gold_base), 0, 1, "0", "0|1", "number of the first word in the gold links" },
    { "gold-reverse", 0, RELA_OPTION_FLAG, AT(gold_reverse), 0, 0, NULL, NULL, "gold links have the target word first" },
    { "tags", 0, RELA_OPTION_FILE, AT(tags), 0, 0, NULL, "FILE", "part-of-speech tags of the target words, parallel to --tgt" },
    { "dump", 0, RELA_OPTION_OUTPUT, AT(dump), 0, 0, NULL, "FILE", "write all attention of the first model to a .npz file" },
    { "resume", 0, RELA_OPTION_OUTPUT, AT(resume), 0, 0, NULL, "FILE", RELA_CLI_RESUME_HELP },
    { "limit", 'n', RELA_OPTION_INT, AT(limit), 0, 1e9, "0", "N", "only the first N pairs; 0: all" },
    { "example", 0, RELA_OPTION_INT, AT(example), 0, 1e9, "0", "LINE", "line whose attention is shown; 0: the first of medium length" },
    { "layer", 'l', RELA_OPTION_INT, AT(layer), 0, 256, "0", "N", "decoder layer to show, from 1; 0: the one with most null rows, else the last" },
    { "pieces", 0, RELA_OPTION_FLAG, AT(pieces), 0, 0, NULL, NULL, "draw attention between subwords instead of words" },
    { "skip-end", 0, RELA_OPTION_FLAG, AT(skip_end), 0, 0, NULL, NULL, "leave the query that predicts the end of the sentence out of null rates" },
    { .name = NULL },
};
/* clang-format on */

static const char *const NEEDS[] = { "gold-base", "gold", "gold-reverse", "gold", NULL };

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_analyse[] = {
    { .name = "analyse",
      .alias = "analyze",
      .summary = "measure and draw the attention of models",
      .operands = "MODEL... --src FILE --tgt FILE --out DIR",
      .min_operands = 1,
      .max_operands = RELA_CLI_MODELS_MAX,
      .description =
          "Runs each model on the pairs with teacher forcing and writes to --out: analysis.json,\n"
          "heads.tsv, layers.tsv, models.tsv, pairs.tsv (tags.tsv), figures as SVG, PNG, PDF, and\n"
          "report.html with all of them. It measures sparsity, null rate on the text and with\n"
          "permuted targets (--seed), head diversity, alignment error against --gold, and null\n"
          "rate by part of speech with --tags. Several models are shown side by side. Models with\n"
          "several sources need the text of each; null rates are measured for each source.",
      .examples = "rela analyse run/model.rela --src test.en --tgt test.de --out analysis\n"
                  "rela analyse softmax/model.rela rela-g/model.rela --src dev.de --tgt dev.en \\\n"
                  "    --gold dev.align --out both\n"
                  "rela analyse en+fr-de.rela --src a.en --src-2 a.fr --tgt a.de --out analysis",
      .options = OPTIONS,
      .options_size = sizeof(analyse_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status print(rela_cli *cli, const rela_buffer *table, const rela_buffer *json,
                         rela_error *err);

static rela_status analyse(rela_buffer *table, rela_buffer *json, rela_cli *cli,
                           const rela_cli_models *m, const analyse_options *o, rela_job *job,
                           rela_error *err);
static void set_options(rela_analyse_options *to, const rela_cli *cli, const analyse_options *o);

static rela_status check(const rela_cli *cli, const analyse_options *o, rela_error *err)
{
    if (!o->src || !o->tgt || !o->out)
        return rela_fail(err, RELA_ARG, "--src, --tgt and --out are needed");
    if (o->names.n && o->names.n != cli->operands.n + o->compare.n)
        return rela_fail(err, RELA_ARG, "%zu name%s for %zu model%s", o->names.n,
                         o->names.n == 1 ? "" : "s", cli->operands.n + o->compare.n,
                         cli->operands.n + o->compare.n == 1 ? "" : "s");
    return RELA_OK;
}

static rela_status load(rela_cli_models *m, rela_cli *cli, const analyse_options *o,
                        rela_error *err)
{
    const rela_status st = rela_cli_models_load(m, cli, cli->operands.items, cli->operands.n, err);
    return st == RELA_OK ? rela_cli_models_load(m, cli, o->compare.items, o->compare.n, err) : st;
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const analyse_options *o = options;
    rela_cli_models m = { .input = "--src and --tgt" };
    rela_job *job = NULL;
    rela_buffer table = RELA_BUFFER_INIT, json = RELA_BUFFER_INIT;
    rela_status st = check(cli, o, err);
    st = st ? st : rela_cli_job_open(&job, cli, o->resume, err);
    st = rela_job_agree(job, st ? st : load(&m, cli, o, err), err);
    st = st ? st : analyse(&table, &json, cli, &m, o, job, err);
    if (st == RELA_OK && rela_job_rank(job) == 0)
        st = print(cli, &table, &json, err);
    rela_buffer_free(&table);
    rela_buffer_free(&json);
    rela_cli_models_close(&m);
    return rela_job_close(job, rela_job_agree(job, st, err), err);
}

static rela_status analyse(rela_buffer *table, rela_buffer *json, rela_cli *cli,
                           const rela_cli_models *m, const analyse_options *o, rela_job *job,
                           rela_error *err)
{
    static char texts[RELA_CLI_MODELS_MAX][RELA_CLI_DISPLAY_NAME];
    const rela_model *models[RELA_CLI_MODELS_MAX];
    const char *names[RELA_CLI_MODELS_MAX], *paths[RELA_CLI_MODELS_MAX];
    rela_cli_bar bar = { .cli = cli, .label = "analysing", .unit = "pairs" };
    rela_analyse_options a;
    for (size_t i = 0; i < m->n; i++) {
        const size_t given = cli->operands.n;
        models[i] = m->models[i];
        paths[i] = i < given ? cli->operands.items[i] : o->compare.items[i - given];
        names[i] = o->names.n ? o->names.items[i] : texts[i];
    }
    rela_cli_display_names(texts, paths, m->n);
    set_options(&a, cli, o);
    const char *const inputs[] = { a.src, a.src_2, a.src_3, a.src_4, a.tgt };
    rela_cli_typed_text(cli, inputs, sizeof inputs / sizeof inputs[0]);
    a.names = names;
    a.progress = rela_cli_log;
    a.progress_ctx = &bar;
    a.job = rela_cli_job_shared(job, o->resume) ? job : NULL;
    return rela_analyse(table, json, models, m->n, &a, err);
}

static void set_options(rela_analyse_options *to, const rela_cli *cli, const analyse_options *o)
{
    rela_analyse_options_init(to, sizeof *to);
    to->src = o->src;
    to->src_2 = o->src_2;
    to->src_3 = o->src_3;
    to->src_4 = o->src_4;
    to->source = (int32_t)o->source - 1;
    to->tgt = o->tgt;
    to->gold = o->gold;
    to->gold_base = (int32_t)o->gold_base;
    to->gold_reverse = o->gold_reverse;
    to->tags = o->tags;
    to->out = o->out;
    to->dump = o->dump;
    to->seed = (uint64_t)cli->common.seed;
    to->limit = (uint64_t)o->limit;
    to->example = o->example - 1;
    to->layer = (int32_t)o->layer - 1;
    to->pieces = o->pieces;
    to->skip_end = o->skip_end;
}

static rela_status print(rela_cli *cli, const rela_buffer *table, const rela_buffer *json,
                         rela_error *err)
{
    return rela_cli_print(cli->common.json ? json : table, err);
}
