/* SPDX-License-Identifier: MIT */
/* src/text/script.h - which scripts the letters of a text are written in. */
#ifndef RELA_TEXT_SCRIPT_H
#define RELA_TEXT_SCRIPT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RELA_SCRIPTS_MAX = 32 };

typedef struct rela_script_counts {
    uint64_t letters[RELA_SCRIPTS_MAX]; /* by script */
    uint64_t all; /* letters of any script; digits and punctuation do not count */
} rela_script_counts;

/* Adds the letters of a text; bytes that are not UTF-8 are skipped. */
void rela_scripts_count(rela_script_counts *c, const char *text, size_t len);

/* Set of the scripts with at least this share of the letters; all if no script has it. */
uint32_t rela_scripts_of(const rela_script_counts *c, double least);
/* Share of the letters that are in a set of scripts; 1 if there are no letters. */
double rela_scripts_share(const rela_script_counts *c, uint32_t set);

/* Parses a list of names like "han,kana". RELA_ARG if it is empty or a name is unknown. */
rela_status rela_scripts_parse(uint32_t *set, const char *names, rela_error *err);
const char *rela_script_name(size_t i); /* NULL past the end */

#endif
