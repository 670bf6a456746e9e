/* SPDX-License-Identifier: MIT */
/* cli/typed.c - text that is typed in a terminal: prompts instead of a progress bar, which would
 * overwrite it. */
#include "cli.h"

#include <string.h>
#include <unistd.h>

static bool is_typed(const char *path)
{
    return path && strcmp(path, "-") == 0 && isatty(STDIN_FILENO);
}

/* Whether the user can see standard error and wants messages. */
static bool is_seen(const rela_cli *cli)
{
    return isatty(STDERR_FILENO) && !cli->common.quiet;
}

void rela_cli_typed_lines(rela_cli *cli, const char *path)
{
    cli->typed = is_typed(path);
    cli->prompts = cli->typed && is_seen(cli);
}

void rela_cli_typed_text(rela_cli *cli, const char *const *paths, size_t n)
{
    cli->typed = cli->prompts = false;
    for (size_t i = 0; i < n && !cli->typed; i++)
        cli->typed = is_typed(paths[i]);
    if (cli->typed && is_seen(cli))
        (void)fputs("rela: reading from the terminal; Ctrl-D ends it\n", stderr);
}

void rela_cli_prompt(rela_cli *cli)
{
    if (!cli->prompts)
        return;
    (void)fputs("> ", stderr);
    (void)fflush(stderr);
}

void rela_cli_prompt_end(rela_cli *cli)
{
    if (cli->prompts)
        (void)fputc('\n', stderr);
}
