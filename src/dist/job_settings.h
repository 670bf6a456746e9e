/* SPDX-License-Identifier: MIT */
/* src/dist/job_settings.h - settings that must match those of other ranks or of a record, as lines
 * "name: value". */
#ifndef RELA_DIST_JOB_SETTINGS_H
#define RELA_DIST_JOB_SETTINGS_H

#include "base/str.h"

/* RELA_STATE with both values of the first line that differs. where: says in the message where the
 * other text is, as in "but ... on rank 0". */
rela_status rela_settings_compare(const char *own, const char *other, const char *where,
                                  rela_error *err);

#endif
