/* SPDX-License-Identifier: MIT */
/* cli/stop_signals.h - what signals do: they end the program at once, after its temporary files are
 * removed, or ask a command to save and stop. */
#ifndef RELA_CLI_STOP_SIGNALS_H
#define RELA_CLI_STOP_SIGNALS_H

#include "cli.h"

#include <stdbool.h>

/* Every signal that ends the process first removes temporary files and, once _name was called, says
 * so on standard error. Signals that are ignored stay so. */
void rela_cli_handle_signals(void);
/* Whose command runs; NULL: none. cli is lent until the next call. */
void rela_cli_signals_name(const rela_cli *cli);

/* From now on SIGINT and SIGTERM ask to stop, SIGHUP and SIGUSR1 ask to save. A second SIGINT or
 * SIGTERM ends the process at once, unless it comes within a second of the first: that is the same
 * signal, as job schedulers send it twice. */
rela_status rela_cli_watch_signals(rela_error *err);
int rela_cli_stop_signal(void);  /* signal number; 0: none */
bool rela_cli_save_signal(void); /* resets the flag */

#endif
