/* SPDX-License-Identifier: MIT */
/* src/kern/x86/avxvnni.c - avx2.c plus int8 dot products (-mavxvnni); reached only after the check
 * in select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 32
#define LEVEL        rela_kern_avxvnni
#define LEVEL_NAME   "avxvnni"

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_avxvnni.h"

#include "kern/x86/lanes_avx2.h"

#include "kern/loops.h"
