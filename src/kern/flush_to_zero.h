/* SPDX-License-Identifier: MIT */
/* src/kern/flush_to_zero.h - treats subnormal floats as zero while we compute.
 *
 * A trained softmax gives weights like 1e-40. Products with subnormals take a hundred times as
 * long, and gradients spread them to every large product: an update of a trained model took 1.4
 * times as long. What is lost is below 1e-38. The setting is per thread and is restored, so the
 * host program keeps its own. */
#ifndef RELA_KERN_FLUSH_TO_ZERO_H
#define RELA_KERN_FLUSH_TO_ZERO_H

#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

enum { RELA_FLUSH_TO_ZERO = 0x8040 }; /* results and operands: FTZ and DAZ of MXCSR */

static inline uint64_t rela_flush_to_zero(void)
{
    const unsigned int old = _mm_getcsr();
    _mm_setcsr(old | RELA_FLUSH_TO_ZERO);
    return old;
}

static inline void rela_flush_to_zero_end(uint64_t old)
{
    _mm_setcsr((unsigned int)old);
}

#elif defined(__aarch64__)

static inline uint64_t rela_flush_to_zero(void)
{
    uint64_t old;
    __asm__ volatile("mrs %0, fpcr" : "=r"(old));
    __asm__ volatile("msr fpcr, %0" : : "r"(old | UINT64_C(1) << 24)); /* FZ */
    return old;
}

static inline void rela_flush_to_zero_end(uint64_t old)
{
    __asm__ volatile("msr fpcr, %0" : : "r"(old));
}

#else

static inline uint64_t rela_flush_to_zero(void)
{
    return 0;
}

static inline void rela_flush_to_zero_end(uint64_t old)
{
    (void)old;
}

#endif
#endif
