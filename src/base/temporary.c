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
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 100, TAIL_MAX = 32, LIVE_MAX = 8 };

/* Fixed memory, as a signal handler reads it; a name counts while its place is taken. */
static char live[LIVE_MAX][PATH_MAX];
static _Atomic bool taken[LIVE_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* not for the handler */

static rela_status make_name(rela_buffer *name, const char *target, unsigned number,
                             rela_error *err);
static void remember(const char *name);

rela_status rela_temporary_open(int *fd, char **name, const char *target, mode_t mode,
                                rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    *fd = -1;
    *name = NULL;
    for (unsigned i = 0; i < TRIES && *fd < 0; i++) {
        const rela_status st = make_name(&text, target, i, err);
        if (st != RELA_OK) {
            rela_buffer_free(&text);
            return rela_fail_in(err, st, target);
        }
        *fd = rela_sys_open(text.data, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (*fd < 0 && errno != EEXIST)
            break;
    }
    if (*fd < 0) {
        const rela_status st = rela_fail_errno(err, errno, "%s: cannot be written", target);
        rela_buffer_free(&text);
        return st;
    }
    remember(text.data);
    *name = text.data; /* given */
    return RELA_OK;
}

void rela_temporary_forget(const char *name)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < LIVE_MAX; i++)
        if (taken[i] && strcmp(live[i], name) == 0)
            taken[i] = false;
    pthread_mutex_unlock(&lock);
}

void rela_file_abort_all(void)
{
    for (size_t i = 0; i < LIVE_MAX; i++)
        if (taken[i])
            (void)rela_sys_unlink(live[i]);
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

/* The name of the target and a tail; a long name is cut to make room. */
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

static void remember(const char *name)
{
    const size_t len = strlen(name);
    size_t i = 0;
    pthread_mutex_lock(&lock);
    while (i < LIVE_MAX && taken[i])
        i++;
    if (i < LIVE_MAX && len < PATH_MAX) {
        memcpy(live[i], name, len + 1);
        taken[i] = true;
    }
    pthread_mutex_unlock(&lock);
}
