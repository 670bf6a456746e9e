/* SPDX-License-Identifier: MIT */
/* src/analyse/figures.h - shared by the files that draw the figures of an analysis. */
#ifndef RELA_ANALYSE_FIGURES_H
#define RELA_ANALYSE_FIGURES_H

#include "analyse/findings.h"

/* The output folder and the list of figures so far. */
typedef struct rela_gallery {
    rela_file_set *set; /* that the files belong to */
    const char *dir;
    rela_figure *figures;
    size_t *n;
    const rela_analysis *a;
} rela_gallery;

/* Adds a figure to the list; model SIZE_MAX: a figure of all models, otherwise its title gets the
 * name of the model. */
rela_figure *rela_gallery_enter(const rela_gallery *g, const char *stem, size_t model,
                                const char *title);
/* Saves a drawing with as many panels side by side as fit into width (points), but at least one. */
typedef rela_status rela_drawing_save(const void *drawing, double width, rela_file_set *set,
                                      const char *path, rela_error *err);
/* Saves a drawing in every file format; one of several panels also with the width of a phone. */
rela_status rela_gallery_save(const rela_gallery *g, rela_figure *f, rela_drawing_save *save,
                              const void *drawing, size_t n_panels, rela_error *err);

/* Captions with numbers from the findings. The first call replaces the default text of a figure. */
void rela_caption_add(rela_figure *f, const char *format, ...) RELA_PRINTF(2, 3);
/* Names the source that the figure is about if there are several. */
void rela_caption_source(rela_figure *f, const rela_analysis *a);
void rela_caption_sparsity(rela_figure *f, const rela_analysis *a);
void rela_caption_null_rate(rela_figure *f, const rela_analysis *a);
void rela_caption_aer(rela_figure *f, const rela_analysis *a);
void rela_caption_diversity(rela_figure *f, const rela_analysis *a);
void rela_caption_null_heads(rela_figure *f, const rela_analysis *a, const rela_findings *m);
void rela_caption_tags(rela_figure *f, const rela_analysis *a, const rela_findings *m);
void rela_caption_example(rela_figure *f, const rela_analysis *a, const rela_findings *m,
                          bool permuted);

/* Whether a model has null attention, on the text or with permuted targets; cross: in cross
 * attention only. */
bool rela_findings_null(const rela_findings *f, bool cross);
/* Rows that count in null rates: without the last one if the analysis leaves it out. */
size_t rela_example_rows(const rela_analysis *a, const rela_example *e);
bool rela_example_null(const rela_example *e, size_t head, size_t row);

rela_status rela_draw_null_heads(const rela_gallery *g, size_t model, rela_error *err);
rela_status rela_draw_tags(const rela_gallery *g, size_t model, rela_error *err);
rela_status rela_draw_example(const rela_gallery *g, size_t model, bool permuted, rela_error *err);

#endif
