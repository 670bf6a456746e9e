/* SPDX-License-Identifier: MIT */
/* src/analyse/figures.h - what the files that draw the figures of an analysis share. */
#ifndef RELA_ANALYSE_FIGURES_H
#define RELA_ANALYSE_FIGURES_H

#include "analyse/findings.h"

/* Where figures go and the list of those that are there. */
typedef struct rela_gallery {
    const char *dir;
    rela_figure *figures;
    size_t *n;
    const rela_analysis *a;
} rela_gallery;

/* Adds a figure to the list; model SIZE_MAX: of all models. */
rela_figure *rela_gallery_enter(const rela_gallery *g, const char *stem, size_t model,
                                const char *title);
/* Saves a drawing with every ending. */
rela_status rela_gallery_save(const rela_gallery *g, const rela_figure *f,
                              rela_status (*save)(const void *drawing, const char *path,
                                                  rela_error *err),
                              const void *drawing, rela_error *err);

/* Texts of figures, made of what was found. The first call replaces the text that a figure has. */
void rela_caption_add(rela_figure *f, const char *format, ...) RELA_PRINTF(2, 3);
/* Which source it is about, where there are several. */
void rela_caption_source(rela_figure *f, const rela_analysis *a);
void rela_caption_sparsity(rela_figure *f, const rela_analysis *a);
void rela_caption_null_rate(rela_figure *f, const rela_analysis *a);
void rela_caption_aer(rela_figure *f, const rela_analysis *a);
void rela_caption_diversity(rela_figure *f, const rela_analysis *a);
void rela_caption_null_heads(rela_figure *f, const rela_analysis *a, const rela_findings *m);
void rela_caption_tags(rela_figure *f, const rela_analysis *a, const rela_findings *m);
void rela_caption_example(rela_figure *f, const rela_analysis *a, const rela_findings *m,
                          bool permuted);

/* Whether any query of a model is null, on the text or its permuted; cross: to a source. */
bool rela_findings_null(const rela_findings *f, bool cross);
bool rela_example_null(const rela_example *e, size_t head, size_t row);

rela_status rela_draw_null_heads(const rela_gallery *g, size_t model, rela_error *err);
rela_status rela_draw_tags(const rela_gallery *g, size_t model, rela_error *err);
rela_status rela_draw_example(const rela_gallery *g, size_t model, bool permuted, rela_error *err);

#endif
