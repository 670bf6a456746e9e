/* SPDX-License-Identifier: MIT */
/* src/kern/levels.h - the kernel tables of all levels; only those compiled in are defined. */
#ifndef RELA_KERN_LEVELS_H
#define RELA_KERN_LEVELS_H

#include "kern/kern.h"

extern const rela_kern rela_kern_portable, rela_kern_avx2, rela_kern_avxvnni, rela_kern_avx512,
    rela_kern_vnni, rela_kern_vbmi2, rela_kern_amx, rela_kern_neon, rela_kern_dotprod;

#endif
