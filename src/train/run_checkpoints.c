/* SPDX-License-Identifier: MIT */
/* src/train/run_checkpoints.c - see run_checkpoints.h. */
#include "train/run_checkpoints.h"

#include "base/mem.h"
#include "format/model_text.h"
#include "train/train_options.h"

#include <string.h>

#define NO_MOMENTS "a model, not a checkpoint: it has no state of the optimiser"

enum { N_MOMENTS = 2 };
static const char *const MOMENTS[N_MOMENTS] = { "adam.m", "adam.v" };

static rela_status check_moments(const rela_extras *loaded, size_t total, rela_error *err);
static bool has_moments(const rela_checkpoint *c);
static rela_status open_one(rela_checkpoint **out, const rela_train_run *r,
                            const rela_extras *texts, const char *path, uint64_t update,
                            bool moments, rela_error *err);
static rela_status read_one(real *weights, const rela_train_run *r, const char *path,
                            uint64_t update, bool moments, rela_error *err);

rela_status rela_train_check_loaded(const rela_train_run *r, const rela_extras *loaded,
                                    uint64_t update, rela_error *err)
{
    rela_config wanted;
    const rela_status st = rela_train_config(&wanted, r->o, err);
    if (st != RELA_OK)
        return st;
    wanted.vocab_src = rela_vocab_size(rela_pipeline_vocab(r->pipeline, 0));
    wanted.vocab_tgt =
        rela_vocab_size(rela_pipeline_vocab(r->pipeline, rela_pipeline_target(r->pipeline)));
    const char *key = rela_config_compare(&r->net->config, &wanted);
    if (key)
        return rela_fail(err, RELA_FORMAT, "of another model: its '%s' differs from the settings",
                         key);
    const rela_status same = rela_train_state_check(loaded, r->o, update, r->data_digest, err);
    return same ? same : check_moments(loaded, r->net->params.total, err);
}

rela_status rela_train_check_files(const rela_train_run *r, const uint64_t *updates, size_t n,
                                   rela_error *err)
{
    rela_extras texts = { 0 };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_pipeline_store(&texts, r->pipeline, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        rela_checkpoint *c = NULL;
        st = rela_run_checkpoint_path(&path, r->run, updates[i], true, err);
        st = st ? st : open_one(&c, r, &texts, path.data, updates[i], true, err);
        rela_checkpoint_close(c);
    }
    rela_buffer_free(&path);
    rela_extras_deinit(&texts);
    return st;
}

void rela_train_restore_moments(rela_updater *s, rela_extras *loaded, uint64_t count)
{
    rela_updater_set_count(s, count);
    for (int i = 0; i < N_MOMENTS; i++) {
        real *moment = rela_extras_take(loaded, MOMENTS[i]);
        rela_updater_set_moment(s, i, moment);
        rela_mem_free(moment);
    }
}

rela_status rela_train_read_weights(real *weights, const rela_train_run *r, uint64_t update,
                                    rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_run_checkpoint_path(&path, r->run, update, true, err);
    st = st ? st : read_one(weights, r, path.data, update, true, err);
    rela_buffer_free(&path);
    return st;
}

rela_status rela_train_read_best(real *weights, const rela_train_run *r, uint64_t update,
                                 rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_run_path(&path, r->run, "best.rela", err);
    st = st ? st : read_one(weights, r, path.data, update, false, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status read_one(real *weights, const rela_train_run *r, const char *path,
                            uint64_t update, bool moments, rela_error *err)
{
    rela_extras texts = { 0 };
    rela_checkpoint *c = NULL;
    real *const base[1 + RELA_ARRAYS_MAX] = { weights };
    rela_status st = rela_pipeline_store(&texts, r->pipeline, err);
    const rela_stop stop = rela_train_stop(r->o);
    st = st ? st : rela_stop_check(&stop, err);
    st = st ? st : open_one(&c, r, &texts, path, update, moments, err);
    st = st ? st : rela_checkpoint_read(c, base, NULL, (int)r->o->threads, err);
    rela_checkpoint_close(c);
    rela_extras_deinit(&texts);
    return st;
}

static rela_status check_moments(const rela_extras *loaded, size_t total, rela_error *err)
{
    for (int i = 0; i < N_MOMENTS; i++) {
        size_t b = 0, k = 0;
        while (b < loaded->n_arrays && strcmp(loaded->arrays[b].name, MOMENTS[i]) != 0)
            b++;
        if (b == loaded->n_arrays)
            return rela_fail(err, RELA_FORMAT, NO_MOMENTS);
        const real *x = loaded->arrays[b].values;
        while (k < total && (i == 0 || x[k] >= 0)) /* the second is a mean of squares */
            k++;
        if (k < total)
            return rela_fail(err, RELA_FORMAT, "a negative number in %s", MOMENTS[i]);
    }
    return RELA_OK;
}

static bool has_moments(const rela_checkpoint *c)
{
    int n = 0;
    for (size_t b = 0; b < c->n_arrays; b++)
        for (int i = 0; i < N_MOMENTS; i++)
            n += strcmp(c->arrays[b], MOMENTS[i]) == 0;
    return n == N_MOMENTS;
}

/* Opens a checkpoint; RELA_FORMAT, naming the file, if it is not one of the run. The caller closes
 * *out even on failure. */
static rela_status open_one(rela_checkpoint **out, const rela_train_run *r,
                            const rela_extras *texts, const char *path, uint64_t update,
                            bool moments, rela_error *err)
{
    rela_extras own = { 0 };
    *out = NULL;
    rela_status st = rela_checkpoint_open(out, path, NULL, err);
    if (st == RELA_OK) {
        st = rela_checkpoint_compare(*out, r->net, texts, err);
        if (st == RELA_OK && moments && !has_moments(*out))
            st = rela_fail(err, RELA_FORMAT, NO_MOMENTS);
        st = st ? st : rela_checkpoint_texts(&own, *out, err);
        st = st ? st : rela_train_state_check(&own, r->o, update, r->data_digest, err);
        st = st == RELA_FORMAT ? rela_fail_in(err, st, path) : st;
    }
    rela_extras_deinit(&own);
    return st;
}
