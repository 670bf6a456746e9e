/* SPDX-License-Identifier: MIT */
/* src/model/checkpoint_same.c - which files may be added up: part of checkpoint.h. */
#include "model/checkpoint.h"

#include "model/checkpoint_keys.h"

#include <string.h>

static bool same_params(const rela_params *a, const rela_params *b);
static rela_status compare_texts(const rela_checkpoint *c, const rela_extras *texts,
                                 rela_error *err);

rela_status rela_checkpoint_compare(const rela_checkpoint *c, const rela_net *net,
                                    const rela_extras *texts, rela_error *err)
{
    if (rela_checkpoint_matrices(c) != RELA_MATRICES_PLAIN)
        return rela_fail(err, RELA_FORMAT, RELA_TRANSLATES_ONLY);
    const char *key = rela_config_compare(rela_checkpoint_config(c), &net->config);
    if (key)
        return rela_fail(err, RELA_FORMAT, "of another model: its '%s' differs", key);
    if (!same_params(rela_checkpoint_params(c), &net->params))
        return rela_fail(err, RELA_FORMAT, "of another model: its parameters differ");
    return compare_texts(c, texts, err);
}

/* The configuration decides on them; but the numbers of one are read into the place of the other.
 */
static bool same_params(const rela_params *a, const rela_params *b)
{
    bool same = a->n == b->n && a->total == b->total;
    for (size_t i = 0; same && i < a->n; i++) {
        const rela_param *x = &a->items[i], *y = &b->items[i];
        same = strcmp(x->name, y->name) == 0 && x->rows == y->rows && x->cols == y->cols &&
               x->offset == y->offset && x->packed == y->packed;
    }
    return same;
}

static rela_status compare_texts(const rela_checkpoint *c, const rela_extras *texts,
                                 rela_error *err)
{
    const rela_safetensors *f = rela_checkpoint_file(c);
    size_t n_have = 0, n_want = 0;
    for (size_t i = 0; i < rela_safetensors_n_metadata(f); i++)
        n_have += rela_key_text(rela_safetensors_metadata_at(f, i)->key);
    for (size_t i = 0; i < texts->n_sections; i++) {
        const rela_section *s = &texts->sections[i];
        if (!rela_key_text((rela_span){ s->name, strlen(s->name) }))
            continue;
        const rela_metadata *t = rela_safetensors_metadata_find(f, s->name);
        n_want++;
        if (!t || t->value.len != s->len || memcmp(t->value.text, s->text, s->len) != 0)
            return rela_fail(err, RELA_FORMAT, "of another model: its '%s' differs", s->name);
    }
    if (n_have == n_want)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT, "of another model: it has %zu texts; expected %zu", n_have,
                     n_want);
}
