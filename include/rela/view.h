/* SPDX-License-Identifier: MIT */
/* include/rela/view.h - the attention viewer: one HTML page, or the JSON document in it, that shows
 * what each head looked at. docs/viewer.md describes both. */
#ifndef RELA_VIEW_H
#define RELA_VIEW_H

#include "rela/translate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A target of a sentence: a translation, a reference, an entry of an n-best list. */
typedef struct rela_view_target {
    size_t sentence; /* from 0; those of one sentence stand side by side */
    const char *text;
    size_t len;
    bool scored;  /* score is set: that of a search */
    double score; /* higher is better */
} rela_view_target;

/* What to show. All texts are lent during the call. */
typedef struct rela_view_text {
    size_t struct_size;     /* set by the caller */
    const char *const *src; /* (n * sources) those of a sentence side by side */
    const size_t *src_lens; /* NULL: NUL-terminated */
    size_t n;
    const rela_view_target *targets; /* ascending by sentence */
    size_t n_targets;
    const char *const *gold; /* (n_gold) links of the first sentences, as in metric.h, or NULL */
    size_t n_gold;
    uint64_t first_line; /* number of the first sentence, from 0, for messages and the page */
} rela_view_text;

/* What is written. */
enum {
    RELA_VIEW_PAGE = 0,     /* HTML */
    RELA_VIEW_DOCUMENT = 1, /* the document inside of the page, JSON */
    RELA_VIEW_INSEQ = 2     /* what inseq loads, JSON: one model with one source */
};

typedef struct rela_view_options {
    size_t struct_size;       /* set by _init; lets the struct grow at its end */
    const char *title;        /* of the page, or NULL */
    const char *const *names; /* of the models; NULL: model 1, 2, ... */
    int32_t gold_base;        /* number of the first word in gold links: 0 or 1 */
    bool gold_reverse;        /* gold links have the target word first */
    bool worth;   /* also what each source word and each head is worth: slow, a pass for each */
    int32_t form; /* RELA_VIEW_... */
    /* Called on one thread at a time with numbers of sentences; a return value other than 0 stops
     * with RELA_CANCEL. May be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
} rela_view_options;

RELA_API void rela_view_options_init(rela_view_options *o, size_t size);

/* Runs n models, which must have the same number of sources, on the targets with teacher forcing
 * and appends a page to out. A target that is empty or too long for a model is left out for that
 * model and logged; RELA_FORMAT if none is left. */
RELA_API rela_status rela_view(rela_buffer *out, const rela_model *const *models, size_t n,
                               const rela_view_text *text, const rela_view_options *o,
                               rela_error *err);

/* Appends the page of an attention document, which may come from another program; json NULL: the
 * page that a server gives, with a box for text. What is inside of the document is not checked
 * here: the page treats it as text and numbers. title may be NULL. */
RELA_API rela_status rela_view_page(rela_buffer *out, const char *title, const char *json,
                                    size_t len, rela_error *err);

typedef struct rela_view_import {
    size_t struct_size; /* set by the caller */
    const char *path;   /* see rela_view_open */
    const char *src;    /* file with the source text; needed for Marian's lines */
    const char *tgt;    /* file with the target text, likewise */
    const char *gold;   /* file of gold links of the first lines, or NULL */
    int32_t gold_base;
    bool gold_reverse;
    uint64_t limit; /* sentences; 0: all */
    const char *title;
    int32_t form;     /* RELA_VIEW_PAGE or RELA_VIEW_DOCUMENT */
    char reserved[4]; /* leave it 0 */
} rela_view_import;

/* The same for attention that another program has written to a file: the lines of Marian's
 * `--alignment soft`, a JSON file of inseq, or what `rela analyse --dump` writes. The kind of the
 * file is found by its content. RELA_FORMAT with file, place and reason if it is none of these. */
RELA_API rela_status rela_view_open(rela_buffer *out, const rela_view_import *from,
                                    rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
