/* SPDX-License-Identifier: MIT */
/* src/analyse/report.h - shared by the files that write report.html. */
#ifndef RELA_ANALYSE_REPORT_H
#define RELA_ANALYSE_REPORT_H

#include "analyse/findings.h"

/* The page, and the rules of style for its drawings. */
typedef struct rela_report {
    rela_buffer body, rules;
    const rela_file_set *set; /* that the figures are in */
    const char *dir;          /* of the figures */
} rela_report;

/* Adds a figure with its caption; number: of the figure on the page, from 1. */
rela_status rela_report_figure(rela_report *r, const rela_figure *f, size_t number,
                               rela_error *err);

#endif
