/* SPDX-License-Identifier: MIT */
/* src/kern/arm/dotprod.c - neon.c plus int8 dot products (+dotprod); reached only after the check
 * in select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 16
#define REGISTERS    32
#define VECTORS_MOST 16
#define LEVEL        rela_kern_dotprod
#define LEVEL_NAME   "dotprod"
#define PEAK_CHAINS  16

#include <arm_neon.h>
#include <string.h>

#include "kern/arm/lanes_neon.h"

#include "kern/arm/bytes_dotprod.h"

#include "kern/loops.h"
