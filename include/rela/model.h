/* SPDX-License-Identifier: MIT */
/* include/rela/model.h - model files: what one holds, the mean of several, other forms.
 *
 * A model file is one file in the safetensors layout: weights, configuration, subword codes,
 * vocabularies, text pipeline, training record and a content hash. A checkpoint is the same file
 * with the state of training added. Files are not trusted: everything is checked before it is used,
 * and a file that is damaged or does not fit its own configuration is RELA_FORMAT. */
#ifndef RELA_MODEL_H
#define RELA_MODEL_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rela_model_info_options {
    size_t struct_size;
    bool json;          /* one JSON object instead of a table for people */
    int32_t n_threads;  /* 0: all */
    int64_t max_header; /* bytes that the header of the file may have; 0: 16 MiB */
} rela_model_info_options;

RELA_API void rela_model_info_options_init(rela_model_info_options *o, size_t size);

/* Reads and checks a whole model file and appends what it holds: configuration, parameters per
 * block, texts, training record. o may be NULL. */
RELA_API rela_status rela_model_info(rela_buffer *out, const char *path,
                                     const rela_model_info_options *o, rela_error *err);

/* Writes lines "key=value" of the card that rela_model_info shows into a model file or checkpoint:
 * licence, description, date, score, or any other key; without a value a line goes back to what
 * training wrote. The rest of the file stays as it is. Packed models are RELA_FORMAT. */
RELA_API rela_status rela_model_card_set(const char *path, const char *const *lines, size_t n,
                                         rela_error *err);

typedef struct rela_model_average_options {
    size_t struct_size;
    int32_t last;                                /* number of last files to use; 0: all */
    int32_t n_threads;                           /* 0: all */
    void (*notice)(void *ctx, const char *line); /* warnings; may be NULL */
    void *notice_ctx;
} rela_model_average_options;

RELA_API void rela_model_average_options_init(rela_model_average_options *o, size_t size);

/* Writes the plain mean of the parameters of several models or checkpoints. A path that is a
 * directory stands for the checkpoints in it (or in its folder "checkpoints"), oldest first. Models
 * whose configurations or texts differ and packed ones (RELA_MODEL_INT8, RELA_MODEL_MAPPED) are
 * refused with RELA_FORMAT; out must not be one of them (RELA_ARG). The result has the texts of its
 * parts, no state of training, and a record that names them. o may be NULL. */
RELA_API rela_status rela_model_average(const char *out, const char *const *paths, size_t n,
                                        const rela_model_average_options *o, rela_error *err);

/* Two model files in one, such as those of both directions that rela_align takes; each is loaded by
 * its number (rela_model_options, part). out must not be one of them (RELA_ARG). */
RELA_API rela_status rela_model_pair_save(const char *out, const char *first, const char *second,
                                          rela_error *err);
/* Is it such a file? 0 also if it cannot be read. */
RELA_API int32_t rela_model_is_pair(const char *path);

/* Forms that a model comes in. The numbers are part of the ABI. */
enum {
    RELA_MODEL_RELA = 0,        /* one model file */
    RELA_MODEL_SAFETENSORS = 1, /* a directory: plain weights, and the texts as files beside them */
    RELA_MODEL_CTRANSLATE2 = 2, /* a directory that CTranslate2 loads; can only be written */
    /* One model file that translates, and nothing else: */
    RELA_MODEL_INT8 = 3,  /* matrices in int8 */
    RELA_MODEL_MAPPED = 4 /* matrices laid out for this processor and mapped into memory */
};

typedef struct rela_model_convert_options {
    size_t struct_size;
    int32_t from, to;                            /* RELA_MODEL_... */
    int32_t n_threads;                           /* 0: all */
    void (*notice)(void *ctx, const char *line); /* warnings; may be NULL */
    void *notice_ctx;
} rela_model_convert_options;

RELA_API void rela_model_convert_options_init(rela_model_convert_options *o, size_t size);

/* Reads a model in one form and writes it in another. Plain weights that become a model file again
 * give the same bytes. A model that the other form cannot say (for CTranslate2 anything but softmax
 * attention, and models without vocabularies; in int8 widths that are no multiple of 16) is
 * RELA_UNSUP, an output over the input RELA_ARG. o may be NULL: a checked copy. */
RELA_API rela_status rela_model_convert(const char *out, const char *in,
                                        const rela_model_convert_options *o, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
