/* SPDX-License-Identifier: MIT */
/* src/analyse/npz.h - arrays of any length in one .npz file, readable by numpy.load.
 *
 * Arrays can be appended to in any order; their contents are kept in scratch files, not in memory.
 * The file is written atomically at commit. See docs/formats.md. One thread at a time. */
#ifndef RELA_ANALYSE_NPZ_H
#define RELA_ANALYSE_NPZ_H

#include "base/file.h"

#include <stddef.h>
#include <stdint.h>

typedef enum rela_npy_type { RELA_NPY_U8, RELA_NPY_I32, RELA_NPY_I64, RELA_NPY_F32 } rela_npy_type;

typedef struct rela_npz rela_npz;

enum { RELA_NPZ_ARRAYS_MAX = 16, RELA_NPZ_NAME_MAX = 32 };

rela_status rela_npz_open(rela_npz **out, const char *path, rela_error *err);
/* columns 0: one-dimensional. *number: handle for rela_npz_append. */
rela_status rela_npz_add(size_t *number, rela_npz *z, const char *name, rela_npy_type type,
                         size_t columns, rela_error *err);
rela_status rela_npz_append(rela_npz *z, size_t number, const void *items, size_t n_items,
                            rela_error *err);
/* Destroys z, also on failure. */
rela_status rela_npz_commit(rela_npz *z, rela_file_set *set, rela_error *err);
void rela_npz_abort(rela_npz *z); /* NULL is fine */

#endif
