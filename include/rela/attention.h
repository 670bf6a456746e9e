/* SPDX-License-Identifier: MIT */
/* include/rela/attention.h - the kinds of attention that this library has.
 *
 * A kind is chosen by its name, for each place of attention separately. docs/attention.md has the
 * formulas. The texts live as long as the library; any thread may ask. */
#ifndef RELA_ATTENTION_H
#define RELA_ATTENTION_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name of kind number i, from 0: "rela-g", "softmax". NULL past the last one. */
RELA_API const char *rela_attention_name(size_t i);

/* One line about it. NULL past the last one. */
RELA_API const char *rela_attention_summary(size_t i);

#ifdef __cplusplus
}
#endif
#endif
