/* SPDX-License-Identifier: MIT */
/* bench/bench_data.c - reads a corpus, stores it, and walks epochs: time and memory of each step.
 *
 * bench_data [PAIRS]                      the built-in corpus of that size (default 1000000)
 * bench_data SRC TGT [TOKENS [MEMORY]]    a corpus of words; target tokens per batch, store bytes
 * Prints JSON lines. The store is small enough (256 MiB by default) to use its scratch file. */
#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/par.h"
#include "data/batch.h"
#include "grammar/builtin_corpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { VOCABULARY = 32000, FIRST_WORD = 3, EPOCHS = 2 };

static rela_status run(const char *src, const char *tgt, uint32_t tokens, uint64_t memory,
                       rela_error *err);
static rela_status walk(const rela_store *store, uint32_t tokens, rela_error *err);
static rela_status encode(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                          rela_error *err);
static rela_status run_builtin(uint64_t pairs, rela_error *err);
static double peak_megabytes(void);

int main(int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    const uint32_t tokens = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 4096;
    const uint64_t memory = argc > 4 ? strtoull(argv[4], NULL, 10) : 256 << 20;
    const rela_status st =
        argc > 2 ? run(argv[1], argv[2], tokens, memory, &err)
                 : run_builtin(argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000, &err);
    if (st != RELA_OK)
        (void)fprintf(stderr, "bench_data: %s\n", err.message);
    return st == RELA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

static rela_status run(const char *src, const char *tgt, uint32_t tokens, uint64_t memory,
                       rela_error *err)
{
    rela_store *store = NULL;
    rela_corpus_report report;
    const rela_corpus_files files = { { src, tgt } };
    rela_corpus_job job = { .files = &files,
                            .n_files = 1,
                            .n_sides = 2,
                            .n_threads = rela_par_threads(0),
                            .encode = encode };
    rela_corpus_rules_init(&job.rules, sizeof job.rules);
    const double start = rela_clock_seconds();
    rela_status st = rela_store_read(&store, &report, &job, memory, NULL, err);
    if (st != RELA_OK)
        return st;
    printf("{\"bench\": \"data\", \"what\": \"read\", \"pairs\": %" PRIu32 ", \"seconds\": %.2f, "
           "\"store_mb\": %.1f, \"on_disk\": %s, \"peak_rss_mb\": %.1f}\n",
           rela_store_size(store), rela_clock_seconds() - start,
           (double)rela_store_bytes(store) / 1e6, rela_store_on_disk(store) ? "true" : "false",
           peak_megabytes());
    st = walk(store, tokens, err);
    rela_store_destroy(store);
    return st;
}

static rela_status walk(const rela_store *store, uint32_t tokens, rela_error *err)
{
    rela_batches *batches = NULL;
    rela_batches_options o;
    rela_batches_options_init(&o, tokens);
    rela_status st = rela_batches_create(&batches, store, &o, err);
    for (int epoch = 0; epoch < EPOCHS && st == RELA_OK; epoch++) {
        const rela_padding before = rela_batches_padding(batches);
        rela_batch batch = { .last = false };
        double longest = 0, first = 0;
        const double start = rela_clock_seconds();
        while (!batch.last && st == RELA_OK) {
            const double begun = rela_clock_seconds();
            st = rela_batches_next(batches, &batch, err);
            const double spent = rela_clock_seconds() - begun;
            first = batch.start.sentences == 0 ? spent : first;
            longest = batch.start.sentences && spent > longest ? spent : longest;
        }
        const rela_padding after = rela_batches_padding(batches);
        printf("{\"bench\": \"data\", \"what\": \"epoch\", \"epoch\": %d, \"batches\": %" PRIu64
               ", \"seconds\": %.2f, \"first_batch_seconds\": %.3f, \"longest_wait_seconds\": "
               "%.3f, \"padding\": %.4f, \"peak_rss_mb\": %.1f}\n",
               epoch, after.batches - before.batches, rela_clock_seconds() - start, first, longest,
               rela_padding_share(after), peak_megabytes());
    }
    const double start = rela_clock_seconds();
    if (st == RELA_OK)
        st = rela_batches_seek(batches, (rela_position){ 7, rela_store_size(store) / 2 }, err);
    printf("{\"bench\": \"data\", \"what\": \"seek\", \"seconds\": %.3f, \"peak_rss_mb\": %.1f}\n",
           rela_clock_seconds() - start, peak_megabytes());
    rela_batches_destroy(batches);
    return st;
}

/* Ids are hashes of words: this costs about as much as a real vocabulary. */
static rela_status encode(void *ctx, const rela_corpus_line *line, int thread, rela_ids *out,
                          rela_error *err)
{
    (void)ctx, (void)thread;
    const char *at = line->text, *end = at + line->len;
    rela_span word;
    rela_status st = RELA_OK;
    while (st == RELA_OK && rela_next_word(&word, &at, end)) {
        const uint64_t hash = rela_map_hash(word.text, word.len);
        st = rela_ids_push(out, (int32_t)(FIRST_WORD + hash % (VOCABULARY - FIRST_WORD)), err);
    }
    return st;
}

static rela_status run_builtin(uint64_t pairs, rela_error *err)
{
    static const char *const FILES[] = { "train.src", "train.tgt", "train.align",
                                         "valid.src", "valid.tgt", "valid.align",
                                         "test.src",  "test.tgt",  "test.align" };
    char dir[256], src[300], tgt[300];
    const char *parent = getenv("TMPDIR");
    (void)snprintf(dir, sizeof dir, "%s/rela-bench-XXXXXX", parent ? parent : P_tmpdir);
    if (!mkdtemp(dir))
        return rela_fail(err, RELA_IO, "%s: cannot be made", dir);
    rela_corpus_made made;
    const rela_corpus_make_options o = {
        .dir = dir, .train = pairs, .valid = 500, .test = 500, .seed = 1
    };
    const double start = rela_clock_seconds();
    rela_status st = rela_corpus_make(&made, &o, err);
    printf("{\"bench\": \"data\", \"what\": \"make\", \"pairs\": %" PRIu64
           ", \"seconds\": %.2f, \"peak_rss_mb\": %.1f}\n",
           pairs, rela_clock_seconds() - start, peak_megabytes());
    (void)snprintf(src, sizeof src, "%s/train.src", dir);
    (void)snprintf(tgt, sizeof tgt, "%s/train.tgt", dir);
    if (st == RELA_OK)
        st = run(src, tgt, 4096, 256 << 20, err);
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        char path[300];
        (void)snprintf(path, sizeof path, "%s/%s", dir, FILES[i]);
        (void)remove(path);
    }
    (void)remove(dir);
    return st;
}

static double peak_megabytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss * 1024 / 1e6 : 0;
}
