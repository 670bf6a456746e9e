/* SPDX-License-Identifier: MIT */
/* cli/models.c - see models.h. */
#include "models.h"

static void tell(void *ctx, int32_t level, const char *line)
{
    const rela_cli *cli = ctx;
    rela_log_line(&cli->sink, (rela_log_level)level, "%s", line);
}

rela_status rela_cli_models_open(rela_cli_models *m, rela_cli *cli, rela_error *err)
{
    const rela_model *models[RELA_CLI_MODELS_MAX];
    rela_runtime_options o;
    rela_runtime_options_init(&o, sizeof o);
    o.n_threads = (int32_t)cli->common.threads;
    o.log = tell;
    o.log_ctx = cli;
    rela_status st = rela_runtime_create(&m->runtime, &o, err);
    for (; m->n < cli->operands.n && st == RELA_OK; m->n++) {
        st = rela_model_load(&m->models[m->n], m->runtime, cli->operands.items[m->n], err);
        models[m->n] = m->models[m->n];
    }
    return st == RELA_OK ? rela_session_create_ensemble(&m->session, models, m->n, err) : st;
}

void rela_cli_models_close(rela_cli_models *m)
{
    rela_session_destroy(m->session);
    for (size_t i = 0; i < m->n; i++)
        rela_model_free(m->models[i]);
    rela_runtime_destroy(m->runtime);
}
