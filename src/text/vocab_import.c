/* SPDX-License-Identifier: MIT */
/* src/text/vocab_import.c - rela_vocab_import of rela/vocab.h: vocabularies of other tools.
 *
 * Each format turns a line into a token and its id. The tokens, ordered by id after our special
 * ones, are then parsed as a vocabulary of our own, which checks them. */
#include "rela/vocab.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <string.h>

enum { FILE_MAX = 1 << 30, LINE_MAX_BYTES = 1 << 16, SPECIAL_MAX = 5 };

/* The token of one line of the file. */
typedef struct entry {
    size_t at, len; /* in import.text */
    size_t line;
} entry;

typedef struct import {
    const char *path;
    rela_buffer text; /* all tokens concatenated */
    entry *items;     /* by id; line 0: not seen */
    size_t n, cap;
    size_t line; /* being read, from 1 */
} import;

typedef struct form {
    /* Appends the token of a line to in->text; sets *number to its id if the line has one. */
    rela_status (*read)(import *in, size_t *number, rela_span line, rela_error *err);
    const char *needs[SPECIAL_MAX]; /* special tokens that must be there; NULL-terminated */
    bool specials;                  /* whether the file may have special tokens */
} form;

static rela_status read_marian(import *in, size_t *number, rela_span line, rela_error *err);
static rela_status read_fairseq(import *in, size_t *number, rela_span line, rela_error *err);
static rela_status read_opennmt(import *in, size_t *number, rela_span line, rela_error *err);
static rela_status read_joeynmt(import *in, size_t *number, rela_span line, rela_error *err);
static rela_status read_lines(import *in, const form *f, const char *text, size_t len,
                              rela_error *err);
static rela_status put(import *in, size_t number, size_t at, rela_error *err);
static rela_status join(rela_buffer *out, const import *in, const form *f, rela_error *err);

static const form FORMS[] = {
    [RELA_VOCAB_MARIAN] = { read_marian, { "</s>", "<unk>" }, true },
    [RELA_VOCAB_FAIRSEQ] = { read_fairseq, { NULL }, false },
    [RELA_VOCAB_OPENNMT] = { read_opennmt, { NULL }, true },
    [RELA_VOCAB_JOEYNMT] = { read_joeynmt, { "<unk>", "<pad>", "<s>", "</s>" }, true },
};

enum { N_FORMS = sizeof FORMS / sizeof FORMS[0] };

/* What other tools call BOS, EOS, padding and unknown words. */
static const char *const SPECIAL[SPECIAL_MAX] = { "<s>", "</s>", "<pad>", "<blank>", "<unk>" };

rela_status rela_vocab_import(rela_vocab **out, const char *path, rela_vocab_format which,
                              rela_error *err)
{
import in = {.path = path };
    rela_buffer tokens = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    *out = NULL;
    if ((int)which < 0 || (int)which >= N_FORMS)
        return rela_fail(err, RELA_ARG, "%s: no form %d of a vocabulary", path, (int)which);
    rela_status st = rela_file_read_lines(&text, &len, path, FILE_MAX, LINE_MAX_BYTES, err);
    if (st == RELA_OK) {
        st = read_lines(&in, &FORMS[which], text, len, err);
        st = st ? st : join(&tokens, &in, &FORMS[which], err);
        st = st ? rela_fail_in(err, st, path)
                : rela_vocab_parse(out, path, tokens.data, tokens.len, err);
    }
    rela_mem_free(text);
    rela_mem_free(in.items);
    rela_buffer_free(&in.text);
    rela_buffer_free(&tokens);
    return st;
}

static rela_status at_line(const import *in, rela_status st, rela_error *err)
{
    char where[32];
    rela_format_text(where, sizeof where, "line %zu", in->line);
    return rela_fail_in(err, st, where);
}

static rela_status read_lines(import *in, const form *f, const char *text, size_t len,
                              rela_error *err)
{
    const char *at = text, *end = text + len;
    rela_span line;
    while (rela_next_line(&line, &at, end)) {
        in->line++;
        const size_t begin = in->text.len;
        size_t number = in->n;
        rela_status st = f->read(in, &number, line, err);
        st = st ? st : put(in, number, begin, err);
        if (st != RELA_OK)
            return at_line(in, st, err);
    }
    return RELA_OK;
}

/* Records the token that in->text ends with, from offset at. */
static rela_status put(import *in, size_t number, size_t at, rela_error *err)
{
    if (number >= RELA_VOCAB_SIZE_MAX)
        return rela_fail(err, RELA_FORMAT, "number %zu; expected less than %d", number,
                         RELA_VOCAB_SIZE_MAX);
    if (number >= in->n) {
        entry *items = rela_mem_grow(in->items, &in->cap, number + 1, sizeof *items);
        if (!items)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", number + 1);
        memset(items + in->n, 0, (number + 1 - in->n) * sizeof *items);
        in->items = items;
        in->n = number + 1;
    }
    entry *e = &in->items[number];
    if (e->line)
        return rela_fail(err, RELA_FORMAT, "number %zu was already given in line %zu", number,
                         e->line);
    *e = (entry){ at, in->text.len - at, in->line };
    return RELA_OK;
}

static bool is(const char *text, size_t len, const char *word)
{
    return strlen(word) == len && memcmp(text, word, len) == 0;
}

static rela_status check_needs(const import *in, const form *f, rela_error *err)
{
    for (size_t k = 0; k < SPECIAL_MAX && f->needs[k]; k++) {
        size_t i = 0;
        while (i < in->n && !is(in->text.data + in->items[i].at, in->items[i].len, f->needs[k]))
            i++;
        if (i == in->n)
            return rela_fail(err, RELA_FORMAT, "the special token %s is missing", f->needs[k]);
    }
    return RELA_OK;
}

/* The text of our vocabulary: our special tokens first, theirs left out. */
static rela_status join(rela_buffer *out, const import *in, const form *f, rela_error *err)
{
    rela_status st = check_needs(in, f, err);
    st = st ? st : rela_buffer_append_text(out, "<pad>\n<unk>\n<eos>\n", err);
    for (size_t i = 0; i < in->n && st == RELA_OK; i++) {
        const entry *e = &in->items[i];
        if (!e->line)
            return rela_fail(err, RELA_FORMAT, "number %zu is missing; expected 0 to %zu", i,
                             in->n - 1);
        const char *token = in->text.data + e->at;
        bool special = false;
        for (size_t k = 0; k < SPECIAL_MAX; k++)
            special = special || is(token, e->len, SPECIAL[k]);
        if ((special && !f->specials) || is(token, e->len, "<eos>"))
            return rela_fail(err, RELA_FORMAT, "line %zu: the token %.*s cannot be in such a file",
                             e->line, (int)e->len, token);
        if (e->len == 0 || memchr(token, '\n', e->len) || memchr(token, '\r', e->len))
            return rela_fail(err, RELA_FORMAT, "line %zu: empty token or line end in a token",
                             e->line);
        if (special)
            continue;
        st = rela_buffer_append(out, token, e->len, err);
        st = st ? st : rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

/* ---- lines ---- */

static bool parse_number(size_t *out, const char *text, size_t len)
{
    size_t x = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || x > SIZE_MAX / 16)
            return false;
        x = x * 10 + (size_t)(text[i] - '0');
    }
    *out = x;
    return len > 0;
}

/* One escape of a quoted text; *at is after the backslash. */
static rela_status unescape(rela_buffer *out, const char **at, const char *end, rela_error *err)
{
    static const char NAMES[] = "\"\\/tnre0", VALUES[] = "\"\\/\t\n\r\033";
    char bytes[4];
    const char c = **at;
    const size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    const char *name = digits ? NULL : strchr(NAMES, c);
    if (c && name && (size_t)(name - NAMES) < sizeof VALUES - 1) {
        ++*at;
        return rela_buffer_append_char(out, VALUES[name - NAMES], err);
    }
    uint32_t code = 0;
    size_t i = 0;
    for (++*at; i < digits && *at < end; i++, ++*at) {
        static const char HEX[] = "0123456789abcdef";
        const char *digit = **at ? strchr(HEX, **at | ('A' <= **at && **at <= 'F' ? 32 : 0)) : NULL;
        if (!digit)
            break;
        code = code * 16 + (uint32_t)(digit - HEX);
    }
    if (digits == 0 || i < digits || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
        return rela_fail(err, RELA_FORMAT, "unknown escape in a quoted token");
    return rela_buffer_append(out, bytes, rela_utf8_put(bytes, code), err);
}

/* Appends the text between quotes; *at moves from the opening quote to after the closing one. */
static rela_status unquote(rela_buffer *out, const char **at, const char *end, rela_error *err)
{
    const char quote = *(*at)++;
    rela_status st = RELA_OK;
    while (*at < end && st == RELA_OK) {
        const char c = *(*at)++;
        if (c == quote && quote == '\'' && *at < end && **at == quote)
            st = rela_buffer_append_char(out, *(*at)++, err);
        else if (c == quote)
            return RELA_OK;
        else if (c == '\\' && quote == '"' && *at < end)
            st = unescape(out, at, end, err);
        else
            st = rela_buffer_append_char(out, c, err);
    }
    return st ? st : rela_fail(err, RELA_FORMAT, "a quote is not closed");
}

static rela_status read_marian(import *in, size_t *number, rela_span line, rela_error *err)
{
    const char *at = line.text, *end = line.text + line.len;
    rela_status st = RELA_OK;
    if (line.len && (*at == '"' || *at == '\'')) {
        st = unquote(&in->text, &at, end, err);
    } else {
        while (end > at && end[-1] >= '0' && end[-1] <= '9')
            end--;
        const size_t len = end - at > 2 ? (size_t)(end - at - 2) : 0;
        st = rela_buffer_append(&in->text, at, len, err);
        at += len;
        end = line.text + line.len;
    }
    if (st != RELA_OK)
        return st;
    if (end - at < 3 || memcmp(at, ": ", 2) != 0 ||
        !parse_number(number, at + 2, (size_t)(end - at - 2)))
        return rela_fail(err, RELA_FORMAT, "expected 'token: number'");
    return RELA_OK;
}

/* token SEPARATOR count; the count is checked and dropped. */
static rela_status read_counted(import *in, rela_span line, char separator, rela_error *err)
{
    const char *end = line.text + line.len, *at = end;
    size_t count = 0;
    while (at > line.text && at[-1] != separator)
        at--;
    if (at - line.text < 2 || !parse_number(&count, at, (size_t)(end - at)))
        return rela_fail(err, RELA_FORMAT, "expected a token, a %s and a count",
                         separator == ' ' ? "blank" : "tab");
    return rela_buffer_append(&in->text, line.text, (size_t)(at - 1 - line.text), err);
}

static rela_status read_fairseq(import *in, size_t *number, rela_span line, rela_error *err)
{
    (void)number;
    return read_counted(in, line, ' ', err);
}

static rela_status read_opennmt(import *in, size_t *number, rela_span line, rela_error *err)
{
    if (line.len && memchr(line.text, '\t', line.len))
        return read_counted(in, line, '\t', err);
    return read_joeynmt(in, number, line, err);
}

static rela_status read_joeynmt(import *in, size_t *number, rela_span line, rela_error *err)
{
    (void)number;
    if (line.len == 0)
        return rela_fail(err, RELA_FORMAT, "empty token");
    return rela_buffer_append(&in->text, line.text, line.len, err);
}
