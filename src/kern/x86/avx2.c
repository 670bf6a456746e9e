/* SPDX-License-Identifier: MIT */
/* src/kern/x86/avx2.c - built with -mavx2 -mfma; reached only after the check in select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 32
#define LEVEL        rela_kern_avx2
#define LEVEL_NAME   "avx2"

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_avx2.h"

#include "kern/x86/lanes_avx2.h"

#include "kern/loops.h"
