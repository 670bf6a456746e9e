/* SPDX-License-Identifier: MIT */
/* src/study/locate.c - see locate.h. */
#include "study/locate.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/claim.h"
#include "study/key.h"
#include "study/manifest.h"

#include <string.h>

struct rela_study_locator {
    rela_study_jobs *jobs;
    const char *dir, *results;
    const rela_study_normaliser *normaliser;
    rela_study_hashes *hashes;
    rela_study_key_names names; /* without dir */
    rela_buffer path;
};

static rela_status find_key(rela_study_locator *l, rela_study_job *j, rela_error *err);
static rela_status hash_inputs(rela_study_locator *l, rela_study_job *j, bool *all,
                               rela_error *err);
static void take_recorded_key(rela_study_locator *l, rela_study_job *j);
static rela_status find_state(rela_study_locator *l, rela_study_job *j, rela_error *err);
static rela_status load_outputs(rela_study_locator *l, rela_study_job *j, rela_error *err);
static bool is_blocked(const rela_study_jobs *jobs, const rela_study_job *j);

rela_status rela_study_locate(rela_study_jobs *jobs, const char *dir, const char *results,
                              const rela_study_normaliser *normaliser, rela_error *err)
{
    rela_study_locator *l = NULL;
    rela_status st = rela_study_locator_open(&l, jobs, dir, results, normaliser, err);
    st = st ? st : rela_study_locator_all(l, err);
    rela_study_locator_close(l);
    return st;
}

rela_status rela_study_locator_open(rela_study_locator **out, rela_study_jobs *jobs,
                                    const char *dir, const char *results,
                                    const rela_study_normaliser *normaliser, rela_error *err)
{
    rela_study_locator *l = rela_mem_zalloc(sizeof *l);
    *out = NULL;
    if (!l)
        return rela_fail(err, RELA_NOMEM, "no memory for the states of jobs");
    *l = (rela_study_locator){
        .jobs = jobs, .dir = dir, .results = results, .normaliser = normaliser
    };
    rela_status st = RELA_OK;
    if (dir) {
        st = rela_buffer_printf(&l->path, err, "%s/hashes.txt", dir);
        st = st ? st : rela_study_hashes_open(&l->hashes, l->path.data, err);
    } else {
        st = rela_study_names_read(&l->names, jobs->study->arena, results, err);
    }
    if (st != RELA_OK) {
        rela_study_locator_close(l);
        return st;
    }
    *out = l;
    return RELA_OK;
}

void rela_study_locator_close(rela_study_locator *l)
{
    if (!l)
        return;
    if (l->hashes && rela_dir_exists(l->dir))
        (void)rela_study_hashes_save(l->hashes, NULL); /* only a cache */
    rela_study_hashes_close(l->hashes);
    rela_buffer_free(&l->path);
    rela_mem_free(l);
}

rela_status rela_study_locator_all(rela_study_locator *l, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < l->jobs->n && st == RELA_OK; i++)
        st = rela_study_locator_job(l, i, err);
    return st;
}

rela_status rela_study_locator_job(rela_study_locator *l, size_t number, rela_error *err)
{
    rela_study_job *j = &l->jobs->items[number];
    if (j->state == RELA_STUDY_DONE)
        return RELA_OK; /* for good, as its key says what it is */
    rela_status st =
        j->options ? RELA_OK : rela_study_set_options(j, l->jobs->study, l->normaliser, err);
    st = st ? st : find_key(l, j, err);
    return st ? st : find_state(l, j, err);
}

static rela_status find_key(rela_study_locator *l, rela_study_job *j, rela_error *err)
{
    bool all = true;
    if (!l->dir) {
        take_recorded_key(l, j);
        return RELA_OK;
    }
    const rela_status st = hash_inputs(l, j, &all, err);
    if (st == RELA_OK && all)
        rela_study_set_key(j);
    return st;
}

static rela_status hash_inputs(rela_study_locator *l, rela_study_job *j, bool *all, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_inputs && st == RELA_OK; i++) {
        rela_study_input *in = &j->inputs[i];
        if (in->path) {
            st = rela_study_hashes_find(in->hash, &in->size, l->hashes, in->path, err);
            continue;
        }
        const rela_study_job *maker = &l->jobs->items[in->job];
        *all = *all && maker->state == RELA_STUDY_DONE;
        if (maker->state != RELA_STUDY_DONE)
            continue;
        const rela_study_output *made = rela_study_find_output(maker, in->output);
        if (!made)
            return rela_fail(err, RELA_FORMAT, "%s/%.*s/manifest.tsv: %s has left no '%s'",
                             l->results, RELA_STUDY_FOLDER_DIGITS, maker->key, maker->name,
                             in->output);
        memcpy(in->hash, made->hash, sizeof in->hash);
        in->size = made->size;
    }
    return st;
}

/* The key of the last run under this name, unless options have changed since. */
static void take_recorded_key(rela_study_locator *l, rela_study_job *j)
{
    const char *key = rela_study_names_find(&l->names, j->name);
    char *text = NULL;
    size_t len = 0;
    j->key[0] = '\0';
    if (!key)
        return;
    memcpy(j->key, key, RELA_STUDY_KEY_SIZE);
    rela_buffer_clear(&l->path);
    if (rela_study_result_path(&l->path, l->results, j, "job.yml", NULL) == RELA_OK &&
        rela_file_read(&text, &len, l->path.data, 0, NULL) == RELA_OK) {
        const char *at = strstr(text, "\nsettings: ");
        if (!at || strncmp(at + strlen("\nsettings: "), j->settings, strlen(j->settings)) != 0)
            j->key[0] = '\0';
    } else {
        j->key[0] = '\0';
    }
    rela_mem_free(text);
}

static rela_status find_state(rela_study_locator *l, rela_study_job *j, rela_error *err)
{
    rela_study_note note;
    j->state = is_blocked(l->jobs, j) ? RELA_STUDY_BLOCKED : RELA_STUDY_PENDING;
    if (!*j->key)
        return RELA_OK;
    rela_status st = load_outputs(l, j, err);
    if (st != RELA_OK || j->state == RELA_STUDY_DONE || !l->dir)
        return st;
    rela_buffer_clear(&l->path);
    st = rela_study_job_path(&l->path, l->dir, j, "state", err);
    if (st != RELA_OK)
        return st;
    j->state = RELA_STUDY_READY;
    if (!rela_file_exists(l->path.data))
        return RELA_OK;
    rela_study_note_read(&note, l->dir, j);
    rela_buffer_clear(&l->path);
    st = rela_study_job_path(&l->path, l->dir, j, "claim", err);
    if (st == RELA_OK && rela_claim_held(l->path.data))
        j->state = RELA_STUDY_RUNNING;
    else if (strcmp(note.word, "failed") == 0)
        j->state = RELA_STUDY_FAILED;
    else if (*note.word)
        j->state = RELA_STUDY_STOPPED;
    return st;
}

/* A job is done if and only if its manifest is in RESULTS. */
static rela_status load_outputs(rela_study_locator *l, rela_study_job *j, rela_error *err)
{
    rela_buffer_clear(&l->path);
    rela_status st = rela_study_result_path(&l->path, l->results, j, "manifest.tsv", err);
    if (st != RELA_OK || !rela_file_exists(l->path.data))
        return st;
    st = rela_study_manifest_read(&j->outputs, &j->n_outputs, l->jobs->study->arena, l->path.data,
                                  err);
    if (st == RELA_OK)
        j->state = RELA_STUDY_DONE;
    return st;
}

static bool is_blocked(const rela_study_jobs *jobs, const rela_study_job *j)
{
    for (size_t i = 0; i < j->n_inputs; i++)
        if (j->inputs[i].job != RELA_STUDY_NO_JOB) {
            const rela_study_state s = jobs->items[j->inputs[i].job].state;
            if (s == RELA_STUDY_FAILED || s == RELA_STUDY_BLOCKED)
                return true;
        }
    return false;
}

rela_status rela_study_job_path(rela_buffer *out, const char *dir, const rela_study_job *job,
                                const char *name, rela_error *err)
{
    return rela_buffer_printf(out, err, "%s/jobs/%.*s%s%s", dir, RELA_STUDY_FOLDER_DIGITS, job->key,
                              *name ? "/" : "", name);
}

void rela_study_note_read(rela_study_note *out, const char *dir, const rela_study_job *job)
{
    enum { NOTE_MAX = 4096 };
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    *out = (rela_study_note){ "", "" };
    if (rela_study_job_path(&path, dir, job, "state", NULL) == RELA_OK &&
        rela_file_read(&text, &len, path.data, NOTE_MAX, NULL) == RELA_OK) {
        text[strcspn(text, "\n")] = '\0';
        const size_t word = strcspn(text, " ");
        rela_format_text(out->word, sizeof out->word, "%.*s", (int)word, text);
        rela_format_text(out->rest, sizeof out->rest, "%s", text + word + (text[word] == ' '));
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
}

rela_status rela_study_note_write(const char *dir, const rela_study_job *job, const char *word,
                                  const char *rest, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, text = RELA_BUFFER_INIT;
    rela_status st = rela_study_job_path(&path, dir, job, "state", err);
    st = st ? st : rela_buffer_printf(&text, err, "%s%s%s\n", word, *rest ? " " : "", rest);
    st = st ? st : rela_file_note(path.data, text.data, text.len, err);
    rela_buffer_free(&path);
    rela_buffer_free(&text);
    return st;
}
