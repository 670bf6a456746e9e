/* SPDX-License-Identifier: MIT */
/* src/study/check_results.c - see check_results.h. */
#include "study/check_results.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/key.h"
#include "study/locate.h"
#include "study/manifest.h"

#include <string.h>

static rela_status check_output(rela_buffer *out, rela_study_check *check, const char *path,
                                const rela_study_output *o, bool needed, rela_error *err);
static rela_status check_record(rela_buffer *out, rela_study_check *check,
                                const rela_study_job *job, rela_study_folders where,
                                const char *name, const rela_buffer *want, rela_error *err);
static rela_status write_record(const rela_study_job *job, rela_study_folders where,
                                const char *name, const rela_buffer *text, rela_error *err);
static rela_status copy_tree(const rela_study_job *from, const rela_study_job *to,
                             rela_study_folders where, bool small, rela_error *err);

rela_status rela_study_check_job(rela_buffer *out, rela_study_check *check,
                                 const rela_study_job *job, rela_study_folders where,
                                 rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, record = RELA_BUFFER_INIT, inputs = RELA_BUFFER_INIT;
    rela_status st = rela_study_job_record(&record, job, err);
    st = st ? st : rela_study_job_inputs(&inputs, job, err);
    st = st ? st : check_record(out, check, job, where, "job.yml", &record, err);
    st = st ? st : check_record(out, check, job, where, "inputs.tsv", &inputs, err);
    for (size_t i = 0; i < job->n_outputs && st == RELA_OK; i++) {
        const rela_study_output *o = &job->outputs[i];
        rela_buffer_clear(&path);
        if (strcmp(o->hash, "-") == 0)
            continue;
        if (o->small) {
            st = rela_study_result_path(&path, where.results, job, o->name, err);
            st = st ? st : check_output(out, check, path.data, o, true, err);
        }
        rela_buffer_clear(&path);
        st = st ? st : rela_study_job_path(&path, where.dir, job, "out/", err);
        st = st ? st : rela_buffer_append_text(&path, o->name, err);
        st = st ? st : check_output(out, check, path.data, o, false, err);
    }
    rela_buffer_free(&path);
    rela_buffer_free(&record);
    rela_buffer_free(&inputs);
    return st;
}

static rela_status check_output(rela_buffer *out, rela_study_check *check, const char *path,
                                const rela_study_output *o, bool needed, rela_error *err)
{
    char hash[RELA_STUDY_KEY_SIZE] = "";
    uint64_t size = 0;
    if (!rela_file_exists(path)) {
        check->absent += !needed && !o->small;
        check->bad += needed;
        return needed ? rela_buffer_printf(out, err, "%s: is not there\n", path) : RELA_OK;
    }
    const rela_status st = rela_study_hash_file(hash, &size, path, err);
    check->files++;
    if (st != RELA_OK || strcmp(hash, o->hash) == 0)
        return st;
    check->bad++;
    return rela_buffer_printf(out, err, "%s: its hash is %s; the manifest says %s\n", path, hash,
                              o->hash);
}

/* A record is made anew and compared. */
static rela_status check_record(rela_buffer *out, rela_study_check *check,
                                const rela_study_job *job, rela_study_folders where,
                                const char *name, const rela_buffer *want, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    rela_status st = rela_study_result_path(&path, where.results, job, name, err);
    if (st == RELA_OK && rela_file_exists(path.data))
        st = rela_file_read(&text, &len, path.data, 0, err);
    check->files++;
    if (st == RELA_OK && (!text || len != want->len || memcmp(text, want->data, len) != 0)) {
        check->bad++;
        st = rela_buffer_printf(out, err, "%s: is not what the job %s was run with\n", path.data,
                                job->name);
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

rela_status rela_study_adopt(rela_study_job *job, const rela_study *s, const char *key,
                             rela_study_folders where, rela_error *err)
{
    rela_study_job old = { .name = job->name };
    rela_buffer path = RELA_BUFFER_INIT, record = RELA_BUFFER_INIT, inputs = RELA_BUFFER_INIT;
    rela_format_text(old.key, sizeof old.key, "%s", key);
    rela_status st = rela_study_result_path(&path, where.results, &old, "manifest.tsv", err);
    if (st == RELA_OK && !rela_file_exists(path.data))
        st = rela_fail(err, RELA_ARG, "%s: no results of this key", path.data);
    st = st ? st : rela_study_manifest_read(&old.outputs, &old.n_outputs, s->arena, path.data, err);
    st = st ? st : copy_tree(&old, job, where, true, err);
    st = st ? st : copy_tree(&old, job, where, false, err);
    st = st ? st : rela_study_job_record(&record, job, err);
    st = st ? st : rela_study_job_inputs(&inputs, job, err);
    st = st ? st : write_record(job, where, "job.yml", &record, err);
    st = st ? st : write_record(job, where, "inputs.tsv", &inputs, err);
    rela_buffer_clear(&path);
    st = st ? st : rela_study_result_path(&path, where.results, job, "manifest.tsv", err);
    st = st ? st : rela_study_manifest_write(path.data, old.outputs, old.n_outputs, true, err);
    if (st == RELA_OK) {
        job->outputs = old.outputs;
        job->n_outputs = old.n_outputs;
        job->state = RELA_STUDY_DONE;
    }
    rela_buffer_free(&path);
    rela_buffer_free(&record);
    rela_buffer_free(&inputs);
    return st;
}

static rela_status write_record(const rela_study_job *job, rela_study_folders where,
                                const char *name, const rela_buffer *text, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_study_result_path(&path, where.results, job, name, err);
    st = st ? st : rela_file_write(path.data, text->data, text->len, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status name_output(rela_buffer *out, const rela_study_job *job,
                               rela_study_folders where, bool small, const char *name,
                               rela_error *err)
{
    rela_buffer_clear(out);
    if (small)
        return rela_study_result_path(out, where.results, job, name, err);
    const rela_status st = rela_study_job_path(out, where.dir, job, "out/", err);
    return st ? st : rela_buffer_append_text(out, name, err);
}

/* Small: in RESULTS, where time.tsv comes along. Otherwise in DIR, as far as files are there. */
static rela_status copy_tree(const rela_study_job *from, const rela_study_job *to,
                             rela_study_folders where, bool small, rela_error *err)
{
    rela_buffer a = RELA_BUFFER_INIT, b = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i <= from->n_outputs && st == RELA_OK; i++) {
        const bool time = i == from->n_outputs;
        const char *name = time ? "time.tsv" : from->outputs[i].name;
        if (time ? !small : small && !from->outputs[i].small)
            continue;
        st = name_output(&a, from, where, small, name, err);
        st = st ? st : name_output(&b, to, where, small, name, err);
        if (st != RELA_OK || !rela_file_exists(a.data))
            continue;
        char *slash = strrchr(b.data, '/');
        *slash = '\0';
        st = rela_dir_make(b.data, err);
        *slash = '/';
        st = st ? st : rela_file_copy(a.data, b.data, err);
    }
    rela_buffer_free(&a);
    rela_buffer_free(&b);
    return st;
}
