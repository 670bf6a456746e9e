/* SPDX-License-Identifier: MIT */
/* include/rela/rela.h - shared by all parts of the library: status codes, errors, buffers, memory,
 * version.
 *
 * Conventions throughout librela:
 *   - A function that can fail returns rela_status and takes a rela_error last, which may be NULL.
 *     The message is one line and names the place (file, line, tensor) and the reason.
 *   - Outputs come first. A returned pointer is lent: the library keeps ownership, do not free it.
 *     A pointer-to-pointer output is given to the caller, who frees it with the _free, _destroy or
 *     _close function of its type; on failure it is NULL.
 *   - Text is UTF-8 with an explicit length; NUL is data, never a terminator.
 *   - Options and reports begin with struct_size, their size: _init functions set it for options,
 *     the caller sets it for reports. New members are only added at the end, so a program keeps
 *     working with a later library. Size 0 is RELA_ARG; a size larger than the library knows, from
 *     a program built for a later version, is RELA_UNSUP. They end without padding: a later
 *     member may take the place of reserved, which is 0 until then. Structs passed to callbacks
 *     grow in the same way. All other structs never change.
 *   - The library never prints, never exits, installs no signal handlers, changes no locale. */
#ifndef RELA_RELA_H
#define RELA_RELA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { RELA_SOURCES_MAX = 4 }; /* sources of a multi-source model */

#if defined(__GNUC__)
#define RELA_API __attribute__((visibility("default")))
#else
#define RELA_API
#endif

#define RELA_VERSION_MAJOR 0
#define RELA_VERSION_MINOR 2
#define RELA_VERSION_PATCH 0
#define RELA_VERSION_TEXT  "0.2.0"

/* The numbers are part of the ABI: new codes are appended, none is ever changed. */
/* clang-format off */
#define RELA_STATUS_MAP(X)                                   \
    X(OK,      0, "success")                                 \
    X(NOMEM,  -1, "out of memory")                           \
    X(IO,     -2, "input or output failed")                  \
    X(FORMAT, -3, "malformed or unsupported data")           \
    X(ARG,    -4, "argument out of range")                   \
    X(STATE,  -5, "call not allowed in this state")          \
    X(UNSUP,  -6, "not supported by this build or machine")  \
    X(CANCEL, -7, "cancelled by the caller")                 \
    X(CLOSED, -8, "the reader of the output went away")      \
    X(NOTFINITE, -9, "a result is not finite")
/* clang-format on */

typedef enum rela_status {
#define RELA_X(name, value, text) RELA_##name = (value),
    RELA_STATUS_MAP(RELA_X)
#undef RELA_X
} rela_status;

/* Filled by a failing call. Plain data on the caller's stack: nothing to free. */
typedef struct rela_error {
    rela_status status;
    char message[508];
} rela_error;

/* A growable byte string. Start with RELA_BUFFER_INIT (all zero); functions that fill one append
 * to it. data is NUL-terminated after the first append, but may hold NUL bytes before len. */
typedef struct rela_buffer {
    char *data;
    size_t len;
    size_t cap;
} rela_buffer;

/* clang-format off */
#define RELA_BUFFER_INIT { NULL, 0, 0 }
/* clang-format on */

/* One function does everything: old NULL allocates, new_size 0 frees, anything else resizes.
 * old_size is always exact, so an allocator can account for memory and limit it. Must be callable
 * from any thread. */
typedef struct rela_allocator {
    void *(*resize)(void *ctx, void *old, size_t old_size, size_t new_size);
    void *ctx;
} rela_allocator;

/* The library's own allocations since the start of the process. */
typedef struct rela_memory_stats {
    size_t struct_size; /* set by the caller */
    uint64_t calls;     /* allocations and resizes */
    uint64_t live;      /* bytes in use now */
    uint64_t peak;      /* most bytes ever in use */
} rela_memory_stats;

/* Version of the library at run time: major << 16 | minor << 8 | patch. */
RELA_API uint32_t rela_version(void);

/* A short text for a status code, lent; "unknown status" for other numbers. */
RELA_API const char *rela_status_text(rela_status status);

/* Replaces the library's allocator for the whole process. Call it before any other function of
 * the library; later calls fail with RELA_STATE. The struct is copied. */
RELA_API rela_status rela_allocator_set(const rela_allocator *allocator, rela_error *err);

RELA_API rela_status rela_memory_stats_get(rela_memory_stats *out, rela_error *err);

/* Appends len bytes; on failure the buffer is unchanged. */
RELA_API rela_status rela_buffer_append(rela_buffer *b, const char *bytes, size_t len,
                                        rela_error *err);

/* Frees the bytes and makes the buffer empty again; NULL is fine. */
RELA_API void rela_buffer_free(rela_buffer *b);

#ifdef __cplusplus
}
#endif
#endif
