/* SPDX-License-Identifier: MIT */
/* src/base/version.c - the version of the library at run time. */
#include "rela/rela.h"

uint32_t rela_version(void)
{
    return (uint32_t)RELA_VERSION_MAJOR << 16 | (uint32_t)RELA_VERSION_MINOR << 8 |
           (uint32_t)RELA_VERSION_PATCH;
}
