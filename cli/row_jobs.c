/* SPDX-License-Identifier: MIT */
/* cli/row_jobs.c - see row_jobs.h. */
#include "row_jobs.h"

#include "base/par.h"

typedef struct walk {
    const rela_cli_steps *job;
    rela_progress progress;
    uint64_t n_rows;
} walk;

static rela_status work_rows(void *ctx, rela_rows *rows, int thread, rela_error *err);
static rela_status finish_rows(void *ctx, rela_rows *rows, rela_error *err);

rela_status rela_cli_run_steps(rela_cli *cli, const rela_cli_steps *job, rela_error *err)
{
    walk w = { .job = job };
    const rela_steps steps = { .files = job->files.items,
                               .n_files = job->files.n,
                               .n_threads = rela_par_threads((int)cli->common.threads),
                               .may_be_empty = job->may_be_empty,
                               .work = work_rows,
                               .done = finish_rows,
                               .ctx = &w };
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
    w->n_rows += rows->n;
    rela_progress_update(&w->progress, w->n_rows, NULL);
    return w->job->done(w->job->ctx, rows, err);
}
