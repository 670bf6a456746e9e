/* SPDX-License-Identifier: MIT */
/* src/study/expand_training.c - jobs that make corpora, tune, train and score, for expand_parts.h.
 */
#include "study/expand_parts.h"

#include "base/str.h"
#include "study/arena_text.h"
#include "study/read_parts.h"

#include <string.h>

enum { JOB_NAME_SIZE = 512, NUMBER_SIZE = 24 };

static void expand_corpora(rela_study_making *m);
static void expand_tuning(rela_study_making *m);
static void expand_choice(rela_study_making *m, const char *model);
static void expand_row(rela_study_making *m, const rela_study_row *r, size_t order);
static void expand_train(rela_study_making *m, const rela_study_row *r, const rela_study_data *d,
                         const rela_study_model *model, int64_t seed, size_t order);
static void expand_score(rela_study_making *m, const rela_study_job *train,
                         const rela_study_data *d, const rela_study_pair *test, size_t order);
static void add_training(rela_study_making *m, const rela_study_data *d,
                         rela_study_settings settings, int64_t seed);
static rela_study_settings without_tuned(rela_study_making *m, rela_study_settings settings,
                                         const char *tuned_as);

void rela_study_expand_training(rela_study_making *m, size_t *order)
{
    expand_corpora(m);
    if (m->st == RELA_OK && m->s->tuning.data)
        expand_tuning(m);
    *order = 2;
    for (size_t i = 0; i < m->s->n_rows && m->st == RELA_OK; i++) {
        /* One stage may have several items; twice the number, as analyses come between. */
        size_t first = 0;
        while (strcmp(m->s->rows[first].stage, m->s->rows[i].stage) != 0)
            first++;
        expand_row(m, &m->s->rows[i], *order + 2 * first);
    }
    *order += 2 * m->s->n_rows;
}

static void expand_corpora(rela_study_making *m)
{
    for (size_t i = 0; i < m->s->n_data && m->st == RELA_OK; i++) {
        const rela_study_data *d = &m->s->data[i];
        if (!d->generated)
            continue;
        rela_study_begin(m, RELA_STUDY_CORPUS, "corpus/%s", d->name);
        m->job.stage = "corpora";
        m->job.data = d->name;
        rela_study_words(m, "corpus", "--out", "out", RELA_WORDS_END);
        rela_study_words_of(m, d->corpus);
        if (d->reverse)
            rela_study_words(m, "--reverse", RELA_WORDS_END);
        rela_study_end_step(m);
        (void)rela_study_end(m, d->line);
    }
}

static void expand_tuning(rela_study_making *m)
{
    const rela_study_tuning *t = &m->s->tuning;
    const rela_study_data *d = rela_study_find_data(m->s, t->data);
    for (size_t i = 0; i < t->models.n && m->st == RELA_OK; i++) {
        const rela_study_model *model = rela_study_find_model(m->s, t->models.items[i]);
        for (size_t k = 0; k < t->n_settings && m->st == RELA_OK; k++) {
            const rela_study_settings layers[] = { m->s->defaults, d->text, model->settings,
                                                   t->train, t->settings[i][k] };
            rela_study_begin(m, RELA_STUDY_TUNE, "tune/%s/%zu", model->name, k + 1);
            m->job.stage = "tuning";
            m->job.order = 1;
            m->job.data = d->name;
            m->job.model = model->name;
            m->job.setting = (int)k;
            add_training(m, d, rela_study_layers(m, layers, sizeof layers / sizeof *layers),
                         t->seed);
            (void)rela_study_end(m, t->line);
        }
        expand_choice(m, model->name);
    }
}

static void expand_choice(rela_study_making *m, const char *model)
{
    const rela_study_tuning *t = &m->s->tuning;
    char job[JOB_NAME_SIZE];
    size_t which = 0;
    while (strcmp(t->models.items[which], model) != 0)
        which++;
    rela_study_begin(m, RELA_STUDY_CHOOSE, "choose/%s", model);
    m->job.stage = "tuning";
    m->job.order = 1;
    m->job.data = t->data;
    m->job.model = model;
    rela_study_words(m, "study choose", "--by", t->by, "--out", "out", RELA_WORDS_END);
    for (size_t k = 0; k < t->n_settings && m->st == RELA_OK; k++) {
        const rela_study_settings *s = &t->settings[which][k];
        const char *text = "", *role = rela_arena_printf(m->s->arena, "%zu", k + 1);
        const char *file = rela_arena_printf(m->s->arena, "in/%zu", k + 1);
        for (size_t l = 0; l < s->n && text; l++)
            text = rela_arena_printf(m->s->arena, "%s%s%s=%s", text, l ? " " : "", s->items[l].name,
                                     s->items[l].value);
        if (!text || !role || !file) {
            m->st = rela_study_no_memory(m->s, m->err);
            return;
        }
        rela_format_text(job, sizeof job, "tune/%s/%zu", model, k + 1);
        rela_study_input_job(m, role, job, "valid.tsv");
        rela_study_words(m, file, "--setting", text, RELA_WORDS_END);
    }
    rela_study_end_step(m);
    (void)rela_study_end(m, t->line);
}

static void expand_row(rela_study_making *m, const rela_study_row *r, size_t order)
{
    const rela_study_data *d = rela_study_find_data(m->s, r->data);
    for (size_t i = 0; i < r->n_seeds; i++)
        for (size_t k = 0; k < r->models.n && m->st == RELA_OK; k++)
            expand_train(m, r, d, rela_study_find_model(m->s, r->models.items[k]), r->seeds[i],
                         order);
}

static void expand_train(rela_study_making *m, const rela_study_row *r, const rela_study_data *d,
                         const rela_study_model *model, int64_t seed, size_t order)
{
    char choice[JOB_NAME_SIZE];
    const rela_study_settings layers[] = { without_tuned(m, m->s->defaults, model->tuned_as),
                                           d->text, model->settings, r->train };
    rela_study_begin(m, RELA_STUDY_TRAIN, "train/%s/%s/%lld", d->name, model->name,
                     (long long)seed);
    m->job.stage = r->stage;
    m->job.order = order;
    m->job.data = d->name;
    m->job.model = model->name;
    m->job.seed = seed;
    if (model->tuned_as) {
        rela_format_text(choice, sizeof choice, "choose/%s", model->tuned_as);
        rela_study_input_job(m, "choice", choice, "choice.yml");
    }
    add_training(m, d, rela_study_layers(m, layers, sizeof layers / sizeof *layers), seed);
    const int number = rela_study_end(m, r->line);
    for (size_t i = 0; i < d->n_tests && m->st == RELA_OK; i++)
        expand_score(m, &m->jobs[number], d, &d->tests[i], order);
    if (d->valid.src && m->st == RELA_OK)
        expand_score(m, &m->jobs[number], d, &d->valid, order);
}

/* Codes and vocabularies are learned by every training: the same for all models of a data entry,
 * as they depend on the text and its options only. */
static void add_training(rela_study_making *m, const rela_study_data *d,
                         rela_study_settings settings, int64_t seed)
{
    const bool own = d->generated;
    const char *number = rela_arena_printf(m->s->arena, "%lld", (long long)seed);
    if (!number) {
        m->st = rela_study_no_memory(m->s, m->err);
        return;
    }
    rela_study_input_text(m, "train-src", d, d->train.src, d->train.line, own);
    rela_study_input_text(m, "train-tgt", d, d->train.tgt, d->train.line, own);
    rela_study_input_text(m, "valid-src", d, d->valid.src, d->valid.line, own);
    rela_study_input_text(m, "valid-tgt", d, d->valid.tgt, d->valid.line, own);
    rela_study_words(m, "train", "--out", "run", "--train-src", "in/train-src", "--train-tgt",
                     "in/train-tgt", "--src-lang", d->src, "--tgt-lang", d->tgt, "--seed", number,
                     RELA_WORDS_END);
    if (d->valid.src)
        rela_study_words(m, "--valid-src", "in/valid-src", "--valid-tgt", "in/valid-tgt",
                         RELA_WORDS_END);
    for (size_t i = 0; i < m->job.n_inputs && m->st == RELA_OK; i++)
        if (strcmp(m->inputs[i].role, "choice") == 0)
            rela_study_words(m, "--config", "in/choice", RELA_WORDS_END);
    rela_study_words_of(m, settings);
    rela_study_end_step(m);
}

/* What was tuned comes from the choice, as the command line would win over it. */
static rela_study_settings without_tuned(rela_study_making *m, rela_study_settings settings,
                                         const char *tuned_as)
{
    const rela_study_tuning *t = &m->s->tuning;
    if (!tuned_as)
        return settings;
    size_t which = 0, n = 0;
    while (strcmp(t->models.items[which], tuned_as) != 0)
        which++;
    rela_study_setting *items = rela_arena_array(m->s->arena, settings.n, sizeof *items);
    if (!items && m->st == RELA_OK)
        m->st = rela_study_no_memory(m->s, m->err);
    for (size_t i = 0; items && i < settings.n; i++)
        if (!rela_study_setting_of(t->settings[which][0], settings.items[i].name))
            items[n++] = settings.items[i];
    return (rela_study_settings){ items, n };
}

/* Each model translates a text once; statistics of every sentence are kept. */
static void expand_score(rela_study_making *m, const rela_study_job *train,
                         const rela_study_data *d, const rela_study_pair *test, size_t order)
{
    const rela_study_job made = *train; /* the list of jobs may move */
    const char *scores = "";
    for (size_t i = 0; i < m->s->scores.n && scores; i++)
        scores =
            rela_arena_printf(m->s->arena, "%s%s%s", scores, i ? "," : "", m->s->scores.items[i]);
    if (!scores) {
        m->st = rela_study_no_memory(m->s, m->err);
        return;
    }
    rela_study_begin(m, RELA_STUDY_SCORE, "score/%s/%s/%lld/%s", made.data, made.model,
                     (long long)made.seed, test->name);
    m->job.stage = made.stage;
    m->job.order = order;
    m->job.data = made.data;
    m->job.model = made.model;
    m->job.seed = made.seed;
    m->job.test = test->name;
    rela_study_input_job(m, "model", made.name, "model.rela");
    rela_study_input_text(m, "src", d, test->src, test->line, d->generated);
    rela_study_input_text(m, "tgt", d, test->tgt, test->line, d->generated);
    rela_study_words(m, "translate", "in/model", "--input", "in/src", "--output", "out/hyp",
                     RELA_WORDS_END);
    rela_study_words_of(m, m->s->translate);
    rela_study_end_step(m);
    rela_study_words(m, "study statistics", "in/tgt", "--input", "out/hyp", "--lang", d->tgt,
                     "--scores", scores, "--output", "out/stats.tsv.gz", RELA_WORDS_END);
    rela_study_end_step(m);
    (void)rela_study_end(m, test->line);
}
