/* SPDX-License-Identifier: MIT */
/* tests/model_file.h - small models and scratch files for the tests of model files. */
#ifndef RELA_TESTS_MODEL_FILE_H
#define RELA_TESTS_MODEL_FILE_H

#include "scratch.h"

#include "attend.h"
#include "base/file.h"
#include "base/mem.h"
#include "format/checkpoint.h"
#include "tiny_config.h"

/* One layer on each side, two heads. */
static inline rela_config small_config(size_t d, size_t vocab)
{
    rela_config c;
    rela_error err;
    tiny_config(&c);
    c.d = d;
    c.ffn = 2 * d;
    c.heads = 2;
    c.enc_layers = c.dec_layers = 1;
    c.vocab_src = c.vocab_tgt = vocab;
    c.max_len = 8;
    set_attention(&c, RELA_ATTN_DEC, "softmax");
    CHECK_OK(rela_config_check(&c, &err), err);
    return c;
}

static inline void start_net(rela_net *n, const rela_config *c, uint64_t seed)
{
    rela_error err;
    CHECK_OK(rela_net_init(n, c, &err), err);
    rela_params_init(n->weights, &n->params, seed);
}

static inline void set_text(rela_extras *e, const char *name, const char *text)
{
    rela_error err;
    CHECK_OK(rela_extras_set(e, name, text, strlen(text), &err), err);
}

static inline void set_vocabulary(rela_extras *e, const char *name, size_t n)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_error err;
    static const char *const SPECIAL[] = { "<pad>", "<unk>", "<eos>" };
    for (size_t i = 0; i < n && i < 3; i++)
        CHECK_OK(rela_buffer_printf(&text, &err, "%s\n", SPECIAL[i]), err);
    for (size_t i = 3; i < n; i++)
        CHECK_OK(rela_buffer_printf(&text, &err, "w%zu\n", i), err);
    set_text(e, name, text.data);
    rela_buffer_free(&text);
}

/* Everything that is saved together. */
typedef struct sample {
    rela_net net, m, v;
    rela_extras extras;
} sample;

static inline void sample_start(sample *s, size_t d, size_t vocab, bool checkpoint)
{
    const rela_config c = small_config(d, vocab);
    rela_error err;
    start_net(&s->net, &c, 1);
    start_net(&s->m, &c, 2);
    start_net(&s->v, &c, 3);
    s->extras = (rela_extras){ 0 };
    set_vocabulary(&s->extras, RELA_SECTION_VOCAB_SRC, vocab);
    set_vocabulary(&s->extras, RELA_SECTION_VOCAB_TGT, vocab);
    set_text(&s->extras, RELA_SECTION_BPE, "#version: 0.2\n\xC3\xA9 r</w>\n");
    set_text(&s->extras, RELA_SECTION_PIPELINE,
             "{\"src\": {\"language\": \"en\", \"lowercase\": false, \"normalise\": false, "
             "\"tokenise\": true}, \"tgt\": {\"language\": \"de\", \"lowercase\": false, "
             "\"normalise\": false, \"tokenise\": true}}");
    set_text(&s->extras, RELA_SECTION_RECORD, "{\"updates\":300,\"loss\":2.5}");
    if (!checkpoint)
        return;
    set_text(&s->extras, RELA_SECTION_STATE, "{\"update\":300,\"random\":[1,2]}");
    CHECK_OK(rela_extras_lend(&s->extras, "adam.m", s->m.weights, &err), err);
    CHECK_OK(rela_extras_lend(&s->extras, "adam.v", s->v.weights, &err), err);
}

static inline void sample_end(sample *s)
{
    rela_extras_deinit(&s->extras);
    rela_net_deinit(&s->net);
    rela_net_deinit(&s->m);
    rela_net_deinit(&s->v);
}

static inline void sample_save(const char *path, size_t d, size_t vocab, bool checkpoint)
{
    sample s;
    rela_error err;
    const rela_checkpoint_options o = { .n_threads = 1 };
    sample_start(&s, d, vocab, checkpoint);
    CHECK_OK(rela_net_save(path, &s.net, &s.extras, &o, &err), err);
    sample_end(&s);
}

/* Loads everything and drops it again; a failure must leave nothing behind. */
static inline rela_status try_load(const char *path, rela_error *err)
{
    rela_net n;
    rela_extras e;
    rela_memory_stats before, after;
    const rela_checkpoint_options o = { .n_threads = 1, .arrays = true };
    *err = (rela_error){ RELA_OK, "" };
    before = memory_now();
    const rela_status st = rela_net_load(&n, &e, path, &o, err);
    CHECK((st == RELA_OK) == (n.weights != NULL), "weights after status %d", st);
    CHECK(st == RELA_OK || (!e.sections && !e.n_arrays), "extras after status %d", st);
    CHECK((st == RELA_OK) == (err->message[0] == '\0'), "status %d: '%s'", st, err->message);
    rela_net_deinit(&n);
    rela_extras_deinit(&e);
    after = memory_now();
    CHECK(after.live == before.live, "leak after status %d", st);
    return st;
}

static inline char *read_all(const char *path, size_t *len)
{
    char *bytes = NULL;
    rela_error err;
    CHECK_OK(rela_file_read(&bytes, len, path, 0, &err), err);
    return bytes;
}

static inline bool same_bytes(const char *path, const char *bytes, size_t len)
{
    size_t n = 0;
    char *have = read_all(path, &n);
    const bool same = n == len && memcmp(have, bytes, len) == 0;
    rela_mem_free(have);
    return same;
}

#endif
