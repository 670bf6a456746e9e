/* SPDX-License-Identifier: MIT */
/* src/page/web_page.h - what the HTML pages of the project share: the styles and the viewer,
 * which are plain files in this folder that the build embeds. */
#ifndef RELA_PAGE_WEB_PAGE_H
#define RELA_PAGE_WEB_PAGE_H

#include "base/str.h"

/* The styles of the reports; each begins with look.css. */
typedef enum rela_page_style { RELA_PAGE_REPORT, RELA_PAGE_STUDY } rela_page_style;

rela_status rela_page_add_style(rela_buffer *out, rela_page_style style, rela_error *err);

/* Appends the attention viewer, one file that loads nothing else: with a document (docs/viewer.md),
 * or for json NULL with a box that asks the server it came from. title may be NULL. The document is
 * text to the page, whatever it holds; that it is a document is for the caller to see to. */
rela_status rela_page_add_viewer(rela_buffer *out, const char *title, const char *json, size_t len,
                                 rela_error *err);

/* The content security policy of the viewer, for a header of HTTP; it is in the page too. */
rela_status rela_page_add_policy(rela_buffer *out, bool served, rela_error *err);

#endif
