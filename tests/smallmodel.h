/* SPDX-License-Identifier: MIT */
/* tests/smallmodel.h - the model of the gradient checks: 2+2 narrow layers of one attention kind,
 * dropout everywhere, sparse patterns that skip keys even in short sentences. */
#ifndef RELA_TESTS_SMALLMODEL_H
#define RELA_TESTS_SMALLMODEL_H

#include "attend.h"
#include "check.h"
#include "model/worker.h"
#include "tiny_config.h"

enum { SMALL_MODEL_VOCAB = 11 };

static inline rela_config small_model(const rela_attn_kind *kind)
{
    rela_config c;
    tiny_config(&c);
    c.d = 12;
    c.ffn = 10;
    c.heads = 3;
    c.enc_layers = c.dec_layers = 2;
    c.vocab_src = c.vocab_tgt = SMALL_MODEL_VOCAB;
    c.max_len = 16;
    c.drop_embed = c.drop_residual = 0.2;
    c.drop_attn = c.drop_ffn = 0.1;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind->name);
    narrow_patterns(&c);
    return c;
}

#endif
