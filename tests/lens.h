/* SPDX-License-Identifier: MIT */
/* tests/lens.h - a small model with random weights and a text pipeline, for tests of attention
 * analysis. */
#ifndef RELA_TESTS_LENS_H
#define RELA_TESTS_LENS_H

#include "check.h"

#include "attend.h"
#include "model/worker.h"
#include "text/pipeline.h"
#include "tiny_config.h"

#include <string.h>

typedef struct lens {
    rela_net net;
    rela_pipeline *pipeline;
} lens;

/* Two layers of two heads; the words a b c d e, without subwords. */
static inline void lens_start_sources(lens *l, const char *kind, uint64_t seed, size_t sources,
                                      bool serial)
{
    static const char VOCAB[] = "<pad>\n<unk>\n<eos>\na\nb\nc\nd\ne\n";
    rela_error err = { RELA_OK, "" };
    rela_config c;
    tiny_config(&c);
    c.sources = sources;
    c.serial_cross = serial;
    c.d = 16;
    c.ffn = 24;
    c.heads = 2;
    c.enc_layers = c.dec_layers = 2;
    c.vocab_src = c.vocab_tgt = 8;
    c.max_len = 60;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        set_attention(&c, i, kind);
    CHECK_OK(rela_config_check(&c, &err), err);
    CHECK_OK(rela_net_init(&l->net, &c, &err), err);
    rela_params_init(l->net.weights, &l->net.params, seed);
    rela_pipeline_parts parts = { .n_sides = sources + 1,
                                  .vocab = { { VOCAB, sizeof VOCAB - 1 } } };
    for (size_t i = 0; i <= sources; i++)
        (void)strcpy(parts.side[i].language, "en");
    CHECK_OK(rela_pipeline_create(&l->pipeline, &parts, &err), err);
}

static inline void lens_start(lens *l, const char *kind, uint64_t seed)
{
    lens_start_sources(l, kind, seed, 1, false);
}

static inline void lens_end(lens *l)
{
    rela_net_deinit(&l->net);
    rela_pipeline_destroy(l->pipeline);
}

static inline rela_span span_of(const char *text)
{
    return (rela_span){ text, strlen(text) };
}

/* The number of a place: "enc", "cross1". */
static inline size_t place_named(const rela_net *n, const char *name)
{
    size_t i = 0;
    while (i < n->list.n_stacks && strcmp(n->list.stacks[i].name, name) != 0)
        i++;
    CHECK(i < n->list.n_stacks, "no place %s", name);
    return i;
}

#endif
