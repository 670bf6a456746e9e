/* SPDX-License-Identifier: MIT */
/* cli/cmd_study_choose.c - rela study choose: the settings with the best validation. */
#include "cli.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

typedef struct choose_options {
    const char *by, *out;
    rela_list settings;
} choose_options;

/* The best validation of a run. */
typedef struct outcome {
    double value;
    uint64_t update;
    bool validated; /* there is a row, finite or not */
} outcome;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status find_best(outcome *o, const char *path, const char *column, rela_error *err);
static rela_status write_choice(const choose_options *o, const outcome *outcomes, size_t n,
                                size_t chosen, rela_error *err);
static rela_status append_options(rela_buffer *out, const char *setting, rela_error *err);
static rela_status write_file(const char *folder, const char *name, const rela_buffer *text,
                              rela_error *err);

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "by", 0, RELA_OPTION_CHOICE, offsetof(choose_options, by), 0, 0, "nll", "nll|bleu",
      "column of valid.tsv to choose by" },
    { "setting", 0, RELA_OPTION_LIST, offsetof(choose_options, settings), 0, 0, NULL, "OPTIONS",
      "options of a run, 'lr=0.001 warmup=400'; once for each valid.tsv" },
    { "out", 'o', RELA_OPTION_DIR, offsetof(choose_options, out), 0, 0, NULL, "DIR",
      "directory for choice.yml and choice.tsv" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_study_choose[] = {
    { .name = "study choose",
      .summary = "choose the settings with the best validation",
      .operands = "VALID.TSV...",
      .min_operands = 1,
      .max_operands = SIZE_MAX,
      .description =
          "Compares trainings by the best row of their valid.tsv: the lowest nll or the highest "
          "BLEU. Writes the options of the best one to choice.yml, for 'rela train --config', and "
          "all of them with their figures to choice.tsv. Of equal ones the first is taken. "
          "'rela study run' does this after tuning.",
      .examples = "rela study choose --setting lr=1e-3 --setting lr=3e-3 --out choice \\\n"
                  "    run1/valid.tsv run2/valid.tsv",
      .options = OPTIONS,
      .options_size = sizeof(choose_options),
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    const choose_options *o = options;
    const size_t n = cli->operands.n;
    if (!o->out)
        return rela_fail(err, RELA_ARG, "no output directory; give one with --out");
    if (o->settings.n != n)
        return rela_fail(err, RELA_ARG, "%zu tables and %zu times --setting: one for each", n,
                         o->settings.n);
    outcome *outcomes = rela_mem_array(n, sizeof *outcomes);
    rela_status st = outcomes ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for %zu runs", n);
    size_t chosen = n;
    bool validated = false;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        st = find_best(&outcomes[i], cli->operands.items[i], o->by, err);
        validated |= outcomes[i].validated;
        if (st == RELA_OK && isfinite(outcomes[i].value) &&
            (chosen == n || outcomes[i].value < outcomes[chosen].value))
            chosen = i;
    }
    if (st == RELA_OK && chosen == n)
        st = validated ? rela_fail(err, RELA_FORMAT, "no run has a finite validation")
                       : rela_fail(err, RELA_FORMAT,
                                   "no run was validated: more --updates or a smaller "
                                   "--valid-every is needed");
    st = st ? st : write_choice(o, outcomes, n, chosen, err);
    rela_mem_free(outcomes);
    return st;
}

/* Field number n of a line, from 0. */
static rela_span field(rela_span line, size_t n)
{
    const char *at = line.text, *end = line.text + line.len;
    for (; n > 0 && at < end; n--) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        at = tab ? tab + 1 : end;
    }
    const char *tab = memchr(at, '\t', (size_t)(end - at));
    return (rela_span){ at, (size_t)((tab ? tab : end) - at) };
}

static bool parse(double *out, rela_span text)
{
    char digits[64];
    if (text.len >= sizeof digits)
        return false;
    memcpy(digits, text.text, text.len);
    digits[text.len] = '\0';
    return rela_parse_f64(out, digits);
}

/* The lowest value, where BLEU counts negative; a value that is not finite is no value. */
static rela_status find_best(outcome *o, const char *path, const char *column, rela_error *err)
{
    enum { COLUMNS_MAX = 100 };
    rela_reader *r = NULL;
    rela_line line = { .text = "" };
    size_t at = COLUMNS_MAX;
    *o = (outcome){ HUGE_VAL, 0, false };
    rela_status st = rela_reader_open(&r, path, NULL, err);
    while (st == RELA_OK && (st = rela_reader_line(r, &line, err)) == RELA_OK && line.text) {
        const rela_span row = { line.text, line.len };
        double value = 0, update = 0;
        for (size_t i = 0; line.number == 1 && i < COLUMNS_MAX && at == COLUMNS_MAX; i++)
            if (rela_span_is(field(row, i), column))
                at = i;
        if (line.number == 1 && at == COLUMNS_MAX)
            st = rela_fail(err, RELA_FORMAT, "%s: line 1: no column '%s'", path, column);
        o->validated = line.number > 1;
        if (line.number == 1 || !parse(&value, field(row, at)) || !parse(&update, field(row, 0)))
            continue;
        if (strcmp(column, "bleu") == 0)
            value = value < 0 ? HUGE_VAL : -value; /* -1: not measured */
        if (value < o->value)
            *o = (outcome){ value, (uint64_t)update, true };
    }
    rela_reader_close(r);
    return st;
}

static rela_status write_choice(const choose_options *o, const outcome *outcomes, size_t n,
                                size_t chosen, rela_error *err)
{
    rela_buffer choice = RELA_BUFFER_INIT, table = RELA_BUFFER_INIT;
    rela_status st = append_options(&choice, o->settings.items[chosen], err);
    st = st ? st : rela_buffer_printf(&table, err, "setting\toptions\t%s\tupdate\tchosen\n", o->by);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const double value = outcomes[i].value;
        st = rela_buffer_printf(&table, err, "%zu\t%s\t", i + 1, o->settings.items[i]);
        if (st == RELA_OK && isfinite(value))
            st = rela_buffer_printf(&table, err, "%.6f",
                                    strcmp(o->by, "bleu") == 0 ? -value : value);
        st = st ? st
                : rela_buffer_printf(&table, err, "\t%llu\t%d\n",
                                     (unsigned long long)outcomes[i].update, i == chosen);
    }
    st = st ? st : rela_dir_make(o->out, err);
    st = st ? st : write_file(o->out, "choice.tsv", &table, err);
    st = st ? st : write_file(o->out, "choice.yml", &choice, err);
    rela_buffer_free(&choice);
    rela_buffer_free(&table);
    return st;
}

/* "lr=0.001 warmup=400" as lines "lr: 0.001". */
static rela_status append_options(rela_buffer *out, const char *setting, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "", err);
    for (const char *at = setting; *at && st == RELA_OK; at += *at == ' ') {
        const size_t len = strcspn(at, " "), name = strcspn(at, "= ");
        if (len && (name == len || name == 0))
            return rela_fail(err, RELA_ARG, "--setting '%s': expected NAME=VALUE", setting);
        if (len)
            st = rela_buffer_printf(out, err, "%.*s: %.*s\n", (int)name, at, (int)(len - name - 1),
                                    at + name + 1);
        at += len;
    }
    return st;
}

static rela_status write_file(const char *folder, const char *name, const rela_buffer *text,
                              rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/%s", folder, name);
    st = st ? st : rela_file_write(path.data, text->data ? text->data : "", text->len, err);
    rela_buffer_free(&path);
    return st;
}
