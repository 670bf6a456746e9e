/* SPDX-License-Identifier: MIT */
/* src/study/key_names.c - RESULTS/names.tsv: the keys of jobs by name, for manifest.h. */
#include "study/manifest.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "study/arena_text.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES_FILE_MAX = 64 << 20 };

static const char HEADER[] = "job\tkey\n";

static rela_status append_merged(rela_buffer *out, const rela_study_key_names *old,
                                 const rela_study_job *const *done, size_t n, rela_error *err);
static int compare_jobs(const void *a, const void *b);

rela_status rela_study_names_read(rela_study_key_names *out, rela_arena *arena, const char *results,
                                  rela_error *err)
{
    char *text = NULL;
    size_t len = 0, lines = 0, number = 0;
    rela_buffer path = RELA_BUFFER_INIT;
    *out = (rela_study_key_names){ NULL, NULL, 0 };
    rela_status st = rela_buffer_printf(&path, err, "%s/names.tsv", results);
    if (st == RELA_OK && rela_file_exists(path.data))
        st = rela_file_read(&text, &len, path.data, NAMES_FILE_MAX, err);
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    out->names = rela_arena_array(arena, lines, sizeof *out->names);
    out->keys = rela_arena_array(arena, lines, sizeof *out->keys);
    rela_span line;
    const char *at = text;
    while (st == RELA_OK && at && rela_next_line(&line, &at, text + len)) {
        const char *tab = memchr(line.text, '\t', line.len);
        const size_t digits = tab ? (size_t)(line.text + line.len - tab) - 1 : 0;
        if (++number == 1)
            continue;
        if (digits != RELA_STUDY_KEY_SIZE - 1) {
            st = rela_fail(err, RELA_FORMAT, "%s: line %zu: expected a job and its key", path.data,
                           number);
            break;
        }
        const char *name = rela_arena_copy(arena, line.text, (size_t)(tab - line.text));
        const char *key = rela_arena_copy(arena, tab + 1, digits);
        if (!name || !key || !out->names || !out->keys) {
            st = rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path.data);
            break;
        }
        out->names[out->n] = name;
        out->keys[out->n++] = key;
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

const char *rela_study_names_find(const rela_study_key_names *names, const char *name)
{
    size_t low = 0, high = names->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int c = strcmp(names->names[middle], name);
        if (c == 0)
            return names->keys[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

rela_status rela_study_names_update(const rela_study_jobs *jobs, const char *results,
                                    rela_error *err)
{
    const rela_study_job **done = rela_mem_array(jobs->n + 1, sizeof *done);
    rela_arena *arena = rela_arena_create(0);
    rela_buffer text = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_study_key_names old = { NULL, NULL, 0 };
    rela_status st =
        done && arena ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for names of jobs");
    st = st ? st : rela_study_names_read(&old, arena, results, err);
    size_t n = 0;
    for (size_t i = 0; i < jobs->n && st == RELA_OK; i++)
        if (jobs->items[i].state == RELA_STUDY_DONE)
            done[n++] = &jobs->items[i];
    if (st == RELA_OK && n)
        qsort(done, n, sizeof *done, compare_jobs);
    st = st ? st : append_merged(&text, &old, done, n, err);
    st = st ? st : rela_buffer_printf(&path, err, "%s/names.tsv", results);
    st = st ? st : rela_file_note(path.data, text.data, text.len, err);
    rela_buffer_free(&text);
    rela_buffer_free(&path);
    rela_arena_destroy(arena);
    rela_mem_free(done);
    return st;
}

static rela_status append_merged(rela_buffer *out, const rela_study_key_names *old,
                                 const rela_study_job *const *done, size_t n, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, HEADER, err);
    for (size_t i = 0, k = 0; st == RELA_OK && (i < old->n || k < n);) {
        const int c = i == old->n ? 1 : k == n ? -1 : strcmp(old->names[i], done[k]->name);
        if (c < 0)
            st = rela_buffer_printf(out, err, "%s\t%s\n", old->names[i], old->keys[i]);
        else
            st = rela_buffer_printf(out, err, "%s\t%s\n", done[k]->name, done[k]->key);
        i += c <= 0;
        k += c >= 0;
    }
    return st;
}

static int compare_jobs(const void *a, const void *b)
{
    const rela_study_job *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}
