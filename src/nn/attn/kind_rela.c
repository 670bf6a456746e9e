/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_rela.c - rectified linear attention (Zhang, Titov, Sennrich 2021) and the
 * variants of its ablation: weights max(0, s), stabilised by a norm of the merged heads. */
#include "nn/attn/kind.h"

static void weigh(const rela_attn_row *c, real *w, const real *s, size_t n)
{
    c->k->relu(w, s, n);
}

static void weigh_back(const rela_attn_row *c, real *ds, const real *dw, const real *w,
                       const real *s, size_t n)
{
    (void)s;
    c->k->relu_back(ds, dw, w, n);
}

enum { FLAGS = ATTN_POINTWISE | ATTN_RECTIFIED | ATTN_SPARSE | ATTN_NULLABLE };

const rela_attn_kind rela_attn_kinds_rela[] = {
    {
        .name = "relu",
        .summary = "max(0, s), no norm (ablation: hard to train)",
        .flags = FLAGS,
        .weigh = weigh,
        .weigh_back = weigh_back,
    },
    {
        .name = "relu-rms",
        .summary = "max(0, s), RMSNorm of the merged heads with gain 1 (ablation)",
        .flags = FLAGS,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .norm = &rela_attn_norm_rms,
    },
    {
        .name = "rela-i",
        .summary = "max(0, s), RMSNorm whose gain starts small (ReLA-i)",
        .flags = FLAGS,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .norm = &rela_attn_norm_rms_random,
    },
    {
        .name = "rela-g",
        .summary = "max(0, s), gated RMSNorm (ReLA-g, the method of the paper)",
        .flags = FLAGS,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .norm = &rela_attn_norm_gated,
    },
    {
        .name = "rela-g-ln",
        .summary = "max(0, s), gated LayerNorm (ablation)",
        .flags = FLAGS,
        .weigh = weigh,
        .weigh_back = weigh_back,
        .norm = &rela_attn_norm_gated_layer,
    },
    { .name = NULL },
};
