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
    { "relu", "max(0, s), no norm (ablation: hard to train)", FLAGS, weigh, weigh_back,
      .norm = NULL },
    { "relu-rms", "max(0, s), RMSNorm of the merged heads with gain 1 (ablation)", FLAGS, weigh,
      weigh_back, .norm = &rela_attn_norm_rms },
    { "rela-i", "max(0, s), RMSNorm whose gain starts small (ReLA-i)", FLAGS, weigh, weigh_back,
      .norm = &rela_attn_norm_rms_random },
    { "rela-g", "max(0, s), gated RMSNorm (ReLA-g, the method of the paper)", FLAGS, weigh,
      weigh_back, .norm = &rela_attn_norm_gated },
    { "rela-g-ln", "max(0, s), gated LayerNorm (ablation)", FLAGS, weigh, weigh_back,
      .norm = &rela_attn_norm_gated_layer },
    { .name = NULL },
};
