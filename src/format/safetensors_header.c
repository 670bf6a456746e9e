/* SPDX-License-Identifier: MIT */
/* src/format/safetensors_header.c - the header of a safetensors file: rela_header of safetensors.h.
 */
#include "format/safetensors.h"

#include "base/json.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The header as it grows. */
typedef struct parser {
    rela_header *h;
    size_t cap, cap_metadata;
    uint64_t data_size;
} parser;

static rela_status scan_header(parser *p, rela_json *j, rela_error *err);
static rela_status scan_metadata(parser *p, rela_json *j, rela_error *err);
static rela_status scan_tensor(parser *p, rela_json *j, rela_span name, rela_error *err);
static rela_status scan_entry(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status scan_dtype(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status scan_shape(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status scan_offsets(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status check_name(rela_span name, rela_error *err);
static rela_status check_tensor(const rela_tensor *t, uint64_t data_size, rela_error *err);
static rela_status check_places(const rela_header *h, uint64_t data_size, rela_error *err);
static rela_status check_unique(const rela_header *h, rela_error *err);
static rela_status fail_tensor(rela_error *err, rela_status st, rela_span name);
static int compare_names(const void *a, const void *b);
static int compare_places(const void *a, const void *b);

rela_status rela_header_parse(rela_header *h, char *text, size_t len, uint64_t data_size,
                              rela_error *err)
{
    rela_json j;
    parser p = { .h = h, .data_size = data_size };
    *h = (rela_header){ 0 };
    rela_status st = rela_json_start(&j, text, len, err);
    st = st ? st : scan_header(&p, &j, err);
    st = st ? st : rela_json_end(&j, err);
    st = st ? st : check_places(h, data_size, err);
    st = st ? st : check_unique(h, err);
    if (st == RELA_OK)
        return st;
    rela_header_deinit(h);
    return rela_fail_in(err, st, "header");
}

void rela_header_deinit(rela_header *h)
{
    rela_mem_free(h->tensors);
    rela_mem_free(h->metadata);
    *h = (rela_header){ 0 };
}

void rela_header_sort(const rela_header *h)
{
    if (h->n)
        qsort(h->tensors, h->n, sizeof *h->tensors, compare_names);
    if (h->n_metadata)
        qsort(h->metadata, h->n_metadata, sizeof *h->metadata, compare_names);
}

const rela_tensor *rela_header_find(const rela_header *h, const char *name)
{
    const rela_tensor wanted = { .name = rela_span_of(name) };
    return h->n ? bsearch(&wanted, h->tensors, h->n, sizeof wanted, compare_names) : NULL;
}

const rela_metadata *rela_header_text(const rela_header *h, const char *key)
{
    for (size_t i = 0; i < h->n_metadata; i++)
        if (rela_span_is(h->metadata[i].key, key))
            return &h->metadata[i];
    return NULL;
}

static rela_status scan_header(parser *p, rela_json *j, rela_error *err)
{
    bool more = false, metadata = false;
    rela_span name;
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK && (st = rela_json_key(j, &name, &more, err)) == RELA_OK && more) {
        if (!rela_span_is(name, RELA_METADATA_NAME)) {
            st = scan_tensor(p, j, name, err);
        } else {
            st = metadata ? rela_fail(err, RELA_FORMAT, RELA_METADATA_NAME " appears twice")
                          : scan_metadata(p, j, err);
            metadata = true;
        }
    }
    return st;
}

static rela_status scan_metadata(parser *p, rela_json *j, rela_error *err)
{
    rela_header *h = p->h;
    rela_metadata m;
    bool more = false;
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK && (st = rela_json_key(j, &m.key, &more, err)) == RELA_OK && more) {
        if ((st = rela_json_string(j, &m.value, err)) != RELA_OK)
            break;
        if (h->n_metadata == RELA_METADATA_MAX)
            return rela_fail(err, RELA_FORMAT, "more than %d texts", RELA_METADATA_MAX);
        rela_metadata *all =
            rela_mem_grow(h->metadata, &p->cap_metadata, h->n_metadata + 1, sizeof *all);
        if (!all)
            return rela_fail(err, RELA_NOMEM, "no memory for the texts");
        h->metadata = all;
        all[h->n_metadata++] = m;
    }
    return st ? rela_fail_in(err, st, RELA_METADATA_NAME) : RELA_OK;
}

static rela_status scan_tensor(parser *p, rela_json *j, rela_span name, rela_error *err)
{
    rela_header *h = p->h;
    rela_tensor t = { .name = name };
    rela_status st = check_name(name, err);
    if (st != RELA_OK)
        return st;
    st = scan_entry(&t, j, err);
    st = st ? st : check_tensor(&t, p->data_size, err);
    if (st != RELA_OK)
        return fail_tensor(err, st, name);
    if (h->n == RELA_TENSORS_MAX)
        return rela_fail(err, RELA_FORMAT, "more than %d tensors", RELA_TENSORS_MAX);
    rela_tensor *all = rela_mem_grow(h->tensors, &p->cap, h->n + 1, sizeof *all);
    if (!all)
        return rela_fail(err, RELA_NOMEM, "no memory for the list of tensors");
    h->tensors = all;
    all[h->n++] = t;
    return RELA_OK;
}

/* {"dtype": ..., "shape": [...], "data_offsets": [...]}, each once, in any order. */
static rela_status scan_entry(rela_tensor *t, rela_json *j, rela_error *err)
{
    static const struct {
        const char *key;
        rela_status (*scan)(rela_tensor *t, rela_json *j, rela_error *err);
    } KEYS[] = { { "dtype", scan_dtype },
                 { "shape", scan_shape },
                 { "data_offsets", scan_offsets } };
    enum { N_KEYS = sizeof KEYS / sizeof KEYS[0] };
    bool seen[N_KEYS] = { false }, more = false;
    rela_span key;
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK && (st = rela_json_key(j, &key, &more, err)) == RELA_OK && more) {
        size_t i = 0;
        while (i < N_KEYS && !rela_span_is(key, KEYS[i].key))
            i++;
        if (i == N_KEYS)
            return rela_fail(err, RELA_FORMAT,
                             "unknown key '%.*s'; expected dtype, shape and data_offsets",
                             (int)(key.len < 64 ? key.len : 64), key.text);
        if (seen[i])
            return rela_fail(err, RELA_FORMAT, "'%s' appears twice", KEYS[i].key);
        seen[i] = true;
        st = KEYS[i].scan(t, j, err);
    }
    for (size_t i = 0; i < N_KEYS && st == RELA_OK; i++)
        if (!seen[i])
            st = rela_fail(err, RELA_FORMAT, "no '%s'", KEYS[i].key);
    return st;
}

static rela_status scan_dtype(rela_tensor *t, rela_json *j, rela_error *err)
{
    rela_span name;
    const rela_status st = rela_json_string(j, &name, err);
    if (st != RELA_OK)
        return st;
    for (int i = 0; i < RELA_N_DTYPES; i++)
        if (rela_span_is(name, rela_dtype_name((rela_dtype)i))) {
            t->dtype = (rela_dtype)i;
            return RELA_OK;
        }
    return rela_fail(err, RELA_FORMAT, "dtype '%.*s'; expected F64, F32, I64, I32, I8 or U8",
                     (int)(name.len < 16 ? name.len : 16), name.text);
}

static rela_status scan_shape(rela_tensor *t, rela_json *j, rela_error *err)
{
    bool more = false;
    rela_status st = rela_json_array(j, err);
    while (st == RELA_OK && (st = rela_json_item(j, &more, err)) == RELA_OK && more) {
        if (t->rank == RELA_TENSOR_RANK_MAX)
            return rela_fail(err, RELA_FORMAT, "more than %d dimensions", RELA_TENSOR_RANK_MAX);
        st = rela_json_u64(j, &t->shape[t->rank++], err);
    }
    return st;
}

static rela_status scan_offsets(rela_tensor *t, rela_json *j, rela_error *err)
{
    bool more = false;
    uint64_t *const place[] = { &t->begin, &t->end };
    size_t n = 0;
    rela_status st = rela_json_array(j, err);
    while (st == RELA_OK && (st = rela_json_item(j, &more, err)) == RELA_OK && more) {
        if (n == 2)
            return rela_fail(err, RELA_FORMAT, "more than two data_offsets");
        st = rela_json_u64(j, place[n++], err);
    }
    return st == RELA_OK && n < 2 ? rela_fail(err, RELA_FORMAT, "fewer than two data_offsets") : st;
}

static rela_status check_name(rela_span name, rela_error *err)
{
    if (name.len == 0)
        return rela_fail(err, RELA_FORMAT, "a tensor without a name");
    if (name.len > RELA_TENSOR_NAME_MAX)
        return rela_fail(err, RELA_FORMAT, "a tensor name of %zu bytes; expected 1..%d", name.len,
                         RELA_TENSOR_NAME_MAX);
    if (memchr(name.text, '\0', name.len))
        return rela_fail(err, RELA_FORMAT, "a tensor name with a NUL in it");
    return RELA_OK;
}

static rela_status check_tensor(const rela_tensor *t, uint64_t data_size, rela_error *err)
{
    uint64_t bytes = 0;
    if (!rela_tensor_bytes(&bytes, t))
        return rela_fail(err, RELA_FORMAT, "its size does not fit 64 bits");
    if (t->begin > t->end || t->end > data_size)
        return rela_fail(
            err, RELA_FORMAT,
            "bytes %" PRIu64 " to %" PRIu64 "; the file has %" PRIu64 " bytes of data%s", t->begin,
            t->end, data_size, t->begin > t->end ? "" : ": it is cut short; copy it again");
    if (t->end - t->begin != bytes)
        return rela_fail(err, RELA_FORMAT, "%" PRIu64 " bytes of data; its shape needs %" PRIu64,
                         (t->end - t->begin), bytes);
    return RELA_OK;
}

/* Sorted by place, each tensor begins where the one before ends, and the last ends the file. */
static rela_status check_places(const rela_header *h, uint64_t data_size, rela_error *err)
{
    uint64_t end = 0;
    if (h->n)
        qsort(h->tensors, h->n, sizeof *h->tensors, compare_places);
    for (size_t i = 0; i < h->n; i++) {
        const rela_tensor *t = &h->tensors[i];
        if (t->begin != end)
            return fail_tensor(err,
                               rela_fail(err, RELA_FORMAT,
                                         "begins at byte %" PRIu64 "; expected %" PRIu64, t->begin,
                                         end),
                               t->name);
        end = t->end;
    }
    if (end != data_size)
        return rela_fail(err, RELA_FORMAT, "%" PRIu64 " bytes of data; the tensors need %" PRIu64,
                         data_size, end);
    return RELA_OK;
}

static rela_status check_unique(const rela_header *h, rela_error *err)
{
    rela_header_sort(h);
    for (size_t i = 1; i < h->n; i++)
        if (compare_names(&h->tensors[i - 1], &h->tensors[i]) == 0)
            return fail_tensor(err, rela_fail(err, RELA_FORMAT, "appears twice"),
                               h->tensors[i].name);
    for (size_t i = 1; i < h->n_metadata; i++) {
        const rela_span key = h->metadata[i].key;
        if (compare_names(&h->metadata[i - 1], &h->metadata[i]) == 0)
            return rela_fail(err, RELA_FORMAT, RELA_METADATA_NAME ": '%.*s' appears twice",
                             (int)(key.len < 64 ? key.len : 64), key.text);
    }
    return RELA_OK;
}

static rela_status fail_tensor(rela_error *err, rela_status st, rela_span name)
{
    char context[RELA_TENSOR_NAME_MAX + 16] = "tensor '";
    const size_t at = strlen(context);
    memcpy(context + at, name.text, name.len); /* at most RELA_TENSOR_NAME_MAX */
    memcpy(context + at + name.len, "'", 2);
    return rela_fail_in(err, st, context);
}

static int compare_places(const void *a, const void *b)
{
    const rela_tensor *x = a, *y = b;
    const uint64_t p = x->begin == y->begin ? x->end : x->begin;
    const uint64_t q = x->begin == y->begin ? y->end : y->begin;
    return (p > q) - (p < q);
}

/* Tensors and texts both begin with their name. */
static int compare_names(const void *a, const void *b)
{
    const rela_span *x = a, *y = b;
    return rela_span_compare(*x, *y);
}
