/* SPDX-License-Identifier: MIT */
/* src/base/textlines.c - see textlines.h. */
#include "base/textlines.h"

#include "base/file.h"
#include "base/mem.h"

#include <string.h>

rela_status rela_text_lines_read(rela_text_lines *l, const char *path, rela_error *err)
{
    size_t len = 0;
    const rela_status st = rela_file_read(&l->text, &len, path, 0, err);
    if (st != RELA_OK)
        return st;
    const char *at = l->text, *end = at + len;
    if (len >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        at += 3;
    return rela_text_lines_split(l, (rela_span){ at, (size_t)(end - at) }, path, err);
}

rela_status rela_text_lines_split(rela_text_lines *l, rela_span text, const char *path,
                                  rela_error *err)
{
    const char *at = text.text, *end = at + text.len;
    for (rela_span line; rela_next_line(&line, &at, end);) {
        rela_span *items = rela_mem_grow(l->items, &l->cap, l->n + 1, sizeof *items);
        if (!items)
            return rela_fail(err, RELA_NOMEM, "%s: no memory for its lines", path);
        l->items = items;
        items[l->n++] = line;
    }
    return RELA_OK;
}

void rela_text_lines_free(rela_text_lines *l)
{
    rela_mem_free(l->items);
    rela_mem_free(l->text);
    *l = (rela_text_lines){ NULL, 0, NULL, 0 };
}
