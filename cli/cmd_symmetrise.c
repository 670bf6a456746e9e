/* SPDX-License-Identifier: MIT */
/* cli/cmd_symmetrise.c - rela symmetrise: combines the word links of two directions. */
#include "row_jobs.h"

#include "rela/metric.h"

#include <string.h>

typedef struct symmetrise_options {
    const char *method, *output;
    int64_t base;
    bool reverse;
} symmetrise_options;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "method", 'm', RELA_OPTION_CHOICE, offsetof(symmetrise_options, method), 0, 0, "grow-diag-final-and",
      "intersect|union|grow-diag|grow-diag-final|grow-diag-final-and", "which links to keep" },
    { "base", 0, RELA_OPTION_INT, offsetof(symmetrise_options, base), 0, 1, "0", "0|1",
      "number of the first word, in all files" },
    { "reverse", 0, RELA_OPTION_FLAG, offsetof(symmetrise_options, reverse), 0, 0, NULL, NULL,
      "the second file has the target word first" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(symmetrise_options, output), 0, 0, "-", "FILE",
      "output file for the links; - is standard output" },
    { .name = NULL },
};
/* clang-format on */

typedef struct job_state {
    const symmetrise_options *o;
    const char *const *files;
    rela_symmetrise method;
    rela_writer *writer;
} job_state;

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status join_block(void *ctx, rela_cli_rows *rows, rela_error *err);
static rela_status read_links(rela_links *out, const job_state *s, const rela_cli_rows *rows,
                              size_t row, size_t file, rela_error *err);
static rela_status write_block(void *ctx, const rela_cli_rows *rows, rela_error *err);

const rela_command rela_commands_symmetrise[] = {
    { .name = "symmetrise",
      .alias = "symmetrize",
      .summary = "combine word links of two directions",
      .operands = "FORWARD BACKWARD",
      .min_operands = 2,
      .max_operands = 2,
      .description =
          "Reads the links of an alignment from source to target and of one from target to "
          "source,\n"
          "both written source-target, and prints one set of links per line: those in both\n"
          "(intersect), those in either (union), or the intersection grown by neighbouring links\n"
          "of the union (grow-diag), and then by links of words that have none (grow-diag-final),\n"
          "or only where both words have none (grow-diag-final-and). The output is sorted.",
      .examples = "rela symmetrise forward.align backward.align --method grow-diag > both.align",
      .options = OPTIONS,
      .options_size = sizeof(symmetrise_options),
      .in_place = true,
      .needs = RELA_CLI_NO_FIGURES,
      .run = run },
    { .name = NULL },
};

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    static const char *const METHODS[] = { "intersect", "union", "grow-diag", "grow-diag-final",
                                           "grow-diag-final-and" };
    const symmetrise_options *o = options;
    job_state s = { .o = o, .files = cli->operands.items };
    int method = 0;
    while (strcmp(METHODS[method], o->method) != 0)
        method++;
    s.method = (rela_symmetrise)method;
    const rela_cli_steps job = { .files = cli->operands,
                                 .label = "joining",
                                 .may_be_empty = true,
                                 .work = join_block,
                                 .done = write_block,
                                 .ctx = &s };
    rela_status st = rela_writer_open(&s.writer, o->output, err);
    if (st == RELA_OK)
        st = rela_cli_run_steps(cli, &job, err);
    if (st == RELA_OK)
        return rela_writer_commit(s.writer, err);
    rela_writer_abort(s.writer);
    return st;
}

static rela_status join_block(void *ctx, rela_cli_rows *rows, rela_error *err)
{
    const job_state *s = ctx;
    const rela_link_format form = { .struct_size = sizeof form, .base = (int32_t)s->o->base };
    rela_links forward = { NULL, 0, 0 }, backward = { NULL, 0, 0 }, joined = { NULL, 0, 0 };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < rows->n && st == RELA_OK; i++) {
        st = read_links(&forward, s, rows, i, 0, err);
        if (st == RELA_OK)
            st = read_links(&backward, s, rows, i, 1, err);
        if (st == RELA_OK)
            st = rela_links_symmetrise(&joined, &forward, &backward, s->method, err);
        if (st == RELA_OK)
            st = rela_links_format(&rows->out, &joined, &form, err);
        if (st == RELA_OK)
            st = rela_buffer_append_char(&rows->out, '\n', err);
    }
    rela_links_free(&forward);
    rela_links_free(&backward);
    rela_links_free(&joined);
    return st;
}

static rela_status read_links(rela_links *out, const job_state *s, const rela_cli_rows *rows,
                              size_t row, size_t file, rela_error *err)
{
    const rela_span cell = rows->lines[row * 2 + file];
    const rela_link_format form = { .struct_size = sizeof form,
                                    .base = (int32_t)s->o->base,
                                    .reverse = file == 1 && s->o->reverse };
    return rela_cli_fail_at(err, rela_links_parse(out, cell.text, cell.len, &form, err),
                            s->files[file], rows->first + row);
}

static rela_status write_block(void *ctx, const rela_cli_rows *rows, rela_error *err)
{
    const job_state *s = ctx;
    return rela_writer_write(s->writer, rows->out.data, rows->out.len, err);
}
