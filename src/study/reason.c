/* SPDX-License-Identifier: MIT */
/* src/study/reason.c - see reason.h: a job is compared with the last one that was done under its
 * name. */
#include "study/reason.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/locate.h"
#include "study/manifest.h"

#include <string.h>

struct rela_study_reasons {
    const rela_study_jobs *jobs;
    const char *dir, *results;
    rela_arena *arena;
    rela_study_key_names names;
};

typedef struct change_list {
    rela_buffer *out;
    size_t n;
} change_list;

static rela_status compare(change_list *c, const rela_study_reasons *r, const rela_study_job *job,
                           rela_error *err);
static rela_status compare_options(change_list *c, const char *before, const char *now,
                                   rela_error *err);
static rela_status compare_inputs(change_list *c, const char *before, const rela_study_job *job,
                                  rela_error *err);
static rela_status add(change_list *c, rela_error *err, const char *format, ...) RELA_PRINTF(3, 4);

rela_status rela_study_reasons_open(rela_study_reasons **out, const rela_study_jobs *jobs,
                                    const char *dir, const char *results, rela_error *err)
{
    rela_study_reasons *r = rela_mem_zalloc(sizeof *r);
    *out = NULL;
    if (r)
        *r = (rela_study_reasons){ jobs, dir, results, rela_arena_create(0), { NULL, NULL, 0 } };
    rela_status st = r && r->arena ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for reasons");
    st = st ? st : rela_study_names_read(&r->names, r->arena, results, err);
    if (st != RELA_OK) {
        rela_study_reasons_close(r);
        return st;
    }
    *out = r;
    return RELA_OK;
}

void rela_study_reasons_close(rela_study_reasons *r)
{
    if (!r)
        return;
    rela_arena_destroy(r->arena);
    rela_mem_free(r);
}

/* A job that this one needs and that is in the way. */
static const rela_study_job *find_needed(const rela_study_reasons *r, const rela_study_job *job)
{
    const rela_study_job *found = NULL;
    for (size_t i = 0; i < job->n_inputs; i++) {
        if (job->inputs[i].job == RELA_STUDY_NO_JOB)
            continue;
        const rela_study_job *maker = &r->jobs->items[job->inputs[i].job];
        const bool bad = maker->state == RELA_STUDY_FAILED || maker->state == RELA_STUDY_BLOCKED;
        if (bad || (!found && maker->state != RELA_STUDY_DONE))
            found = maker;
        if (bad)
            break;
    }
    return found;
}

rela_status rela_study_reason(rela_buffer *out, rela_study_reasons *r, const rela_study_job *job,
                              rela_error *err)
{
    change_list c = { .out = out };
    rela_study_note note = { "", "" };
    if (job->state == RELA_STUDY_DONE)
        return rela_buffer_append_text(out, "done", err);
    if (r->dir && *job->key)
        rela_study_note_read(&note, r->dir, job);
    rela_status st = RELA_OK;
    if (job->state == RELA_STUDY_RUNNING)
        return rela_buffer_append_text(out, "running", err);
    if (job->state == RELA_STUDY_FAILED)
        st = add(&c, err, "failed (%s)", note.rest);
    else if (job->state == RELA_STUDY_STOPPED)
        st = strcmp(note.word, "stopped") == 0 ? add(&c, err, "stopped (%s)", note.rest)
                                               : add(&c, err, "its process was killed");
    else
        st = compare(&c, r, job, err);
    const rela_study_job *needed = find_needed(r, job);
    if (st == RELA_OK && job->state == RELA_STUDY_BLOCKED && needed)
        st = add(&c, err, "needs %s, which %s", needed->name,
                 needed->state == RELA_STUDY_FAILED ? "failed" : "cannot run");
    else if (st == RELA_OK && job->state == RELA_STUDY_PENDING && needed)
        st = add(&c, err, "waits for %s", needed->name);
    return st;
}

static rela_status add(change_list *c, rela_error *err, const char *format, ...)
{
    enum { CHANGE_MAX = 400 };
    char text[CHANGE_MAX];
    va_list args;
    va_start(args, format);
    rela_format(text, sizeof text, format, args);
    va_end(args);
    return rela_buffer_printf(c->out, err, "%s%s", c->n++ ? "; " : "", text);
}

static rela_status read_old(char **out, const rela_study_reasons *r, const char *key,
                            const char *name, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    size_t len = 0;
    rela_status st = rela_buffer_printf(&path, err, "%s/%.*s/%s", r->results,
                                        RELA_STUDY_FOLDER_DIGITS, key, name);
    if (st == RELA_OK && rela_file_exists(path.data))
        st = rela_file_read(out, &len, path.data, 0, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status compare(change_list *c, const rela_study_reasons *r, const rela_study_job *job,
                           rela_error *err)
{
    const char *key = rela_study_names_find(&r->names, job->name);
    char *record = NULL, *inputs = NULL;
    if (!key)
        return add(c, err, "never run");
    rela_status st = read_old(&record, r, key, "job.yml", err);
    st = st ? st : read_old(&inputs, r, key, "inputs.tsv", err);
    if (st == RELA_OK && (!record || !inputs)) {
        st = add(c, err, "its results are gone");
    } else if (st == RELA_OK) {
        const char *options = strstr(record, "\noptions: |\n");
        if (options)
            st = compare_options(c, options + strlen("\noptions: |\n"), job->options, err);
        st = st ? st : compare_inputs(c, inputs, job, err);
        if (st == RELA_OK && c->n == 0 && *job->key && strcmp(key, job->key) == 0)
            st = add(c, err, "its manifest is gone");
        else if (st == RELA_OK && c->n == 0 && *job->key)
            st = add(c, err, "made in another way");
    }
    rela_mem_free(record);
    rela_mem_free(inputs);
    return st;
}

/* The value of the which-th line with this key, from 0; NULL: there is none. */
static const char *find_line(const char *lines, const char *key, size_t key_len, size_t which,
                             size_t *len)
{
    for (const char *at = lines; *at;) {
        const size_t line = strcspn(at, "\n");
        const char *text = at;
        while (*text == ' ')
            text++;
        if (strncmp(text, key, key_len) == 0 && text[key_len] == ':' && which-- == 0) {
            const char *value = text + key_len + 1;
            value += *value == ' ';
            *len = (size_t)(at + line - value);
            return value;
        }
        at += line + (at[line] == '\n');
    }
    return NULL;
}

static size_t count_before(const char *lines, const char *end, const char *key, size_t key_len)
{
    size_t n = 0, len = 0;
    while (true) {
        const char *found = find_line(lines, key, key_len, n, &len);
        if (!found || found >= end)
            return n;
        n++;
    }
}

/* Without the quotes of YAML. */
static rela_span unquoted(const char *value, size_t len)
{
    const bool quoted = len >= 2 && *value == '"' && value[len - 1] == '"';
    return quoted ? (rela_span){ value + 1, len - 2 } : (rela_span){ value, len };
}

/* The line at the start of text, without its indent. */
static rela_span line_of(const char *text)
{
    while (*text == ' ')
        text++;
    return (rela_span){ text, strcspn(text, "\n") };
}

static const char *after(rela_span line)
{
    return line.text + line.len + (line.text[line.len] == '\n');
}

/* Lines in the same order as before are compared side by side, which is fast; others are looked
 * for. */
static rela_status compare_options(change_list *c, const char *before, const char *now,
                                   rela_error *err)
{
    rela_status st = RELA_OK;
    for (int side = 0; side < 2 && st == RELA_OK; side++) { /* then what is there no more */
        const char *mine = side ? before : now, *other = side ? now : before, *there = other;
        for (const char *at = mine; *at && st == RELA_OK;) {
            const rela_span line = line_of(at), same = line_of(there);
            at = after(line);
            if (rela_span_compare(line, same) == 0) {
                there = after(same);
                continue;
            }
            const size_t key = strcspn(line.text, ":\n");
            size_t len = 0, old = 0;
            const size_t which = count_before(mine, line.text, line.text, key);
            const char *value = find_line(mine, line.text, key, which, &len);
            const char *was = find_line(other, line.text, key, which, &old);
            const rela_span a = was ? unquoted(was, old) : (rela_span){ "", 0 };
            const rela_span b = value ? unquoted(value, len) : (rela_span){ "", 0 };
            if (value && !was)
                st = add(c, err, side ? "%.*s %.*s is gone" : "%.*s %.*s is new", (int)key,
                         line.text, (int)b.len, b.text);
            else if (value && !side && rela_span_compare(a, b) != 0)
                st = add(c, err, "%.*s %.*s -> %.*s", (int)key, line.text, (int)a.len, a.text,
                         (int)b.len, b.text);
            if (was)
                there = was + old + (was[old] == '\n');
        }
    }
    return st;
}

/* Of inputs that are known. */
static rela_status compare_inputs(change_list *c, const char *before, const rela_study_job *job,
                                  rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < job->n_inputs && st == RELA_OK; i++) {
        const rela_study_input *in = &job->inputs[i];
        const size_t role = strlen(in->role);
        bool found = false, same = true;
        for (const char *at = before; *at && !found;) {
            const size_t line = strcspn(at, "\n");
            found = strncmp(at, in->role, role) == 0 && at[role] == '\t';
            if (found && *in->hash)
                same = line > strlen(in->hash) &&
                       strncmp(at + line - strlen(in->hash), in->hash, strlen(in->hash)) == 0;
            at += line + (at[line] == '\n');
        }
        if (!found)
            st = add(c, err, "input %s is new", in->role);
        else if (!same)
            st = add(c, err, "input %s changed", in->role);
    }
    return st;
}
