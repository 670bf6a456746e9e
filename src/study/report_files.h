/* SPDX-License-Identifier: MIT */
/* src/study/report_files.h - the cells and verdicts of a report as tables for programs. */
#ifndef RELA_STUDY_REPORT_FILES_H
#define RELA_STUDY_REPORT_FILES_H

#include "study/study_report.h"

rela_status rela_report_tsv(rela_buffer *out, const rela_study_report *r, rela_error *err);
rela_status rela_report_json(rela_buffer *out, const rela_study_report *r, rela_error *err);

#endif
