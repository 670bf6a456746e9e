/* SPDX-License-Identifier: MIT */
/* src/format/pair.h - two model files in one, such as those of both directions of an alignment:
 * "RELAPAIR", 8 bytes with the size of the first, little endian, the first, the second. */
#ifndef RELA_FORMAT_PAIR_H
#define RELA_FORMAT_PAIR_H

#include "base/file.h"

/* Finds model `part` of a file: 0 is the whole file, which must not be a pair, 1 and 2 are those of
 * a pair. RELA_FORMAT if the file is not of that form. */
rela_status rela_pair_place(uint64_t *at, uint64_t *size, const rela_blob *b, int part,
                            rela_error *err);

/* Whether the file at path is a pair; fails only if it cannot be read. */
rela_status rela_pair_check(bool *pair, const char *path, rela_error *err);

/* Copies both models of a pair into files of their own. */
rela_status rela_pair_split(const char *first, const char *second, const char *path,
                            rela_error *err);

#endif
