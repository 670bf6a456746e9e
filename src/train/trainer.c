/* SPDX-License-Identifier: MIT */
/* src/train/trainer.c - rela_train: joins the ranks, prepares text, model and run directory, and
 * runs the loop. */
#include "train/trainer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/par.h"
#include "format/model_text.h"
#include "train/text_check.h"
#include "train/training_log.h"
#include "train/training_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE_FILES = 3, ATTENTION_TEXT = 384 };

static int is_asked_to_stop(void *ctx);
static rela_status join(rela_trainer *t, rela_error *err);
static rela_status prepare(rela_trainer *t, rela_error *err);
static rela_status open_outputs(rela_trainer *t, rela_error *err);
static rela_status check_settings(const rela_trainer *t, rela_error *err);
static rela_status start_or_resume(rela_trainer *t, rela_error *err);
static rela_status resume(rela_trainer *t, uint64_t update, rela_error *err);
static rela_status load_checkpoint(rela_trainer *t, const char *path, uint64_t update,
                                   rela_error *err);
static rela_status start(rela_trainer *t, rela_error *err);
static rela_status start_from(rela_trainer *t, const rela_config *c, rela_error *err);
static rela_status configure_from(rela_trainer *t, const rela_config *c, rela_error *err);
static rela_status start_changed(rela_trainer *t, const rela_config *c, rela_error *err);
static rela_status check_preparation(const rela_trainer *t, rela_error *err);
static void name_attention(char *out, size_t size, const rela_config *c);
static rela_status read_text(rela_trainer *t, rela_error *err);
static rela_status check_memory(rela_trainer *t, const rela_config *c, rela_error *err);
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
    st = st ? st : start_or_resume(t, err);
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

/* What is wrong whatever the text and the checkpoints are: found before BPE is learned, and before
 * a checkpoint is compared with settings that are of no use. */
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

static rela_status start_or_resume(rela_trainer *t, rela_error *err)
{
    uint64_t update = 0, *updates = NULL;
    size_t n = 0;
    bool regular = true;
    rela_status st =
        rela_trainer_is_first(t) ? rela_run_newest(&update, &regular, &t->run, err) : RELA_OK;
    if ((st = rela_world_agree(t->world, st, err)) != RELA_OK)
        return st;
    rela_world_broadcast(t->world, &update, sizeof update);
    rela_world_broadcast(t->world, &regular, sizeof regular);
    t->interim = !regular;
    if (st == RELA_OK)
        st = update ? resume(t, update, err) : start(t, err);
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = rela_run_checkpoints(&updates, &n, &t->run, err);
    if (st == RELA_OK && n > 0) {
        /* They may be averaged into the result: find a wrong one now, not after hours. */
        const rela_train_run of = rela_trainer_run_of(t);
        st = rela_train_check_files(&of, updates, n - regular, err);
    }
    rela_mem_free(updates);
    return st;
}

/* Puts the path before messages about the contents of a file. */
static rela_status in_file(rela_status st, const char *path, rela_error *err)
{
    return st == RELA_FORMAT || st == RELA_STATE ? rela_fail_in(err, st, path) : st;
}

static rela_status resume(rela_trainer *t, uint64_t update, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_error why = { RELA_OK, "" };
    rela_status st = rela_run_checkpoint_path(&path, &t->run, update, !t->interim, err);
    if (st == RELA_OK && (st = load_checkpoint(t, path.data, update, &why)) == RELA_FORMAT)
        (void)rela_fail(err, st, "%.400s; remove this file to go on from the one before",
                        why.message);
    else if (st != RELA_OK && why.message[0])
        (void)rela_fail(err, st, "%s", why.message);
    st = st ? st : rela_train_pipeline_compare(t->pipeline, &t->o, err);
    st = st ? st : check_memory(t, &t->net.config, err);
    t->ended = t->interim || t->state.at_interval ? 0 : update;
    if (st == RELA_OK)
        rela_trainer_log(t, "resuming %s after update %llu", t->o.out,
                         (unsigned long long)t->state.loop.update);
    rela_buffer_free(&path);
    return st;
}

static rela_status load_checkpoint(rela_trainer *t, const char *path, uint64_t update,
                                   rela_error *err)
{
    const rela_checkpoint_options options = { .n_threads = (int)t->o.threads, .blocks = true };
    rela_status st = rela_net_load(&t->net, &t->loaded, path, &options, err);
    t->net_ready = st == RELA_OK;
    if (st != RELA_OK)
        return st;
    if (t->o.hold_out < 0)
        t->o.hold_out = rela_train_state_setting(&t->loaded, "hold-out", 0);
    st = rela_train_state_compare(&t->loaded, &t->o, err);
    st = st ? st : rela_train_state_restore(&t->state, &t->loaded, err);
    if (rela_train_state_had_valid(&t->loaded) != (t->o.valid_src != NULL))
        t->state.loop.best_update = t->state.loop.n_stale = 0; /* of another text */
    st = st ? st : rela_pipeline_restore(&t->pipeline, &t->loaded, err);
    const rela_train_run of = rela_trainer_run_of(t);
    st = st ? st : rela_train_check_loaded(&of, &t->loaded, update, err);
    return in_file(st, path, err);
}

static void log_languages(rela_trainer *t)
{
    char text[128];
    rela_train_languages_text(text, sizeof text, &t->o);
    rela_trainer_log(t, "languages: %s", text);
}

static rela_status start(rela_trainer *t, rela_error *err)
{
    rela_config c;
    rela_status st = rela_train_config(&c, &t->o, err);
    t->o.hold_out = rela_train_hold_out(&t->o);
    if (st == RELA_OK && t->o.init)
        return start_from(t, &c, err);
    if (st == RELA_OK && (t->o.tokenise || t->o.normalise))
        log_languages(t);
    if (st == RELA_OK && !t->o.vocab_src)
        rela_trainer_log(t, "learning %s from the training text",
                         t->o.merges && !t->o.codes ? "BPE and vocabulary" : "the vocabulary");
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = rela_train_pipeline(&t->pipeline, &t->o, err);
    st = rela_ranks_share_pipeline(&t->pipeline, t->world, st, err);
    if (st != RELA_OK)
        return st;
    c.vocab_src = rela_vocab_size(rela_pipeline_vocab(t->pipeline, 0));
    c.vocab_tgt =
        rela_vocab_size(rela_pipeline_vocab(t->pipeline, rela_pipeline_target(t->pipeline)));
    st = rela_config_check(&c, err);
    st = st ? st : check_memory(t, &c, err);
    st = st ? st : rela_net_init(&t->net, &c, err);
    if (st != RELA_OK)
        return st;
    t->net_ready = true;
    rela_params_init(t->net.weights, &t->net.params, (uint64_t)t->o.seed);
    return RELA_OK;
}

/* Starts from the weights of a model of the same dimensions as c. Other settings, such as dropout,
 * are those of c. */
static rela_status start_from(rela_trainer *t, const rela_config *c, rela_error *err)
{
    const char *path = t->o.init;
    const rela_checkpoint_options options = { .n_threads = (int)t->o.threads };
    rela_extras extras = { 0 };
    rela_config own = *c;
    rela_status st = rela_net_load(&t->net, &extras, path, &options, err);
    t->net_ready = st == RELA_OK;
    st = st ? st : in_file(rela_pipeline_restore(&t->pipeline, &extras, err), path, err);
    rela_extras_deinit(&extras);
    if (st != RELA_OK)
        return st;
    st = check_preparation(t, err);
    if (st != RELA_OK)
        return st;
    own.vocab_src = t->net.config.vocab_src;
    own.vocab_tgt = t->net.config.vocab_tgt;
    const char *other = rela_config_differs(&t->net.config, c);
    if (other && strcmp(other, "attention") == 0)
        return start_changed(t, &own, err);
    if (other)
        return rela_fail(err, RELA_ARG,
                         "%s was made with another %s than the options say; 'rela info' shows its "
                         "settings",
                         path, other);
    return configure_from(t, &own, err);
}

static rela_status configure_from(rela_trainer *t, const rela_config *c, rela_error *err)
{
    rela_status st = rela_config_check(c, err);
    st = st ? st : check_memory(t, c, err);
    st = st ? st : rela_net_configure(&t->net, c, err);
    if (st == RELA_OK)
        rela_trainer_log(t, "starting from the weights of %s", t->o.init);
    return st;
}

/* Another kind of attention can go on from the same weights if it has the same parameters. */
static rela_status start_changed(rela_trainer *t, const rela_config *c, rela_error *err)
{
    char before[ATTENTION_TEXT], after[ATTENTION_TEXT];
    rela_params wanted;
    const rela_params *p = &t->net.params;
    name_attention(before, sizeof before, &t->net.config);
    name_attention(after, sizeof after, c);
    rela_status st = rela_config_check(c, err);
    st = st ? st : rela_params_of(&wanted, c, false, err);
    if (st != RELA_OK)
        return st;
    bool same = wanted.n == p->n && wanted.total == p->total;
    for (size_t i = 0; i < p->n && same; i++)
        same = strcmp(wanted.items[i].name, p->items[i].name) == 0 &&
               wanted.items[i].rows == p->items[i].rows && wanted.items[i].cols == p->items[i].cols;
    rela_params_deinit(&wanted);
    if (!same)
        return rela_fail(
            err, RELA_ARG,
            "%s has attention %s; its weights do not fit %s, which has other parameters", t->o.init,
            before, after);
    rela_trainer_log(t, "attention changes from %s to %s", before, after);
    return configure_from(t, c, err);
}

/* RELA_ARG if text is to be prepared otherwise than for the model to start from. */
static rela_status check_preparation(const rela_trainer *t, rela_error *err)
{
    const rela_pipeline_parts *p = rela_pipeline_parts_of(t->pipeline);
    const size_t n = p->n_sides ? p->n_sides : 2;
    for (size_t i = 0; i < n; i++) {
        const rela_pipeline_side *s = &p->side[i];
        const char *language = i + 1 < n ? rela_train_language(&t->o, i) : t->o.tgt_lang;
        const char *what = t->o.tokenise && !s->tokenise     ? "tokenise"
                           : t->o.normalise && !s->normalise ? "normalise"
                           : t->o.lowercase && !s->lowercase ? "lowercase"
                                                             : NULL;
        if (what)
            return rela_fail(err, RELA_ARG, "%s does not %s its text, so its training cannot",
                             t->o.init, what);
        if (language && s->language[0] && strcmp(language, s->language) != 0)
            return rela_fail(err, RELA_ARG, "%s is a model for %s, not %s, as %s of its text",
                             t->o.init, s->language, language, i + 1 < n ? "source" : "target");
    }
    return RELA_OK;
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

rela_step_options rela_trainer_step_options(const rela_trainer *t)
{
    rela_step_options o = rela_train_step_options(&t->o);
    o.world = t->world;
    return o;
}

/* Checked before allocation: with overcommit the system would kill the process later rather than
 * refuse. Weights already loaded are not counted again. */
static rela_status check_memory(rela_trainer *t, const rela_config *c, rela_error *err)
{
    rela_net plan = { .config = *c, .k = rela_kern_get() };
    const rela_step_options so = rela_trainer_step_options(t);
    const rela_status st = rela_block_list_init(&plan.list, &plan.params, c, err);
    if (st != RELA_OK)
        return st;
    const size_t weights = plan.params.total * sizeof(real);
    const double each =
        (double)(t->net_ready ? 0 : weights) + (double)rela_stepper_bytes(&plan, &so);
    const double need = each * (double)rela_world_local_size(t->world);
    const double available = (double)rela_memory_free();
    rela_net_deinit(&plan);
    if (available <= 0 || need <= available)
        return RELA_OK;
    return rela_fail(err, RELA_NOMEM,
                     "training this model needs %.0f MB of memory, but only %.0f MB are free; a "
                     "smaller model, fewer threads or smaller micro-batches need less",
                     need / 1e6, available / 1e6);
}

/* "rela-g", or "rela-g (encoder), rela-g (decoder), topk:k=4 (cross)" if they differ. */
static void name_attention(char *out, size_t size, const rela_config *c)
{
    static const char *const PLACES[] = { "encoder", "decoder", "cross" };
    bool same = true;
    for (size_t i = 1; i < RELA_ATTN_N_TYPES; i++)
        same = same && strcmp(c->attention[i].text, c->attention[0].text) == 0;
    size_t used = 0;
    for (size_t i = 0; i < RELA_ATTN_N_TYPES && !same; i++, used = strlen(out))
        rela_format_text(out + used, size - used, "%s%s (%s)", i ? ", " : "", c->attention[i].text,
                         PLACES[i]);
    if (same)
        rela_format_text(out, size, "%s", c->attention[0].text);
}

/* Checks the disk space before hours are spent; logs the memory needed, and settings that waste
 * threads or bandwidth. */
static rela_status check_room(rela_trainer *t, rela_error *err)
{
    const rela_step_options so = rela_trainer_step_options(t);
    const size_t block = t->net.params.total * sizeof(real);
    const size_t need = block + rela_stepper_bytes(&t->net, &so);
    const uint64_t disk = (uint64_t)block * 3 * ((uint64_t)t->o.keep + SPARE_FILES);
    const uint64_t free_bytes = rela_disk_free(t->o.out);
    t->memory = need;
    t->disk = disk;
    char count[RELA_GROUPED_SIZE], attention[ATTENTION_TEXT];
    name_attention(attention, sizeof attention, &t->net.config);
    rela_trainer_log(t, "%s parameters; attention %s; %.1f MB of memory for training",
                     rela_grouped(count, t->net.params.count), attention, (double)need / 1e6);
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
    rela_stepper_destroy(t->stepper);
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
