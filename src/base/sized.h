/* SPDX-License-Identifier: MIT */
/* src/base/sized.h - public structs whose first member, struct_size, is their size.
 *
 * They grow at their end only. A caller that was built with an earlier version has a smaller
 * struct: what it does not know keeps its default, or is not written. One that was built with a
 * later version has a larger struct, which may ask for what this version cannot do: that is
 * refused. */
#ifndef RELA_BASE_SIZED_H
#define RELA_BASE_SIZED_H

#include "rela/rela.h"

/* Fills size bytes of the caller: as much of the defaults, known bytes, as fits, else 0; and the
 * size, whatever it is. */
void rela_sized_init(void *to, size_t size, const void *defaults, size_t known);

/* RELA_ARG if the size was not set, RELA_UNSUP if it is larger than the known one. name is that of
 * the type. For results, before any work. */
rela_status rela_sized_check(const void *given, size_t known, const char *name, rela_error *err);

/* The same, and copies over the defaults in own what the caller has; the size in own is known.
 * given NULL: the defaults stay. */
rela_status rela_sized_take(void *own, size_t known, const void *given, const char *name,
                            rela_error *err);

/* Copies to a struct that was checked as much as it holds; its size stays. NULL is fine. */
void rela_sized_give(void *to, const void *own, size_t known);

#endif
