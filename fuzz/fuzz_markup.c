/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_markup.c - texts with tags: read whole, and rendered with all their tags.
 *
 * Every sentence is translated as itself; the bytes before the first LF are links. */
#include "fuzz.h"

#include "serve/markup_text.h"

#include <string.h>

enum { LINKS_MAX = 64 };

/* The bytes before lf are links. */
static void render(const rela_passages *p, const rela_passage *s, const uint8_t *data,
                   const uint8_t *lf)
{
    rela_outcome_link links[LINKS_MAX];
    const size_t length = s->end - s->begin;
    size_t n = 0, tags = 0;
    for (; lf && n < LINKS_MAX && data + n + 1 < lf; n++) {
        const uint32_t a = data[n] % (uint32_t)length, b = data[n + 1] % (uint32_t)length;
        links[n] = (rela_outcome_link){ a, (uint32_t)length, b, b + (b < length) };
    }
    rela_buffer out = RELA_BUFFER_INIT;
    const rela_span to = { p->texts.data + s->begin, length };
    HOLDS(rela_markup_render(&out, p, s, to, links, n, NULL) == RELA_OK);
    for (size_t k = 0; k < s->n_tags; k++)
        tags += p->tags[s->tag + k].end - p->tags[s->tag + k].begin;
    HOLDS(out.len >= length + tags);
    rela_buffer_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *lf = size ? memchr(data, '\n', size) : NULL;
    const char *text = lf ? (const char *)lf + 1 : (const char *)data;
    const size_t len = lf ? size - (size_t)(lf + 1 - data) : size;
    rela_passages p = { .n = 0 };
    if (size == 0 || rela_markup_add(&p, text, len, NULL, NULL) != RELA_OK)
        return 0;
    for (size_t i = 0; i < p.n; i++) {
        HOLDS(p.items[i].end >= p.items[i].begin && p.items[i].end <= p.texts.len);
        if (p.items[i].sentence)
            render(&p, &p.items[i], data, lf);
    }
    rela_passages_free(&p);
    return 0;
}
