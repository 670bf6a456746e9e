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
                                const char *title, const char *text);
/* Adds to its text which source it is about, where there are several. */
void rela_gallery_name_source(const rela_gallery *g, rela_figure *f);
/* Saves a drawing with every ending. */
rela_status rela_gallery_save(const rela_gallery *g, const rela_figure *f,
                              rela_status (*save)(const void *drawing, const char *path,
                                                  rela_error *err),
                              const void *drawing, rela_error *err);

rela_status rela_draw_null_heads(const rela_gallery *g, size_t model, rela_error *err);
rela_status rela_draw_tags(const rela_gallery *g, size_t model, rela_error *err);
rela_status rela_draw_example(const rela_gallery *g, size_t model, bool permuted, rela_error *err);

#endif
