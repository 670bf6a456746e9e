/* SPDX-License-Identifier: MIT */
/* fuzz/table.h - an option table with a row of every type, for the targets that read options. */
#ifndef RELA_FUZZ_TABLE_H
#define RELA_FUZZ_TABLE_H

#include "base/option.h"

typedef struct fields {
    bool flag;
    int64_t whole;
    double real;
    const char *text, *file, *choice;
    rela_list items;
} fields;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "flag", 'f', RELA_OPTION_FLAG, offsetof(fields, flag), 0, 0, NULL, NULL, "a" },
    { "whole", 'w', RELA_OPTION_INT, offsetof(fields, whole), -1e9, 1e12, "4", "N", "b" },
    { "real", 'r', RELA_OPTION_REAL, offsetof(fields, real), -1e300, 1e300, "0.5", "X", "c" },
    { "text", 't', RELA_OPTION_TEXT, offsetof(fields, text), 0, 0, NULL, "TEXT", "d" },
    { "file", 0, RELA_OPTION_FILE, offsetof(fields, file), 0, 0, NULL, "FILE", "e" },
    { "choice", 'c', RELA_OPTION_CHOICE, offsetof(fields, choice), 0, 0, "a", "a|bc|d", "f" },
    { "item", 'i', RELA_OPTION_LIST, offsetof(fields, items), 0, 0, "one", "TEXT", "g" },
    { .name = NULL },
};
/* clang-format on */

#endif
