/* SPDX-License-Identifier: MIT */
/* src/analyse/report_drawings.c - drawings in report.html, which stay readable in any window. */
#include "analyse/report.h"
#include "base/file.h"
#include "base/markup.h"
#include "base/mem.h"

#include <string.h>

/* Pixels. A drawing shrinks to the page as long as its labels, of 14.7 pixels, keep about 10; one
 * that would become smaller keeps its size and scrolls. */
enum { PAGE_WIDTH = 1080, PAGE_PADDING = 30, BROAD_LEAST = 700 };
static const double PIXELS = 4.0 / 3 /* in a point */, SMALLEST = 0.68;

/* An SVG file. */
typedef struct drawing {
    char *bytes;
    const char *svg; /* in bytes, without the XML declaration */
    size_t len;
    double width; /* pixels */
} drawing;

static rela_status drawings(rela_report *r, const rela_figure *f, size_t number, rela_error *err);
static rela_status sentences(rela_buffer *out, const rela_figure *f, rela_error *err);

rela_status rela_report_figure(rela_report *r, const rela_figure *f, size_t number, rela_error *err)
{
    rela_status st = rela_buffer_append_text(&r->body, "<figure><h2>", err);
    st = st ? st : rela_markup_append(&r->body, f->title, err);
    st = st ? st : rela_buffer_append_text(&r->body, "</h2>\n", err);
    if (st == RELA_OK && f->example)
        st = sentences(&r->body, f, err);
    st = st ? st : drawings(r, f, number, err);
    st = st ? st : rela_buffer_append_text(&r->body, "<figcaption>", err);
    st = st ? st : rela_markup_append(&r->body, f->text, err);
    return st ? st : rela_buffer_append_text(&r->body, "</figcaption></figure>\n", err);
}

/* The sentences of a map as text, which can be copied and read aloud. */
static rela_status sentences(rela_buffer *out, const rela_figure *f, rela_error *err)
{
    static const char *const SIDES[] = { "source", "target" };
    const char *const languages[] = { f->card->source, f->card->target };
    rela_status st = rela_buffer_append_text(out, "<p class=\"pair\">", err);
    for (int i = 0; i < 2 && st == RELA_OK; i++) {
        st = rela_buffer_printf(out, err, "%s<b>%s</b> <span", i ? "<br>" : "", SIDES[i]);
        if (st == RELA_OK && *languages[i]) {
            st = rela_buffer_append_text(out, " lang=\"", err);
            st = st ? st : rela_markup_append(out, languages[i], err);
            st = st ? st : rela_buffer_append_char(out, '"', err);
        }
        st = st ? st : rela_buffer_append_char(out, '>', err);
        st = st ? st : rela_markup_append(out, f->example->sentence[i].data, err);
        st = st ? st : rela_buffer_append_text(out, "</span>", err);
    }
    return st ? st : rela_buffer_append_text(out, "</p>\n", err);
}

/* Prefixes the ids in a drawing with the number of the figure, so that drawings on one page do not
 * clash. */
static rela_status inline_svg(rela_buffer *out, const char *svg, size_t len, size_t number,
                              rela_error *err)
{
    static const char *const MARKS[] = { "id=\"", "href=\"#", "url(#" };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < len && st == RELA_OK;) {
        size_t k = 0;
        while (k < 3 &&
               (len - i < strlen(MARKS[k]) || memcmp(svg + i, MARKS[k], strlen(MARKS[k])) != 0))
            k++;
        if (k < 3) {
            st = rela_buffer_printf(out, err, "%sf%zu-", MARKS[k], number);
            i += strlen(MARKS[k]);
        } else {
            st = rela_buffer_append_char(out, svg[i++], err);
        }
    }
    return st;
}

static rela_status drawing_read(drawing *d, const rela_report *r, const char *stem,
                                const char *form, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    size_t len = 0;
    *d = (drawing){ .bytes = NULL };
    rela_status st = rela_buffer_printf(&path, err, "%s/%s%s.svg", r->dir, stem, form);
    st = st ? st : rela_file_read(&d->bytes, &len, rela_file_set_find(r->set, path.data), 0, err);
    if (st == RELA_OK) {
        const char *svg = strstr(d->bytes, "<svg");
        d->svg = svg ? svg : d->bytes;
        d->len = len - (size_t)(d->svg - d->bytes);
        const char *width = strstr(d->svg, "width=\"");
        d->width = width ? PIXELS * rela_scan_f64(width + strlen("width=\""), NULL) : 0;
    }
    rela_buffer_free(&path);
    return st;
}

/* Width of the window from which a drawing, as small as it may be, fits. */
static int least_window(const drawing *d)
{
    return (int)(SMALLEST * d->width) + PAGE_PADDING;
}

/* Adds a drawing to the page; number: of the drawing, and prefix of the ids in it. */
static rela_status add_drawing(rela_report *r, const rela_figure *f, const drawing *d,
                               const char *class, size_t number, rela_error *err)
{
    const bool always = SMALLEST * d->width > PAGE_WIDTH;
    rela_status st = RELA_OK;
    if (!always)
        st = rela_buffer_printf(&r->rules, err, "@media(max-width:%dpx){", least_window(d) - 1);
    if (st == RELA_OK)
        st = rela_buffer_printf(&r->rules, err,
                                "#d%zu svg{max-width:none}#d%zu::before{display:block}%s\n", number,
                                number, always ? "" : "}");
    st = st ? st
            : rela_buffer_printf(&r->body, err,
                                 "<div class=\"drawing %s\" id=\"d%zu\" role=\"img\" aria-label=\"",
                                 class, number);
    st = st ? st : rela_markup_append(&r->body, f->title, err);
    st = st ? st : rela_buffer_append_text(&r->body, ". ", err);
    st = st ? st : rela_markup_append(&r->body, f->text, err);
    st = st ? st : rela_buffer_append_text(&r->body, "\">", err);
    st = st ? st : inline_svg(&r->body, d->svg, d->len, number, err);
    return st ? st : rela_buffer_append_text(&r->body, "</div>\n", err);
}

/* The broad drawing where it fits, otherwise, if there is one, the narrow one. */
static rela_status drawings(rela_report *r, const rela_figure *f, size_t number, rela_error *err)
{
    drawing broad = { .bytes = NULL }, narrow = { .bytes = NULL };
    rela_status st = drawing_read(&broad, r, f->stem, "", err);
    if (st == RELA_OK && f->narrow)
        st = drawing_read(&narrow, r, f->stem, "-narrow", err);
    const bool both = f->narrow && narrow.width < broad.width;
    const size_t id = 2 * number;
    if (st == RELA_OK && both) {
        const int fits = least_window(&broad);
        st = rela_buffer_printf(&r->rules, err,
                                "@media(max-width:%dpx){#d%zu{display:none}#d%zu{display:block}}\n",
                                (fits > BROAD_LEAST ? fits : BROAD_LEAST) - 1, id, id + 1);
    }
    st = st ? st : add_drawing(r, f, &broad, both ? "broad" : "only", id, err);
    if (st == RELA_OK && both)
        st = add_drawing(r, f, &narrow, "narrow", id + 1, err);
    rela_mem_free(broad.bytes);
    rela_mem_free(narrow.bytes);
    return st;
}
