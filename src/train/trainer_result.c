/* SPDX-License-Identifier: MIT */
/* src/train/trainer_result.c - the model that a run leaves: its last checkpoint, a mean of the last
 * ones or the best by validation, whichever is best on the validation text. */
#include "base/mem.h"
#include "train/curves.h"
#include "train/trainer.h"
#include "train/training_log.h"

#include <math.h>
#include <string.h>

enum {
    MEAN_TOKENS = 20000, /* of the target, by which means are compared: tells good from bad */
    NAME_MAX_BYTES = 64
};

typedef enum choice_kind { CHOICE_LAST, CHOICE_MEAN, CHOICE_BEST } choice_kind;

typedef struct choice {
    choice_kind kind;
    size_t n; /* checkpoints of the mean */
    rela_loop_score score;
} choice;

/* Checkpoints that the result may be made of. Rank 0 reads them and broadcasts the weights. */
typedef struct result {
    rela_trainer *t;
    uint64_t *updates; /* of the regular ones, ascending; rank 0 only */
    size_t n;
    size_t n_mean; /* at most so many of them are averaged */
    real *sum;     /* of the weights read so far; rank 0 only */
} result;

static rela_status open_result(result *r, rela_trainer *t, rela_error *err);
static rela_status choose(choice *c, result *r, rela_error *err);
static rela_status find_mean(choice *c, result *r, rela_error *err);
static rela_status try_best(choice *c, result *r, rela_error *err);
static rela_status load(result *r, const choice *c, rela_error *err);
static rela_status add_checkpoint(result *r, size_t nth_last, rela_error *err);
static rela_status share_weights(result *r, rela_status st, rela_error *err);
static rela_status measure(choice *c, result *r, rela_error *err);
static rela_status check_stop(rela_trainer *t, rela_error *err);
static bool is_better(const rela_trainer *t, const rela_loop_score *a, const rela_loop_score *b);
static void name_choice(char out[NAME_MAX_BYTES], const choice *c, const rela_trainer *t);
static rela_status save_model(rela_trainer *t, rela_error *err);
static void log_end(rela_trainer *t, const choice *c);

rela_status rela_trainer_finish(rela_trainer *t, rela_error *err)
{
    result r = { .t = t };
    choice c = { .kind = CHOICE_LAST };
    rela_status st = open_result(&r, t, err);
    st = st ? st : choose(&c, &r, err);
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = save_model(t, err);
    if (st == RELA_OK && rela_trainer_is_first(t))
        st = rela_train_figures(&t->run, &t->net.list, err);
    st = rela_world_agree(t->world, st, err);
    if (st == RELA_OK && t->state.loop.n_skipped)
        rela_trainer_log(t, "%llu of %llu updates were skipped: loss or gradient was not finite",
                         (unsigned long long)t->state.loop.n_skipped,
                         (unsigned long long)t->state.loop.update);
    if (st == RELA_OK && t->valid && !isfinite(c.score.nll))
        st = rela_fail(err, RELA_NOTFINITE,
                       "%s/model.rela cannot be used: its perplexity on the validation text is not "
                       "finite; a smaller learning rate or clipped gradients may help",
                       t->o.out);
    if (st == RELA_OK)
        log_end(t, &c);
    rela_mem_free(r.updates);
    rela_mem_free(r.sum);
    return rela_world_agree(t->world, st, err);
}

/* The last line says which model it is, and how good. */
static void log_end(rela_trainer *t, const choice *c)
{
    char text[RELA_REPORT_MAX], name[NAME_MAX_BYTES];
    name_choice(name, c, t);
    rela_report_score_text(text, &c->score);
    if (t->valid)
        rela_trainer_log(t, "the model is %s/model.rela: %s, %s on the %s text", t->o.out, name,
                         text, t->o.valid_src ? "validation" : "held-out");
    else
        rela_trainer_log(t, "the model is %s/model.rela: %s", t->o.out, name);
}

static rela_status open_result(result *r, rela_trainer *t, rela_error *err)
{
    rela_status st = RELA_OK;
    if (rela_trainer_is_first(t)) {
        /* Again: the process may have been killed between the last save and its pruning. */
        st = rela_run_prune(&t->run, (size_t)t->o.keep, err);
        st = st ? st : rela_run_checkpoints(&r->updates, &r->n, &t->run, err);
        r->sum = rela_mem_array(t->net.params.total, sizeof *r->sum);
        if (st == RELA_OK && !r->sum)
            st = rela_fail(err, RELA_NOMEM, "no memory to average checkpoints");
    }
    st = rela_world_agree(t->world, st, err);
    if (st == RELA_OK)
        rela_world_broadcast(t->world, &r->n, sizeof r->n);
    r->n_mean = r->n < (size_t)t->o.average ? r->n : (size_t)t->o.average;
    return st;
}

/* The weights of the net become those of the choice. Of equal ones the mean is taken. */
static rela_status choose(choice *c, result *r, rela_error *err)
{
    choice mean = { .kind = CHOICE_MEAN };
    rela_status st = RELA_OK;
    *c = (choice){ .kind = CHOICE_LAST };
    if (r->n_mean > 1)
        st = find_mean(&mean, r, err);
    st = st ? st : load(r, c, err);
    if (st == RELA_OK && (r->t->valid || mean.n > 1))
        st = measure(c, r, err);
    if (st == RELA_OK && mean.n > 1) {
        st = load(r, &mean, err);
        st = st ? st : measure(&mean, r, err);
        if (st == RELA_OK && is_better(r->t, &c->score, &mean.score))
            st = load(r, c, err);
        else
            *c = mean;
    }
    return st ? st : try_best(c, r, err);
}

/* Of the means of the last 1, 2, 3 ... checkpoints the one with the smallest loss: it does not
 * reach back to where the loss was still much higher. Without a validation text a sample of the
 * training text shows that as well. */
static rela_status find_mean(choice *c, result *r, rela_error *err)
{
    rela_trainer *t = r->t;
    const rela_store *text = t->valid ? t->valid : t->train;
    rela_store *sample = NULL;
    double least = HUGE_VAL;
    rela_status st = rela_valid_sample(&sample, text, MEAN_TOKENS, err);
    st = rela_world_agree(t->world, st, err);
    for (size_t k = 1; k <= r->n_mean && st == RELA_OK; k++) {
        rela_loop_score score;
        st = share_weights(r, rela_trainer_is_first(t) ? add_checkpoint(r, k, err) : RELA_OK, err);
        st = st ? st : rela_trainer_measure(t, &score, sample ? sample : text, err);
        st = st ? st : check_stop(t, err);
        if (st == RELA_OK && isfinite(score.nll) && score.nll < least) {
            least = score.nll;
            c->n = k;
        }
    }
    rela_store_destroy(sample);
    return st;
}

/* The best checkpoint, if its validation was better than that of the choice. The file is measured
 * again: the validation text may be another one by now. */
static rela_status try_best(choice *c, result *r, rela_error *err)
{
    rela_trainer *t = r->t;
    const rela_loop_state *s = &t->state.loop;
    choice best = { .kind = CHOICE_BEST };
    const double own = s->best_is_bleu ? c->score.bleu : -c->score.nll;
    if (!t->valid || s->best_update == 0 || s->best_update == s->update || own >= s->best)
        return RELA_OK;
    rela_status st = load(r, &best, err);
    if (st == RELA_IO || st == RELA_FORMAT) {
        rela_trainer_log(t, "without the best checkpoint: %s", err ? err->message : "not readable");
        return load(r, c, err);
    }
    st = st ? st : measure(&best, r, err);
    if (st == RELA_OK && is_better(t, &best.score, &c->score))
        *c = best;
    else if (st == RELA_OK)
        st = load(r, c, err);
    return st;
}

static rela_status load(result *r, const choice *c, rela_error *err)
{
    rela_trainer *t = r->t;
    const rela_train_run run = rela_trainer_run_of(t);
    const size_t n = c->kind == CHOICE_MEAN ? c->n : 1;
    rela_status st = RELA_OK;
    if (rela_trainer_is_first(t) && c->kind == CHOICE_BEST)
        st = rela_train_read_best(t->net.weights, &run, t->state.loop.best_update, err);
    else if (rela_trainer_is_first(t))
        for (size_t k = 1; k <= n && st == RELA_OK; k++)
            st = add_checkpoint(r, k, err);
    return share_weights(r, st, err);
}

/* Makes the weights the mean of the last so many checkpoints, after that of one less. */
static rela_status add_checkpoint(result *r, size_t nth_last, rela_error *err)
{
    rela_trainer *t = r->t;
    const rela_train_run run = rela_trainer_run_of(t);
    const size_t total = t->net.params.total;
    real *weights = t->net.weights;
    const rela_status st = rela_train_read_weights(weights, &run, r->updates[r->n - nth_last], err);
    if (st != RELA_OK)
        return st;
    if (nth_last == 1)
        memset(r->sum, 0, total * sizeof *r->sum);
    t->net.k->axpy(r->sum, 1, weights, total);
    memset(weights, 0, total * sizeof *weights);
    t->net.k->axpy(weights, 1 / (real)nth_last, r->sum, total);
    return RELA_OK;
}

/* st: status of reading them on this rank. */
static rela_status share_weights(result *r, rela_status st, rela_error *err)
{
    rela_trainer *t = r->t;
    st = rela_world_agree(t->world, st, err);
    if (st == RELA_OK)
        rela_world_broadcast(t->world, t->net.weights, t->net.params.total * sizeof(real));
    return st;
}

/* On the validation text; without one the loss on the training text. */
static rela_status measure(choice *c, result *r, rela_error *err)
{
    rela_trainer *t = r->t;
    char name[NAME_MAX_BYTES], text[RELA_REPORT_MAX];
    rela_store *sample = NULL;
    rela_status st = RELA_OK;
    if (c->kind == CHOICE_LAST && t->n_last == t->state.loop.update) {
        c->score = t->last; /* measured a moment ago */
    } else if (t->valid) {
        st = rela_trainer_measure(t, &c->score, t->valid, err);
        st = st ? st : rela_trainer_bleu(t, &c->score, err);
    } else {
        st = rela_valid_sample(&sample, t->train, MEAN_TOKENS, err);
        st = rela_world_agree(t->world, st, err);
        st = st ? st : rela_trainer_measure(t, &c->score, sample ? sample : t->train, err);
        rela_store_destroy(sample);
    }
    if (st != RELA_OK)
        return st;
    name_choice(name, c, t);
    rela_report_score_text(text, &c->score);
    rela_trainer_log(t, "%s: %s%s", name, text, t->valid ? "" : " on the training text");
    return check_stop(t, err);
}

/* The last checkpoint is saved: a run that is stopped here ends the same way when it is resumed. */
static rela_status check_stop(rela_trainer *t, rela_error *err)
{
    const rela_loop_state *s = &t->state.loop;
    const int answer = rela_trainer_notify(t, (rela_train_event){ .kind = RELA_TRAIN_UPDATE,
                                                                  .update = s->update,
                                                                  .updates = rela_trainer_total(t),
                                                                  .epoch = s->position.epoch });
    if (rela_world_max(t->world, answer == RELA_TRAIN_STOP))
        return rela_fail(err, RELA_CANCEL, "stopped after update %llu; the run can be resumed",
                         (unsigned long long)s->update);
    return RELA_OK;
}

/* By BLEU if both have it and the run goes by it, otherwise by the loss. */
static bool is_better(const rela_trainer *t, const rela_loop_score *a, const rela_loop_score *b)
{
    if (!isfinite(a->nll) || !isfinite(b->nll))
        return isfinite(a->nll);
    return t->loop.by_bleu && a->bleu >= 0 && b->bleu >= 0 ? a->bleu > b->bleu : a->nll < b->nll;
}

static void name_choice(char out[NAME_MAX_BYTES], const choice *c, const rela_trainer *t)
{
    if (c->kind == CHOICE_MEAN)
        rela_format_text(out, NAME_MAX_BYTES, "mean of the last %zu checkpoints", c->n);
    else if (c->kind == CHOICE_BEST)
        rela_format_text(out, NAME_MAX_BYTES, "best checkpoint, update %llu",
                         (unsigned long long)t->state.loop.best_update);
    else
        rela_format_text(out, NAME_MAX_BYTES, "last checkpoint");
}

static rela_status save_model(rela_trainer *t, rela_error *err)
{
    rela_writer *w = NULL;
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_run_path(&path, &t->run, "model.rela", err);
    st = st ? st : rela_trainer_write(&w, t, path.data, NULL, err);
    st = st ? st : rela_writer_commit(w, err);
    rela_buffer_free(&path);
    return st;
}
