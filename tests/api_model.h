/* SPDX-License-Identifier: MIT */
/* tests/api_model.h - a model file with random weights and words to translate, for tests that use
 * the library as a program does. */
#ifndef RELA_TESTS_API_MODEL_H
#define RELA_TESTS_API_MODEL_H

#include "base/file.h"
#include "base/rng.h"
#include "format/model_text.h"
#include "rela/translate.h"
#include "scratch.h"
#include "tiny_config.h"

enum { TEXTS = 24, WIDTH = 64, MAX_LEN = 40 };

static const char VOCABULARY[] = "<pad>\n<unk>\n<eos>\na\nb\nc\nd\ne\nf@@\ng\nh\n.\n,\n";
static char path[SCRATCH_PATH];
static char texts_block[TEXTS][128];
static const char *texts[TEXTS];

static int make_model_of(void **state, size_t sources)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    rela_net net;
    rela_extras extras = { 0 };
    rela_pipeline *p = NULL;
    rela_pipeline_parts parts = { .n_sides = sources + 1,
                                  .vocab = { { VOCABULARY, sizeof VOCABULARY - 1 },
                                             { VOCABULARY, sizeof VOCABULARY - 1 } } };
    for (size_t i = 0; i <= sources; i++)
        (void)strcpy(parts.side[i].language, i < sources ? "en" : "de");
    CHECK_OK(rela_pipeline_create(&p, &parts, &err), err);
    tiny_config(&c);
    c.sources = sources;
    c.d = WIDTH;
    c.ffn = 2 * WIDTH;
    c.max_len = MAX_LEN;
    c.vocab_src = c.vocab_tgt = rela_vocab_size(rela_pipeline_vocab(p, 0));
    CHECK_OK(rela_net_init(&net, &c, &err), err);
    rela_params_init(net.weights, &net.params, 11);
    CHECK_OK(rela_pipeline_store(&extras, p, &err), err);
    CHECK(scratch_make(state) == 0, "no scratch folder");
    (void)snprintf(path, sizeof path, "%s", scratch("model.rela"));
    const rela_checkpoint_options alone = { .n_threads =
                                                1 }; /* no OpenMP team, see test_api_threads */
    CHECK_OK(rela_net_save(path, &net, &extras, &alone, &err), err);
    rela_extras_deinit(&extras);
    rela_net_deinit(&net);
    rela_pipeline_destroy(p);
    static const char *const WORDS[] = { "a", "b", "c", "d", "e", "g", "h", ".", ",", "strange" };
    rela_rng r = rela_rng_start(5, 5);
    for (size_t i = 0; i < TEXTS; i++) {
        const uint64_t n = i == 3 ? 0 : 1 + rela_rng_below(&r, 12);
        for (uint64_t k = 0; k < n; k++) {
            strcat(texts_block[i], WORDS[rela_rng_below(&r, 10)]);
            strcat(texts_block[i], " ");
        }
        texts[i] = texts_block[i];
    }
    return 0;
}

static inline int make_model(void **state)
{
    return make_model_of(state, 1);
}

static int remove_model(void **state)
{
    return scratch_remove(state);
}

typedef struct world {
    rela_runtime *runtime;
    rela_model *model;
    rela_session *session;
} world;

static void world_start(world *w, int n_threads)
{
    rela_error err = { RELA_OK, "" };
    rela_runtime_options o;
    rela_runtime_options_init(&o, sizeof o);
    o.n_threads = n_threads;
    CHECK_OK(rela_runtime_create(&w->runtime, &o, &err), err);
    CHECK_OK(rela_model_load(&w->model, w->runtime, path, &err), err);
    CHECK_OK(rela_session_create(&w->session, w->model, &err), err);
}

static void world_end(world *w)
{
    rela_session_destroy(w->session);
    rela_model_free(w->model);
    rela_runtime_destroy(w->runtime);
}

#endif
