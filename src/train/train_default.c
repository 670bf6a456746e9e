/* SPDX-License-Identifier: MIT */
/* src/train/train_default.c - preset and time of a run if they are not given: what suits the text
 * and a patient afternoon. See train_options.h. */
#include "base/file.h"
#include "base/mem.h"
#include "train/train_options.h"

#include <stdlib.h>
#include <string.h>

enum {
    FEW_LINES = 5000,     /* too few for the vocabulary of tiny */
    SHORT_TIME = 15 * 60, /* seconds, in which demo comes further than tiny */
    AFTERNOON = 4 * 60 * 60,
    CONFIG_MAX = 1 << 20
};

static rela_status read_run(rela_train_options *o, rela_error *err);
static rela_status count_lines(uint64_t *lines, const rela_train_options *o, rela_error *err);

rela_status rela_train_default(rela_train_options *o, rela_error *err)
{
    uint64_t lines = FEW_LINES;
    const bool none = !o->preset;
    const bool timed = o->max_time > 0;
    rela_status st = none && o->out ? read_run(o, err) : RELA_OK;
    if (st == RELA_OK && !o->preset) {
        st = count_lines(&lines, o, err);
        const bool is_short = o->max_time > 0 && o->max_time < SHORT_TIME;
        o->preset = lines < FEW_LINES || is_short ? "demo" : "tiny";
        if (o->updates < 0 && o->max_time < 0)
            o->max_time = AFTERNOON;
    }
    if (timed && o->updates < 0)
        o->updates = RELA_UPDATES_ANY;
    return st;
}

/* A run that is resumed without them keeps what was chosen when it began. */
static rela_status read_run(rela_train_options *o, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL, value[64];
    size_t len = 0;
    rela_status st = rela_buffer_printf(&path, err, "%s/config.yml", o->out);
    if (st == RELA_OK && rela_file_exists(path.data))
        st = rela_file_read(&text, &len, path.data, CONFIG_MAX, err);
    if (text && rela_train_find_line(value, sizeof value, text, "preset"))
        o->preset = rela_train_preset(value);
    if (o->preset && o->updates < 0 && o->max_time < 0) {
        if (rela_train_find_line(value, sizeof value, text, "updates"))
            o->updates = strtoll(value, NULL, 10);
        if (rela_train_find_line(value, sizeof value, text, "max-time"))
            o->max_time = strtoll(value, NULL, 10);
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

/* Of the training text; a file that is missing is reported later. */
static rela_status count_lines(uint64_t *lines, const rela_train_options *o, rela_error *err)
{
    rela_status st = RELA_OK;
    bool known = o->train_tgt != NULL;
    uint64_t sum = 0;
    for (size_t i = 0; known && i <= o->n_more && st == RELA_OK; i++) {
        const char *path = rela_train_text_at(o, i).tgt;
        uint64_t n = 0;
        known = path && strcmp(path, "-") != 0 && rela_file_exists(path);
        st = known ? rela_file_count_lines(&n, path, err) : RELA_OK;
        sum += n;
    }
    if (st == RELA_OK && known)
        *lines = sum;
    return st;
}
