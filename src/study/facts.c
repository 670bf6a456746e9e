/* SPDX-License-Identifier: MIT */
/* src/study/facts.c - see facts.h. */
#include "study/facts.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

static rela_status copy_key(rela_facts *f, rela_fact_key *key, rela_error *err);

rela_status rela_facts_init(rela_facts *f, rela_error *err)
{
    *f = (rela_facts){ .arena = rela_arena_create(0) };
    return f->arena ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for results");
}

void rela_facts_deinit(rela_facts *f)
{
    rela_arena_destroy(f->arena);
    rela_mem_free(f->items);
    rela_mem_free(f->scores);
    rela_mem_free(f->columns);
    rela_mem_free(f->maps);
    *f = (rela_facts){ .arena = NULL };
}

rela_fact_key rela_fact_any(const char *measure)
{
    return (rela_fact_key){
        .measure = measure, .seed = RELA_FACT_ANY, .layer = RELA_FACT_ANY, .head = RELA_FACT_ANY
    };
}

/* Room for one more item at the end of an array; NULL, with a message, when out of memory. */
static void *one_more(void *array, size_t *cap, size_t n, size_t size, rela_error *err)
{
    void *grown = n < *cap ? array : rela_mem_grow(array, cap, n + 1, size);
    if (!grown)
        (void)rela_fail(err, RELA_NOMEM, "no memory for %zu results", n);
    return grown;
}

rela_status rela_facts_add(rela_facts *f, const rela_fact *fact, rela_error *err)
{
    rela_fact *grown = one_more(f->items, &f->cap, f->n, sizeof *grown, err);
    if (!grown)
        return RELA_NOMEM;
    f->items = grown;
    grown[f->n] = *fact;
    const rela_status st = copy_key(f, &grown[f->n].key, err);
    f->n += st == RELA_OK;
    return st;
}

rela_status rela_facts_add_scores(rela_facts *f, const rela_fact_scores *s, rela_error *err)
{
    rela_fact_scores *grown = one_more(f->scores, &f->cap_scores, f->n_scores, sizeof *grown, err);
    if (!grown)
        return RELA_NOMEM;
    f->scores = grown;
    grown[f->n_scores] = *s;
    const rela_status st = copy_key(f, &grown[f->n_scores].key, err);
    f->n_scores += st == RELA_OK;
    return st;
}

rela_status rela_facts_add_column(rela_facts *f, const rela_fact_column *c, rela_error *err)
{
    rela_fact_column *grown =
        one_more(f->columns, &f->cap_columns, f->n_columns, sizeof *grown, err);
    if (!grown)
        return RELA_NOMEM;
    f->columns = grown;
    grown[f->n_columns] = *c;
    const rela_status st = copy_key(f, &grown[f->n_columns].key, err);
    f->n_columns += st == RELA_OK;
    return st;
}

rela_status rela_facts_add_map(rela_facts *f, const rela_fact_map *m, rela_error *err)
{
    rela_fact_map *grown = one_more(f->maps, &f->cap_maps, f->n_maps, sizeof *grown, err);
    if (!grown)
        return RELA_NOMEM;
    f->maps = grown;
    grown[f->n_maps] = *m;
    const rela_status st = copy_key(f, &grown[f->n_maps].key, err);
    f->n_maps += st == RELA_OK;
    return st;
}

const char *rela_facts_text(rela_facts *f, const char *text, size_t len)
{
    char *copy = rela_arena_alloc(f->arena, len + 1);
    if (!copy)
        return NULL;
    if (len)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

static rela_status copy_key(rela_facts *f, rela_fact_key *key, rela_error *err)
{
    const char **const texts[] = { &key->measure, &key->data, &key->model,
                                   &key->place,   &key->tag,  &key->test };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = *texts[i] ? *texts[i] : "";
        *texts[i] = *text ? rela_facts_text(f, text, strlen(text)) : "";
        if (!*texts[i])
            return rela_fail(err, RELA_NOMEM, "no memory for results");
    }
    return RELA_OK;
}

/* ---- queries ---- */

static bool same_text(const char *text, const char *query)
{
    return !query || strcmp(text, query) == 0;
}

static bool same_number(int64_t number, int64_t query)
{
    return query == RELA_FACT_EACH ? number >= 0 : query == RELA_FACT_ANY || number == query;
}

bool rela_fact_matches(const rela_fact_key *key, const rela_fact_key *query)
{
    return same_text(key->measure, query->measure) && same_text(key->model, query->model) &&
           same_text(key->data, query->data) && same_text(key->place, query->place) &&
           same_text(key->tag, query->tag) && same_text(key->test, query->test) &&
           same_number(key->seed, query->seed) && same_number(key->layer, query->layer) &&
           same_number(key->head, query->head);
}

const rela_fact *rela_facts_next(const rela_facts *f, const rela_fact_key *query, size_t *at)
{
    for (; *at < f->n; ++*at)
        if (rela_fact_matches(&f->items[*at].key, query))
            return &f->items[(*at)++];
    return NULL;
}

double rela_facts_mean(const rela_facts *f, const rela_fact_key *query, size_t *n)
{
    double sum = 0;
    size_t found = 0, at = 0;
    for (const rela_fact *fact; (fact = rela_facts_next(f, query, &at)); found++)
        sum += fact->value;
    if (n)
        *n = found;
    return found ? sum / (double)found : (double)NAN;
}
