/* SPDX-License-Identifier: MIT */
/* src/kern/select.c - choose the kernel table, once per process. */
#include "kern/levels.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(RELA_HAVE_AVXVNNI) || defined(RELA_HAVE_AMX)
#include <cpuid.h>
#endif
#ifdef RELA_HAVE_AMX
#include <sys/syscall.h>
#include <unistd.h>
#endif
#ifdef RELA_HAVE_DOTPROD
#include <sys/auxv.h>
#endif

static int always(void)
{
    return 1;
}

#ifdef RELA_HAVE_AVX2
static int have_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

#ifdef RELA_HAVE_AVXVNNI
static int have_avxvnni(void)
{
    enum { AVX_VNNI = 1 << 4 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    return have_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & AVX_VNNI);
}
#endif

#ifdef RELA_HAVE_AVX512
static int have_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
}
#endif

#ifdef RELA_HAVE_VNNI
static int have_vnni(void)
{
    return have_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

#ifdef RELA_HAVE_VBMI2
static int have_vbmi2(void)
{
    return have_vnni() && __builtin_cpu_supports("avx512vbmi2");
}
#endif

#ifdef RELA_HAVE_AMX
/* Linux enables AMX tiles only for processes that request it; repeated requests are harmless. */
static int have_amx(void)
{
    enum { TILE = 1 << 24, INT8 = 1 << 25, ASK = 0x1023, TILE_DATA = 18 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!have_vbmi2() || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d & TILE) || !(d & INT8))
        return 0;
    return syscall(SYS_arch_prctl, ASK, TILE_DATA) == 0;
}
#endif

#ifdef RELA_HAVE_DOTPROD
static int have_dotprod(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}
#endif

typedef struct kern_level {
    const rela_kern *table;
    int (*usable)(void);
} kern_level;

/* Slowest first. A new instruction set is one row here and one file. */
static const kern_level LEVELS[] = {
    { &rela_kern_portable, always },
#ifdef RELA_HAVE_AVX2
    { &rela_kern_avx2, have_avx2 },
#endif
#ifdef RELA_HAVE_AVXVNNI
    { &rela_kern_avxvnni, have_avxvnni },
#endif
#ifdef RELA_HAVE_AVX512
    { &rela_kern_avx512, have_avx512 },
#endif
#ifdef RELA_HAVE_VNNI
    { &rela_kern_vnni, have_vnni },
#endif
#ifdef RELA_HAVE_VBMI2
    { &rela_kern_vbmi2, have_vbmi2 },
#endif
#ifdef RELA_HAVE_AMX
    { &rela_kern_amx, have_amx },
#endif
#ifdef RELA_HAVE_NEON
    { &rela_kern_neon, always },
#endif
#ifdef RELA_HAVE_DOTPROD
    { &rela_kern_dotprod, have_dotprod },
#endif
};

enum { N_LEVELS = sizeof LEVELS / sizeof LEVELS[0] };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const rela_kern *chosen;

static void choose(void)
{
    const char *cap = getenv("RELA_ISA");
    for (size_t i = 0; i < N_LEVELS; i++) {
        if (LEVELS[i].usable())
            chosen = LEVELS[i].table;
        if (cap && strcmp(cap, LEVELS[i].table->name) == 0)
            break;
    }
}

const rela_kern *rela_kern_get(void)
{
    pthread_once(&once, choose);
    return chosen;
}

const rela_kern *rela_kern_at(size_t level)
{
    for (size_t i = 0; i < N_LEVELS; i++)
        if (LEVELS[i].usable() && level-- == 0)
            return LEVELS[i].table;
    return NULL;
}

const rela_kern *rela_kern_find(const char *name)
{
    const rela_kern *k = NULL;
    for (size_t i = 0; (k = rela_kern_at(i)) != NULL; i++)
        if (strcmp(k->name, name) == 0)
            break;
    return k;
}
