/* SPDX-License-Identifier: MIT */
/* fuzz/standalone.c - runs a fuzz target on files and folders of files, with any compiler. */
#include "fuzz.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

static void run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    HOLDS(f && fseek(f, 0, SEEK_END) == 0);
    const long size = ftell(f);
    HOLDS(size >= 0 && fseek(f, 0, SEEK_SET) == 0);
    uint8_t *data = malloc((size_t)size + 1); /* no more: ASan finds overruns past the spare byte */
    HOLDS(data && fread(data, 1, (size_t)size, f) == (size_t)size);
    (void)fclose(f);
    (void)LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
}

static size_t run(const char *path)
{
    struct stat info;
    HOLDS(stat(path, &info) == 0);
    if (!S_ISDIR(info.st_mode)) {
        run_file(path);
        return 1;
    }
    size_t n = 0;
    DIR *dir = opendir(path);
    HOLDS(dir);
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        char name[4096];
        if (e->d_name[0] == '.')
            continue;
        (void)snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        n += run(name);
    }
    (void)closedir(dir);
    return n;
}

int main(int argc, char **argv)
{
    size_t n = 0;
    for (int i = 1; i < argc; i++)
        n += run(argv[i]);
    (void)printf("%zu inputs\n", n);
    return n > 0 ? 0 : 1;
}
