/* SPDX-License-Identifier: MIT */
/* src/train/trainer.c - rela_train: joins the ranks, prepares text, model and run directory, and
 * runs the loop. */
#include "train/trainer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/par.h"
#include "train/text_check.h"
#include "train/training_log.h"
#include "train/training_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE_FILES = 3 };

static int is_asked_to_stop(void *ctx);
static rela_status join(rela_trainer *t, rela_error *err);
static rela_status prepare(rela_trainer *t, rela_error *err);
static rela_status open_outputs(rela_trainer *t, rela_error *err);
static rela_status check_settings(const rela_trainer *t, rela_error *err);
static rela_status read_text(rela_trainer *t, rela_error *err);
static rela_status check_room(rela_trainer *t, rela_error *err);
static void cleanup(rela_trainer *t);

rela_status rela_train(const rela_train_options *o,
                       int (*on_event)(void *ctx, const rela_train_event *e), void *ctx,
                       rela_error *err)
{
    rela_trainer *t = rela_mem_zalloc(sizeof *t);
    if (!t)
        return rela_fail(err, RELA_NOMEM, "no memory to train");
    t->on_event = on_event;
    t->ctx = ctx;
    t->started = rela_clock_seconds();
    rela_status st = rela_train_resolve(&t->o, &t->own, o, err);
    t->own_stop = rela_train_stop(&t->o);
    t->o.stop = is_asked_to_stop;
    t->o.stop_ctx = t;
    st = st ? st : join(t, err);
    st = st ? st : prepare(t, err);
    st = st ? st : rela_trainer_loop(t, err);
    if (st != RELA_OK && t->run.lock && t->state.loop.update == 0)
        rela_run_discard(&t->run); /* refused, or stopped before the first update */
    cleanup(t);
    rela_world_close(t->world, st, err);
    rela_mem_free(t);
    return st;
}

/* Of the work that this call does: asked by the caller, or on another rank. */
static int is_asked_to_stop(void *ctx)
{
    rela_trainer *t = ctx;
    if (!atomic_load(&t->stopping) &&
        (rela_stop_asked(&t->own_stop) || rela_world_stopping(t->world)))
        atomic_store(&t->stopping, true);
    return atomic_load(&t->stopping);
}

/* Joins the ranks, starts threads and opens the run directory, which rank 0 makes. */
static rela_status join(rela_trainer *t, rela_error *err)
{
    rela_buffer notes = RELA_BUFFER_INIT;
    rela_status st = rela_ranks_join(&t->world, &notes, &t->o, err);
    rela_world_set_stop(t->world, &t->own_stop);
    if (t->world) /* even on a mismatch: only rank 0 shows it */
        (void)rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_JOINED });
    st = st ? st : rela_par_start(rela_par_threads((int)t->o.threads), err);
    t->holds_threads = st == RELA_OK;
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = rela_run_open(&t->run, t->o.out, err);
    st = rela_world_agree(t->world, st, err);
    if (st == RELA_OK && !rela_trainer_is_first(t))
        st = rela_run_view(&t->run, t->o.out, err);
    if (st == RELA_OK && t->world)
        rela_trainer_log(t, "%zu ranks, of %d threads on %s", rela_world_size(t->world),
                         rela_par_threads((int)t->o.threads), rela_world_host(t->world, 0));
    if (st == RELA_OK && notes.len)
        rela_trainer_log(t, "%s", notes.data);
    rela_buffer_free(&notes);
    return rela_world_agree(t->world, st, err);
}

static rela_status prepare(rela_trainer *t, rela_error *err)
{
    rela_status st = rela_trainer_is_first(t) ? check_settings(t, err) : RELA_OK;
    st = rela_world_agree(t->world, st, err);
    st = st ? st : rela_trainer_start(t, err);
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = open_outputs(t, err);
    st = rela_world_agree(t->world, st, err);
    st = st ? st : read_text(t, err);
    st = st ? st : check_room(t, err);
    st = rela_world_agree(t->world, st, err);
    return st ? st : rela_ranks_check(t->world, t->state.data_digest, &t->net, err);
}

/* Logs and config.yml. */
static rela_status open_outputs(rela_trainer *t, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, settings = RELA_BUFFER_INIT, head = RELA_BUFFER_INIT;
    rela_status st = rela_report_head(&head, &t->net.list, err);
    if (st == RELA_OK)
        st = rela_run_open_logs(&t->run, (rela_span){ head.data, head.len }, t->state.loop.update,
                                err);
    st = st ? st : rela_train_options_dump(&settings, &t->o, err);
    st = st ? st : rela_run_path(&path, &t->run, "config.yml", err);
    st = st ? st : rela_file_write(path.data, settings.data, settings.len, err);
    rela_buffer_free(&path);
    rela_buffer_free(&settings);
    rela_buffer_free(&head);
    return st;
}

/* Mistakes that depend on neither text nor checkpoints are found before BPE is learned, and before
 * a checkpoint is compared with the settings. */
static rela_status check_settings(const rela_trainer *t, rela_error *err)
{
    const char *const paths[] = { t->o.codes, t->o.vocab_src, t->o.vocab_tgt };
    rela_config c;
    rela_status st = rela_train_config(&c, &t->o, err);
    c.vocab_src = c.vocab_tgt = 4; /* not known yet */
    st = st ? st : rela_config_check(&c, err);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && st == RELA_OK; i++)
        if (paths[i] && !rela_file_exists(paths[i]))
            st = rela_fail_errno(err, ENOENT, "%s", paths[i]);
    return st ? st : rela_train_check_texts(&t->o, err);
}

/* Tokens of all sources, and of the target. */
static void count_tokens(uint64_t tokens[2], const rela_store *s)
{
    const size_t target = rela_store_sides(s) - 1;
    tokens[0] = 0;
    for (size_t i = 0; i < target; i++)
        tokens[0] += rela_store_tokens(s, i);
    tokens[1] = rela_store_tokens(s, target);
}

/* held NULL: the validation text; otherwise *held is NULL if no line is held out. */
static rela_status read_pairs(rela_trainer *t, rela_store **out, rela_store **held, rela_error *err)
{
    uint64_t tokens[2];
    rela_corpus_report report;
    rela_buffer table = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    if (rela_trainer_is_first(t))
        st = held ? rela_train_read(out, held, &report, &t->o, t->pipeline, err)
                  : rela_train_read_valid(out, &report, &t->o, t->pipeline, err);
    st = rela_ranks_share_store(out, t->world, &t->o, st, err);
    bool is_held = st == RELA_OK && held && *held;
    if (st == RELA_OK)
        rela_world_broadcast(t->world, &is_held, sizeof is_held);
    if (is_held)
        st = rela_ranks_share_store(held, t->world, &t->o, st, err);
    if (st != RELA_OK)
        return st;
    const bool validation = !held;
    rela_world_broadcast(t->world, &report, sizeof report);
    count_tokens(tokens, *out);
    char counts[4][RELA_GROUPED_SIZE];
    rela_trainer_log(t, "%s: %s pair%s kept of %s, %s + %s tokens",
                     validation ? "validation text" : "training text",
                     rela_grouped(counts[0], report.kept), rela_plural(report.kept),
                     rela_grouped(counts[1], report.read), rela_grouped(counts[2], tokens[0]),
                     rela_grouped(counts[3], tokens[1]));
    if (report.kept != report.read && rela_corpus_report_table(&table, &report, err) == RELA_OK) {
        const char *at = table.data, *end = at + table.len;
        for (rela_span line; rela_next_line(&line, &at, end);)
            rela_trainer_log(t, "%.*s", (int)line.len, line.text);
    }
    rela_buffer_free(&table);
    if (report.kept == 0)
        return rela_fail(err, RELA_FORMAT, "%s: no pair of sentences is left (of %llu)",
                         validation ? t->o.valid_src : t->o.train_src,
                         (unsigned long long)report.read);
    return RELA_OK;
}

static rela_status refuse_text(const rela_trainer *t, rela_error *err)
{
    rela_buffer changed = RELA_BUFFER_INIT;
    rela_status st = rela_train_state_texts(&changed, &t->loaded, &t->o, err);
    if (st == RELA_OK)
        st = rela_fail(err, RELA_STATE,
                       "the training text is not the one this run was started with: %s; use "
                       "another directory to start afresh",
                       changed.len ? changed.data : "the files have changed");
    rela_buffer_free(&changed);
    return st;
}

/* Says what the run validates on if no text was given for it. */
static rela_status check_validation(rela_trainer *t, rela_error *err)
{
    char count[RELA_GROUPED_SIZE];
    if (t->o.valid_src)
        return RELA_OK;
    if (t->valid)
        rela_trainer_log(t,
                         "no validation text: %s pair%s of the training text held out for it, by "
                         "loss without BLEU",
                         rela_grouped(count, rela_store_size(t->valid)),
                         rela_plural(rela_store_size(t->valid)));
    else if (t->o.patience)
        return rela_fail(err, RELA_ARG,
                         "patience needs validation text, or training text of which lines can be "
                         "held out: 1,000 or more");
    return RELA_OK;
}

static rela_status read_text(rela_trainer *t, rela_error *err)
{
    rela_store *held = NULL;
    rela_status st = read_pairs(t, &t->train, &held, err);
    if (st == RELA_OK && t->o.valid_src) {
        rela_store_destroy(held); /* of a run that was started without validation text */
        st = read_pairs(t, &t->valid, NULL, err);
    } else {
        t->valid = held;
    }
    st = st ? st : check_validation(t, err);
    if (st != RELA_OK)
        return st;
    const uint64_t digest = rela_store_digest(t->train);
    if (t->state.loop.update > 0 && digest != t->state.data_digest)
        return refuse_text(t, err);
    t->state.data_digest = digest;
    if (t->o.bpe_dropout <= 0 && t->state.loop.position.sentences > rela_store_size(t->train))
        return rela_fail(
            err, RELA_FORMAT,
            "%s: the last checkpoint stands at sentence %llu of %u; remove it to go on "
            "from the one before",
            t->o.out, (unsigned long long)t->state.loop.position.sentences,
            rela_store_size(t->train));
    if (t->o.valid_src && t->o.valid_beam > 0)
        st = rela_valid_create(&t->translator, &t->net, t->pipeline, &t->o, t->world, err);
    return st;
}

rela_update_options rela_trainer_update_options(const rela_trainer *t)
{
    rela_update_options o = rela_train_step_options(&t->o);
    o.world = t->world;
    return o;
}

/* Checked before allocation: with overcommit the system would kill the process later rather than
 * refuse. Weights already loaded are not counted again. */
rela_status rela_trainer_check_memory(rela_trainer *t, const rela_config *c, rela_error *err)
{
    rela_net plan = { .config = *c, .k = rela_kern_get() };
    const rela_update_options so = rela_trainer_update_options(t);
    const rela_status st = rela_block_list_init(&plan.list, &plan.params, c, err);
    if (st != RELA_OK)
        return st;
    const size_t weights = plan.params.total * sizeof(real);
    const double each =
        (double)(t->net_ready ? 0 : weights) + (double)rela_updater_bytes(&plan, &so);
    const double need = each * (double)rela_world_local_size(t->world);
    const double available = (double)rela_memory_available();
    rela_net_deinit(&plan);
    if (available <= 0 || need <= available)
        return RELA_OK;
    return rela_fail(err, RELA_NOMEM,
                     "training this model needs %.0f MB of memory, but only %.0f MB are free; a "
                     "smaller model, fewer threads or smaller micro-batches need less",
                     need / 1e6, available / 1e6);
}

/* The name of a kind that forms no rows of weights; NULL: there is none. */
static const char *kind_without_rows(const rela_config *c)
{
    const char *name = NULL;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        for (size_t k = 0; k < rela_config_layers(c, i) * c->heads && !name; k++) {
            const rela_attn_kind *kind = rela_config_kind(c, i, k / c->heads, k % c->heads);
            name = kind->method ? kind->name : NULL;
        }
    return name;
}

/* Checks the disk space before hours are spent; logs the memory needed, and settings that waste
 * threads or bandwidth. */
static rela_status check_room(rela_trainer *t, rela_error *err)
{
    const rela_update_options so = rela_trainer_update_options(t);
    const size_t block = t->net.params.total * sizeof(real);
    const size_t need = block + rela_updater_bytes(&t->net, &so);
    const uint64_t disk = (uint64_t)block * 3 * ((uint64_t)t->o.keep + SPARE_FILES);
    const uint64_t free_bytes = rela_disk_free(t->o.out);
    t->memory = need;
    t->disk = disk;
    char count[RELA_GROUPED_SIZE], attention[RELA_ATTENTION_TEXT];
    rela_trainer_name_attention(attention, sizeof attention, &t->net.config);
    rela_trainer_log(t, "%s parameters; attention %s; %.1f MB of memory for training",
                     rela_grouped(count, t->net.params.count), attention, (double)need / 1e6);
    const char *formless = t->o.dropout_attention > 0 ? kind_without_rows(&t->net.config) : NULL;
    if (formless)
        rela_trainer_log(t, "attention %s forms no weights to drop: dropout leaves it as it is",
                         formless);
    const size_t threads = (size_t)rela_par_threads((int)t->o.threads) * rela_world_size(t->world);
    if (threads > (size_t)t->o.gradient_slots)
        rela_trainer_log(t, "%zu threads, but %lld gradient slots: no more compute at a time",
                         threads, (long long)t->o.gradient_slots);
    const size_t ranks = rela_world_size(t->world);
    if (ranks > (size_t)t->o.gradient_groups && t->o.gradient_slots >= 2 * (int64_t)ranks)
        rela_trainer_log(t,
                         "gradients of every slot are exchanged: %zu gradient groups or more "
                         "would send less",
                         ranks);
    if (free_bytes && free_bytes < disk / (t->state.loop.update ? 4 : 1))
        return rela_fail(err, RELA_IO, "%s: checkpoints need %.1f MB, but only %.1f MB are free",
                         t->o.out, (double)disk / 1e6, (double)free_bytes / 1e6);
    return RELA_OK;
}

static void cleanup(rela_trainer *t)
{
    rela_committer_destroy(t->committer);
    rela_buffer_free(&t->saving);
    rela_buffer_free(&t->unlogged);
    rela_valid_destroy(t->translator);
    rela_updater_destroy(t->updater);
    rela_batches_destroy(t->batches);
    rela_store_destroy(t->valid);
    rela_store_destroy(t->train);
    rela_extras_deinit(&t->loaded);
    if (t->net_ready)
        rela_net_deinit(&t->net);
    rela_pipeline_destroy(t->pipeline);
    rela_run_close(&t->run);
    if (t->holds_threads)
        rela_par_end();
}
