/* SPDX-License-Identifier: MIT */
/* src/base/file_limits.c - available memory, for file.h. */
#include "base/file.h"
#include "base/str.h"
#include "base/sys.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH_ROOM = 512, SYSTEM_TEXT_MAX = 8192 };

static uint64_t read_number(const char *root, const char *path, const char *key);
static size_t read_text(char text[SYSTEM_TEXT_MAX], const char *path);
static uint64_t left(int resource, uint64_t used);

uint64_t rela_memory_available(void)
{
    const uint64_t system = rela_memory_available_below(""), own = rela_address_available();
    return own == UINT64_MAX || (system && system < own) ? system : own ? own : 1;
}

uint64_t rela_memory_available_below(const char *root)
{
    const uint64_t kib = read_number(root, "/proc/meminfo", "MemAvailable:") +
                         read_number(root, "/proc/meminfo", "SwapFree:");
    const uint64_t most = read_number(root, "/sys/fs/cgroup/memory.max", "");
    const uint64_t all = read_number(root, "/sys/fs/cgroup/memory.current", "");
    const uint64_t files = read_number(root, "/sys/fs/cgroup/memory.stat", "\ninactive_file ") +
                           read_number(root, "/sys/fs/cgroup/memory.stat", "\nactive_file ");
    const uint64_t used = all > files ? all - files : 0;
    const uint64_t free_bytes = kib << 10;
    if (most == 0) /* "max", or no cgroups */
        return free_bytes;
    const uint64_t rest = most > used ? most - used : 1;
    return free_bytes && free_bytes < rest ? free_bytes : rest;
}

uint64_t rela_address_available(void)
{
    char text[SYSTEM_TEXT_MAX];
    if (left(RLIMIT_AS, 0) == UINT64_MAX && left(RLIMIT_DATA, 0) == UINT64_MAX)
        return UINT64_MAX;
    /* In pages: size, resident, shared, text, libraries (always 0), data with stack. */
    uint64_t pages[6] = { 0 };
    char *at = text;
    text[read_text(text, "/proc/self/statm")] = '\0';
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        pages[i] = strtoull(at, &at, 10);
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t space = left(RLIMIT_AS, pages[0] * page);
    const uint64_t data = left(RLIMIT_DATA, pages[5] * page);
    return space < data ? space : data;
}

/* The number after key in a small file of /proc or /sys; 0 if there is none. */
static uint64_t read_number(const char *root, const char *path, const char *key)
{
    char text[SYSTEM_TEXT_MAX], name[PATH_ROOM];
    rela_format_text(name, sizeof name, "%s%s", root, path);
    text[read_text(text, name)] = '\0';
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* At most SYSTEM_TEXT_MAX - 1 bytes; 0 if the file cannot be read. */
static size_t read_text(char text[SYSTEM_TEXT_MAX], const char *path)
{
    const int fd = rela_sys_open(path, O_RDONLY, 0);
    if (fd < 0)
        return 0;
    const ssize_t n = rela_sys_pread(fd, text, SYSTEM_TEXT_MAX - 1, 0);
    (void)rela_sys_close(fd);
    return n > 0 ? (size_t)n : 0;
}

/* What is left of a limit of the process when this many bytes are used. */
static uint64_t left(int resource, uint64_t used)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}
