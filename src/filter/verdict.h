/* SPDX-License-Identifier: MIT */
/* src/filter/verdict.h - the verdict on a pair and its serialisation. */
#ifndef RELA_FILTER_VERDICT_H
#define RELA_FILTER_VERDICT_H

#include "base/str.h"
#include "rela/analyse.h"

typedef struct rela_pair_verdict {
    rela_filter_reason reason;
    double score, null, uncovered, logp; /* score negative: none */
} rela_pair_verdict;

rela_status rela_pair_verdict_append(rela_buffer *out, const rela_pair_verdict *v, rela_error *err);
/* Reads the next verdict and advances *bytes. line: for error messages. */
rela_status rela_pair_verdict_take(rela_pair_verdict *v, rela_span *bytes, uint64_t line,
                                   rela_error *err);

#endif
