/* SPDX-License-Identifier: MIT */
/* tests/check.h - cmocka with checks that say why they failed. */
#ifndef RELA_TESTS_CHECK_H
#define RELA_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rela/rela.h"

/* Fails the test with a printf-style reason. */
#define CHECK(cond, ...)                                                                           \
    do {                                                                                           \
        if (!(cond))                                                                               \
            fail_msg(__VA_ARGS__);                                                                 \
    } while (0)

/* The call must succeed; the message of err is shown otherwise. */
#define CHECK_OK(call, err) CHECK((call) == RELA_OK, "%s: %s", #call, (err).message)

/* Emulated programs (make arm64) are slow: tests that repeat themselves do so less often there. */
#ifdef RELA_EMULATED
enum { EMULATED = 1 };
#else
enum { EMULATED = 0 };
#endif

static inline rela_memory_stats memory_now(void)
{
    rela_memory_stats now = { .struct_size = sizeof now };
    CHECK(rela_memory_stats_get(&now, NULL) == RELA_OK, "no memory statistics");
    return now;
}

#endif
