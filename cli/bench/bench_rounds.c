/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_rounds.c - rounds of measurements, and their clock. */
#include "base/clock.h"
#include "bench/bench_job.h"

#include <math.h>

/* If the warm-up takes this many times the requested time, it is the result: caches were warm for
 * most of it. */
static const double LONG = 2;
/* Share of the requested time that suffices. */
static const double ENOUGH = 0.9;

rela_status rela_bench_rounds(rela_bench_job *j, size_t n,
                              rela_status (*turn)(void *ctx, size_t i, size_t round,
                                                  rela_error *err),
                              void *ctx, rela_error *err)
{
    for (size_t round = 0; round < j->rounds; round++)
        for (size_t i = 0; i < n; i++) {
            const rela_status st = turn(ctx, i, round, err);
            if (st != RELA_OK)
                return st;
            j->done++;
            if (j->o.progress && j->o.progress(j->o.progress_ctx, j->done, j->total) != 0)
                return rela_fail(err, RELA_CANCEL, "stopped by the caller");
        }
    return RELA_OK;
}

double rela_bench_clock(int threads)
{
    return threads > 1 ? rela_clock_seconds() : rela_clock_thread_seconds();
}

double rela_bench_time(void (*work)(void *ctx), void *ctx, double seconds, int threads)
{
    double start = rela_bench_clock(threads), calls = 0, took = 0;
    work(ctx);
    double each = rela_bench_clock(threads) - start;
    if (each > LONG * seconds && each > 0)
        return each;
    start = rela_bench_clock(threads);
    while (took <= 0 || took < ENOUGH * seconds) { /* read the clock rarely: it costs */
        const uint64_t n = each > 0 ? (uint64_t)fmax(1, (seconds - took) / each) : 1;
        for (uint64_t i = 0; i < n; i++)
            work(ctx);
        calls += (double)n;
        took = rela_bench_clock(threads) - start;
        each = took / calls;
    }
    return each;
}

void rela_bench_see_zeros(void *zeros, const rela_attn_view *v)
{
    rela_bench_zeros *z = zeros;
    for (size_t i = 0; i < v->rows; i++) {
        const size_t n = rela_attn_view_keys(v, i);
        for (size_t k = 0; k < n; k++)
            z->zeros += v->w[i * v->ld + k] == 0;
        z->weights += (double)n;
    }
}
