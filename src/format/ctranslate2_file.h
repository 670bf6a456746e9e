/* SPDX-License-Identifier: MIT */
/* src/format/ctranslate2_file.h - the file model.bin of CTranslate2: binary version 6,
 * TransformerSpec revision 7. What the variables mean: ctranslate2.c. */
#ifndef RELA_FORMAT_CTRANSLATE2_FILE_H
#define RELA_FORMAT_CTRANSLATE2_FILE_H

#include "base/file.h"
#include "kern/kern.h"
#include "rela/rela.h"

/* Numbers of element types in the file. */
typedef enum rela_ct2_type { RELA_CT2_F32 = 0, RELA_CT2_I8 = 1, RELA_CT2_I16 = 2 } rela_ct2_type;

enum { RELA_CT2_NAME = 96, RELA_CT2_DIMS = 2 };

typedef struct rela_ct2_variable {
    char name[RELA_CT2_NAME];
    rela_ct2_type type;
    size_t rank, dims[RELA_CT2_DIMS];
    const real *values; /* lent; NULL: a scalar, below */
    int32_t scalar;
    const char *same_as; /* another name for that variable; lent */
} rela_ct2_variable;

/* Sorts them. RELA_UNSUP if a size does not fit the format. */
rela_status rela_ct2_write(rela_file_set *set, const char *path, rela_ct2_variable *items, size_t n,
                           rela_error *err);

#endif
