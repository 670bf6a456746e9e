/* SPDX-License-Identifier: MIT */
/* src/model/safetensors.c - reading half of safetensors.h. */
#include "model/safetensors.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "model/pair.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH_SIZE = 8, HEADER_MIN = 2 };

struct rela_safetensors {
    rela_blob *blob;   /* NULL: parsed from memory */
    char *header;      /* names and texts point into it */
    uint64_t at, size; /* its place in the blob: all of it, unless it is one of a pair */
    uint64_t data_at, data_size;
    rela_tensor *tensors;
    size_t n, cap;
    rela_metadata *metadata;
    size_t n_metadata, cap_metadata;
};

static rela_status read_header(rela_safetensors *f, size_t *len, size_t max_header,
                               rela_error *err);
static rela_status scan_header(rela_safetensors *f, size_t len, rela_error *err);
static rela_status scan_metadata(rela_safetensors *f, rela_json *j, rela_error *err);
static rela_status scan_tensor(rela_safetensors *f, rela_json *j, rela_span name, rela_error *err);
static rela_status scan_entry(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status scan_dtype(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status scan_shape(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status scan_offsets(rela_tensor *t, rela_json *j, rela_error *err);
static rela_status check_name(rela_span name, rela_error *err);
static rela_status check_tensor(const rela_tensor *t, uint64_t data_size, rela_error *err);
static rela_status check_places(rela_safetensors *f, rela_error *err);
static rela_status check_unique(rela_safetensors *f, rela_error *err);
static rela_status fail_tensor(rela_error *err, rela_status st, rela_span name);
static int compare_places(const void *a, const void *b);
static int compare_tensors(const void *a, const void *b);
static int compare_metadata(const void *a, const void *b);
static bool span_is(rela_span s, const char *text);

rela_status rela_safetensors_open(rela_safetensors **out, const char *path, size_t max_header,
                                  rela_error *err)
{
    return rela_safetensors_open_part(out, path, 0, max_header, err);
}

rela_status rela_safetensors_open_part(rela_safetensors **out, const char *path, int part,
                                       size_t max_header, rela_error *err)
{
    *out = NULL;
    rela_status st = rela_host_check(err);
    if (st != RELA_OK)
        return st;
    size_t len = 0;
    rela_safetensors *f = rela_mem_zalloc(sizeof *f);
    if (!f)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to open it", path);
    if ((st = rela_blob_open(&f->blob, path, err)) != RELA_OK)
        goto out;
    if ((st = rela_pair_place(&f->at, &f->size, f->blob, part, err)) != RELA_OK)
        goto out;
    st = read_header(f, &len, max_header ? max_header : RELA_HEADER_MAX, err);
    if (st == RELA_OK && (st = scan_header(f, len, err)) != RELA_OK)
        st = rela_fail_in(err, st, path);
    if (st != RELA_OK)
        goto out;
    *out = f;
    f = NULL;
out:
    rela_safetensors_close(f);
    return st;
}

rela_status rela_safetensors_parse(rela_safetensors **out, const char *header, size_t len,
                                   uint64_t data_size, rela_error *err)
{
    *out = NULL;
    rela_safetensors *f = rela_mem_zalloc(sizeof *f);
    if (!f)
        return rela_fail(err, RELA_NOMEM, "no memory for a header");
    f->data_size = data_size;
    f->header = rela_str_copy(header, len);
    const rela_status st =
        f->header ? scan_header(f, len, err) : rela_fail(err, RELA_NOMEM, "no memory for a header");
    if (st != RELA_OK) {
        rela_safetensors_close(f);
        return st;
    }
    *out = f;
    return RELA_OK;
}

void rela_safetensors_close(rela_safetensors *f)
{
    if (!f)
        return;
    rela_blob_close(f->blob);
    rela_mem_free(f->header);
    rela_mem_free(f->tensors);
    rela_mem_free(f->metadata);
    rela_mem_free(f);
}

rela_status rela_safetensors_read(const rela_safetensors *f, void *out, const rela_tensor *t,
                                  uint64_t offset, size_t len, rela_error *err)
{
    return rela_blob_read(f->blob, out, len, f->data_at + t->begin + offset, err);
}

rela_status rela_safetensors_map(rela_safetensors *f, const char **data, rela_error *err)
{
    const rela_status st = rela_blob_map(f->blob, data, err);
    if (st == RELA_OK)
        *data += f->data_at;
    return st;
}

uint64_t rela_safetensors_begin(const rela_safetensors *f)
{
    return f->data_at;
}

rela_status rela_safetensors_check(const rela_safetensors *f, rela_error *err)
{
    return rela_blob_check(f->blob, err);
}

size_t rela_safetensors_count(const rela_safetensors *f)
{
    return f->n;
}

const rela_tensor *rela_safetensors_at(const rela_safetensors *f, size_t i)
{
    return &f->tensors[i];
}

const rela_tensor *rela_safetensors_find(const rela_safetensors *f, const char *name)
{
    const rela_tensor wanted = { .name = { name, strlen(name) } };
    return f->n ? bsearch(&wanted, f->tensors, f->n, sizeof wanted, compare_tensors) : NULL;
}

size_t rela_safetensors_n_metadata(const rela_safetensors *f)
{
    return f->n_metadata;
}

const rela_metadata *rela_safetensors_metadata_at(const rela_safetensors *f, size_t i)
{
    return &f->metadata[i];
}

const rela_metadata *rela_safetensors_metadata_find(const rela_safetensors *f, const char *key)
{
    const rela_metadata wanted = { .key = { key, strlen(key) } };
    return f->n_metadata
               ? bsearch(&wanted, f->metadata, f->n_metadata, sizeof wanted, compare_metadata)
               : NULL;
}

uint64_t rela_safetensors_size(const rela_safetensors *f)
{
    return f->data_at - f->at + f->data_size;
}

bool rela_tensor_bytes(uint64_t *out, const rela_tensor *t)
{
    *out = rela_dtype_size(t->dtype);
    bool fits = true;
    for (uint32_t i = 0; i < t->rank; i++) /* the whole product: a zero must not hide a wrap */
        fits = !__builtin_mul_overflow(*out, t->shape[i], out) && fits;
    return fits;
}

int rela_span_compare(rela_span a, rela_span b)
{
    const size_t n = a.len < b.len ? a.len : b.len;
    const int order = n ? memcmp(a.text, b.text, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

rela_status rela_host_check(rela_error *err)
{
    const uint16_t one = 1;
    unsigned char first = 0;
    memcpy(&first, &one, 1);
    return first ? RELA_OK
                 : rela_fail(err, RELA_UNSUP,
                             "model files are little endian; this machine is big endian");
}

const char *rela_dtype_name(rela_dtype t)
{
    static const char *const NAMES[] = {
#define RELA_X(name, size) #name,
        RELA_DTYPE_MAP(RELA_X)
#undef RELA_X
    };
    return NAMES[t];
}

size_t rela_dtype_size(rela_dtype t)
{
    static const uint8_t SIZES[] = {
#define RELA_X(name, size) (size),
        RELA_DTYPE_MAP(RELA_X)
#undef RELA_X
    };
    return SIZES[t];
}

static rela_status read_header(rela_safetensors *f, size_t *len, size_t max_header, rela_error *err)
{
    const char *path = rela_blob_name(f->blob);
    const uint64_t size = f->size;
    uint64_t n = 0; /* little endian, as this machine is */
    if (size < LENGTH_SIZE)
        return rela_fail(err, RELA_FORMAT,
                         "%s: not a model file: %" PRIu64 " bytes; expected at least 10", path,
                         size);
    rela_status st = rela_blob_read(f->blob, &n, sizeof n, f->at, err);
    if (st != RELA_OK)
        return st;
    if (n < HEADER_MIN || n > size - LENGTH_SIZE)
        return rela_fail(err, RELA_FORMAT,
                         "%s: not a model file%s: a header of %" PRIu64
                         " bytes in a file of %" PRIu64 "; expected %d..%" PRIu64,
                         path,
                         n >= HEADER_MIN && n <= max_header ? ", or one that was cut off" : "", n,
                         size, (int)HEADER_MIN, (size - LENGTH_SIZE));
    if (n > max_header)
        return rela_fail(err, RELA_FORMAT, "%s: a header of %" PRIu64 " bytes; the limit is %zu",
                         path, n, max_header);
    *len = (size_t)n;
    f->data_at = f->at + LENGTH_SIZE + n;
    f->data_size = size - LENGTH_SIZE - n;
    f->header = rela_mem_alloc(*len);
    if (!f->header)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for a header of %zu bytes", path, *len);
    return rela_blob_read(f->blob, f->header, *len, f->at + LENGTH_SIZE, err);
}

static rela_status scan_header(rela_safetensors *f, size_t len, rela_error *err)
{
    rela_json j;
    bool more = false, metadata = false;
    rela_status st = rela_json_start(&j, f->header, len, err);
    st = st ? st : rela_json_object(&j, err);
    while (st == RELA_OK) {
        rela_span name;
        st = rela_json_key(&j, &name, &more, err);
        if (st != RELA_OK || !more)
            break;
        if (!span_is(name, "__metadata__")) {
            st = scan_tensor(f, &j, name, err);
        } else {
            st = metadata ? rela_fail(err, RELA_FORMAT, "__metadata__ appears twice")
                          : scan_metadata(f, &j, err);
            metadata = true;
        }
    }
    st = st ? st : rela_json_end(&j, err);
    st = st ? st : check_places(f, err);
    st = st ? st : check_unique(f, err);
    return st ? rela_fail_in(err, st, "header") : RELA_OK;
}

static rela_status scan_metadata(rela_safetensors *f, rela_json *j, rela_error *err)
{
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK) {
        rela_metadata m;
        bool more = false;
        st = rela_json_key(j, &m.key, &more, err);
        if (st != RELA_OK || !more)
            break;
        if ((st = rela_json_string(j, &m.value, err)) != RELA_OK)
            break;
        if (f->n_metadata == RELA_METADATA_MAX)
            return rela_fail(err, RELA_FORMAT, "more than %d texts", RELA_METADATA_MAX);
        rela_metadata *all =
            rela_mem_grow(f->metadata, &f->cap_metadata, f->n_metadata + 1, sizeof *all);
        if (!all)
            return rela_fail(err, RELA_NOMEM, "no memory for the texts");
        f->metadata = all;
        all[f->n_metadata++] = m;
    }
    return st ? rela_fail_in(err, st, "__metadata__") : RELA_OK;
}

static rela_status scan_tensor(rela_safetensors *f, rela_json *j, rela_span name, rela_error *err)
{
    rela_tensor t = { .name = name };
    rela_status st = check_name(name, err);
    if (st != RELA_OK)
        return st;
    st = scan_entry(&t, j, err);
    st = st ? st : check_tensor(&t, f->data_size, err);
    if (st != RELA_OK)
        return fail_tensor(err, st, name);
    if (f->n == RELA_TENSORS_MAX)
        return rela_fail(err, RELA_FORMAT, "more than %d tensors", RELA_TENSORS_MAX);
    rela_tensor *all = rela_mem_grow(f->tensors, &f->cap, f->n + 1, sizeof *all);
    if (!all)
        return rela_fail(err, RELA_NOMEM, "no memory for the list of tensors");
    f->tensors = all;
    all[f->n++] = t;
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
    bool seen[N_KEYS] = { false };
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK) {
        rela_span key;
        bool more = false;
        st = rela_json_key(j, &key, &more, err);
        if (st != RELA_OK || !more)
            break;
        size_t i = 0;
        while (i < N_KEYS && !span_is(key, KEYS[i].key))
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
        if (span_is(name, rela_dtype_name((rela_dtype)i))) {
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
static rela_status check_places(rela_safetensors *f, rela_error *err)
{
    uint64_t end = 0;
    if (f->n)
        qsort(f->tensors, f->n, sizeof *f->tensors, compare_places);
    for (size_t i = 0; i < f->n; i++) {
        const rela_tensor *t = &f->tensors[i];
        if (t->begin != end)
            return fail_tensor(err,
                               rela_fail(err, RELA_FORMAT,
                                         "begins at byte %" PRIu64 "; expected %" PRIu64, t->begin,
                                         end),
                               t->name);
        end = t->end;
    }
    if (end != f->data_size)
        return rela_fail(err, RELA_FORMAT, "%" PRIu64 " bytes of data; the tensors need %" PRIu64,
                         f->data_size, end);
    return RELA_OK;
}

static rela_status check_unique(rela_safetensors *f, rela_error *err)
{
    if (f->n)
        qsort(f->tensors, f->n, sizeof *f->tensors, compare_tensors);
    if (f->n_metadata)
        qsort(f->metadata, f->n_metadata, sizeof *f->metadata, compare_metadata);
    for (size_t i = 1; i < f->n; i++)
        if (compare_tensors(&f->tensors[i - 1], &f->tensors[i]) == 0)
            return fail_tensor(err, rela_fail(err, RELA_FORMAT, "appears twice"),
                               f->tensors[i].name);
    for (size_t i = 1; i < f->n_metadata; i++)
        if (compare_metadata(&f->metadata[i - 1], &f->metadata[i]) == 0)
            return rela_fail(err, RELA_FORMAT, "__metadata__: '%.*s' appears twice",
                             (int)(f->metadata[i].key.len < 64 ? f->metadata[i].key.len : 64),
                             f->metadata[i].key.text);
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

static int compare_tensors(const void *a, const void *b)
{
    const rela_tensor *x = a, *y = b;
    return rela_span_compare(x->name, y->name);
}

static int compare_metadata(const void *a, const void *b)
{
    const rela_metadata *x = a, *y = b;
    return rela_span_compare(x->key, y->key);
}

static bool span_is(rela_span s, const char *text)
{
    const size_t n = strlen(text);
    return s.len == n && memcmp(s.text, text, n) == 0;
}
