/* SPDX-License-Identifier: MIT */
/* cli/cli.h - shared by all commands of the program.
 *
 * A command is a row in the table of its file: cli/cmd_<stem>.c defines
 * `const rela_command rela_commands_<stem>[]`, ended by a row without a name, and the build finds
 * it. Commands use the public headers and base only. They write results to standard output
 * through a rela_writer, and everything else to standard error through the functions here. */
#ifndef RELA_CLI_CLI_H
#define RELA_CLI_CLI_H

#include "base/file.h"
#include "base/log.h"
#include "base/option.h"
#include "base/progress.h"

#include <stdio.h>

/* Options of every command. */
typedef struct rela_cli_common {
    const char *config;
    int64_t threads;
    int64_t seed;
    bool quiet;
    const char *log;
    bool json;
    bool help;
} rela_cli_common;

enum { RELA_CLI_WARNINGS_SHOWN = 10, RELA_CLI_WARNING_KINDS = 16 };

/* A kind of warning: all that differ only in numbers. */
typedef struct rela_cli_warning {
    char first[200];
    uint64_t n;
} rela_cli_warning;

typedef struct rela_cli {
    rela_cli_common common;
    rela_list operands;
    rela_option_state *state; /* for rela_options_given */
    const rela_command *command;
    const void *options; /* of the command */
    rela_log sink;       /* standard error, unless --quiet, and --log */
    FILE *log_file;
    bool log_failed; /* the log could not be written, and that was reported */
    bool bar_open;   /* a progress bar is on the last line of standard error */
    bool encoding_reported;
    bool typed;   /* the text is typed in a terminal: no progress bar */
    bool prompts; /* and each line is asked for */
    rela_cli_warning warnings[RELA_CLI_WARNING_KINDS];
    size_t n_warnings;
    bool reported; /* rank 0 reports failures, by message and exit code: this rank does neither */
    int exit_code; /* after a success with a warning; normally 0 */
} rela_cli;

extern const rela_option RELA_CLI_COMMON[];

/* The sink of a command's log; ctx is its rela_cli. */
void rela_cli_write_log(void *ctx, rela_log_level level, const char *line);
/* At the end of a run: reports how many warnings of each kind were not shown. */
void rela_cli_count_hidden(rela_cli *cli);
void rela_cli_warn_of_log(rela_cli *cli);
void rela_cli_clear_bar(rela_cli *cli);

/* Width of the terminal behind a file descriptor; 0 if it is none. */
size_t rela_cli_terminal_width(int file);

/* A progress bar on standard error; silent with --quiet and while text is typed. */
void rela_cli_progress(rela_cli *cli, rela_progress *p, const char *label, const char *unit,
                       uint64_t total);

/* Before text is read: "-" may be typed in a terminal. Then there is no progress bar, and unless
 * --quiet, _lines makes rela_cli_prompt ask for each line, for commands that answer it at once, and
 * _text says what the program waits for. paths may hold NULL. */
void rela_cli_typed_lines(rela_cli *cli, const char *path);
void rela_cli_typed_text(rela_cli *cli, const char *const *paths, size_t n);
/* Asks for a line; ends the line of a prompt that was answered by the end of the text. Both do
 * nothing where there are no prompts. */
void rela_cli_prompt(rela_cli *cli);
void rela_cli_prompt_end(rela_cli *cli);

/* For functions with a progress callback: a bar that appears with the first call. */
typedef struct rela_cli_bar {
    rela_cli *cli;
    const char *label, *unit;
    /* private */
    rela_progress bar;
    bool started;
} rela_cli_bar;
int rela_cli_log(void *bar, uint64_t done, uint64_t total);

/* Reads options from a YAML file: a mapping to scalars and lists of scalars. */
rela_status rela_cli_config(rela_option_state *state, const char *path, rela_error *err);

/* RELA_ARG if an output of the command is also an input or another output, or if two inputs are
 * standard input. fields: its options. */
rela_status rela_cli_check_outputs(const rela_cli *cli, const rela_command *c, const void *fields,
                                   rela_error *err);

/* A command that maps each line to one line, on all threads, keeping the order. */
typedef struct rela_cli_lines {
    /* Appends the result to out, without a line end. thread < number of threads. The place of the
     * line is added to the message of a failure. */
    rela_status (*line)(void *ctx, rela_buffer *out, const char *text, size_t len, uint64_t number,
                        int thread, rela_error *err);
    void *ctx;
    const char *label; /* of the progress bar */
} rela_cli_lines;

/* inputs: files in order, none means standard input; output NULL or "-": standard output. */
rela_status rela_cli_run_lines(rela_cli *cli, const rela_cli_lines *job, rela_list inputs,
                               const char *output, rela_error *err);

/* Warns, once in a run, about text that is not UTF-8 and names the remedy. first: number of the
 * first line. */
void rela_cli_check_encoding(rela_cli *cli, const char *name, const char *text, size_t len,
                             uint64_t first);

/* RELA_ARG for a command line with only n operands, and for one with an operand too many. */
rela_status rela_cli_fail_missing(const rela_command *c, size_t n, rela_error *err);
rela_status rela_cli_fail_unexpected(const rela_command *c, const char *operand, rela_error *err);

/* Warns about options that have no effect. needs: rela_command.needs, may be NULL. */
void rela_cli_check_effect(rela_cli *cli, const char *const *needs);
/* The dependencies of a command that prints no figures and leaves nothing to chance. */
extern const char *const RELA_CLI_NO_FIGURES[];

/* The command with this name of one or two words; *n_words: how many. NULL: there is none. */
const rela_command *rela_cli_find_command(int argc, const char *const *argv, int *n_words);

/* What does the same as the command of another tool; NULL: not known. */
const char *rela_cli_foreign_command(const char *word);

/* Sort commands by task, in the order of use; append an overview of sorted commands. */
void rela_cli_sort_by_task(const rela_command **commands, size_t n);
rela_status rela_cli_overview(rela_buffer *out, const rela_command *const *commands, size_t n,
                              rela_error *err);

/* Writes text to standard output. */
rela_status rela_cli_print(const rela_buffer *text, rela_error *err);

#endif
