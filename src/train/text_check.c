/* SPDX-License-Identifier: MIT */
/* src/train/text_check.c - see text_check.h. */
#include "train/text_check.h"

#include "base/encoding.h"
#include "base/file.h"
#include "base/str.h"
#include "base/utf8.h"
#include "train/train_options.h"

#include <string.h>

enum {
    BAD_SHARE = 20, /* one line in this many may be dropped as not UTF-8 */
    SAMPLE = 16 << 10,
    LINES_PER_STOP = 4096
};

/* Lines of a file, and those that are not UTF-8. */
typedef struct line_census {
    uint64_t lines, bad, first; /* first: number of the first bad line */
    uint64_t nuls;              /* lines that hold NUL and are UTF-8 */
    rela_buffer sample;         /* text from the first line on that is bad or holds NUL */
} line_census;

static rela_status check_text(const rela_train_files *text, const rela_stop *stop, rela_error *err);
static rela_status check_regular(const char *path, rela_error *err);
static rela_status check_file(uint64_t *lines, const char *path, const rela_stop *stop,
                              rela_error *err);
static rela_status add_line(line_census *c, const rela_line *line, rela_error *err);
static rela_status judge(const line_census *c, const char *path, rela_error *err);

rela_status rela_train_check_texts(const rela_train_options *o, rela_error *err)
{
    const rela_train_files valid = rela_train_valid_text(o);
    const rela_stop stop = rela_train_stop(o);
    rela_status st = check_text(&valid, &stop, err);
    for (size_t i = 0; i <= o->n_more && st == RELA_OK; i++) {
        const rela_train_files text = rela_train_text_at(o, i);
        st = check_text(&text, &stop, err);
    }
    return st;
}

static rela_status check_text(const rela_train_files *text, const rela_stop *stop, rela_error *err)
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
        st = st ? st : check_file(&n, path, stop, err);
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

static rela_status check_file(uint64_t *lines, const char *path, const rela_stop *stop,
                              rela_error *err)
{
    rela_reader *r = NULL;
    line_census c = { .lines = 0 };
    rela_line line = { .text = "" };
    rela_status st = rela_reader_open(&r, path, NULL, err);
    while (st == RELA_OK && line.text) {
        st = rela_reader_line(r, &line, err);
        if (st == RELA_OK && line.text)
            st = add_line(&c, &line, err);
        if (st == RELA_OK && c.lines % LINES_PER_STOP == 0)
            st = rela_stop_check(stop, err);
    }
    rela_reader_close(r);
    st = st ? st : judge(&c, path, err);
    *lines = c.lines;
    rela_buffer_free(&c.sample);
    return st;
}

static rela_status add_line(line_census *c, const rela_line *line, rela_error *err)
{
    const bool bad = rela_utf8_valid(line->text, line->len) != line->len;
    const bool nul = !bad && line->len && memchr(line->text, '\0', line->len);
    rela_status st = RELA_OK;
    c->lines++;
    c->bad += bad;
    c->nuls += nul;
    if ((bad || nul) && !c->first)
        c->first = line->number;
    if (c->first && c->sample.len < SAMPLE) {
        st = rela_buffer_append(&c->sample, line->text,
                                line->len < SAMPLE ? line->len : (size_t)SAMPLE, err);
        st = st ? st : rela_buffer_append_char(&c->sample, '\n', err);
    }
    return st;
}

/* Text in another encoding would be dropped line by line, but for the lines that are the same in
 * both. Every line of Latin script in UTF-16 holds NUL. */
static rela_status judge(const line_census *c, const char *path, rela_error *err)
{
    const char *guess = c->first ? rela_encoding_guess(c->sample.data, c->sample.len) : NULL;
    const bool wide = guess && strcmp(guess, "UTF-16") == 0;
    const uint64_t bad = c->bad + (wide ? c->nuls : 0);
    char counts[2][RELA_GROUPED_SIZE], remedy[64] = "";
    if (bad * BAD_SHARE <= c->lines)
        return RELA_OK;
    if (guess)
        rela_format_text(remedy, sizeof remedy, "; if it is %s: iconv -f %s -t UTF-8", guess,
                         guess);
    return rela_fail(err, RELA_FORMAT,
                     "%s: line %llu is not UTF-8, as %s of %s lines, and no more than %d %% can be "
                     "left out%s",
                     path, (unsigned long long)c->first, rela_grouped(counts[0], bad),
                     rela_grouped(counts[1], c->lines), 100 / BAD_SHARE, remedy);
}
