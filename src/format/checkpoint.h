/* SPDX-License-Identifier: MIT */
/* src/format/checkpoint.h - the contents of a rela model file: a net, its texts, and for a
 * checkpoint the training state. docs/formats.md lists tensors and texts.
 *
 * A file is hostile until it has passed all checks: the container (safetensors.h), the
 * configuration and its bounds, the list of tensors that follows from it, the content hash, and
 * every number finite. Only then is memory beyond the size of the file needed. */
#ifndef RELA_FORMAT_CHECKPOINT_H
#define RELA_FORMAT_CHECKPOINT_H

#include "base/log.h"
#include "format/content_hash.h"
#include "model/net.h"

/* Texts of a file. Other names begin with "text."; their contents are up to the caller, but a
 * vocabulary has one symbol per line, as many as the model has. */
#define RELA_SECTION_RECORD    "record" /* JSON: how the model was trained */
#define RELA_SECTION_STATE     "state"  /* JSON: counters, random state, place in the data */
#define RELA_SECTION_PIPELINE  "text.pipeline"
#define RELA_SECTION_BPE       "text.bpe"
#define RELA_SECTION_VOCAB_SRC "text.vocab.src"
#define RELA_SECTION_VOCAB_TGT "text.vocab.tgt"

typedef struct rela_section {
    char *name;
    char *text; /* NUL-terminated */
    size_t len;
} rela_section;

enum { RELA_ARRAYS_MAX = 4, RELA_ARRAY_NAME_MAX = 32 };

/* A further array with the layout of the parameters: moments of the optimiser ("adam.m"). Its
 * tensors are called "adam.m/<name of the parameter>". */
typedef struct rela_state_array {
    char name[RELA_ARRAY_NAME_MAX];
    const real *values; /* params.total reals */
    real *own;          /* the same, if it was loaded; NULL: lent */
} rela_state_array;

/* What a file holds besides the net. Initialise to zero. */
typedef struct rela_extras {
    rela_section *sections;
    size_t n_sections, cap_sections;
    rela_state_array arrays[RELA_ARRAYS_MAX];
    size_t n_arrays;
} rela_extras;

void rela_extras_deinit(rela_extras *e);
/* Copies the text; replaces one of the same name. */
rela_status rela_extras_set(rela_extras *e, const char *name, const char *text, size_t len,
                            rela_error *err);
const rela_section *rela_extras_get(const rela_extras *e, const char *name); /* lent; NULL: none */
/* An array to save; values are lent. */
rela_status rela_extras_lend(rela_extras *e, const char *name, const real *values, rela_error *err);
/* An array that was loaded, given to the caller (rela_mem_free); NULL: none. */
real *rela_extras_take(rela_extras *e, const char *name);

/* How a file stores its matrices. All but the first are packed: for translation only. */
typedef enum rela_matrices {
    RELA_MATRICES_PLAIN,
    RELA_MATRICES_BYTES, /* int8 */
    RELA_MATRICES_PANELS /* packed as decoding needs them, to be memory-mapped */
} rela_matrices;

typedef struct rela_checkpoint_options {
    int n_threads;     /* 0: all */
    size_t max_header; /* bytes; 0: RELA_HEADER_MAX */
    int part;          /* 1 or 2: that model of a pair (pair.h); 0: a file of one model */
    bool arrays;       /* load further arrays too; they are checked in any case */
    /* How to save; only RELA_MATRICES_PLAIN keeps the training state. */
    rela_matrices matrices;
    /* Not NULL: receives the file that was saved, for the caller to commit. */
    rela_writer **written;
    const rela_log *log; /* for notices; NULL: none */
    /* To load: the content of the file, lent while it is open; the path is its name in messages.
     * NULL: it is read from the path. */
    const rela_span *memory;
    /* For a file of plain weights: the texts that it lacks, the configuration among them. Lent
     * while the file is open. NULL: the file has its own. */
    rela_metadata *texts;
    size_t n_texts;
} rela_checkpoint_options;

/* extras and options may be NULL. Refuses to write numbers that are not finite, so that any file
 * under this name can be loaded. On failure an old file is untouched. */
rela_status rela_net_save(const char *path, const rela_net *net, const rela_extras *extras,
                          const rela_checkpoint_options *options, rela_error *err);
/* Fills net and extras (which must be empty); on failure both stay empty. */
rela_status rela_net_load(rela_net *net, rela_extras *extras, const char *path,
                          const rela_checkpoint_options *options, rela_error *err);

/* The steps of loading, for callers that need less than a whole net. Members may be read, not
 * changed. */
typedef struct rela_checkpoint {
    rela_safetensors *file;
    char *path;
    rela_header header;     /* of the file, but with the texts that the caller supplied */
    bool plain;             /* the caller supplied texts: a file of plain weights */
    rela_matrices matrices; /* unless plain, not in the parameter array */
    size_t panel;           /* rows of a panel; of packed matrices only */
    rela_config config;
    rela_params params;
    char arrays[RELA_ARRAYS_MAX][RELA_ARRAY_NAME_MAX]; /* names of further arrays */
    size_t n_arrays;
    struct rela_tensor_role *roles; /* one per tensor of the file: checkpoint_keys.h */
    char hash[RELA_HASH_TEXT];      /* as stored; "": none */
} rela_checkpoint;

/* All checks that need the header only. */
rela_status rela_checkpoint_open(rela_checkpoint **out, const char *path,
                                 const rela_checkpoint_options *options, rela_error *err);
void rela_checkpoint_close(rela_checkpoint *c); /* NULL is fine */
/* Reads and checks all tensors. base[0] receives the weights, base[i] array i - 1; a NULL among
 * them (or for base) drops those numbers after the check. An int8 matrix of parameter i is written
 * to where w[i] points, without its sums; w NULL: dropped too. */
rela_status rela_checkpoint_read(const rela_checkpoint *c, real *const *base, const rela_weight *w,
                                 int n_threads, rela_error *err);
/* Maps and checks; w[i].reals receives the place of the matrix of parameter i, until c is closed.
 */
rela_status rela_checkpoint_map_panels(rela_checkpoint *c, real *weights, rela_weight *w,
                                       int n_threads, rela_error *err);
/* The texts of a file, copied. */
rela_status rela_checkpoint_texts(rela_extras *extras, const rela_checkpoint *c, rela_error *err);

/* Checks that its weights can be averaged with those of a net with these texts ("text." only).
 * RELA_FORMAT names the first difference, but not the file: packed matrices, another configuration
 * or text. */
rela_status rela_checkpoint_compare(const rela_checkpoint *c, const rela_net *net,
                                    const rela_extras *texts, rela_error *err);

#endif
