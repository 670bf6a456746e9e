/* SPDX-License-Identifier: MIT */
/* src/base/file_set.c - sets of file.h: files that are replaced together. */
#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/temporary.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

/* A file of the set. Without a new one the old one is only removed. */
typedef struct member {
    char *path, *target;  /* as the caller wrote it; with links resolved */
    rela_temporary *made; /* the new file; NULL: none */
    rela_temporary *kept; /* the old file while it is replaced; NULL: there is none */
    bool away, placed;    /* the old file has the name of kept; the new one has its own */
} member;

struct rela_file_set {
    member *items;
    size_t n, cap;
};

static rela_status add(rela_file_set *s, const char *path, const char *target, rela_temporary *made,
                       rela_error *err);
static rela_status reserve_names(rela_file_set *s, rela_error *err);
static rela_status replace(rela_file_set *s, rela_error *err);
static rela_status move_away(member *m, rela_error *err);
static rela_status place(member *m, rela_error *err);
static rela_status sync_parents(const rela_file_set *s, rela_error *err);
static void restore(rela_file_set *s);
static void drop(rela_temporary *t);

rela_status rela_file_set_create(rela_file_set **out, rela_error *err)
{
    *out = rela_mem_zalloc(sizeof **out);
    return *out ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for a set of files");
}

rela_status rela_file_set_remove(rela_file_set *s, const char *path, rela_error *err)
{
    return rela_file_set_find(s, path) == path ? add(s, path, path, NULL, err) : RELA_OK;
}

const char *rela_file_set_find(const rela_file_set *s, const char *path)
{
    for (size_t i = 0; s && i < s->n; i++)
        if (s->items[i].made && strcmp(s->items[i].path, path) == 0)
            return s->items[i].made->name;
    return path;
}

rela_status rela_file_set_take(rela_file_set *s, const char *path, const char *target,
                               rela_temporary *t, rela_error *err)
{
    return add(s, path, target, t, err);
}

rela_status rela_file_set_finish(rela_file_set *s, rela_status st, rela_error *err)
{
    if (!s)
        return st;
    st = st ? st : reserve_names(s, err);
    st = st ? st : replace(s, err);
    for (size_t i = 0; i < s->n; i++) {
        member *m = &s->items[i];
        drop(m->made);
        if (m->kept && m->away && st != RELA_OK)
            rela_temporary_free(m->kept); /* it could not be restored: better here than lost */
        else
            drop(m->kept);
        rela_mem_free(m->path);
        rela_mem_free(m->target);
    }
    rela_mem_free(s->items);
    rela_mem_free(s);
    return st;
}

static rela_status add(rela_file_set *s, const char *path, const char *target, rela_temporary *made,
                       rela_error *err)
{
    member *items = rela_mem_grow(s->items, &s->cap, s->n + 1, sizeof *items);
    if (items)
        s->items = items;
    char *name = items ? rela_str_copy(path, strlen(path)) : NULL;
    char *copy = name ? rela_str_copy(target, strlen(target)) : NULL;
    if (!copy) {
        rela_mem_free(name);
        return rela_fail(err, RELA_NOMEM, "%s: no memory to write it", path);
    }
    s->items[s->n++] = (member){ .path = name, .target = copy, .made = made };
    return RELA_OK;
}

/* Names for the old files, if there is more than one file to change: one is simply replaced. */
static rela_status reserve_names(rela_file_set *s, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        member *m = &s->items[i];
        int fd = -1;
        if ((s->n == 1 && m->made) || !rela_name_taken(m->target))
            continue;
        st = rela_temporary_open(&fd, &m->kept, m->target, 0600, err);
        if (st == RELA_OK)
            (void)rela_sys_close(fd); /* empty: the old file replaces it */
    }
    return st;
}

/* All old files leave before the first new one comes, so that at no time, whatever ends the
 * process, old and new ones stand side by side. The last one comes last. */
static rela_status replace(rela_file_set *s, rela_error *err)
{
    rela_status st = RELA_OK;
    sigset_t old;
    rela_temporary_hold(&old);
    for (size_t i = s->n; i-- > 0 && st == RELA_OK;)
        st = move_away(&s->items[i], err);
    st = st || s->n < 2 ? st : sync_parents(s, err);
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        st = i && i + 1 == s->n ? sync_parents(s, err) : RELA_OK;
        st = st ? st : place(&s->items[i], err);
    }
    if (st != RELA_OK)
        restore(s);
    for (size_t i = 0; i < s->n && st == RELA_OK; i++)
        s->items[i].away = false; /* no longer wanted */
    rela_temporary_release(&old);
    return st ? st : sync_parents(s, err);
}

static rela_status move_away(member *m, rela_error *err)
{
    if (m->kept && rela_sys_rename(m->target, m->kept->name) != 0)
        return rela_fail_errno(err, errno, "%s: cannot be replaced", m->path);
    m->away = m->kept != NULL;
    return RELA_OK;
}

static rela_status place(member *m, rela_error *err)
{
    if (m->made && rela_sys_rename(m->made->name, m->target) != 0)
        return rela_fail_errno(err, errno, "%s: cannot be written", m->path);
    m->placed = m->made != NULL;
    return RELA_OK;
}

/* Each directory once if the files are sorted by directory, as they mostly are. */
static rela_status sync_parents(const rela_file_set *s, rela_error *err)
{
    rela_status st = RELA_OK;
    const char *last = NULL;
    for (size_t i = 0; i < s->n && st == RELA_OK; i++) {
        const char *path = s->items[i].target, *slash = strrchr(path, '/');
        const size_t len = slash ? (size_t)(slash + 1 - path) : 0;
        if (!last || strncmp(path, last, len) != 0 || strchr(last + len, '/'))
            st = rela_temporary_settle(path, err);
        last = path;
    }
    return st;
}

/* After a failure: what was there before. Again no new file stands beside an old one. */
static void restore(rela_file_set *s)
{
    for (size_t i = s->n; i-- > 0;)
        if (s->items[i].placed)
            (void)rela_sys_rename_back(s->items[i].target, s->items[i].made->name);
    for (size_t i = 0; i < s->n; i++)
        if (s->items[i].away)
            s->items[i].away =
                rela_sys_rename_back(s->items[i].kept->name, s->items[i].target) != 0;
}

static void drop(rela_temporary *t)
{
    if (t)
        (void)rela_sys_unlink(t->name);
    rela_temporary_free(t);
}
