/* SPDX-License-Identifier: MIT */
/* tests/unit/test_loop.c - the figures of reports and validations for both means of the loss, which
 * validation is the best, and which saves are regular. */
#include "base/rng.h"
#include "check.h"
#include "sweep.h"
#include "tiny_config.h"
#include "train/trainer.h"

#include <math.h>
#include <string.h>

enum { VOCAB = 19, PAIRS = 60, LEN_MAX = 9, CALLS_MAX = 64 };

/* A run on a small copying task, and what it reported and saved. */
typedef struct fixture {
    rela_trainer t;
    rela_loop_report reports[CALLS_MAX];
    rela_loop_score scores[CALLS_MAX];
    bool is_best[CALLS_MAX];
    uint64_t saves[CALLS_MAX], interims[CALLS_MAX]; /* updates */
    size_t n_reports, n_scores, n_saves, n_interims;
    double bleu[CALLS_MAX];      /* of each validation; 0s if none is set */
    uint64_t broken_until;       /* weights are not finite up to this update */
    int answer;                  /* given at the updates of wish_at */
    uint64_t wish_at[CALLS_MAX]; /* ends with 0 */
    uint64_t stop_at;            /* the validation of this update is stopped once; 0: none */
} fixture;

static void break_weights(fixture *f, bool broken)
{
    const rela_param *p = rela_params_find(&f->t.net.params, "dec.0.ffn.ln.gain");
    f->t.net.weights[p->offset] = broken ? (real)NAN : 1;
}

/* ---- what the loop calls, instead of trainer_report.c and trainer_save.c ---- */

rela_status rela_trainer_report(rela_trainer *t, const rela_loop_report *r, rela_error *err)
{
    fixture *f = t->ctx;
    (void)err;
    f->reports[f->n_reports++] = *r;
    return RELA_OK;
}

rela_status rela_trainer_bleu(rela_trainer *t, rela_loop_score *score, rela_error *err)
{
    fixture *f = t->ctx;
    if (f->stop_at == t->state.loop.update) {
        f->stop_at = 0;
        return rela_fail(err, RELA_CANCEL, "stopped");
    }
    if (t->loop.by_bleu)
        score->bleu = f->bleu[f->n_scores];
    return RELA_OK;
}

rela_status rela_trainer_validated(rela_trainer *t, const rela_loop_score *score, bool is_best,
                                   rela_error *err)
{
    fixture *f = t->ctx;
    (void)err;
    f->is_best[f->n_scores] = is_best;
    f->scores[f->n_scores++] = *score;
    return RELA_OK;
}

int rela_trainer_notify(rela_trainer *t, rela_train_event e)
{
    fixture *f = t->ctx;
    if (f->broken_until && e.update >= f->broken_until) {
        break_weights(f, false);
        f->broken_until = 0;
    }
    for (size_t i = 0; f->wish_at[i]; i++)
        if (f->wish_at[i] == e.update)
            return f->answer;
    return RELA_TRAIN_GO_ON;
}

void rela_trainer_log(rela_trainer *t, const char *format, ...)
{
    (void)t;
    (void)format;
}

rela_status rela_trainer_save(rela_trainer *t, bool regular, rela_error *err)
{
    fixture *f = t->ctx;
    (void)err;
    if (regular)
        f->saves[f->n_saves++] = t->state.loop.update;
    else
        f->interims[f->n_interims++] = t->state.loop.update;
    return RELA_OK;
}

void rela_trainer_save_check(rela_trainer *t)
{
    (void)t;
}

rela_status rela_trainer_save_wait(rela_trainer *t, rela_error *err)
{
    (void)t;
    (void)err;
    return RELA_OK;
}

rela_status rela_trainer_write(rela_writer **out, rela_trainer *t, const char *path,
                               const real *const *moments, rela_error *err)
{
    (void)out;
    (void)t;
    (void)path;
    (void)moments;
    (void)err;
    return RELA_OK;
}

static void make_store(fixture *f)
{
    rela_error err = { RELA_OK, "" };
    rela_rng r = rela_rng_start(3, 0);
    CHECK_OK(rela_store_create(&f->t.train, 2, 1 << 20, NULL, &err), err);
    for (uint64_t i = 0; i < PAIRS; i++) {
        int32_t ids[LEN_MAX];
        const size_t n = 1 + (size_t)rela_rng_below(&r, LEN_MAX - 1);
        for (size_t k = 0; k < n; k++)
            ids[k] = (int32_t)(3 + rela_rng_below(&r, VOCAB - 3));
        const rela_pair p = { { ids, ids }, { n, n }, i + 1 };
        CHECK_OK(rela_store_add(f->t.train, &p, &err), err);
    }
    CHECK_OK(rela_store_finish(f->t.train, &err), err);
}

static void start(fixture *f, bool sentence_mean)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    memset(f, 0, sizeof *f);
    tiny_config(&c);
    c.d = 16;
    c.ffn = 16;
    c.heads = 2;
    c.enc_layers = c.dec_layers = 1;
    c.vocab_src = c.vocab_tgt = VOCAB;
    c.max_len = 32;
    c.drop_embed = c.drop_residual = c.drop_attn = c.drop_ffn = 0;
    const rela_update_options so = { .n_threads = 1,
                                     .beta1 = 0.9,
                                     .beta2 = 0.98,
                                     .epsilon = 1e-8,
                                     .smooth = 0.1,
                                     .sentence_mean = sentence_mean };
    rela_batches_options bo;
    rela_batches_options_init(&bo, 64);
    make_store(f);
    CHECK_OK(rela_net_init(&f->t.net, &c, &err), err);
    rela_params_init(f->t.net.weights, &f->t.net.params, 1);
    CHECK_OK(rela_updater_create(&f->t.updater, &f->t.net, &so, &err), err);
    CHECK_OK(rela_batches_create(&f->t.batches, f->t.train, &bo, &err), err);
    f->t.ctx = f;
    f->t.valid = f->t.train;
    f->t.valid_tokens = 100;
    f->t.loop = (rela_loop_options){ .updates = 10,
                                     .report_every = 2,
                                     .valid_every = 2,
                                     .save_every = 4,
                                     .max_skipped = 100,
                                     .schedule = { .kind = RELA_SCHEDULE_CONSTANT, .rate = 0 } };
}

static rela_loop_end run(fixture *f)
{
    rela_error err = { RELA_OK, "" };
    rela_loop_end end = RELA_END_DONE;
    CHECK_OK(rela_trainer_run(&f->t, &end, &err), err);
    return end;
}

static void end(fixture *f)
{
    rela_batches_destroy(f->t.batches);
    rela_updater_destroy(f->t.updater);
    rela_net_deinit(&f->t.net);
    rela_store_destroy(f->t.train);
}

/* Sums over the pairs one by one: nll of all tokens, and the mean of each sentence. */
static void expect(fixture *f, double *nll, double *loss)
{
    rela_error err = { RELA_OK, "" };
    rela_batches_options o;
    rela_batches *b = NULL;
    rela_batch batch = { .last = false };
    double tokens = 0, sentences = 0;
    *nll = *loss = 0;
    rela_batches_options_init(&o, 1); /* a sentence per batch */
    CHECK_OK(rela_batches_create(&b, f->t.train, &o, &err), err);
    while (!batch.last) {
        rela_update_result r;
        CHECK_OK(rela_batches_next(b, &batch, &err), err);
        const rela_model_batch u = { .streams = { { batch.ids[0], batch.offsets[0], batch.n },
                                                  { batch.ids[1], batch.offsets[1], batch.n } } };
        CHECK_OK(rela_updater_score(f->t.updater, &r, &u, &err), err);
        CHECK(batch.n == 1, "%d sentences", (int)batch.n);
        *nll += r.nll;
        *loss += r.loss; /* the mean of a sentence, if the updater has means of sentences */
        tokens += (double)r.tgt_tokens;
        sentences++;
    }
    rela_batches_destroy(b);
    *nll /= tokens;
    *loss /= sentences;
}

static void check_near(const char *what, double got, double want)
{
    CHECK(fabs(got - want) <= 1e-5 * fabs(want), "%s is %.9g; expected %.9g", what, got, want);
}

/* The rate is 0: every report and validation is of the same weights. */
static void figures_are_means_of_what_they_say(void **state)
{
    (void)state;
    double nll[2], loss[2];
    for (int sentence = 0; sentence < 2; sentence++) {
        fixture f;
        double want_nll = 0, mean = 0;
        start(&f, sentence);
        f.t.valid_tokens = 37;
        CHECK(run(&f) == RELA_END_DONE && f.n_scores == 5 && f.n_reports == 5, "not all figures");
        expect(&f, &want_nll, &mean);
        for (size_t i = 0; i < f.n_scores; i++) {
            check_near("nll", f.scores[i].nll, want_nll);
            check_near("perplexity", f.scores[i].perplexity, exp(want_nll));
        }
        if (sentence)
            check_near("loss", f.scores[0].loss, mean);
        nll[sentence] = f.scores[0].nll;
        loss[sentence] = f.scores[0].loss;
        /* A report is of some of the sentences: near, but not the same. */
        CHECK(fabs(f.reports[0].nll - want_nll) < 0.2 * want_nll, "training nll %g, validation %g",
              f.reports[0].nll, want_nll);
        CHECK(fabs(f.reports[0].loss - loss[sentence]) < 0.2 * loss[sentence],
              "training loss %g, validation %g", f.reports[0].loss, loss[sentence]);
        end(&f);
    }
    check_near("nll of both means", nll[0], nll[1]);
    CHECK(fabs(loss[0] - loss[1]) < 0.1 * loss[0] && loss[0] != loss[1], "losses %g and %g",
          loss[0], loss[1]);
}

static void a_validation_that_is_not_finite_is_never_best(void **state)
{
    (void)state;
    for (int by_bleu = 0; by_bleu < 2; by_bleu++) {
        fixture f;
        start(&f, false);
        f.t.loop.by_bleu = by_bleu;
        f.broken_until = 3;
        break_weights(&f, true);
        (void)run(&f);
        CHECK(!isfinite(f.scores[0].nll), "nll is %g", f.scores[0].nll);
        CHECK(!f.is_best[0], "a validation that is not finite is the best");
        CHECK(isfinite(f.scores[1].nll) && f.is_best[1],
              "the first that is finite is not the best");
        CHECK(f.t.state.loop.best_update == 4, "best is update %d",
              (int)f.t.state.loop.best_update);
        CHECK(f.t.state.loop.n_stale == 3, "%d validations without a new best",
              (int)f.t.state.loop.n_stale);
        end(&f);
    }
}

static void intervals_without_an_update_have_no_loss(void **state)
{
    (void)state;
    fixture f;
    start(&f, true);
    f.broken_until = 4;
    break_weights(&f, true);
    (void)run(&f);
    for (size_t i = 0; i < f.n_reports; i++) {
        const rela_loop_report *r = &f.reports[i];
        const bool skipped = i < 2;
        CHECK(isnan(r->loss) == skipped && isnan(r->nll) == skipped &&
                  isnan(r->grad_norm) == skipped,
              "report %d: loss %g, nll %g, norm %g", (int)i, r->loss, r->nll, r->grad_norm);
        CHECK(r->n_skipped == (i == 0 ? 2 : 4), "report %d: %d skipped", (int)i, (int)r->n_skipped);
    }
    end(&f);
}

/* Scores of the other measure cannot be compared with. */
static void another_measure_starts_anew(void **state)
{
    (void)state;
    fixture f;
    start(&f, false);
    f.t.loop.by_bleu = true;
    f.bleu[0] = 30;
    f.bleu[1] = 31;
    f.t.loop.updates = 4;
    (void)run(&f);
    CHECK(f.is_best[0] && f.is_best[1] && f.t.state.loop.best == 31, "best is %g",
          f.t.state.loop.best);
    f.t.loop.by_bleu = false;
    f.t.loop.updates = 10;
    f.t.loop.schedule.rate = 1e-3;
    (void)run(&f);
    CHECK(f.is_best[2] && f.is_best[3] && f.t.state.loop.best < 0, "best is %g",
          f.t.state.loop.best);
    end(&f);
}

static void check_updates(const char *what, const uint64_t *got, size_t n, const uint64_t *want,
                          size_t n_want)
{
    CHECK(n == n_want, "%s: %d; expected %d", what, (int)n, (int)n_want);
    for (size_t i = 0; i < n; i++)
        CHECK(got[i] == want[i], "%s %d: update %d; expected %d", what, (int)i, (int)got[i],
              (int)want[i]);
}

static void regular_saves_do_not_depend_on_wishes(void **state)
{
    (void)state;
    const uint64_t regular[] = { 4, 8, 10 };
    for (int stops = 0; stops < 2; stops++) {
        fixture f;
        start(&f, false);
        f.answer = stops ? RELA_TRAIN_STOP : RELA_TRAIN_SAVE;
        const uint64_t at[] = { 1, 4, 5, 7, 10 }, interim[] = { 1, 5, 7 };
        memcpy(f.wish_at, at, sizeof at);
        size_t n_stopped = 0;
        while (run(&f) == RELA_END_STOPPED) {
            n_stopped++;
            f.t.interim = f.t.state.loop.update % 4 != 0 && f.t.state.loop.update != 10;
        }
        CHECK(n_stopped == (stops ? 5 : 0), "stopped %d times", (int)n_stopped);
        check_updates("regular", f.saves, f.n_saves, regular, 3);
        check_updates("interim", f.interims, f.n_interims, interim, 3);
        end(&f);
    }
}

/* A run that stops at 7 and then wants no more updates than that. */
static void the_end_is_saved_regularly(void **state)
{
    (void)state;
    fixture f;
    start(&f, false);
    f.answer = RELA_TRAIN_STOP;
    f.wish_at[0] = 7;
    CHECK(run(&f) == RELA_END_STOPPED && f.n_interims == 1 && f.n_saves == 1, "%d interim saves",
          (int)f.n_interims);
    f.t.interim = true;
    f.t.loop.updates = 7;
    CHECK(run(&f) == RELA_END_DONE, "not at the end");
    CHECK(f.n_saves == 2 && f.saves[1] == 7, "the end is not saved");
    f.t.interim = false;
    CHECK(run(&f) == RELA_END_DONE && f.n_saves == 2, "saved again");
    end(&f);
}

/* Workers and batches are made while measuring; a score that is not there is not added up. */
static void measuring_survives_no_memory(void **state)
{
    (void)state;
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        fixture f;
        rela_error err = { RELA_OK, "" };
        rela_loop_score score;
        start(&f, true);
        sweep_arm(&s);
        const rela_status st = rela_trainer_measure(&f.t, &score, f.t.train, &err);
        sweep_disarm(&s);
        CHECK(st == (s.hit ? RELA_NOMEM : RELA_OK), "call %d: status %d", (int)s.n, (int)st);
        CHECK((score.nll > 0) == (st == RELA_OK), "call %d: nll %g", (int)s.n, score.nll);
        end(&f);
    }
}

/* Rates are above 0, so that every figure depends on all updates before it. */
static void a_validation_that_was_stopped_comes_first_on_resume(void **state)
{
    (void)state;
    static fixture whole, f;
    start(&whole, false);
    whole.t.loop.schedule.rate = 1e-3;
    CHECK(run(&whole) == RELA_END_DONE, "it ends");
    start(&f, false);
    f.t.loop.schedule.rate = 1e-3;
    f.stop_at = 4;
    CHECK(run(&f) == RELA_END_STOPPED && f.n_interims == 1 && f.interims[0] == 4,
          "%d interim saves", (int)f.n_interims);
    CHECK(f.t.state.loop.unvalidated && f.n_scores == 1 && f.n_saves == 0, "%d validations",
          (int)f.n_scores);
    f.stop_at = 4; /* again: what is saved already is not saved again */
    CHECK(run(&f) == RELA_END_STOPPED && f.n_interims == 1, "%d interim saves", (int)f.n_interims);
    CHECK(run(&f) == RELA_END_DONE && !f.t.state.loop.unvalidated, "it ends");
    CHECK(f.n_scores == whole.n_scores && f.n_saves == whole.n_saves && f.saves[0] == 4,
          "%d validations, %d saves", (int)f.n_scores, (int)f.n_saves);
    for (size_t i = 0; i < f.n_scores; i++)
        CHECK(f.scores[i].nll == whole.scores[i].nll && f.is_best[i] == whole.is_best[i],
              "validation %d", (int)i);
    CHECK(f.n_reports == whole.n_reports, "%d reports", (int)f.n_reports);
    end(&f);
    end(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_means_of_what_they_say),
        cmocka_unit_test(a_validation_that_is_not_finite_is_never_best),
        cmocka_unit_test(intervals_without_an_update_have_no_loss),
        cmocka_unit_test(another_measure_starts_anew),
        cmocka_unit_test(regular_saves_do_not_depend_on_wishes),
        cmocka_unit_test(the_end_is_saved_regularly),
        cmocka_unit_test(measuring_survives_no_memory),
        cmocka_unit_test(a_validation_that_was_stopped_comes_first_on_resume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
