/* SPDX-License-Identifier: MIT */
/* src/study/expand.c - the jobs of a study: making and sorting them. */
#include "study/expand_parts.h"

#include "base/mem.h"
#include "base/str.h"
#include "study/arena_text.h"
#include "study/read_parts.h"

#include <stdlib.h>
#include <string.h>

static bool make_room(rela_study_making *m, void *array, size_t *room, size_t need, size_t size);
static bool same_job(const rela_study_job *a, const rela_study_job *b);
static void keep(rela_study_making *m);
static void *copy(rela_study_making *m, const void *items, size_t n, size_t size);
static void sort(rela_study_making *m);

rela_status rela_study_expand(rela_study_jobs *out, rela_study *s, rela_error *err)
{
    rela_study_making m = { .s = s, .err = err, .names = rela_map_create(0) };
    size_t order = 1;
    *out = (rela_study_jobs){ .study = s };
    if (!m.names)
        m.st = rela_study_no_memory(s, err);
    rela_study_expand_training(&m, &order);
    rela_study_expand_analyses(&m, &order);
    if (m.st == RELA_OK)
        sort(&m);
    const rela_study_job *jobs = copy(&m, m.jobs, m.n, sizeof *jobs);
    if (m.st == RELA_OK)
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): the copy is ours to change */
        *out = (rela_study_jobs){ s, (rela_study_job *)(uintptr_t)jobs, m.n };
    rela_map_destroy(m.names);
    rela_mem_free(m.jobs);
    rela_mem_free(m.inputs);
    rela_mem_free(m.steps);
    rela_mem_free(m.words);
    return m.st;
}

void rela_study_begin(rela_study_making *m, rela_study_kind kind, const char *format, ...)
{
    enum { NAME_SIZE = 512 };
    char name[NAME_SIZE];
    va_list args;
    va_start(args, format);
    rela_format(name, sizeof name, format, args);
    va_end(args);
    m->job = (rela_study_job){ .kind = kind, .setting = -1, .seed = -1 };
    m->n_words = 0;
    m->job.name = rela_arena_copy(m->s->arena, name, strlen(name));
    if (!m->job.name && m->st == RELA_OK)
        m->st = rela_study_no_memory(m->s, m->err);
}

/* The arrays of the job that is being made grow and are used again for the next one. */
static bool make_room(rela_study_making *m, void *array, size_t *room, size_t need, size_t size)
{
    void **p = array;
    if (m->st != RELA_OK || need <= *room)
        return m->st == RELA_OK;
    void *grown = rela_mem_grow(*p, room, need, size);
    if (grown)
        *p = grown;
    else
        m->st = rela_study_no_memory(m->s, m->err);
    return grown != NULL;
}

static void add_input(rela_study_making *m, rela_study_input input)
{
    if (make_room(m, &m->inputs, &m->inputs_room, m->job.n_inputs + 1, sizeof *m->inputs))
        m->inputs[m->job.n_inputs++] = input;
}

void rela_study_input_file(rela_study_making *m, const char *role, const char *path, size_t line)
{
    if (path)
        add_input(m, (rela_study_input){
                         .role = role, .path = path, .line = line, .job = RELA_STUDY_NO_JOB });
}

void rela_study_input_job(rela_study_making *m, const char *role, const char *job,
                          const char *output)
{
    const uint32_t number = m->st ? 0 : rela_map_find(m->names, job, strlen(job));
    if (m->st == RELA_OK && number == RELA_MAP_NONE)
        m->st = rela_fail(m->err, RELA_FORMAT, "%s: %s needs %s, which the study does not have",
                          m->s->path, m->job.name, job);
    if (m->st == RELA_OK && m->jobs[number].order > m->job.order)
        m->job.order = m->jobs[number].order;
    add_input(m, (rela_study_input){ .role = role, .job = (int)number, .output = output });
}

void rela_study_input_text(rela_study_making *m, const char *role, const rela_study_data *d,
                           const char *path, size_t line, bool generated)
{
    enum { NAME_SIZE = 256 };
    char job[NAME_SIZE];
    rela_format_text(job, sizeof job, "corpus/%s", d->name);
    if (path && generated)
        rela_study_input_job(m, role, job, path);
    else
        rela_study_input_file(m, role, path, line);
}

void rela_study_words(rela_study_making *m, ...)
{
    va_list args;
    va_start(args, m);
    for (const char *word = va_arg(args, const char *); word; word = va_arg(args, const char *))
        if (make_room(m, &m->words, &m->words_room, m->n_words + 1, sizeof *m->words))
            m->words[m->n_words++] = word;
    va_end(args);
}

void rela_study_words_of(rela_study_making *m, rela_study_settings settings)
{
    for (size_t i = 0; i < settings.n && m->st == RELA_OK; i++) {
        const rela_study_setting *o = &settings.items[i];
        const bool yes = strcmp(o->value, "true") == 0, no = strcmp(o->value, "false") == 0;
        const char *word = rela_arena_printf(m->s->arena, no ? "--no-%s" : "--%s", o->name);
        if (!word)
            m->st = rela_study_no_memory(m->s, m->err);
        else if (yes || no)
            rela_study_words(m, word, RELA_WORDS_END);
        else
            rela_study_words(m, word, o->value, RELA_WORDS_END);
    }
}

void rela_study_end_step(rela_study_making *m)
{
    if (!make_room(m, &m->steps, &m->steps_room, m->job.n_steps + 1, sizeof *m->steps))
        return;
    const char *const *words = copy(m, m->words, m->n_words, sizeof *words);
    m->steps[m->job.n_steps++] = (rela_study_step){ words, m->n_words };
    m->n_words = 0;
}

int rela_study_end(rela_study_making *m, size_t line)
{
    m->job.line = line;
    m->job.inputs = copy(m, m->inputs, m->job.n_inputs, sizeof *m->inputs);
    m->job.steps = copy(m, m->steps, m->job.n_steps, sizeof *m->steps);
    if (m->st != RELA_OK)
        return RELA_STUDY_NO_JOB;
    const uint32_t number = rela_map_add(m->names, m->job.name, strlen(m->job.name));
    const rela_tree at = { .path = m->s->path, .line = line };
    if (number == RELA_MAP_NONE)
        m->st = rela_study_no_memory(m->s, m->err);
    else if (number == m->n)
        keep(m);
    else if (!same_job(&m->jobs[number], &m->job))
        m->st = rela_tree_fail(&at, m->err, "%s is asked for twice, with different options",
                               m->job.name);
    return (int)number;
}

static void keep(rela_study_making *m)
{
    if (make_room(m, &m->jobs, &m->room, m->n + 1, sizeof *m->jobs))
        m->jobs[m->n++] = m->job;
}

static bool same_job(const rela_study_job *a, const rela_study_job *b)
{
    bool same = a->n_steps == b->n_steps && a->n_inputs == b->n_inputs;
    for (size_t i = 0; same && i < a->n_steps; i++) {
        same = a->steps[i].n == b->steps[i].n;
        for (size_t k = 0; same && k < a->steps[i].n; k++)
            same = strcmp(a->steps[i].words[k], b->steps[i].words[k]) == 0;
    }
    return same;
}

static void *copy(rela_study_making *m, const void *items, size_t n, size_t size)
{
    void *array = m->st ? NULL : rela_arena_array(m->s->arena, n, size);
    if (array && n)
        memcpy(array, items, n * size);
    else if (!array && m->st == RELA_OK)
        m->st = rela_study_no_memory(m->s, m->err);
    return array;
}

rela_study_settings rela_study_layers(rela_study_making *m, const rela_study_settings *layers,
                                      size_t n)
{
    size_t room = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        room += layers[i].n;
    rela_study_setting *items = rela_arena_array(m->s->arena, room, sizeof *items);
    if (!items && m->st == RELA_OK)
        m->st = rela_study_no_memory(m->s, m->err);
    for (size_t i = 0; items && i < n; i++)
        for (size_t k = 0; k < layers[i].n; k++) {
            bool replaced = false;
            for (size_t l = i + 1; l < n && !replaced; l++)
                replaced = rela_study_setting_of(layers[l], layers[i].items[k].name) != NULL;
            if (!replaced)
                items[kept++] = layers[i].items[k];
        }
    return (rela_study_settings){ items, kept };
}

typedef struct placed {
    size_t order, number;
} placed;

static int compare(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* By order. Jobs were made after those they need, and have no lower order. */
static void sort(rela_study_making *m)
{
    placed *places = rela_mem_array(m->n + 1, sizeof *places);
    int *now = rela_mem_array(m->n + 1, sizeof *now);
    rela_study_job *sorted = rela_mem_array(m->n + 1, sizeof *sorted);
    if (!places || !now || !sorted) {
        m->st = rela_study_no_memory(m->s, m->err);
    } else {
        for (size_t i = 0; i < m->n; i++)
            places[i] = (placed){ m->jobs[i].order, i };
        qsort(places, m->n, sizeof *places, compare);
        for (size_t i = 0; i < m->n; i++) {
            now[places[i].number] = (int)i;
            sorted[i] = m->jobs[places[i].number];
        }
        for (size_t i = 0; i < m->n; i++)
            for (size_t k = 0; k < sorted[i].n_inputs; k++)
                if (sorted[i].inputs[k].job != RELA_STUDY_NO_JOB)
                    sorted[i].inputs[k].job = now[sorted[i].inputs[k].job];
        memcpy(m->jobs, sorted, m->n * sizeof *sorted);
    }
    rela_mem_free(places);
    rela_mem_free(now);
    rela_mem_free(sorted);
}
