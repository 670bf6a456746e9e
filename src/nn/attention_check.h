/* SPDX-License-Identifier: MIT */
/* src/nn/attention_check.h - checks the structs that callers of the attention operator pass, and
 * fills in defaults.
 *
 * A caller may have been compiled against an older, shorter struct than this library's: each is
 * copied into one of full size, missing members get their defaults, and leading dimensions of 0
 * become d. */
#ifndef RELA_NN_ATTENTION_CHECK_H
#define RELA_NN_ATTENTION_CHECK_H

#include "nn/attn/spec.h"
#include "rela/attention.h"

#include <stdbool.h>

typedef struct rela_attention_sizes {
    const rela_attn_kind *kind;
    real numbers[RELA_ATTN_NUMBERS_MAX]; /* its hyper-parameters */
    size_t heads, d_head, d, max_length;
    size_t learned; /* numbers of the learned arrays of the kind, one after the other */
    bool causal;
} rela_attention_sizes;

static inline rela_attn_shape rela_attention_shape(const rela_attention_sizes *s)
{
    return (rela_attn_shape){ s->kind, s->numbers, s->heads, s->d_head };
}

rela_status rela_attention_options_check(rela_attention_options *all, rela_attention_sizes *s,
                                         const rela_attention_options *o, rela_error *err);
rela_status rela_attention_input_check(rela_attention_input *all, const rela_attention_sizes *s,
                                       const rela_attention_input *in, rela_error *err);
rela_status rela_attention_output_check(rela_attention_output *all, const rela_attention_sizes *s,
                                        const rela_attention_output *out, rela_error *err);
rela_status rela_attention_gradient_check(rela_attention_gradient *all,
                                          const rela_attention_sizes *s,
                                          const rela_attention_gradient *g, rela_error *err);

#endif
