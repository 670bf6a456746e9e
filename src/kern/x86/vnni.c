/* SPDX-License-Identifier: MIT */
/* src/kern/x86/vnni.c - avx512.c plus int8 dot products (-mavx512vnni); reached only after the
 * check in select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 64
#define REGISTERS    32
#define LEVEL        rela_kern_vnni
#define LEVEL_NAME   "vnni"

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_vnni.h"

#include "kern/x86/lanes_avx512.h"

#include "kern/loops.h"
