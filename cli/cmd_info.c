/* SPDX-License-Identifier: MIT */
/* cli/cmd_info.c - rela info: what this build is and what it found on this machine. */
#include "cli.h"

#include "base/par.h"

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_info[] = {
    { .name = "info",
      .summary = "tell what this build is and what it found on this machine",
      .operands = "",
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    (void)options;
    rela_buffer text = RELA_BUFFER_INIT;
    const int n = rela_par_threads((int)cli->common.threads);
    const uint32_t v = rela_version();
    rela_status st =
        rela_buffer_printf(&text, err,
                           cli->common.json ? "{\"version\": \"%u.%u.%u\", \"threads\": %d}\n"
                                            : "rela %u.%u.%u\nthreads %d\n",
                           v >> 16, v >> 8 & 255, v & 255, n);
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}
