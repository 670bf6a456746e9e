/* SPDX-License-Identifier: MIT */
/* src/dist/transport.h - moves bytes between the ranks of a run: the interface of a module.
 *
 * A module is a shared object that exports rela_transport_module. It is loaded at run time, so that
 * neither program nor library is linked with MPI, and calls back only through the options of start.
 * All functions but abort and stopping are called by one thread at a time; all but these and
 * advance are called by every rank in the same order. A failed transfer ends all ranks: there is no
 * status. */
#ifndef RELA_DIST_TRANSPORT_H
#define RELA_DIST_TRANSPORT_H

#include <stddef.h>

enum { RELA_TRANSPORT_VERSION = 3, RELA_TRANSPORT_TEXT = 256 };

/* Bytes to or from another rank. Messages between two ranks arrive in the order they were sent. */
typedef struct rela_message {
    size_t rank;
    void *bytes; /* only read if it is sent */
    size_t len;
} rela_message;

typedef struct rela_transport_options {
    double timeout; /* seconds of silence after which a rank counts as lost */
    void *(*resize)(void *p, size_t bytes); /* NULL p allocates; NULL: no memory */
    void (*release)(void *p);
    double (*seconds)(void);
    /* A rank has been silent for this long, or, if rank is SIZE_MAX, some rank has not even
     * started. Called by a thread of the module, which then ends all ranks. */
    void (*on_lost)(void *ctx, size_t rank, double seconds);
    /* Whether this rank is asked to stop. Called by a thread of the module, a few times a second.
     */
    int (*stop)(void *ctx);
    void *ctx;
} rela_transport_options;

typedef struct rela_transport {
    int version;
    /* Joins the ranks; o is copied. Returns 0, or -1 with the reason in why. */
    int (*start)(void **out, size_t *rank, size_t *size, const rela_transport_options *o,
                 char why[RELA_TRANSPORT_TEXT]);
    /* Starts non-blocking sends and receives; wait completes those of all calls of begin. Until it
     * returns, the bytes are in use and only begin and advance may be called. */
    void (*begin)(void *transport, const rela_message *out, size_t n_out, const rela_message *in,
                  size_t n_in);
    void (*wait)(void *transport);
    /* The caller is about to compute: makes progress on messages in the background until wait. */
    void (*advance)(void *transport);
    void (*broadcast)(void *transport, void *bytes, size_t len); /* from rank 0 */
    /* Whether some rank is asked to stop: all know within a second. Any thread, at any time. */
    int (*stopping)(void *transport);
    void (*abort)(void *transport); /* ends all ranks; any thread; does not return */
    void (*finish)(void *transport);
} rela_transport;

#define RELA_TRANSPORT_SYMBOL "rela_transport_module"

#endif
