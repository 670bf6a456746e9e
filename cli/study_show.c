/* SPDX-License-Identifier: MIT */
/* cli/study_show.c - see study_show.h. */
#include "study_show.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "bench/bench_job.h"
#include "study/exports.h"
#include "study/forecast.h"
#include "study/job_folder.h"
#include "study/locate.h"
#include "study/reason.h"

#include <string.h>
#include <unistd.h>

enum { LOG_LINES = 20, PEOPLE_SIZE = 32 };

typedef struct show {
    rela_cli_study s;
    rela_study_reasons *reasons;
    rela_study_need *needs;
} show;

static rela_status open_show(show *w, const char *path, const rela_cli_study_options *o,
                             rela_error *err);
static void close_show(show *w);
static rela_status forecast(show *w, const rela_cli *cli, bool *probed, rela_error *err);
static double probe_speed(void);
static rela_status print_plan(rela_buffer *out, show *w, bool probed, rela_error *err);
static rela_status print_table(rela_buffer *out, show *w, bool json, rela_error *err);
static rela_status print_export(rela_buffer *out, const show *w, const rela_cli *cli,
                                const rela_cli_plan_options *o, rela_error *err);
static rela_status print_status(rela_buffer *out, show *w, rela_error *err);
static rela_status print_running(rela_buffer *out, const show *w, const rela_study_job *j,
                                 rela_error *err);
static void people_time(char out[PEOPLE_SIZE], double seconds);
static void people_bytes(char out[PEOPLE_SIZE], double bytes);

rela_status rela_cli_study_plan(rela_cli *cli, const rela_cli_plan_options *o, rela_error *err)
{
    show w = { .reasons = NULL };
    rela_buffer out = RELA_BUFFER_INIT;
    bool probed = false;
    rela_status st = open_show(&w, cli->operands.items[0], &o->study, err);
    const bool listed = strcmp(o->format, "text") == 0 || strcmp(o->format, "tsv") == 0 ||
                        strcmp(o->format, "json") == 0;
    st = st || !listed ? st : forecast(&w, cli, &probed, err);
    if (st == RELA_OK && strcmp(o->format, "text") == 0)
        st = print_plan(&out, &w, probed, err);
    else if (st == RELA_OK && (strcmp(o->format, "tsv") == 0 || strcmp(o->format, "json") == 0))
        st = print_table(&out, &w, strcmp(o->format, "json") == 0, err);
    else if (st == RELA_OK)
        st = print_export(&out, &w, cli, o, err);
    st = st ? st : rela_cli_print(&out, err);
    rela_buffer_free(&out);
    close_show(&w);
    return st;
}

rela_status rela_cli_study_status(rela_cli *cli, const rela_cli_status_options *o, rela_error *err)
{
    show w = { .reasons = NULL };
    rela_buffer out = RELA_BUFFER_INIT;
    bool probed = false;
    rela_status st = open_show(&w, cli->operands.items[0], &o->study, err);
    st = st || strcmp(o->format, "text") == 0 ? st : forecast(&w, cli, &probed, err);
    if (st == RELA_OK)
        st = strcmp(o->format, "text") == 0
                 ? print_status(&out, &w, err)
                 : print_table(&out, &w, strcmp(o->format, "json") == 0, err);
    st = st ? st : rela_cli_print(&out, err);
    rela_buffer_free(&out);
    close_show(&w);
    return st;
}

rela_status rela_cli_study_why(rela_cli *cli, const rela_cli_study_options *o, rela_error *err)
{
    show w = { .reasons = NULL };
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = open_show(&w, cli->operands.items[0], o, err);
    const int number = st ? 0 : rela_study_find_job(&w.s.jobs, cli->operands.items[1]);
    if (st == RELA_OK && number == RELA_STUDY_NO_JOB)
        st = rela_fail(err, RELA_ARG, "no job '%s'; 'rela study plan' lists them",
                       cli->operands.items[1]);
    if (st == RELA_OK) {
        const rela_study_job *j = &w.s.jobs.items[number];
        st = rela_buffer_printf(&out, err, "%s: ", j->name);
        st = st ? st : rela_study_reason(&out, w.reasons, j, err);
        st = st ? st
                : rela_buffer_printf(&out, err, "\nkey: %s\ncommands:\n",
                                     *j->key ? j->key : "not known yet");
        for (size_t i = 0; i < j->n_steps && st == RELA_OK; i++) {
            st = rela_buffer_append_text(&out, "  rela", err);
            for (size_t k = 0; k < j->steps[i].n && st == RELA_OK; k++)
                st = rela_buffer_printf(&out, err, " %s", j->steps[i].words[k]);
            st = st ? st : rela_buffer_append_char(&out, '\n', err);
        }
        st = st ? st : rela_buffer_append_text(&out, "inputs:\n", err);
        for (size_t i = 0; i < j->n_inputs && st == RELA_OK; i++) {
            const rela_study_input *in = &j->inputs[i];
            st = rela_buffer_printf(&out, err, "  in/%s: %s%s%s %s\n", in->role,
                                    in->path ? in->path : w.s.jobs.items[in->job].name,
                                    in->path ? "" : ", ", in->path ? "" : in->output,
                                    *in->hash ? in->hash : "not made yet");
        }
    }
    st = st ? st : rela_cli_print(&out, err);
    rela_buffer_free(&out);
    close_show(&w);
    return st;
}

static rela_status open_show(show *w, const char *path, const rela_cli_study_options *o,
                             rela_error *err)
{
    rela_status st = rela_cli_study_open(&w->s, path, o, err);
    st = st ? st : rela_study_check_files(w->s.study, err);
    st = st ? st
            : rela_study_locate(&w->s.jobs, w->s.dir.data, w->s.results.data, &RELA_CLI_NORMALISER,
                                err);
    return st ? st
              : rela_study_reasons_open(&w->reasons, &w->s.jobs, w->s.dir.data, w->s.results.data,
                                        err);
}

static void close_show(show *w)
{
    rela_study_reasons_close(w->reasons);
    rela_cli_study_close(&w->s);
    rela_mem_free(w->needs);
}

/* Looks at the speed of the machine only if finished jobs do not tell. */
static rela_status forecast(show *w, const rela_cli *cli, bool *probed, rela_error *err)
{
    const rela_study_jobs *jobs = &w->s.jobs;
    const int64_t threads = cli->common.threads > 0 ? cli->common.threads : 1;
    w->needs = rela_mem_zalloc((jobs->n + 1) * sizeof *w->needs);
    if (!w->needs)
        return rela_fail(err, RELA_NOMEM, "no memory for a forecast");
    rela_status st = rela_study_forecast(w->needs, jobs, w->s.results.data, 0, threads, err);
    for (size_t i = 0; i < jobs->n && !*probed; i++)
        *probed = jobs->items[i].state != RELA_STUDY_DONE && !w->needs[i].measured;
    if (st == RELA_OK && *probed)
        st = rela_study_forecast(w->needs, jobs, w->s.results.data, probe_speed(), threads, err);
    return st;
}

/* Operations per second of products of matrices on one core; 0: not known. */
static double probe_speed(void)
{
    static const double SECONDS = 0.02, GIGA = 1e9;
    double rate = 0;
    return rela_bench_product_rate(&rate, 1, SECONDS, NULL) == RELA_OK ? rate * GIGA : 0;
}

static rela_status print_plan(rela_buffer *out, show *w, bool probed, rela_error *err)
{
    const rela_study_jobs *jobs = &w->s.jobs;
    char time[PEOPLE_SIZE], memory[PEOPLE_SIZE], disk[PEOPLE_SIZE];
    double seconds = 0, kept = 0;
    uint64_t most_memory = 0, most_disk = 0;
    size_t n = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        const rela_study_job *j = &jobs->items[i];
        const rela_study_need *need = &w->needs[i];
        if (j->state == RELA_STUDY_DONE)
            continue;
        n++;
        seconds += need->seconds;
        kept += (double)need->kept;
        most_memory = need->memory > most_memory ? need->memory : most_memory;
        most_disk = need->disk > most_disk ? need->disk : most_disk;
        people_time(time, need->seconds);
        people_bytes(memory, (double)need->memory);
        st = rela_buffer_printf(out, err, "%-40s %-12s %8s %8s  ", j->name, j->stage, time, memory);
        st = st ? st : rela_study_reason(out, w->reasons, j, err);
        st = st ? st : rela_buffer_append_char(out, '\n', err);
    }
    people_time(time, seconds);
    people_bytes(memory, (double)most_memory);
    people_bytes(disk, kept + (double)most_disk);
    st = st ? st : rela_buffer_printf(out, err, "%zu of %zu jobs to run", n, jobs->n);
    if (st == RELA_OK && n)
        st = rela_buffer_printf(out, err,
                                ": %s of one core, up to %s of memory per job, %s of disk "
                                "(forecast from %s)",
                                time, memory, disk,
                                probed ? "a probe of this machine and jobs that are done"
                                       : "jobs that are done");
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

static rela_status print_table(rela_buffer *out, show *w, bool json, rela_error *err)
{
    const rela_study_jobs *jobs = &w->s.jobs;
    rela_status st = rela_buffer_append_text(
        out, json ? "[" : "job\tstage\tstate\tkey\tseconds\tmemory\tdisk\treason\n", err);
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        const rela_study_job *j = &jobs->items[i];
        const rela_study_need *need = &w->needs[i];
        rela_buffer reason = RELA_BUFFER_INIT;
        st = rela_study_reason(&reason, w->reasons, j, err);
        st = st ? st
                : rela_buffer_printf(
                      out, err,
                      json ? "%s\n  {\"job\": \"%s\", \"stage\": \"%s\", \"state\": \"%s\", "
                             "\"key\": \"%s\", \"seconds\": %.0f, \"memory\": %llu, \"disk\": "
                             "%llu, \"reason\": "
                           : "%s%s\t%s\t%s\t%s\t%.0f\t%llu\t%llu\t",
                      json && i ? "," : "", j->name, j->stage, rela_study_state_name(j->state),
                      j->key, need->seconds, (unsigned long long)need->memory,
                      (unsigned long long)need->disk);
        if (st == RELA_OK)
            st = json ? rela_json_quote(out, reason.data, reason.len, err)
                      : rela_buffer_append(out, reason.data, reason.len, err);
        st = st ? st : rela_buffer_append_text(out, json ? "}" : "\n", err);
        rela_buffer_free(&reason);
    }
    return st || !json ? st : rela_buffer_append_text(out, "\n]\n", err);
}

/* The command of one job, as the shell reads it. */
static rela_status append_quoted(rela_buffer *out, const char *option, const char *value,
                                 rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, " %s%s'", option, *option ? " " : "");
    for (const char *p = value; *p && st == RELA_OK; p++)
        st = *p == '\'' ? rela_buffer_append_text(out, "'\\''", err)
                        : rela_buffer_append_char(out, *p, err);
    return st ? st : rela_buffer_append_char(out, '\'', err);
}

static rela_status print_export(rela_buffer *out, const show *w, const rela_cli *cli,
                                const rela_cli_plan_options *o, rela_error *err)
{
    rela_buffer command = RELA_BUFFER_INIT, program = RELA_BUFFER_INIT;
    rela_status st = rela_file_absolute(&program, o->program ? o->program : "/proc/self/exe", err);
    st = st ? st : append_quoted(&command, "", program.data, err);
    st = st ? st : rela_buffer_append_text(&command, " study run", err);
    st = st ? st : append_quoted(&command, "", cli->operands.items[0], err);
    if (st == RELA_OK && o->study.scale)
        st = append_quoted(&command, "--scale", o->study.scale, err);
    st = st ? st : append_quoted(&command, "--dir", w->s.dir.data, err);
    st = st ? st : append_quoted(&command, "--results", w->s.results.data, err);
    for (size_t i = 0; i < o->study.sets.n && st == RELA_OK; i++)
        st = append_quoted(&command, "--set", o->study.sets.items[i], err);
    if (st == RELA_OK && cli->common.threads > 0)
        st = rela_buffer_printf(&command, err, " --threads %lld", (long long)cli->common.threads);
    st = st ? st : rela_buffer_append_text(&command, " --job", err);
    const rela_study_engine e = { command.data ? command.data + 1 : "", w->s.dir.data,
                                  w->s.results.data };
    if (st == RELA_OK && strcmp(o->format, "make") == 0)
        st = rela_study_export_make(out, &w->s.jobs, &e, err);
    else if (st == RELA_OK && strcmp(o->format, "slurm") == 0)
        st = rela_study_export_slurm(out, &w->s.jobs, &e, err);
    else if (st == RELA_OK)
        st = rela_study_export_xargs(out, &w->s.jobs, err);
    rela_buffer_free(&command);
    rela_buffer_free(&program);
    return st;
}

static rela_status print_status(rela_buffer *out, show *w, rela_error *err)
{
    const rela_study_jobs *jobs = &w->s.jobs;
    size_t counts[RELA_STUDY_DONE + 1] = { 0 };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++) {
        const rela_study_job *j = &jobs->items[i];
        counts[j->state]++;
        if (j->state == RELA_STUDY_DONE || j->state == RELA_STUDY_READY ||
            j->state == RELA_STUDY_PENDING)
            continue;
        st = rela_buffer_printf(out, err, "%-40s %-8s ", j->name, rela_study_state_name(j->state));
        if (st == RELA_OK && j->state != RELA_STUDY_RUNNING)
            st = rela_study_reason(out, w->reasons, j, err);
        st = st ? st : print_running(out, w, j, err);
        st = st ? st : rela_buffer_append_char(out, '\n', err);
        if (st == RELA_OK && j->state == RELA_STUDY_FAILED)
            st = rela_study_log_tail(out, w->s.dir.data, j, LOG_LINES, "    ", err);
    }
    st = st ? st : rela_buffer_printf(out, err, "%zu jobs:", jobs->n);
    const char *comma = " ";
    for (int state = RELA_STUDY_DONE; state >= 0 && st == RELA_OK; state--)
        if (counts[state]) {
            st = rela_buffer_printf(out, err, "%s%zu %s", comma, counts[state],
                                    rela_study_state_name((rela_study_state)state));
            comma = ", ";
        }
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

/* The last line of the log of a job that runs, and how long ago it gave a sign of life. */
static rela_status print_running(rela_buffer *out, const show *w, const rela_study_job *j,
                                 rela_error *err)
{
    enum { NANO = 1000000000 };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_file_mark mark;
    char time[PEOPLE_SIZE];
    if (j->state != RELA_STUDY_RUNNING)
        return RELA_OK;
    rela_status st = rela_study_job_path(&path, w->s.dir.data, j, "log", err);
    if (st == RELA_OK && rela_file_look(&mark, path.data)) {
        people_time(time, rela_clock_since_1970() - (double)mark.changed / NANO);
        const size_t start = out->len;
        st = rela_study_log_tail(out, w->s.dir.data, j, 1, "", err);
        while (out->len > start && out->data[out->len - 1] == '\n')
            out->data[--out->len] = '\0';
        st = st ? st : rela_buffer_printf(out, err, " (%s ago)", time);
    }
    rela_buffer_free(&path);
    return st;
}

static void people_time(char out[PEOPLE_SIZE], double seconds)
{
    enum { MINUTE = 60, HOUR = 3600, HOURS_FROM = 2 * HOUR, MINUTES_FROM = 2 * MINUTE };
    if (seconds >= HOURS_FROM)
        rela_format_text(out, PEOPLE_SIZE, "%.1f h", seconds / HOUR);
    else if (seconds >= MINUTES_FROM)
        rela_format_text(out, PEOPLE_SIZE, "%.0f min", seconds / MINUTE);
    else
        rela_format_text(out, PEOPLE_SIZE, "%.0f s", seconds);
}

static void people_bytes(char out[PEOPLE_SIZE], double bytes)
{
    static const double GIB = 1024.0 * 1024 * 1024, MIB = 1024.0 * 1024;
    if (bytes >= GIB)
        rela_format_text(out, PEOPLE_SIZE, "%.1f GiB", bytes / GIB);
    else
        rela_format_text(out, PEOPLE_SIZE, "%.0f MiB", bytes / MIB);
}
