/* SPDX-License-Identifier: MIT */
/* tests/unit/test_limits.c - how much memory is free, as the system and its limits tell. */
#include "base/file.h"
#include "scratch.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* A system of our own: 8 GB available, in a control group. Returns what is free there, in MB. */
static uint64_t free_megabytes(const char *max, const char *current, const char *stat)
{
    const char *folders[] = { "proc", "sys", "sys/fs", "sys/fs/cgroup" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        (void)mkdir(scratch(folders[i]), 0777);
    spill_text("proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 7812500 kB\nSwapFree: 0 kB\n");
    spill_text("sys/fs/cgroup/memory.max", max);
    spill_text("sys/fs/cgroup/memory.current", current);
    spill_text("sys/fs/cgroup/memory.stat", stat);
    return rela_memory_free_below(scratch_dir) / 1000000;
}

static void a_control_group_limits_memory(void **state)
{
    (void)state;
    assert_int_equal(free_megabytes("max\n", "3000000000\n", "anon 5\n"), 8000);
    assert_int_equal(free_megabytes("4000000000\n", "3000000000\n", "anon 3000000000\n"), 1000);
    assert_int_equal(free_megabytes("90000000000\n", "3000000000\n", "anon 3000000000\n"), 8000);
    CHECK(free_megabytes("4000000000\n", "4100000000\n", "anon 4100000000\n") == 0 &&
              rela_memory_free_below(scratch_dir) > 0,
          "a full group: %llu", (unsigned long long)rela_memory_free_below(scratch_dir));
}

static void cached_files_of_a_control_group_are_free(void **state)
{
    (void)state;
    const char *stat = "anon 500000000\nfile 3400000000\ninactive_anon 0\ninactive_file "
                       "2400000000\nactive_file 1000000000\nworkingset_refault_file 7\n";
    assert_int_equal(free_megabytes("4000000000\n", "3900000000\n", stat), 3500);
    /* A snapshot that does not add up must not wrap. */
    assert_int_equal(free_megabytes("4000000000\n", "1000000000\n", stat), 4000);
}

static void nothing_is_known_without_a_system(void **state)
{
    (void)state;
    assert_int_equal(rela_memory_free_below("/nowhere/at/all"), 0);
}

enum { LEFT = 64 << 20, SLACK = 8 << 20 };

/* Runs in a child, which has a limit of LEFT above what it uses. */
static int limited_child(int resource)
{
    struct rlimit limit;
    char text[256] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || !fgets(text, sizeof text, f))
        return 1;
    (void)fclose(f);
    unsigned long long pages[6] = { 0 };
    char *at = text;
    for (size_t i = 0; i < 6; i++)
        pages[i] = strtoull(at, &at, 10);
    const unsigned long long used = pages[resource == RLIMIT_AS ? 0 : 5];
    limit.rlim_cur = limit.rlim_max = used * (unsigned long long)sysconf(_SC_PAGESIZE) + LEFT;
    if (setrlimit(resource, &limit) != 0)
        return 2;
    const uint64_t n = rela_address_free(), memory = rela_memory_free();
    if (n > LEFT + SLACK || n < LEFT - SLACK)
        return 3;
    return memory > LEFT + SLACK || memory == 0 ? 4 : 0;
}

static void limits_of_the_process_count(void **state)
{
    (void)state;
    const int resources[] = { RLIMIT_AS, RLIMIT_DATA };
    for (size_t i = 0; i < 2; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0)
            _exit(limited_child(resources[i]));
        CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "limit %zu: status %d", i, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_control_group_limits_memory),
        cmocka_unit_test(cached_files_of_a_control_group_are_free),
        cmocka_unit_test(nothing_is_known_without_a_system),
        cmocka_unit_test(limits_of_the_process_count),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
