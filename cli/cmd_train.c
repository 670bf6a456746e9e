/* SPDX-License-Identifier: MIT */
/* cli/cmd_train.c - rela train: trains a model on raw parallel text. */
#include "cli.h"
#include "stop_signals.h"
#include "train_checks.h"
#include "train_texts.h"

#include "base/json.h"
#include "base/par.h"
#include "rela/model.h"
#include "train/train_settings.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* Filled in by the option table. */
typedef struct train_args {
    rela_train_options o;
    rela_cli_texts texts;
    const char *max_time;
    bool show_config;
} train_args;

typedef struct display {
    rela_cli *cli;
    rela_progress bar;
    bool started;
    char note[96];
    uint64_t update, best_update; /* for --json */
    double perplexity, bleu;
    uint32_t rank;
} display;

#define VALIDATION "valid-src|valid-tsv"
/* clang-format off */
static const char *const NEEDS[] = {
    "best-by", VALIDATION,
    "valid-beam", VALIDATION,
    "lr-least", "cool-down|schedule=cosine|schedule=linear|preset=align",
    "src-lang-2", "train-src-2|train-tsv",
    "src-lang-3", "train-src-3|train-tsv",
    "src-lang-4", "train-src-4|train-tsv",
    "json", "!show-config",
    NULL,
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status show_config(const rela_train_options *o, rela_error *err);
static rela_status print_result(const display *s, const rela_train_options *o, rela_error *err);
static int on_event(void *ctx, const rela_train_event *e);
static int is_stopped(void *ctx);
static rela_status report_stop(rela_cli *cli, const rela_train_options *o, int number,
                               rela_error *err);

#define AT(member)      offsetof(train_args, o.member)
#define LIST_AT(member) offsetof(train_args, member)

/* clang-format off */
#define NUMBER(type, key, letter, member, place, of_model, presets, least, most, unit, help) \
    { key, letter, RELA_OPTION_##type, AT(member), least, most, NULL, unit, help },
#define STRING(type, key, letter, member, place, presets, values, help) \
    { key, letter, RELA_OPTION_##type, AT(member), 0, 0, NULL, values, help },
#define FLAG(key, member, place, of_model, recent, help) \
    { key, 0, RELA_OPTION_FLAG, AT(member), 0, 0, NULL, NULL, help },
#define LIST(key, member, list, place, unit, help) \
    { key, 0, RELA_OPTION_FILES, LIST_AT(list), 0, 0, NULL, unit, help },
#define TIME(key, member, place, presets, least, most, unit, help) \
    { key, 0, RELA_OPTION_TEXT, LIST_AT(member), 0, 0, NULL, unit, help },
#define COMMON(key, member, place, presets, least, most)
static const rela_option OPTIONS[] = {
    { "preset", 0, RELA_OPTION_CHOICE, AT(preset), 0, 0, NULL, RELA_PRESETS("|"), "model size and training settings, which other options override [by the size of the text: demo below 5,000 lines or 15 minutes, otherwise tiny]" },
    RELA_TRAIN_FILES_MAP(STRING, LIST)
    { "train-tsv", 0, RELA_OPTION_FILES, LIST_AT(texts.tsv), 0, 0, NULL, "FILE", "training text in one file instead: source TAB target, with several sources all of them before the target; may be repeated" },
    { "valid-tsv", 0, RELA_OPTION_FILE, LIST_AT(texts.valid_tsv), 0, 0, NULL, "FILE", "validation text in one file, with the same columns" },
    RELA_TRAIN_SETTINGS_MAP(NUMBER, STRING, FLAG, LIST, TIME, COMMON)
    { "show-config", 0, RELA_OPTION_FLAG, LIST_AT(show_config), 0, 0, NULL, NULL, "print all settings, including those of the preset, and exit" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_train[] = {
    { .name = "train",
      .summary = "train a translation model from raw parallel text",
      .operands = "--train-src FILE --train-tgt FILE --out DIR",
      .description =
          "Learns BPE and vocabularies if none are given, trains, validates, and writes "
          "OUT/model.rela: the last checkpoint, a mean of the last ones or the best one, whichever "
          "is best on the validation text. Run again with the same --out, it resumes where it "
          "stopped, with bit-identical results. SIGTERM and SIGINT save and stop within seconds "
          "(another one, more than a second later, at once), SIGHUP and SIGUSR1 save and continue. "
          "Options without a default take it from the preset: demo for thousands of lines (a "
          "minute or two on two cores, 62 MB of memory), tiny from 5,000 lines on (1 h 45 min, 151 "
          "MB), base and paper for millions of lines on several machines (53 and 160 days on two "
          "cores, 2 GB), align for an alignment model (three minutes, 76 MB). In the first minute "
          "there is a forecast. Started by mpirun or srun, all processes train one model, and the "
          "result does not depend on their number.",
      .examples =
          "rela train --preset tiny --train-src train.en --train-tgt train.de \\\n"
          "    --valid-src val.en --valid-tgt val.de --out run\n"
          "rela train --preset base --attention softmax --tokenise --src-lang fr --tgt-lang en \\\n"
          "    --train-src french.txt --train-tgt english.txt --out run2\n"
          "rela train --preset tiny --train-src a.en --train-src-2 a.fr \\\n"
          "    --train-tgt a.de --src-lang en --src-lang-2 fr --out en+fr-de\n"
          "mpirun --bind-to none -n 4 rela train --preset base --gradient-slots 16 \\\n"
          "    --gradient-groups 4 --train-src corpus.en --train-tgt corpus.de --out run3\n",
      .options = OPTIONS,
      .options_size = sizeof(train_args),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

/* Numbers stay "unset" unless they are given. */
static void take_given(rela_train_options *o, const train_args *given, const rela_cli *cli)
{
    rela_train_options_init(o, sizeof *o);
    for (const rela_option *row = OPTIONS; row->name; row++) {
        if (row->offset >= sizeof *o) /* not a library option */
            continue;
        const bool number = row->type == RELA_OPTION_INT || row->type == RELA_OPTION_REAL;
        const size_t size = number                          ? 8
                            : row->type == RELA_OPTION_FLAG ? sizeof(bool)
                                                            : sizeof(char *);
        if (!number || rela_options_given(cli->state, row->name))
            memcpy((char *)o + row->offset, (const char *)given + row->offset, size);
    }
    o->threads = cli->common.threads;
    o->seed = cli->common.seed;
}

rela_status rela_cli_train_settings(rela_buffer *out, rela_cli *cli, const void *options,
                                    rela_error *err)
{
    rela_train_options o;
    take_given(&o, options, cli);
    rela_status st = rela_cli_train_time(&o.max_time, ((const train_args *)options)->max_time, err);
    st = st ? st : rela_cli_train_check_settings(cli, &o, err);
    return st ? st : rela_train_options_show(out, &o, err);
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    train_args *given = options;
    rela_cli_texts *texts = &given->texts;
    rela_train_options o;
    take_given(&o, given, cli);
    o.mpi = true;
    char date[RELA_CLI_DATE_SIZE];
    display s = { .cli = cli };
    rela_status st = rela_cli_train_date(&o, cli, date, err);
    st = st || given->show_config ? st : rela_cli_texts_split(texts, &o, err);
    st = st ? st : rela_cli_texts_take(&o, texts, err);
    st = st ? st : rela_cli_train_time(&o.max_time, given->max_time, err);
    st = st ? st : rela_cli_train_check_settings(cli, &o, err);
    if (st == RELA_OK && given->show_config) {
        st = show_config(&o, err);
        rela_cli_texts_free(texts);
        return st;
    }
    st = st ? st : rela_cli_train_check_files(&o, err);
    o.stop = is_stopped;
    st = st ? st : rela_cli_watch_signals(err);
    st = st ? st : rela_train(&o, on_event, &s, err);
    rela_cli_texts_free(texts);
    /* Without a signal of its own, this rank stopped because another one did. */
    const int own = rela_cli_stop_signal(), number = own ? own : SIGTERM;
    cli->reported = s.rank > 0; /* by rank 0 */
    if (st == RELA_CANCEL) {
        if (s.rank == 0)
            st = report_stop(cli, &o, number, err);
        cli->exit_code = 128 + number;
        return s.rank == 0 ? st : RELA_OK;
    }
    return st == RELA_OK && cli->common.json && s.rank == 0 ? print_result(&s, &o, err) : st;
}

/* As a word of a shell command. */
static rela_status quote(rela_buffer *out, const char *text, rela_error *err)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:@%";
    if (text[strspn(text, PLAIN)] == '\0')
        return rela_buffer_append_text(out, text, err);
    rela_status st = rela_buffer_append_char(out, '\'', err);
    for (; *text && st == RELA_OK; text++)
        st = *text == '\'' ? rela_buffer_append_text(out, "'\\''", err)
                           : rela_buffer_append_char(out, *text, err);
    return st ? st : rela_buffer_append_char(out, '\'', err);
}

static rela_status report_stop(rela_cli *cli, const rela_train_options *o, int number,
                               rela_error *err)
{
    rela_buffer model = RELA_BUFFER_INIT, out = RELA_BUFFER_INIT;
    rela_status st = quote(&out, o->out, err);
    if (st == RELA_OK && rela_dir_exists(o->out) &&
        rela_model_find(&model, o->out, NULL) == RELA_OK)
        rela_log_line(&cli->sink, RELA_LOG_INFO,
                      "stopped by signal %d; go on with: rela train --config %s/config.yml; use "
                      "what there is with: rela translate %s",
                      number, out.data, out.data);
    else if (st == RELA_OK)
        rela_log_line(&cli->sink, RELA_LOG_INFO,
                      "stopped by signal %d before the first update; nothing was saved", number);
    rela_buffer_free(&model);
    rela_buffer_free(&out);
    return st;
}

static int is_stopped(void *ctx)
{
    (void)ctx;
    return rela_cli_stop_signal();
}

/* The best validation of this call only: a resumed run may have had a better one before. */
static rela_status print_result(const display *s, const rela_train_options *o, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/model.rela", o->out);
    st = st ? st : rela_buffer_append_text(&text, "{\"model\": ", err);
    st = st ? st : rela_json_quote(&text, path.data, path.len, err);
    st = st ? st
            : rela_buffer_printf(&text, err, ", \"updates\": %llu", (unsigned long long)s->update);
    if (st == RELA_OK && s->best_update) {
        st = rela_buffer_printf(&text, err, ", \"best\": {\"update\": %llu, \"perplexity\": ",
                                (unsigned long long)s->best_update);
        st = st ? st : rela_json_number(&text, s->perplexity, 9, err);
        st = st ? st : rela_buffer_append_text(&text, ", \"bleu\": ", err);
        st = st            ? st
             : s->bleu < 0 ? rela_buffer_append_text(&text, "null", err)
                           : rela_json_number(&text, s->bleu, 9, err);
        st = st ? st : rela_buffer_append_char(&text, '}', err);
    }
    st = st ? st : rela_buffer_append_text(&text, "}\n", err);
    st = st ? st : rela_cli_print(&text, err);
    rela_buffer_free(&text);
    rela_buffer_free(&path);
    return st;
}

static rela_status show_config(const rela_train_options *o, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_train_options_show(&text, o, err);
    st = st ? st : rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}

static int on_event(void *ctx, const rela_train_event *e)
{
    display *s = ctx;
    char speed[RELA_GROUPED_SIZE];
    switch (e->kind) {
    case RELA_TRAIN_SAVED:
        break;
    case RELA_TRAIN_LOG:
        if (s->bar.visible && s->bar.terminal && s->bar.emit)
            s->bar.emit(s->bar.ctx, "\r\033[K", 4);
        rela_log_line(&s->cli->sink, RELA_LOG_INFO, "%s", e->text);
        break;
    case RELA_TRAIN_JOINED:
        s->rank = e->rank;
        break;
    case RELA_TRAIN_UPDATE:
        s->update = e->update;
        if (!s->started && e->rank == 0) {
            rela_cli_progress(s->cli, &s->bar, "training", "updates", e->updates);
            rela_progress_start(&s->bar, e->update - 1);
            s->started = true;
        }
        s->bar.total = e->updates; /* follows the time that updates take */
        if (s->started)
            rela_progress_update(&s->bar, e->update, s->note);
        if (rela_cli_save_signal())
            return RELA_TRAIN_SAVE;
        break;
    case RELA_TRAIN_VALIDATED:
        if (e->is_best) {
            s->best_update = e->update;
            s->perplexity = e->perplexity;
            s->bleu = e->bleu;
        }
        break;
    case RELA_TRAIN_REPORT:
        if (isnan(e->loss))
            (void)snprintf(s->note, sizeof s->note, "updates are not finite");
        else
            (void)snprintf(s->note, sizeof s->note, "loss %.3f, %s tok/s, padding %.1f %%", e->loss,
                           rela_grouped(speed, (uint64_t)(e->tokens_per_second + 0.5)),
                           100 * e->padding);
        break;
    default:
        break;
    }
    return RELA_TRAIN_GO_ON;
}
