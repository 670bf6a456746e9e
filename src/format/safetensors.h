/* SPDX-License-Identifier: MIT */
/* src/format/safetensors.h - the safetensors container: named tensors and texts in one file.
 *
 * Layout: 8 bytes of header length, little endian; a JSON header; the bytes of all tensors, one
 * after the other. The reader treats a file as hostile: every count, size and place is checked
 * before it is used, memory stays below a small multiple of the header, and a file that passes
 * has no holes, no overlaps and no bytes outside all tensors. What the tensors mean is not its
 * business. docs/formats.md has the byte layout and the limits. */
#ifndef RELA_FORMAT_SAFETENSORS_H
#define RELA_FORMAT_SAFETENSORS_H

#include "base/file.h"
#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

/* In ascending order of alignment. A file holds its tensors in the reverse of this order, then by
 * name, as the reference writer does, so that data stays aligned. */
/* clang-format off */
#define RELA_DTYPE_MAP(X) \
    X(U8,  1)             \
    X(I8,  1)             \
    X(I32, 4)             \
    X(F32, 4)             \
    X(F64, 8)             \
    X(I64, 8)
/* clang-format on */

typedef enum rela_dtype {
#define RELA_X(name, size) RELA_##name,
    RELA_DTYPE_MAP(RELA_X)
#undef RELA_X
        RELA_N_DTYPES
} rela_dtype;

const char *rela_dtype_name(rela_dtype t);
size_t rela_dtype_size(rela_dtype t);

enum {
    RELA_HEADER_MAX = 16 << 20,  /* bytes, unless the caller says otherwise */
    RELA_TENSORS_MAX = 1 << 16,  /* per file */
    RELA_METADATA_MAX = 1 << 16, /* keys per file */
    RELA_TENSOR_NAME_MAX = 256,  /* bytes */
    RELA_TENSOR_RANK_MAX = 8
};

typedef struct rela_tensor {
    rela_span name;
    rela_dtype dtype;
    uint32_t rank;
    uint64_t shape[RELA_TENSOR_RANK_MAX];
    uint64_t begin, end; /* bytes, from the start of the data; not read by the writer */
    const void *data;    /* what to write; NULL when read */
} rela_tensor;

/* A text of the header. */
typedef struct rela_metadata {
    rela_span key, value;
} rela_metadata;

/* What a file holds. */
typedef struct rela_header {
    rela_tensor *tensors;
    size_t n;
    rela_metadata *metadata;
    size_t n_metadata;
} rela_header;

#define RELA_METADATA_NAME "__metadata__" /* of the texts, among the names of tensors */

/* Parses and checks the header of a file with data_size bytes of tensors. Tensors and texts come
 * sorted by the bytes of their names, which point into text; text is modified. On failure h is
 * empty. */
rela_status rela_header_parse(rela_header *h, char *text, size_t len, uint64_t data_size,
                              rela_error *err);
void rela_header_deinit(rela_header *h);
/* Sorts the lists of a header that the caller put together in the same way. */
void rela_header_sort(const rela_header *h);
/* Lent; NULL: none. Tensors are sorted. */
const rela_tensor *rela_header_find(const rela_header *h, const char *name);
const rela_metadata *rela_header_text(const rela_header *h, const char *key);

/* An open file. Reading is fine from any number of threads. */
typedef struct rela_safetensors rela_safetensors;

/* Reads and checks the header. max_header 0: RELA_HEADER_MAX. */
rela_status rela_safetensors_open(rela_safetensors **out, const char *path, size_t max_header,
                                  rela_error *err);
/* The same for one model of a pair, 1 or 2 (format/pair.h); 0: as above. */
rela_status rela_safetensors_open_part(rela_safetensors **out, const char *path, int part,
                                       size_t max_header, rela_error *err);
/* The same for a file in memory, lent until it is closed; path is its name in messages. memory
 * NULL: as above. */
rela_status rela_safetensors_open_memory(rela_safetensors **out, const char *path,
                                         const rela_span *memory, int part, size_t max_header,
                                         rela_error *err);
void rela_safetensors_close(rela_safetensors *f); /* NULL is fine */

/* len bytes of a tensor from offset on; both lie inside it. */
rela_status rela_safetensors_read(const rela_safetensors *f, void *out, const rela_tensor *t,
                                  uint64_t offset, size_t len, rela_error *err);
/* The data of all tensors, mapped (rela_blob_map) until the file is closed. */
rela_status rela_safetensors_map(rela_safetensors *f, const char **data, rela_error *err);
/* Gives the mapped file itself to the caller (rela_blob_close); after that f can only be closed. */
rela_blob *rela_safetensors_take(rela_safetensors *f);
uint64_t rela_safetensors_begin(const rela_safetensors *f); /* place of the data in the file */
/* After the last read: checks that the file has kept its size. */
rela_status rela_safetensors_check(const rela_safetensors *f, rela_error *err);

const rela_header *rela_safetensors_header(const rela_safetensors *f); /* lent */
uint64_t rela_safetensors_size(const rela_safetensors *f);             /* bytes of the file */

/* Writes a file: atomic and durable (base/file.h), the same bytes for the same contents in any
 * order, without a copy of the data. Names and texts must be UTF-8. The lists are left in the order
 * of the file. */
rela_status rela_safetensors_write(const char *path, const rela_header *h, size_t max_header,
                                   rela_error *err);
/* The same, but the caller commits *out, which belongs to the set unless that is NULL. The data is
 * no longer needed. */
rela_status rela_safetensors_write_open(rela_writer **out, rela_file_set *set, const char *path,
                                        const rela_header *h, size_t max_header, rela_error *err);

/* Elements times their size; false when it does not fit 64 bits. */
bool rela_tensor_bytes(uint64_t *out, const rela_tensor *t);

/* RELA_UNSUP on a big-endian machine: files are little endian. */
rela_status rela_host_check(rela_error *err);

#endif
