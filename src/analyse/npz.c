/* SPDX-License-Identifier: MIT */
/* src/analyse/npz.c - see npz.h. A zip archive of .npy files, stored, with 64-bit sizes. */
#include "analyse/npz.h"

#include "base/file.h"
#include "base/mem.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

enum {
    COPY_BYTES = 1 << 16,
    NPY_ALIGN = 64,
    HEADER_MAX = 256,
    ZIP_VERSION = 45,        /* the first with 64-bit sizes */
    ZIP_DATE = (1 << 5) | 1, /* 1 January 1980: the same contents give the same bytes */
    ZIP_SIZES = 0x0001       /* extra field: 64-bit sizes */
};

typedef struct array {
    char name[RELA_NPZ_NAME_MAX];
    rela_npy_type type;
    size_t columns;
    uint64_t items, bytes;
    uLong crc; /* of the contents */
    rela_scratch *scratch;
    /* set when it is written */
    uint64_t place;
    char header[HEADER_MAX];
    size_t header_len;
} array;

struct rela_npz {
    char *path;
    array arrays[RELA_NPZ_ARRAYS_MAX];
    size_t n;
};

static const char *const DESCRIPTIONS[] = { "|u1", "<i4", "<i8", "<f4" };
static const size_t SIZES[] = { 1, 4, 8, 4 };

static void make_header(array *a);
static rela_status write_all(rela_npz *z, rela_writer *w, rela_error *err);
static rela_status write_array(array *a, rela_writer *w, uint64_t *at, rela_error *err);
static rela_status write_index(rela_npz *z, rela_writer *w, uint64_t at, rela_error *err);

rela_status rela_npz_open(rela_npz **out, const char *path, rela_error *err)
{
    *out = NULL;
    rela_npz *z = rela_mem_zalloc(sizeof *z);
    if (z)
        z->path = rela_str_copy(path, strlen(path));
    if (!z || !z->path) {
        rela_mem_free(z);
        return rela_fail(err, RELA_NOMEM, "%s: no memory", path);
    }
    *out = z;
    return RELA_OK;
}

rela_status rela_npz_add(size_t *number, rela_npz *z, const char *name, rela_npy_type type,
                         size_t columns, rela_error *err)
{
    assert(z->n < RELA_NPZ_ARRAYS_MAX && strlen(name) + 5 < RELA_NPZ_NAME_MAX);
    array *a = &z->arrays[z->n];
    *a = (array){ .type = type, .columns = columns, .crc = crc32(0, NULL, 0) };
    rela_format_text(a->name, sizeof a->name, "%s.npy", name);
    const rela_status st = rela_scratch_open(&a->scratch, NULL, err);
    *number = z->n;
    z->n += st == RELA_OK;
    return st;
}

rela_status rela_npz_append(rela_npz *z, size_t number, const void *items, size_t n_items,
                            rela_error *err)
{
    array *a = &z->arrays[number];
    const size_t bytes = n_items * SIZES[a->type];
    const unsigned char *p = items;
    if (bytes == 0)
        return RELA_OK;
    const rela_status st = rela_scratch_write(a->scratch, items, bytes, a->bytes, err);
    for (size_t at = 0; at < bytes; at += COPY_BYTES)
        a->crc = crc32(a->crc, p + at, (uInt)(bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES));
    a->items += n_items;
    a->bytes += bytes;
    return st;
}

rela_status rela_npz_commit(rela_npz *z, rela_file_set *set, rela_error *err)
{
    rela_writer *w = NULL;
    rela_status st = rela_writer_open_in(&w, set, z->path, err);
    if (st == RELA_OK)
        st = write_all(z, w, err);
    if (st == RELA_OK)
        st = rela_writer_commit(w, err);
    else
        rela_writer_abort(w);
    rela_npz_abort(z);
    return st;
}

void rela_npz_abort(rela_npz *z)
{
    if (!z)
        return;
    for (size_t i = 0; i < z->n; i++)
        rela_scratch_close(z->arrays[i].scratch);
    rela_mem_free(z->path);
    rela_mem_free(z);
}

/* ---- bytes ---- */

/* A sequence of little-endian numbers. */
typedef struct bytes {
    unsigned char data[HEADER_MAX];
    size_t n;
} bytes;

static void put(bytes *b, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        b->data[b->n++] = (unsigned char)(value >> (8 * i));
}

static rela_status write_bytes(rela_writer *w, const bytes *b, uint64_t *at, rela_error *err)
{
    *at += b->n;
    return rela_writer_write(w, (const char *)b->data, b->n, err);
}

/* "\x93NUMPY", version 1.0, length, then a Python dict; padded to a multiple of 64 bytes. */
static void make_header(array *a)
{
    char text[HEADER_MAX - NPY_ALIGN], shape[64];
    const uint64_t rows = a->columns ? a->items / a->columns : a->items;
    if (a->columns)
        rela_format_text(shape, sizeof shape, "(%llu, %zu)", (unsigned long long)rows, a->columns);
    else
        rela_format_text(shape, sizeof shape, "(%llu,)", (unsigned long long)rows);
    rela_format_text(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                     DESCRIPTIONS[a->type], shape);
    const size_t used = 10 + strlen(text) + 1;
    const size_t len = (used + NPY_ALIGN - 1) / NPY_ALIGN * NPY_ALIGN;
    memset(a->header, ' ', len);
    memcpy(a->header, "\x93NUMPY\x01\x00", 8);
    a->header[8] = (char)((len - 10) & 0xFF);
    a->header[9] = (char)((len - 10) >> 8);
    memcpy(a->header + 10, text, strlen(text));
    a->header[len - 1] = '\n';
    a->header_len = len;
    a->crc = crc32_combine(crc32(0, (const unsigned char *)a->header, (uInt)len), a->crc,
                           (z_off_t)a->bytes);
}

static rela_status write_all(rela_npz *z, rela_writer *w, rela_error *err)
{
    uint64_t at = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < z->n && st == RELA_OK; i++) {
        make_header(&z->arrays[i]);
        st = write_array(&z->arrays[i], w, &at, err);
    }
    return st == RELA_OK ? write_index(z, w, at, err) : st;
}

/* Common to local header and central directory: version, flags, method, time, date, CRC; the sizes
 * are in the extra field. */
static void put_entry(bytes *b, const array *a, int extra)
{
    put(b, ZIP_VERSION, 2);
    put(b, 0, 2);
    put(b, 0, 2); /* method: stored */
    put(b, 0, 2);
    put(b, ZIP_DATE, 2);
    put(b, a->crc, 4);
    put(b, UINT32_MAX, 4);
    put(b, UINT32_MAX, 4);
    put(b, strlen(a->name), 2);
    put(b, (uint64_t)extra, 2);
}

static void put_sizes(bytes *b, const array *a, int extra)
{
    for (const char *c = a->name; *c; c++)
        put(b, (unsigned char)*c, 1);
    put(b, ZIP_SIZES, 2);
    put(b, (uint64_t)extra - 4, 2);
    put(b, a->header_len + a->bytes, 8);
    put(b, a->header_len + a->bytes, 8);
}

static rela_status write_array(array *a, rela_writer *w, uint64_t *at, rela_error *err)
{
    enum { EXTRA = 20 };
    bytes b = { .n = 0 };
    a->place = *at;
    put(&b, 0x04034b50, 4);
    put_entry(&b, a, EXTRA);
    put_sizes(&b, a, EXTRA);
    rela_status st = write_bytes(w, &b, at, err);
    if (st == RELA_OK)
        st = rela_writer_write(w, a->header, a->header_len, err);
    char *copy = rela_mem_alloc(COPY_BYTES);
    if (!copy)
        return rela_fail(err, RELA_NOMEM, "no memory to copy an array");
    for (uint64_t done = 0; done < a->bytes && st == RELA_OK; done += COPY_BYTES) {
        const uint64_t rest = a->bytes - done;
        const size_t n = rest < COPY_BYTES ? (size_t)rest : COPY_BYTES;
        st = rela_scratch_read(a->scratch, copy, n, done, err);
        if (st == RELA_OK)
            st = rela_writer_write(w, copy, n, err);
    }
    rela_mem_free(copy);
    *at += a->header_len + a->bytes;
    return st;
}

static rela_status write_index(rela_npz *z, rela_writer *w, uint64_t at, rela_error *err)
{
    enum { EXTRA = 28 };
    const uint64_t start = at;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < z->n && st == RELA_OK; i++) {
        const array *a = &z->arrays[i];
        bytes b = { .n = 0 };
        put(&b, 0x02014b50, 4);
        put(&b, ZIP_VERSION, 2);
        put_entry(&b, a, EXTRA);
        put(&b, 0, 6); /* no comment, disk 0, no attributes */
        put(&b, 0, 4);
        put(&b, UINT32_MAX, 4);
        put_sizes(&b, a, EXTRA);
        put(&b, a->place, 8);
        st = write_bytes(w, &b, &at, err);
    }
    const uint64_t end = at;
    bytes b = { .n = 0 };
    put(&b, 0x06064b50, 4); /* zip64 end of central directory */
    put(&b, 44, 8);
    put(&b, ZIP_VERSION, 2);
    put(&b, ZIP_VERSION, 2);
    put(&b, 0, 8);
    put(&b, z->n, 8);
    put(&b, z->n, 8);
    put(&b, end - start, 8);
    put(&b, start, 8);
    put(&b, 0x07064b50, 4); /* its locator */
    put(&b, 0, 4);
    put(&b, end, 8);
    put(&b, 1, 4);
    put(&b, 0x06054b50, 4); /* end of central directory, required also with zip64 */
    put(&b, 0, 4);
    put(&b, z->n, 2);
    put(&b, z->n, 2);
    put(&b, UINT32_MAX, 4);
    put(&b, UINT32_MAX, 4);
    put(&b, 0, 2);
    return st == RELA_OK ? write_bytes(w, &b, &at, err) : st;
}
