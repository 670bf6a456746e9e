/* SPDX-License-Identifier: MIT */
/* src/dist/processors.c - see processors.h. */
#include "dist/processors.h"

#include "base/par.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

rela_processors rela_processors_count(void)
{
    cpu_set_t set;
    const long all = sysconf(_SC_NPROCESSORS_ONLN);
    const bool known = sched_getaffinity(0, sizeof set, &set) == 0;
    return (rela_processors){ known ? CPU_COUNT(&set) : all, all };
}

int rela_world_threads(const rela_world *w, int requested)
{
    const rela_processors p = rela_processors_count();
    const int local = (int)rela_world_local_size(w), n = rela_par_threads(0);
    if (requested > 0 || local == 1 || getenv("OMP_NUM_THREADS") || p.allowed < p.all)
        return requested;
    const int extra = rela_world_local_rank(w) < (size_t)(n % local);
    return n > local ? n / local + extra : 1;
}
