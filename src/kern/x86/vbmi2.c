/* SPDX-License-Identifier: MIT */
/* src/kern/x86/vbmi2.c - vnni.c plus compression of bytes (-mavx512vbmi2); reached only after the
 * check in select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 64
#define REGISTERS    32
#define LEVEL        rela_kern_vbmi2
#define LEVEL_NAME   "vbmi2"
#define LEVEL_SQUEEZE_BYTES

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_vnni.h"

#include "kern/x86/lanes_avx512.h"

#include "kern/loops.h"
