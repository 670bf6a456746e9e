/* SPDX-License-Identifier: MIT */
/* cli/stop_signals.h - turns signals into flags, for commands that save or clean up before exit. */
#ifndef RELA_CLI_STOP_SIGNALS_H
#define RELA_CLI_STOP_SIGNALS_H

#include "base/error.h"

#include <stdbool.h>

/* From now on SIGINT and SIGTERM ask to stop (a second one ends the process at once), SIGHUP and
 * SIGUSR1 ask to save. */
rela_status rela_cli_watch_signals(rela_error *err);
int rela_cli_stop_signal(void);  /* signal number; 0: none */
bool rela_cli_save_signal(void); /* resets the flag */

#endif
