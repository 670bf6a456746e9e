/* SPDX-License-Identifier: MIT */
/* src/serve/markup_tags.h - single tags and entities of HTML and XML: pure functions over bytes. */
#ifndef RELA_SERVE_MARKUP_TAGS_H
#define RELA_SERVE_MARKUP_TAGS_H

#include "base/str.h"

#include <stdbool.h>

enum { RELA_TAG_OPEN, RELA_TAG_CLOSE, RELA_TAG_POINT /* by itself: <img>, <br/>, a comment */ };

typedef struct rela_markup_tag {
    rela_span name;   /* empty: a comment or declaration */
    const char *end;  /* after its > */
    const char *text; /* its < */
    int kind;
} rela_markup_tag;

/* Whether a tag begins at `at`, and ends before end. */
bool rela_markup_is_tag(const char *at, const char *end);
rela_markup_tag rela_markup_tag_read(const char *at, const char *end); /* if there is one */
bool rela_markup_is_block(const rela_markup_tag *t);
/* Whether the element is copied with all that is in it. */
bool rela_markup_is_kept(const rela_markup_tag *t);
/* After the first closing tag of an element that begins with this tag; NULL: it never ends. */
const char *rela_markup_element_end(const rela_markup_tag *t, const char *end);
/* The character of an entity, without & and ;, in UTF-8; 0: not known. */
size_t rela_markup_entity(char out[8], rela_span name);

#endif
