/* SPDX-License-Identifier: MIT */
/* src/serve/served_model.h - the backend of the server: models behind the asynchronous interface of
 * the library (rela/async.h). */
#ifndef RELA_SERVE_SERVED_MODEL_H
#define RELA_SERVE_SERVED_MODEL_H

#include "rela/async.h"
#include "serve/service.h"

/* Hands over outcomes; put is called on any thread. */
typedef struct rela_outcome_sink {
    void (*put)(void *ctx, rela_outcome *o);
    void *ctx;
} rela_outcome_sink;

typedef struct rela_served_options {
    int32_t n_threads; /* 0: all */
    bool int8;
    const rela_outcome_sink *sink; /* lent for the life of the models */
    void (*log)(void *ctx, int32_t level, const char *line);
    void *log_ctx;
} rela_served_options;

/* Loads the model of a file; may be called on any thread. It has no reference yet: without one,
 * free it by rela_served_model_free. */
rela_status rela_served_model_load(rela_service_model **out, const char *path,
                                   const rela_served_options *o, rela_error *err);
void rela_served_model_free(rela_service_model *m); /* NULL is fine */

/* For rela_service_backend. */
rela_status rela_served_model_start(void *ctx, uint64_t *id, rela_service_model *m,
                                    const rela_service_sentence *s, rela_error *err);
void rela_served_model_cancel(void *ctx, rela_service_model *m, uint64_t id);

#endif
