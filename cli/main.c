/* SPDX-License-Identifier: MIT */
/* cli/main.c - finds the command, parses its options, runs it and returns an exit code. */
#include "cli.h"
#include "stop_signals.h"

#include "base/fault.h"
#include "base/mem.h"
#include "base/nearest.h"
#include "base/par.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* commands.inc is written by the build: one X(stem) per file cmd_<stem>.c, sorted. */
#define X(stem) extern const rela_command rela_commands_##stem[];
#include "commands.inc"
#undef X

static const rela_command *const FILES[] = {
#define X(stem) rela_commands_##stem,
#include "commands.inc"
#undef X
};

enum { N_FILES = sizeof FILES / sizeof FILES[0], COMMANDS_MAX = 128, EXIT_USAGE = 2 };

/* clang-format off */
const rela_option RELA_CLI_COMMON[] = {
    { "config", 0, RELA_OPTION_FILE, offsetof(rela_cli_common, config), 0, 0, NULL, "FILE",
      "read options from a YAML file; the command line wins" },
    { "threads", 't', RELA_OPTION_INT, offsetof(rela_cli_common, threads), 0, RELA_PAR_MAX, "0", "N",
      "number of threads; 0: OMP_NUM_THREADS or all cores" },
    { "seed", 0, RELA_OPTION_INT, offsetof(rela_cli_common, seed), 0, 9007199254740991.0, "1", "N",
      "seed of every random choice" },
    { "quiet", 'q', RELA_OPTION_FLAG, offsetof(rela_cli_common, quiet), 0, 0, NULL, NULL,
      "no progress and no messages on standard error, except errors" },
    { "log", 0, RELA_OPTION_FILE, offsetof(rela_cli_common, log), 0, 0, NULL, "FILE",
      "also append all messages to a file; a failure to write it is only a warning" },
    { "json", 0, RELA_OPTION_FLAG, offsetof(rela_cli_common, json), 0, 0, NULL, NULL,
      "print figures as JSON" },
    { "help", 'h', RELA_OPTION_FLAG, offsetof(rela_cli_common, help), 0, 0, NULL, NULL,
      "print this help" },
    { .name = NULL },
};
/* clang-format on */

static void keep_standard_files(void);
static void share_memory(void);
static rela_status print_version(rela_error *err);
static bool print_family(rela_status *st, const char *word, rela_error *err);
static rela_status unknown_command(const char *word, const char *second, rela_error *err);
static rela_status unknown_second(const char *word, const char *second, rela_error *err);
static bool is_nearly_second(const char *word, const char *second);
static int run_command(const rela_command *c, int argc, char **argv);
static rela_status prepare(rela_cli *cli, const rela_command *c, const void *options, int argc,
                           char **argv, rela_error *err);
static int exit_code(rela_status st);
static void complain(const char *command, const rela_error *err, rela_status st);
static rela_status print_overview(rela_error *err);
static rela_status print_generated(int argc, char **argv, rela_error *err);

int main(int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    keep_standard_files();
    rela_cli_handle_signals();
    (void)atexit(rela_file_abort_all); /* if a library exits */
    share_memory();
    const char *fault = getenv("RELA_FAULT");
    if (fault && !rela_fault_parse(fault)) {
        (void)rela_fail(&err, RELA_ARG,
                        "RELA_FAULT: '%s' is not like mem:17, file:3+, short:7, signal15:3 or "
                        "signal9@exchange:5",
                        fault);
        complain(NULL, &err, RELA_ARG);
        return EXIT_USAGE;
    }
    const char *word = argc > 1 ? argv[1] : "--help";
    rela_status st = RELA_OK;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        st = argc > 2 ? print_generated(argc - 2, argv + 2, &err) : print_overview(&err);
    else if (strcmp(word, "--version") == 0)
        st = print_version(&err);
    else {
        int n_words = 0;
        const rela_command *c =
            rela_cli_find_command(argc - 1, (const char *const *)argv + 1, &n_words);
        if (c)
            return run_command(c, argc - 1 - n_words, argv + 1 + n_words);
        const bool help =
            argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0);
        if (!help || !print_family(&st, word, &err))
            st = unknown_command(word, argc > 2 ? argv[2] : NULL, &err);
    }
    if (st != RELA_OK)
        complain(NULL, &err, st);
    return argc > 1 ? exit_code(st) : EXIT_USAGE;
}

rela_status rela_cli_print(const rela_buffer *text, rela_error *err)
{
    return rela_file_write("-", text->data ? text->data : "", text->len, err);
}

/* If a standard file is closed, the next file opened would get its number, and messages or results
 * would be written into it. Input and output are replaced by files that fail when used. */
static void keep_standard_files(void)
{
    static const int FLAGS[] = { O_WRONLY, O_RDONLY, O_WRONLY };
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", FLAGS[fd]) < 0)
            _exit(EXIT_FAILURE);
}

/* glibc reserves address space for each thread, 64 MiB at a time: too much under a limit. */
static void share_memory(void)
{
#ifdef M_ARENA_MAX
    if (rela_address_available() != UINT64_MAX)
        (void)mallopt(M_ARENA_MAX, 1);
#endif
}

static rela_status print_version(rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&text, err, "rela %d.%d.%d\n", RELA_VERSION_MAJOR,
                                        RELA_VERSION_MINOR, RELA_VERSION_PATCH);
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}

/* Two-word commands first, so that "bpe learn" is not taken for a command "bpe". */
const rela_command *rela_cli_find_command(int argc, const char *const *argv, int *n_words)
{
    for (*n_words = argc < 2 ? 1 : 2; *n_words > 0; --*n_words) {
        char name[128];
        (void)snprintf(name, sizeof name, *n_words == 2 ? "%s %s" : "%s", argv[0],
                       *n_words == 2 ? argv[1] : "");
        for (size_t f = 0; f < N_FILES; f++)
            for (const rela_command *c = FILES[f]; c->name; c++)
                if (strcmp(name, c->name) == 0 || (c->alias && strcmp(name, c->alias) == 0))
                    return c;
    }
    return NULL;
}

static rela_status unknown_command(const char *word, const char *second, rela_error *err)
{
    if (unknown_second(word, second, err) != RELA_OK)
        return RELA_ARG;
    static const char *const OPTIONS[] = { "--help", "--version", "help" };
    rela_nearest best = { rela_cli_foreign_command(word), 0 };
    for (size_t i = 0; i < sizeof OPTIONS / sizeof OPTIONS[0]; i++)
        rela_nearest_offer(&best, word, OPTIONS[i], strlen(OPTIONS[i]));
    for (size_t f = 0; f < N_FILES; f++)
        for (const rela_command *c = FILES[f]; c->name; c++)
            rela_nearest_offer(&best, word, c->name, strlen(c->name));
    return rela_fail(err, RELA_ARG, "unknown command '%s'; %s%s%s'rela --help' lists them", word,
                     best.name ? "did you mean '" : "", best.name ? best.name : "",
                     best.name ? "'? " : "");
}

/* The second word of a command whose first is word; NULL: it has another or none. */
static const char *second_of(const rela_command *c, const char *word)
{
    const size_t len = strlen(word);
    return strncmp(c->name, word, len) == 0 && c->name[len] == ' ' ? c->name + len + 1 : NULL;
}

/* A wrong second word rather than the name of a file, for commands that take files too. */
static bool is_nearly_second(const char *word, const char *second)
{
    rela_nearest best = { NULL, 0 };
    for (size_t f = 0; f < N_FILES; f++)
        for (const rela_command *c = FILES[f]; c->name; c++) {
            const char *name = second_of(c, word);
            if (name)
                rela_nearest_offer(&best, second, name, strlen(name));
        }
    return best.name && !rela_file_exists(second);
}

/* Prints the commands whose first word it is; false if there are none. */
static bool print_family(rela_status *st, const char *word, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    bool found = false;
    *st = rela_buffer_printf(&text, err, "usage: rela %s COMMAND [OPTION...]\n\n", word);
    for (size_t f = 0; f < N_FILES; f++)
        for (const rela_command *c = FILES[f]; c->name; c++)
            if (second_of(c, word)) {
                found = true;
                *st =
                    *st ? *st : rela_buffer_printf(&text, err, "  %-17s %s\n", c->name, c->summary);
            }
    *st = *st ? *st
              : rela_buffer_append_text(&text, "\n'rela COMMAND --help' explains one of them.\n",
                                        err);
    if (found && *st == RELA_OK)
        *st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return found;
}

/* Fails if word is the first of two-word commands. */
static rela_status unknown_second(const char *word, const char *second, rela_error *err)
{
    char list[256] = "";
    rela_nearest best = { NULL, 0 };
    for (size_t f = 0; f < N_FILES; f++)
        for (const rela_command *c = FILES[f]; c->name; c++) {
            const char *name = second_of(c, word);
            if (name) {
                const size_t used = strlen(list);
                (void)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", name);
                if (second)
                    rela_nearest_offer(&best, second, name, strlen(name));
            }
        }
    if (*list && second && *second != '-')
        return rela_fail(err, RELA_ARG, "unknown command '%s %s'; %s%s%sexpected %s", word, second,
                         best.name ? "did you mean '" : "", best.name ? best.name : "",
                         best.name ? "'? " : "", list);
    return *list ? rela_fail(err, RELA_ARG, "'%s' needs a second word: %s", word, list) : RELA_OK;
}

static int run_command(const rela_command *c, int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    /* static: signals may come until the process has ended */
    static rela_cli cli = { .sink = { .write = rela_cli_write_log, .least = RELA_LOG_INFO } };
    cli.command = c;
    void *options = rela_mem_zalloc(c->options_size ? c->options_size : 1);
    cli.options = options;
    static const rela_option NONE[] = { { .name = NULL } };
    const rela_option_group groups[] = { { c->options ? c->options : NONE, options },
                                         { RELA_CLI_COMMON, &cli.common } };
    cli.state = options ? rela_options_create(groups, 2) : NULL;
    rela_status st = rela_mem_reserve(RELA_MEM_RESERVE, "the program", &err);
    if (st == RELA_OK)
        st = cli.state ? prepare(&cli, c, options, argc, argv, &err)
                       : rela_fail(&err, RELA_NOMEM, "no memory to start");
    if (st == RELA_OK && cli.common.help) {
        rela_buffer text = RELA_BUFFER_INIT;
        st = rela_options_help(&text, c, RELA_CLI_COMMON, &err);
        if (st == RELA_OK)
            st = rela_cli_print(&text, &err);
        rela_buffer_free(&text);
    } else if (st == RELA_OK && (st = rela_par_start(1, &err)) == RELA_OK) {
        rela_cli_signals_name(&cli);
        st = c->run(&cli, options, &err);
        rela_par_end();
    }
    rela_cli_count_hidden(&cli);
    if (st != RELA_OK && !cli.reported) {
        rela_cli_clear_bar(&cli);
        complain(c->name, &err, st);
    }
    if (cli.log_file && fclose(cli.log_file) != 0)
        rela_cli_warn_of_log(&cli);
    rela_options_destroy(cli.state);
    rela_mem_free(options);
    /* mpirun ends all ranks as soon as one exits with an error, perhaps before rank 0 has written
     * its message: the run's exit code comes from rank 0 alone. */
    if (cli.reported)
        return EXIT_SUCCESS;
    return st == RELA_OK ? cli.exit_code : exit_code(st);
}

static rela_status prepare(rela_cli *cli, const rela_command *c, const void *options, int argc,
                           char **argv, rela_error *err)
{
    cli->sink.ctx = cli;
    rela_status st = rela_options_default(cli->state, err);
    if (st == RELA_OK)
        st = rela_options_parse(cli->state, &cli->operands, argc, (const char *const *)argv, err);
    if (st != RELA_OK || cli->common.help)
        return st;
    if (cli->common.config)
        st = rela_cli_config(cli->state, cli->common.config, err);
    if (st != RELA_OK)
        return st;
    if (cli->operands.n < c->min_operands)
        return rela_cli_fail_missing(c, cli->operands.n, err);
    if (cli->operands.n > 0 && cli->operands.items[0] == argv[0] &&
        (c->max_operands == 0 || is_nearly_second(c->name, argv[0])) &&
        unknown_second(c->name, argv[0], err) != RELA_OK)
        return RELA_ARG;
    if (cli->operands.n > c->max_operands)
        return rela_cli_fail_unexpected(c, cli->operands.items[c->max_operands], err);
    if ((st = rela_cli_check_outputs(cli, c, options, err)) != RELA_OK)
        return st;
    if (cli->common.log && !(cli->log_file = fopen(cli->common.log, "a")))
        return rela_fail_errno(err, errno, "%s: the log cannot be opened", cli->common.log);
    rela_cli_check_effect(cli, c->needs);
    return RELA_OK;
}

static int exit_code(rela_status st)
{
    switch (st) {
    case RELA_OK:
        return EXIT_SUCCESS;
    case RELA_ARG:
        return EXIT_USAGE;
    case RELA_FORMAT:
        return 3;
    case RELA_CLOSED:
        return 128 + SIGPIPE;
    default:
        return EXIT_FAILURE;
    }
}

static void complain(const char *command, const rela_error *err, rela_status st)
{
    if (st == RELA_CLOSED) /* `rela ... | head` ends quietly */
        return;
    (void)fprintf(stderr, "rela%s%s: %s\n", command ? " " : "", command ? command : "",
                  *err->message ? err->message : rela_status_text(st));
}

static size_t list_commands(const rela_command **out)
{
    size_t n = 0;
    for (size_t f = 0; f < N_FILES; f++)
        for (const rela_command *c = FILES[f]; c->name && n < COMMANDS_MAX; c++)
            out[n++] = c;
    rela_cli_sort_by_task(out, n);
    return n;
}

static rela_status print_overview(rela_error *err)
{
    const rela_command *all[COMMANDS_MAX];
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_cli_overview(&text, all, list_commands(all), err);
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}

/* help man COMMAND..., help completion SHELL, help COMMAND... */
static rela_status print_generated(int argc, char **argv, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    int n_words = 0;
    if (argc == 1 && strcmp(argv[0], "man") == 0)
        return rela_fail(err, RELA_ARG, "'help man' needs a command");
    if (argc == 1 && strcmp(argv[0], "completion") == 0)
        return rela_fail(err, RELA_ARG, "'help completion' needs a shell: bash, zsh or fish");
    const bool man = strcmp(argv[0], "man") == 0;
    const rela_command *c =
        rela_cli_find_command(argc - man, (const char *const *)argv + man, &n_words);
    if (strcmp(argv[0], "commands") == 0) { /* for scripts: one name per line */
        const rela_command *all[COMMANDS_MAX];
        const size_t n = list_commands(all);
        for (size_t i = 0; i < n && st == RELA_OK; i++)
            st = rela_buffer_printf(&text, err, "%s\n", all[i]->name);
    } else if (strcmp(argv[0], "completion") == 0) {
        const rela_command *all[COMMANDS_MAX];
        const rela_command_list list = { all, list_commands(all) };
        st = rela_options_completion(&text, argv[1], list, RELA_CLI_COMMON, err);
    } else if (!c && argc == 1 && print_family(&st, argv[0], err)) {
        return st;
    } else if (!c) {
        st = unknown_command(argv[man], argc - man > 1 ? argv[man + 1] : NULL, err);
    } else {
        st = man ? rela_options_man(&text, c, RELA_CLI_COMMON, err)
                 : rela_options_help(&text, c, RELA_CLI_COMMON, err);
    }
    if (st == RELA_OK)
        st = rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}
