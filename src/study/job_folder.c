/* SPDX-License-Identifier: MIT */
/* src/study/job_folder.c - see job_folder.h. */
#include "study/job_folder.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/key.h"
#include "study/locate.h"
#include "study/manifest.h"

#include <string.h>

static rela_status write_job(const rela_study_job *job, const char *folder, rela_error *err);
static rela_status write_inputs(const rela_study_job *job, const char *folder, rela_error *err);
static rela_status link_input(const rela_study_jobs *jobs, const rela_study_input *in,
                              const rela_buffer *folder, rela_study_folders where, rela_error *err);
static rela_status check_folder(const rela_study_job *job, const char *folder, rela_error *err);

int rela_study_missing_maker(const rela_study_jobs *jobs, const rela_study_job *job,
                             const char *dir, rela_error *err)
{
    int missing = RELA_STUDY_NO_JOB;
    rela_buffer path = RELA_BUFFER_INIT;
    for (size_t i = 0; i < job->n_inputs && missing == RELA_STUDY_NO_JOB; i++) {
        const rela_study_input *in = &job->inputs[i];
        if (in->job == RELA_STUDY_NO_JOB)
            continue;
        const rela_study_output *o = rela_study_find_output(&jobs->items[in->job], in->output);
        rela_buffer_clear(&path);
        if (o && o->small)
            continue;
        if (rela_study_job_path(&path, dir, &jobs->items[in->job], "out/", err) != RELA_OK ||
            rela_buffer_append_text(&path, in->output, err) != RELA_OK ||
            !rela_file_exists(path.data))
            missing = in->job;
    }
    rela_buffer_free(&path);
    return missing;
}

rela_status rela_study_folder_prepare(const rela_study_jobs *jobs, const rela_study_job *job,
                                      rela_study_folders where, rela_error *err)
{
    rela_buffer folder = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = rela_study_job_path(&folder, where.dir, job, "", err);
    st = st ? st : check_folder(job, folder.data, err);
    st = st ? st : rela_buffer_printf(&path, err, "%s/work/out", folder.data);
    if (st == RELA_OK && rela_dir_exists(path.data))
        st = rela_dir_remove(path.data, err);
    st = st ? st : rela_dir_make(path.data, err);
    rela_buffer_clear(&path);
    st = st ? st : rela_buffer_printf(&path, err, "%s/work/in", folder.data);
    if (st == RELA_OK && rela_dir_exists(path.data))
        st = rela_dir_remove(path.data, err);
    st = st ? st : rela_dir_make(path.data, err);
    st = st ? st : write_job(job, folder.data, err);
    st = st ? st : write_inputs(job, folder.data, err);
    for (size_t i = 0; i < job->n_inputs && st == RELA_OK; i++)
        st = link_input(jobs, &job->inputs[i], &path, where, err);
    rela_buffer_free(&folder);
    rela_buffer_free(&path);
    return st;
}

/* The folder has only the first digits of the key. */
static rela_status check_folder(const rela_study_job *job, const char *folder, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    rela_status st = rela_buffer_printf(&path, err, "%s/job.yml", folder);
    if (st == RELA_OK && rela_file_exists(path.data))
        st = rela_file_read(&text, &len, path.data, 0, err);
    if (st == RELA_OK && text && strncmp(text, "key: ", 5) == 0 &&
        strncmp(text + 5, job->key, strlen(job->key)) != 0)
        st = rela_fail(err, RELA_STATE, "%s: the folder is that of another job", path.data);
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

static rela_status write_job(const rela_study_job *job, const char *folder, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, text = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/job.yml", folder);
    st = st ? st : rela_study_job_record(&text, job, err);
    st = st ? st : rela_file_note(path.data, text.data, text.len, err);
    rela_buffer_free(&path);
    rela_buffer_free(&text);
    return st;
}

rela_status rela_study_job_record(rela_buffer *out, const rela_study_job *job, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "key: %s\nsettings: %s\nkind: %s\noptions: |\n",
                                        job->key, job->settings, rela_study_kind_name(job->kind));
    for (const char *at = job->options; *at && st == RELA_OK;) {
        const size_t len = strcspn(at, "\n");
        st = rela_buffer_printf(out, err, "  %.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    return st;
}

static rela_status write_inputs(const rela_study_job *job, const char *folder, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, text = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/inputs.tsv", folder);
    st = st ? st : rela_study_job_inputs(&text, job, err);
    st = st ? st : rela_file_note(path.data, text.data, text.len, err);
    rela_buffer_free(&path);
    rela_buffer_free(&text);
    return st;
}

rela_status rela_study_job_inputs(rela_buffer *out, const rela_study_job *job, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "input\tsize\thash\n", err);
    for (size_t i = 0; i < job->n_inputs && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s\t%llu\t%s\n", job->inputs[i].role,
                                (unsigned long long)job->inputs[i].size, job->inputs[i].hash);
    return st;
}

/* Outputs of other jobs are linked relative to this one, so that DIR can be moved. */
static rela_status link_input(const rela_study_jobs *jobs, const rela_study_input *in,
                              const rela_buffer *folder, rela_study_folders where, rela_error *err)
{
    rela_buffer target = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/%s", folder->data, in->role);
    if (in->path) {
        st = st ? st : rela_file_absolute(&target, in->path, err);
    } else {
        const rela_study_job *maker = &jobs->items[in->job];
        st = st ? st : rela_study_job_path(&target, where.dir, maker, "out/", err);
        st = st ? st : rela_buffer_append_text(&target, in->output, err);
        if (st == RELA_OK && rela_file_exists(target.data)) {
            rela_buffer_clear(&target);
            st = rela_buffer_printf(&target, err, "../../../%.*s/out/%s", RELA_STUDY_FOLDER_DIGITS,
                                    maker->key, in->output);
        } else if (st == RELA_OK) {
            rela_buffer small = RELA_BUFFER_INIT;
            st = rela_study_result_path(&small, where.results, maker, in->output, err);
            st = st ? st : rela_file_absolute(&target, small.data, err);
            rela_buffer_free(&small);
        }
    }
    st = st ? st : rela_file_link(target.data, path.data, err);
    rela_buffer_free(&target);
    rela_buffer_free(&path);
    return st;
}
