/* SPDX-License-Identifier: MIT */
/* src/kern/ref/portable.c - the level every CPU can run. */
#include "kern/levels.h"

#define VECTOR_BYTES 16
#define LEVEL        rela_kern_portable
#define LEVEL_NAME   "portable"
#include "kern/loops.h"
