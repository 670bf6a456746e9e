/* SPDX-License-Identifier: MIT */
/* cli/notices.c - warnings about text in another encoding and about options without effect. */
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
