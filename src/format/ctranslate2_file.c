/* SPDX-License-Identifier: MIT */
/* src/format/ctranslate2_file.c - see ctranslate2_file.h. */
#include "format/ctranslate2_file.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

#define SPEC "TransformerSpec"

enum { BINARY_VERSION = 6, SPEC_REVISION = 7, CHUNK = 4096 };

static const size_t SIZES[] = { [RELA_CT2_F32] = 4, [RELA_CT2_I8] = 1, [RELA_CT2_I16] = 2 };

static int compare_variables(const void *a, const void *b);
static rela_status put_u32(rela_writer *w, size_t value, rela_error *err);
static rela_status put_text(rela_writer *w, const char *text, rela_error *err);
static rela_status put_variable(rela_writer *w, const rela_ct2_variable *v, rela_error *err);

rela_status rela_ct2_write(rela_file_set *set, const char *path, rela_ct2_variable *items, size_t n,
                           rela_error *err)
{
    rela_writer *w = NULL;
    size_t n_aliases = 0;
    qsort(items, n, sizeof *items, compare_variables);
    for (size_t i = 0; i < n; i++)
        n_aliases += items[i].same_as != NULL;
    rela_status st = rela_writer_open_in(&w, set, path, err);
    if (st != RELA_OK)
        return st;
    st = put_u32(w, BINARY_VERSION, err);
    st = st ? st : put_text(w, SPEC, err);
    st = st ? st : put_u32(w, SPEC_REVISION, err);
    st = st ? st : put_u32(w, n - n_aliases, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if (!items[i].same_as)
            st = put_variable(w, &items[i], err);
    st = st ? st : put_u32(w, n_aliases, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        if (items[i].same_as) {
            st = put_text(w, items[i].name, err);
            st = st ? st : put_text(w, items[i].same_as, err);
        }
    return rela_writer_finish(w, st, err);
}

static rela_status put_u32(rela_writer *w, size_t value, rela_error *err)
{
    const uint32_t x = (uint32_t)value;
    if (x != value)
        return rela_fail(err, RELA_UNSUP,
                         "%zu does not fit the 32 bits that CTranslate2 has for it", value);
    return rela_writer_write(w, (const char *)&x, sizeof x, err);
}

static rela_status put_u8(rela_writer *w, size_t value, rela_error *err)
{
    const char x = (char)value;
    return rela_writer_write(w, &x, 1, err);
}

/* Length with the NUL in 16 bits, then the bytes and the NUL. */
static rela_status put_text(rela_writer *w, const char *text, rela_error *err)
{
    const uint16_t len = (uint16_t)(strlen(text) + 1);
    const rela_status st = rela_writer_write(w, (const char *)&len, sizeof len, err);
    return st ? st : rela_writer_write(w, text, len, err);
}

static rela_status put_values(rela_writer *w, const real *values, size_t n, rela_error *err)
{
    float chunk[CHUNK];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i += CHUNK) {
        const size_t have = n - i < CHUNK ? n - i : CHUNK;
        for (size_t j = 0; j < have; j++)
            chunk[j] = (float)values[i + j];
        st = rela_writer_write(w, (const char *)chunk, have * sizeof *chunk, err);
    }
    return st;
}

static rela_status put_variable(rela_writer *w, const rela_ct2_variable *v, rela_error *err)
{
    size_t count = 1;
    rela_status st = put_text(w, v->name, err);
    st = st ? st : put_u8(w, v->rank, err);
    for (size_t i = 0; i < v->rank && st == RELA_OK; i++) {
        count *= v->dims[i];
        st = put_u32(w, v->dims[i], err);
    }
    st = st ? st : put_u8(w, (size_t)v->type, err);
    st = st ? st : put_u32(w, count * SIZES[v->type], err);
    if (st != RELA_OK || v->values)
        return st ? st : put_values(w, v->values, count, err);
    const int16_t number = (int16_t)v->scalar; /* little endian: the low byte comes first */
    return rela_writer_write(w, (const char *)&number, SIZES[v->type], err);
}

static int compare_variables(const void *a, const void *b)
{
    return strcmp(((const rela_ct2_variable *)a)->name, ((const rela_ct2_variable *)b)->name);
}
