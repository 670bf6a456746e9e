/* SPDX-License-Identifier: MIT */
/* cli/cmd_shortlist.c - rela shortlist: learns a lexical shortlist of target words. */
#include "models.h"

#include "rela/analyse.h"

typedef struct shortlist_options {
    const char *src, *tgt, *links, *out;
    int64_t frequent, best, layer, head;
    bool shift;
    double threshold;
} shortlist_options;

#define AT(member) offsetof(shortlist_options, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 's', RELA_OPTION_FILE, AT(src), 0, 0, NULL, "FILE", "source text, preferably the training text; - is standard input" },
    { "tgt", 0, RELA_OPTION_FILE, AT(tgt), 0, 0, NULL, "FILE", "target text, parallel to the source text" },
    { "out", 'o', RELA_OPTION_OUTPUT, AT(out), 0, 0, NULL, "FILE", "output file for the shortlist" },
    { "frequent", 0, RELA_OPTION_INT, AT(frequent), 0, 1048576, "50", "N", "number of most frequent target subwords, allowed in every sentence" },
    { "best", 0, RELA_OPTION_INT, AT(best), 0, 1048576, "50", "N", "number of target subwords per source subword: those it is linked to most often" },
    { "links", 0, RELA_OPTION_FILE, AT(links), 0, 0, NULL, "FILE", "word links of the text, i-j from 0, to use instead of attention" },
    { "layer", 'l', RELA_OPTION_INT, AT(layer), 0, 256, "0", "N", "decoder layer, from 1; 0: mean of all layers and heads" },
    { "head", 0, RELA_OPTION_INT, AT(head), 0, 256, "0", "N", "head of that layer, from 1; 0: mean of its heads" },
    { "shift", 0, RELA_OPTION_FLAG, AT(shift), 0, 0, NULL, NULL, "use the attention of the step after the target word is predicted, when it is the decoder input" },
    { "threshold", 0, RELA_OPTION_REAL, AT(threshold), 0, 1, "0", "X", "link a target word to all source words with at least this share of its attention; 0: to the one with most" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "seed", "",
    NULL,
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_shortlist[] = {
    { .name = "shortlist",
      .summary = "learn a shortlist of target words for faster translation",
      .operands = "MODEL --src FILE --tgt FILE --out FILE",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "Links the words of parallel text by the attention of the model, as 'rela align' does,\n"
          "or takes given links, and counts how often the subwords of linked words co-occur. With\n"
          "the resulting file, 'rela translate --shortlist FILE' chooses among a few hundred\n"
          "subwords instead of the whole vocabulary. It only fits models with the same\n"
          "vocabularies.",
      .examples = "rela shortlist run/model.rela --src train.en --tgt train.de -o run/shortlist\n"
                  "rela translate run/model.rela --shortlist run/shortlist < in.en > out.de\n"
                  "rela shortlist run/model.rela --src train.en --tgt train.de \\\n"
                  "    --links train.align --best 100 -o run/shortlist",
      .options = OPTIONS,
      .options_size = sizeof(shortlist_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

static rela_status check(const shortlist_options *o, rela_error *err)
{
    if (!o->src || !o->tgt || !o->out)
        return rela_fail(err, RELA_ARG, "--src, --tgt and --out are needed");
    if (o->head && !o->layer)
        return rela_fail(err, RELA_ARG, "--head needs --layer");
    if (o->links && (o->layer || o->shift || o->threshold > 0))
        return rela_fail(err, RELA_ARG,
                         "--links leaves nothing to choose: no --layer, --shift or "
                         "--threshold");
    return RELA_OK;
}

static int on_progress(void *ctx, uint64_t lines)
{
    rela_progress_update(ctx, lines, NULL);
    return 0;
}

static rela_status report(rela_cli *cli, const rela_shortlist_report *r, rela_error *err)
{
    rela_buffer out = RELA_BUFFER_INIT;
    if (!cli->common.json) {
        rela_log_line(&cli->sink, RELA_LOG_INFO,
                      "%llu pair%s, %llu link%s: %llu frequent subwords, %llu for source subwords",
                      (unsigned long long)r->lines, rela_plural(r->lines),
                      (unsigned long long)r->links, rela_plural(r->links),
                      (unsigned long long)r->frequent, (unsigned long long)r->words);
        return RELA_OK;
    }
    rela_status st = rela_buffer_printf(
        &out, err,
        "{\"pairs\": %llu, \"empty\": %llu, \"too_long\": %llu, \"links\": %llu, "
        "\"frequent\": %llu, \"words\": %llu}\n",
        (unsigned long long)r->lines, (unsigned long long)r->empty, (unsigned long long)r->too_long,
        (unsigned long long)r->links, (unsigned long long)r->frequent,
        (unsigned long long)r->words);
    st = st ? st : rela_cli_print(&out, err);
    rela_buffer_free(&out);
    return st;
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const shortlist_options *o = options;
    rela_cli_models models = { .runtime = NULL };
    rela_shortlist_report r = { .struct_size = sizeof r };
    rela_status st = check(o, err);
    if (st == RELA_OK)
        st = rela_cli_models_load(&models, cli, cli->operands.items, 1, err);
    if (st == RELA_OK) {
        rela_progress bar;
        rela_shortlist_options to;
        rela_shortlist_options_init(&to, sizeof to);
        to.src = o->src;
        to.tgt = o->tgt;
        to.links = o->links;
        to.out = o->out;
        to.layer = (int32_t)o->layer - 1;
        to.head = (int32_t)o->head - 1;
        to.shift = o->shift;
        to.threshold = o->threshold;
        to.frequent = o->frequent;
        to.best = o->best;
        to.progress = on_progress;
        to.progress_ctx = &bar;
        const char *const texts[] = { o->src, o->tgt, o->links };
        rela_cli_typed_text(cli, texts, sizeof texts / sizeof texts[0]);
        rela_cli_progress(cli, &bar, "linking", "pairs", 0);
        rela_progress_start(&bar, 0);
        st = rela_shortlist_learn(&r, models.models[0], &to, err);
        if (st == RELA_OK && bar.visible)
            rela_progress_finish(&bar, r.lines, NULL);
    }
    st = st ? st : report(cli, &r, err);
    rela_cli_models_close(&models);
    return st;
}
