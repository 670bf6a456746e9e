/* SPDX-License-Identifier: MIT */
/* src/study/train_table.c - see train_table.h. */
#include "study/train_table.h"

#include "base/file.h"
#include "base/str.h"

#include <string.h>

static rela_status append_row(rela_buffer *out, const char *line, rela_error *err);

static const char *const COLUMNS[] = { "update", "epoch",     "loss",   "nll",
                                       "lr",     "grad_norm", "skipped" };
enum { N_COLUMNS = sizeof COLUMNS / sizeof COLUMNS[0] };

rela_status rela_study_train_table(const char *from, const char *to, rela_error *err)
{
    rela_reader *r = NULL;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_line line = { .text = "" };
    rela_status st = rela_reader_open(&r, from, NULL, err);
    for (size_t i = 0; i < N_COLUMNS && st == RELA_OK; i++)
        st = rela_buffer_printf(&text, err, "%s%s", i ? "\t" : "", COLUMNS[i]);
    st = st ? st : rela_buffer_append_char(&text, '\n', err);
    while (st == RELA_OK && (st = rela_reader_line(r, &line, err)) == RELA_OK && line.text) {
        rela_buffer row = RELA_BUFFER_INIT; /* lines have no NUL at their end */
        st = rela_buffer_append(&row, line.text, line.len, err);
        st = st ? st : append_row(&text, row.data, err);
        rela_buffer_free(&row);
    }
    rela_reader_close(r);
    st = st ? st : rela_file_write(to, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}

/* Our own lines: an object of numbers and texts without commas. */
static rela_status append_row(rela_buffer *out, const char *line, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < N_COLUMNS && st == RELA_OK; i++) {
        char key[32];
        rela_format_text(key, sizeof key, "\"%s\": ", COLUMNS[i]);
        const char *at = strstr(line, key);
        at = at ? at + strlen(key) : "null";
        st = rela_buffer_printf(out, err, "%s%.*s", i ? "\t" : "", (int)strcspn(at, ",}"), at);
    }
    return st ? st : rela_buffer_append_char(out, '\n', err);
}
