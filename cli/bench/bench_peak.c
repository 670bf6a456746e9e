/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_peak.c - peak rates of the machine: multiply-adds in registers, large matrix
 * products, reading memory. All other rates are given as shares of these. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/par.h"
#include "bench/bench_job.h"
#include "kern/gemm.h"

#include <math.h>
#include <string.h>

enum {
    CHAIN = 1 << 21,   /* multiply-adds of a chain per call: some milliseconds */
    BIG = 1024,        /* rows of the matrices of a large product */
    MEMORY = 512 << 20 /* bytes to read, more than caches hold */
};
enum { MULTIPLY_ADDS, PRODUCT, READING, N_MEASURES };

/* Work that several threads do at the same time. */
typedef struct load {
    const rela_kern *k;
    int threads;
    real *memory;
    size_t n;     /* reals of memory */
    double total; /* FLOPs or bytes of one call, set by the call */
    real sink[RELA_PAR_MAX];
} load;

typedef struct state {
    rela_bench_job *j;
    load l;
    double *rates; /* (case, round) */
    double *share; /* (round) share of a CPU that this thread got */
} state;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status report(const state *s, rela_error *err);
static void multiply_adds(void *ctx);
static void read_memory(void *ctx);

const rela_bench_part rela_bench_part_peak = { .flag = 0, .turns = turns, .run = run };

/* Each measure on one thread and, if there are more, on all. */
static size_t turns(const rela_bench_job *j)
{
    return j->n_threads > 1 ? 2 * N_MEASURES : N_MEASURES;
}

static rela_status run(rela_bench_job *j, rela_error *err)
{
    state s = { .j = j, .l = { .k = j->k, .n = MEMORY / sizeof(real) } };
    s.rates = rela_mem_array(turns(j) * j->rounds, sizeof *s.rates);
    s.share = rela_mem_array(j->rounds, sizeof *s.share);
    s.l.memory = rela_mem_alloc(MEMORY);
    rela_status st =
        s.rates && s.share && s.l.memory
            ? RELA_OK
            : rela_fail(err, RELA_NOMEM, "no memory for reading %d bytes", (int)MEMORY);
    if (st == RELA_OK) {
        memset(s.l.memory, 0, MEMORY); /* pages never written would share one zero page */
        st = rela_bench_rounds(j, turns(j), turn, &s, err);
    }
    st = st ? st : report(&s, err);
    rela_mem_free(s.rates);
    rela_mem_free(s.share);
    rela_mem_free(s.l.memory);
    return st;
}

static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    rela_bench_job *j = s->j;
    double *rate = &s->rates[i * j->rounds + round];
    s->l.threads = i < N_MEASURES ? 1 : j->n_threads;
    if (i % N_MEASURES == PRODUCT)
        return rela_bench_product_rate(rate, s->l.threads, j->o.seconds, err);
    void (*const work)(void *) = i % N_MEASURES == MULTIPLY_ADDS ? multiply_adds : read_memory;
    const double clock = rela_clock_seconds(), processor = rela_clock_thread_seconds();
    const double took = rela_bench_time(work, &s->l, j->o.seconds, s->l.threads);
    if (i == 0)
        s->share[round] =
            (rela_clock_thread_seconds() - processor) / (rela_clock_seconds() - clock);
    *rate = s->l.total / took * 1e-9;
    return RELA_OK;
}

static rela_status report(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = { { "what", "", RELA_BENCH_TEXT, 0 },
                                                 { "threads", "threads", RELA_BENCH_NUMBER, 0 },
                                                 { "value", "value", RELA_BENCH_SPREAD, 1 },
                                                 { "unit", "", RELA_BENCH_TEXT, 0 },
                                                 { "share", "of peak", RELA_BENCH_NUMBER, 2 } };
    static const char *const NAMES[] = { "multiply-adds", "product of 1024 x 1024",
                                         "reading 512 MB" };
    rela_bench_job *j = s->j;
    double *const rates[] = { j->peak.multiply_adds, j->peak.product, j->peak.reading };
    rela_bench_table *table =
        rela_bench_table_new(j, "peak", "what the machine can do at most; 32-bit reals", COLUMNS,
                             sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < turns(j) && st == RELA_OK; i++) {
        const size_t what = i % N_MEASURES, all = i / N_MEASURES;
        const rela_bench_spread v = rela_bench_spread_of(s->rates + i * j->rounds, j->rounds);
        rates[what][all] = v.median;
        if (j->n_threads == 1)
            rates[what][1] = v.median;
        const rela_bench_cell row[] = {
            rela_bench_text(NAMES[what]), rela_bench_number(all ? j->n_threads : 1),
            rela_bench_value(v), rela_bench_text(what == READING ? "GB/s" : "GFLOP/s"),
            rela_bench_number(what == READING ? (double)NAN : v.median / j->peak.multiply_adds[all])
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    rela_bench_spread share = rela_bench_spread_of(s->share, j->rounds);
    share = (rela_bench_spread){ 100 * share.median, 100 * share.low, 100 * share.high };
    const rela_bench_cell row[] = { rela_bench_text("processor time that we got"),
                                    rela_bench_number(1), rela_bench_value(share),
                                    rela_bench_text("%"), rela_bench_number((double)NAN) };
    return st ? st : rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
}

/* ---- work ---- */

static void multiply_adds_of(void *ctx, size_t begin, size_t end, int thread)
{
    load *l = ctx;
    (void)begin, (void)end;
    const double operations = l->k->multiply_adds(&l->sink[thread], CHAIN);
    if (thread == 0)
        l->total = operations * l->threads;
}

static void multiply_adds(void *ctx)
{
    load *l = ctx;
    rela_par_rows((size_t)l->threads, l->threads, multiply_adds_of, l);
}

static void read_part(void *ctx, size_t begin, size_t end, int thread)
{
    load *l = ctx;
    l->sink[thread] = l->k->sum_squares(l->memory + begin, end - begin);
}

static void read_memory(void *ctx)
{
    load *l = ctx;
    rela_par_rows(l->n, l->threads, read_part, l);
    l->total = (double)l->n * sizeof(real);
}

static void product_of(void *ctx, size_t begin, size_t end, int thread)
{
    const load *l = ctx;
    (void)begin, (void)end;
    real *x = l->memory + (size_t)thread * 3 * BIG * BIG;
    rela_gemm_nn(x, BIG, x + BIG * BIG, BIG, x + 2 * BIG * BIG, BIG, BIG, BIG, BIG, false);
}

static void product(void *ctx)
{
    const load *l = ctx;
    rela_par_rows((size_t)l->threads, l->threads, product_of, ctx);
}

rela_status rela_bench_product_rate(double *rate, int threads, double seconds, rela_error *err)
{
    load l = { .threads = threads, .n = (size_t)threads * 3 * BIG * BIG };
    l.memory = rela_mem_array(l.n, sizeof *l.memory);
    if (!l.memory)
        return rela_fail(err, RELA_NOMEM, "no memory for a large product");
    for (size_t i = 0; i < l.n; i++)
        l.memory[i] = (real)(i % 7) / 7;
    const double took = rela_bench_time(product, &l, seconds, threads);
    *rate = 2.0 * BIG * BIG * BIG * threads / took * 1e-9;
    rela_mem_free(l.memory);
    return RELA_OK;
}
