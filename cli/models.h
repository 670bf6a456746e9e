/* SPDX-License-Identifier: MIT */
/* cli/models.h - loads the models of a command: one, several, or an ensemble. */
#ifndef RELA_CLI_MODELS_H
#define RELA_CLI_MODELS_H

#include "cli.h"

#include "rela/translate.h"

enum { RELA_CLI_MODELS_MAX = 64 };

/* All zero is closed. */
typedef struct rela_cli_models {
    bool int8;         /* int8, part and input: set before loading */
    int32_t part;      /* 1 or 2 of a pair of models; 0: files with one model */
    const char *input; /* where text goes, named if it is given as a model; or NULL */
    rela_runtime *runtime;
    rela_model *models[RELA_CLI_MODELS_MAX];
    size_t n;
    rela_session *session;
} rela_cli_models;

/* Whether a file looks like a model or a pair of models; reads only its beginning. */
bool rela_cli_is_model(const char *path);

/* Loads n more models, not as an ensemble. Close m in any case. */
rela_status rela_cli_models_load(rela_cli_models *m, rela_cli *cli, const char *const *paths,
                                 size_t n, rela_error *err);

/* Loads the models that the operands name, as one ensemble. The library logs to cli, which must
 * outlive m. Close m in any case. */
rela_status rela_cli_models_open(rela_cli_models *m, rela_cli *cli, rela_error *err);
void rela_cli_models_close(rela_cli_models *m);

/* Takes the last two operands, if there are as many, as source and target text. RELA_ARG if an
 * option names a text as well, or if the source text is a model. */
rela_status rela_cli_take_texts(rela_cli *cli, const char **src, const char **tgt, rela_error *err);

#endif
