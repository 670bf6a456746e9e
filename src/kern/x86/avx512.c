/* SPDX-License-Identifier: MIT */
/* src/kern/x86/avx512.c - built with -mavx512{f,bw,dq,vl}; reached only after the check in
 * select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 64
#define REGISTERS    32
#define LEVEL        rela_kern_avx512
#define LEVEL_NAME   "avx512"

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_avx2.h"

#include "kern/x86/lanes_avx512.h"

#include "kern/loops.h"
