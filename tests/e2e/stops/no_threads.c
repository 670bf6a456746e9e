/* SPDX-License-Identifier: MIT */
/* tests/e2e/stops/no_threads.c - loaded before the program: no thread can start from call number
 * $NO_THREADS_FROM on. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *ctx)
{
    static atomic_long calls;
    int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
    const char *from = getenv("NO_THREADS_FROM");
    return from && atomic_fetch_add(&calls, 1) + 1 >= atol(from)
               ? EAGAIN
               : real(thread, attributes, run, ctx);
}
