/* SPDX-License-Identifier: MIT */
/* src/format/safetensors.c - the file of safetensors.h: opening and reading. */
#include "format/safetensors.h"

#include "base/file.h"
#include "base/mem.h"
#include "format/pair.h"

#include <inttypes.h>
#include <string.h>

enum { LENGTH_SIZE = 8, HEADER_MIN = 2 };

struct rela_safetensors {
    rela_blob *blob;
    char *text; /* of the header; names and texts point into it */
    rela_header header;
    uint64_t at, size; /* its place in the blob: all of it, unless it is one of a pair */
    uint64_t data_at, data_size;
};

static rela_status read_header(rela_safetensors *f, size_t *len, size_t max_header,
                               rela_error *err);

rela_status rela_safetensors_open(rela_safetensors **out, const char *path, size_t max_header,
                                  rela_error *err)
{
    return rela_safetensors_open_part(out, path, 0, max_header, err);
}

rela_status rela_safetensors_open_part(rela_safetensors **out, const char *path, int part,
                                       size_t max_header, rela_error *err)
{
    return rela_safetensors_open_memory(out, path, NULL, part, max_header, err);
}

rela_status rela_safetensors_open_memory(rela_safetensors **out, const char *path,
                                         const rela_span *memory, int part, size_t max_header,
                                         rela_error *err)
{
    *out = NULL;
    rela_status st = rela_host_check(err);
    if (st != RELA_OK)
        return st;
    size_t len = 0;
    rela_safetensors *f = rela_mem_zalloc(sizeof *f);
    if (!f)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to open it", path);
    st = memory ? rela_blob_open_memory(&f->blob, path, memory->text, memory->len, err)
                : rela_blob_open(&f->blob, path, err);
    if (st != RELA_OK)
        goto out;
    if ((st = rela_pair_place(&f->at, &f->size, f->blob, part, err)) != RELA_OK)
        goto out;
    st = read_header(f, &len, max_header ? max_header : RELA_HEADER_MAX, err);
    if (st == RELA_OK &&
        (st = rela_header_parse(&f->header, f->text, len, f->data_size, err)) != RELA_OK)
        st = rela_fail_in(err, st, path);
    if (st != RELA_OK)
        goto out;
    *out = f;
    f = NULL;
out:
    rela_safetensors_close(f);
    return st;
}

void rela_safetensors_close(rela_safetensors *f)
{
    if (!f)
        return;
    rela_blob_close(f->blob);
    rela_mem_free(f->text);
    rela_header_deinit(&f->header);
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

rela_blob *rela_safetensors_take(rela_safetensors *f)
{
    rela_blob *blob = f->blob;
    f->blob = NULL;
    return blob;
}

uint64_t rela_safetensors_begin(const rela_safetensors *f)
{
    return f->data_at;
}

rela_status rela_safetensors_check(const rela_safetensors *f, rela_error *err)
{
    return rela_blob_check(f->blob, err);
}

const rela_header *rela_safetensors_header(const rela_safetensors *f)
{
    return &f->header;
}

uint64_t rela_safetensors_size(const rela_safetensors *f)
{
    return f->data_at - f->at + f->data_size;
}

bool rela_tensor_bytes(uint64_t *out, const rela_tensor *t)
{
    *out = rela_dtype_size(t->dtype);
    bool fits = true;
    for (uint32_t i = 0; i < t->rank; i++) /* no early end: a zero must not hide an overflow */
        fits = !__builtin_mul_overflow(*out, t->shape[i], out) && fits;
    return fits;
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
    const bool fits = n <= size - LENGTH_SIZE;
    if (n < HEADER_MIN || (n > max_header && !fits)) /* text, or a file of another program */
        return rela_fail(err, RELA_FORMAT, "%s: not a model file", path);
    if (!fits)
        return rela_fail(err, RELA_FORMAT,
                         "%s: not a model file, or one that was cut off: a header of %" PRIu64
                         " bytes in a file of %" PRIu64,
                         path, n, size);
    if (n > max_header)
        return rela_fail(err, RELA_FORMAT, "%s: a header of %" PRIu64 " bytes; the limit is %zu",
                         path, n, max_header);
    *len = (size_t)n;
    f->data_at = f->at + LENGTH_SIZE + n;
    f->data_size = size - LENGTH_SIZE - n;
    f->text = rela_mem_alloc(*len);
    if (!f->text)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for a header of %zu bytes", path, *len);
    return rela_blob_read(f->blob, f->text, *len, f->at + LENGTH_SIZE, err);
}
