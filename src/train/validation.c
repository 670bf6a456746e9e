/* SPDX-License-Identifier: MIT */
/* src/train/validation.c - see validation.h. */
#include "train/validation.h"

#include "analyse/sparsity.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/textlines.h"
#include "data/batch.h"
#include "decode/search.h"
#include "rela/metric.h"
#include "text/token_lists.h"
#include "train/train_options.h"

#include <string.h>

enum {
    ZEROS_TOKENS = 4096,      /* of the target that are measured; a smaller set is measured whole */
    ZEROS_BATCH_TOKENS = 1024 /* rows of a pass, which bound its memory */
};

enum { SAMPLES = 3, SAMPLE_BYTES = 300 };

/* Sentences [first, last). */
typedef struct part {
    size_t first, last;
} part;

struct rela_valid {
    const rela_net *net;
    const rela_pipeline *pipeline;
    rela_pipeline_scratch *scratch;
    rela_text_lines refs; /* all in memory: validation sets are small */
    rela_id_list ids[RELA_SOURCES_MAX];
    size_t n_sources;
    rela_source *sources;
    rela_metric *bleu;
    size_t beam;
    int n_threads;
    rela_stop stop;
    rela_world *world;          /* NULL: one process */
    rela_buffer shown[SAMPLES]; /* sources of the first sentences */
    rela_buffer samples;
};

static rela_status read_lines(rela_text_lines *l, const char *path, rela_world *world,
                              rela_status st, rela_error *err);
static rela_status encode_source(rela_valid *v, size_t k, const char *path, rela_status st,
                                 rela_error *err);
static rela_status count(uint64_t *sums, rela_valid *v, const rela_search_results *r, part p,
                         rela_error *err);
static rela_status add_ranks(double *bleu, const rela_valid *v, uint64_t *sums, rela_status st,
                             rela_error *err);

rela_status rela_valid_create(rela_valid **out, const rela_net *net, const rela_pipeline *p,
                              const rela_train_options *of, rela_world *world, rela_error *err)
{
    const rela_train_files files = rela_train_valid_text(of);
    rela_bleu_options o;
    *out = NULL;
    rela_valid *v = rela_mem_zalloc(sizeof *v);
    const rela_status made = rela_world_agree(
        world, v ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the validation set"), err);
    if (made != RELA_OK || !v) {
        rela_mem_free(v);
        return made;
    }
    v->world = world;
    v->net = net;
    v->pipeline = p;
    v->beam = (size_t)of->valid_beam;
    v->n_threads = (int)of->threads;
    v->stop = rela_train_stop(of);
    v->n_sources = rela_train_sources(of);
    rela_bleu_options_init(&o, sizeof o);
    o.tokens =
        rela_pipeline_parts_of(p)->side[v->n_sources].tokenise ? RELA_BLEU_13A : RELA_BLEU_NONE;
    rela_status st = rela_metric_create_bleu(&v->bleu, &o, err);
    if (st == RELA_OK)
        st = rela_pipeline_scratch_create(&v->scratch, p, err);
    st = read_lines(&v->refs, files.tgt, world, st, err);
    v->sources = rela_mem_zalloc((v->refs.n + 1) * sizeof *v->sources);
    if (st == RELA_OK && !v->sources)
        st = rela_fail(err, RELA_NOMEM, "no memory for validation");
    for (size_t k = 0; k < v->n_sources; k++)
        st = encode_source(v, k, files.src[k], st, err);
    st = rela_world_agree(world, st, err);
    if (st != RELA_OK) {
        rela_valid_destroy(v);
        return st;
    }
    *out = v;
    return RELA_OK;
}

void rela_valid_destroy(rela_valid *v)
{
    if (!v)
        return;
    rela_metric_destroy(v->bleu);
    rela_pipeline_scratch_destroy(v->scratch);
    rela_text_lines_free(&v->refs);
    for (size_t k = 0; k < v->n_sources; k++)
        rela_id_list_free(&v->ids[k]);
    for (size_t i = 0; i < SAMPLES; i++)
        rela_buffer_free(&v->shown[i]);
    rela_buffer_free(&v->samples);
    rela_mem_free(v->sources);
    rela_mem_free(v);
}

rela_span rela_valid_samples(const rela_valid *v)
{
    return (rela_span){ v->samples.data, v->samples.len };
}

/* Long texts are cut: samples are only for a glance. */
static rela_status add_sample(rela_buffer *out, const char *label, const char *text, size_t len,
                              rela_error *err)
{
    size_t n = text && len > SAMPLE_BYTES ? SAMPLE_BYTES : len;
    while (text && n < len && n && ((unsigned char)text[n] & 0xC0) == 0x80) /* inside a character */
        n--;
    return rela_buffer_printf(out, err, "%-11s %.*s\n", label, (int)n, text ? text : "");
}

/* The sentences that this rank translates. Rank 0 must have those that are shown as samples. */
static part part_of(const rela_valid *v)
{
    const size_t n = v->refs.n, rank = rela_world_rank(v->world), ranks = rela_world_size(v->world);
    return n < SAMPLES * ranks ? (part){ 0, rank ? 0 : n }
                               : (part){ n * rank / ranks, n * (rank + 1) / ranks };
}

rela_status rela_valid_bleu(double *bleu, rela_valid *v, rela_error *err)
{
    rela_packed_weights packed = { 0 };
    rela_search_pool *pool = NULL;
    rela_search_results *results = NULL;
    rela_search_options o;
    const part p = part_of(v);
    uint64_t *sums =
        rela_mem_zalloc(rela_world_size(v->world) * rela_metric_n_stats(v->bleu) * sizeof *sums);
    rela_search_options_init(&o);
    o.beam = v->beam;
    o.stop = v->stop;
    rela_status st = sums ? rela_packed_weights_init(&packed, v->net, 1, err)
                          : rela_fail(err, RELA_NOMEM, "no memory for the score");
    const rela_packed_weights *const nets[] = { &packed };
    if (st == RELA_OK)
        st = rela_search_pool_create(&pool, nets, 1, v->n_threads, err);
    if (st == RELA_OK)
        st = rela_search_pool_run(&results, pool, v->sources + p.first, p.last - p.first, &o, err);
    rela_buffer_clear(&v->samples);
    if (st == RELA_OK)
        st = count(sums, v, results, p, err);
    st = add_ranks(bleu, v, sums, st, err);
    rela_search_results_free(results);
    rela_search_pool_destroy(pool);
    rela_packed_weights_deinit(&packed);
    rela_mem_free(sums);
    return st;
}

/* Adds the counts of all ranks. sums: (ranks, n_stats); on entry the first row is this rank's. */
static rela_status add_ranks(double *bleu, const rela_valid *v, uint64_t *sums, rela_status st,
                             rela_error *err)
{
    const size_t k = rela_metric_n_stats(v->bleu), rank = rela_world_rank(v->world);
    st = rela_world_agree(v->world, st, err);
    if (st != RELA_OK || !sums)
        return st;
    memmove(sums + rank * k, sums, k * sizeof *sums);
    rela_world_share_equal(v->world, sums, k * sizeof *sums);
    for (size_t r = 1; r < rela_world_size(v->world); r++)
        for (size_t i = 0; i < k; i++)
            sums[i] += sums[r * k + i];
    *bleu = rela_metric_score(v->bleu, sums);
    return RELA_OK;
}

/* Rank 0 reads the file and broadcasts it. st: status of this rank so far. Collective. */
static rela_status read_lines(rela_text_lines *l, const char *path, rela_world *world,
                              rela_status st, rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    rela_buffer all = RELA_BUFFER_INIT;
    if (st == RELA_OK && rela_world_rank(world) == 0)
        st = rela_file_read(&text, &len, path, 0, err);
    if (st == RELA_OK && text)
        st = rela_buffer_append(&all, text, len, err);
    rela_mem_free(text);
    st = rela_world_agree(world, st, err);
    st = st ? st : rela_world_broadcast_text(world, &all, err);
    l->text = all.data; /* given */
    return st ? st : rela_text_lines_split(l, (rela_span){ all.data, all.len }, path, err);
}

/* Sources longer than the model allows are cut, as any translation would be. */
static rela_status encode_source(rela_valid *v, size_t k, const char *path, rela_status st,
                                 rela_error *err)
{
    const rela_encode_how how = { .side = k, .most = v->net->config.max_len - 1 };
    rela_id_list *ids = &v->ids[k];
    rela_text_lines src = { .n = 0 };
    st = read_lines(&src, path, v->world, st, err);
    if (st == RELA_OK && src.n != v->refs.n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu line%s, its translations are %zu", path, src.n,
                       rela_plural(src.n), v->refs.n);
    for (size_t i = 0; i < src.n && st == RELA_OK; i++)
        st =
            rela_id_list_add(ids, NULL, v->scratch, &how, src.items[i].text, src.items[i].len, err);
    for (size_t i = 0; i < SAMPLES && i < src.n && st == RELA_OK; i++) {
        if (k)
            st = rela_buffer_append_text(&v->shown[i], " | ", err);
        st = st ? st : rela_buffer_append(&v->shown[i], src.items[i].text, src.items[i].len, err);
    }
    for (size_t i = 0; i < src.n && st == RELA_OK; i++) /* only now: ids moved while growing */
        v->sources[i].text[k] =
            (rela_source_text){ ids->ids + ids->at[i], ids->at[i + 1] - ids->at[i] };
    rela_text_lines_free(&src);
    return st;
}

static rela_status show(rela_valid *v, size_t i, const rela_buffer *text, rela_error *err)
{
    const rela_span ref = v->refs.items[i];
    rela_status st = add_sample(&v->samples, "source", v->shown[i].data, v->shown[i].len, err);
    st = st ? st : add_sample(&v->samples, "translation", text->data, text->len, err);
    return st ? st : add_sample(&v->samples, "reference", ref.text, ref.len, err);
}

static rela_status count(uint64_t *sums, rela_valid *v, const rela_search_results *r, part p,
                         rela_error *err)
{
    const size_t k = rela_metric_n_stats(v->bleu);
    uint32_t *stats = rela_mem_zalloc(k * sizeof *stats);
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = stats ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for the score");
    for (size_t i = p.first; i < p.last && st == RELA_OK; i++) {
        const rela_search_result result = rela_search_results_at(r, i - p.first);
        const rela_hypothesis *h = &result.best[0];
        rela_buffer_clear(&text);
        st = rela_pipeline_decode(&text, v->scratch, h->ids, NULL, h->n, err);
        const char *ref = v->refs.items[i].text;
        const rela_segment segment = { .hyp = text.data ? text.data : "",
                                       .hyp_len = text.len,
                                       .refs = &ref,
                                       .ref_lens = &v->refs.items[i].len,
                                       .n_refs = 1 };
        if (st == RELA_OK)
            st = rela_metric_count(stats, v->bleu, &segment, 1, 1, err);
        if (st == RELA_OK && i < SAMPLES)
            st = show(v, i, &text, err);
        if (st == RELA_OK)
            rela_stats_add(sums, stats, 1, k);
    }
    rela_buffer_free(&text);
    rela_mem_free(stats);
    return st;
}

rela_status rela_valid_sample(rela_store **out, const rela_store *text, uint64_t tokens,
                              rela_error *err)
{
    const size_t n_sides = rela_store_sides(text);
    const uint64_t n = rela_store_size(text), all = rela_store_tokens(text, n_sides - 1) + n;
    rela_buffer pairs = RELA_BUFFER_INIT;
    rela_store *sample = NULL;
    *out = NULL;
    if (all <= tokens)
        return RELA_OK;
    const uint64_t fit = n * tokens / all, want = fit ? fit : 1;
    rela_status st = RELA_OK;
    for (uint64_t i = 0; i < want && st == RELA_OK; i++) {
        uint32_t at = (uint32_t)((2 * i + 1) * n / (2 * want));
        st = rela_store_pack(&pairs, text, &at, 0, err); /* one pair */
    }
    st = st ? st : rela_store_create(&sample, n_sides, UINT64_MAX, NULL, err);
    st = st ? st : rela_store_unpack(sample, pairs.data, pairs.len, err);
    st = st ? st : rela_store_finish(sample, err);
    rela_buffer_free(&pairs);
    if (st == RELA_OK) {
        *out = sample;
        sample = NULL; /* given */
    }
    rela_store_destroy(sample);
    return st;
}

/* Rows of the largest batch with at most ZEROS_BATCH_TOKENS rows, or with one longer pair. */
static size_t most_rows(const rela_store *s)
{
    size_t most = ZEROS_BATCH_TOKENS;
    for (uint32_t i = 0; i < rela_store_size(s); i++)
        for (size_t side = 0; side < rela_store_sides(s); side++) {
            const size_t rows = rela_store_length(s, i, side) + (size_t)1; /* the end symbol */
            most = rows > most ? rows : most;
        }
    return most;
}

static rela_status count_zeros(rela_sparsity *zeros, const rela_net *net, const rela_store *text,
                               rela_error *err)
{
    const size_t rows = most_rows(text);
    const rela_attn_tap tap = rela_sparsity_tap(zeros);
    const rela_pass_options pass = { .tap = &tap };
    rela_batches_options o;
    rela_batches *batches = NULL;
    rela_worker *worker = NULL;
    rela_batch b = { .last = false };
    rela_batches_options_init(&o, ZEROS_BATCH_TOKENS);
    o.order.budget.source_tokens = ZEROS_BATCH_TOKENS;
    rela_status st = rela_batches_create(&batches, text, &o, err);
    st = st ? st : rela_worker_create(&worker, net, rows, rows, false, err);
    while (st == RELA_OK && !b.last) {
        st = rela_batches_next(batches, &b, err);
        if (st == RELA_OK) {
            const rela_model_batch packed = rela_model_batch_of(&b);
            rela_worker_attend(worker, &packed, &pass);
        }
    }
    rela_worker_destroy(worker);
    rela_batches_destroy(batches);
    return st;
}

rela_status rela_valid_sparsity(rela_valid_zeros *out, const rela_net *net, const rela_store *valid,
                                rela_error *err)
{
    rela_store *sample = NULL;
    rela_sparsity zeros = { 0 };
    rela_status st = rela_valid_sample(&sample, valid, ZEROS_TOKENS, err);
    st = st ? st : rela_sparsity_init(&zeros, net, err);
    st = st ? st : count_zeros(&zeros, net, sample ? sample : valid, err);
    for (size_t i = 0; i < net->list.n_stacks && st == RELA_OK; i++) {
        const rela_zeros sum = rela_sparsity_sum(&zeros, i, SIZE_MAX);
        out->sparsity[i] = rela_zeros_share(sum);
        out->null[i] = rela_zeros_null(sum);
    }
    rela_sparsity_deinit(&zeros);
    rela_store_destroy(sample);
    return st;
}
