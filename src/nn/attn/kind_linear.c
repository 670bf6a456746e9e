/* SPDX-License-Identifier: MIT */
/* src/nn/attn/kind_linear.c - linear attention (Katharopoulos et al. 2020): positive features
 * elu(x) + 1 of queries and keys, products normalised by their sum. */
#include "nn/attn/sums.h"

static size_t features(const rela_attn_shape *shape)
{
    return shape->d_head;
}

static void map(const rela_attn_map *m)
{
    for (size_t i = 0; i < m->rows; i++)
        m->a->k->elu1(m->y + i * m->ldy, m->x + i * m->ldx, m->a->d_head);
}

static void map_back(const rela_attn_map *m)
{
    for (size_t i = 0; i < m->rows; i++)
        m->a->k->elu1_back(m->dx + i * m->ldx, m->dy + i * m->ldy, m->x + i * m->ldx, m->a->d_head);
}

static const rela_attn_features FEATURES = { features, map, map_back };
static const rela_attn_method SUMS = { RELA_ATTN_SUMS, .features = &FEATURES };

const rela_attn_kind rela_attn_kinds_linear[] = {
    {
        .name = "linear",
        .summary = "features elu(x) + 1 of queries and keys, normalised products",
        .flags = ATTN_SUM_ONE,
        .method = &SUMS,
    },
    { .name = NULL },
};
