/* SPDX-License-Identifier: MIT */
/* src/kern/x86/amx.c - vbmi2.c plus int8 tiles (-mamx-int8); reached only after the check in
 * select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 64
#define REGISTERS    32
#define LEVEL        rela_kern_amx
#define LEVEL_NAME   "amx"
#define LEVEL_SQUEEZE_BYTES
#define LEVEL_TILES "kern/x86/tiles_amx.h"

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_vnni.h"

#include "kern/x86/lanes_avx512.h"

#include "kern/loops.h"
