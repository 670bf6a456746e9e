/* SPDX-License-Identifier: MIT */
/* src/train/run_dir.c - see run_dir.h. */
#include "train/run_dir.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 1 << 30 };

static const char CHECKPOINTS[] = "checkpoints", INTERIM[] = "interim-";

/* Update numbers in the names of files with a prefix. */
typedef struct numbers {
    const char *prefix;
    uint64_t *items;
    size_t n, cap;
} numbers;

static rela_status check_folder(rela_run *r, rela_error *err);
static void find_existing(rela_run *r);
static rela_status is_run(bool *yes, const rela_run *r, rela_error *err);
static rela_status sweep(const rela_run *r, const char *below, rela_error *err);
static rela_status sweep_name(void *ctx, const char *name, rela_error *err);
static rela_status list(numbers *found, const rela_run *r, bool regular, rela_error *err);
static rela_status remove_some(const rela_run *r, const numbers *found, size_t n, bool regular,
                               rela_error *err);
static rela_status see_name(void *ctx, const char *name, rela_error *err);
static int compare(const void *a, const void *b);
static rela_status open_cut(rela_appender **out, const rela_run *r, const char *name,
                            const char *mark, uint64_t update, rela_error *err);

rela_status rela_run_open(rela_run *r, const char *dir, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    *r = (rela_run){ .dir = rela_str_copy(dir, strlen(dir)) };
    rela_status st =
        r->dir ? check_folder(r, err) : rela_fail(err, RELA_NOMEM, "no memory for a run");
    if (st == RELA_OK)
        find_existing(r);
    if (st == RELA_OK)
        st = rela_dir_make(dir, err);
    if (st == RELA_OK)
        st = rela_run_path(&path, r, "lock", err);
    if (st == RELA_OK)
        st = rela_lock_open(&r->lock, path.data, err);
    if (st == RELA_OK)
        st = rela_run_path(&path, r, "checkpoints", err);
    if (st == RELA_OK)
        st = rela_dir_make(path.data, err);
    if (st == RELA_OK)
        st = sweep(r, "", err);
    if (st == RELA_OK)
        st = sweep(r, "checkpoints/", err);
    if (st == RELA_OK && (st = rela_run_path(&path, r, "figures", err)) == RELA_OK &&
        rela_dir_exists(path.data))
        st = sweep(r, "figures/", err);
    rela_buffer_free(&path);
    if (st != RELA_OK)
        rela_run_close(r);
    return st;
}

rela_status rela_run_view(rela_run *r, const char *dir, rela_error *err)
{
    *r = (rela_run){ .dir = rela_str_copy(dir, strlen(dir)) };
    if (!r->dir)
        return rela_fail(err, RELA_NOMEM, "no memory for a run");
    if (rela_dir_exists(dir))
        return RELA_OK;
    return rela_fail(err, RELA_IO,
                     "%s is not there, but rank 0 has made it: all ranks need the same file system",
                     dir);
}

void rela_run_close(rela_run *r)
{
    rela_appender_close(r->log);
    rela_appender_close(r->records);
    rela_appender_close(r->valid);
    rela_lock_close(r->lock);
    rela_mem_free(r->dir);
    *r = (rela_run){ 0 };
}

void rela_run_discard(rela_run *r)
{
    static const char *const NAMES[] = { "config.yml", "train.log", "train.jsonl", "valid.tsv" };
    rela_buffer path = RELA_BUFFER_INIT;
    uint64_t update = 0;
    bool regular = true;
    if (!r->is_new || rela_run_newest(&update, &regular, r, NULL) != RELA_OK || update)
        return;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (rela_run_path(&path, r, NAMES[i], NULL) == RELA_OK)
            (void)rela_file_remove(path.data, NULL);
    if (rela_run_path(&path, r, CHECKPOINTS, NULL) == RELA_OK)
        (void)rela_dir_remove_empty(path.data, NULL);
    /* Last: from now on another trainer can begin here, and what it makes is not empty. */
    if (rela_run_path(&path, r, "lock", NULL) == RELA_OK)
        (void)rela_file_remove(path.data, NULL);
    for (size_t len = strlen(r->dir); len > r->existing;) {
        if (rela_dir_remove_empty(r->dir, NULL) != RELA_OK)
            break;
        while (len > r->existing && r->dir[len - 1] != '/')
            len--;
        while (len > r->existing && r->dir[len - 1] == '/')
            len--;
        r->dir[len] = '\0';
    }
    rela_buffer_free(&path);
}

rela_status rela_run_open_logs(rela_run *r, rela_span head, uint64_t update, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_run_path(&path, r, "train.log", err);
    if (st == RELA_OK)
        st = rela_appender_open(&r->log, path.data, UINT64_MAX, err);
    if (st == RELA_OK)
        st = open_cut(&r->records, r, "train.jsonl", "{\"update\": ", update, err);
    if (st == RELA_OK)
        st = rela_run_path(&path, r, "valid.tsv", err);
    const bool fresh = st == RELA_OK && (update == 0 || !rela_file_exists(path.data));
    if (st == RELA_OK)
        st = open_cut(&r->valid, r, "valid.tsv", "", update, err);
    if (st == RELA_OK && fresh)
        st = rela_appender_write(r->valid, head.text, head.len, err);
    rela_buffer_free(&path);
    return st;
}

rela_status rela_run_path(rela_buffer *path, const rela_run *r, const char *name, rela_error *err)
{
    rela_buffer_clear(path);
    return rela_buffer_printf(path, err, "%s/%s", r->dir, name);
}

rela_status rela_run_checkpoint_path(rela_buffer *path, const rela_run *r, uint64_t update,
                                     bool regular, rela_error *err)
{
    rela_buffer_clear(path);
    return rela_buffer_printf(path, err, "%s/%s%s%06llu.rela", r->dir,
                              regular ? CHECKPOINTS : INTERIM, regular ? "/" : "",
                              (unsigned long long)update);
}

rela_status rela_run_checkpoints(uint64_t **updates, size_t *n, const rela_run *r, rela_error *err)
{
    numbers found;
    const rela_status st = list(&found, r, true, err);
    *updates = found.items;
    *n = found.n;
    return st;
}

rela_status rela_run_newest(uint64_t *update, bool *regular, const rela_run *r, rela_error *err)
{
    numbers kinds[2] = { { .n = 0 }, { .n = 0 } }; /* interim, regular */
    rela_status st = list(&kinds[0], r, false, err);
    if (st == RELA_OK)
        st = list(&kinds[1], r, true, err);
    *update = 0;
    *regular = true;
    for (int i = 0; i < 2; i++) {
        const uint64_t last = kinds[i].n ? kinds[i].items[kinds[i].n - 1] : 0;
        if (last && last >= *update) {
            *update = last;
            *regular = i == 1;
        }
        rela_mem_free(kinds[i].items);
    }
    return st;
}

rela_status rela_run_demote(const rela_run *r, uint64_t update, rela_error *err)
{
    rela_buffer from = RELA_BUFFER_INIT, to = RELA_BUFFER_INIT;
    rela_status st = rela_run_checkpoint_path(&from, r, update, true, err);
    if (st == RELA_OK)
        st = rela_run_checkpoint_path(&to, r, update, false, err);
    if (st == RELA_OK)
        st = rela_file_rename(from.data, to.data, err);
    rela_buffer_free(&from);
    rela_buffer_free(&to);
    return st;
}

rela_status rela_run_prune(const rela_run *r, size_t keep, rela_error *err)
{
    numbers found;
    uint64_t newest = 0;
    bool regular = true;
    rela_status st = rela_run_newest(&newest, &regular, r, err);
    if (st != RELA_OK)
        return st;
    st = list(&found, r, false, err);
    if (st == RELA_OK)
        st = remove_some(r, &found, found.n - !regular, false, err);
    rela_mem_free(found.items);
    if (st != RELA_OK)
        return st;
    st = list(&found, r, true, err);
    if (st == RELA_OK && found.n > keep)
        st = remove_some(r, &found, found.n - keep, true, err);
    rela_mem_free(found.items);
    return st;
}

/* The oldest n. */
static rela_status remove_some(const rela_run *r, const numbers *found, size_t n, bool regular,
                               rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        st = rela_run_checkpoint_path(&path, r, found->items[i], regular, err);
        if (st == RELA_OK)
            st = rela_file_remove(path.data, err);
    }
    rela_buffer_free(&path);
    return st;
}

/* The longest part of the path that exists, so that what is made below it can be removed. */
static void find_existing(rela_run *r)
{
    r->existing = strlen(r->dir);
    while (r->existing > 0) {
        const char old = r->dir[r->existing];
        r->dir[r->existing] = '\0';
        const bool there = rela_dir_exists(r->dir);
        r->dir[r->existing] = old;
        if (there)
            return;
        while (r->existing > 0 && r->dir[r->existing - 1] != '/')
            r->existing--;
        while (r->existing > 1 && r->dir[r->existing - 1] == '/')
            r->existing--;
    }
}

/* A folder that is not a run directory must not have files that a run would replace. The lock is
 * checked when it is taken. */
static rela_status check_folder(rela_run *r, rela_error *err)
{
    static const char *const NAMES[] = { "config.yml", "train.log",  "train.jsonl", "valid.tsv",
                                         "best.rela",  "model.rela", "figures" };
    rela_buffer path = RELA_BUFFER_INIT;
    bool own = false;
    rela_status st = is_run(&own, r, err);
    r->is_new = !own;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && st == RELA_OK && !own; i++) {
        st = rela_run_path(&path, r, NAMES[i], err);
        if (st == RELA_OK && rela_name_taken(path.data))
            st = rela_fail(
                err, RELA_STATE,
                "%s is there already, and the folder is not of a run; use another directory",
                path.data);
    }
    rela_buffer_free(&path);
    return st;
}

/* A run directory has a lock file, held or not, or checkpoints. */
static rela_status is_run(bool *yes, const rela_run *r, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    uint64_t *updates = NULL;
    size_t n = 0;
    rela_status st = rela_run_path(&path, r, "lock", err);
    *yes = st == RELA_OK && rela_lock_left(path.data);
    st = st ? st : rela_run_path(&path, r, "checkpoints", err);
    if (st == RELA_OK && !*yes && rela_dir_exists(path.data)) {
        st = rela_run_checkpoints(&updates, &n, r, err);
        *yes = n > 0;
    }
    rela_mem_free(updates);
    rela_buffer_free(&path);
    return st;
}

/* A process that was killed while writing leaves its temporary file; under the lock no other
 * process can be writing one. */
static rela_status sweep(const rela_run *r, const char *below, rela_error *err)
{
    rela_buffer dir = RELA_BUFFER_INIT;
    rela_status st = rela_run_path(&dir, r, below, err);
    if (st == RELA_OK)
        st = rela_dir_list(dir.data, sweep_name, &dir, err);
    rela_buffer_free(&dir);
    return st;
}

static rela_status sweep_name(void *ctx, const char *name, rela_error *err)
{
    const rela_buffer *dir = ctx;
    rela_buffer path = RELA_BUFFER_INIT;
    if (!rela_file_temporary(name))
        return RELA_OK;
    rela_status st = rela_buffer_printf(&path, err, "%s%s", dir->data, name);
    if (st == RELA_OK)
        st = rela_file_remove(path.data, err);
    rela_buffer_free(&path);
    return st;
}

/* Ascending; empty on failure. */
static rela_status list(numbers *found, const rela_run *r, bool regular, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    *found = (numbers){ .prefix = regular ? "" : INTERIM };
    rela_status st = rela_run_path(&path, r, regular ? CHECKPOINTS : "", err);
    if (st == RELA_OK)
        st = rela_dir_list(path.data, see_name, found, err);
    rela_buffer_free(&path);
    if (st != RELA_OK) {
        rela_mem_free(found->items);
        *found = (numbers){ .n = 0 };
    }
    if (found->n)
        qsort(found->items, found->n, sizeof *found->items, compare);
    return st;
}

/* Names like 000250.rela after the prefix; anything else in the directory is left alone. */
static rela_status see_name(void *ctx, const char *name, rela_error *err)
{
    numbers *found = ctx;
    const size_t prefix = strlen(found->prefix);
    if (strncmp(name, found->prefix, prefix) != 0)
        return RELA_OK;
    name += prefix;
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > 18 || strcmp(name + digits, ".rela") != 0)
        return RELA_OK;
    uint64_t *items = rela_mem_grow(found->items, &found->cap, found->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for the list of checkpoints");
    found->items = items;
    items[found->n++] = strtoull(name, NULL, 10);
    return RELA_OK;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* A line belongs to the update whose number follows mark; lines after `update` are dropped. */
static rela_status open_cut(rela_appender **out, const rela_run *r, const char *name,
                            const char *mark, uint64_t update, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    uint64_t keep = 0;
    rela_status st = rela_run_path(&path, r, name, err);
    if (st == RELA_OK && update > 0 && rela_file_exists(path.data))
        st = rela_file_read(&text, &len, path.data, LOG_MAX, err);
    const char *at = text, *end = text ? text + len : NULL;
    for (rela_span line; st == RELA_OK && text && rela_next_line(&line, &at, end);) {
        const size_t skip = strlen(mark);
        const bool numbered = line.len > skip && memcmp(line.text, mark, skip) == 0;
        if (at[-1] != '\n' || (numbered && strtoull(line.text + skip, NULL, 10) > update))
            break; /* half-written, or to be written again */
        keep = (uint64_t)(at - text);
    }
    rela_mem_free(text);
    if (st == RELA_OK)
        st = rela_appender_open(out, path.data, keep, err);
    rela_buffer_free(&path);
    return st;
}
