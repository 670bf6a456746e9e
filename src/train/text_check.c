/* SPDX-License-Identifier: MIT */
/* src/train/text_check.c - see text_check.h. */
#include "train/text_check.h"

#include "base/file.h"
#include "base/str.h"
#include "train/train_options.h"

#include <string.h>

static rela_status check_text(const rela_train_files *text, rela_error *err);
static rela_status check_regular(const char *path, rela_error *err);

rela_status rela_train_check_texts(const rela_train_options *o, rela_error *err)
{
    const rela_train_files valid = rela_train_valid_text(o);
    rela_status st = check_text(&valid, err);
    for (size_t i = 0; i <= o->n_more && st == RELA_OK; i++) {
        const rela_train_files text = rela_train_text_at(o, i);
        st = check_text(&text, err);
    }
    return st;
}

static rela_status check_text(const rela_train_files *text, rela_error *err)
{
    const char *first = NULL;
    uint64_t lines = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i <= RELA_SOURCES_MAX && st == RELA_OK; i++) {
        const char *path = i < RELA_SOURCES_MAX ? text->src[i] : text->tgt;
        uint64_t n = 0;
        if (!path)
            continue;
        st = check_regular(path, err);
        st = st ? st : rela_file_count_lines(&n, path, err);
        if (st == RELA_OK && first && n != lines)
            st = rela_fail(err, RELA_FORMAT,
                           "%s has %llu line%s and %s has %llu; expected as many lines in both",
                           first, (unsigned long long)lines, rela_plural(lines), path,
                           (unsigned long long)n);
        if (!first)
            lines = n;
        first = first ? first : path;
    }
    if (st == RELA_OK && first && lines == 0)
        st = rela_fail(err, RELA_FORMAT, "%s and %s: no lines", first, text->tgt);
    return st;
}

static rela_status check_regular(const char *path, rela_error *err)
{
    rela_blob *b = NULL;
    if (strcmp(path, "-") == 0)
        return rela_fail(err, RELA_ARG,
                         "standard input: text to train on is read several times, so it must be a "
                         "file");
    const rela_status st = rela_blob_open(&b, path, err);
    rela_blob_close(b);
    return st;
}
