/* SPDX-License-Identifier: MIT */
/* include/rela/model.h - model files: inspection, averaging, conversion.
 *
 * A model file is a single file in the safetensors format: weights, configuration, subword codes,
 * vocabularies, text pipeline, training record and a content hash. A checkpoint is the same file
 * plus the training state. Files are not trusted: everything is checked before it is used, and a
 * file that is damaged or does not match its own configuration is RELA_FORMAT. */
#ifndef RELA_MODEL_H
#define RELA_MODEL_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces the contents of out by the file that a path stands for: the path itself, unless it is
 * the directory of a run (rela/train.h). Then it is the model to use of what the run has saved: its
 * result, or if it has gone on since or has not ended, the best by validation, or the newest
 * checkpoint. rela_model_load does the same. RELA_IO for another directory. */
RELA_API rela_status rela_model_find(rela_buffer *out, const char *path, rela_error *err);

typedef struct rela_model_info_options {
    size_t struct_size;
    bool json;          /* one JSON object instead of a table for people */
    int32_t n_threads;  /* 0: all */
    int64_t max_header; /* maximum size of the file's header in bytes; 0: 16 MiB */
} rela_model_info_options;

RELA_API void rela_model_info_options_init(rela_model_info_options *o, size_t size);

/* Reads and checks a whole model file and appends a description of it: configuration, parameters
 * per block, text resources, training record. Of a pair of models it describes both; the JSON
 * object then has an array "parts" with an object for each. o may be NULL. */
RELA_API rela_status rela_model_info(rela_buffer *out, const char *path,
                                     const rela_model_info_options *o, rela_error *err);

/* Sets lines "key=value" of the model card, which rela_model_info shows, in a model file or
 * checkpoint: licence, description, date, score, or any other key; an empty value restores what
 * training wrote. The rest of the file is unchanged. In a pair of models both cards are set. Packed
 * models are RELA_FORMAT. */
RELA_API rela_status rela_model_card_set(const char *path, const char *const *lines, size_t n,
                                         rela_error *err);

typedef struct rela_model_average_options {
    size_t struct_size;
    int32_t last;                                /* how many files to use, from the last; 0: all */
    int32_t n_threads;                           /* 0: all */
    void (*notice)(void *ctx, const char *line); /* warnings; may be NULL */
    void *notice_ctx;
} rela_model_average_options;

RELA_API void rela_model_average_options_init(rela_model_average_options *o, size_t size);

/* Writes the arithmetic mean of the parameters of several models or checkpoints. A path that is a
 * directory stands for the checkpoints in it (or in its folder "checkpoints"), oldest first. Models
 * whose configurations or text resources (subwords, vocabularies) differ and packed ones
 * (RELA_MODEL_INT8, RELA_MODEL_MAPPED) are refused with RELA_FORMAT; out must not be one of the
 * inputs (RELA_ARG). The result has the text resources of its inputs, no training state, and a
 * training record that names the inputs. o may be NULL. */
RELA_API rela_status rela_model_average(const char *out, const char *const *paths, size_t n,
                                        const rela_model_average_options *o, rela_error *err);

/* Writes two model files into one, such as both directions for rela_align; part of
 * rela_model_options chooses which one to load. out must not be one of them (RELA_ARG). */
RELA_API rela_status rela_model_pair_save(const char *out, const char *first, const char *second,
                                          rela_error *err);
/* 1 if it is such a file; 0 if not, or if it cannot be read. */
RELA_API int32_t rela_model_is_pair(const char *path);

/* Formats of a model. The numbers are part of the ABI. */
enum {
    RELA_MODEL_RELA = 0,        /* one model file */
    RELA_MODEL_SAFETENSORS = 1, /* a directory: plain weights, with the text resources as files */
    RELA_MODEL_CTRANSLATE2 = 2, /* a directory that CTranslate2 loads; output only */
    /* Packed: one model file that can only translate. */
    RELA_MODEL_INT8 = 3,  /* matrices in int8 */
    RELA_MODEL_MAPPED = 4 /* matrices packed for this processor, to be mapped into memory */
};

typedef struct rela_model_convert_options {
    size_t struct_size;
    int32_t from, to;                            /* RELA_MODEL_... */
    int32_t n_threads;                           /* 0: all */
    void (*notice)(void *ctx, const char *line); /* warnings; may be NULL */
    void *notice_ctx;
} rela_model_convert_options;

RELA_API void rela_model_convert_options_init(rela_model_convert_options *o, size_t size);

/* Reads a model in one format and writes it in another. A model file converted to plain weights and
 * back has the same bytes. A model that the other format cannot express (for CTranslate2: any
 * attention but softmax, models without vocabularies; for int8: widths that are not a multiple of
 * 16) is RELA_UNSUP; writing over the input is RELA_ARG. o may be NULL: a checked copy. */
RELA_API rela_status rela_model_convert(const char *out, const char *in,
                                        const rela_model_convert_options *o, rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
