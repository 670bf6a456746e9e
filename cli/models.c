/* SPDX-License-Identifier: MIT */
/* cli/models.c - see models.h. */
#include "models.h"

#include "model_names.h"
#include "rela/model.h"

#include <string.h>

static bool is_text(const char *path, bool first);

static void on_log(void *ctx, int32_t level, const char *line)
{
    const rela_cli *cli = ctx;
    rela_log_line(&cli->sink, (rela_log_level)level, "%s", line);
}

rela_status rela_cli_models_load(rela_cli_models *m, rela_cli *cli, const char *const *paths,
                                 size_t n, rela_error *err)
{
    rela_runtime_options o;
    rela_runtime_options_init(&o, sizeof o);
    o.n_threads = (int32_t)cli->common.threads;
    o.log = on_log;
    o.log_ctx = cli;
    rela_model_options with;
    rela_model_options_init(&with, sizeof with);
    with.int8 = m->int8;
    with.part = m->part;
    rela_status st = m->runtime ? RELA_OK : rela_runtime_create(&m->runtime, &o, err);
    if (m->n + n > RELA_CLI_MODELS_MAX)
        return rela_fail(err, RELA_ARG, "%zu models; expected at most %d", m->n + n,
                         RELA_CLI_MODELS_MAX);
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        rela_buffer path = RELA_BUFFER_INIT;
        if (m->input && is_text(paths[i], m->n == 0))
            return rela_fail(err, RELA_ARG, "'%.200s' is not a model; input goes with %s", paths[i],
                             m->input);
        st = rela_cli_find_model(&path, paths[i], err);
        if (st == RELA_OK && rela_dir_exists(paths[i]) && m->part < 2)
            rela_log_line(&cli->sink, RELA_LOG_INFO, "the model of %s is %s", paths[i], path.data);
        st = st ? st : rela_model_load_with(&m->models[m->n], m->runtime, path.data, &with, err);
        rela_buffer_free(&path);
        m->n += st == RELA_OK;
        if (st == RELA_FORMAT && m->input && m->n > 0 && strstr(err->message, "not a model file"))
            st = rela_fail(err, RELA_ARG, "'%.200s' is not a model; input goes with %s", paths[i],
                           m->input);
    }
    return st;
}

/* No file of a model has such a name: a sentence, or after a model some text like typo.en. */
static bool is_text(const char *path, bool first)
{
    const char *dot = strrchr(path, '.');
    return !rela_name_taken(path) &&
           (strchr(path, ' ') || (!first && dot && strcmp(dot, ".rela") != 0));
}

bool rela_cli_is_model(const char *path)
{
    enum { HEAD = 9 }; /* the size of the header, and its first byte */
    rela_blob *b = NULL;
    char head[HEAD] = "";
    uint64_t size = 0;
    bool model = rela_model_is_pair(path);
    if (!model && rela_blob_open(&b, path, NULL) == RELA_OK && rela_blob_size(b) > HEAD &&
        rela_blob_read(b, head, HEAD, 0, NULL) == RELA_OK) {
        memcpy(&size, head, sizeof size); /* little endian, as this machine is */
        model = size < rela_blob_size(b) && head[HEAD - 1] == '{';
    }
    rela_blob_close(b);
    return model;
}

rela_status rela_cli_models_open(rela_cli_models *m, rela_cli *cli, rela_error *err)
{
    const rela_model *models[RELA_CLI_MODELS_MAX];
    const rela_status st = rela_cli_models_load(m, cli, cli->operands.items, cli->operands.n, err);
    for (size_t i = 0; i < m->n; i++)
        models[i] = m->models[i];
    return st == RELA_OK ? rela_session_create_ensemble(&m->session, models, m->n, err) : st;
}

void rela_cli_models_close(rela_cli_models *m)
{
    rela_session_destroy(m->session);
    for (size_t i = 0; i < m->n; i++)
        rela_model_free(m->models[i]);
    rela_runtime_destroy(m->runtime);
}

rela_status rela_cli_take_texts(rela_cli *cli, const char **src, const char **tgt, rela_error *err)
{
    rela_list *given = &cli->operands;
    if (given->n < 2)
        return RELA_OK;
    if (*src || *tgt)
        return rela_fail(err, RELA_ARG, "texts are operands or --src and --tgt, not both");
    const char *first = given->items[given->n - 2];
    if (rela_cli_is_model(first))
        return rela_fail(err, RELA_ARG,
                         "%s is a model: name the source and the target text after it", first);
    *src = first;
    *tgt = given->items[given->n - 1];
    given->n -= 2;
    return RELA_OK;
}
