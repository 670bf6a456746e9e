/* SPDX-License-Identifier: MIT */
/* src/analyse/analyse_pack.c - serialises the results of some pairs, to send them from rank to rank
 * and to store them in the record of a job. */
#include "analyse/analyse_job.h"

#include <string.h>

enum { ARRAYS_MAX = 2 * RELA_STACKS_MAX + 8, DUMP_PARTS = 5 };

/* An array of known size. */
typedef struct array {
    void *data;
    size_t len;
} array;

/* All results of a block except its dump. */
static size_t list_arrays(array out[ARRAYS_MAX], const rela_analyse_job *j, rela_analyse_block *b)
{
    const rela_measures *m = &b->measures;
    rela_head_aer *a = &b->aer;
    const rela_tag_null *t = &b->tags;
    size_t n = 0;
    for (size_t i = 0; i < m->n_stacks; i++) {
        const size_t layers = m->stacks[i].layers;
        out[n++] = (array){ m->head[i], layers * m->heads * sizeof *m->head[i] };
        out[n++] = (array){ m->layer[i], layers * sizeof *m->layer[i] };
    }
    out[n++] = (array){ b->notes, b->n * sizeof *b->notes };
    out[n++] = (array){ b->null, rela_analyse_nulls(j) * sizeof *b->null };
    if (j->o.gold && !j->permuted) {
        out[n++] = (array){ a->sums, 2 * (a->layers * (a->heads + 1) + 1) * sizeof *a->sums };
        out[n++] = (array){ &a->pairs, sizeof a->pairs };
    }
    if (t->cells && !j->permuted)
        out[n++] = (array){ t->cells, t->layers * t->heads * t->n_tags * sizeof *t->cells };
    return n;
}

static void list_dump(rela_buffer *out[DUMP_PARTS], rela_dump_block *d)
{
    rela_buffer *const parts[DUMP_PARTS] = { &d->rows, &d->counts, &d->indices, &d->weights,
                                             &d->text };
    memcpy(out, parts, sizeof parts);
}

rela_status rela_analyse_block_pack(rela_buffer *out, const rela_analyse_job *j,
                                    rela_analyse_block *b, rela_error *err)
{
    array arrays[ARRAYS_MAX];
    rela_buffer *parts[DUMP_PARTS];
    const size_t n = list_arrays(arrays, j, b);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_append(out, arrays[i].data, arrays[i].len, err);
    list_dump(parts, &b->dump);
    for (size_t i = 0; i < DUMP_PARTS && st == RELA_OK && j->dumps && !j->permuted; i++) {
        const uint64_t len = parts[i]->len;
        st = rela_buffer_append(out, (const char *)&len, sizeof len, err);
        st = st || !len ? st : rela_buffer_append(out, parts[i]->data, parts[i]->len, err);
    }
    return st;
}

/* The next len bytes, or NULL. */
static const char *take(rela_span *rest, uint64_t len)
{
    if (len > rest->len)
        return NULL;
    const char *at = rest->text;
    *rest = (rela_span){ at + len, rest->len - len };
    return at;
}

static rela_status take_dump(rela_dump_block *d, rela_span *rest, bool *good, rela_error *err)
{
    rela_buffer *parts[DUMP_PARTS];
    rela_status st = RELA_OK;
    list_dump(parts, d);
    rela_dump_block_clear(d);
    for (size_t i = 0; i < DUMP_PARTS && *good && st == RELA_OK; i++) {
        uint64_t len = 0;
        const char *at = take(rest, sizeof len);
        if (at)
            memcpy(&len, at, sizeof len);
        const char *bytes = at ? take(rest, len) : NULL;
        *good = bytes != NULL;
        if (bytes && len)
            st = rela_buffer_append(parts[i], bytes, len, err);
    }
    return st;
}

rela_status rela_analyse_block_unpack(rela_analyse_block *b, const rela_analyse_job *j,
                                      const rela_buffer *bytes, rela_error *err)
{
    array arrays[ARRAYS_MAX];
    rela_span rest = { bytes->data, bytes->len };
    const size_t n = list_arrays(arrays, j, b);
    rela_status st = RELA_OK;
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        const char *at = take(&rest, arrays[i].len);
        good = at != NULL;
        if (at && arrays[i].len)
            memcpy(arrays[i].data, at, arrays[i].len);
    }
    if (j->dumps && !j->permuted)
        st = take_dump(&b->dump, &rest, &good, err);
    if (st == RELA_OK && (!good || rest.len))
        st = rela_fail(err, RELA_FORMAT,
                       "line %zu: a result of %zu bytes, which do not fit the model", b->first + 1,
                       bytes->len);
    return st;
}
