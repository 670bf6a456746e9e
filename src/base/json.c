/* SPDX-License-Identifier: MIT */
/* src/base/json.c - see json.h. */
#include "base/json.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_MAX = 64, SHOWN_MAX = 16 };

static rela_status open_bracket(rela_json *j, char bracket, const char *expected, rela_error *err);
static rela_status next_or_close(rela_json *j, char bracket, const char *expected, bool *more,
                                 rela_error *err);
static rela_status unescape(rela_json *j, char **to, rela_error *err);
static rela_status scan_number(rela_json *j, rela_span *number, rela_error *err);
static rela_status skip_open(rela_json *j, uint64_t *objects, int *depth, bool *value,
                             rela_error *err);
static rela_status skip_scalar(rela_json *j, rela_error *err);
static rela_status quote_valid(rela_buffer *out, const char *text, size_t len, rela_error *err);
static bool take_word(rela_json *j, const char *word);
static bool take_hex(rela_json *j, uint32_t *code);
static void skip_blank(rela_json *j);
static size_t count_digits(rela_json *j);

rela_status rela_json_start(rela_json *j, char *text, size_t len, rela_error *err)
{
    *j = (rela_json){ .start = text, .at = text, .end = text + len };
    const size_t valid = rela_utf8_valid(text, len);
    if (valid == len)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT, "byte %zu: not UTF-8", valid + 1);
}

rela_status rela_json_end(rela_json *j, rela_error *err)
{
    skip_blank(j);
    return j->at == j->end ? RELA_OK : rela_json_fail(j, err, "the end");
}

rela_status rela_json_object(rela_json *j, rela_error *err)
{
    return open_bracket(j, '{', "an object", err);
}

rela_status rela_json_key(rela_json *j, rela_span *key, bool *more, rela_error *err)
{
    rela_status st = next_or_close(j, '}', "',' or '}'", more, err);
    if (st != RELA_OK || !*more)
        return st;
    st = rela_json_string(j, key, err);
    if (st != RELA_OK)
        return st;
    skip_blank(j);
    if (j->at == j->end || *j->at != ':')
        return rela_json_fail(j, err, "':'");
    j->at++;
    return RELA_OK;
}

rela_status rela_json_array(rela_json *j, rela_error *err)
{
    return open_bracket(j, '[', "an array", err);
}

rela_status rela_json_item(rela_json *j, bool *more, rela_error *err)
{
    return next_or_close(j, ']', "',' or ']'", more, err);
}

rela_status rela_json_string(rela_json *j, rela_span *text, rela_error *err)
{
    skip_blank(j);
    if (j->at == j->end || *j->at != '"')
        return rela_json_fail(j, err, "a string");
    char *to = ++j->at; /* unescaped text is never longer */
    text->text = to;
    while (j->at < j->end && *j->at != '"') {
        if ((unsigned char)*j->at < 0x20)
            return rela_json_fail(j, err, "no control character inside a string");
        if (*j->at != '\\') {
            *to++ = *j->at++;
            continue;
        }
        const rela_status st = unescape(j, &to, err);
        if (st != RELA_OK)
            return st;
    }
    if (j->at == j->end)
        return rela_json_fail(j, err, "'\"'");
    text->len = (size_t)(to - text->text);
    j->at++;
    return RELA_OK;
}

rela_status rela_json_u64(rela_json *j, uint64_t *out, rela_error *err)
{
    static const char EXPECTED[] = "a plain whole number from 0 to below 2^64";
    skip_blank(j);
    char *const begin = j->at;
    uint64_t v = 0;
    bool fits = true;
    for (; j->at < j->end && *j->at >= '0' && *j->at <= '9'; j->at++)
        fits = fits && !__builtin_mul_overflow(v, 10u, &v) &&
               !__builtin_add_overflow(v, (uint64_t)(*j->at - '0'), &v);
    const bool zeros = j->at - begin > 1 && *begin == '0';
    const bool longer = j->at < j->end && strchr(".eE+-", *j->at) && *j->at;
    if (j->at == begin || !fits || zeros || longer) {
        j->at = begin;
        return rela_json_fail(j, err, EXPECTED);
    }
    *out = v;
    return RELA_OK;
}

rela_status rela_json_f64(rela_json *j, double *out, rela_error *err)
{
    rela_span number = { "", 0 };
    char *const begin = j->at;
    const rela_status st = scan_number(j, &number, err);
    if (st != RELA_OK)
        return st;
    char text[NUMBER_MAX + 1] = "";
    if (number.len <= NUMBER_MAX)
        memcpy(text, number.text, number.len);
    if (number.len > NUMBER_MAX || !rela_parse_f64(out, text)) {
        j->at = begin;
        return rela_json_fail(j, err, "a finite number of at most 64 digits");
    }
    return RELA_OK;
}

rela_status rela_json_bool(rela_json *j, bool *out, rela_error *err)
{
    skip_blank(j);
    *out = take_word(j, "true");
    return *out || take_word(j, "false") ? RELA_OK : rela_json_fail(j, err, "true or false");
}

rela_status rela_json_skip(rela_json *j, rela_error *err)
{
    uint64_t objects = 0; /* bit d: the bracket at depth d is an object */
    int depth = 0;
    do {
        bool value = true;
        if (depth > 0) {
            rela_span key;
            const bool object = objects >> (depth - 1) & 1;
            const rela_status st =
                object ? rela_json_key(j, &key, &value, err) : rela_json_item(j, &value, err);
            if (st != RELA_OK)
                return st;
        }
        if (!value) {
            depth--;
            continue;
        }
        rela_status st = skip_open(j, &objects, &depth, &value, err);
        if (st == RELA_OK && value)
            st = skip_scalar(j, err);
        if (st != RELA_OK)
            return st;
    } while (depth > 0);
    return RELA_OK;
}

rela_status rela_json_fail(const rela_json *j, rela_error *err, const char *expected)
{
    const size_t at = (size_t)(j->at - j->start) + 1;
    if (j->at == j->end)
        return rela_fail(err, RELA_FORMAT, "byte %zu: the text ends; expected %s", at, expected);
    size_t n = (size_t)(j->end - j->at);
    n = n < SHOWN_MAX ? n : SHOWN_MAX;
    return rela_fail(err, RELA_FORMAT, "byte %zu: '%.*s'; expected %s", at,
                     (int)rela_utf8_valid(j->at, n), j->at, expected);
}

rela_status rela_json_quote(rela_buffer *out, const char *text, size_t len, rela_error *err)
{
    if (rela_utf8_valid(text, len) == len)
        return quote_valid(out, text, len, err);
    rela_buffer good = RELA_BUFFER_INIT;
    size_t n_bad = 0;
    rela_status st = rela_utf8_repair(&good, &n_bad, text, len, err);
    st = st ? st : quote_valid(out, good.data, good.len, err);
    rela_buffer_free(&good);
    return st;
}

rela_status rela_json_number(rela_buffer *out, double x, int digits, rela_error *err)
{
    return isfinite(x) ? rela_buffer_printf(out, err, "%.*g", digits, x)
                       : rela_buffer_append_text(out, "null", err);
}

static rela_status quote_valid(rela_buffer *out, const char *text, size_t len, rela_error *err)
{
    static const char SHORT[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */
    rela_status st = rela_buffer_append_char(out, '"', err);
    size_t plain = 0; /* start of the bytes that need no escape */
    for (size_t i = 0; i <= len && st == RELA_OK; i++) {
        const bool special =
            i == len || (unsigned char)text[i] < 0x20 || text[i] == '"' || text[i] == '\\';
        if (!special)
            continue;
        st = rela_buffer_append(out, text + plain, i - plain, err);
        plain = i + 1;
        if (st != RELA_OK || i == len)
            break;
        char escape[8] = { '\\', 0 };
        for (size_t k = 0; SHORT[k]; k += 2)
            if (SHORT[k] == text[i])
                escape[1] = SHORT[k + 1];
        if (!escape[1])
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned)text[i]);
        st = rela_buffer_append_text(out, escape, err);
    }
    return st == RELA_OK ? rela_buffer_append_char(out, '"', err) : st;
}

static rela_status open_bracket(rela_json *j, char bracket, const char *expected, rela_error *err)
{
    skip_blank(j);
    if (j->at == j->end || *j->at != bracket)
        return rela_json_fail(j, err, expected);
    j->at++;
    j->fresh = true;
    return RELA_OK;
}

/* After a closed inner value fresh is false again, so one flag serves all levels. */
static rela_status next_or_close(rela_json *j, char bracket, const char *expected, bool *more,
                                 rela_error *err)
{
    skip_blank(j);
    *more = true;
    if (j->at < j->end && *j->at == bracket) {
        *more = j->fresh = false;
        j->at++;
        return RELA_OK;
    }
    if (j->fresh) {
        j->fresh = false;
        return RELA_OK;
    }
    if (j->at == j->end || *j->at != ',')
        return rela_json_fail(j, err, expected);
    j->at++;
    return RELA_OK;
}

static rela_status unescape(rela_json *j, char **to, rela_error *err)
{
    static const char PAIRS[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* letter, character */
    char *const begin = j->at++;
    char letter = '\0';
    if (j->at < j->end)
        letter = *j->at++;
    for (size_t i = 0; PAIRS[i]; i += 2)
        if (PAIRS[i] == letter) {
            *(*to)++ = PAIRS[i + 1];
            return RELA_OK;
        }
    uint32_t code = 0, low = 0;
    bool good = letter == 'u' && take_hex(j, &code);
    if (good && code >= 0xD800 && code < 0xE000) { /* a surrogate */
        good = code < 0xDC00 && take_word(j, "\\u") && take_hex(j, &low) && low >= 0xDC00 &&
               low < 0xE000;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    if (!good) {
        j->at = begin;
        return rela_json_fail(j, err, "an escape of JSON");
    }
    *to += rela_utf8_put(*to, code);
    return RELA_OK;
}

static rela_status scan_number(rela_json *j, rela_span *number, rela_error *err)
{
    skip_blank(j);
    char *const begin = j->at;
    if (j->at < j->end && *j->at == '-')
        j->at++;
    const char *first = j->at;
    const size_t whole = count_digits(j);
    bool good = whole == 1 || (whole > 1 && *first != '0');
    if (good && j->at < j->end && *j->at == '.') {
        j->at++;
        good = count_digits(j) > 0;
    }
    if (good && j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
        j->at++;
        if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
            j->at++;
        good = count_digits(j) > 0;
    }
    if (!good) {
        j->at = begin;
        return rela_json_fail(j, err, "a number");
    }
    *number = (rela_span){ begin, (size_t)(j->at - begin) };
    return RELA_OK;
}

/* Enters an object or array; *value is true if the next value is neither. */
static rela_status skip_open(rela_json *j, uint64_t *objects, int *depth, bool *value,
                             rela_error *err)
{
    skip_blank(j);
    const bool object = j->at < j->end && *j->at == '{';
    *value = !object && !(j->at < j->end && *j->at == '[');
    if (*value)
        return RELA_OK;
    if (*depth == RELA_JSON_DEPTH)
        return rela_json_fail(j, err, "at most 64 open brackets");
    const uint64_t bit = (uint64_t)1 << *depth;
    *objects = object ? *objects | bit : *objects & ~bit;
    ++*depth;
    j->at++;
    j->fresh = true;
    return RELA_OK;
}

static rela_status skip_scalar(rela_json *j, rela_error *err)
{
    rela_span text;
    if (j->at < j->end && *j->at == '"')
        return rela_json_string(j, &text, err);
    if (j->at < j->end && (*j->at == '-' || (*j->at >= '0' && *j->at <= '9')))
        return scan_number(j, &text, err);
    if (take_word(j, "true") || take_word(j, "false") || take_word(j, "null"))
        return RELA_OK;
    return rela_json_fail(j, err, "a value");
}

static bool take_word(rela_json *j, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n) != 0)
        return false;
    j->at += n;
    return true;
}

static bool take_hex(rela_json *j, uint32_t *code)
{
    *code = 0;
    if (j->end - j->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        const char c = *j->at++;
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        *code = *code << 4 | (uint32_t)digit;
    }
    return true;
}

static void skip_blank(rela_json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\t' || *j->at == '\r'))
        j->at++;
}

static size_t count_digits(rela_json *j)
{
    const char *begin = j->at;
    while (j->at < j->end && *j->at >= '0' && *j->at <= '9')
        j->at++;
    return (size_t)(j->at - begin);
}
