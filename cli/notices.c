/* SPDX-License-Identifier: MIT */
/* cli/notices.c - notices about text in another encoding, options without effect, and operands
 * that are missing or too many. */
#include "cli.h"

#include "base/encoding.h"

#include <string.h>

void rela_cli_check_encoding(rela_cli *cli, const char *name, const char *text, size_t len,
                             uint64_t first)
{
    if (!cli->encoding_reported)
        cli->encoding_reported = rela_encoding_check(&cli->sink, name, text, len, first);
}

static bool is_operand(const char *name)
{
    return *name >= 'A' && *name <= 'Z';
}

static bool any_given(const rela_cli *cli, const char *names)
{
    for (const char *at = names; *at;) {
        char name[64];
        const size_t n = strcspn(at, "|");
        if (n < sizeof name) {
            memcpy(name, at, n);
            name[n] = '\0';
            if (is_operand(name) ? cli->operands.n > 0 : rela_options_given(cli->state, name))
                return true;
        }
        at += n + (at[n] == '|');
    }
    return false;
}

void rela_cli_check_effect(rela_cli *cli, const char *const *needs)
{
    for (; needs && needs[0]; needs += 2) {
        if (!rela_options_typed(cli->state, needs[0]))
            continue;
        if (*needs[1] == '!' && any_given(cli, needs[1] + 1)) {
            rela_log_line(&cli->sink, RELA_LOG_WARNING, "--%s has no effect with --%s", needs[0],
                          needs[1] + 1);
        } else if (*needs[1] != '!' && !any_given(cli, needs[1])) {
            const char *bar = strchr(needs[1], '|');
            rela_log_line(&cli->sink, RELA_LOG_WARNING, "--%s has no effect without %s%.*s%s%s",
                          needs[0], is_operand(needs[1]) ? "" : "--", (int)strcspn(needs[1], "|"),
                          needs[1], bar ? " or --" : "", bar ? bar + 1 : "");
        }
    }
}

rela_status rela_cli_fail_missing(const rela_command *c, size_t n, rela_error *err)
{
    const char *at = c->operands;
    for (; n > 0 && strchr(at, ' '); n--)
        at = strchr(at, ' ') + 1;
    size_t len = strcspn(at, " ");
    while (len > 0 && at[len - 1] == '.') /* "MODEL..." */
        len--;
    if (*at == '[')
        len = 0;
    return rela_fail(err, RELA_ARG, "missing argument%s%.*s; usage: rela %s %s", len ? " " : "",
                     (int)len, at, c->name, c->operands);
}

static bool has_option(const rela_command *c, const char *name)
{
    const rela_option *row = c->options;
    while (row && row->name && strcmp(row->name, name) != 0)
        row++;
    return row && row->name;
}

rela_status rela_cli_fail_unexpected(const rela_command *c, const char *operand, rela_error *err)
{
    static const char *const TEXTS[][2] = { { "train-src", "train-tgt" }, { "src", "tgt" } };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
        if (has_option(c, TEXTS[i][0]))
            return rela_fail(err, RELA_ARG,
                             "unexpected argument '%s'; text goes with --%s and --%s", operand,
                             TEXTS[i][0], TEXTS[i][1]);
    return rela_fail(err, RELA_ARG, "unexpected argument '%s'", operand);
}
