/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_models.c - rela_analyse: runs every model over the text and over the text
 * with permuted targets, and writes the findings. */
#include "analyse/analyse_job.h"
#include "base/file.h"
#include "base/line_rows.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/rng.h"
#include "base/sized.h"

#include <string.h>
#include <xxhash.h>

enum { NAME_MAX_LEN = 64 };

static bool is_first(const rela_analyse_job *j);
static rela_status name_texts(const rela_analyse_job *j, rela_error *err);
static rela_status check(const rela_analyse_options *o, const rela_model *const *models, size_t n,
                         rela_error *err);
static rela_status read_texts(rela_analyse_job *j, rela_error *err);
static rela_status run_and_dump(rela_analyse_job *j, const char *path, rela_error *err);
static rela_status run_model(rela_analyse_job *j, rela_error *err);
static rela_status write_all(rela_buffer *table, rela_buffer *json, const rela_analysis *a,
                             const rela_analyse_job *j, rela_error *err);

void rela_analyse_options_init(rela_analyse_options *o, size_t size)
{
    const rela_analyse_options defaults = {
        .struct_size = size, .seed = 1, .layer = -1, .example = -1
    };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_analyse(rela_buffer *table, rela_buffer *json, const rela_model *const *models,
                         size_t n, const rela_analyse_options *o, rela_error *err)
{
    rela_analyse_job j = { .n = 0 };
    rela_analyse_options_init(&j.o, sizeof j.o);
    rela_status st = rela_sized_take(&j.o, sizeof j.o, o, "rela_analyse_options", err);
    if (st != RELA_OK)
        return st;
    char(*names)[NAME_MAX_LEN] = rela_mem_zalloc((n + 1) * sizeof *names);
    rela_findings *found = rela_mem_zalloc((n + 1) * sizeof *found);
    if (!names || !found)
        st = rela_fail(err, RELA_NOMEM, "no memory for %zu models", n);
    st = st ? st : check(&j.o, models, n, err);
    if (st == RELA_OK) {
        j.n_sources = models[0]->net.config.sources;
        j.source = (size_t)j.o.source;
        st = read_texts(&j, err);
    }
    if (st == RELA_OK)
        st = name_texts(&j, err);
    if (st == RELA_OK && is_first(&j))
        st = rela_dir_make(j.o.out, err);
    if (st == RELA_OK && is_first(&j))
        st = rela_file_set_create(&j.set, err);
    j.total = 2 * (uint64_t)n * j.n;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        rela_format_text(names[i], sizeof names[i], "model %zu", i + 1);
        found[i].name = j.o.names ? j.o.names[i] : names[i];
        j.model = models[i];
        j.found = &found[i];
        st = run_and_dump(&j, i == 0 ? j.o.dump : NULL, err);
    }
    if (st == RELA_OK && is_first(&j))
        st = rela_analyse_examples(&j, found, models, n, err);
    const rela_analysis a = { .models = found,
                              .n = n,
                              .n_sources = j.n_sources,
                              .source = j.source,
                              .tag_names = j.tag_names,
                              .src = j.o.src,
                              .more_src = { j.o.src_2, j.o.src_3, j.o.src_4 },
                              .tgt = j.o.tgt,
                              .gold = j.o.gold,
                              .tags = j.o.tags,
                              .seed = j.o.seed,
                              .lines = j.n,
                              .skip_end = j.o.skip_end != 0 };
    if (st == RELA_OK && is_first(&j))
        st = write_all(table, json, &a, &j, err);
    st = rela_job_agree(j.o.job, rela_file_set_finish(j.set, st, err), err);
    for (size_t i = 0; found && i < n; i++)
        rela_findings_deinit(&found[i]);
    rela_mem_free(found);
    rela_mem_free(names);
    for (int i = 0; i < N_FILES; i++)
        rela_text_lines_free(&j.files[i]);
    rela_mem_free(j.order);
    rela_map_destroy(j.tag_names);
    return st;
}

static rela_status check(const rela_analyse_options *o, const rela_model *const *models, size_t n,
                         rela_error *err)
{
    const char *const texts[RELA_SOURCES_MAX] = { o->src, o->src_2, o->src_3, o->src_4 };
    rela_status st = RELA_OK;
    if (n == 0 || !o->src || !o->tgt || !o->out)
        return rela_fail(err, RELA_ARG, "a model, source, target and a directory are needed");
    if (o->gold_base < 0 || o->gold_base > 1)
        return rela_fail(err, RELA_ARG, "gold links count words from %d; expected 0 or 1",
                         o->gold_base);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        st = rela_model_check_translates(models[i], err);
        st = st ? st : rela_model_check_full(models[i], err);
        st = st ? st : rela_model_check_texts(models[i], texts, o->source, err);
    }
    return st;
}

/* Rank 0 adds up and writes. */
static bool is_first(const rela_analyse_job *j)
{
    return rela_job_rank(j->o.job) == 0;
}

/* path NULL: no dump. */
static rela_status run_and_dump(rela_analyse_job *j, const char *path, rela_error *err)
{
    rela_status st = RELA_OK;
    j->dumps = path != NULL;
    if (path && is_first(j))
        st = rela_dump_open(&j->dump, path, &j->model->net.list, err);
    if (st == RELA_OK)
        st = run_model(j, err);
    if (st == RELA_OK && j->dump)
        st = rela_dump_commit(j->dump, j->set, err);
    else
        rela_dump_abort(j->dump);
    j->dump = NULL;
    return st;
}

static rela_status write_all(rela_buffer *table, rela_buffer *json, const rela_analysis *a,
                             const rela_analyse_job *j, rela_error *err)
{
    const char *dir = j->o.out;
    rela_buffer text = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    size_t n = 0;
    rela_figure *figures = rela_mem_array(RELA_FIGURES_MAX, sizeof *figures);
    rela_status st = figures ? rela_analysis_json(&text, a, err)
                             : rela_fail(err, RELA_NOMEM, "no memory for figures");
    if (st == RELA_OK)
        st = rela_buffer_printf(&path, err, "%s/analysis.json", dir);
    if (st == RELA_OK)
        st = rela_file_write_in(j->set, path.data, text.data, text.len, err);
    if (st == RELA_OK)
        st = rela_analysis_tsv(j->set, dir, a, err);
    if (st == RELA_OK)
        st = rela_analysis_figures(figures, &n, j->set, dir, a, err);
    if (st == RELA_OK)
        st = rela_analysis_html(j->set, dir, a, figures, n, err);
    if (st == RELA_OK && json)
        st = rela_buffer_append(json, text.data, text.len, err);
    if (st == RELA_OK && table)
        st = rela_analysis_table(table, a, err);
    rela_mem_free(figures);
    rela_buffer_free(&text);
    rela_buffer_free(&path);
    return st;
}

/* ---- text ---- */

/* Sattolo's shuffle: one cycle through all pairs, so that none keeps its own target. */
static rela_status permute(rela_analyse_job *j, rela_error *err)
{
    rela_rng r = rela_rng_start(j->o.seed, 0);
    j->order = rela_mem_array(j->n + 1, sizeof *j->order);
    if (!j->order)
        return rela_fail(err, RELA_NOMEM, "no memory to permute %zu lines", j->n);
    for (size_t i = 0; i < j->n; i++)
        j->order[i] = (uint32_t)i;
    for (size_t i = j->n; i > 1; i--) {
        const size_t k = (size_t)rela_rng_below(&r, i - 1);
        const uint32_t other = j->order[k];
        j->order[k] = j->order[i - 1];
        j->order[i - 1] = other;
    }
    return RELA_OK;
}

static rela_status name_tags(rela_analyse_job *j, rela_error *err)
{
    static const char START[] = "(start)";
    j->tag_names = rela_map_create(0);
    if (!j->tag_names || rela_map_add(j->tag_names, START, sizeof START - 1) != 0)
        return rela_fail(err, RELA_NOMEM, "no memory for tags");
    for (size_t i = 0; i < j->n; i++) {
        const rela_span line = j->files[TAGS].items[i];
        const char *at = line.text;
        for (rela_span tag; rela_next_word(&tag, &at, line.text + line.len);) {
            const uint32_t number = rela_map_add(j->tag_names, tag.text, tag.len);
            if (number == RELA_MAP_NONE)
                return rela_fail(err, RELA_NOMEM, "no memory for tags");
            if (number >= RELA_TAGS_MAX)
                return rela_fail(err, RELA_FORMAT,
                                 "%s: line %zu: more than %d different tags; is it a tag file?",
                                 j->o.tags, i + 1, RELA_TAGS_MAX);
        }
    }
    return RELA_OK;
}

static rela_status read_texts(rela_analyse_job *j, rela_error *err)
{
    const char *const paths[] = { j->o.src, j->o.src_2, j->o.src_3, j->o.src_4,
                                  j->o.tgt, j->o.gold,  j->o.tags };
    const rela_text_lines *f = j->files;
    rela_status st = RELA_OK;
    for (int i = 0; i < N_FILES && st == RELA_OK; i++)
        if (paths[i])
            st = rela_text_lines_read(&j->files[i], paths[i], err);
    if (st != RELA_OK)
        return st;
    for (int i = 1; i < N_FILES; i++) {
        const bool wrong = i == GOLD ? f[i].n > f[SRC].n : f[i].n != f[SRC].n;
        if (paths[i] && wrong)
            return rela_fail(err, RELA_FORMAT, "%s has %zu line%s but %s has %zu", paths[SRC],
                             f[SRC].n, rela_plural(f[SRC].n), paths[i], f[i].n);
    }
    if (f[SRC].n == 0)
        return rela_fail(err, RELA_FORMAT, "%s: no lines", paths[SRC]);
    if (f[SRC].n > UINT32_MAX)
        return rela_fail(err, RELA_FORMAT, "%s: more than 2^32 lines", paths[SRC]);
    j->n = j->o.limit && j->o.limit < f[SRC].n ? (size_t)j->o.limit : f[SRC].n;
    if (j->o.example >= 0 && (uint64_t)j->o.example >= j->n)
        return rela_fail(err, RELA_ARG, "%s: no line %llu; %zu are analysed", paths[SRC],
                         (unsigned long long)j->o.example + 1, j->n);
    st = permute(j, err);
    return st == RELA_OK && paths[TAGS] ? name_tags(j, err) : st;
}

/* Records a hash of all texts as a setting: results on other texts cannot be combined with these.
 */
static rela_status name_texts(const rela_analyse_job *j, rela_error *err)
{
    uint64_t hash = 0;
    char text[64];
    for (int i = 0; i < N_FILES; i++)
        for (size_t k = 0; k < j->files[i].n; k++) {
            const rela_span line = j->files[i].items[k];
            hash = XXH3_64bits_withSeed(line.len ? line.text : "", line.len, hash + 1);
        }
    rela_format_text(text, sizeof text, "%zu lines with hash %016llx", j->n,
                     (unsigned long long)hash);
    return rela_job_setting(j->o.job, "the text", text, err);
}

/* ---- a model ---- */

static rela_status start_findings(const rela_analyse_job *j, rela_error *err)
{
    rela_findings *f = j->found;
    f->net = &j->model->net;
    f->card = &j->model->card;
    const rela_config *c = &f->net->config;
    rela_status st = rela_measures_init(&f->text, f->net, err);
    if (st == RELA_OK)
        st = rela_measures_init(&f->permuted, f->net, err);
    if (st == RELA_OK && j->o.gold)
        st = rela_head_aer_init(&f->aer, rela_config_layers(c, RELA_ATTN_CROSS), c->heads, 0, err);
    if (st == RELA_OK && j->tag_names)
        st = rela_tag_null_init(&f->tags, rela_config_layers(c, RELA_ATTN_CROSS), c->heads,
                                rela_map_size(j->tag_names), err);
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        if (!(f->pair_null[i] = rela_mem_array(
                  j->n_sources * j->n * rela_config_layers(c, RELA_ATTN_CROSS), sizeof(double))))
            st = rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", j->n);
    if (st == RELA_OK &&
        (j->o.layer < -1 || j->o.layer >= (int32_t)rela_config_layers(c, RELA_ATTN_CROSS)))
        st = rela_fail(err, RELA_ARG, "no layer %lld; %s has %zu", 1 + (long long)j->o.layer,
                       f->name, rela_config_layers(c, RELA_ATTN_CROSS));
    return st;
}

static void log_left_out(const rela_analyse_job *j)
{
    const rela_findings *f = j->found;
    const rela_log *log = &j->model->runtime->log;
    if (f->untagged)
        rela_log_line(log, RELA_LOG_WARNING,
                      "%s: %llu line%s with another number of tags than of words: not counted for "
                      "tags",
                      f->name, (unsigned long long)f->untagged, rela_plural(f->untagged));
}

/* AUC by the mean null rate over the sources, then by each source. */
static rela_status find_auc(const rela_analyse_job *j, rela_error *err)
{
    rela_findings *f = j->found;
    const size_t n = 2 * j->n;
    double *values = rela_mem_array(n, sizeof *values), *means = rela_mem_zalloc(n * sizeof *means);
    for (size_t k = 0; values && means && k < j->n_sources; k++) {
        for (size_t line = 0; line < j->n; line++) {
            values[line] = rela_pair_null_mean(f, false, k, line, j->n);
            values[j->n + line] = rela_pair_null_mean(f, true, k, line, j->n);
        }
        for (size_t i = 0; i < n; i++)
            means[i] += values[i] / (double)j->n_sources;
        f->source_auc[k] = rela_auc_find(values, j->n, values + j->n, j->n);
    }
    const rela_status st =
        values && means ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for %zu pairs", j->n);
    if (st == RELA_OK)
        f->auc = rela_auc_find(means, j->n, means + j->n, j->n);
    rela_mem_free(values);
    rela_mem_free(means);
    return st;
}

static void find_place(void *ctx, rela_job_place *out)
{
    const rela_analyse_job *j = ctx;
    *out = (rela_job_place){ .line = j->next };
}

static rela_status go_to(void *ctx, const rela_job_place *at, rela_error *err)
{
    rela_analyse_job *j = ctx;
    (void)err;
    j->next = (size_t)at->line;
    return RELA_OK;
}

/* Runs the text, then the text with permuted targets. */
static rela_status run_texts(rela_analyse_job *j, int n_threads, rela_error *err)
{
    const rela_flow flow = { .block_size = sizeof(rela_analyse_range),
                             .read = rela_analyse_range_read,
                             .place = find_place,
                             .seek = go_to,
                             .work = rela_analyse_range_run,
                             .finish = rela_analyse_range_finish,
                             .n_threads = n_threads,
                             .ctx = j };
    rela_status st = RELA_OK;
    for (int permuted = 0; permuted < 2 && st == RELA_OK; permuted++) {
        j->permuted = permuted == 1;
        j->next = 0;
        st = rela_job_run(j->o.job, &flow, err);
    }
    return st;
}

/* AUC and log messages, after all pairs; rank 0 only. */
static rela_status conclude(const rela_analyse_job *j, rela_error *err)
{
    if (j->found->pairs == 0)
        return rela_fail(err, RELA_FORMAT, "%s: no pair could be scored", j->o.src);
    const rela_status st = find_auc(j, err);
    if (st == RELA_OK)
        log_left_out(j);
    return st;
}

static rela_status run_model(rela_analyse_job *j, rela_error *err)
{
    const int n = j->model->runtime->n_threads;
    j->blocks = rela_mem_zalloc((size_t)n * sizeof *j->blocks);
    rela_status st = j->blocks ? start_findings(j, err)
                               : rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    for (int i = 0; i < n && st == RELA_OK; i++)
        st = rela_analyse_block_start(&j->blocks[i], j, true, err);
    st = st ? st : rela_analyse_block_start(&j->sum, j, false, err);
    st = rela_job_agree(j->o.job, st, err);
    st = st ? st : run_texts(j, n, err);
    if (st == RELA_OK && is_first(j))
        st = conclude(j, err);
    for (int i = 0; j->blocks && i < n; i++)
        rela_analyse_block_end(&j->blocks[i]);
    rela_analyse_block_end(&j->sum);
    rela_mem_free(j->blocks);
    return st;
}
