/* SPDX-License-Identifier: MIT */
/* src/study/job_finish.c - puts what a job has left in its place, for job_folder.h. */
#include "study/job_folder.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/locate.h"
#include "study/manifest.h"
#include "study/train_table.h"

#include <string.h>

static rela_status collect(const rela_study_job *job, const char *folder, rela_error *err);
static rela_status compare_again(const rela_study_job *job, const rela_study_output *outputs,
                                 size_t n, rela_error *err);
static rela_status move_outputs(const rela_study_output *outputs, size_t n, const char *folder,
                                rela_error *err);
static rela_status publish(const rela_study_job *job, rela_study_folders where, const char *folder,
                           const char *time, rela_error *err);
static rela_status clear_results(const char *path, rela_error *err);
static rela_status link_name(const rela_study_job *job, const char *dir, rela_error *err);

rela_status rela_study_folder_finish(const rela_study_jobs *jobs, rela_study_job *job,
                                     rela_study_folders where, const char *time, rela_error *err)
{
    rela_study_output *outputs = NULL;
    size_t n = 0;
    rela_buffer folder = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = rela_study_job_path(&folder, where.dir, job, "", err);
    st = st ? st : collect(job, folder.data, err);
    st = st ? st : rela_buffer_printf(&path, err, "%s/work/out", folder.data);
    st = st ? st
            : rela_study_manifest_make(&outputs, &n, jobs->study->arena, path.data,
                                       job->kind == RELA_STUDY_SPEED, err);
    const bool again = job->state == RELA_STUDY_DONE;
    st = st || !again ? st : compare_again(job, outputs, n, err);
    st = st ? st : move_outputs(outputs, n, folder.data, err);
    if (st == RELA_OK && !again) {
        job->outputs = outputs;
        job->n_outputs = n;
        st = publish(job, where, folder.data, time, err);
    }
    st = st ? st : rela_study_note_write(where.dir, job, "done", "", err);
    rela_buffer_clear(&path);
    st = st ? st : rela_buffer_printf(&path, err, "%s/work", folder.data);
    st = st ? st : rela_dir_remove(path.data, err);
    st = st ? st : link_name(job, where.dir, err);
    if (st == RELA_OK)
        job->state = RELA_STUDY_DONE;
    rela_buffer_free(&folder);
    rela_buffer_free(&path);
    return st;
}

/* ctx: the folder, with a slash. */
static rela_status remove_print(void *ctx, const char *name, rela_error *err)
{
    static const char END[] = ".pdf";
    const char *folder = ctx;
    const size_t len = strlen(name), end = sizeof END - 1;
    rela_buffer path = RELA_BUFFER_INIT;
    if (len < end || strcmp(name + len - end, END) != 0)
        return RELA_OK;
    rela_status st = rela_buffer_printf(&path, err, "%s%s", folder, name);
    st = st ? st : rela_file_remove(path.data, err);
    rela_buffer_free(&path);
    return st;
}

/* Figures for print know the time at which they were made; the same figures are there as SVG. */
static rela_status remove_prints(const char *folder, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/work/out/", folder);
    st = st ? st : rela_dir_list(path.data, remove_print, path.data, err);
    rela_buffer_free(&path);
    return st;
}

/* Of the folder of a training, the model and the tables are kept. */
static rela_status collect(const rela_study_job *job, const char *folder, rela_error *err)
{
    rela_buffer from = RELA_BUFFER_INIT, to = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    static const char *const FILES[] = { "valid.tsv", "model.rela" };
    if (job->kind == RELA_STUDY_ANALYSE)
        return remove_prints(folder, err);
    if (job->kind != RELA_STUDY_TRAIN && job->kind != RELA_STUDY_TUNE)
        return RELA_OK;
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0] && st == RELA_OK; i++) {
        if (i == 1 && job->kind == RELA_STUDY_TUNE)
            continue;
        rela_buffer_clear(&from);
        rela_buffer_clear(&to);
        st = rela_buffer_printf(&from, err, "%s/work/run/%s", folder, FILES[i]);
        st = st ? st : rela_buffer_printf(&to, err, "%s/work/out/%s", folder, FILES[i]);
        if (st == RELA_OK && (i == 1 || rela_file_exists(from.data)))
            st = rela_file_rename(from.data, to.data, err);
    }
    rela_buffer_clear(&from);
    rela_buffer_clear(&to);
    st = st ? st : rela_buffer_printf(&from, err, "%s/work/run/train.jsonl", folder);
    st = st ? st : rela_buffer_printf(&to, err, "%s/work/out/train.tsv", folder);
    if (st == RELA_OK && rela_file_exists(from.data))
        st = rela_study_train_table(from.data, to.data, err);
    rela_buffer_free(&from);
    rela_buffer_free(&to);
    return st;
}

static rela_status compare_again(const rela_study_job *job, const rela_study_output *outputs,
                                 size_t n, rela_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const rela_study_output *old = rela_study_find_output(job, outputs[i].name);
        if (!old || strcmp(old->hash, outputs[i].hash) != 0)
            return rela_fail(err, RELA_STATE,
                             "%s: made again, but %s is not that of the manifest; was it made by "
                             "another version of rela or on another kind of processor?",
                             job->name, outputs[i].name);
    }
    return n == job->n_outputs
               ? RELA_OK
               : rela_fail(err, RELA_STATE, "%s: made again, but with %zu outputs instead of %zu",
                           job->name, n, job->n_outputs);
}

static rela_status move_outputs(const rela_study_output *outputs, size_t n, const char *folder,
                                rela_error *err)
{
    rela_buffer from = RELA_BUFFER_INIT, to = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        if (outputs[i].small) /* its copy in RESULTS is what counts */
            continue;
        rela_buffer_clear(&from);
        st = rela_buffer_printf(&from, err, "%s/work/out/%s", folder, outputs[i].name);
        st = st ? st : rela_file_sync(from.data, err);
    }
    rela_buffer_clear(&from);
    st = st ? st : rela_buffer_printf(&from, err, "%s/work/out", folder);
    st = st ? st : rela_buffer_printf(&to, err, "%s/out", folder);
    if (st == RELA_OK && rela_dir_exists(to.data))
        st = rela_dir_remove(to.data, err);
    st = st ? st : rela_file_rename(from.data, to.data, err);
    st = st ? st : rela_file_sync(folder, err);
    rela_buffer_free(&from);
    rela_buffer_free(&to);
    return st;
}

static rela_status copy_small(const rela_study_job *job, const char *name, const char *from,
                              rela_study_folders where, rela_error *err)
{
    rela_buffer to = RELA_BUFFER_INIT;
    rela_status st = rela_study_result_path(&to, where.results, job, name, err);
    char *slash = st ? NULL : strrchr(to.data, '/');
    if (slash) {
        *slash = '\0';
        st = rela_dir_make(to.data, err);
        *slash = '/';
    }
    st = st ? st : rela_file_copy(from, to.data, err);
    rela_buffer_free(&to);
    return st;
}

/* The manifest is written last: then the job is done. */
static rela_status publish(const rela_study_job *job, rela_study_folders where, const char *folder,
                           const char *time, rela_error *err)
{
    static const char *const RECORDS[] = { "job.yml", "inputs.tsv" };
    rela_buffer from = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = rela_study_result_path(&path, where.results, job, "", err);
    st = st ? st : clear_results(path.data, err);
    for (size_t i = 0; i < sizeof RECORDS / sizeof RECORDS[0] && st == RELA_OK; i++) {
        rela_buffer_clear(&from);
        st = rela_buffer_printf(&from, err, "%s/%s", folder, RECORDS[i]);
        st = st ? st : copy_small(job, RECORDS[i], from.data, where, err);
    }
    for (size_t i = 0; i < job->n_outputs && st == RELA_OK; i++) {
        if (!job->outputs[i].small)
            continue;
        rela_buffer_clear(&from);
        st = rela_buffer_printf(&from, err, "%s/out/%s", folder, job->outputs[i].name);
        st = st ? st : copy_small(job, job->outputs[i].name, from.data, where, err);
    }
    rela_buffer_clear(&path);
    st = st ? st : rela_study_result_path(&path, where.results, job, "time.tsv", err);
    st = st ? st : rela_file_note(path.data, time, strlen(time), err);
    rela_buffer_clear(&path);
    st = st ? st : rela_study_result_path(&path, where.results, job, "manifest.tsv", err);
    st = st ? st : rela_study_manifest_write(path.data, job->outputs, job->n_outputs, true, err);
    rela_buffer_clear(&path);
    st = st ? st : rela_buffer_printf(&path, err, "%s/manifest.tsv", folder);
    st = st ? st : rela_study_manifest_write(path.data, job->outputs, job->n_outputs, false, err);
    rela_buffer_free(&from);
    rela_buffer_free(&path);
    return st;
}

/* What a process that was killed has left; there is no manifest. */
static rela_status clear_results(const char *path, rela_error *err)
{
    const rela_status st = rela_dir_exists(path) ? rela_dir_remove(path, err) : RELA_OK;
    return st ? st : rela_dir_make(path, err);
}

/* DIR/names/NAME, with . for /, so that people find it. */
static rela_status link_name(const rela_study_job *job, const char *dir, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, target = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/names", dir);
    st = st ? st : rela_dir_make(path.data, err);
    const size_t base = path.len + 1;
    st = st ? st : rela_buffer_printf(&path, err, "/%s", job->name);
    for (size_t i = base; st == RELA_OK && i < path.len; i++)
        path.data[i] = path.data[i] == '/' ? '.' : path.data[i];
    st = st ? st
            : rela_buffer_printf(&target, err, "../jobs/%.*s", RELA_STUDY_FOLDER_DIGITS, job->key);
    st = st ? st : rela_file_link(target.data, path.data, err);
    rela_buffer_free(&path);
    rela_buffer_free(&target);
    return st;
}

rela_status rela_study_log_tail(rela_buffer *out, const char *dir, const rela_study_job *job,
                                size_t n, const char *indent, rela_error *err)
{
    enum { TAIL_BYTES = 16384 };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_blob *log = NULL;
    char *text = rela_mem_alloc(TAIL_BYTES + 1);
    rela_status st = text ? rela_study_job_path(&path, dir, job, "log", err)
                          : rela_fail(err, RELA_NOMEM, "no memory for a log");
    if (st == RELA_OK && rela_file_exists(path.data))
        st = rela_blob_open(&log, path.data, err);
    const uint64_t size = log ? rela_blob_size(log) : 0;
    const size_t len = size < TAIL_BYTES ? (size_t)size : TAIL_BYTES;
    st = st || !log ? st : rela_blob_read(log, text, len, size - len, err);
    size_t start = len, lines = 0;
    while (st == RELA_OK && start > 0 && lines <= n)
        if (text[--start] == '\n' && start + 1 < len && ++lines >= n) {
            start++;
            break;
        }
    while (st == RELA_OK && start < len) {
        const char *end = memchr(text + start, '\n', len - start);
        const size_t line = end ? (size_t)(end - text) - start : len - start;
        st = rela_buffer_printf(out, err, "%s%.*s\n", indent, (int)line, text + start);
        start += line + 1;
    }
    rela_blob_close(log);
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}
