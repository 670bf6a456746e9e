/* SPDX-License-Identifier: MIT */
/* cli/messages.c - standard error and --log: messages, warnings (only the first of each kind are
 * shown) and the progress bar on the last line. */
#include "cli.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void emit_progress(void *ctx, const char *bytes, size_t len);

size_t rela_cli_terminal_width(int file)
{
    struct winsize size = { 0, 0, 0, 0 };
    return isatty(file) && ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void rela_cli_progress(rela_cli *cli, rela_progress *p, const char *label, const char *unit,
                       uint64_t total)
{
    *p = (rela_progress){ .label = label,
                          .unit = unit,
                          .total = total,
                          .terminal = isatty(STDERR_FILENO),
                          .width = (int)rela_cli_terminal_width(STDERR_FILENO),
                          .emit = cli->common.quiet || cli->typed ? NULL : emit_progress,
                          .ctx = cli };
}

int rela_cli_log(void *bar, uint64_t done, uint64_t total)
{
    rela_cli_bar *b = bar;
    if (!b->started) {
        rela_cli_progress(b->cli, &b->bar, b->label, b->unit, total);
        rela_progress_start(&b->bar, 0);
        b->started = true;
    }
    if (done < total) {
        rela_progress_update(&b->bar, done, NULL);
    } else if (b->bar.visible) {
        rela_progress_finish(&b->bar, done, NULL);
        b->bar.visible = false; /* the end may be reported twice */
    }
    return 0;
}

/* Warnings are of one kind if they differ only in numbers. */
static bool same_kind(const char *a, const char *b)
{
    static const char DIGITS[] = "0123456789";
    while (*a && *b) {
        const size_t n = strspn(a, DIGITS), m = strspn(b, DIGITS);
        if (!n != !m || (!n && *a != *b))
            return false;
        a += n ? n : 1;
        b += m ? m : 1;
    }
    return *a == *b;
}

/* Counts a warning; true if it is over the limit of its kind and not shown. */
static bool too_many(rela_cli *cli, const char *line)
{
    size_t i = 0;
    while (i < cli->n_warnings && !same_kind(cli->warnings[i].first, line))
        i++;
    if (i == RELA_CLI_WARNING_KINDS)
        return false;
    rela_cli_warning *w = &cli->warnings[i];
    if (i == cli->n_warnings) {
        cli->n_warnings++;
        (void)snprintf(w->first, sizeof w->first, "%s", line);
    }
    return ++w->n > RELA_CLI_WARNINGS_SHOWN;
}

void rela_cli_count_hidden(rela_cli *cli)
{
    for (size_t i = 0; i < cli->n_warnings; i++) {
        const rela_cli_warning *w = &cli->warnings[i];
        if (w->n <= RELA_CLI_WARNINGS_SHOWN)
            continue;
        char line[64];
        (void)snprintf(line, sizeof line, "%llu more warning%s like '",
                       (unsigned long long)(w->n - RELA_CLI_WARNINGS_SHOWN),
                       w->n == RELA_CLI_WARNINGS_SHOWN + 1 ? "" : "s");
        rela_cli_clear_bar(cli);
        if (!cli->common.quiet)
            (void)fprintf(stderr, "rela: %s%s'\n", line, w->first);
        if (cli->log_file)
            (void)fprintf(cli->log_file, "%s%s'\n", line, w->first);
    }
}

void rela_cli_write_log(void *ctx, rela_log_level level, const char *line)
{
    rela_cli *cli = ctx;
    if (level == RELA_LOG_WARNING && too_many(cli, line))
        return;
    const char *mark = level == RELA_LOG_WARNING ? "warning: " : "";
    rela_cli_clear_bar(cli);
    if (!cli->common.quiet)
        (void)fprintf(stderr, "rela: %s%s\n", mark, line);
    if (cli->log_file &&
        (fprintf(cli->log_file, "%s%s\n", mark, line) < 0 || fflush(cli->log_file) != 0))
        rela_cli_warn_of_log(cli);
}

/* Warns once, even with --quiet, since messages are lost otherwise. Not an error: a run of days
 * must not end because of its log. */
void rela_cli_warn_of_log(rela_cli *cli)
{
    rela_error err;
    if (cli->log_failed)
        return;
    cli->log_failed = true;
    (void)rela_fail_errno(&err, errno, "%s: the log cannot be written", cli->common.log);
    (void)fprintf(stderr, "rela: warning: %s\n", err.message);
}

static void emit_progress(void *ctx, const char *bytes, size_t len)
{
    rela_cli *cli = ctx;
    (void)fwrite(bytes, 1, len, stderr);
    (void)fflush(stderr);
    cli->bar_open = len > 0 && bytes[len - 1] != '\n';
}

/* Messages start on an empty line. */
void rela_cli_clear_bar(rela_cli *cli)
{
    if (cli->bar_open)
        (void)fputs("\r\033[K", stderr);
    cli->bar_open = false;
}
