/* SPDX-License-Identifier: MIT */
/* src/study/expand_analyses.c - jobs that analyse models and measure speed, for expand_parts.h. */
#include "study/expand_parts.h"

#include "base/str.h"
#include "study/arena_text.h"
#include "study/read_parts.h"

#include <string.h>

enum { JOB_NAME_SIZE = 512 };

static void expand_model(rela_study_making *m, const rela_study_analysis *a,
                         const rela_study_data *d, const char *model);
static void begin(rela_study_making *m, const rela_study_analysis *a, const rela_study_job *train,
                  const char *what);
static void expand_text(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train);
static void expand_gold(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train);
static void expand_tags(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train);
static void expand_ranking(rela_study_making *m, const rela_study_analysis *a,
                           const rela_study_data *d, const rela_study_job *train);
static void expand_maps(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train);
static void add_copy(rela_study_making *m, const char *from, const char *to, const char *lines);
static void add_analyse(rela_study_making *m, const rela_study_analysis *a);
static bool wants(const rela_study_analysis *a, const char *what);
static void expand_speed(rela_study_making *m, size_t order);

void rela_study_expand_analyses(rela_study_making *m, size_t *order)
{
    for (size_t i = 0; i < m->s->n_analyses && m->st == RELA_OK; i++) {
        const rela_study_analysis *a = &m->s->analyses[i];
        const rela_study_data *d = rela_study_find_data(m->s, a->data);
        for (size_t k = 0; k < a->models.n && m->st == RELA_OK; k++)
            expand_model(m, a, d, a->models.items[k]);
    }
    expand_speed(m, *order);
}

/* By the model of the first seed that is trained. */
static void expand_model(rela_study_making *m, const rela_study_analysis *a,
                         const rela_study_data *d, const char *model)
{
    const rela_tree at = { .path = m->s->path, .line = a->line };
    size_t found = m->n;
    for (size_t i = 0; i < m->n && found == m->n; i++)
        if (m->jobs[i].kind == RELA_STUDY_TRAIN && strcmp(m->jobs[i].data, d->name) == 0 &&
            strcmp(m->jobs[i].model, model) == 0)
            found = i;
    if (found == m->n) {
        m->st = rela_tree_fail(&at, m->err, "no item of 'train:' trains %s on %s", model, d->name);
        return;
    }
    const rela_study_job train = m->jobs[found]; /* the list of jobs may move */
    if (wants(a, "sparsity") || wants(a, "null") || wants(a, "diversity") || wants(a, "permuted"))
        expand_text(m, a, d, &train);
    if (wants(a, "gold"))
        expand_gold(m, a, d, &train);
    if (wants(a, "tags"))
        expand_tags(m, a, d, &train);
    if (wants(a, "ranking"))
        expand_ranking(m, a, d, &train);
    if (wants(a, "maps"))
        expand_maps(m, a, d, &train);
}

static void begin(rela_study_making *m, const rela_study_analysis *a, const rela_study_job *train,
                  const char *what)
{
    (void)a;
    rela_study_begin(m, RELA_STUDY_ANALYSE, "analyse/%s/%s/%lld/%s", train->data, train->model,
                     (long long)train->seed, what);
    m->job.stage = "analyses";
    m->job.order = train->order + 1; /* between the stages of training */
    m->job.data = train->data;
    m->job.model = train->model;
    m->job.seed = train->seed;
    m->job.test = what;
    rela_study_input_job(m, "model", train->name, "model.rela");
}

static void expand_text(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train)
{
    begin(m, a, train, "text");
    rela_study_input_text(m, "src", d, d->tests[0].src, d->tests[0].line, d->generated);
    rela_study_input_text(m, "tgt", d, d->tests[0].tgt, d->tests[0].line, d->generated);
    add_analyse(m, a);
    rela_study_end_step(m);
    (void)rela_study_end(m, a->line);
}

static void expand_gold(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train)
{
    const bool generated = d->generated && strcmp(d->gold.name, "gold") != 0;
    begin(m, a, train, "gold");
    rela_study_input_text(m, "src", d, d->gold.src, d->gold.line, generated);
    rela_study_input_text(m, "tgt", d, d->gold.tgt, d->gold.line, generated);
    rela_study_input_text(m, "gold", d, d->gold_links, d->gold.line, generated);
    add_analyse(m, a);
    rela_study_words(m, "--gold", "in/gold", "--gold-base", d->gold_base ? "1" : "0",
                     RELA_WORDS_END);
    if (d->gold_reverse)
        rela_study_words(m, "--gold-reverse", RELA_WORDS_END);
    rela_study_end_step(m);
    (void)rela_study_end(m, a->line);
}

static void expand_tags(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train)
{
    const bool generated = d->generated && strcmp(d->tags.name, "tags") != 0;
    begin(m, a, train, "tags");
    rela_study_input_text(m, "src", d, d->tags.src, d->tags.line, generated);
    rela_study_input_text(m, "tgt", d, d->tags.tgt, d->tags.line, generated);
    rela_study_input_text(m, "tags", d, d->tags_file, d->tags.line, generated);
    add_analyse(m, a);
    rela_study_words(m, "--tags", "in/tags", RELA_WORDS_END);
    rela_study_end_step(m);
    (void)rela_study_end(m, a->line);
}

static void expand_ranking(rela_study_making *m, const rela_study_analysis *a,
                           const rela_study_data *d, const rela_study_job *train)
{
    const bool noise = d->noise.src != NULL, made = d->generated && !noise;
    const rela_study_pair *text = noise ? &d->noise : &d->tests[0];
    begin(m, a, train, "ranking");
    rela_study_input_text(m, "src", d, text->src, text->line, made);
    rela_study_input_text(m, "tgt", d, text->tgt, text->line, made);
    if (made) {
        rela_study_words(m, "study noise", "in/src", "in/tgt", "--out", "out", RELA_WORDS_END);
        rela_study_end_step(m);
    } else {
        add_copy(m, "in/src", "out/src", "0");
        add_copy(m, "in/tgt", "out/tgt", "0");
    }
    if (noise && d->noise_labels) {
        rela_study_input_file(m, "labels", d->noise_labels, text->line);
        add_copy(m, "in/labels", "out/labels.txt", "0");
    }
    rela_study_words(m, "filter", "in/model", "--src", "out/src", "--tgt", "out/tgt", "--by",
                     "null", "--dry-run", "--duplicates", "keep", "--keep-copies", "--max-ratio",
                     "0", "--max-overlap", "1", "--scores", "out/ranks.tsv", RELA_WORDS_END);
    rela_study_end_step(m);
    (void)rela_study_end(m, a->line);
}

/* The attention of every head on some sentences: those that the data names, or the first of the
 * built-in corpus. Sentences of other corpora are not kept among results. */
static void expand_maps(rela_study_making *m, const rela_study_analysis *a,
                        const rela_study_data *d, const rela_study_job *train)
{
    const bool own = d->examples.src != NULL;
    const rela_study_pair *text = own ? &d->examples : &d->tests[0];
    if (!own && !d->generated)
        return;
    begin(m, a, train, "maps");
    rela_study_input_text(m, "src", d, text->src, text->line, !own);
    rela_study_input_text(m, "tgt", d, text->tgt, text->line, !own);
    add_copy(m, "in/src", "out/examples.src.txt", "6");
    add_copy(m, "in/tgt", "out/examples.tgt.txt", "6");
    for (int64_t layer = 1; layer <= a->layers; layer++)
        for (int64_t head = 1; head <= a->heads; head++) {
            const char *l = rela_arena_printf(m->s->arena, "%lld", (long long)layer);
            const char *h = rela_arena_printf(m->s->arena, "%lld", (long long)head);
            const char *out = rela_arena_printf(m->s->arena, "out/links-%lld-%lld.txt",
                                                (long long)layer, (long long)head);
            if (!l || !h || !out) {
                m->st = rela_study_no_memory(m->s, m->err);
                return;
            }
            rela_study_words(m, "align", "in/model", "--src", "out/examples.src.txt", "--tgt",
                             "out/examples.tgt.txt", "--soft", "--layer", l, "--head", h,
                             "--output", out, RELA_WORDS_END);
            rela_study_end_step(m);
        }
    (void)rela_study_end(m, a->line);
}

static void add_copy(rela_study_making *m, const char *from, const char *to, const char *lines)
{
    rela_study_words(m, "study excerpt", from, "--output", to, "--lines", lines, RELA_WORDS_END);
    rela_study_end_step(m);
}

/* Names of models are not part of keys. */
static void add_analyse(rela_study_making *m, const rela_study_analysis *a)
{
    rela_study_words(m, "analyse", "in/model", "--names", "model", "--src", "in/src", "--tgt",
                     "in/tgt", "--out", "out", RELA_WORDS_END);
    if (a->limit > 0) {
        const char *limit = rela_arena_printf(m->s->arena, "%lld", (long long)a->limit);
        if (limit)
            rela_study_words(m, "--limit", limit, RELA_WORDS_END);
        else if (m->st == RELA_OK)
            m->st = rela_study_no_memory(m->s, m->err);
    }
}

static bool wants(const rela_study_analysis *a, const char *what)
{
    for (size_t i = 0; i < a->what.n; i++)
        if (strcmp(a->what.items[i], what) == 0)
            return true;
    return false;
}

static void expand_speed(rela_study_making *m, size_t order)
{
    for (size_t i = 0; i < m->s->n_speed && m->st == RELA_OK; i++) {
        const rela_study_speed *p = &m->s->speed[i];
        rela_study_begin(m, RELA_STUDY_SPEED, "speed/%s", p->what);
        m->job.stage = "speed";
        m->job.order = order;
        m->job.test = p->what;
        rela_study_words(m, "bench", p->what, "--out", "out", RELA_WORDS_END);
        rela_study_words_of(m, p->settings);
        rela_study_end_step(m);
        (void)rela_study_end(m, p->line);
    }
}
