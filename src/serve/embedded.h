/* SPDX-License-Identifier: MIT */
/* src/serve/embedded.h - what the server shows besides the viewer: embedded, so that no path ever
 * reaches the file system. */
#ifndef RELA_SERVE_EMBEDDED_H
#define RELA_SERVE_EMBEDDED_H

extern const char RELA_PAGE_SPEC[]; /* /spec: OpenAPI */

/* The English name of a language, or the code itself. */
const char *rela_page_language(const char *code);

#endif
