/* SPDX-License-Identifier: MIT */
/* tests/failing_malloc.c - to be preloaded: makes allocations inside libraries fail.
 *
 * RELA_FAIL is like malloc:361 (that call fails), malloc:361+ (all from there on) or mmap:3. malloc
 * stands for malloc, calloc, realloc, posix_memalign and aligned_alloc together. Calls from the
 * program itself are not counted: RELA_FAULT makes those fail (base/fault.h). With RELA_FAIL_COUNT,
 * a file, the number of calls is appended to it when the process ends.
 *
 * For glibc: __libc_malloc and its kind are what malloc is without this file. */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

typedef struct counter {
    const char *name;
    uint64_t fail; /* the call that fails; 0: none */
    bool onwards;
    _Atomic uint64_t seen;
} counter;

static counter allocations = { .name = "malloc:" }, maps = { .name = "mmap:" };
static uintptr_t program_begin, program_end;

/* The first object is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            program_begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            program_end = program_begin + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static void parse(counter *c, const char *text)
{
    const size_t len = strlen(c->name);
    char *end = NULL;
    if (strncmp(text, c->name, len) == 0) {
        c->onwards = false;
        c->fail = strtoull(text + len, &end, 10);
        c->onwards = *end == '+';
    }
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("RELA_FAIL");
    (void)dl_iterate_phdr(find_program, NULL);
    if (text) {
        parse(&allocations, text);
        parse(&maps, text);
    }
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("RELA_FAIL_COUNT");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd < 0)
        return;
    (void)dprintf(fd, "malloc %llu mmap %llu\n", (unsigned long long)allocations.seen,
                  (unsigned long long)maps.seen);
    (void)close(fd);
}

static bool fails(counter *c, const void *caller)
{
    const uintptr_t at = (uintptr_t)caller;
    if (program_end == 0 || (at >= program_begin && at < program_end))
        return false;
    const uint64_t n = ++c->seen;
    const bool bad = c->fail && (n == c->fail || (c->onwards && n > c->fail));
    if (bad)
        errno = ENOMEM;
    return bad;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
    return fails(&allocations, CALLER) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails(&allocations, CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails(&allocations, CALLER) ? NULL : __libc_realloc(p, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *p = fails(&allocations, CALLER) ? NULL : __libc_memalign(alignment, size);
    if (!p)
        return ENOMEM;
    *out = p;
    return 0;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails(&allocations, CALLER) ? NULL : __libc_memalign(alignment, size);
}

void *mmap(void *at, size_t len, int protection, int flags, int fd, off_t offset)
{
    if (fails(&maps, CALLER))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, len, protection, flags, fd, offset);
}
