/* SPDX-License-Identifier: MIT */
/* src/nn/attn/registry.c - the table of attention kinds, for the library and for its users. */
#include "nn/attn/kind.h"

#include "base/error.h"
#include "base/sized.h"
#include "rela/attention.h"

#include <string.h>

/* attn_kinds.inc is written by the build: one X(stem) per file kind_<stem>.c, sorted. */
#define X(stem) extern const rela_attn_kind rela_attn_kinds_##stem[];
#include "attn_kinds.inc"
#undef X

static const rela_attn_kind *const FAMILIES[] = {
#define X(stem) rela_attn_kinds_##stem,
#include "attn_kinds.inc"
#undef X
};

enum { N_FAMILIES = sizeof FAMILIES / sizeof FAMILIES[0] };

const rela_attn_kind *rela_attn_kind_at(size_t i)
{
    for (size_t f = 0; f < N_FAMILIES; f++)
        for (const rela_attn_kind *a = FAMILIES[f]; a->name; a++)
            if (i-- == 0)
                return a;
    return NULL;
}

const rela_attn_kind *rela_attn_kind_find(const char *name)
{
    const rela_attn_kind *a = NULL;
    for (size_t i = 0; (a = rela_attn_kind_at(i)) != NULL; i++)
        if (strcmp(a->name, name) == 0)
            break;
    return a;
}

size_t rela_attn_params_n(const rela_attn_kind *kind)
{
    size_t n = 0;
    while (kind->params && kind->params[n].name)
        n++;
    return n;
}

size_t rela_attn_param_rows(const rela_attn_shape *s, size_t i)
{
    return s->kind->params[i].shared ? 1 : s->heads;
}

size_t rela_attn_param_size(const rela_attn_shape *s, size_t i)
{
    const rela_attn_param *p = &s->kind->params[i];
    return p->size ? p->size(s->d_head, s->numbers) : 1;
}

size_t rela_attn_params_at(size_t at[RELA_ATTN_PARAMS_MAX], const rela_attn_shape *s)
{
    size_t end = 0;
    for (size_t i = 0; i < RELA_ATTN_PARAMS_MAX; i++) {
        at[i] = end;
        if (i < rela_attn_params_n(s->kind))
            end += rela_attn_param_rows(s, i) * rela_attn_param_size(s, i);
    }
    return end;
}

const char *rela_attention_name(size_t i)
{
    const rela_attn_kind *a = rela_attn_kind_at(i);
    return a ? a->name : NULL;
}

rela_status rela_attention_number_get(rela_attention_number *out, size_t i, size_t k,
                                      rela_error *err)
{
    const rela_attn_kind *a = rela_attn_kind_at(i);
    const rela_attn_number *n = a ? a->numbers : NULL;
    const rela_status st = rela_sized_check(out, sizeof *out, "rela_attention_number", err);
    for (size_t at = 0; n && n->name && at < k; at++)
        n++;
    if (st != RELA_OK)
        return st;
    if (!n || !n->name)
        return rela_fail(err, RELA_ARG, "kind %zu has no number %zu", i, k);
    const rela_attention_number own = { .struct_size = out->struct_size,
                                        .name = n->name,
                                        .summary = n->summary,
                                        .whole = n->whole,
                                        .least = n->least,
                                        .most = n->most,
                                        .start = n->start };
    rela_sized_give(out, &own, sizeof own);
    return RELA_OK;
}

const char *rela_attention_summary(size_t i)
{
    const rela_attn_kind *a = rela_attn_kind_at(i);
    return a ? a->summary : NULL;
}
