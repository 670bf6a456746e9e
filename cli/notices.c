/* SPDX-License-Identifier: MIT */
/* cli/notices.c - warnings about text in another encoding; the prompt. */
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
