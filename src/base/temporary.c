/* SPDX-License-Identifier: MIT */
/* src/base/temporary.c - see temporary.h. */
#include "base/temporary.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, TAIL_MAX = 32, WAITS_MAX = 2000 };

/* Protects the list. The thread that holds it has all signals blocked, so that a handler never
 * waits for the thread it interrupted. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static rela_temporary *first;
static atomic_bool aborted; /* all files are removed */

/* Which temporary files to remove: names begin with len bytes of base, then tail. */
typedef struct sweeping {
    const char *dir, *base;
    size_t len;
    const char *tail;
} sweeping;

static rela_status make_name(rela_buffer *name, const char *target, unsigned number,
                             rela_error *err);
static int open_listed(rela_temporary *t, mode_t mode);
static void enlist(rela_temporary *t);
static void block_signals(sigset_t *old);
static void wait_a_moment(void);

rela_status rela_temporary_open(int *fd, rela_temporary **out, const char *target, mode_t mode,
                                rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_temporary *t = rela_mem_zalloc(sizeof *t);
    rela_status st = t ? RELA_OK : rela_fail(err, RELA_NOMEM, "%s: no memory to write it", target);
    *fd = -1;
    *out = NULL;
    for (unsigned i = 0; st == RELA_OK && i < TRIES && *fd < 0; i++) {
        st = make_name(&text, target, i, err);
        if (st != RELA_OK) {
            st = rela_fail_in(err, st, target);
            break;
        }
        t->name = text.data;
        *fd = open_listed(t, mode);
        if (*fd < 0 && errno != EEXIST)
            break;
    }
    if (st == RELA_OK && *fd < 0)
        st = rela_fail_errno(err, errno, "%s: cannot be written", target);
    if (st != RELA_OK) {
        rela_buffer_free(&text);
        rela_mem_free(t);
        return st;
    }
    *out = t; /* given, with the name */
    return RELA_OK;
}

rela_status rela_temporary_dir(char *pattern, rela_error *err)
{
    sigset_t old;
    rela_temporary *t = rela_mem_zalloc(sizeof *t);
    if (t)
        t->name = rela_str_copy(pattern, strlen(pattern));
    if (!t || !t->name) {
        rela_mem_free(t);
        return rela_fail(err, RELA_NOMEM, "no memory for a temporary directory");
    }
    t->is_dir = true;
    rela_temporary_hold(&old);
    const bool made = mkdtemp(t->name) != NULL;
    const int why = errno;
    if (made)
        enlist(t);
    rela_temporary_release(&old);
    if (made) {
        memcpy(pattern, t->name, strlen(t->name));
        return RELA_OK;
    }
    rela_mem_free(t->name);
    rela_mem_free(t);
    return rela_fail_errno(err, why, "temporary directory %s", pattern);
}

void rela_temporary_forget_dir(const char *name)
{
    sigset_t old;
    rela_temporary *t = NULL;
    rela_temporary_hold(&old);
    for (t = first; t && !(t->is_dir && strcmp(t->name, name) == 0);)
        t = t->next;
    rela_temporary_release(&old);
    rela_temporary_free(t);
}

void rela_temporary_free(rela_temporary *t)
{
    sigset_t old;
    if (!t)
        return;
    rela_temporary_hold(&old);
    *(t->previous ? &t->previous->next : &first) = t->next;
    if (t->next)
        t->next->previous = t->previous;
    rela_temporary_release(&old);
    rela_mem_free(t->name);
    rela_mem_free(t);
}

rela_status rela_temporary_settle(const char *target, rela_error *err)
{
    const char *slash = strrchr(target, '/');
    const size_t len = !slash ? 1 : slash == target ? 1 : (size_t)(slash - target);
    char *dir = rela_str_copy(slash ? target : ".", len);
    if (!dir)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to make it durable", target);
    rela_status st = RELA_OK;
    const int fd = rela_sys_open(dir, O_RDONLY | O_DIRECTORY, 0);
    /* Some file systems cannot sync a directory (EINVAL), and one without read permission cannot be
     * opened for it (EACCES): the weaker guarantee is then accepted. */
    if ((fd < 0 && errno != EACCES) || (fd >= 0 && rela_sys_sync(fd) != 0 && errno != EINVAL))
        st = rela_fail_errno(err, errno, "%s: its directory cannot be made durable", target);
    if (fd >= 0)
        (void)rela_sys_close(fd);
    rela_mem_free(dir);
    return st;
}

void rela_temporary_hold(sigset_t *old)
{
    block_signals(old);
    while (atomic_flag_test_and_set(&lock))
        wait_a_moment();
}

void rela_temporary_release(const sigset_t *old)
{
    atomic_flag_clear(&lock);
    (void)pthread_sigmask(SIG_SETMASK, old, NULL);
}

/* The lock is never released: a file that another thread opened now would be left behind. The wait
 * for the lock is limited, as the file system of the thread that holds it may hang. */
void rela_file_abort_all(void)
{
    sigset_t old;
    block_signals(&old);
    for (int i = 0; atomic_flag_test_and_set(&lock); i++) {
        if (i == WAITS_MAX || atomic_load(&aborted))
            return;
        wait_a_moment();
    }
    for (const rela_temporary *t = first; t; t = t->next)
        (void)(t->is_dir ? rela_sys_remove_tree(t->name) : rela_sys_unlink(t->name));
    atomic_store(&aborted, true);
}

bool rela_file_temporary(const char *name)
{
    static const char DIGITS[] = "0123456789";
    const char *tail = strstr(name, ".tmp-");
    for (; tail; tail = strstr(tail + 1, ".tmp-")) {
        const char *pid = tail + strlen(".tmp-");
        const size_t n = strspn(pid, DIGITS);
        if (n > 0 && pid[n] == '-' && pid[n + 1] != '\0' &&
            pid[n + 1 + strspn(pid + n + 1, DIGITS)] == '\0')
            return true;
    }
    return false;
}

static bool is_listed(const char *name)
{
    sigset_t old;
    bool found = false;
    rela_temporary_hold(&old);
    for (const rela_temporary *t = first; t && !found; t = t->next) {
        const char *slash = strrchr(t->name, '/');
        found = strcmp(slash ? slash + 1 : t->name, name) == 0;
    }
    rela_temporary_release(&old);
    return found;
}

/* Not of a process that is alive: files that wait for the rest of their set are closed. In a
 * container an earlier process may have had the number of this one. */
static bool is_orphan(const char *name)
{
    const char *tail = name;
    if (!rela_file_temporary(name))
        return false;
    for (const char *next = strstr(name, ".tmp-"); next; next = strstr(next + 1, ".tmp-"))
        tail = next;
    const pid_t pid = (pid_t)strtol(tail + strlen(".tmp-"), NULL, 10);
    return pid == getpid() ? !is_listed(name) : pid > 0 && kill(pid, 0) != 0 && errno == ESRCH;
}

static rela_status sweep_name(void *ctx, const char *name, rela_error *err)
{
    const sweeping *s = ctx;
    rela_buffer path = RELA_BUFFER_INIT;
    if (strncmp(name, s->base, s->len) != 0 ||
        strncmp(name + s->len, s->tail, strlen(s->tail)) != 0 || !is_orphan(name))
        return RELA_OK;
    const rela_status st = rela_buffer_printf(&path, err, "%s/%s", s->dir, name);
    const int fd = st ? -1 : open(path.data, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)rela_sys_unlink(path.data);
    if (fd >= 0)
        (void)close(fd);
    rela_buffer_free(&path);
    return st;
}

void rela_file_sweep(const char *target)
{
    char resolved[PATH_MAX];
    if (rela_dir_exists(target)) {
        sweeping all = { target, "", 0, "" };
        (void)rela_dir_list(target, sweep_name, &all, NULL);
        return;
    }
    if (strcmp(target, "-") == 0 || strlen(target) >= sizeof resolved)
        return;
    if (!realpath(target, resolved)) /* it is not there yet */
        memcpy(resolved, target, strlen(target) + 1);
    char *slash = strrchr(resolved, '/');
    const char *base = slash ? slash + 1 : resolved;
    const size_t len = strlen(base), most = NAME_MAX - TAIL_MAX;
    sweeping one = { slash == resolved ? "/"
                     : slash           ? resolved
                                       : ".",
                     base, len < most ? len : most, ".tmp-" };
    if (slash)
        *slash = '\0';
    (void)rela_dir_list(one.dir, sweep_name, &one, NULL);
}

/* The name of the target plus a suffix; a long name is truncated to make room. */
static rela_status make_name(rela_buffer *name, const char *target, unsigned number,
                             rela_error *err)
{
    const char *slash = strrchr(target, '/');
    const size_t dir = slash ? (size_t)(slash + 1 - target) : 0;
    const size_t base = strlen(target + dir), most = NAME_MAX - TAIL_MAX;
    rela_buffer_clear(name);
    return rela_buffer_printf(name, err, "%.*s.tmp-%ld-%u",
                              (int)(dir + (base < most ? base : most)), target, (long)getpid(),
                              number);
}

/* -1 with errno set on failure. A signal arrives either before the file exists or when it is in the
 * list. */
static int open_listed(rela_temporary *t, mode_t mode)
{
    sigset_t old;
    rela_temporary_hold(&old);
    const int fd = rela_sys_open(t->name, O_RDWR | O_CREAT | O_EXCL, mode);
    const int why = errno;
    if (fd >= 0)
        enlist(t);
    if (fd >= 0)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* for rela_file_sweep: it is being written */
    rela_temporary_release(&old);
    errno = why;
    return fd;
}

/* Called with the lock held. */
static void enlist(rela_temporary *t)
{
    t->next = first;
    if (first)
        first->previous = t;
    first = t;
}

static void block_signals(sigset_t *old)
{
    sigset_t all;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, old);
}

static void wait_a_moment(void)
{
    const struct timespec moment = { .tv_nsec = 1000000 };
    (void)nanosleep(&moment, NULL);
}
