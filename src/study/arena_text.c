/* SPDX-License-Identifier: MIT */
/* src/study/arena_text.c - see arena_text.h. */
#include "study/arena_text.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *rela_arena_copy(rela_arena *a, const char *text, size_t len)
{
    char *copy = rela_arena_alloc(a, len + 1);
    if (copy) {
        memcpy(copy, text, len);
        copy[len] = '\0';
    }
    return copy;
}

const char *rela_arena_printf(rela_arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int len = vsnprintf(NULL, 0, format, args);
    char *text = len < 0 ? NULL : rela_arena_alloc(a, (size_t)len + 1);
    if (text)
        (void)vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

void *rela_arena_array(rela_arena *a, size_t n, size_t size)
{
    size_t bytes = 0;
    void *array = rela_size_mul(&bytes, n, size) ? rela_arena_alloc(a, bytes + 1) : NULL;
    if (array)
        memset(array, 0, bytes);
    return array;
}
