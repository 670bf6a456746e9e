/* SPDX-License-Identifier: MIT */
/* src/nn/attn/norm.c - the norms that stabilise rectified attention; the loops are gated_norm and
 * gated_norm_back of kern.h. */
#include "nn/attn/kind.h"

const rela_attn_norm rela_attn_norm_rms = {
    .summary = "g * z / rms(z), g starts at 1",
};
const rela_attn_norm rela_attn_norm_rms_random = {
    .summary = "g * z / rms(z), g starts uniform on +-sqrt(3/d)",
    .random_gain = true,
};
const rela_attn_norm rela_attn_norm_gated = {
    .summary = "sigmoid(u * z) * g * z / rms(z)",
    .gated = true,
};
const rela_attn_norm rela_attn_norm_gated_layer = {
    .summary = "sigmoid(u * z) * g * (z - mean(z)) / std(z)",
    .gated = true,
    .center = true,
};
