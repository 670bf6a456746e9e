/* SPDX-License-Identifier: MIT */
/* cli/languages.h - the language of text that was not named, by the names of its files. */
#ifndef RELA_CLI_LANGUAGES_H
#define RELA_CLI_LANGUAGES_H

#include "cli.h"

/* The language of the text commands: that of --language, else of the name of the first file, which
 * is said, else the default of the option. */
const char *rela_cli_language(rela_cli *cli, const char *language);

/* Says which languages --tokenise works in, if they are known: those given, or those of the
 * files. */
void rela_cli_say_languages(rela_cli *cli, const char *src_lang, const char *src,
                            const char *tgt_lang, const char *tgt);

#endif
