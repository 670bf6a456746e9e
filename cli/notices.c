/* SPDX-License-Identifier: MIT */
/* cli/notices.c - warnings about text in another encoding and about options without effect. */
#include "cli.h"

#include "base/utf8.h"

#include <string.h>

static const char *guess(const char *text, size_t len)
{
    const unsigned char *u = (const unsigned char *)text;
    if (len >= 2 && ((u[0] == 0xFF && u[1] == 0xFE) || (u[0] == 0xFE && u[1] == 0xFF)))
        return "UTF-16";
    return len && memchr(text, '\0', len) ? "UTF-16" : "LATIN1";
}

void rela_cli_check_encoding(rela_cli *cli, const char *name, const char *text, size_t len,
                             uint64_t first)
{
    if (cli->encoding_reported || !len)
        return;
    const char *nul = memchr(text, '\0', len);
    size_t good = rela_utf8_valid(text, len);
    good = nul && (size_t)(nul - text) < good ? (size_t)(nul - text) : good;
    if (good == len)
        return;
    uint64_t line = first;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(text + good - at))) != NULL; at++)
        line++;
    cli->encoding_reported = true;
    rela_log_line(&cli->sink, RELA_LOG_WARNING,
                  "%s: line %llu is not UTF-8; if it is %s: iconv -f %s -t UTF-8 (reported once)",
                  name, (unsigned long long)line, guess(text, len), guess(text, len));
}

void rela_cli_prompt(rela_cli *cli)
{
    (void)fputs("> ", stderr);
    (void)fflush(stderr);
    cli->bar_open = false;
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
