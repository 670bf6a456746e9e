/* SPDX-License-Identifier: MIT */
/* src/base/textlines.h - all lines of a file in memory, for random access. */
#ifndef RELA_BASE_TEXTLINES_H
#define RELA_BASE_TEXTLINES_H

#include "base/str.h"

/* Zero-initialise: empty. */
typedef struct rela_text_lines {
    rela_span *items; /* without line ends; valid until rela_text_lines_free */
    size_t n;
    /* private */
    char *text;
    size_t cap;
} rela_text_lines;

rela_status rela_text_lines_read(rela_text_lines *l, const char *path, rela_error *err);
/* The lines of a text that is lent as long as they are used; path: for messages. */
rela_status rela_text_lines_split(rela_text_lines *l, rela_span text, const char *path,
                                  rela_error *err);
void rela_text_lines_free(rela_text_lines *l);

#endif
