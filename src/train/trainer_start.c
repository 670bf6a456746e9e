/* SPDX-License-Identifier: MIT */
/* src/train/trainer_start.c - where a run begins: new, from the weights of a model, or resumed from
 * its last checkpoint. */
#include "base/mem.h"
#include "format/model_text.h"
#include "train/text_compare.h"
#include "train/trainer.h"
#include "train/training_text.h"

#include <string.h>

static rela_status note_texts(rela_trainer *t, rela_error *err);
static rela_status resume(rela_trainer *t, uint64_t update, rela_error *err);
static rela_status load_checkpoint(rela_trainer *t, const char *path, uint64_t update,
                                   rela_error *err);
static rela_status start(rela_trainer *t, rela_error *err);
static rela_status start_from(rela_trainer *t, const rela_config *c, rela_error *err);
static rela_status configure_from(rela_trainer *t, const rela_config *c, rela_error *err);
static rela_status start_changed(rela_trainer *t, const rela_config *c, rela_error *err);
static rela_status check_preparation(const rela_trainer *t, rela_error *err);

rela_status rela_trainer_start(rela_trainer *t, rela_error *err)
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
    if (!update && rela_trainer_is_first(t))
        st = note_texts(t, err);
    st = rela_world_agree(t->world, st, err);
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

/* Says what is odd about the texts of a new run. */
static rela_status note_texts(rela_trainer *t, rela_error *err)
{
    rela_buffer notes = RELA_BUFFER_INIT;
    const rela_status st = rela_train_compare_texts(&notes, &t->o, err);
    const char *at = notes.data, *end = at + notes.len;
    for (rela_span line; st == RELA_OK && at && rela_next_line(&line, &at, end);)
        rela_trainer_log(t, "warning: %.*s", (int)line.len, line.text);
    rela_buffer_free(&notes);
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
    st = st ? st : rela_trainer_check_memory(t, &t->net.config, err);
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
    const rela_checkpoint_options options = { .n_threads = (int)t->o.threads, .arrays = true };
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
    st = st ? st : rela_trainer_check_memory(t, &c, err);
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
    st = st ? st : rela_trainer_check_memory(t, c, err);
    st = st ? st : rela_net_configure(&t->net, c, err);
    if (st == RELA_OK)
        rela_trainer_log(t, "starting from the weights of %s", t->o.init);
    return st;
}

/* Another kind of attention can go on from the same weights if it has the same parameters. */
static rela_status start_changed(rela_trainer *t, const rela_config *c, rela_error *err)
{
    char before[RELA_ATTENTION_TEXT], after[RELA_ATTENTION_TEXT];
    rela_params wanted;
    const rela_params *p = &t->net.params;
    rela_trainer_name_attention(before, sizeof before, &t->net.config);
    rela_trainer_name_attention(after, sizeof after, c);
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

void rela_trainer_name_attention(char *out, size_t size, const rela_config *c)
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
