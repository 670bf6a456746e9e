/* SPDX-License-Identifier: MIT */
/* tests/unit/test_model_text.c - texts inside a model file that are bad, though the file is whole
 * and its hash is right: vocabularies, merges, settings of the pipeline. One row per defect; what
 * is odd but allowed must translate. */
#include "check.h"
#include "format/model_text.h"
#include "rela/translate.h"
#include "scratch.h"
#include "tiny_config.h"

#include <stdlib.h>
#include <string.h>

enum { LONG_TOKEN = 10 << 20 };

#define HEAD "<pad>\n<unk>\n<eos>\n"
#define SIDE                                                                                       \
    "{\"language\": \"en\", \"normalise\": false, \"tokenise\": true, \"lowercase\": false}"
#define GOOD_SETTINGS "{\"src\": " SIDE ", \"tgt\": " SIDE "}"

/* Saves a model of five symbols whose section is the given text; NULL: left out. */
static void save(const char *section, const char *text, size_t len)
{
    static const char *const NAMES[] = { RELA_SECTION_PIPELINE, RELA_SECTION_VOCAB_SRC,
                                         RELA_SECTION_VOCAB_TGT, RELA_SECTION_BPE };
    static const char *const TEXTS[] = { GOOD_SETTINGS, HEAD "a\nb@@\n", HEAD "a\nb@@\n",
                                         "#version: 0.2\nb a</w>\n" };
    rela_error err = { RELA_OK, "" };
    rela_config c;
    rela_net net;
    rela_extras extras = { 0 };
    tiny_config(&c);
    c.d = c.ffn = 16;
    c.enc_layers = c.dec_layers = 1;
    c.vocab_src = c.vocab_tgt = 5;
    CHECK_OK(rela_net_init(&net, &c, &err), err);
    rela_params_init(net.weights, &net.params, 3);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const bool other = strcmp(NAMES[i], section) == 0;
        if (other && !text)
            continue;
        CHECK_OK(rela_extras_set(&extras, NAMES[i], other ? text : TEXTS[i],
                                 other ? len : strlen(TEXTS[i]), &err),
                 err);
    }
    CHECK_OK(rela_net_save(scratch("model.rela"), &net, &extras, NULL, &err), err);
    rela_extras_deinit(&extras);
    rela_net_deinit(&net);
}

/* Loads it and, if that works, translates with it. */
static rela_status use(rela_error *err)
{
    static const char *const TEXT[] = { "a ba abba b strange &amp; a" };
    rela_runtime *runtime = NULL;
    rela_model *model = NULL;
    rela_session *session = NULL;
    rela_result *result = NULL;
    rela_status st = rela_runtime_create(&runtime, NULL, err);
    st = st ? st : rela_model_load(&model, runtime, scratch("model.rela"), err);
    if (st == RELA_OK) {
        CHECK(rela_session_create(&session, model, err) == RELA_OK, "%s", err->message);
        CHECK(rela_translate(&result, session, TEXT, NULL, 1, NULL, err) == RELA_OK, "%s",
              err->message);
    }
    rela_result_free(result);
    rela_session_destroy(session);
    rela_model_free(model);
    rela_runtime_destroy(runtime);
    return st;
}

static void check(const char *what, const char *section, const char *text, size_t len,
                  const char *message)
{
    rela_error err = { RELA_OK, "" };
    rela_memory_stats before, after;
    save(section, text, len);
    before = memory_now();
    const rela_status st = use(&err);
    after = memory_now();
    CHECK(after.live == before.live, "%s: leak", what);
    CHECK(st == (message ? RELA_FORMAT : RELA_OK), "%s: status %d: %s", what, (int)st, err.message);
    if (!message)
        return;
    CHECK(strstr(err.message, message), "%s: '%s'; expected '%s'", what, err.message, message);
    CHECK(strstr(err.message, scratch("model.rela")) == err.message, "%s: no path in '%s'", what,
          err.message);
}

typedef struct defect {
    const char *what, *section, *text;
    const char *message; /* part of it; NULL: accepted */
} defect;

static const defect DEFECTS[] = {
    { "nothing", RELA_SECTION_BPE, "#version: 0.2\nb a</w>\n", NULL },
    { "no merges", RELA_SECTION_BPE, NULL, NULL },

    { "a token twice", RELA_SECTION_VOCAB_SRC, HEAD "a\na\n",
      "token 'a' was already listed in line 4" },
    { "a token twice, target", RELA_SECTION_VOCAB_TGT, HEAD "a\na\n",
      "token 'a' was already listed in line 4" },
    { "no <eos>", RELA_SECTION_VOCAB_SRC, "<pad>\n<unk>\na\nb\nc\n", "the special token <eos>" },
    { "special tokens in another order", RELA_SECTION_VOCAB_TGT, "<unk>\n<pad>\n<eos>\na\nb\n",
      "the special token <pad>" },
    { "an empty token", RELA_SECTION_VOCAB_SRC, HEAD "a\n\n", "empty token" },
    { "a blank in a token", RELA_SECTION_VOCAB_SRC, HEAD "a\nb c\n", "blank in a token" },
    { "a token too few", RELA_SECTION_VOCAB_SRC, HEAD "a\n", "has 4 lines; expected 5" },
    { "a token too many", RELA_SECTION_VOCAB_TGT, HEAD "a\nb\nc\n", "has 6 lines; expected 5" },
    { "no vocabulary", RELA_SECTION_VOCAB_SRC, NULL, "the model has no vocabulary" },

    { "a merge of three symbols", RELA_SECTION_BPE, "#version: 0.2\na b c\n",
      "expected two symbols with one blank between them" },
    { "a merge of one symbol", RELA_SECTION_BPE, "#version: 0.2\nab\n",
      "expected two symbols with one blank between them" },
    { "an empty merge", RELA_SECTION_BPE, "#version: 0.2\n\na b\n", "expected two symbols" },
    { "merges of a later version", RELA_SECTION_BPE, "#version: 9\na b\n", "version '9'" },
    { "a merge of symbols that nothing makes", RELA_SECTION_BPE, "#version: 0.2\nxyz qrs\n", NULL },
    { "merges that go round", RELA_SECTION_BPE,
      "#version: 0.2\na b\nb a\nab a\nba b\nab ab\naba b</w>\nb a</w>\n", NULL },
    { "a merge twice", RELA_SECTION_BPE, "#version: 0.2\na b\na b\n", NULL },

    { "no pipeline", RELA_SECTION_PIPELINE, NULL, "the model has no text pipeline" },
    { "a pipeline that is no JSON", RELA_SECTION_PIPELINE, "{", "text pipeline: " },
    { "a pipeline that is a list", RELA_SECTION_PIPELINE, "[]", "bad settings of side 'src'" },
    { "one side only", RELA_SECTION_PIPELINE, "{\"src\": " SIDE "}", "bad settings of side 'tgt'" },
    { "tokens of the source that are no text", RELA_SECTION_PIPELINE,
      "{\"src\": " SIDE ", \"tgt\": " SIDE ", \"source\": [1]}", "bad tokens of the source text" },
    { "too few tokens of the source", RELA_SECTION_PIPELINE,
      "{\"src\": " SIDE ", \"tgt\": " SIDE ", \"source\": \"f\"}", "tokens of the source text" },
    { "a side twice", RELA_SECTION_PIPELINE, "{\"src\": " SIDE ", \"src\": " SIDE "}",
      "text pipeline: " },
    { "a language of a thousand letters", RELA_SECTION_PIPELINE,
      "{\"src\": {\"language\": "
      "\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\","
      " \"normalise\": false, \"tokenise\": true, \"lowercase\": false}, \"tgt\": " SIDE "}",
      "bad settings of side 'src'" },
    { "a flag that is a number", RELA_SECTION_PIPELINE,
      "{\"src\": {\"language\": \"en\", \"normalise\": 1, \"tokenise\": true, \"lowercase\": "
      "false}, \"tgt\": " SIDE "}",
      "bad settings of side 'src'" },
    { "a step from the future", RELA_SECTION_PIPELINE,
      "{\"src\": {\"language\": \"en\", \"normalise\": true, \"tokenise\": true, \"lowercase\": "
      "false, \"segment\": true}, \"tgt\": " SIDE "}",
      "bad settings of side 'src'" },
    { "a language nobody knows", RELA_SECTION_PIPELINE,
      "{\"src\": {\"language\": \"zz\", \"normalise\": true, \"tokenise\": true, \"lowercase\": "
      "true}, \"tgt\": " SIDE "}",
      NULL },
};

static void each_defect_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof DEFECTS / sizeof DEFECTS[0]; i++) {
        const defect *d = &DEFECTS[i];
        check(d->what, d->section, d->text, d->text ? strlen(d->text) : 0, d->message);
    }
}

static void nul_bytes_and_endless_tokens_are_refused(void **state)
{
    (void)state;
    static const char NUL_TOKEN[] = HEAD "a\nb\0c\n", NUL_MERGE[] = "#version: 0.2\na\0 b\n";
    check("a NUL in a token", RELA_SECTION_VOCAB_SRC, NUL_TOKEN, sizeof NUL_TOKEN - 1, "NUL byte");
    check("a NUL in a merge", RELA_SECTION_BPE, NUL_MERGE, sizeof NUL_MERGE - 1, NULL);
    char *text = test_malloc(LONG_TOKEN + sizeof HEAD + 8);
    (void)strcpy(text, HEAD "a\n");
    const size_t head = strlen(text);
    memset(text + head, 'x', LONG_TOKEN);
    (void)strcpy(text + head + LONG_TOKEN, "\n");
    check("a token of 10 MiB", RELA_SECTION_VOCAB_SRC, text, head + LONG_TOKEN + 1,
          "expected at most 1024");
    test_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_defect_is_named),
        cmocka_unit_test(nul_bytes_and_endless_tokens_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
