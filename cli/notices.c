/* SPDX-License-Identifier: MIT */
/* cli/notices.c - notices about text in another encoding, and about operands that are missing or
 * too many. */
#include "cli.h"

#include "base/encoding.h"

#include <string.h>

void rela_cli_check_encoding(rela_cli *cli, const char *name, const char *text, size_t len,
                             uint64_t first)
{
    if (!cli->encoding_reported)
        cli->encoding_reported = rela_encoding_check(&cli->sink, name, text, len, first);
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
