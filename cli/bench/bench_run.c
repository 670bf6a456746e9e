/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_run.c - rela_bench: checks the options, runs the parts, writes the results. */
#include "bench/bench.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"
#include "base/sized.h"
#include "bench/bench_job.h"
#include "format/checkpoint.h"
#include "kern/gemm.h"
#include "train/train_options.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { LENGTH_MAX = 1 << 16, SLOT_TOKENS_MOST = 1 << 16, CPU_NAME = 96, CPU_FILE_MAX = 1 << 20 };
static const double SECONDS_MOST = 3600;
static const double ZEROS_MOST = 0.99;
static const double LINK_LEAST = 0.001, LINK_MOST = 1e5; /* Gb/s */

/* The peak comes first, since the other rates are given as shares of it. */
static const rela_bench_part *const PARTS[] = {
    &rela_bench_part_peak,      &rela_bench_part_attention, &rela_bench_part_weights,
    &rela_bench_part_gradients, &rela_bench_part_train,     &rela_bench_part_products,
    &rela_bench_part_translate, &rela_bench_part_scale,
};
enum { N_PARTS = sizeof PARTS / sizeof PARTS[0] };

static rela_status take_options(rela_bench_job *j, const rela_bench_options *o, rela_error *err);
static rela_status take_sizes(rela_bench_job *j, rela_error *err);
static rela_status take_kinds(rela_bench_job *j, rela_error *err);
static rela_status take_lengths(rela_bench_job *j, rela_error *err);
static rela_status take_links(rela_bench_job *j, rela_error *err);
static rela_status append_text(rela_buffer *out, const rela_bench_job *j, rela_error *err);
static rela_status append_json(rela_buffer *out, const rela_bench_job *j, rela_error *err);
static rela_status write_files(rela_bench_job *j, const rela_buffer *json, rela_error *err);

void rela_bench_options_init(rela_bench_options *o, size_t size)
{
    const rela_bench_options defaults = { .struct_size = size,
                                          .parts = RELA_BENCH_ALL,
                                          .preset = "tiny",
                                          .train_length = 25,
                                          .rounds = 3,
                                          .seconds = 0.02,
                                          .seed = 1,
                                          .slot_tokens = 512 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_bench(rela_buffer *table, rela_buffer *json, const rela_bench_options *o,
                       rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_bench_job *j = rela_mem_zalloc(sizeof *j);
    if (!j)
        return rela_fail(err, RELA_NOMEM, "no memory for measurements");
    rela_status st = take_options(j, o, err);
    st = st ? st : rela_gemm_start(err);
    if (st == RELA_OK && j->o.out)
        st = rela_dir_make(j->o.out, err);
    for (size_t i = 0; i < N_PARTS; i++)
        if (st == RELA_OK && (!PARTS[i]->flag || (j->o.parts & PARTS[i]->flag)))
            j->total += PARTS[i]->turns(j) * j->rounds;
    for (size_t i = 0; i < N_PARTS; i++)
        if (st == RELA_OK && (!PARTS[i]->flag || (j->o.parts & PARTS[i]->flag)))
            st = PARTS[i]->run(j, err);
    st = st ? st : rela_bench_paper(j, err);
    st = st ? st : append_json(&text, j, err);
    if (st == RELA_OK && j->o.out)
        st = write_files(j, &text, err);
    if (st == RELA_OK && json)
        st = rela_buffer_append(json, text.data, text.len, err);
    if (st == RELA_OK && table)
        st = append_text(table, j, err);
    for (size_t i = 0; i < j->n_tables; i++)
        rela_bench_table_deinit(&j->tables[i]);
    rela_buffer_free(&text);
    rela_net_deinit(&j->trained);
    rela_mem_free(j);
    return st;
}

/* ---- options ---- */

static void clear_results(rela_bench_results *r)
{
    for (size_t i = 0; i < RELA_BENCH_KINDS_MAX; i++) {
        r->train[i] = r->decode[i] = r->norm[i] = (double)NAN;
        for (size_t k = 0; k < RELA_BENCH_LENGTHS_MAX; k++)
            r->kernel[i][k] = r->shifted[i][k] = r->weigh[i][k] = (double)NAN;
    }
}

/* Vocabulary size of a preset. */
static size_t vocabulary_of(const char *preset)
{
    return strcmp(preset, "demo") == 0 ? 2000 : strcmp(preset, "tiny") == 0 ? 10000 : 32000;
}

static rela_status take_options(rela_bench_job *j, const rela_bench_options *o, rela_error *err)
{
    rela_bench_options_init(&j->o, sizeof j->o);
    rela_status st = rela_sized_take(&j->o, sizeof j->o, o, "rela_bench_options", err);
    if (st != RELA_OK)
        return st;
    if (j->o.parts < 1 || j->o.parts > (RELA_BENCH_ALL | RELA_BENCH_SCALE))
        return rela_fail(err, RELA_ARG, "nothing to measure");
    if (j->o.rounds < 1 || j->o.rounds > RELA_BENCH_ROUNDS_MAX)
        return rela_fail(err, RELA_ARG, "%d rounds; expected 1..%d", (int)j->o.rounds,
                         RELA_BENCH_ROUNDS_MAX);
    if (!(j->o.seconds >= 0 && j->o.seconds <= SECONDS_MOST))
        return rela_fail(err, RELA_ARG, "%g seconds; expected 0..%g", j->o.seconds, SECONDS_MOST);
    if (j->o.train_length < 1 || j->o.train_length > RELA_LEN_MAX)
        return rela_fail(err, RELA_ARG, "sentences of %d tokens; expected 1..%d",
                         (int)j->o.train_length, (int)RELA_LEN_MAX);
    if (!(j->o.zeros >= 0 && j->o.zeros <= ZEROS_MOST))
        return rela_fail(err, RELA_ARG, "%g of the weights zero; expected 0..%g", j->o.zeros,
                         ZEROS_MOST);
    st = take_sizes(j, err);
    if (st != RELA_OK)
        return st;
    if ((size_t)j->o.train_length > j->config.max_len)
        j->config.max_len = (size_t)j->o.train_length;
    j->k = rela_kern_get();
    j->n_threads = rela_par_threads(j->o.n_threads);
    j->rounds = (size_t)j->o.rounds;
    clear_results(&j->r);
    st = take_kinds(j, err);
    st = st ? st : take_lengths(j, err);
    return st ? st : take_links(j, err);
}

static rela_status take_sizes(rela_bench_job *j, rela_error *err)
{
    if (!j->o.model) {
        const rela_status st =
            rela_train_preset_config(&j->config, j->o.preset ? j->o.preset : "", err);
        if (st == RELA_OK)
            j->config.vocab_src = j->config.vocab_tgt = vocabulary_of(j->o.preset);
        return st;
    }
    const rela_checkpoint_options o = { .n_threads = (int)j->o.n_threads };
    const rela_status st = rela_net_load(&j->trained, NULL, j->o.model, &o, err);
    if (st != RELA_OK)
        return st;
    j->config = j->trained.config;
    if (j->config.task != RELA_TASK_TRANSLATE)
        return rela_fail(err, RELA_ARG, "%s: a model for alignment; its speed is not measured",
                         j->o.model);
    for (size_t i = 0; i < j->trained.list.n_stacks; i++) {
        const char *kind = j->config.attention[j->trained.list.stacks[i].type].text;
        if (strcmp(kind, j->config.attention[0].text) != 0 || !rela_attn_kind_find(kind))
            return rela_fail(err, RELA_ARG, "%s: several kinds of attention in one model",
                             j->o.model);
    }
    return RELA_OK;
}

static void add_kind(const rela_attn_kind **list, size_t *n, const rela_attn_kind *kind)
{
    for (size_t i = 0; i < *n; i++)
        if (list[i] == kind)
            return;
    if (*n < RELA_BENCH_KINDS_MAX)
        list[(*n)++] = kind;
}

static rela_status take_kinds(rela_bench_job *j, rela_error *err)
{
    static const char *const TABLE_2[] = { "softmax", "sparsemax", "entmax15", "rela-g" };
    add_kind(j->kinds, &j->n_kinds, rela_attn_kind_find(TABLE_2[0]));
    add_kind(j->models, &j->n_models, rela_attn_kind_find(TABLE_2[0]));
    for (size_t i = 0; i < j->o.n_kinds; i++) {
        const rela_attn_kind *kind = rela_attn_kind_find(j->o.kinds[i]);
        if (!kind)
            return rela_fail(err, RELA_ARG, "unknown kind of attention '%s'", j->o.kinds[i]);
        add_kind(j->kinds, &j->n_kinds, kind);
        add_kind(j->models, &j->n_models, kind);
    }
    if (j->o.model) {
        add_kind(j->kinds, &j->n_kinds, rela_attn_kind_find(j->config.attention[0].text));
        add_kind(j->models, &j->n_models, rela_attn_kind_find(j->config.attention[0].text));
    }
    for (size_t i = 0; j->o.n_kinds == 0 && rela_attn_kind_at(i); i++)
        add_kind(j->kinds, &j->n_kinds, rela_attn_kind_at(i));
    for (size_t i = 0; j->o.n_kinds == 0 && i < sizeof TABLE_2 / sizeof TABLE_2[0]; i++)
        add_kind(j->models, &j->n_models, rela_attn_kind_find(TABLE_2[i]));
    return RELA_OK;
}

static rela_status take_lengths(rela_bench_job *j, rela_error *err)
{
    static const uint32_t USUAL[] = { 25, 100, 1000, 4000 };
    const uint32_t *lengths = j->o.n_lengths ? j->o.lengths : USUAL;
    j->n_lengths = j->o.n_lengths ? j->o.n_lengths : sizeof USUAL / sizeof USUAL[0];
    if (j->n_lengths > RELA_BENCH_LENGTHS_MAX)
        return rela_fail(err, RELA_ARG, "%zu lengths; expected at most %d", j->n_lengths,
                         (int)RELA_BENCH_LENGTHS_MAX);
    for (size_t i = 0; i < j->n_lengths; i++) {
        if (lengths[i] < 1 || lengths[i] > LENGTH_MAX)
            return rela_fail(err, RELA_ARG, "length %u; expected 1..%d", (unsigned)lengths[i],
                             (int)LENGTH_MAX);
        j->lengths[i] = lengths[i];
    }
    return RELA_OK;
}

static rela_status take_links(rela_bench_job *j, rela_error *err)
{
    static const double USUAL[] = { 1, 10, 100 };
    const double *links = j->o.n_links ? j->o.links : USUAL;
    j->n_links = j->o.n_links ? j->o.n_links : sizeof USUAL / sizeof USUAL[0];
    if (j->n_links > RELA_BENCH_LINKS_MAX)
        return rela_fail(err, RELA_ARG, "%zu links; expected at most %d", j->n_links,
                         (int)RELA_BENCH_LINKS_MAX);
    if (j->o.slot_tokens < 1 || j->o.slot_tokens > SLOT_TOKENS_MOST)
        return rela_fail(err, RELA_ARG, "slots of %d tokens; expected 1..%d", (int)j->o.slot_tokens,
                         (int)SLOT_TOKENS_MOST);
    for (size_t i = 0; i < j->n_links; i++) {
        if (!(links[i] >= LINK_LEAST && links[i] <= LINK_MOST))
            return rela_fail(err, RELA_ARG, "a link of %g Gb/s; expected %g..%g", links[i],
                             LINK_LEAST, LINK_MOST);
        j->links[i] = links[i];
    }
    return RELA_OK;
}

/* ---- what the parts use ---- */

rela_status rela_bench_block(void **block, rela_plan *p, rela_error *err)
{
    *block = rela_mem_alloc(p->used + RELA_PLAN_ALIGN);
    if (!*block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes", p->used);
    *p = rela_plan_in(*block);
    return RELA_OK;
}

size_t rela_bench_learned(real *out, size_t at[RELA_ATTN_PARAMS_MAX], const rela_attn_shape *shape)
{
    rela_rng r = rela_rng_start(1, shape->d_head);
    const size_t all = rela_attn_params_at(at, shape), n = rela_attn_params_n(shape->kind);
    for (size_t i = 0; out && i < n; i++) {
        const rela_init init = shape->kind->params[i].init;
        for (size_t j = at[i]; j < (i + 1 < n ? at[i + 1] : all); j++)
            out[j] = (real)(init.arg * (init.kind == RELA_INIT_CONSTANT ? 1 : rela_rng_normal(&r)));
    }
    return all;
}

rela_bench_table *rela_bench_table_new(rela_bench_job *j, const char *name, const char *title,
                                       const rela_bench_column *columns, size_t n_columns)
{
    assert(j->n_tables < RELA_BENCH_SHEETS_MAX);
    rela_bench_table *s = &j->tables[j->n_tables++];
    *s = (rela_bench_table){
        .name = name, .title = title, .columns = columns, .n_columns = n_columns
    };
    return s;
}

/* ---- results ---- */

/* As the system reports it, if at all. */
static void cpu_name(char out[CPU_NAME])
{
    char *text = NULL;
    size_t len = 0;
    rela_error err;
    rela_format_text(out, CPU_NAME, "unknown");
    if (rela_file_read(&text, &len, "/proc/cpuinfo", CPU_FILE_MAX, &err) != RELA_OK)
        return;
    const char *line = strstr(text, "model name"), *at = line ? strchr(line, ':') : NULL;
    if (at)
        rela_format_text(out, CPU_NAME, "%.*s", (int)strcspn(at + 2, "\n"), at + 2);
    rela_mem_free(text);
}

static rela_status append_text(rela_buffer *out, const rela_bench_job *j, rela_error *err)
{
    char cpu[CPU_NAME];
    const uint32_t v = rela_version();
    const rela_config *c = &j->config;
    cpu_name(cpu);
    rela_status st = rela_buffer_printf(
        out, err,
        "rela %u.%u.%u, %s, %s, threads %d\n"
        "%s: d %zu, ffn %zu, %zu heads, %zu+%zu layers, %zu words; fresh weights%s, random "
        "tokens, seed %llu\n"
        "medians of %zu round%s (lowest-highest)\n",
        v >> 16, v >> 8 & 255, v & 255, cpu, j->k->name, j->n_threads,
        j->o.model ? j->o.model : j->o.preset, c->d, c->ffn, c->heads, c->enc_layers, c->dec_layers,
        c->vocab_tgt, j->o.model ? ", of its kind its own" : "", (unsigned long long)j->o.seed,
        j->rounds, j->rounds > 1 ? "s" : "");
    for (size_t i = 0; i < j->n_tables && st == RELA_OK; i++) {
        st = rela_buffer_append_char(out, '\n', err);
        st = st ? st : rela_bench_table_text(out, &j->tables[i], err);
    }
    return st;
}

static rela_status append_json(rela_buffer *out, const rela_bench_job *j, rela_error *err)
{
    char cpu[CPU_NAME];
    const uint32_t v = rela_version();
    const rela_config *c = &j->config;
    cpu_name(cpu);
    rela_status st = rela_buffer_printf(
        out, err, "{\n \"version\": 1,\n \"program\": \"%u.%u.%u\",\n \"cpu\": ", v >> 16,
        v >> 8 & 255, v & 255);
    st = st ? st : rela_json_quote(out, cpu, strlen(cpu), err);
    st = st ? st
            : rela_buffer_printf(
                  out, err,
                  ",\n \"level\": \"%s\",\n \"threads\": %d,\n \"preset\": \"%s\",\n \"d\": %zu,\n "
                  "\"ffn\": %zu,\n \"heads\": %zu,\n \"enc_layers\": %zu,\n \"dec_layers\": "
                  "%zu,\n \"vocabulary\": %zu,\n \"rounds\": %zu,\n \"seconds\": %.6g,\n "
                  "\"seed\": %llu,\n \"tables\": {",
                  j->k->name, j->n_threads, j->o.model ? "model" : j->o.preset, c->d, c->ffn,
                  c->heads, c->enc_layers, c->dec_layers, c->vocab_tgt, j->rounds, j->o.seconds,
                  (unsigned long long)j->o.seed);
    for (size_t i = 0; i < j->n_tables && st == RELA_OK; i++) {
        st = rela_buffer_printf(out, err, "%s\n \"%s\": ", i ? "," : "", j->tables[i].name);
        st = st ? st : rela_bench_table_json(out, &j->tables[i], err);
    }
    return st ? st : rela_buffer_append_text(out, "}\n}\n", err);
}

static rela_status write_files(rela_bench_job *j, const rela_buffer *json, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, text = RELA_BUFFER_INIT;
    rela_status st = rela_file_set_create(&j->set, err);
    for (size_t i = 0; i < j->n_tables && st == RELA_OK; i++) {
        rela_buffer_clear(&path);
        rela_buffer_clear(&text);
        st = rela_buffer_printf(&path, err, "%s/%s.tsv", j->o.out, j->tables[i].name);
        st = st ? st : rela_bench_table_tsv(&text, &j->tables[i], err);
        st = st ? st : rela_file_write_in(j->set, path.data, text.data, text.len, err);
    }
    st = st ? st : rela_bench_figures(j, err);
    rela_buffer_clear(&path);
    st = st ? st : rela_buffer_printf(&path, err, "%s/bench.json", j->o.out);
    st = st ? st : rela_file_write_in(j->set, path.data, json->data, json->len, err);
    rela_buffer_free(&path);
    rela_buffer_free(&text);
    return rela_file_set_finish(j->set, st, err);
}
