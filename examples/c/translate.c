/* SPDX-License-Identifier: MIT */
/* examples/c/translate.c - translates standard input, line by line: translate MODEL <in >out. */
#include <rela/translate.h>
#include <stdio.h>

static rela_status translate_lines(rela_session *session, rela_error *err)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        const char *const texts[] = { line };
        rela_result *result = NULL;
        const rela_status st = rela_translate(&result, session, texts, NULL, 1, NULL, err);
        if (st != RELA_OK)
            return st;
        puts(rela_result_text(result, 0, 0));
        rela_result_free(result);
    }
    return RELA_OK;
}

int main(int argc, char **argv)
{
    rela_error err = { RELA_OK, "" };
    rela_runtime *runtime = NULL;
    rela_model *model = NULL;
    rela_session *session = NULL;
    rela_status st = rela_runtime_create(&runtime, NULL, &err);
    st = st ? st : rela_model_load(&model, runtime, argc > 1 ? argv[1] : "model.rela", &err);
    st = st ? st : rela_session_create(&session, model, &err);
    st = st ? st : translate_lines(session, &err);
    if (st != RELA_OK)
        fprintf(stderr, "%s\n", err.message);
    rela_session_destroy(session);
    rela_model_free(model);
    rela_runtime_destroy(runtime);
    return st == RELA_OK ? 0 : 1;
}
