/* SPDX-License-Identifier: MIT */
/* src/base/sized.h - public structs whose first member, struct_size, is their size.
 *
 * They grow at their end only. A caller built with an earlier version has a smaller struct: members
 * it does not know keep their defaults, or are not written. One built with a later version has a
 * larger struct, which may ask for what this version cannot do, so it is refused. */
#ifndef RELA_BASE_SIZED_H
#define RELA_BASE_SIZED_H

#include "rela/rela.h"

/* Fills the caller's struct of size bytes: with as many of the known bytes of defaults as fit, the
 * rest with 0; sets struct_size to size in any case. */
void rela_sized_init(void *to, size_t size, const void *defaults, size_t known);

/* RELA_ARG if struct_size was not set, RELA_UNSUP if it is larger than known. name: of the type.
 * Call it for reports before any work. */
rela_status rela_sized_check(const void *given, size_t known, const char *name, rela_error *err);

/* The same check for options; then copies the caller's members over the defaults in own, whose
 * struct_size becomes known. given may be NULL: the defaults stay. */
rela_status rela_sized_take(void *own, size_t known, const void *given, const char *name,
                            rela_error *err);

/* Copies to a checked struct as much as it has room for; its struct_size stays. to may be NULL. */
void rela_sized_give(void *to, const void *own, size_t known);

#endif
