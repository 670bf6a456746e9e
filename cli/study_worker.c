/* SPDX-License-Identifier: MIT */
/* cli/study_worker.c - see study_worker.h. */
#include "study_worker.h"

#include "base/clock.h"
#include "base/mem.h"
#include "dist/machine.h"
#include "study/claim.h"
#include "study/job_folder.h"
#include "study/ledger.h"
#include "study/manifest.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WORDS_EXTRA = 8, NUMBER_SIZE = 24 };

static rela_status prepare(rela_cli_runner *r, rela_cli_worker *w, rela_error *err);
static rela_status start_step(rela_cli_runner *r, rela_cli_worker *w, rela_error *err);
static rela_status end_step(rela_cli_runner *r, rela_cli_worker *w, rela_error *err);
static rela_status end_job(rela_cli_runner *r, rela_cli_worker *w, rela_error *err);
static rela_status update_followers(rela_cli_runner *r, size_t number, rela_error *err);
static rela_status fail_job(rela_cli_runner *r, rela_cli_worker *w, const char *reason,
                            rela_error *err);
static rela_status release(rela_cli_runner *r, rela_cli_worker *w, rela_error *err);
static void wait_for_orphan(const char *dir, const rela_study_job *j);
static rela_status describe_time(rela_buffer *out, const rela_cli_runner *r,
                                 const rela_cli_worker *w, rela_error *err);
static void take_spent(const rela_cli_runner *r, rela_cli_worker *w);
static rela_status keep_spent(const rela_cli_runner *r, const rela_cli_worker *w, rela_error *err);
static rela_status update_names(const rela_cli_runner *r, rela_error *err);
static int64_t threads_of_job(const rela_cli_runner *r);

bool rela_cli_worker_busy(const rela_cli_worker *w)
{
    return w->busy;
}

bool rela_cli_runner_busy(const rela_cli_runner *r)
{
    for (size_t i = 0; i < r->n_workers; i++)
        if (r->workers[i].busy)
            return true;
    return false;
}

void rela_cli_runner_close(rela_cli_runner *r)
{
    for (size_t i = 0; r->workers && i < r->n_workers; i++)
        rela_cli_process_signal(&r->workers[i].process, SIGKILL);
    rela_study_locator_close(r->locator);
    rela_cli_study_close(&r->s);
    rela_buffer_free(&r->program);
    rela_mem_free(r->workers);
    rela_mem_free(r->plans);
}

rela_status rela_cli_runner_program(rela_cli_runner *r, rela_error *err)
{
    if (r->o->nice && setpriority(PRIO_PROCESS, 0, (int)r->o->nice) != 0)
        return rela_fail_errno(err, errno, "--nice %d", (int)r->o->nice);
    return rela_file_absolute(&r->program, r->o->program ? r->o->program : "/proc/self/exe", err);
}

rela_status rela_cli_runner_refresh(rela_cli_runner *r, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < r->s.jobs.n && st == RELA_OK; i++)
        if (!r->plans[i].running && r->s.jobs.items[i].state != RELA_STUDY_DONE)
            st = rela_study_locator_job(r->locator, i, err);
    return st;
}

static rela_status path_of(rela_buffer *out, const rela_cli_runner *r, const rela_cli_worker *w,
                           const char *name, rela_error *err)
{
    rela_buffer_clear(out);
    return rela_study_job_path(out, r->s.dir.data, &r->s.jobs.items[w->job], name, err);
}

rela_status rela_cli_worker_start(rela_cli_runner *r, rela_cli_worker *w, size_t number,
                                  bool *elsewhere, rela_error *err)
{
    rela_study_job *j = &r->s.jobs.items[number];
    rela_buffer path = RELA_BUFFER_INIT;
    char holder[RELA_CLAIM_HOLDER_SIZE];
    bool got = false;
    *w = (rela_cli_worker){ .job = number, .started = rela_clock_seconds() };
    rela_status st = path_of(&path, r, w, "", err);
    st = st ? st : rela_dir_make(path.data, err);
    st = st ? st : path_of(&path, r, w, "claim", err);
    st = st ? st : rela_claim_take(&got, holder, path.data, err);
    if (st == RELA_OK && !got) {
        *elsewhere = true;
        j->state = j->state == RELA_STUDY_DONE ? RELA_STUDY_DONE : RELA_STUDY_RUNNING;
    }
    if (st == RELA_OK && got) {
        const bool done = j->state == RELA_STUDY_DONE;
        if (*holder) {
            rela_log_line(&r->cli->sink, RELA_LOG_INFO, "%s: taken over from a process that ended",
                          j->name);
            wait_for_orphan(r->s.dir.data, j);
        }
        /* Another process may have ended it before this one had the claim. */
        st = done ? RELA_OK : rela_study_locator_job(r->locator, number, err);
        if (st == RELA_OK && !done && j->state == RELA_STUDY_DONE)
            st = rela_claim_drop(path.data, err);
        else if (st == RELA_OK)
            st = prepare(r, w, err);
    }
    rela_buffer_free(&path);
    return st;
}

/* A process that was killed takes its command along, which may need a moment. */
static void wait_for_orphan(const char *dir, const rela_study_job *j)
{
    enum { TRIES = 100, PAUSE = 20000 /* microseconds */ };
    rela_study_note note;
    rela_study_note_read(&note, dir, j);
    const long pid = strcmp(note.word, "running") == 0 ? strtol(note.rest, NULL, 10) : 0;
    for (int i = 0; pid > 0 && i < TRIES && rela_claim_process_alive(pid); i++)
        (void)usleep(PAUSE);
}

static rela_status prepare(rela_cli_runner *r, rela_cli_worker *w, rela_error *err)
{
    const rela_study_job *j = &r->s.jobs.items[w->job];
    const rela_study_folders where = { r->s.dir.data, r->s.results.data };
    w->busy = true;
    w->beaten = w->started;
    r->plans[w->job].running = true;
    r->n_started++;
    take_spent(r, w);
    rela_status st = rela_study_folder_prepare(&r->s.jobs, j, where, err);
    st = st ? st : rela_study_ledger_note(r->s.study, j, r->s.results.data, err);
    if (st == RELA_OK)
        rela_log_line(&r->cli->sink, RELA_LOG_INFO, "%s: started", j->name);
    st = st ? st : start_step(r, w, err);
    if (st == RELA_OK)
        return RELA_OK;
    const rela_status released = release(r, w, NULL);
    (void)released;
    return st;
}

static rela_status start_step(rela_cli_runner *r, rela_cli_worker *w, rela_error *err)
{
    const rela_study_job *j = &r->s.jobs.items[w->job];
    const rela_study_step *step = &j->steps[w->step];
    const char **words = rela_mem_array(step->n + WORDS_EXTRA, sizeof *words);
    char first[64], number[NUMBER_SIZE], note[NUMBER_SIZE];
    rela_buffer folder = RELA_BUFFER_INIT, log = RELA_BUFFER_INIT;
    size_t n = 0;
    if (!words)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to start it", j->name);
    const char *blank = strchr(step->words[0], ' '); /* of "study choose" */
    rela_format_text(first, sizeof first, "%.*s", (int)strcspn(step->words[0], " "),
                     step->words[0]);
    words[n++] = r->program.data;
    words[n++] = first;
    if (blank)
        words[n++] = blank + 1;
    for (size_t i = 1; i < step->n; i++)
        words[n++] = step->words[i];
    rela_format_text(number, sizeof number, "%lld", (long long)threads_of_job(r));
    words[n++] = "--threads";
    words[n++] = number;
    words[n] = NULL;
    rela_status st = path_of(&folder, r, w, "work", err);
    st = st ? st : path_of(&log, r, w, "log", err);
    st = st ? st : rela_cli_process_start(&w->process, words, folder.data, log.data, err);
    rela_format_text(note, sizeof note, "%lld", (long long)w->process.pid);
    st = st ? st : rela_study_note_write(r->s.dir.data, j, "running", note, err);
    rela_buffer_free(&folder);
    rela_buffer_free(&log);
    rela_mem_free(words);
    return st;
}

static int64_t threads_of_job(const rela_cli_runner *r)
{
    const int64_t all = sysconf(_SC_NPROCESSORS_ONLN), given = r->cli->common.threads;
    const int64_t share = all / (r->n_workers ? (int64_t)r->n_workers : 1);
    return given > 0 ? given : share > 0 ? share : 1;
}

rela_status rela_cli_worker_look(rela_cli_runner *r, rela_cli_worker *w, double beat,
                                 rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    if (rela_cli_process_ended(&w->process))
        return end_step(r, w, err);
    const double now = rela_clock_seconds();
    if (now - w->beaten < beat)
        return RELA_OK;
    w->beaten = now;
    rela_status st = path_of(&path, r, w, "claim", err);
    if (st == RELA_OK && rela_claim_beat(path.data, NULL) != RELA_OK)
        rela_log_line(&r->cli->sink, RELA_LOG_WARNING, "%s: no sign of life can be given",
                      path.data);
    rela_buffer_free(&path);
    return st;
}

static rela_status end_step(rela_cli_runner *r, rela_cli_worker *w, rela_error *err)
{
    enum { SIGNAL_BASE = 128 };
    const rela_study_job *j = &r->s.jobs.items[w->job];
    const int code = w->process.code;
    char reason[64];
    w->cpu_seconds += w->process.cpu_seconds;
    if (w->process.peak_bytes > w->peak_bytes)
        w->peak_bytes = w->process.peak_bytes;
    if (code == 0 && ++w->step < j->n_steps) {
        if (!w->stopping)
            return start_step(r, w, err);
    } else if (code == 0) {
        return end_job(r, w, err);
    }
    if (!w->stopping) {
        if (code > SIGNAL_BASE)
            rela_format_text(reason, sizeof reason, "signal %d", code - SIGNAL_BASE);
        else
            rela_format_text(reason, sizeof reason, "exit code %d", code);
        return fail_job(r, w, reason, err);
    }
    r->plans[w->job].tried = true;
    rela_format_text(reason, sizeof reason, "signal %d", r->stop ? r->stop : SIGTERM);
    rela_status st = rela_study_note_write(r->s.dir.data, j, "stopped", reason, err);
    rela_log_line(&r->cli->sink, RELA_LOG_INFO, "%s: stopped", j->name);
    st = st ? st : keep_spent(r, w, err);
    return st ? st : release(r, w, err);
}

static rela_status end_job(rela_cli_runner *r, rela_cli_worker *w, rela_error *err)
{
    rela_study_job *j = &r->s.jobs.items[w->job];
    const rela_study_folders where = { r->s.dir.data, r->s.results.data };
    rela_buffer time = RELA_BUFFER_INIT;
    rela_error why = { RELA_OK, "" };
    rela_status st = describe_time(&time, r, w, err);
    if (st == RELA_OK &&
        rela_study_folder_finish(&r->s.jobs, j, where, time.data, &why) != RELA_OK) {
        rela_buffer_free(&time);
        return fail_job(r, w, why.message, err);
    }
    if (st == RELA_OK)
        rela_log_line(&r->cli->sink, RELA_LOG_INFO, "%s: done in %.0f s", j->name,
                      rela_clock_seconds() - w->started);
    rela_buffer_free(&time);
    r->plans[w->job].again = false;
    st = st ? st : update_names(r, err);
    st = st ? st : release(r, w, err);
    return st ? st : update_followers(r, w->job, err);
}

/* Jobs that need this one now have a key; some may be done already, and so on. */
static rela_status update_followers(rela_cli_runner *r, size_t number, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < r->s.jobs.n; i++)
        r->plans[i].changed = i == number;
    for (size_t i = number + 1; i < r->s.jobs.n && st == RELA_OK; i++) {
        const rela_study_job *j = &r->s.jobs.items[i];
        const rela_study_state before = j->state;
        bool follows = false;
        for (size_t k = 0; k < j->n_inputs && !follows; k++)
            follows = j->inputs[k].job != RELA_STUDY_NO_JOB && r->plans[j->inputs[k].job].changed;
        if (follows && !r->plans[i].running)
            st = rela_study_locator_job(r->locator, i, err);
        r->plans[i].changed = j->state != before;
    }
    return st;
}

/* What needs it is blocked; everything else goes on. */
static rela_status fail_job(rela_cli_runner *r, rela_cli_worker *w, const char *reason,
                            rela_error *err)
{
    rela_study_job *j = &r->s.jobs.items[w->job];
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = path_of(&path, r, w, "log", err);
    r->plans[w->job].tried = true;
    r->n_failed++;
    rela_log_line(&r->cli->sink, RELA_LOG_WARNING, "%s: failed (%s); see %s", j->name, reason,
                  path.data ? path.data : "its log");
    st = st ? st : rela_study_note_write(r->s.dir.data, j, "failed", reason, err);
    st = st ? st : keep_spent(r, w, err);
    st = st ? st : release(r, w, err);
    if (j->state != RELA_STUDY_DONE)
        j->state = RELA_STUDY_FAILED;
    st = st ? st : update_followers(r, w->job, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status release(rela_cli_runner *r, rela_cli_worker *w, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = path_of(&path, r, w, "claim", err);
    st = st ? st : rela_claim_drop(path.data, err);
    w->busy = false;
    r->plans[w->job].running = false;
    rela_buffer_free(&path);
    return st;
}

static rela_status describe_time(rela_buffer *out, const rela_cli_runner *r,
                                 const rela_cli_worker *w, rela_error *err)
{
    const uint32_t v = rela_version();
    return rela_buffer_printf(
        out, err,
        "what\tvalue\nwall_seconds\t%.3f\ncpu_seconds\t%.3f\npeak_bytes\t%llu\nthreads\t%lld\n"
        "level\t%s\nversion\t%u.%u.%u\n",
        w->wall_seconds + rela_clock_seconds() - w->started, w->cpu_seconds,
        (unsigned long long)w->peak_bytes, (long long)threads_of_job(r), rela_machine_level(),
        v >> 16, v >> 8 & 255, v & 255);
}

/* Time of earlier runs of a job that was stopped: two numbers. */
static void take_spent(const rela_cli_runner *r, rela_cli_worker *w)
{
    enum { SPENT_MAX = 256 };
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    if (path_of(&path, r, w, "spent", NULL) == RELA_OK &&
        rela_file_read(&text, &len, path.data, SPENT_MAX, NULL) == RELA_OK) {
        char *end = NULL;
        w->wall_seconds = rela_scan_f64(text, &end);
        w->cpu_seconds = rela_scan_f64(end, &end);
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
}

static rela_status keep_spent(const rela_cli_runner *r, const rela_cli_worker *w, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, text = RELA_BUFFER_INIT;
    rela_status st = path_of(&path, r, w, "spent", err);
    st = st ? st
            : rela_buffer_printf(&text, err, "%.3f %.3f\n",
                                 w->wall_seconds + rela_clock_seconds() - w->started,
                                 w->cpu_seconds);
    st = st ? st : rela_file_note(path.data, text.data, text.len, err);
    rela_buffer_free(&path);
    rela_buffer_free(&text);
    return st;
}

/* One process at a time: each adds its own rows. */
static rela_status update_names(const rela_cli_runner *r, rela_error *err)
{
    enum { TRIES = 500, PAUSE = 10000 /* microseconds */ };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_lock *lock = NULL;
    rela_status st = rela_buffer_printf(&path, err, "%s/names.lock", r->s.dir.data);
    if (st == RELA_OK) {
        st = rela_lock_open(&lock, path.data, err);
        for (int i = 0; i < TRIES && st == RELA_STATE; i++) {
            (void)usleep(PAUSE);
            st = rela_lock_open(&lock, path.data, err);
        }
    }
    st = st ? st : rela_study_names_update(&r->s.jobs, r->s.results.data, err);
    rela_lock_close(lock);
    rela_buffer_free(&path);
    return st;
}
