/* SPDX-License-Identifier: MIT */
/* tests/unit/test_model_memory.c - a model file in memory is as good as the file: plain, int8 and
 * mapped; bad bytes are refused like bad files. */
#include "api_model.h"
#include "base/mem.h"
#include "rela/model.h"

#include <stdlib.h>

static world w;

/* The bytes of a file, at an odd address. */
static char *bytes_of(const char *file, size_t *len)
{
    rela_error err = { RELA_OK, "" };
    char *text = NULL;
    CHECK_OK(rela_file_read(&text, len, file, 1 << 26, &err), err);
    char *copy = malloc(*len + 1);
    CHECK(copy, "no memory");
    memcpy(copy + 1, text, *len);
    rela_mem_free(text);
    return copy;
}

static char *translated(const rela_model *m)
{
    rela_error err = { RELA_OK, "" };
    rela_session *s = NULL;
    rela_result *r = NULL;
    CHECK_OK(rela_session_create(&s, m, &err), err);
    CHECK_OK(rela_translate(&r, s, texts, NULL, TEXTS, NULL, &err), err);
    char *text = strdup(rela_result_text(r, 0, 0));
    rela_result_free(r);
    rela_session_destroy(s);
    return text;
}

static void bytes_give_the_model_of_the_file(void **state)
{
    (void)state;
    const int32_t forms[] = { RELA_MODEL_RELA, RELA_MODEL_INT8, RELA_MODEL_MAPPED };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        rela_error err = { RELA_OK, "" };
        rela_model *a = NULL, *b = NULL;
        rela_model_convert_options o;
        char file[SCRATCH_PATH];
        size_t len = 0;
        rela_model_convert_options_init(&o, sizeof o);
        o.to = forms[i];
        (void)snprintf(file, sizeof file, "%s", scratch("converted"));
        CHECK_OK(rela_model_convert(file, path, &o, &err), err);
        CHECK_OK(rela_model_load(&a, w.runtime, file, &err), err);
        char *bytes = bytes_of(file, &len);
        CHECK_OK(rela_model_load_memory(&b, w.runtime, "own", bytes + 1, len, NULL, &err), err);
        memset(bytes, 0, len + 1);
        free(bytes);
        char *want = translated(a), *got = translated(b);
        CHECK(strcmp(want, got) == 0, "form %d: '%s'; expected '%s'", (int)forms[i], got, want);
        free(want);
        free(got);
        rela_model_free(a);
        rela_model_free(b);
    }
}

static void bad_bytes_are_refused(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_model *m = NULL;
    size_t len = 0;
    char *bytes = bytes_of(path, &len);
    for (size_t n = 0; n < len; n += n < 64 ? 1 : len / 50) {
        CHECK(rela_model_load_memory(&m, w.runtime, "own", bytes + 1, n, NULL, &err) == RELA_FORMAT,
              "%zu of %zu bytes", n, len);
        CHECK(!m && strncmp(err.message, "own: ", 5) == 0, "message '%s'", err.message);
    }
    bytes[len] = (char)(bytes[len] ^ 1); /* the last byte of the last tensor */
    CHECK(rela_model_load_memory(&m, w.runtime, "own", bytes + 1, len, NULL, &err) == RELA_FORMAT,
          "a changed byte");
    CHECK(strstr(err.message, "hash"), "message '%s'", err.message);
    free(bytes);
}

static int start(void **state)
{
    const int failed = make_model(state);
    world_start(&w, 2);
    return failed;
}

static int finish(void **state)
{
    world_end(&w);
    return remove_model(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_give_the_model_of_the_file),
        cmocka_unit_test(bad_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
