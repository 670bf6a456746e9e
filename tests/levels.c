/* SPDX-License-Identifier: MIT */
/* tests/levels.c - names of instruction-set levels, slowest first: levels usable (on this
 * processor), levels all (in this build), levels chosen (by RELA_ISA or the processor). */
#include "kern/levels.h"

#include <stdio.h>
#include <string.h>

static const rela_kern *const ALL[] = {
    &rela_kern_portable,
#ifdef RELA_HAVE_AVX2
    &rela_kern_avx2,
#endif
#ifdef RELA_HAVE_AVXVNNI
    &rela_kern_avxvnni,
#endif
#ifdef RELA_HAVE_AVX512
    &rela_kern_avx512,
#endif
#ifdef RELA_HAVE_VNNI
    &rela_kern_vnni,
#endif
#ifdef RELA_HAVE_VBMI2
    &rela_kern_vbmi2,
#endif
#ifdef RELA_HAVE_AMX
    &rela_kern_amx,
#endif
#ifdef RELA_HAVE_NEON
    &rela_kern_neon,
#endif
#ifdef RELA_HAVE_DOTPROD
    &rela_kern_dotprod,
#endif
};

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "";
    if (strcmp(which, "chosen") == 0)
        return puts(rela_kern_get()->name) < 0;
    if (strcmp(which, "all") != 0 && strcmp(which, "usable") != 0)
        return 2;
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++)
        if (strcmp(which, "all") == 0 || rela_kern_find(ALL[i]->name))
            (void)puts(ALL[i]->name);
    return 0;
}
