/* SPDX-License-Identifier: MIT */
/* src/format/checkpoint_same.c - which files may be averaged: part of checkpoint.h. */
#include "format/checkpoint_keys.h"

#include <string.h>

static rela_status compare_texts(const rela_header *h, const rela_extras *texts, rela_error *err);

/* The configuration determines the parameters, so they need no check of their own. */
rela_status rela_checkpoint_compare(const rela_checkpoint *c, const rela_net *net,
                                    const rela_extras *texts, rela_error *err)
{
    if (c->matrices != RELA_MATRICES_PLAIN)
        return rela_fail(err, RELA_FORMAT, RELA_TRANSLATES_ONLY);
    const char *key = rela_config_compare(&c->config, &net->config);
    if (key)
        return rela_fail(err, RELA_FORMAT, "of another model: its '%s' differs", key);
    return compare_texts(&c->header, texts, err);
}

static rela_status compare_texts(const rela_header *h, const rela_extras *texts, rela_error *err)
{
    size_t n_have = 0, n_want = 0;
    for (size_t i = 0; i < h->n_metadata; i++)
        n_have += rela_key_text(h->metadata[i].key);
    for (size_t i = 0; i < texts->n_sections; i++) {
        const rela_section *s = &texts->sections[i];
        if (!rela_key_text(rela_span_of(s->name)))
            continue;
        const rela_metadata *t = rela_header_text(h, s->name);
        n_want++;
        if (!t || t->value.len != s->len || memcmp(t->value.text, s->text, s->len) != 0)
            return rela_fail(err, RELA_FORMAT, "of another model: its '%s' differs", s->name);
    }
    if (n_have == n_want)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT, "of another model: it has %zu texts; expected %zu", n_have,
                     n_want);
}
