/* SPDX-License-Identifier: MIT */
/* src/base/sized.c - see sized.h; and the version of the library at run time. */
#include "base/sized.h"

#include "base/error.h"

#include <string.h>

static size_t size_of(const void *given);
static size_t smaller(size_t a, size_t b);

void rela_sized_init(void *to, size_t size, const void *defaults, size_t known)
{
    memset(to, 0, size);
    memcpy(to, defaults, smaller(size, known));
    memcpy(to, &size, sizeof size);
}

rela_status rela_sized_check(const void *given, size_t known, const char *name, rela_error *err)
{
    const size_t size = size_of(given);
    if (size < sizeof size)
        return rela_fail(err, RELA_ARG, "%s: struct_size is %zu; expected the size of the struct",
                         name, size);
    if (size > known)
        return rela_fail(err, RELA_UNSUP,
                         "%s: struct_size is %zu; this version of the library knows %zu bytes",
                         name, size, known);
    return RELA_OK;
}

rela_status rela_sized_take(void *own, size_t known, const void *given, const char *name,
                            rela_error *err)
{
    const rela_status st = given ? rela_sized_check(given, known, name, err) : RELA_OK;
    if (given && st == RELA_OK)
        memcpy(own, given, size_of(given));
    memcpy(own, &known, sizeof known);
    return st;
}

void rela_sized_give(void *to, const void *own, size_t known)
{
    if (!to)
        return;
    const size_t size = size_of(to);
    memcpy(to, own, smaller(size, known));
    memcpy(to, &size, sizeof size);
}

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

uint32_t rela_version(void)
{
    return (uint32_t)RELA_VERSION_MAJOR << 16 | (uint32_t)RELA_VERSION_MINOR << 8 |
           (uint32_t)RELA_VERSION_PATCH;
}
