/* SPDX-License-Identifier: MIT */
/* src/base/file_name.c - whether two paths of file.h mean the same file. */
#include "base/file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The directory of a path, and its last component. */
typedef struct place {
    struct stat dir;
    char base[PATH_MAX];
} place;

static bool find_place(place *p, const char *path);

bool rela_file_same(const char *a, const char *b)
{
    place x, y;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    return find_place(&x, a) && find_place(&y, b) && x.dir.st_dev == y.dir.st_dev &&
           x.dir.st_ino == y.dir.st_ino && strcmp(x.base, y.base) == 0;
}

bool rela_name_taken(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

bool rela_file_older(const char *a, const char *b)
{
    struct stat x, y;
    if (stat(a, &x) != 0 || stat(b, &y) != 0)
        return false;
    return x.st_mtim.tv_sec < y.st_mtim.tv_sec ||
           (x.st_mtim.tv_sec == y.st_mtim.tv_sec && x.st_mtim.tv_nsec < y.st_mtim.tv_nsec);
}

/* False for anything that exists but is not a regular file, and for impossible paths. */
static bool find_place(place *p, const char *path)
{
    char whole[PATH_MAX];
    struct stat info;
    if (stat(path, &info) == 0) {
        if (!S_ISREG(info.st_mode) || !realpath(path, whole))
            return false;
    } else {
        if (strlen(path) >= sizeof whole)
            return false;
        memcpy(whole, path, strlen(path) + 1); /* a dangling link is itself replaced */
    }
    char *slash = strrchr(whole, '/');
    const char *base = slash ? slash + 1 : whole;
    memcpy(p->base, base, strlen(base) + 1);
    if (slash)
        slash[slash == whole] = '\0';
    return stat(slash ? whole : ".", &p->dir) == 0;
}
