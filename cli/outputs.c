/* SPDX-License-Identifier: MIT */
/* cli/outputs.c - checks that no output is also an input or another output, and that no two inputs
 * are standard input. */
#include "cli.h"

#include <string.h>

/* A file given on the command line. */
typedef struct named {
    const char *name; /* of its option; NULL: an operand */
    const char *path;
} named;

static named find_row(const rela_option *row, const void *fields);
static rela_status compare_outputs(named a, const rela_option *rows, const void *fields,
                                   rela_error *err);
static rela_status compare_inputs(named a, const rela_cli *cli, const rela_command *c,
                                  const void *fields, rela_error *err);
static rela_status check_standard(const rela_cli *cli, const rela_command *c, const void *fields,
                                  rela_error *err);
static bool same_output(const char *a, const char *b);

rela_status rela_cli_check_outputs(const rela_cli *cli, const rela_command *c, const void *fields,
                                   rela_error *err)
{
    static const rela_option NONE[] = { { .name = NULL } };
    const rela_option *rows = c->options ? c->options : NONE;
    rela_status st = check_standard(cli, c, fields, err);
    for (const rela_option *row = rows; row->name && st == RELA_OK; row++) {
        const named a = find_row(row, fields);
        if (row->type != RELA_OPTION_OUTPUT || !a.path)
            continue;
        st = compare_outputs(a, row + 1, fields, err);
        if (st == RELA_OK && cli->common.log && same_output(a.path, cli->common.log))
            st = rela_fail(err, RELA_ARG, "--%s and --log are the same file: %s", a.name, a.path);
        st = st ? st : compare_inputs(a, cli, c, fields, err);
    }
    const named log = { "log", cli->common.log };
    return st == RELA_OK && log.path ? compare_inputs(log, cli, c, fields, err) : st;
}

static named find_row(const rela_option *row, const void *fields)
{
    const bool file = row->type == RELA_OPTION_FILE || row->type == RELA_OPTION_OUTPUT;
    const void *field = (const char *)fields + row->offset;
    return (named){ row->name, file ? *(const char *const *)field : NULL };
}

static rela_list list_of(const rela_option *row, const void *fields)
{
    const void *field = (const char *)fields + row->offset;
    return row->type == RELA_OPTION_FILES ? *(const rela_list *)field : (rela_list){ NULL, 0 };
}

static rela_status compare_outputs(named a, const rela_option *rows, const void *fields,
                                   rela_error *err)
{
    for (const rela_option *row = rows; row->name; row++) {
        const named b = find_row(row, fields);
        if (row->type == RELA_OPTION_OUTPUT && b.path && same_output(a.path, b.path))
            return rela_fail(err, RELA_ARG, "--%s and --%s are the same file: %s", a.name, b.name,
                             a.path);
    }
    return RELA_OK;
}

static rela_status compare_inputs(named a, const rela_cli *cli, const rela_command *c,
                                  const void *fields, rela_error *err)
{
    const bool replaces = c->in_place && strcmp(a.name, "log") != 0;
    for (const rela_option *row = c->options; row && row->name; row++) {
        const named b = find_row(row, fields);
        const rela_list many = list_of(row, fields);
        bool same = row->type == RELA_OPTION_FILE && b.path && rela_file_same(a.path, b.path);
        for (size_t i = 0; i < many.n && !same; i++)
            same = rela_file_same(a.path, many.items[i]);
        if (same)
            return rela_fail(err, RELA_ARG, "--%s is the input --%s: %s", a.name, b.name, a.path);
    }
    if (cli->common.config && rela_file_same(a.path, cli->common.config))
        return rela_fail(err, RELA_ARG, "--%s is the input --config: %s", a.name, a.path);
    for (size_t i = 0; i < cli->operands.n && !replaces; i++)
        if (rela_file_same(a.path, cli->operands.items[i]))
            return rela_fail(err, RELA_ARG, "--%s is the input '%s'", a.name,
                             cli->operands.items[i]);
    return RELA_OK;
}

static rela_status check_standard(const rela_cli *cli, const rela_command *c, const void *fields,
                                  rela_error *err)
{
    size_t n = 0;
    for (const rela_option *row = c->options; row && row->name; row++) {
        const named a = find_row(row, fields);
        const rela_list many = list_of(row, fields);
        n += row->type == RELA_OPTION_FILE && a.path && strcmp(a.path, "-") == 0;
        for (size_t i = 0; i < many.n; i++)
            n += strcmp(many.items[i], "-") == 0;
    }
    const bool texts = c->operands && !strstr(c->operands, "MODEL"); /* a model has a file */
    for (size_t i = 0; i < cli->operands.n && texts; i++)
        n += strcmp(cli->operands.items[i], "-") == 0;
    return n > 1 ? rela_fail(err, RELA_ARG, "standard input can be read only once") : RELA_OK;
}

static bool same_output(const char *a, const char *b)
{
    return (strcmp(a, "-") == 0 && strcmp(b, "-") == 0) || rela_file_same(a, b);
}
