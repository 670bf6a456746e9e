/* SPDX-License-Identifier: MIT */
/* src/kern/arm/neon.c - the baseline of AArch64. */
#include "kern/levels.h"

#define VECTOR_BYTES 16
#define REGISTERS    32
#define VECTORS_MOST 16
#define LEVEL        rela_kern_neon
#define LEVEL_NAME   "neon"
#define PEAK_CHAINS  16

#include <arm_neon.h>
#include <string.h>

#include "kern/arm/lanes_neon.h"

#include "kern/arm/bytes_neon.h"

#include "kern/loops.h"
