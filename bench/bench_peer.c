/* SPDX-License-Identifier: MIT */
/* bench/bench_peer.c - our side of `python3 bench/peers translate`.
 *   bench_peer make PRESET KIND FILE      a model with random weights and a vocabulary of numbers
 *   bench_peer run FILE SOURCES BATCH BEAM THREADS [float32|int8]
 * run loads the model, prints {"load_s"}, and for every line of standard input translates all of
 * SOURCES (a line of ids per sentence; neighbours form a batch, each sentence is forced to the
 * length of its source) and prints what it took. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "decode/engine.h"
#include "format/packed_load.h"
#include "train/train_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LEN_MAX = 64, SOURCES_MAX = 1 << 16 };

typedef struct bench {
    rela_net net;
    rela_packed_weights packed;
    rela_source *sources;
    int32_t *ids;
    size_t n, tokens, batch, beam;
    int threads;
    bool int8;
} bench;

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Largest resident size so far, in MB. */
static double peak_mb(void)
{
    char line[128];
    double kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kb = strtod(line + 6, NULL);
    if (f)
        (void)fclose(f);
    return kb / 1024;
}

static rela_status make(const char *preset, const char *kind, const char *path, rela_error *err)
{
    static const char SETTINGS[] =
        "{\"src\": {\"language\": \"en\", \"lowercase\": false, \"normalise\": false, "
        "\"tokenise\": "
        "false}, \"tgt\": {\"language\": \"de\", \"lowercase\": false, \"normalise\": false, "
        "\"tokenise\": false}}";
    rela_config c;
    rela_net net = { .weights = NULL };
    rela_extras extras = { 0 };
    rela_buffer words = RELA_BUFFER_INIT;
    rela_status st = rela_train_preset_config(&c, preset, err);
    if (st != RELA_OK)
        return st;
    c.vocab_src = c.vocab_tgt = strcmp(preset, "tiny") == 0 ? 10000 : 32000;
    st = rela_config_attend(&c, kind, err);
    st = st ? st : rela_config_check(&c, err);
    st = st ? st : rela_net_init(&net, &c, err);
    st = st ? st : rela_buffer_append_text(&words, "<pad>\n<unk>\n<eos>\n", err);
    for (size_t i = 3; i < c.vocab_tgt && st == RELA_OK; i++)
        st = rela_buffer_printf(&words, err, "w%zu\n", i);
    st = st ? st : rela_extras_set(&extras, RELA_SECTION_VOCAB_SRC, words.data, words.len, err);
    st = st ? st : rela_extras_set(&extras, RELA_SECTION_VOCAB_TGT, words.data, words.len, err);
    st = st ? st
            : rela_extras_set(&extras, RELA_SECTION_PIPELINE, SETTINGS, sizeof SETTINGS - 1, err);
    if (st == RELA_OK) {
        rela_params_init(net.weights, &net.params, 1);
        st = rela_net_save(path, &net, &extras, NULL, err);
    }
    rela_buffer_free(&words);
    rela_extras_deinit(&extras);
    rela_net_deinit(&net);
    return st;
}

static rela_status read_sources(bench *b, const char *path, rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    rela_span line;
    rela_status st = rela_file_read(&text, &len, path, 0, err);
    b->sources = rela_mem_array(SOURCES_MAX, sizeof *b->sources);
    b->ids = rela_mem_array((size_t)SOURCES_MAX * LEN_MAX, sizeof *b->ids);
    const char *at = text, *end = text + len;
    while (st == RELA_OK && b->n < SOURCES_MAX && rela_next_line(&line, &at, end)) {
        int32_t *ids = b->ids + b->n * LEN_MAX;
        size_t n = 0;
        rela_span word;
        for (const char *w = line.text;
             n < LEN_MAX && rela_next_word(&word, &w, line.text + line.len);)
            ids[n++] = (int32_t)strtol(word.text, NULL, 10);
        b->sources[b->n] = (rela_source){ .text = { { ids, n } }, .number = b->n };
        b->tokens += n;
        b->n++;
    }
    rela_mem_free(text);
    return st;
}

static rela_status run_once(const bench *b, rela_engine *searcher, rela_search_pool *pool,
                            rela_error *err)
{
    rela_search_options o;
    rela_status st = RELA_OK;
    rela_search_options_init(&o);
    o.beam = b->beam;
    o.max_factor = o.min_factor = 1;
    o.max_extra = o.min_extra = 0;
    o.batch_sentences = b->batch;
    o.batch_tokens = b->batch * (LEN_MAX + 1);
    if (b->threads > 1) {
        rela_search_results *all = NULL;
        st = rela_search_pool_run(&all, pool, b->sources, b->n, &o, err);
        rela_search_results_free(all);
        return st;
    }
    rela_search_result *results = rela_mem_array(b->batch, sizeof *results);
    for (size_t i = 0; i < b->n && st == RELA_OK; i += b->batch)
        st = rela_search_run(searcher, results, b->sources + i,
                             b->n - i < b->batch ? b->n - i : b->batch, &o, err);
    rela_mem_free(results);
    return st;
}

static rela_status run(bench *b, const char *model, const char *sources, rela_error *err)
{
    char line[64];
    const double start = rela_clock_seconds(), start_cpu = cpu_seconds();
    const rela_checkpoint_options o = { .n_threads = b->threads };
    rela_engine *searcher = NULL;
    rela_search_pool *pool = NULL;
    rela_extras extras = { 0 };
    rela_status st =
        rela_packed_weights_load(&b->packed, &b->net, &extras, model, b->int8, &o, err);
    rela_extras_deinit(&extras);
    const rela_packed_weights *nets[] = { &b->packed };
    const double load = rela_clock_seconds() - start, load_cpu = cpu_seconds() - start_cpu;
    st = st ? st : rela_engine_create(&searcher, nets, 1, err);
    st = st ? st : rela_search_pool_create(&pool, nets, 1, b->threads, err);
    st = st ? st : read_sources(b, sources, err);
    if (st == RELA_OK)
        (void)printf("{\"load_s\": %.4f, \"load_cpu_s\": %.4f, \"rss_mb\": %.1f}\n", load, load_cpu,
                     peak_mb());
    while (st == RELA_OK && fflush(stdout) == 0 && fgets(line, sizeof line, stdin)) {
        const double clock = rela_clock_seconds(), cpu = cpu_seconds();
        st = run_once(b, searcher, pool, err);
        (void)printf("{\"tokens\": %zu, \"clock_s\": %.5f, \"cpu_s\": %.5f, \"rss_mb\": %.1f}\n",
                     b->tokens, rela_clock_seconds() - clock, cpu_seconds() - cpu, peak_mb());
    }
    rela_engine_destroy(searcher);
    rela_search_pool_destroy(pool);
    rela_packed_weights_deinit(&b->packed);
    rela_net_deinit(&b->net);
    rela_mem_free(b->sources);
    rela_mem_free(b->ids);
    return st;
}

int main(int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    rela_status st = RELA_ARG;
    bench b = { .n = 0 };
    if (argc == 5 && strcmp(argv[1], "make") == 0) {
        st = make(argv[2], argv[3], argv[4], &err);
    } else if (argc >= 7 && strcmp(argv[1], "run") == 0) {
        b.batch = (size_t)strtol(argv[4], NULL, 10);
        b.beam = (size_t)strtol(argv[5], NULL, 10);
        b.threads = (int)strtol(argv[6], NULL, 10);
        b.int8 = argc > 7 && strcmp(argv[7], "int8") == 0;
        st = run(&b, argv[2], argv[3], &err);
    } else {
        (void)rela_fail(&err, RELA_ARG, "see the head of bench/bench_peer.c");
    }
    if (st != RELA_OK)
        (void)fprintf(stderr, "bench_peer: %s\n", err.message);
    return st != RELA_OK;
}
