/* SPDX-License-Identifier: MIT */
/* src/serve/socket_loop.h - the server with its sockets, timers and signals, by libuv. */
#ifndef RELA_SERVE_SOCKET_LOOP_H
#define RELA_SERVE_SOCKET_LOOP_H

#include "serve/served_model.h"

typedef struct rela_socket_options {
    const char *address; /* to listen on, like "127.0.0.1" or "::1" */
    int port;            /* 0: any that is free */
    double drain_seconds;
    rela_service_options *service;
    rela_served_options served; /* but for sink */
    const char *const *models;
    size_t n_models;
    /* The file of a model, in place of the contents of path: when the server starts and for every
     * reload; on any thread. */
    rela_status (*find)(void *ctx, rela_buffer *path, const char *model, rela_error *err);
    void *find_ctx;
    void (*note)(void *ctx, bool warning, const char *line); /* messages */
    void *note_ctx;
} rela_socket_options;

/* Serves until SIGTERM or SIGINT; then finishes what was accepted. *signal: 0, or the signal if
 * requests were cut off. Fails if it cannot listen or if the models cannot be loaded at the start.
 * SIGHUP loads the models anew; if that fails, the old ones stay. One call at a time. */
rela_status rela_socket_serve(int *signal, const rela_socket_options *o, rela_error *err);

#endif
