/* SPDX-License-Identifier: MIT */
/* src/train/trainer_save.c - the checkpoints of a training run. */
#include "base/fault.h"
#include "format/model_text.h"
#include "train/trainer.h"

rela_status rela_trainer_write(rela_writer **out, rela_trainer *t, const char *path,
                               const real *const *moments, rela_error *err)
{
    rela_extras e = { 0 };
    const rela_checkpoint_options options = { .n_threads = (int)t->o.threads, .written = out };
    rela_train_state state = t->state;
    if (!moments) /* a model does not tell how long it took */
        state.loop.plan = (rela_time_plan){ .limit = 0 };
    state.adam_count = rela_updater_count(t->updater);
    state.at_interval = state.loop.update % (uint64_t)t->o.save_every == 0;
    rela_status st = rela_pipeline_store(&e, t->pipeline, err);
    if (st == RELA_OK)
        st = rela_train_state_store(&e, &state, &t->o, err);
    if (st == RELA_OK && moments)
        st = rela_extras_lend(&e, "adam.m", moments[0], err);
    if (st == RELA_OK && moments)
        st = rela_extras_lend(&e, "adam.v", moments[1], err);
    if (st == RELA_OK)
        st = rela_net_save(path, &t->net, &e, &options, err);
    rela_extras_deinit(&e);
    return st;
}

rela_status rela_trainer_save_to(rela_trainer *t, const char *path, const real *const *moments,
                                 rela_error *err)
{
    rela_writer *w = NULL;
    const rela_status st = rela_trainer_write(&w, t, path, moments, err);
    if (st == RELA_OK) {
        rela_committer_add(t->committer, w);
        t->committing = true;
    }
    return st;
}

rela_status rela_trainer_save_wait(rela_trainer *t, rela_error *err)
{
    rela_status st = t->save_error.status;
    if (st != RELA_OK)
        return rela_fail(err, st, "%s", t->save_error.message);
    if (!t->committing)
        return RELA_OK;
    t->committing = false;
    st = rela_committer_wait(t->committer, err);
    if (st == RELA_OK && t->saving.len) {
        st = rela_run_prune(&t->run, (size_t)t->o.keep, err);
        (void)rela_trainer_notify(
            t, (rela_train_event){ .kind = RELA_TRAIN_SAVED, .text = t->saving.data });
    }
    rela_buffer_clear(&t->saving);
    return st;
}

void rela_trainer_save_check(rela_trainer *t)
{
    if (t->committing && rela_committer_done(t->committer))
        t->save_error.status = rela_trainer_save_wait(t, &t->save_error);
}

static rela_status save(rela_trainer *t, const real *const *moments, bool regular, rela_error *err)
{
    rela_status st =
        t->saving.len || t->save_error.status ? rela_trainer_save_wait(t, err) : RELA_OK;
    if (st == RELA_OK && t->ended)
        st = rela_run_demote(&t->run, t->ended, err);
    t->ended = 0;
    if (st == RELA_OK)
        st = rela_run_checkpoint_path(&t->saving, &t->run, t->state.loop.update, regular, err);
    if (st == RELA_OK)
        st = rela_trainer_save_to(t, t->saving.data, moments, err);
    return st;
}

rela_status rela_trainer_save(rela_trainer *t, bool regular, rela_error *err)
{
    if (t->loop.max_time > 0)
        t->state.loop.plan.used = rela_trainer_used(t);
    const real *const moments[] = { rela_updater_moment(t->updater, 0),
                                    rela_updater_moment(t->updater, 1) };
    const bool is_first = rela_trainer_is_first(t);
    if (!is_first) { /* rank 0 reaches these faults while it writes */
        rela_fault_reach(RELA_FAULT_SAVE);
        rela_fault_reach(RELA_FAULT_COMMIT);
    }
    const rela_status st = is_first ? save(t, moments, regular, err) : RELA_OK;
    rela_updater_end_moments(t->updater);
    return rela_world_agree(t->world, st, err);
}
