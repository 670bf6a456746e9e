/* SPDX-License-Identifier: MIT */
/* src/format/safetensors_write.c - writing half of safetensors.h. */
#include "format/safetensors.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_SIZE = 8, ALIGNMENT = 64 }; /* for data that is mapped */

static rela_status check_text(const char *what, rela_span s, rela_error *err);
static rela_status check_tensors(const rela_header *h, rela_error *err);
static rela_status check_metadata(const rela_header *h, rela_error *err);
static rela_status build_header(rela_buffer *out, const rela_header *h, rela_error *err);
static rela_status add_tensor(rela_buffer *out, const rela_tensor *t, uint64_t *at,
                              rela_error *err);
static rela_status write_all(rela_writer **out, rela_file_set *set, const char *path,
                             const rela_buffer *header, const rela_header *h, rela_error *err);
static rela_status check_path(const char *path, rela_error *err);
static int compare_tensors(const void *a, const void *b);

rela_status rela_safetensors_write(const char *path, const rela_header *h, size_t max_header,
                                   rela_error *err)
{
    rela_writer *w = NULL;
    const rela_status st = rela_safetensors_write_open(&w, NULL, path, h, max_header, err);
    return st ? st : rela_writer_commit(w, err);
}

rela_status rela_safetensors_write_open(rela_writer **out, rela_file_set *set, const char *path,
                                        const rela_header *h, size_t max_header, rela_error *err)
{
    const size_t most = max_header ? max_header : RELA_HEADER_MAX;
    rela_buffer text = RELA_BUFFER_INIT;
    *out = NULL;
    rela_status st = rela_host_check(err);
    st = st ? st : check_path(path, err);
    if (st != RELA_OK)
        return st;
    if (h->n > RELA_TENSORS_MAX || h->n_metadata > RELA_METADATA_MAX)
        return rela_fail(err, RELA_ARG, "%s: %zu tensors and %zu texts; at most %d and %d fit",
                         path, h->n, h->n_metadata, RELA_TENSORS_MAX, RELA_METADATA_MAX);
    rela_header_sort(h);
    st = check_tensors(h, err);
    st = st ? st : check_metadata(h, err);
    if (h->n)
        qsort(h->tensors, h->n, sizeof *h->tensors, compare_tensors);
    st = st ? st : build_header(&text, h, err);
    if (st == RELA_OK && text.len > most)
        st = rela_fail(err, RELA_FORMAT, "a header of %zu bytes; the limit is %zu", text.len, most);
    if (st != RELA_OK)
        st = rela_fail_in(err, st, path);
    else
        st = write_all(out, set, path, &text, h, err);
    rela_buffer_free(&text);
    return st;
}

static rela_status check_text(const char *what, rela_span s, rela_error *err)
{
    if (s.len == 0 || rela_utf8_valid(s.text, s.len) == s.len)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is not UTF-8", what);
}

static rela_status check_tensors(const rela_header *h, rela_error *err)
{
    for (size_t i = 0; i < h->n; i++) {
        const rela_tensor *t = &h->tensors[i];
        const int shown = (int)(t->name.len < 64 ? t->name.len : 64);
        uint64_t bytes = 0;
        const rela_status st = check_text("a tensor name", t->name, err);
        if (st != RELA_OK)
            return st;
        if (t->name.len < 1 || t->name.len > RELA_TENSOR_NAME_MAX ||
            rela_span_is(t->name, RELA_METADATA_NAME) || memchr(t->name.text, '\0', t->name.len))
            return rela_fail(err, RELA_ARG, "'%.*s' cannot be the name of a tensor", shown,
                             t->name.text ? t->name.text : "");
        if (i && rela_span_compare(t[-1].name, t->name) == 0)
            return rela_fail(err, RELA_ARG, "tensor '%.*s' appears twice", shown, t->name.text);
        if (t->rank > RELA_TENSOR_RANK_MAX || !rela_tensor_bytes(&bytes, t) || bytes > SIZE_MAX)
            return rela_fail(err, RELA_ARG, "tensor '%.*s' is too large", shown, t->name.text);
    }
    return RELA_OK;
}

static rela_status check_metadata(const rela_header *h, rela_error *err)
{
    for (size_t i = 0; i < h->n_metadata; i++) {
        const rela_metadata *m = &h->metadata[i];
        const int shown = (int)(m->key.len < 64 ? m->key.len : 64);
        rela_status st = check_text("the key of a text", m->key, err);
        if (st == RELA_OK && check_text("the text", m->value, NULL) != RELA_OK)
            st = rela_fail(err, RELA_ARG, "the text '%.*s' is not UTF-8", shown, m->key.text);
        if (st == RELA_OK && i && rela_span_compare(m[-1].key, m->key) == 0)
            st = rela_fail(err, RELA_ARG, "the text '%.*s' appears twice", shown, m->key.text);
        if (st != RELA_OK)
            return st;
    }
    return RELA_OK;
}

static rela_status build_header(rela_buffer *out, const rela_header *h, rela_error *err)
{
    uint64_t at = 0;
    rela_status st = rela_buffer_append_char(out, '{', err);
    if (h->n_metadata)
        st = st ? st : rela_buffer_append_text(out, "\"" RELA_METADATA_NAME "\":{", err);
    for (size_t i = 0; i < h->n_metadata && st == RELA_OK; i++) {
        const rela_metadata *m = &h->metadata[i];
        st = i ? rela_buffer_append_char(out, ',', err) : RELA_OK;
        st = st ? st : rela_json_quote(out, m->key.text, m->key.len, err);
        st = st ? st : rela_buffer_append_char(out, ':', err);
        st = st ? st : rela_json_quote(out, m->value.text, m->value.len, err);
    }
    if (h->n_metadata)
        st = st ? st : rela_buffer_append_char(out, '}', err);
    for (size_t i = 0; i < h->n && st == RELA_OK; i++) {
        st = i || h->n_metadata ? rela_buffer_append_char(out, ',', err) : RELA_OK;
        st = st ? st : add_tensor(out, &h->tensors[i], &at, err);
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

static rela_status write_all(rela_writer **out, rela_file_set *set, const char *path,
                             const rela_buffer *header, const rela_header *h, rela_error *err)
{
    rela_writer *w = NULL;
    const uint64_t len = header->len; /* little endian, as this machine is */
    char length[LENGTH_SIZE];
    memcpy(length, &len, sizeof length);
    rela_status st = rela_writer_open_in(&w, set, path, err);
    if (st != RELA_OK)
        return st;
    st = rela_writer_write(w, length, sizeof length, err);
    st = st ? st : rela_writer_write(w, header->data, header->len, err);
    for (size_t i = 0; i < h->n && st == RELA_OK; i++) {
        uint64_t bytes = 0;
        if (i == h->n / 2)
            rela_fault_reach(RELA_FAULT_SAVE);
        (void)rela_tensor_bytes(&bytes, &h->tensors[i]);
        st = rela_writer_write(w, h->tensors[i].data, (size_t)bytes, err);
    }
    st = st ? st : rela_writer_flush(w, err);
    if (st == RELA_OK)
        *out = w;
    else
        rela_writer_abort(w);
    return st;
}

/* The writer compresses depending on the name, but a model needs random access. */
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

/* By descending alignment, then by name. */
static int compare_tensors(const void *a, const void *b)
{
    const rela_tensor *x = a, *y = b;
    return x->dtype != y->dtype ? (x->dtype < y->dtype) - (x->dtype > y->dtype)
                                : rela_span_compare(x->name, y->name);
}
