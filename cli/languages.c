/* SPDX-License-Identifier: MIT */
/* cli/languages.c - see languages.h. */
#include "languages.h"

#include "rela/text.h"

#include <string.h>

const char *rela_cli_language(rela_cli *cli, const char *language)
{
    const char *path = cli->operands.n ? cli->operands.items[0] : "-";
    const char *found = rela_language_of_file(path);
    if (!found || rela_options_given(cli->state, "language") || strcmp(found, language) == 0)
        return language;
    rela_log_line(&cli->sink, RELA_LOG_INFO, "language %s, by the name of %s; --language sets it",
                  found, path);
    return found;
}

void rela_cli_say_languages(rela_cli *cli, const char *src_lang, const char *src,
                            const char *tgt_lang, const char *tgt)
{
    const char *from = rela_language_of_file(src), *to = rela_language_of_file(tgt);
    const bool known = (!src_lang || rela_language_code(&from, src_lang, NULL) == RELA_OK) &&
                       (!tgt_lang || rela_language_code(&to, tgt_lang, NULL) == RELA_OK);
    if (known && from && to)
        rela_log_line(&cli->sink, RELA_LOG_INFO, "languages: %s to %s", from, to);
}
