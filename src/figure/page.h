/* SPDX-License-Identifier: MIT */
/* src/figure/page.h - a page to draw on: SVG, PNG or PDF, by its file extension; and the
 * colours and fonts that all figures share.
 *
 * Colours are those of Okabe and Ito, which colour-blind readers can tell apart. Files are written
 * atomically. */
#ifndef RELA_FIGURE_PAGE_H
#define RELA_FIGURE_PAGE_H

#include "base/file.h"

#include <cairo.h>
#include <stddef.h>

static const double RELA_FONT = 11, RELA_FONT_TITLE = 13;

/* Calls draw on a white page of w x h points. RELA_ARG unless path ends in .svg, .png or .pdf.
 * set: of files that the page belongs to, or NULL; the same for all drawings. */
rela_status rela_page_save(rela_file_set *set, const char *path, double w, double h,
                           void (*draw)(void *ctx, cairo_t *c), void *ctx, rela_error *err);

/* A page that is never saved, to measure text for layouts: the caller ends it with cairo_destroy,
 * then calls rela_page_save. NULL when out of memory. */
cairo_t *rela_page_ruler(void);
double rela_page_text_width(cairo_t *c, const char *s);
/* Bytes of the first line of a text that is broken at blanks: as many words as fit into width, or
 * what fits of the first word and at least one character. */
size_t rela_page_line(cairo_t *c, const char *s, double width);
/* Copies s to out; leaves out its middle if it is wider than width, as names of models often differ
 * at their ends. */
void rela_page_shorten(char *out, size_t size, cairo_t *c, const char *s, double width);
/* Items side by side: as many as fit into width (0 or less: all), at least one, and as even as
 * possible over the lines. */
size_t rela_page_per_line(size_t *lines, size_t n, double item, double width);

/* align: 0 left, 0.5 centre, 1 right of x. s NULL: draws nothing. In an SVG, text stays text, above
 * the rest of the page. */
void rela_page_text(cairo_t *c, const char *s, double x, double y, double align);
void rela_page_colour(cairo_t *c, size_t number);

/* 1, 2 or 5 times a power of ten: the smallest that fits into range at most n times. */
double rela_tick_step(double range, int n);
/* Formats the value at a tick, with as many digits as the step needs. */
void rela_tick_text(char *out, size_t size, double v, double step);

#endif
