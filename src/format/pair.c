/* SPDX-License-Identifier: MIT */
/* src/format/pair.c - see pair.h; pairs of rela/model.h. */
#include "format/pair.h"

#include "rela/model.h"

#include <inttypes.h>
#include <string.h>

enum { MAGIC_SIZE = 8, HEAD_SIZE = 16, COPY_SIZE = 64 << 10 };

static const char MAGIC[] = "RELAPAIR";

static rela_status copy_blob(rela_writer *w, const rela_blob *b, uint64_t at, uint64_t size,
                             rela_error *err);

/* Any other file is a single model, or will be refused as one. */
static rela_status read_head(bool *pair, uint64_t *first, const rela_blob *b, rela_error *err)
{
    char head[HEAD_SIZE];
    *pair = false;
    if (rela_blob_size(b) < HEAD_SIZE)
        return RELA_OK;
    const rela_status st = rela_blob_read(b, head, sizeof head, 0, err);
    *pair = st == RELA_OK && memcmp(head, MAGIC, MAGIC_SIZE) == 0;
    memcpy(first, head + MAGIC_SIZE, sizeof *first); /* little endian, as this machine is */
    return st;
}

rela_status rela_pair_place(uint64_t *at, uint64_t *size, const rela_blob *b, int part,
                            rela_error *err)
{
    const char *path = rela_blob_name(b);
    uint64_t first = 0;
    bool pair = false;
    rela_status st = read_head(&pair, &first, b, err);
    if (st == RELA_OK && pair != (part > 0))
        st = rela_fail(err, RELA_FORMAT,
                       pair ? "%s: a pair of models, for 'rela align'" : "%s: not a pair of models",
                       path);
    if (st == RELA_OK && pair && first > rela_blob_size(b) - HEAD_SIZE)
        st = rela_fail(err, RELA_FORMAT,
                       "%s: cut off or damaged: a model of %" PRIu64 " bytes in a file of %" PRIu64,
                       path, first, rela_blob_size(b));
    *at = part == 0 ? 0 : part == 1 ? HEAD_SIZE : HEAD_SIZE + first;
    *size = part == 1 ? first : rela_blob_size(b) - *at;
    return st;
}

rela_status rela_pair_check(bool *pair, const char *path, rela_error *err)
{
    rela_blob *b = NULL;
    uint64_t first = 0;
    *pair = false;
    rela_status st = rela_blob_open(&b, path, err);
    st = st ? st : read_head(pair, &first, b, err);
    rela_blob_close(b);
    return st;
}

int32_t rela_model_is_pair(const char *path)
{
    bool pair = false;
    return rela_pair_check(&pair, path, NULL) == RELA_OK && pair;
}

rela_status rela_model_pair_save(const char *out, const char *first, const char *second,
                                 rela_error *err)
{
    const char *const paths[] = { first, second };
    rela_blob *blob[2] = { NULL, NULL };
    rela_writer *w = NULL;
    rela_status st = RELA_OK;
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        if (rela_file_same(out, paths[i]))
            st = rela_fail(err, RELA_ARG, "%s: an input, which the output would replace", out);
        else
            st = rela_blob_open(&blob[i], paths[i], err);
    st = st ? st : rela_writer_open(&w, out, err);
    if (st == RELA_OK) {
        const uint64_t size = rela_blob_size(blob[0]);
        st = rela_writer_write(w, MAGIC, MAGIC_SIZE, err);
        st = st ? st : rela_writer_write(w, (const char *)&size, sizeof size, err);
    }
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        st = copy_blob(w, blob[i], 0, rela_blob_size(blob[i]), err);
    st = rela_writer_finish(w, st, err);
    rela_blob_close(blob[0]);
    rela_blob_close(blob[1]);
    return st;
}

rela_status rela_pair_split(const char *first, const char *second, const char *path,
                            rela_error *err)
{
    const char *const outs[] = { first, second };
    rela_blob *b = NULL;
    rela_status st = rela_blob_open(&b, path, err);
    for (int i = 0; i < 2 && st == RELA_OK; i++) {
        rela_writer *w = NULL;
        uint64_t at = 0, size = 0;
        st = rela_pair_place(&at, &size, b, i + 1, err);
        st = st ? st : rela_writer_open(&w, outs[i], err);
        st = st ? st : copy_blob(w, b, at, size, err);
        st = rela_writer_finish(w, st, err);
    }
    rela_blob_close(b);
    return st;
}

static rela_status copy_blob(rela_writer *w, const rela_blob *b, uint64_t at, uint64_t size,
                             rela_error *err)
{
    char bytes[COPY_SIZE];
    rela_status st = RELA_OK;
    for (const uint64_t end = at + size; at < end && st == RELA_OK;) {
        const size_t n = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        st = rela_blob_read(b, bytes, n, at, err);
        st = st ? st : rela_writer_write(w, bytes, n, err);
        at += n;
    }
    return st;
}
