/* SPDX-License-Identifier: MIT */
/* src/base/compose.h - builds a text by many small appends and checks for failure once, at the end.
 *
 *     rela_composer t = { out, err, RELA_OK };
 *     rela_compose(&t, "one %d", 1);
 *     rela_compose(&t, "two");
 *     return t.status; */
#ifndef RELA_BASE_COMPOSE_H
#define RELA_BASE_COMPOSE_H

#include "base/error.h"

typedef struct rela_composer {
    rela_buffer *out;
    rela_error *err;
    rela_status status; /* after the first failure nothing is appended any more */
} rela_composer;

/* Appends in the format of printf, in the C locale. */
void rela_compose(rela_composer *t, const char *format, ...) RELA_PRINTF(2, 3);

#endif
