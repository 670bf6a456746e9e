/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_translate.c - decoding random sentences with fresh weights, each forced to the
 * length of its source: in fp32 and int8, with the full vocabulary or a shortlist, batches of 1 or
 * 32, greedy and with a beam; and batches of 1 by source length, as in the paper's Fig. 2. */
#include "base/mem.h"
#include "base/rng.h"
#include "bench/bench_job.h"
#include "bench/bench_sentences.h"

enum {
    GROUP_SENTENCES = 3,
    GROUP_BEAM = 4,
    ALONE = 8, /* sentences per thread in batches of one */
    BATCHES = 2,
    BATCH = 32
};

typedef struct load {
    size_t batch, beam;
} load;

static const load LOADS[] = { { 1, 1 }, { 1, 4 }, { BATCH, 1 }, { BATCH, 4 } };
enum { N_LOADS = sizeof LOADS / sizeof LOADS[0] };

/* fp32 first: making int8 weights uses up those of the net. */
static const struct {
    const char *name;
    bool bytes, listed;
} FORMS[] = { { "fp32", false, false },
              { "fp32+list", false, true },
              { "int8", true, false },
              { "int8+list", true, true } };
enum { N_FORMS = sizeof FORMS / sizeof FORMS[0] };

typedef struct state {
    rela_bench_job *j;
    rela_bench_sentences texts[2]; /* for batches of one, and of many */
    rela_bench_sentences groups[RELA_BENCH_GROUPS];
    rela_shortlist *list;
    double *seconds;       /* (kind, form, load, round) */
    double *group_seconds; /* (kind, group, round) */
    /* of the current measurement */
    rela_search_pool *pool;
    const rela_bench_sentences *text;
    rela_search_options options;
    rela_status status;
    rela_error *err;
} state;

static size_t turns(const rela_bench_job *j);
static rela_status run(rela_bench_job *j, rela_error *err);
static rela_status make_texts(state *s, rela_error *err);
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err);
static rela_status report(const state *s, rela_error *err);
static rela_status report_groups(const state *s, rela_error *err);

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
    s->seconds = rela_mem_array(j->n_models * N_FORMS * N_LOADS * j->rounds, sizeof *s->seconds);
    s->group_seconds =
        rela_mem_array(j->n_models * RELA_BENCH_GROUPS * j->rounds, sizeof *s->group_seconds);
    rela_status st = s->seconds && s->group_seconds
                         ? rela_bench_list_make(&s->list, j, err)
                         : rela_fail(err, RELA_NOMEM, "no memory for sentences");
    st = st ? st : make_texts(s, err);
    st = st ? st : rela_bench_rounds(j, turns(j), turn, s, err);
    st = st ? st : report(s, err);
    st = st ? st : report_groups(s, err);
    for (size_t i = 0; i < 2 + RELA_BENCH_GROUPS; i++) {
        rela_bench_sentences *t = i < 2 ? &s->texts[i] : &s->groups[i - 2];
        rela_bench_sentences_deinit(t);
    }
    rela_shortlist_free(s->list);
    rela_mem_free(s->seconds);
    rela_mem_free(s->group_seconds);
    rela_mem_free(s);
    return st;
}

/* ---- sentences ---- */

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
        rela_bench_lengths_sample(lengths, counts[i], 13, 0.33, &r);
        st = rela_bench_sentences_init(&s->texts[i], j, lengths, counts[i], i ? BATCH : 1, err);
        st = st ? st : rela_bench_sentences_list(&s->texts[i], j, s->list, err);
    }
    rela_bench_lengths_sample(lengths, (size_t)RELA_BENCH_GROUPS * GROUP_SENTENCES, 25, 0.6,
                              &r); /* like news */
    for (size_t i = 0; i < RELA_BENCH_GROUPS && st == RELA_OK; i++) {
        rela_bench_sentences *t = &s->groups[i];
        st =
            rela_bench_sentences_init(t, j, lengths + i * GROUP_SENTENCES, GROUP_SENTENCES, 1, err);
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

static double measure(state *s, const rela_packed_weights *f, const rela_bench_sentences *t, load l,
                      bool listed, int threads)
{
    const rela_packed_weights *nets[] = { f };
    double took = 0;
    rela_search_options_init(&s->options);
    s->options.beam = l.beam;
    s->options.max_factor = s->options.min_factor = 1;
    s->options.max_extra = s->options.min_extra = 0;
    s->options.batch_sentences = l.batch;
    s->options.batch_tokens = l.batch * (RELA_BENCH_SENTENCE_MOST + 1);
    s->options.shortlist = listed ? s->list : NULL;
    s->text = t;
    s->status = rela_search_pool_create(&s->pool, nets, 1, threads, s->err);
    if (s->status == RELA_OK)
        took = rela_bench_time(work, s, s->j->o.seconds, threads);
    rela_search_pool_destroy(s->pool);
    s->pool = NULL;
    return took;
}

static rela_status measure_form(state *s, const rela_packed_weights *f, size_t kind, size_t form,
                                size_t round)
{
    const rela_bench_job *j = s->j;
    for (size_t i = 0; i < N_LOADS && s->status == RELA_OK; i++)
        s->seconds[((kind * N_FORMS + form) * N_LOADS + i) * j->rounds + round] = measure(
            s, f, &s->texts[LOADS[i].batch > 1], LOADS[i], FORMS[form].listed, j->n_threads);
    for (size_t i = 0; i < RELA_BENCH_GROUPS && form == 0 && s->status == RELA_OK; i++)
        s->group_seconds[(kind * RELA_BENCH_GROUPS + i) * j->rounds + round] =
            measure(s, f, &s->groups[i], (load){ 1, GROUP_BEAM }, false, 1);
    return s->status;
}

/* Creates a model for each turn: those of all kinds would not fit into memory together. */
static rela_status turn(void *ctx, size_t i, size_t round, rela_error *err)
{
    state *s = ctx;
    const rela_bench_job *j = s->j;
    rela_config c = j->config;
    rela_net net;
    s->err = err;
    s->status = RELA_OK;
    rela_status st = rela_config_attend(&c, j->models[i]->name, err);
    st = st ? st : rela_config_check(&c, err);
    st = st ? st : rela_net_init(&net, &c, err);
    if (st != RELA_OK)
        return st;
    rela_params_init(net.weights, &net.params, j->o.seed);
    rela_packed_weights f = { .net = NULL };
    for (size_t form = 0; form < N_FORMS && st == RELA_OK; form++) {
        if (form == 0) {
            st = rela_packed_weights_init(&f, &net, j->n_threads, err);
        } else if (FORMS[form].bytes && !FORMS[form - 1].bytes) {
            rela_packed_weights_deinit(&f);
            f = (rela_packed_weights){ .net = NULL };
            st = rela_packed_weights_init_int8(&f, &net, j->n_threads, err);
        }
        st = st ? st : measure_form(s, &f, i, form, round);
    }
    rela_packed_weights_deinit(&f);
    rela_net_deinit(&net);
    return st;
}

/* ---- tables ---- */

/* FLOPs of the matrix products of all sentences. */
static double flops_of(const rela_config *c, const rela_bench_sentences *t, size_t beam,
                       bool listed)
{
    const rela_bench_macs m = rela_bench_macs_of(c);
    const double wide = (double)beam;
    double sum = 0;
    for (size_t i = 0; i < t->n; i++) {
        const double n = (double)t->sources[i].text[0].n;
        const double dec = m.target + m.logit * (listed ? t->words[i] : (double)c->vocab_tgt);
        sum += (n + 1) * m.source + (1 + (n - 1) * wide) * dec;
    }
    return 2 * sum;
}

static double mean_words(const rela_bench_sentences *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->n; i++)
        sum += t->words[i];
    return sum / (double)t->n;
}

static rela_status report(const state *s, rela_error *err)
{
    static const rela_bench_column COLUMNS[] = {
        { "kind", "kind", RELA_BENCH_TEXT, 0 },
        { "form", "form", RELA_BENCH_TEXT, 0 },
        { "words", "words", RELA_BENCH_NUMBER, 0 },
        { "batch", "batch", RELA_BENCH_NUMBER, 0 },
        { "beam", "beam", RELA_BENCH_NUMBER, 0 },
        { "threads", "threads", RELA_BENCH_NUMBER, 0 },
        { "tokens_per_s", "tokens/s", RELA_BENCH_SPREAD, 0 },
        { "gflops", "GFLOP/s", RELA_BENCH_NUMBER, 1 },
        { "share", "of peak", RELA_BENCH_NUMBER, 2 },
        { "form_speed", "speed/fp32", RELA_BENCH_SPREAD, 2 },
        { "speed", "speed/softmax", RELA_BENCH_SPREAD, 2 },
    };
    rela_bench_job *j = s->j;
    rela_bench_table *table = rela_bench_table_new(
        j, "translate",
        "target tokens per second, sentences of about 13 tokens, with all words or a shortlist; "
        "share of multiply-adds in fp32",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    const size_t each = N_FORMS * N_LOADS;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < j->n_models * each && st == RELA_OK; i++) {
        const size_t kind = i / each, form = i / N_LOADS % N_FORMS;
        const load l = LOADS[i % N_LOADS];
        const rela_bench_sentences *t = &s->texts[l.batch > 1];
        const double *seconds = s->seconds + i * j->rounds;
        const bool listed = FORMS[form].listed;
        const double flops = flops_of(&j->config, t, l.beam, listed) * 1e-9;
        const double rate = rela_bench_quotients(flops, NULL, seconds, j->rounds).median;
        const double *plain = s->seconds + (kind * each + i % N_LOADS) * j->rounds;
        const rela_bench_spread speed =
            rela_bench_quotients(1, s->seconds + i % each * j->rounds, seconds, j->rounds);
        if (form == 0 && i % N_LOADS == N_LOADS - 1)
            j->r.decode[kind] = speed.median;
        const rela_bench_cell row[] = {
            rela_bench_text(j->models[kind]->name),
            rela_bench_text(FORMS[form].name),
            rela_bench_number(listed ? mean_words(t) : (double)j->config.vocab_tgt),
            rela_bench_number((double)l.batch),
            rela_bench_number((double)l.beam),
            rela_bench_number(j->n_threads),
            rela_bench_value(rela_bench_quotients((double)t->tokens, NULL, seconds, j->rounds)),
            rela_bench_number(rate),
            rela_bench_number(rate / j->peak.multiply_adds[1]),
            rela_bench_value(rela_bench_quotients(1, plain, seconds, j->rounds)),
            rela_bench_value(speed),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}

static rela_status report_groups(const state *s, rela_error *err)
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
    rela_bench_table *table =
        rela_bench_table_new(j, "lengths",
                             "Fig. 2: one sentence at a time by source length in ten groups, beam "
                             "4, fp32, one thread",
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
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}
