/* SPDX-License-Identifier: MIT */
/* tests/sized.h - structs that begin with their size, passed with right and wrong sizes to the
 * functions that take them.
 *
 * A test has a row per struct and function; run makes a struct with the given size, calls the
 * function and returns its status. The headers are scanned too, so that no struct is forgotten. */
#ifndef RELA_TESTS_SIZED_H
#define RELA_TESTS_SIZED_H

#include "scratch.h"

#include <stdbool.h>

enum { SIZED_STEP = 8, SIZED_POISON = 0xA5, SIZED_HEADERS = 14 };

typedef struct sized_row {
    const char *name; /* of the type */
    size_t size;
    rela_status (*run)(size_t size, rela_error *err);
} sized_row;

typedef struct sized_rows {
    const sized_row *rows;
    size_t n;
    const char *const *headers; /* whose structs these are */
    size_t n_headers;
    const char *const *fixed; /* structs without a size: they never change, or are for callbacks */
    size_t n_fixed;
} sized_rows;

#define SIZED_ROOM(type)                                                                           \
    struct {                                                                                       \
        type o;                                                                                    \
        char more[SIZED_STEP];                                                                     \
    } s

/* s.o as its _init function makes it, with the size of the test and room after it. */
#define SIZED_OPTIONS(type, init)                                                                  \
    SIZED_ROOM(type);                                                                              \
    memset(&s, 0, sizeof s);                                                                       \
    init(&s.o, sizeof s.o);                                                                        \
    s.o.struct_size = size

/* The same for a result: poisoned, so that writes show. */
#define SIZED_REPORT(type)                                                                         \
    SIZED_ROOM(type);                                                                              \
    memset(&s, SIZED_POISON, sizeof s);                                                            \
    s.o.struct_size = size

/* The body of a run whose call appends a struct of zeros to text. */
#define SIZED_SHOWN(type, call)                                                                    \
    SIZED_ROOM(type);                                                                              \
    rela_buffer text = RELA_BUFFER_INIT;                                                           \
    memset(&s, 0, sizeof s);                                                                       \
    s.o.struct_size = size;                                                                        \
    const rela_status st = (call);                                                                 \
    rela_buffer_free(&text);                                                                       \
    return st

/* A report must be written on success only, and not beyond its struct_size. */
static inline rela_status sized_written(rela_status st, const void *report, size_t size,
                                        size_t room)
{
    const unsigned char *bytes = report;
    size_t after = 0;
    memcpy(&after, report, sizeof after);
    CHECK(after == size, "struct_size became %zu", after);
    for (size_t i = st == RELA_OK ? size : sizeof size; i < room; i++)
        CHECK(bytes[i] == SIZED_POISON, "status %d: byte %zu of %zu was written", (int)st, i, size);
    return st;
}

static inline void sized_walk(const sized_rows *r, int change, rela_status want,
                              const char *message)
{
    size_t wrong = 0;
    for (size_t i = 0; i < r->n; i++) {
        const sized_row *row = &r->rows[i];
        rela_error err = { RELA_OK, "" };
        const size_t size = message && change == 0 ? 0 : row->size + (size_t)change;
        const rela_status st = row->run(size, &err);
        const bool told = !message || (strncmp(err.message, row->name, strlen(row->name)) == 0 &&
                                       strstr(err.message, message));
        if (st != want || !told)
            print_message("row %zu, %s of %zu bytes: status %d \"%s\"\n", i, row->name, size,
                          (int)st, err.message);
        wrong += st != want || !told;
    }
    CHECK(wrong == 0, "%zu of %zu rows are wrong", wrong, r->n);
}

static inline void sized_refused(const sized_rows *r)
{
    sized_walk(r, 0, RELA_ARG, ": struct_size is 0; expected the size of the struct");
    sized_walk(r, SIZED_STEP, RELA_UNSUP, "; this version of the library knows");
}

static inline void sized_taken(const sized_rows *r)
{
    sized_walk(r, 0, RELA_OK, NULL);
    sized_walk(r, -SIZED_STEP, RELA_OK, NULL);
}

static inline bool sized_known(const sized_rows *r, const char *name, bool sized)
{
    bool known = false;
    for (size_t i = 0; i < r->n && sized; i++)
        known = known || strcmp(r->rows[i].name, name) == 0;
    for (size_t i = 0; i < r->n_fixed && !sized; i++)
        known = known || strcmp(r->fixed[i], name) == 0;
    return known;
}

/* Every struct of the headers must be in the rows, or in fixed if it has no size. */
static inline void sized_complete(const sized_rows *r)
{
    static const char OPENS[] = "typedef struct ", SIZE[] = "    size_t struct_size;";
    CHECK(count_files("include/rela", ".h") == SIZED_HEADERS, "there is a new header");
    for (size_t h = 0; h < r->n_headers; h++) {
        char file[SCRATCH_PATH], name[128];
        size_t len = 0;
        (void)snprintf(file, sizeof file, "include/rela/%s.h", r->headers[h]);
        char *text = slurp(file, &len);
        for (const char *at = text; (at = strstr(at, OPENS)) != NULL; at += sizeof OPENS - 1) {
            const char *end = strchr(at, '\n');
            if (end[-1] != '{') /* a forward declaration */
                continue;
            (void)snprintf(name, sizeof name, "%.*s", (int)(end - 2 - at) - (int)(sizeof OPENS - 1),
                           at + sizeof OPENS - 1);
            const bool sized = strncmp(end + 1, SIZE, sizeof SIZE - 1) == 0;
            CHECK(sized_known(r, name, sized), "%s: %s has %s size and is not in the test", file,
                  name, sized ? "a" : "no");
        }
        free(text);
    }
}

#endif
