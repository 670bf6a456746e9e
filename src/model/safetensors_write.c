/* SPDX-License-Identifier: MIT */
/* src/model/safetensors_write.c - writing half of safetensors.h. */
#include "model/safetensors.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_SIZE = 8, ALIGNMENT = 64 }; /* for data that is mapped */

/* The contents in the order of the file; lent. */
typedef struct plan {
    const rela_tensor **tensors;
    const rela_metadata **metadata;
    size_t n, n_metadata;
} plan;

static rela_status write_plan(const char *path, const plan *p, size_t max_header, rela_error *err);
static rela_status check_text(const char *what, rela_span s, rela_error *err);
static rela_status check_tensors(const plan *p, rela_error *err);
static rela_status check_metadata(const plan *p, rela_error *err);
static rela_status build_header(rela_buffer *out, const plan *p, rela_error *err);
static rela_status add_tensor(rela_buffer *out, const rela_tensor *t, uint64_t *at,
                              rela_error *err);
static rela_status write_all(const char *path, const rela_buffer *header, const plan *p,
                             rela_error *err);
static rela_status check_path(const char *path, rela_error *err);
static int compare_tensors(const void *a, const void *b);
static int compare_names(const void *a, const void *b);
static int compare_keys(const void *a, const void *b);

rela_status rela_safetensors_write(const char *path, const rela_tensor *tensors, size_t n,
                                   const rela_metadata *metadata, size_t n_metadata,
                                   size_t max_header, rela_error *err)
{
    rela_status st = rela_host_check(err);
    st = st ? st : check_path(path, err);
    if (st != RELA_OK)
        return st;
    if (n > RELA_TENSORS_MAX || n_metadata > RELA_METADATA_MAX)
        return rela_fail(err, RELA_ARG, "%s: %zu tensors and %zu texts; at most %d and %d fit",
                         path, n, n_metadata, RELA_TENSORS_MAX, RELA_METADATA_MAX);
    plan p = { .tensors = rela_mem_array(n, sizeof(void *)),
               .metadata = rela_mem_array(n_metadata, sizeof(void *)),
               .n = n,
               .n_metadata = n_metadata };
    if (!p.tensors || !p.metadata) {
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to write %zu tensors", path, n);
    } else {
        for (size_t i = 0; i < n; i++)
            p.tensors[i] = &tensors[i];
        for (size_t i = 0; i < n_metadata; i++)
            p.metadata[i] = &metadata[i];
        st = write_plan(path, &p, max_header ? max_header : RELA_HEADER_MAX, err);
    }
    rela_mem_free(p.tensors);
    rela_mem_free(p.metadata);
    return st;
}

static rela_status write_plan(const char *path, const plan *p, size_t max_header, rela_error *err)
{
    rela_buffer header = RELA_BUFFER_INIT;
    rela_status st = check_tensors(p, err);
    st = st ? st : check_metadata(p, err);
    st = st ? st : build_header(&header, p, err);
    if (st == RELA_OK && header.len > max_header)
        st = rela_fail(err, RELA_FORMAT, "a header of %zu bytes; the limit is %zu", header.len,
                       max_header);
    if (st != RELA_OK)
        st = rela_fail_in(err, st, path);
    else
        st = write_all(path, &header, p, err);
    rela_buffer_free(&header);
    return st;
}

static rela_status check_text(const char *what, rela_span s, rela_error *err)
{
    if (s.len == 0 || rela_utf8_valid(s.text, s.len) == s.len)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is not UTF-8", what);
}

/* Leaves them in the order of the file. */
static rela_status check_tensors(const plan *p, rela_error *err)
{
    if (p->n)
        qsort(p->tensors, p->n, sizeof(void *), compare_names);
    for (size_t i = 0; i < p->n; i++) {
        const rela_tensor *t = p->tensors[i];
        const int shown = (int)(t->name.len < 64 ? t->name.len : 64);
        uint64_t bytes = 0;
        const rela_status st = check_text("a tensor name", t->name, err);
        if (st != RELA_OK)
            return st;
        const bool reserved = t->name.len == 12 && memcmp(t->name.text, "__metadata__", 12) == 0;
        if (t->name.len < 1 || t->name.len > RELA_TENSOR_NAME_MAX || reserved ||
            memchr(t->name.text, '\0', t->name.len))
            return rela_fail(err, RELA_ARG, "'%.*s' cannot be the name of a tensor", shown,
                             t->name.text ? t->name.text : "");
        if (i && rela_span_compare(p->tensors[i - 1]->name, t->name) == 0)
            return rela_fail(err, RELA_ARG, "tensor '%.*s' appears twice", shown, t->name.text);
        if (t->rank > RELA_TENSOR_RANK_MAX || !rela_tensor_bytes(&bytes, t) || bytes > SIZE_MAX)
            return rela_fail(err, RELA_ARG, "tensor '%.*s' is too large", shown, t->name.text);
    }
    if (p->n)
        qsort(p->tensors, p->n, sizeof(void *), compare_tensors);
    return RELA_OK;
}

static rela_status check_metadata(const plan *p, rela_error *err)
{
    if (p->n_metadata)
        qsort(p->metadata, p->n_metadata, sizeof(void *), compare_keys);
    for (size_t i = 0; i < p->n_metadata; i++) {
        const rela_metadata *m = p->metadata[i];
        rela_status st = check_text("the key of a text", m->key, err);
        if (st == RELA_OK && check_text("the text", m->value, NULL) != RELA_OK)
            st = rela_fail(err, RELA_ARG, "the text '%.*s' is not UTF-8",
                           (int)(m->key.len < 64 ? m->key.len : 64), m->key.text);
        if (st == RELA_OK && i && rela_span_compare(p->metadata[i - 1]->key, m->key) == 0)
            st = rela_fail(err, RELA_ARG, "the text '%.*s' appears twice",
                           (int)(m->key.len < 64 ? m->key.len : 64), m->key.text);
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

static rela_status build_header(rela_buffer *out, const plan *p, rela_error *err)
{
    uint64_t at = 0;
    rela_status st = rela_buffer_append_char(out, '{', err);
    if (p->n_metadata)
        st = st ? st : rela_buffer_append_text(out, "\"__metadata__\":{", err);
    for (size_t i = 0; i < p->n_metadata && st == RELA_OK; i++) {
        const rela_metadata *m = p->metadata[i];
        st = i ? rela_buffer_append_char(out, ',', err) : RELA_OK;
        st = st ? st : rela_json_quote(out, m->key.text, m->key.len, err);
        st = st ? st : rela_buffer_append_char(out, ':', err);
        st = st ? st : rela_json_quote(out, m->value.text, m->value.len, err);
    }
    if (p->n_metadata)
        st = st ? st : rela_buffer_append_char(out, '}', err);
    for (size_t i = 0; i < p->n && st == RELA_OK; i++) {
        st = i || p->n_metadata ? rela_buffer_append_char(out, ',', err) : RELA_OK;
        st = st ? st : add_tensor(out, p->tensors[i], &at, err);
    }
    st = st ? st : rela_buffer_append_char(out, '}', err);
    while (st == RELA_OK && (LENGTH_SIZE + out->len) % ALIGNMENT != 0)
        st = rela_buffer_append_char(out, ' ', err);
    return st;
}

static rela_status add_tensor(rela_buffer *out, const rela_tensor *t, uint64_t *at, rela_error *err)
{
    uint64_t bytes = 0, end = 0;
    if (!rela_tensor_bytes(&bytes, t) || __builtin_add_overflow(*at, bytes, &end))
        return rela_fail(err, RELA_ARG, "all tensors together are too large");
    rela_status st = rela_json_quote(out, t->name.text, t->name.len, err);
    st = st ? st
            : rela_buffer_printf(out, err, ":{\"dtype\":\"%s\",\"shape\":[",
                                 rela_dtype_name(t->dtype));
    for (uint32_t i = 0; i < t->rank && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s%" PRIu64, i ? "," : "", t->shape[i]);
    st = st ? st
            : rela_buffer_printf(out, err, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", *at,
                                 end);
    *at = end;
    return st;
}

static rela_status write_all(const char *path, const rela_buffer *header, const plan *p,
                             rela_error *err)
{
    rela_writer *w = NULL;
    const uint64_t len = header->len; /* little endian, as this machine is */
    char length[LENGTH_SIZE];
    memcpy(length, &len, sizeof length);
    rela_status st = rela_writer_open(&w, path, err);
    if (st != RELA_OK)
        return st;
    st = rela_writer_write(w, length, sizeof length, err);
    st = st ? st : rela_writer_write(w, header->data, header->len, err);
    for (size_t i = 0; i < p->n && st == RELA_OK; i++) {
        uint64_t bytes = 0;
        if (i == p->n / 2)
            rela_fault_reach(RELA_FAULT_SAVE);
        (void)rela_tensor_bytes(&bytes, p->tensors[i]);
        st = rela_writer_write(w, p->tensors[i]->data, (size_t)bytes, err);
    }
    if (st == RELA_OK)
        return rela_writer_commit(w, err);
    rela_writer_abort(w);
    return st;
}

/* The writer compresses by name, but a model is read at any place. */
static rela_status check_path(const char *path, rela_error *err)
{
    static const char *const TAILS[] = { ".gz", ".zst" };
    const size_t n = strlen(path);
    for (size_t i = 0; i < sizeof TAILS / sizeof TAILS[0]; i++) {
        const size_t m = strlen(TAILS[i]);
        if (n > m && strcmp(path + n - m, TAILS[i]) == 0)
            return rela_fail(err, RELA_ARG, "%s: a model file is never compressed", path);
    }
    return RELA_OK;
}

static int compare_tensors(const void *a, const void *b)
{
    const rela_tensor *x = *(const rela_tensor *const *)a, *y = *(const rela_tensor *const *)b;
    return x->dtype != y->dtype ? (x->dtype < y->dtype) - (x->dtype > y->dtype)
                                : rela_span_compare(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
    const rela_tensor *x = *(const rela_tensor *const *)a, *y = *(const rela_tensor *const *)b;
    return rela_span_compare(x->name, y->name);
}

static int compare_keys(const void *a, const void *b)
{
    const rela_metadata *x = *(const rela_metadata *const *)a,
                        *y = *(const rela_metadata *const *)b;
    return rela_span_compare(x->key, y->key);
}
