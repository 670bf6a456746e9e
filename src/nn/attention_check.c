/* SPDX-License-Identifier: MIT */
/* src/nn/attention_check.c - see attention_check.h. */
#include "nn/attention_check.h"

#include "base/error.h"
#include "base/sized.h"

#include <string.h>

enum { HEADS_MAX = 1 << 12, HEAD_WIDTH_MAX = 1 << 16, LENGTH_MAX = 1 << 24, THREADS_MAX = 256 };

typedef struct range {
    const char *what;
    double value, min, max;
} range;

static rela_status check_ranges(const range *r, size_t n, rela_error *err);
static rela_status check_learned(const rela_attention_input *in, const rela_attention_sizes *s,
                                 rela_error *err);
static rela_status check_lengths(const rela_attention_input *in, const rela_attention_sizes *s,
                                 rela_error *err);
static rela_status check_ld(size_t *ld, const char *what, size_t d, rela_error *err);

void rela_attention_options_init(rela_attention_options *o, size_t size)
{
    const rela_attention_options all = { .struct_size = size,
                                         .kind = "rela-g",
                                         .heads = 8,
                                         .head_width = 64,
                                         .max_length = 1024,
                                         .epsilon = 1e-8,
                                         .slope = 0.01,
                                         .alpha = 1.5,
                                         .fuse = 0.1,
                                         .top = 8,
                                         .window = 8,
                                         .stride = 8 };
    rela_sized_init(o, size, &all, sizeof all);
}

void rela_attention_input_init(rela_attention_input *in, size_t size)
{
    const rela_attention_input all = { .struct_size = size };
    rela_sized_init(in, size, &all, sizeof all);
}

void rela_attention_output_init(rela_attention_output *out, size_t size)
{
    const rela_attention_output all = { .struct_size = size };
    rela_sized_init(out, size, &all, sizeof all);
}

void rela_attention_gradient_init(rela_attention_gradient *g, size_t size)
{
    const rela_attention_gradient all = { .struct_size = size };
    rela_sized_init(g, size, &all, sizeof all);
}

static rela_status take_kind(rela_attention_sizes *s, const char *text,
                             const rela_attention_options *o, rela_error *err);

rela_status rela_attention_options_check(rela_attention_options *all, rela_attention_sizes *s,
                                         const rela_attention_options *o, rela_error *err)
{
    rela_attention_options_init(all, sizeof *all);
    rela_status st = rela_sized_take(all, sizeof *all, o, "rela_attention_options", err);
    if (st != RELA_OK)
        return st;
    const char *name = all->kind ? all->kind : "rela-g";
    const range ranges[] = {
        { "heads", all->heads, 1, HEADS_MAX },
        { "head_width", all->head_width, 1, HEAD_WIDTH_MAX },
        { "max_length", all->max_length, 1, LENGTH_MAX },
        { "n_threads", all->n_threads, 0, THREADS_MAX },
        { "epsilon", all->epsilon, 1e-30, 1 },
        { "dropout", all->dropout, 0, 0.99 },
        { "slope", all->slope, 0, 0.99 },
        { "alpha", all->alpha, 1.01, 4 },
        { "fuse", all->fuse, 0, 1e6 },
        { "top", all->top, 1, LENGTH_MAX },
        { "window", all->window, 1, LENGTH_MAX },
        { "stride", all->stride, 1, LENGTH_MAX },
    };
    st = check_ranges(ranges, sizeof ranges / sizeof ranges[0], err);
    if (st != RELA_OK)
        return st;
    *s = (rela_attention_sizes){ .heads = (size_t)all->heads,
                                 .d_head = (size_t)all->head_width,
                                 .d = (size_t)all->heads * (size_t)all->head_width,
                                 .max_length = (size_t)all->max_length,
                                 .causal = all->causal != 0 };
    return take_kind(s, name, all, err);
}

/* Numbers in the text of the kind take precedence over the struct members of old versions. */
static rela_status take_kind(rela_attention_sizes *s, const char *text,
                             const rela_attention_options *o, rela_error *err)
{
    const struct {
        const char *alias;
        double value;
    } old[] = {
        { "slope", o->slope },     { "alpha", o->alpha },           { "fuse", o->fuse },
        { "top", (double)o->top }, { "window", (double)o->window }, { "stride", (double)o->stride }
    };
    rela_attn_spec spec;
    rela_attn_group groups[RELA_GROUPS_MAX];
    rela_status st = rela_attn_spec_parse(&spec, text, err);
    for (size_t i = 0; i < sizeof old / sizeof old[0] && st == RELA_OK; i++)
        st = rela_attn_spec_alias(&spec, old[i].alias, old[i].value, err);
    st = st ? st : rela_attn_spec_check(&spec, 1, s->heads, err);
    if (st == RELA_OK && rela_attn_spec_groups(groups, &spec, 0, s->heads) != 1)
        st = rela_fail(err, RELA_ARG, "'%s': one operator has one kind of attention", text);
    if (st != RELA_OK)
        return st;
    s->kind = groups[0].kind;
    memcpy(s->numbers, groups[0].numbers, sizeof s->numbers);
    if (s->kind->method && o->dropout > 0)
        return rela_fail(err, RELA_ARG, "dropout is %.9g, but %s forms no weights to drop",
                         o->dropout, s->kind->name);
    const rela_attn_shape shape = rela_attention_shape(s);
    size_t at[RELA_ATTN_PARAMS_MAX];
    s->learned = rela_attn_params_at(at, &shape);
    return RELA_OK;
}

rela_status rela_attention_input_check(rela_attention_input *all, const rela_attention_sizes *s,
                                       const rela_attention_input *in, rela_error *err)
{
    rela_attention_input_init(all, sizeof *all);
    rela_status st = rela_sized_take(all, sizeof *all, in, "rela_attention_input", err);
    st = st ? st : check_ld(&all->ldq, "ldq", s->d, err);
    st = st ? st : check_ld(&all->ldk, "ldk", s->d, err);
    st = st ? st : check_ld(&all->ldv, "ldv", s->d, err);
    st = st ? st : check_learned(all, s, err);
    return st ? st : check_lengths(all, s, err);
}

rela_status rela_attention_output_check(rela_attention_output *all, const rela_attention_sizes *s,
                                        const rela_attention_output *out, rela_error *err)
{
    rela_attention_output_init(all, sizeof *all);
    const rela_status st = rela_sized_take(all, sizeof *all, out, "rela_attention_output", err);
    if (st != RELA_OK)
        return st;
    if (!all->y)
        return rela_fail(err, RELA_ARG, "no place for the result: y is NULL");
    return check_ld(&all->ldy, "ldy", s->d, err);
}

rela_status rela_attention_gradient_check(rela_attention_gradient *all,
                                          const rela_attention_sizes *s,
                                          const rela_attention_gradient *g, rela_error *err)
{
    rela_attention_gradient_init(all, sizeof *all);
    const rela_status st = rela_sized_take(all, sizeof *all, g, "rela_attention_gradient", err);
    if (st != RELA_OK)
        return st;
    if (!all->dy || !all->dq || !all->dk || !all->dv)
        return rela_fail(err, RELA_ARG, "dy, dq, dk or dv is NULL");
    return check_ld(&all->lddy, "lddy", s->d, err);
}

/* ---- checks ---- */

static rela_status check_ranges(const range *r, size_t n, rela_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(r[i].value >= r[i].min && r[i].value <= r[i].max))
            return rela_fail(err, RELA_ARG, "%s is %.9g; expected %.9g..%.9g", r[i].what,
                             r[i].value, r[i].min, r[i].max);
    return RELA_OK;
}

static rela_status check_ld(size_t *ld, const char *what, size_t d, rela_error *err)
{
    if (*ld == 0)
        *ld = d;
    if (*ld >= d)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is %zu; expected at least %zu", what, *ld, d);
}

static rela_status check_learned(const rela_attention_input *in, const rela_attention_sizes *s,
                                 rela_error *err)
{
    const rela_attn_kind *kind = s->kind;
    if (in->n > 0 && (!in->q || !in->k || !in->v))
        return rela_fail(err, RELA_ARG, "queries, keys or values are NULL");
    if (kind->norm && !in->gain)
        return rela_fail(err, RELA_ARG, "%s needs a gain of %zu numbers", kind->name, s->d);
    if (kind->norm && kind->norm->gated && !in->gate)
        return rela_fail(err, RELA_ARG, "%s needs a gate of %zu numbers", kind->name, s->d);
    if (s->learned && !in->head)
        return rela_fail(err, RELA_ARG, "%s needs %zu learned numbers", kind->name, s->learned);
    return RELA_OK;
}

static rela_status check_lengths(const rela_attention_input *in, const rela_attention_sizes *s,
                                 rela_error *err)
{
    if (in->n > 0 && ((!in->q_step && !in->q_lens) || (!in->k_step && !in->k_lens)))
        return rela_fail(err, RELA_ARG, "neither a step nor lengths of the sequences");
    for (size_t i = 0; i < in->n; i++) {
        const size_t n_q = in->q_lens ? in->q_lens[i] : in->q_step;
        const size_t n_k = in->k_lens ? in->k_lens[i] : in->k_step;
        if (in->q_step && n_q > in->q_step)
            return rela_fail(err, RELA_ARG, "sequence %zu: %zu queries in a step of %zu", i, n_q,
                             in->q_step);
        if (in->k_step && n_k > in->k_step)
            return rela_fail(err, RELA_ARG, "sequence %zu: %zu keys in a step of %zu", i, n_k,
                             in->k_step);
        if (n_k > s->max_length)
            return rela_fail(err, RELA_ARG, "sequence %zu: %zu keys; expected at most %zu", i, n_k,
                             s->max_length);
        if (n_q > LENGTH_MAX)
            return rela_fail(err, RELA_ARG, "sequence %zu: %zu queries; expected at most %d", i,
                             n_q, LENGTH_MAX);
    }
    return RELA_OK;
}
