/* SPDX-License-Identifier: MIT */
/* src/analyse/dump.c - see dump.h. */
#include "analyse/dump.h"

#include "analyse/npz.h"
#include "base/mem.h"

#include <string.h>

enum { ROWS, POINTERS, INDICES, WEIGHTS, TEXT, N_ARRAYS, PLACES = N_ARRAYS };

struct rela_dump {
    rela_npz *npz;
    size_t arrays[N_ARRAYS + 1];
    int64_t end; /* number of indices so far */
};

static rela_status see_row(rela_dump_block *b, const real *row, size_t n, rela_error *err);
static rela_status append_text(rela_dump_block *b, const rela_watched_text *t, const rela_vocab *v,
                               rela_error *err);
static rela_status name_places(rela_dump *d, const rela_block_list *list, rela_error *err);

void rela_dump_block_clear(rela_dump_block *b)
{
    rela_buffer_clear(&b->rows);
    rela_buffer_clear(&b->counts);
    rela_buffer_clear(&b->indices);
    rela_buffer_clear(&b->weights);
    rela_buffer_clear(&b->text);
}

void rela_dump_block_free(rela_dump_block *b)
{
    rela_buffer_free(&b->rows);
    rela_buffer_free(&b->counts);
    rela_buffer_free(&b->indices);
    rela_buffer_free(&b->weights);
    rela_buffer_free(&b->text);
}

rela_status rela_dump_add(rela_dump_block *b, const rela_heads *h, uint64_t number, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t k = 0; k < h->heads; k++)
        for (size_t q = 0; q < h->n_q && st == RELA_OK; q++) {
            const size_t n = rela_heads_keys(h, q);
            const int32_t row[] = { (int32_t)number, (int32_t)h->stack, (int32_t)h->layer,
                                    (int32_t)k,      (int32_t)q,        (int32_t)n };
            st = rela_buffer_append(&b->rows, (const char *)row, sizeof row, err);
            if (st == RELA_OK)
                st = see_row(b, h->w + (k * h->n_q + q) * h->n_k, n, err);
        }
    return st;
}

rela_status rela_dump_tokens(rela_dump_block *b, const rela_watched *p,
                             const rela_pipeline *pipeline, rela_error *err)
{
    const size_t target = rela_pipeline_target(pipeline);
    rela_status st = RELA_OK;
    for (size_t k = 0; k <= target && p->state == RELA_WATCHED && st == RELA_OK; k++) {
        const rela_watched_text *t = k == target ? &p->tgt : &p->src[k];
        st = append_text(b, t, rela_pipeline_vocab(pipeline, k), err);
        if (st == RELA_OK && k < target)
            st = rela_buffer_append_char(&b->text, '\t', err);
    }
    return st == RELA_OK ? rela_buffer_append_char(&b->text, '\n', err) : st;
}

rela_status rela_dump_open(rela_dump **out, const char *path, const rela_block_list *list,
                           rela_error *err)
{
    static const struct {
        const char *name;
        rela_npy_type type;
        size_t columns;
    } ARRAYS[N_ARRAYS] = { { "rows", RELA_NPY_I32, 6 },
                           { "indptr", RELA_NPY_I64, 0 },
                           { "indices", RELA_NPY_I32, 0 },
                           { "weights", RELA_NPY_F32, 0 },
                           { "tokens", RELA_NPY_U8, 0 } };
    *out = NULL;
    rela_dump *d = rela_mem_zalloc(sizeof *d);
    if (!d)
        return rela_fail(err, RELA_NOMEM, "%s: no memory", path);
    rela_status st = rela_npz_open(&d->npz, path, err);
    for (int i = 0; i < N_ARRAYS && st == RELA_OK; i++)
        st = rela_npz_add(&d->arrays[i], d->npz, ARRAYS[i].name, ARRAYS[i].type, ARRAYS[i].columns,
                          err);
    if (st == RELA_OK)
        st = rela_npz_append(d->npz, d->arrays[POINTERS], &d->end, 1, err);
    if (st == RELA_OK && rela_block_list_target(list) > 1)
        st = name_places(d, list, err);
    if (st != RELA_OK) {
        rela_dump_abort(d);
        return st;
    }
    *out = d;
    return RELA_OK;
}

rela_status rela_dump_write(rela_dump *d, rela_dump_block *b, rela_error *err)
{
    const size_t n = b->counts.len / sizeof(int64_t);
    rela_status st =
        rela_npz_append(d->npz, d->arrays[ROWS], b->rows.data, b->rows.len / sizeof(int32_t), err);
    int64_t *ends = (int64_t *)(void *)b->counts.data;
    for (size_t i = 0; i < n; i++)
        ends[i] = d->end += ends[i];
    if (st == RELA_OK)
        st = rela_npz_append(d->npz, d->arrays[POINTERS], ends, n, err);
    if (st == RELA_OK)
        st = rela_npz_append(d->npz, d->arrays[INDICES], b->indices.data,
                             b->indices.len / sizeof(int32_t), err);
    if (st == RELA_OK)
        st = rela_npz_append(d->npz, d->arrays[WEIGHTS], b->weights.data,
                             b->weights.len / sizeof(float), err);
    if (st == RELA_OK)
        st = rela_npz_append(d->npz, d->arrays[TEXT], b->text.data, b->text.len, err);
    return st;
}

rela_status rela_dump_commit(rela_dump *d, rela_file_set *set, rela_error *err)
{
    const rela_status st = rela_npz_commit(d->npz, set, err);
    rela_mem_free(d);
    return st;
}

void rela_dump_abort(rela_dump *d)
{
    if (!d)
        return;
    rela_npz_abort(d->npz);
    rela_mem_free(d);
}

static rela_status see_row(rela_dump_block *b, const real *row, size_t n, rela_error *err)
{
    int64_t count = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const int32_t index = (int32_t)i;
        const float weight = (float)row[i];
        if (weight == 0)
            continue;
        st = rela_buffer_append(&b->indices, (const char *)&index, sizeof index, err);
        if (st == RELA_OK)
            st = rela_buffer_append(&b->weights, (const char *)&weight, sizeof weight, err);
        count++;
    }
    return st == RELA_OK ? rela_buffer_append(&b->counts, (const char *)&count, sizeof count, err)
                         : st;
}

static rela_status append_text(rela_dump_block *b, const rela_watched_text *t, const rela_vocab *v,
                               rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < t->n && st == RELA_OK; i++) {
        st = rela_buffer_append_text(&b->text, i ? " " : "", err);
        if (st == RELA_OK)
            st = rela_buffer_append_text(&b->text, rela_vocab_token(v, t->ids[i]), err);
    }
    return st;
}

/* Names of the stacks, one line each. */
static rela_status name_places(rela_dump *d, const rela_block_list *list, rela_error *err)
{
    rela_status st = rela_npz_add(&d->arrays[PLACES], d->npz, "places", RELA_NPY_U8, 0, err);
    for (size_t i = 0; i < list->n_stacks && st == RELA_OK; i++) {
        const char *label = list->stacks[i].key;
        st = rela_npz_append(d->npz, d->arrays[PLACES], label, strlen(label), err);
        if (st == RELA_OK)
            st = rela_npz_append(d->npz, d->arrays[PLACES], "\n", 1, err);
    }
    return st;
}
