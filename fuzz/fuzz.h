/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz.h - what the fuzz targets share.
 *
 * A target is fuzz_<name>.c with LLVMFuzzerTestOneInput; its seeds are in corpus/<name>/. It is
 * linked with libFuzzer (preset fuzz) or with standalone.c, which replays the seeds as a test. A
 * property that does not hold ends the process. */
#ifndef RELA_FUZZ_FUZZ_H
#define RELA_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #cond);        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The bytes as a file without a name on disk; its path is lent until the next call. */
const char *fuzz_file(const void *data, size_t size);

#endif
