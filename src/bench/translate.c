/* SPDX-License-Identifier: MIT */
/* src/bench/translate.c - decoding random sentences with fresh weights, each forced to the length
 * of its source: in 32 and 8 bits, one sentence or 32 at a time, greedy and with a beam; and one at
 * a time by the length of the source, as in the paper's Fig. 2. */
#include "base/mem.h"
#include "base/rng.h"
#include "bench/job.h"
#include "decode/search.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_WORD = 4,
    LENGTH_LEAST = 4,
    LENGTH_MOST = 100,
    GROUP_SENTENCES = 3,
    GROUP_BEAM = 4,
    ALONE = 8, /* sentences of a thread that takes one at a time */
    BATCHES = 2,
    FORMS = 2,
    BATCH = 32
};

/* A set of sentences. */
typedef struct text {
    rela_source *sources;
    int32_t *ids;
    size_t n, tokens;
} text;

typedef struct load {
    size_t batch, beam;
} load;

static const load LOADS[] = { { 1, 1 }, { 1, 4 }, { BATCH, 1 }, { BATCH, 4 } };
enum { N_LOADS = sizeof LOADS / sizeof LOADS[0] };
static const char *const FORM_NAMES[FORMS] = { "fp32", "int8" };

typedef struct state {
    rela_bench_job *j;
    text texts[2]; /* for batches of one, and of many */
    text groups[RELA_BENCH_GROUPS];
    double *seconds;       /* (kind, form, load, round) */
    double *group_seconds; /* (kind, group, round) */
    /* of this measurement */
    rela_search_pool *pool;
    const text *text;
    rela_search_options options;
    rela_status status;
    rela_error *err;
} state;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status make_texts(state *s, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status tell(const state *s, rela_error *err);
static rela_status tell_groups(const state *s, rela_error *err);

const rela_bench_part rela_bench_part_translate = { .flag = RELA_BENCH_TRANSLATE,
                                                    .turns = turns,
                                                    .run = run };

static size_t turns(const rela_bench_job *j)
{
    return j->n_models;
}

static rela_status run(rela_bench_job *j, rela_error *err)
{
    state *s = rela_mem_zalloc(sizeof *s);
    if (!s)
        return rela_fail(err, RELA_NOMEM, "no memory for sentences");
    s->j = j;
    s->seconds = rela_mem_array(j->n_models * FORMS * N_LOADS * j->rounds, sizeof *s->seconds);
    s->group_seconds =
        rela_mem_array(j->n_models * RELA_BENCH_GROUPS * j->rounds, sizeof *s->group_seconds);
    rela_status st = s->seconds && s->group_seconds
                         ? make_texts(s, err)
                         : rela_fail(err, RELA_NOMEM, "no memory for sentences");
    st = st ? st : rela_bench_rounds(j, turns(j), turn, s, err);
    st = st ? st : tell(s, err);
    st = st ? st : tell_groups(s, err);
    for (size_t i = 0; i < 2 + RELA_BENCH_GROUPS; i++) {
        text *t = i < 2 ? &s->texts[i] : &s->groups[i - 2];
        rela_mem_free(t->sources);
        rela_mem_free(t->ids);
    }
    rela_mem_free(s->seconds);
    rela_mem_free(s->group_seconds);
    rela_mem_free(s);
    return st;
}

/* ---- sentences ---- */

static int rising(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Lengths like those of text, log-normal around a median, sorted. */
static void draw_lengths(size_t *lengths, size_t n, double median, double spread, rela_rng *r)
{
    for (size_t i = 0; i < n; i++) {
        const double x = round(median * exp(spread * rela_rng_normal(r)));
        lengths[i] = (size_t)fmin(LENGTH_MOST, fmax(LENGTH_LEAST, x));
    }
    qsort(lengths, n, sizeof *lengths, rising);
}

/* Sentences of a batch get one length, so that all have work until its end. */
static rela_status make_text(text *t, const rela_bench_job *j, const size_t *lengths, size_t n,
                             size_t batch, rela_error *err)
{
    rela_rng r = rela_rng_start(j->o.seed, 3 + n);
    t->n = n;
    t->sources = rela_mem_zalloc(n * sizeof *t->sources);
    t->ids = rela_mem_array(n * LENGTH_MOST, sizeof *t->ids);
    if (!t->sources || !t->ids)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu sentences", n);
    for (size_t i = 0; i < n; i++) {
        const size_t first = i / batch * batch, count = n - first < batch ? n - first : batch;
        int32_t *ids = t->ids + i * LENGTH_MOST;
        t->sources[i] = (rela_source){ .ids = ids, .n = lengths[first + count / 2], .number = i };
        for (size_t k = 0; k < t->sources[i].n; k++)
            ids[k] = (int32_t)rela_rng_below(&r, j->config.vocab_src - FIRST_WORD) + FIRST_WORD;
        t->tokens += t->sources[i].n;
    }
    return RELA_OK;
}

static rela_status make_texts(state *s, rela_error *err)
{
    rela_bench_job *j = s->j;
    const size_t threads = (size_t)j->n_threads;
    const size_t counts[] = { ALONE * threads, (size_t)BATCH * BATCHES * threads };
    size_t *lengths =
        rela_mem_array(counts[1] + RELA_BENCH_GROUPS * GROUP_SENTENCES, sizeof *lengths);
    if (!lengths)
        return rela_fail(err, RELA_NOMEM, "no memory for sentences");
    rela_rng r = rela_rng_start(j->o.seed, 3);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < 2 && st == RELA_OK; i++) { /* like captions */
        draw_lengths(lengths, counts[i], 13, 0.33, &r);
        st = make_text(&s->texts[i], j, lengths, counts[i], i ? BATCH : 1, err);
    }
    draw_lengths(lengths, (size_t)RELA_BENCH_GROUPS * GROUP_SENTENCES, 25, 0.6, &r); /* like news */
    for (size_t i = 0; i < RELA_BENCH_GROUPS && st == RELA_OK; i++) {
        text *t = &s->groups[i];
        st = make_text(t, j, lengths + i * GROUP_SENTENCES, GROUP_SENTENCES, 1, err);
        j->r.group_length[i] = (double)t->tokens / GROUP_SENTENCES;
    }
    rela_mem_free(lengths);
    return st;
}

/* ---- one turn: all cases of a kind ---- */

static void work(void *ctx)
{
    state *s = ctx;
    rela_search_results *all = NULL;
    if (s->status == RELA_OK)
        s->status =
            rela_search_pool_run(&all, s->pool, s->text->sources, s->text->n, &s->options, s->err);
    rela_search_results_free(all);
}

static double measure(state *s, const rela_frozen *f, const text *t, load l, int threads)
{
    const rela_frozen *nets[] = { f };
    double took = 0;
    rela_search_options_init(&s->options);
    s->options.beam = l.beam;
    s->options.max_factor = s->options.min_factor = 1;
    s->options.max_extra = s->options.min_extra = 0;
    s->options.batch_sentences = l.batch;
    s->options.batch_tokens = l.batch * (LENGTH_MOST + 1);
    s->text = t;
    s->status = rela_search_pool_create(&s->pool, nets, 1, threads, s->err);
    if (s->status == RELA_OK)
        took = rela_bench_time(work, s, s->j->o.seconds, threads);
    rela_search_pool_destroy(s->pool);
    s->pool = NULL;
    return took;
}

static rela_status measure_form(state *s, const rela_frozen *f, size_t kind, size_t form,
                                size_t round)
{
    const rela_bench_job *j = s->j;
    for (size_t i = 0; i < N_LOADS && s->status == RELA_OK; i++)
        s->seconds[((kind * FORMS + form) * N_LOADS + i) * j->rounds + round] =
            measure(s, f, &s->texts[LOADS[i].batch > 1], LOADS[i], j->n_threads);
    for (size_t i = 0; i < RELA_BENCH_GROUPS && form == 0 && s->status == RELA_OK; i++)
        s->group_seconds[(kind * RELA_BENCH_GROUPS + i) * j->rounds + round] =
            measure(s, f, &s->groups[i], (load){ 1, GROUP_BEAM }, 1);
    return s->status;
}

/* A model for each turn: those of all kinds would not fit into memory together. */
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    const rela_bench_job *j = s->j;
    rela_config c = j->config;
    rela_net net;
    s->err = err;
    s->status = RELA_OK;
    for (int t = 0; t < RELA_ATTN_N_TYPES; t++)
        c.kind[t] = j->models[i];
    rela_status st = rela_config_check(&c, err);
    st = st ? st : rela_net_init(&net, &c, err);
    if (st != RELA_OK)
        return st;
    rela_params_init(net.weights, &net.layout.params, j->o.seed);
    for (size_t form = 0; form < FORMS && st == RELA_OK; form++) {
        rela_frozen f = { .net = NULL };
        st = form ? rela_frozen_init_bytes(&f, &net, j->n_threads, err)
                  : rela_frozen_init_with(&f, &net, j->n_threads, err);
        st = st ? st : measure_form(s, &f, i, form, round);
        rela_frozen_deinit(&f);
    }
    rela_net_deinit(&net);
    return st;
}

/* ---- sheets ---- */

/* Operations of the products of all sentences. */
static double flops_of(const rela_config *c, const text *t, size_t beam)
{
    const double d = (double)c->d, f = (double)c->ffn, wide = (double)beam;
    const double enc = (double)c->enc_layers * (4 * d * d + 2 * d * f);
    const double cross = (double)c->dec_layers * 2 * d * d;
    const double dec = (double)c->dec_layers * (6 * d * d + 2 * d * f) + d * (double)c->vocab_tgt;
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double n = (double)t->sources[i].n;
        sum += (n + 1) * (enc + cross) + (1 + (n - 1) * wide) * dec;
    }
    return 2 * sum;
}

static rela_status tell(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "kind", "kind", RELA_BENCH_TEXT, 0 },
        { "form", "form", RELA_BENCH_TEXT, 0 },
        { "batch", "batch", RELA_BENCH_NUMBER, 0 },
        { "beam", "beam", RELA_BENCH_NUMBER, 0 },
        { "threads", "threads", RELA_BENCH_NUMBER, 0 },
        { "tokens_per_s", "tokens/s", RELA_BENCH_SPREAD, 0 },
        { "gflops", "GFLOP/s", RELA_BENCH_NUMBER, 1 },
        { "share", "of peak", RELA_BENCH_NUMBER, 2 },
        { "speed", "speed/softmax", RELA_BENCH_SPREAD, 2 },
    };
    rela_bench_job *j = s->j;
    rela_bench_sheet *sheet = rela_bench_sheet_new(
        j, "translate",
        "target tokens per second, sentences of about 13 tokens; products as a "
        "share of multiply-adds in 32 bits",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    const size_t each = FORMS * N_LOADS;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_models * each && st == RELA_OK; i++) {
        const size_t kind = i / each, form = i / N_LOADS % FORMS;
        const load l = LOADS[i % N_LOADS];
        const text *t = &s->texts[l.batch > 1];
        const double *seconds = s->seconds + i * j->rounds;
        const double rate =
            rela_bench_quotients(flops_of(&j->config, t, l.beam) * 1e-9, NULL, seconds, j->rounds)
                .median;
        const rela_bench_spread speed =
            rela_bench_quotients(1, s->seconds + i % each * j->rounds, seconds, j->rounds);
        if (form == 0 && i % N_LOADS == N_LOADS - 1)
            j->r.decode[kind] = speed.median;
        const rela_bench_cell row[] = {
            rela_bench_text(j->models[kind]->name),
            rela_bench_text(FORM_NAMES[form]),
            rela_bench_number((double)l.batch),
            rela_bench_number((double)l.beam),
            rela_bench_number(j->n_threads),
            rela_bench_value(rela_bench_quotients((double)t->tokens, NULL, seconds, j->rounds)),
            rela_bench_number(rate),
            rela_bench_number(rate / j->peak.multiply_adds[1]),
            rela_bench_value(speed),
        };
        st = rela_bench_sheet_add(sheet, row, err);
    }
    return st;
}

static rela_status tell_groups(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "kind", "kind", RELA_BENCH_TEXT, 0 },
        { "group", "group", RELA_BENCH_NUMBER, 0 },
        { "length", "length", RELA_BENCH_NUMBER, 1 },
        { "tokens_per_s", "tokens/s", RELA_BENCH_SPREAD, 0 },
        { "ms", "ms/sentence", RELA_BENCH_NUMBER, 2 },
        { "speed", "speed/softmax", RELA_BENCH_SPREAD, 2 },
    };
    rela_bench_job *j = s->j;
    rela_bench_sheet *sheet =
        rela_bench_sheet_new(j, "lengths",
                             "Fig. 2: one sentence at a time by source length in ten groups, beam "
                             "4, 32 bits, one thread",
                             COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_models * RELA_BENCH_GROUPS && st == RELA_OK; i++) {
        const size_t kind = i / RELA_BENCH_GROUPS, group = i % RELA_BENCH_GROUPS;
        const double *seconds = s->group_seconds + i * j->rounds;
        const double tokens = (double)s->groups[group].tokens;
        const rela_bench_spread rate = rela_bench_quotients(tokens, NULL, seconds, j->rounds);
        j->r.group_speed[kind][group] = rate.median;
        const rela_bench_cell row[] = {
            rela_bench_text(j->models[kind]->name),
            rela_bench_number((double)group + 1),
            rela_bench_number(j->r.group_length[group]),
            rela_bench_value(rate),
            rela_bench_number(1e3 * tokens / GROUP_SENTENCES / rate.median),
            rela_bench_value(
                rela_bench_quotients(1, s->group_seconds + group * j->rounds, seconds, j->rounds)),
        };
        st = rela_bench_sheet_add(sheet, row, err);
    }
    return st;
}
