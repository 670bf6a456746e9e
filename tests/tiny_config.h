/* SPDX-License-Identifier: MIT */
/* tests/tiny_config.h - a small model, whose settings tests change: the sizes of the preset tiny.
 */
#ifndef TINY_CONFIG_H
#define TINY_CONFIG_H

#include "check.h"
#include "model/config.h"

static inline void tiny_config(rela_config *c)
{
    rela_error err = { RELA_OK, "" };
    *c = (rela_config){ .d = 128,
                        .ffn = 256,
                        .heads = 4,
                        .enc_layers = 4,
                        .dec_layers = 4,
                        .sources = 1,
                        .max_len = 256,
                        .tie = RELA_TIE_ALL,
                        .eps = 1e-6,
                        .attn_eps = 1e-8,
                        .drop_embed = 0.3,
                        .drop_residual = 0.3 };
    CHECK_OK(rela_config_attend(c, "rela-g", &err), err);
}

#endif
