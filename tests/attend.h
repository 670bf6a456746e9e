/* SPDX-License-Identifier: MIT */
/* tests/attend.h - kinds of attention and their numbers, for tests. */
#ifndef RELA_TESTS_ATTEND_H
#define RELA_TESTS_ATTEND_H

#include "check.h"
#include "model/config.h"

#include <string.h>

/* Numbers for all kinds that have them. */
typedef struct attn_setup {
    real slope, alpha;
    size_t top, window, stride;
    real fuse;
} attn_setup;

/* The numbers of one kind; those that a test leaves at 0 keep their defaults. */
static inline void attn_setup_numbers(real *numbers, const rela_attn_kind *kind,
                                      const attn_setup *s)
{
    const struct {
        const char *alias;
        double value;
    } all[] = { { "slope", (double)s->slope },   { "alpha", (double)s->alpha },
                { "fuse", (double)s->fuse },     { "top", (double)s->top },
                { "window", (double)s->window }, { "stride", (double)s->stride } };
    rela_attn_numbers_start(numbers, kind);
    for (size_t i = 0; kind->numbers && kind->numbers[i].name; i++)
        for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
            if (kind->numbers[i].alias && strcmp(kind->numbers[i].alias, all[k].alias) == 0 &&
                all[k].value != 0)
                numbers[i] = (real)all[k].value;
}

/* Sets the attention of one place of a model from its specification. */
static inline void set_attention(rela_config *c, int place, const char *text)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_attn_spec_parse(&c->attention[place], text, &err), err);
}

/* Makes sparse patterns narrow enough to skip keys even in short sentences. */
static inline void narrow_patterns(rela_config *c)
{
    static const char *const ALIASES[] = { "top", "window", "stride" };
    static const double VALUES[] = { 2, 1, 2 };
    rela_error err = { RELA_OK, "" };
    for (size_t i = 0; i < 3 * (size_t)RELA_ATTN_N_TYPES; i++)
        CHECK_OK(rela_attn_spec_alias(&c->attention[i / 3], ALIASES[i % 3], VALUES[i % 3], &err),
                 err);
}

#endif
