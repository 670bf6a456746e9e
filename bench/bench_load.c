/* SPDX-License-Identifier: MIT */
/* bench/bench_load.c - time to save and load a model file with all checks, against reading its
 * bytes.
 *
 * bench_load [PRESET [VOCABULARY [ROUNDS]]]: prints one JSON line per measure; times in seconds,
 * the best and the median of the rounds, and the best in processor time. The file is in the page
 * cache, as after a copy or download. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "format/checkpoint.h"
#include "train/train_options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 99 };

static const char *path;
static rela_net net;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static rela_status load(int n_threads, rela_error *err)
{
    rela_net n;
    rela_extras e;
    const rela_checkpoint_options o = { .n_threads = n_threads };
    const rela_status st = rela_net_load(&n, &e, path, &o, err);
    rela_net_deinit(&n);
    rela_extras_deinit(&e);
    return st;
}

/* The lower bound: reading the bytes with one thread into fresh memory. */
static rela_status read_only(int n_threads, rela_error *err)
{
    char *bytes = NULL;
    rela_blob *b = NULL;
    (void)n_threads;
    rela_status st = rela_blob_open(&b, path, err);
    if (st == RELA_OK) {
        bytes = rela_mem_alloc((size_t)rela_blob_size(b));
        st = bytes ? rela_blob_read(b, bytes, (size_t)rela_blob_size(b), 0, err) : RELA_NOMEM;
    }
    rela_mem_free(bytes);
    rela_blob_close(b);
    return st;
}

static rela_status save(int n_threads, rela_error *err)
{
    const rela_checkpoint_options o = { .n_threads = n_threads };
    return rela_net_save(path, &net, NULL, &o, err);
}

static rela_status measure(const char *what, rela_status (*f)(int n_threads, rela_error *err),
                           int n_threads, int rounds, rela_error *err)
{
    double times[ROUNDS_MAX], cpu = 1e9;
    for (int i = 0; i < rounds; i++) {
        const double start = rela_clock_seconds(), used = (double)clock() / CLOCKS_PER_SEC;
        const rela_status st = f(n_threads, err);
        times[i] = rela_clock_seconds() - start;
        cpu = fmin(cpu, (double)clock() / CLOCKS_PER_SEC - used);
        if (st != RELA_OK)
            return st;
    }
    qsort(times, (size_t)rounds, sizeof *times, compare);
    const double mb = (double)(net.params.count * sizeof(real)) / 1e6;
    (void)printf("{\"bench\": \"%s\", \"threads\": %d, \"megabytes\": %.1f, \"best\": %.4f, "
                 "\"median\": %.4f, \"cpu\": %.4f, \"gigabytes_per_second\": %.2f}\n",
                 what, n_threads, mb, times[0], times[rounds / 2], cpu, mb / 1000 / times[0]);
    return RELA_OK;
}

int main(int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    char name[256];
    const char *parent = getenv("TMPDIR");
    (void)snprintf(name, sizeof name, "%s/rela-bench-XXXXXX", parent ? parent : P_tmpdir);
    const int rounds = argc > 3 ? atoi(argv[3]) : 9;
    const int fd = mkstemp(name);
    rela_status st = fd >= 0 && rounds >= 1 && rounds <= ROUNDS_MAX ? RELA_OK : RELA_ARG;
    if (fd >= 0)
        (void)close(fd);
    path = name;
    st = st ? st : rela_train_preset_config(&c, argc > 1 ? argv[1] : "base", &err);
    if (st == RELA_OK)
        c.vocab_src = c.vocab_tgt = argc > 2 ? (size_t)atol(argv[2]) : 31000;
    st = st ? st : rela_config_check(&c, &err);
    st = st ? st : rela_net_init(&net, &c, &err);
    if (st == RELA_OK)
        rela_params_init(net.weights, &net.params, 1);
    const int all = rela_par_threads(0);
    st = st ? st : measure("save", save, all, rounds, &err);
    st = st ? st : measure("read", read_only, 1, rounds, &err);
    st = st ? st : measure("load", load, 1, rounds, &err);
    if (all > 1)
        st = st ? st : measure("load", load, all, rounds, &err);
    (void)unlink(path);
    rela_net_deinit(&net);
    if (st != RELA_OK)
        (void)fprintf(stderr, "bench_load: %s\n", err.message);
    return st == RELA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
