/* SPDX-License-Identifier: MIT */
/* cli/study_run.c - see study_run.h: which job is next, and the loop that waits for processes. */
#include "study_run.h"

#include "study_worker.h"

#include "base/mem.h"
#include "base/nearest.h"
#include "study/forecast.h"
#include "study/job_folder.h"

#include <signal.h>
#include <string.h>

enum { WAIT_SECONDS = 2, BEAT_SECONDS = 30, MANY_JOBS = 1000 };

/* While jobs of other processes are waited for. */
static const double POLL_SECONDS = 0.2;

static rela_status open_run(rela_cli_runner *r, rela_error *err);
static rela_status choose_jobs(rela_cli_runner *r, rela_error *err);
static rela_status check_room(rela_cli_runner *r, rela_error *err);
static rela_status choose_until(rela_cli_runner *r, const char *stage, rela_error *err);
static void choose_needed(rela_cli_runner *r, int number);
static rela_status work(rela_cli_runner *r, rela_error *err);
static rela_status start_some(rela_cli_runner *r, bool *elsewhere, rela_error *err);
static rela_status start_next(rela_cli_runner *r, rela_cli_worker *w, bool *elsewhere,
                              rela_error *err);
static bool may_start(rela_cli_runner *r, size_t number, bool *elsewhere, rela_status *st,
                      rela_error *err);
static rela_status wait_for_event(rela_cli_runner *r, double seconds, rela_error *err);
static void pass_signal(rela_cli_runner *r, int number);
static void report_end(rela_cli_runner *r);

rela_status rela_cli_study_run(rela_cli *cli, const rela_cli_run_options *o, rela_error *err)
{
    rela_cli_runner r = { .cli = cli, .o = o };
    rela_status st = rela_cli_study_open(&r.s, cli->operands.items[0], &o->study, err);
    st = st ? st : open_run(&r, err);
    st = st ? st : choose_jobs(&r, err);
    st = st ? st : check_room(&r, err);
    st = st ? st : rela_cli_hold_signals(err);
    st = st ? st : work(&r, err);
    if (st == RELA_OK)
        report_end(&r);
    rela_cli_runner_close(&r);
    return st;
}

/* Everything that can be wrong with the study is found here, before the first job. */
static rela_status open_run(rela_cli_runner *r, rela_error *err)
{
    const size_t n = r->s.jobs.n;
    rela_status st = rela_study_check_files(r->s.study, err);
    r->workers = rela_mem_zalloc((size_t)r->o->jobs * sizeof *r->workers);
    r->plans = rela_mem_zalloc((n + 1) * sizeof *r->plans);
    r->n_workers = (size_t)r->o->jobs;
    if (!r->workers || !r->plans)
        return rela_fail(err, RELA_NOMEM, "no memory to run a study");
    st = st ? st : rela_dir_make(r->s.dir.data, err);
    st = st ? st : rela_dir_make(r->s.results.data, err);
    st = st ? st
            : rela_study_locator_open(&r->locator, &r->s.jobs, r->s.dir.data, r->s.results.data,
                                      &RELA_CLI_NORMALISER, err);
    st = st ? st : rela_study_locator_all(r->locator, err);
    return st ? st : rela_cli_runner_program(r, err);
}

static rela_status choose_jobs(rela_cli_runner *r, rela_error *err)
{
    if (!r->o->job) {
        for (size_t i = 0; i < r->s.jobs.n; i++)
            r->plans[i].wanted = true;
        return r->o->until ? choose_until(r, r->o->until, err) : RELA_OK;
    }
    const int number = rela_study_find_job(&r->s.jobs, r->o->job);
    rela_nearest best = { NULL, 0 };
    for (size_t i = 0; number < 0 && i < r->s.jobs.n; i++)
        rela_nearest_offer(&best, r->o->job, r->s.jobs.items[i].name,
                           strlen(r->s.jobs.items[i].name));
    if (number < 0)
        return rela_fail(err, RELA_ARG, "no job '%s'%s%s%s; 'rela study plan' lists them",
                         r->o->job, best.name ? "; did you mean '" : "", best.name ? best.name : "",
                         best.name ? "'?" : "");
    choose_needed(r, number);
    return RELA_OK;
}

/* A job that failed is tried again if it is asked for, but not for each job that needs it. */
static void choose_needed(rela_cli_runner *r, int number)
{
    const rela_study_job *j = &r->s.jobs.items[number];
    r->plans[number].wanted = true;
    for (size_t i = 0; i < j->n_inputs; i++) {
        const int maker = j->inputs[i].job;
        if (maker == RELA_STUDY_NO_JOB || r->plans[maker].wanted)
            continue;
        if (r->s.jobs.items[maker].state == RELA_STUDY_FAILED)
            r->plans[maker].tried = true;
        choose_needed(r, maker);
    }
}

static rela_status choose_until(rela_cli_runner *r, const char *stage, rela_error *err)
{
    size_t last = 0;
    bool found = false;
    rela_nearest best = { NULL, 0 };
    for (size_t i = 0; i < r->s.jobs.n; i++) {
        const rela_study_job *j = &r->s.jobs.items[i];
        if (strcmp(j->stage, stage) == 0) {
            found = true;
            last = j->order > last ? j->order : last;
        }
        rela_nearest_offer(&best, stage, j->stage, strlen(j->stage));
    }
    if (!found)
        return rela_fail(err, RELA_ARG, "no stage '%s'%s%s%s", stage,
                         best.name ? "; did you mean '" : "", best.name ? best.name : "",
                         best.name ? "'?" : "");
    for (size_t i = 0; i < r->s.jobs.n; i++)
        r->plans[i].wanted = r->s.jobs.items[i].order <= last;
    return RELA_OK;
}

static rela_status check_room(rela_cli_runner *r, rela_error *err)
{
    const size_t n = r->s.jobs.n;
    rela_study_need *needs = rela_mem_zalloc((n + 1) * sizeof *needs);
    bool *wanted = rela_mem_zalloc((n + 1) * sizeof *wanted);
    rela_status st =
        needs && wanted ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a forecast");
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        wanted[i] = r->plans[i].wanted && r->s.jobs.items[i].state != RELA_STUDY_DONE;
    st = st ? st : rela_study_forecast(needs, &r->s.jobs, r->s.results.data, 0, 1, err);
    st = st ? st
            : rela_study_check_room(needs, &r->s.jobs, wanted, r->s.dir.data, r->n_workers, err);
    rela_mem_free(needs);
    rela_mem_free(wanted);
    return st;
}

static rela_status work(rela_cli_runner *r, rela_error *err)
{
    rela_status st = RELA_OK;
    for (;;) {
        bool elsewhere = false;
        if (!r->stop)
            st = start_some(r, &elsewhere, err);
        const bool busy = rela_cli_runner_busy(r);
        if (st != RELA_OK && busy) { /* the work of the others is kept */
            pass_signal(r, SIGTERM);
            r->failed_st = st;
            st = RELA_OK;
        }
        if (st != RELA_OK || (!busy && (r->stop || !elsewhere)))
            break;
        st = wait_for_event(r, elsewhere && r->s.jobs.n < MANY_JOBS ? POLL_SECONDS : WAIT_SECONDS,
                            err);
        st = st ? st : elsewhere ? rela_cli_runner_refresh(r, err) : RELA_OK;
    }
    return st ? st : r->failed_st;
}

static rela_status start_some(rela_cli_runner *r, bool *elsewhere, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < r->n_workers && st == RELA_OK; i++)
        if (!rela_cli_worker_busy(&r->workers[i]))
            st = start_next(r, &r->workers[i], elsewhere, err);
    return st;
}

static rela_status start_next(rela_cli_runner *r, rela_cli_worker *w, bool *elsewhere,
                              rela_error *err)
{
    rela_status st = RELA_OK;
    if (r->o->next && r->n_started)
        return RELA_OK;
    for (size_t i = 0; i < r->s.jobs.n && st == RELA_OK && !rela_cli_worker_busy(w); i++)
        if (may_start(r, i, elsewhere, &st, err))
            st = rela_cli_worker_start(r, w, i, elsewhere, err);
    return st;
}

static bool may_start(rela_cli_runner *r, size_t number, bool *elsewhere, rela_status *st,
                      rela_error *err)
{
    const rela_study_job *j = &r->s.jobs.items[number];
    rela_cli_job_plan *p = &r->plans[number];
    if (!p->wanted || p->tried || p->running)
        return false;
    if (j->state == RELA_STUDY_RUNNING)
        *elsewhere = true;
    const bool ready = j->state == RELA_STUDY_READY || j->state == RELA_STUDY_STOPPED ||
                       j->state == RELA_STUDY_FAILED || (j->state == RELA_STUDY_DONE && p->again);
    if (!ready)
        return false;
    const int maker = rela_study_missing_maker(&r->s.jobs, j, r->s.dir.data, err);
    if (maker == RELA_STUDY_NO_JOB)
        return true;
    /* The maker comes first; this job is looked at again when that has ended. */
    rela_cli_job_plan *m = &r->plans[maker];
    if (!m->again) {
        rela_log_line(&r->cli->sink, RELA_LOG_INFO, "%s: made again, as %s needs its output",
                      r->s.jobs.items[maker].name, j->name);
        m->again = m->wanted = true;
        m->tried = false;
        for (size_t i = 0; i < r->n_workers && *st == RELA_OK && !m->running; i++)
            if (!rela_cli_worker_busy(&r->workers[i]))
                *st = start_next(r, &r->workers[i], elsewhere, err);
    } else if (m->tried) {
        p->tried = true;
    }
    return false;
}

static rela_status wait_for_event(rela_cli_runner *r, double seconds, rela_error *err)
{
    rela_status st = RELA_OK;
    const int number = rela_cli_next_event(seconds);
    if (number && r->stop)
        pass_signal(r, SIGKILL); /* asked twice */
    else if (number)
        pass_signal(r, SIGTERM);
    if (number)
        r->stop = number;
    for (size_t i = 0; i < r->n_workers && st == RELA_OK; i++)
        if (rela_cli_worker_busy(&r->workers[i]))
            st = rela_cli_worker_look(r, &r->workers[i], BEAT_SECONDS, err);
    return st;
}

/* A training saves on SIGTERM; other commands begin again. */
static void pass_signal(rela_cli_runner *r, int number)
{
    for (size_t i = 0; i < r->n_workers; i++)
        if (rela_cli_worker_busy(&r->workers[i])) {
            r->workers[i].stopping = true;
            rela_cli_process_signal(&r->workers[i].process, number);
        }
}

static void report_end(rela_cli_runner *r)
{
    enum { SIGNAL_BASE = 128 };
    size_t done = 0, waiting = 0, all = 0;
    for (size_t i = 0; i < r->s.jobs.n; i++) {
        const rela_study_job *j = &r->s.jobs.items[i];
        all += r->plans[i].wanted;
        done += r->plans[i].wanted && j->state == RELA_STUDY_DONE;
        waiting += r->plans[i].wanted && !r->stop && !r->o->next &&
                   (j->state == RELA_STUDY_PENDING || j->state == RELA_STUDY_BLOCKED);
    }
    rela_log_line(&r->cli->sink, RELA_LOG_INFO, "%zu of %zu jobs are done", done, all);
    if (waiting)
        rela_log_line(&r->cli->sink, RELA_LOG_WARNING,
                      "%zu job%s not run, as what they need has failed; see 'rela study status'",
                      waiting, waiting == 1 ? " was" : "s were");
    if (r->o->next && !r->n_started && !r->stop)
        rela_log_line(&r->cli->sink, RELA_LOG_INFO, "no job is left to start");
    if (r->stop)
        r->cli->exit_code = SIGNAL_BASE + r->stop;
    else if (r->n_failed || waiting || (r->o->next && !r->n_started) || (!r->o->next && done < all))
        r->cli->exit_code = 1;
}
