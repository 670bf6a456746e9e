/* SPDX-License-Identifier: MIT */
/* tests/api/header_check.h - what the programs that were written from the headers alone share. */
#ifndef RELA_TESTS_HEADER_CHECK_H
#define RELA_TESTS_HEADER_CHECK_H

#include <rela/rela.h>
#include <stdio.h>

/* 1, and a line that says why, if a call failed. */
static int failed(const char *what, rela_status status, const rela_error *err)
{
    if (status == RELA_OK)
        return 0;
    (void)fprintf(stderr, "%s: %s: %s\n", what, rela_status_text(status), err->message);
    return 1;
}

/* 1, and a line that says what, if something does not hold. */
static int wrong(const char *what, int holds)
{
    if (!holds)
        (void)fprintf(stderr, "wrong: %s\n", what);
    return !holds;
}

static int set_path(char path[1024], const char *dir, const char *name)
{
    const int n = snprintf(path, 1024, "%s/%s", dir, name);
    return wrong("length of a path", n > 0 && n < 1024);
}

#endif
