/* SPDX-License-Identifier: MIT */
/* cli/row_jobs.c - see row_jobs.h. */
#include "row_jobs.h"

#include "base/par.h"

#include <string.h>

typedef struct walk {
    rela_cli *cli;
    const rela_cli_steps *job;
    rela_progress progress;
    uint64_t n_rows;
} walk;

static void check_rows(const walk *w, const rela_rows *rows);
static rela_status work_rows(void *ctx, rela_rows *rows, int thread, rela_error *err);
static rela_status finish_rows(void *ctx, rela_rows *rows, rela_error *err);

rela_status rela_cli_run_steps(rela_cli *cli, const rela_cli_steps *job, rela_error *err)
{
    walk w = { .cli = cli, .job = job };
    const rela_steps steps = { .files = job->files.items,
                               .n_files = job->files.n,
                               .n_threads = rela_par_threads((int)cli->common.threads),
                               .may_be_empty = job->may_be_empty,
                               .work = work_rows,
                               .done = finish_rows,
                               .ctx = &w };
    rela_cli_typed_text(cli, job->files.items, job->files.n);
    rela_cli_progress(cli, &w.progress, job->label, "lines", 0);
    rela_progress_start(&w.progress, 0);
    const rela_status st = rela_steps_run(NULL, &steps, err);
    if (st == RELA_OK && w.progress.visible)
        rela_progress_finish(&w.progress, w.n_rows, NULL);
    return st;
}

rela_status rela_cli_fail_at(rela_error *err, rela_status st, const char *path, uint64_t line)
{
    return rela_fail_at(err, st, path, line);
}

static rela_status work_rows(void *ctx, rela_rows *rows, int thread, rela_error *err)
{
    const walk *w = ctx;
    (void)thread;
    return w->job->work(w->job->ctx, rows, err);
}

static rela_status finish_rows(void *ctx, rela_rows *rows, rela_error *err)
{
    walk *w = ctx;
    check_rows(w, rows);
    w->n_rows += rows->n;
    rela_progress_update(&w->progress, w->n_rows, NULL);
    return w->job->done(w->job->ctx, rows, err);
}

static void check_rows(const walk *w, const rela_rows *rows)
{
    const rela_list files = w->job->files;
    for (size_t i = 0; i < rows->n * files.n; i++) {
        const char *name = files.items[i % files.n];
        rela_cli_check_encoding(w->cli, strcmp(name, "-") == 0 ? "standard input" : name,
                                rows->lines[i].text, rows->lines[i].len, rows->first + i / files.n);
    }
}
