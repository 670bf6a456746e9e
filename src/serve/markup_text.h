/* SPDX-License-Identifier: MIT */
/* src/serve/markup_text.h - HTML and XML: the text between tags is translated, tags stay.
 *
 * Tags that divide a text (<p>, <li>, <br> ...) stay where they are. Those inside a sentence (<b>,
 * <a> ...) go to the words of the translation that are linked to theirs, and stay balanced if they
 * were. Comments, scripts, styles, code and elements with translate="no" are copied. Entities are
 * decoded before translation, and what needs it is escaped after. */
#ifndef RELA_SERVE_MARKUP_TEXT_H
#define RELA_SERVE_MARKUP_TEXT_H

#include "serve/outcome.h"
#include "serve/passages.h"

/* Adds a text with mark-up to p. */
rela_status rela_markup_add(rela_passages *p, const char *text, size_t len,
                            const rela_splitter *splitter, rela_error *err);

/* Appends a translation of a sentence with the tags of its source. links (n) may be empty: then
 * tags go where they are in proportion. */
rela_status rela_markup_render(rela_buffer *out, const rela_passages *p,
                               const rela_passage *sentence, rela_span translation,
                               const rela_outcome_link *links, size_t n, rela_error *err);

#endif
