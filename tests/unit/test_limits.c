/* SPDX-License-Identifier: MIT */
/* tests/unit/test_limits.c - how much memory is free, and what is done where there is little. */
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "kern/gemm.h"
#include "scratch.h"

#include <math.h>
#include <stdio.h>
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
    return rela_memory_available_below(scratch_dir) / 1000000;
}

static void a_control_group_limits_memory(void **state)
{
    (void)state;
    assert_int_equal(free_megabytes("max\n", "3000000000\n", "anon 5\n"), 8000);
    assert_int_equal(free_megabytes("4000000000\n", "3000000000\n", "anon 3000000000\n"), 1000);
    assert_int_equal(free_megabytes("90000000000\n", "3000000000\n", "anon 3000000000\n"), 8000);
    CHECK(free_megabytes("4000000000\n", "4100000000\n", "anon 4100000000\n") == 0 &&
              rela_memory_available_below(scratch_dir) > 0,
          "a full group: %llu", (unsigned long long)rela_memory_available_below(scratch_dir));
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
    assert_int_equal(rela_memory_available_below("/nowhere/at/all"), 0);
}

enum { MIB = 1 << 20, LEFT = 64 * MIB, SLACK = 8 * MIB };

/* Leaves the process so many bytes of address space (RLIMIT_AS) or data (RLIMIT_DATA). */
static bool leave(int resource, rlim_t bytes)
{
    struct rlimit limit;
    char text[256] = "";
    FILE *f = fopen("/proc/self/statm", "r");
    const bool good = f && fgets(text, sizeof text, f) && getrlimit(resource, &limit) == 0;
    if (f)
        (void)fclose(f);
    if (!good)
        return false;
    unsigned long long pages[6] = { 0 };
    char *at = text;
    for (size_t i = 0; i < 6; i++)
        pages[i] = strtoull(at, &at, 10);
    limit.rlim_cur = pages[resource == RLIMIT_AS ? 0 : 5] * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    return setrlimit(resource, &limit) == 0;
}

/* Runs f in a process of its own, whose limits go with it; f returns NULL or what is wrong. */
static void in_a_child(const char *(*f)(void))
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        const char *wrong = f();
        if (wrong)
            (void)fprintf(stderr, "in a child: %s\n", wrong);
        _exit(wrong ? 1 : 0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child, "no child");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
}

static const char *counts(int resource)
{
    if (!leave(resource, LEFT))
        return "no limit can be set";
    const uint64_t n = rela_address_available(), memory = rela_memory_available();
    if (n > LEFT + SLACK || n < LEFT - SLACK)
        return "rela_address_available is wrong";
    return memory > LEFT + SLACK || memory == 0 ? "rela_memory_available is wrong" : NULL;
}

static const char *address_space_counts(void)
{
    return counts(RLIMIT_AS);
}

static const char *data_counts(void)
{
    return counts(RLIMIT_DATA);
}

/* qemu takes limits of its own memory for success and forgets them. */
static bool limits_are_kept(void)
{
    struct rlimit old, less, now;
    if (getrlimit(RLIMIT_AS, &old) != 0)
        return false;
    less = old;
    less.rlim_cur = old.rlim_cur == RLIM_INFINITY ? (rlim_t)1 << 46 : old.rlim_cur - 1;
    const bool kept = setrlimit(RLIMIT_AS, &less) == 0 && getrlimit(RLIMIT_AS, &now) == 0 &&
                      now.rlim_cur == less.rlim_cur;
    (void)setrlimit(RLIMIT_AS, &old);
    if (!kept)
        (void)puts("partly skipped: limits of memory are not kept here");
    return kept;
}

static void limits_of_the_process_count(void **state)
{
    (void)state;
    if (!limits_are_kept())
        skip();
    in_a_child(address_space_counts);
    in_a_child(data_counts);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* a sanitizer ends the process when it finds no address space */
#else
enum { SANITIZED = 0 };
#endif

static const char *use_all_but_the_reserve(void)
{
    static rela_error err;
    size_t n = 0;
    if (!leave(RLIMIT_AS, LEFT))
        return "no limit can be set";
    if (rela_mem_reserve(LEFT + SLACK, "a test", &err) != RELA_NOMEM)
        return "more is set aside than there is";
    if (strcmp(err.message, "no memory for a test") != 0)
        return err.message;
    if (rela_mem_reserve(LEFT / 2, "a test", &err) != RELA_OK)
        return "half of it cannot be set aside";
    if (rela_mem_alloc(LEFT / 2 + SLACK))
        return "a large block takes from the reserve";
    while (rela_mem_alloc(1000))
        n += 1000;
    if (n > LEFT / 2 || n < LEFT / 2 - SLACK)
        return "small blocks take from the reserve, or too little";
    void *library = malloc(LEFT / 2 - SLACK);
    if (!library)
        return "nothing is left for a library";
    free(library);
    rela_mem_unreserve(LEFT / 2);
    return rela_mem_alloc(LEFT / 2 - SLACK) ? NULL : "the reserve cannot be given back";
}

static void allocations_leave_what_is_set_aside(void **state)
{
    (void)state;
    if (SANITIZED || !limits_are_kept())
        skip();
    in_a_child(use_all_but_the_reserve);
}

enum { N_ROWS = 10, N_THREADS = 4 };

static void mark(void *ctx, size_t begin, size_t end, int part)
{
    for (size_t i = begin; i < end; i++)
        ((int *)ctx)[i] = part;
}

static rela_status read_nothing(void *ctx, void *block, bool *more, rela_error *err)
{
    (void)ctx, (void)block, (void)err;
    *more = false;
    return RELA_OK;
}

static const char *threads_in(rlim_t room, bool enough)
{
    static rela_error err;
    int rows[N_ROWS], blocks[N_THREADS];
    void *pointers[N_THREADS];
    for (size_t i = 0; i < N_THREADS; i++)
        pointers[i] = blocks + i;
    const rela_pipe pipe = { .read = read_nothing, .blocks = pointers, .n_threads = N_THREADS };
    if (!leave(RLIMIT_AS, room))
        return "no limit can be set";
    if (rela_pipe_run(&pipe, &err) != RELA_OK) /* with fewer threads */
        return "a pipe";
    if (rela_par_start(N_THREADS, &err) != (enough ? RELA_OK : RELA_NOMEM))
        return "starting threads";
    if (!enough && !strstr(err.message, "4 threads cannot be started"))
        return err.message;
    rela_par_rows(N_ROWS, N_THREADS, mark, rows);
    for (int i = 0; i < N_ROWS; i++)
        if (rows[i] != (i < 6 ? i / 3 : 2 + (i - 6) / 2))
            return "another split";
    return NULL;
}

static const char *threads_without_room(void)
{
    return threads_in(2 * MIB, false);
}

static const char *threads_with_room(void)
{
    return threads_in((rlim_t)1 << 30, true);
}

static void threads_that_cannot_start_are_a_status(void **state)
{
    (void)state;
    if (SANITIZED || !limits_are_kept())
        skip();
    in_a_child(threads_without_room);
    in_a_child(threads_with_room);
}

/* Whether a product of matrices that need packing is right. */
static bool multiplies_right(void)
{
    enum { SIZE = 600 };
    static real a[SIZE * SIZE], c[SIZE * SIZE];
    for (size_t i = 0; i < SIZE * SIZE; i++) {
        a[i] = (real)(i % 7);
        c[i] = -1;
    }
    rela_gemm_nt(c, SIZE, a, SIZE, a, SIZE, SIZE, SIZE, SIZE, false);
    for (size_t i = 0; i < SIZE; i += 7)
        for (size_t j = 0; j < SIZE; j++) {
            double want = 0;
            for (size_t k = 0; k < SIZE; k++)
                want += (double)a[i * SIZE + k] * (double)a[j * SIZE + k];
            if (fabs((double)c[i * SIZE + j] - want) > 1e-5 * want)
                return false;
        }
    return true;
}

static const char *multiply_in_little_memory(void)
{
    static rela_error err;
    if (!leave(RLIMIT_AS, 16 * MIB))
        return "no limit can be set";
    if (rela_gemm_start(&err) != RELA_NOMEM || !strstr(err.message, "no memory for matrix"))
        return "started without room";
    if (!leave(RLIMIT_AS, LEFT) || rela_gemm_start(&err) != RELA_OK)
        return err.message;
    if (!multiplies_right())
        return "a product is wrong";
    if (!leave(RLIMIT_AS, 0))
        return "no limit can be set";
    return multiplies_right() ? NULL : "a product without room is wrong";
}

static void products_never_end_the_process(void **state)
{
    (void)state;
    if (SANITIZED || !limits_are_kept())
        skip();
    in_a_child(multiply_in_little_memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_control_group_limits_memory),
        cmocka_unit_test(cached_files_of_a_control_group_are_free),
        cmocka_unit_test(nothing_is_known_without_a_system),
        cmocka_unit_test(limits_of_the_process_count),
        cmocka_unit_test(allocations_leave_what_is_set_aside),
        cmocka_unit_test(threads_that_cannot_start_are_a_status),
        cmocka_unit_test(products_never_end_the_process),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
