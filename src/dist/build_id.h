/* SPDX-License-Identifier: MIT */
/* src/dist/build_id.h - which build this is. */
#ifndef RELA_DIST_BUILD_ID_H
#define RELA_DIST_BUILD_ID_H

enum { RELA_BUILD_ID_MAX = 48 };

/* The linker's build ID of the program or library that this code is in: the same for the same
 * bytes. "unknown" if there is none. */
void rela_build_id(char out[RELA_BUILD_ID_MAX]);

#endif
