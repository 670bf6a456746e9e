/* SPDX-License-Identifier: MIT */
/* cli/models.h - the models a command names, ready to use: one, or an ensemble. */
#ifndef RELA_CLI_MODELS_H
#define RELA_CLI_MODELS_H

#include "cli.h"

#include "rela/translate.h"

enum { RELA_CLI_MODELS_MAX = 64 };

/* All zero is closed. */
typedef struct rela_cli_models {
    bool int8;         /* to be set before loading, as are: */
    int32_t part;      /* of a pair of models; 0: files of one */
    const char *input; /* the option for text, for those who name it among the models; or NULL */
    rela_runtime *runtime;
    rela_model *models[RELA_CLI_MODELS_MAX];
    size_t n;
    rela_session *session;
} rela_cli_models;

/* Loads n models, each for itself, beside those that are there. Close it in any case. */
rela_status rela_cli_models_load(rela_cli_models *m, rela_cli *cli, const char *const *paths,
                                 size_t n, rela_error *err);

/* Loads the models that the operands name, as one ensemble; notices of the library go to
 * the log of cli, which must outlive them. Close it in any case. */
rela_status rela_cli_models_open(rela_cli_models *m, rela_cli *cli, rela_error *err);
void rela_cli_models_close(rela_cli_models *m);

#endif
