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
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100, TAIL_MAX = 32, WAITS_MAX = 2000 };

/* Protects the list. The thread that holds it has all signals blocked, so that a handler never
 * waits for the thread it interrupted. */
static atomic_flag lock = ATOMIC_FLAG_INIT;
static rela_temporary *first;

static rela_status make_name(rela_buffer *name, const char *target, unsigned number,
                             rela_error *err);
static int open_listed(rela_temporary *t, mode_t mode);
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
        if (i == WAITS_MAX)
            return;
        wait_a_moment();
    }
    for (const rela_temporary *t = first; t; t = t->next)
        (void)rela_sys_unlink(t->name);
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
    if (fd >= 0) {
        t->next = first;
        if (first)
            first->previous = t;
        first = t;
    }
    rela_temporary_release(&old);
    errno = why;
    return fd;
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
