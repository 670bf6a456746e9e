/* SPDX-License-Identifier: MIT */
/* src/kern/x86/avx512.c - built with -mavx512{f,bw,dq,vl}; reached only after the check in
 * select.c. */
#include "kern/levels.h"

#define VECTOR_BYTES 64
#define LEVEL        rela_kern_avx512
#define LEVEL_NAME   "avx512"
#define LEVEL_LANES

#include <immintrin.h>
#include <string.h>

#include "kern/x86/bytes_avx2.h"

static inline float lane_sum(__m512 v)
{
    return _mm512_reduce_add_ps(v);
}

static inline uint32_t above(const float *z, float x)
{
    return _mm512_cmp_ps_mask(_mm512_loadu_ps(z), _mm512_set1_ps(x), _CMP_GT_OQ);
}

#include "kern/loops.h"
