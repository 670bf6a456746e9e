/* SPDX-License-Identifier: MIT */
/* tests/copying.h - updates of a small model that learns to copy. */
#ifndef RELA_TESTS_COPYING_H
#define RELA_TESTS_COPYING_H

#include "attend.h"
#include "base/rng.h"
#include "check.h"
#include "model/worker.h"
#include "tiny_config.h"

enum { VOCAB = 23, SENTENCES = 40, LEN_MAX = 9, IDS_MAX = SENTENCES * LEN_MAX };

/* Copying: the target is the source. */
typedef struct text {
    int32_t ids[IDS_MAX];
    uint32_t at[SENTENCES + 1];
} text;

static inline void make_text(text *t, uint64_t seed)
{
    rela_rng r = rela_rng_start(seed, 0);
    uint32_t n = 0;
    for (int i = 0; i < SENTENCES; i++) {
        t->at[i] = n;
        const uint64_t len = 2 + rela_rng_below(&r, LEN_MAX - 3);
        for (uint64_t j = 0; j < len; j++)
            t->ids[n++] = (int32_t)(3 + rela_rng_below(&r, VOCAB - 3));
        t->ids[n++] = 2;
    }
    t->at[SENTENCES] = n;
}

static inline rela_model_batch update_of(const text *t)
{
    return (rela_model_batch){ .streams = { { t->ids, t->at, SENTENCES },
                                            { t->ids, t->at, SENTENCES } } };
}

static inline rela_config copying_config(const char *kind, double dropout)
{
    rela_config c;
    tiny_config(&c);
    c.d = 32;
    c.ffn = 48;
    c.heads = 2;
    c.enc_layers = c.dec_layers = 2;
    c.vocab_src = c.vocab_tgt = VOCAB;
    c.max_len = 32;
    c.drop_embed = c.drop_residual = c.drop_attn = c.drop_ffn = dropout;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind);
    return c;
}

static inline void make_net_of(rela_net *n, const rela_config *c)
{
    rela_error err = { RELA_OK, "" };
    CHECK_OK(rela_net_init(n, c, &err), err);
    rela_params_init(n->weights, &n->params, 1);
}

static inline void make_net(rela_net *n, const char *kind, double dropout)
{
    const rela_config c = copying_config(kind, dropout);
    make_net_of(n, &c);
}

#endif
