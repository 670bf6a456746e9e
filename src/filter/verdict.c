/* SPDX-License-Identifier: MIT */
/* src/filter/verdict.c - see verdict.h. */
#include "filter/verdict.h"

#include <string.h>

enum { REASON, HAS_SCORE, HEAD_BYTES };

/* The reason and, if there is a score, the numbers. */
rela_status rela_pair_verdict_append(rela_buffer *out, const rela_pair_verdict *v, rela_error *err)
{
    const double numbers[] = { v->score, v->null, v->uncovered, v->logp };
    const unsigned char head[HEAD_BYTES] = { (unsigned char)v->reason, v->score >= 0 };
    const rela_status st = rela_buffer_append(out, (const char *)head, sizeof head, err);
    return st || !head[HAS_SCORE]
               ? st
               : rela_buffer_append(out, (const char *)numbers, sizeof numbers, err);
}

rela_status rela_pair_verdict_take(rela_pair_verdict *v, rela_span *bytes, uint64_t line,
                                   rela_error *err)
{
    double numbers[4] = { -1, 0, 0, 0 };
    unsigned char head[HEAD_BYTES] = { 0, 0 };
    const bool whole = bytes->len >= sizeof head;
    if (whole)
        memcpy(head, bytes->text, sizeof head);
    const size_t n = sizeof head + (head[HAS_SCORE] ? sizeof numbers : 0);
    if (!whole || n > bytes->len || head[REASON] >= RELA_FILTER_N_REASONS)
        return rela_fail(err, RELA_FORMAT, "line %llu: no verdict in its result",
                         (unsigned long long)line);
    memcpy(numbers, bytes->text + sizeof head, n - sizeof head);
    *bytes = (rela_span){ bytes->text + n, bytes->len - n };
    *v = (rela_pair_verdict){ .reason = (rela_filter_reason)head[REASON],
                              .score = numbers[0],
                              .null = numbers[1],
                              .uncovered = numbers[2],
                              .logp = numbers[3] };
    return RELA_OK;
}
