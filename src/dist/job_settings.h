/* SPDX-License-Identifier: MIT */
/* src/dist/job_settings.h - what must be the same elsewhere, as a text of lines "name: value". */
#ifndef RELA_DIST_JOB_SETTINGS_H
#define RELA_DIST_JOB_SETTINGS_H

#include "base/str.h"

/* RELA_STATE with both values of the first line that differs. where: of the other text, as in
 * "but ... on rank 0". */
rela_status rela_settings_compare(const char *own, const char *other, const char *where,
                                  rela_error *err);

#endif
