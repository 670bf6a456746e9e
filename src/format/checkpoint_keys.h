/* SPDX-License-Identifier: MIT */
/* src/format/checkpoint_keys.h - what the reader and the writer of model files share: names inside
 * a file, the form of its tensors. */
#ifndef RELA_FORMAT_CHECKPOINT_KEYS_H
#define RELA_FORMAT_CHECKPOINT_KEYS_H

#include "format/checkpoint.h"

#define KEY_FORMAT   "format"
#define KEY_VERSION  "format_version"
#define KEY_CONFIG   "config"
#define MODEL_FORMAT "rela-model"

/* Versions of the format, by the form of the matrices (rela_matrices). */
enum { RELA_N_VERSIONS = 3 };
extern const char *const RELA_VERSIONS[RELA_N_VERSIONS];

enum {
    RELA_SECTION_NAME_MAX = 64,
    RELA_FULL_NAME_MAX = RELA_ARRAY_NAME_MAX + RELA_PARAM_NAME_MAX /* "array/name" */
};

/* Which parameter of which array a tensor of a file is. */
typedef enum rela_tensor_part { PART_REALS, PART_BYTES, PART_SCALE, PART_PANELS } rela_tensor_part;

typedef struct rela_tensor_role {
    bool known;
    uint8_t array; /* 0: the weights */
    uint8_t part;  /* rela_tensor_part */
    uint32_t param;
} rela_tensor_role;

/* All checks of an open file that need its header only; fills in what follows from it. */
rela_status rela_checkpoint_check(rela_checkpoint *c, rela_error *err);

/* Whether it is one of the keys above, or the hash. */
bool rela_key_reserved(rela_span key);
/* Whether a text of the caller may have this name: the record, the state, or "text." and letters,
 * digits, '.', '-' and '_'. */
bool rela_key_section(rela_span key);
bool rela_key_text(rela_span key);  /* one of those that begin with "text." */
bool rela_key_plain(rela_span key); /* made of such characters only */

/* Lines of a text; the last one counts with or without its end. */
size_t rela_count_lines(rela_span text);

/* How a parameter appears in a file. name receives "array/name", or the name alone for array NULL;
 * the result points to it. */
rela_tensor rela_param_tensor(char name[RELA_FULL_NAME_MAX], const char *array,
                              const rela_param *p);
/* The same for an int8 matrix, packed as rela_bytes, and for the scales of its rows. */
rela_tensor rela_param_bytes(char name[RELA_FULL_NAME_MAX], const rela_param *p);
rela_tensor rela_param_scale(char name[RELA_FULL_NAME_MAX], const rela_param *p);
/* The same for a matrix packed in panels (kern.h: pack). */
rela_tensor rela_param_panels(char name[RELA_FULL_NAME_MAX], const rela_param *p, size_t panel);

#endif
