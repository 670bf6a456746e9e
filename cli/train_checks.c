/* SPDX-License-Identifier: MIT */
/* cli/train_checks.c - see train_checks.h. */
#include "train_checks.h"

#include "train_texts.h"

#include "base/duration.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIME_LEAST = 5, TIME_MOST = 1000 * 86400 };

/* Options from before kinds took numbers in their names, and the kind that has the number. */
static const char *const KIND_NUMBERS[][2] = {
    { "attn-slope", "leaky-g" }, { "attn-alpha", "entmax" }, { "attn-fuse", "fusedmax" },
    { "attn-top", "topk" },      { "attn-window", "local" }, { "attn-stride", "strided" },
};

rela_status rela_cli_train_check_files(const rela_train_options *o, rela_error *err)
{
    if (!o->out || !*o->out)
        return rela_fail(err, RELA_ARG, RELA_CLI_NO_OUT);
    if (!o->train_src || !o->train_tgt)
        return rela_fail(err, RELA_ARG, "no training text: options --train-src and --train-tgt");
    if (!o->valid_src != !o->valid_tgt)
        return rela_fail(err, RELA_ARG, "validation needs both --valid-src and --valid-tgt");
    if ((o->share_encoders || o->cross) && !o->train_src_2)
        return rela_fail(err, RELA_ARG,
                         "--share-encoders and --cross are for several sources: --train-src-2");
    return RELA_OK;
}

/* Whether a text about kinds, like "1-2=local:window=4,rela-g", names that kind. */
static bool names_kind(const char *text, const char *kind)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    const size_t len = strlen(kind);
    for (const char *at = text; at && (at = strstr(at, kind)) != NULL; at += len)
        if (!at[len] || !strchr(LETTERS, at[len]))
            return true;
    return false;
}

static void check_kinds(rela_cli *cli, const rela_train_options *o)
{
    const bool everywhere = o->attention_enc && o->attention_dec && o->attention_cross;
    if (everywhere && rela_options_typed(cli->state, "attention"))
        rela_log_line(&cli->sink, RELA_LOG_WARNING,
                      "--attention has no effect with --attention-enc, --attention-dec and "
                      "--attention-cross");
    for (size_t i = 0; i < sizeof KIND_NUMBERS / sizeof KIND_NUMBERS[0]; i++) {
        const char *kind = KIND_NUMBERS[i][1];
        if (!rela_options_typed(cli->state, KIND_NUMBERS[i][0]) ||
            (!everywhere && names_kind(o->attention, kind)) || names_kind(o->attention_enc, kind) ||
            names_kind(o->attention_dec, kind) || names_kind(o->attention_cross, kind))
            continue;
        rela_log_line(&cli->sink, RELA_LOG_WARNING, "--%s has no effect without --attention %s",
                      KIND_NUMBERS[i][0], kind);
    }
}

/* A whole number of "key: value" lines. */
static long long setting(const rela_buffer *lines, const char *key)
{
    const size_t len = strlen(key);
    for (const char *at = lines->data; at && *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, key, len) == 0 && at[len] == ':')
            return strtoll(at + len + 1, NULL, 10);
    return 0;
}

static void check_numbers(rela_cli *cli, const rela_buffer *lines)
{
    static const char *const SPANS[][2] = {
        { "warmup", "the learning rate does not reach its peak" },
        { "cool-down", "the learning rate falls from the start" },
    };
    const long long updates = setting(lines, "updates");
    for (size_t i = 0; i < sizeof SPANS / sizeof SPANS[0]; i++)
        if (rela_options_typed(cli->state, SPANS[i][0]) && setting(lines, SPANS[i][0]) > updates)
            rela_log_line(&cli->sink, RELA_LOG_WARNING, "--%s %lld is more than --updates %lld: %s",
                          SPANS[i][0], setting(lines, SPANS[i][0]), updates, SPANS[i][1]);
}

rela_status rela_cli_train_check_settings(rela_cli *cli, const rela_train_options *o,
                                          rela_error *err)
{
    rela_buffer lines = RELA_BUFFER_INIT;
    rela_status st = rela_train_options_show(&lines, o, err);
    if (st == RELA_OK) {
        check_kinds(cli, o);
        check_numbers(cli, &lines);
        /* --keep is raised to --average, so its own value is that of the option */
        if (rela_options_typed(cli->state, "keep") && o->keep < setting(&lines, "average"))
            rela_log_line(&cli->sink, RELA_LOG_WARNING,
                          "--keep %lld is less than --average %lld, which are kept",
                          (long long)o->keep, setting(&lines, "average"));
        if (rela_options_typed(cli->state, "best-by") && strcmp(o->best_by, "bleu") == 0 &&
            setting(&lines, "valid-beam") == 0)
            st = rela_fail(err, RELA_ARG,
                           "--best-by bleu contradicts --valid-beam 0, which computes none");
    }
    rela_buffer_free(&lines);
    return st;
}

rela_status rela_cli_train_time(int64_t *seconds, const char *text, rela_error *err)
{
    double given = 0;
    if (!text)
        return RELA_OK;
    if (!rela_duration_parse(&given, text))
        return rela_fail(err, RELA_ARG,
                         "option --max-time: '%s' is not a time like 20m, 2h, 1h30m, 90s or 90 "
                         "(seconds)",
                         text);
    if (given > 0 && given < TIME_LEAST)
        return rela_fail(err, RELA_ARG,
                         "option --max-time: %s is too short to train in; expected %d seconds or "
                         "more, or 0 for no limit",
                         text, TIME_LEAST);
    if (given > TIME_MOST)
        return rela_fail(err, RELA_ARG, "option --max-time: %s is more than %d days", text,
                         TIME_MOST / 86400);
    *seconds = (int64_t)given;
    return RELA_OK;
}

static bool is_date(const char *text)
{
    static const char FORM[] = "dddd-dd-dd";
    for (size_t i = 0; i < sizeof FORM; i++)
        if (FORM[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != FORM[i])
            return false;
    const int month = 10 * (text[5] - '0') + text[6] - '0',
              day = 10 * (text[8] - '0') + text[9] - '0';
    return month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

rela_status rela_cli_train_date(rela_train_options *o, const rela_cli *cli,
                                char room[RELA_CLI_DATE_SIZE], rela_error *err)
{
    if (o->date)
        return is_date(o->date) || !rela_options_typed(cli->state, "date")
                   ? RELA_OK
                   : rela_fail(err, RELA_ARG, "option --date: '%s' is not like 2026-01-31",
                               o->date);
    const char *text = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    const long long seconds = text ? strtoll(text, &end, 10) : 0;
    const time_t then = (time_t)seconds;
    struct tm day;
    if (!text || !*text)
        return RELA_OK;
    if (*end || !gmtime_r(&then, &day) || !strftime(room, RELA_CLI_DATE_SIZE, "%Y-%m-%d", &day))
        return rela_fail(err, RELA_ARG, "SOURCE_DATE_EPOCH: '%s' is not a number of seconds", text);
    o->date = room;
    return RELA_OK;
}
