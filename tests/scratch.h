/* SPDX-License-Identifier: MIT */
/* tests/scratch.h - a scratch folder per test program and raw files in it.
 *
 * Plain C library calls on purpose: what the library writes is checked by other means than its own.
 * Every helper fails the test if a system call fails. */
#ifndef RELA_TESTS_SCRATCH_H
#define RELA_TESTS_SCRATCH_H

#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCRATCH_DIR = 256, SCRATCH_PATH = 1024 };

static char scratch_dir[SCRATCH_DIR];

static inline int scratch_make(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    (void)snprintf(scratch_dir, sizeof scratch_dir, "%s/rela-test-XXXXXX",
                   base && *base ? base : P_tmpdir);
    return mkdtemp(scratch_dir) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
    (void)state;
    char command[2 * SCRATCH_PATH];
    (void)snprintf(command, sizeof command, "chmod -R u+rwx '%s' && rm -rf '%s'", scratch_dir,
                   scratch_dir);
    return system(command) == 0 ? 0 : -1;
}

/* The path of a file in the folder; valid until the fourth call after this one. */
static inline const char *scratch(const char *name)
{
    static char paths[4][SCRATCH_PATH];
    static unsigned next;
    char *path = paths[next++ % 4];
    (void)snprintf(path, SCRATCH_PATH, "%s/%s", scratch_dir, name);
    return path;
}

/* The folder with two paths in it, for tests that must leave no other file: removing the folder
 * fails if they do. */
typedef struct two_paths {
    char path[SCRATCH_PATH], other[SCRATCH_PATH];
} two_paths;

static inline int two_paths_make(two_paths *p, const char *name, const char *other)
{
    if (scratch_make(NULL) != 0)
        return -1;
    (void)snprintf(p->path, sizeof p->path, "%s", scratch(name));
    (void)snprintf(p->other, sizeof p->other, "%s", scratch(other));
    return 0;
}

static inline int two_paths_remove(const two_paths *p)
{
    (void)unlink(p->path);
    (void)unlink(p->other);
    return rmdir(scratch_dir);
}

/* Writes a file and returns its path. */
static inline const char *spill(const char *name, const void *bytes, size_t len)
{
    const char *path = scratch(name);
    FILE *f = fopen(path, "wb");
    CHECK(f && (len == 0 || fwrite(bytes, 1, len, f) == len) && fclose(f) == 0, "cannot write %s",
          path);
    return path;
}

static inline const char *spill_text(const char *name, const char *text)
{
    return spill(name, text, strlen(text));
}

/* The bytes of a file, followed by NUL; the caller frees them. */
static inline char *slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    CHECK(f, "cannot open %s", path);
    size_t cap = 4096;
    char *bytes = malloc(cap);
    *len = 0;
    for (size_t n = 1; n > 0; *len += n) {
        if (cap - *len < 2048)
            bytes = realloc(bytes, cap *= 2);
        CHECK(bytes, "no memory for %s", path);
        n = fread(bytes + *len, 1, 2047, f);
    }
    (void)fclose(f);
    bytes[*len] = '\0';
    return bytes;
}

static inline void check_contents(const char *path, const char *want, size_t want_len)
{
    size_t len = 0;
    char *bytes = slurp(path, &len);
    const int same = len == want_len && memcmp(bytes, want, len) == 0;
    CHECK(same, "%s holds %zu bytes \"%.60s\", want %zu bytes \"%.60s\"", path, len, bytes,
          want_len, want);
    free(bytes);
}

/* Number of files in a folder; part: counts only names that contain it, or NULL. */
static inline size_t count_files(const char *dir, const char *part)
{
    DIR *d = opendir(dir);
    CHECK(d, "cannot open %s", dir);
    size_t n = 0;
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            n += !part || strstr(e->d_name, part) != NULL;
    (void)closedir(d);
    return n;
}

#endif
