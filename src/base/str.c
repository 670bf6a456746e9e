/* SPDX-License-Identifier: MIT */
/* src/base/str.c - see str.h. */
#include "base/str.h"

#include "base/compose.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_MIN = 64 };

static locale_t c_locale; /* (locale_t)0 if it could not be created: then the caller's is used */
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void make_c_locale(void);
static int format_c(char *out, size_t size, const char *format, va_list args) RELA_PRINTF(3, 0);
static rela_status append_format(rela_buffer *b, rela_error *err, const char *format, va_list args)
    RELA_PRINTF(3, 0);
static bool is_blank(char c);

rela_span rela_span_of(const char *text)
{
    return (rela_span){ text, strlen(text) };
}

bool rela_span_is(rela_span s, const char *text)
{
    return rela_span_compare(s, rela_span_of(text)) == 0;
}

int rela_span_compare(rela_span a, rela_span b)
{
    const size_t n = a.len < b.len ? a.len : b.len;
    const int order = n ? memcmp(a.text, b.text, n) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

void rela_format(char *out, size_t size, const char *format, va_list args)
{
    const int n = format_c(out, size, format, args);
    if (size > 0 && (n < 0 || (size_t)n >= size))
        out[n < 0 ? 0 : rela_utf8_whole(out, size - 1)] = '\0';
}

void rela_format_text(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    rela_format(out, size, format, args);
    va_end(args);
}

rela_status rela_buffer_append(rela_buffer *b, const char *bytes, size_t len, rela_error *err)
{
    if (b->cap - b->len <= len || !b->data) {
        const rela_status st = rela_buffer_reserve(b, len, err);
        if (st != RELA_OK)
            return st;
    }
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
    return RELA_OK;
}

void rela_buffer_free(rela_buffer *b)
{
    if (!b)
        return;
    rela_mem_free(b->data);
    *b = (rela_buffer)RELA_BUFFER_INIT;
}

rela_status rela_buffer_reserve(rela_buffer *b, size_t extra, rela_error *err)
{
    size_t need = 0;
    if (!rela_size_add(&need, b->len, extra) || !rela_size_add(&need, need, 1))
        return rela_fail(err, RELA_NOMEM, "no memory for a text of %zu bytes more", extra);
    if (b->data && need <= b->cap)
        return RELA_OK;
    size_t cap = b->cap < BUFFER_MIN ? BUFFER_MIN : b->cap;
    while (cap < need)
        cap = cap > SIZE_MAX / 2 ? need : cap * 2;
    char *p = rela_mem_resize(b->data, cap);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for a text of %zu bytes", cap);
    b->data = p;
    b->data[b->len] = '\0';
    b->cap = cap;
    return RELA_OK;
}

rela_status rela_buffer_append_char(rela_buffer *b, char c, rela_error *err)
{
    return rela_buffer_append(b, &c, 1, err);
}

rela_status rela_buffer_append_text(rela_buffer *b, const char *text, rela_error *err)
{
    return rela_buffer_append(b, text, strlen(text), err);
}

rela_status rela_buffer_printf(rela_buffer *b, rela_error *err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const rela_status st = append_format(b, err, format, args);
    va_end(args);
    return st;
}

void rela_compose(rela_composer *t, const char *format, ...)
{
    if (t->status != RELA_OK)
        return;
    va_list args;
    va_start(args, format);
    t->status = append_format(t->out, t->err, format, args);
    va_end(args);
}

void rela_buffer_clear(rela_buffer *b)
{
    b->len = 0;
    if (b->data)
        b->data[0] = '\0';
}

char *rela_str_copy(const char *s, size_t len)
{
    char *p = len < SIZE_MAX ? rela_mem_alloc(len + 1) : NULL;
    if (p) {
        if (len)
            memcpy(p, s, len);
        p[len] = '\0';
    }
    return p;
}

bool rela_parse_i64(int64_t *out, const char *s)
{
    char *end = NULL;
    if (!(*s == '-' || *s == '+' || (*s >= '0' && *s <= '9')))
        return false;
    errno = 0;
    const long long v = strtoll(s, &end, 10);
    if (errno || end == s || *end)
        return false;
    *out = v;
    return true;
}

bool rela_parse_f64(double *out, const char *s)
{
    char *end = NULL;
    if (!(*s == '-' || *s == '+' || *s == '.' || (*s >= '0' && *s <= '9')))
        return false;
    if (strpbrk(s, "xXnNiI")) /* no hexadecimal, nan or infinity */
        return false;
    const double v = rela_scan_f64(s, &end);
    if (end == s || *end || !isfinite(v))
        return false;
    *out = v;
    return true;
}

double rela_scan_f64(const char *s, char **end)
{
    pthread_once(&c_locale_once, make_c_locale);
    return c_locale ? strtod_l(s, end, c_locale) : strtod(s, end);
}

bool rela_next_word(rela_span *word, const char **at, const char *end)
{
    const char *p = *at;
    while (p < end && is_blank(*p))
        p++;
    const char *start = p;
    while (p < end && !is_blank(*p))
        p++;
    *at = p;
    *word = (rela_span){ start, (size_t)(p - start) };
    return p > start;
}

size_t rela_text_bytes(size_t tokens)
{
    enum { FIXED = 64 << 10, PER_TOKEN = 64 };
    return tokens > (SIZE_MAX - FIXED) / PER_TOKEN ? SIZE_MAX : FIXED + PER_TOKEN * tokens;
}

rela_span rela_trim(rela_span s)
{
    while (s.len && is_blank(s.text[s.len - 1]))
        s.len--;
    while (s.len && is_blank(*s.text)) {
        s.text++;
        s.len--;
    }
    return s;
}

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static int format_c(char *out, size_t size, const char *format, va_list args)
{
    pthread_once(&c_locale_once, make_c_locale);
    const locale_t old = c_locale ? uselocale(c_locale) : (locale_t)0;
    const int n = vsnprintf(out, size, format, args);
    if (c_locale)
        uselocale(old);
    return n;
}

static rela_status append_format(rela_buffer *b, rela_error *err, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    const int n = format_c(NULL, 0, format, args);
    rela_status st = n < 0 ? rela_fail(err, RELA_ARG, "a value cannot be formatted")
                           : rela_buffer_reserve(b, (size_t)n, err);
    if (st == RELA_OK) {
        (void)format_c(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
    return st;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

rela_status rela_buffer_append_f64(rela_buffer *b, double v, bool single, rela_error *err)
{
    enum { DIGITS_MAX = 17 };
    const size_t start = b->len;
    for (int digits = 1;; digits++) {
        double back = 0;
        b->len = start;
        const rela_status st = rela_buffer_printf(b, err, "%.*g", digits, v);
        if (st != RELA_OK)
            return st;
        const bool good = rela_parse_f64(&back, b->data + start);
        if (digits == DIGITS_MAX || (good && (single ? (float)back == (float)v : back == v)))
            return RELA_OK;
    }
}

const char *rela_plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

const char *rela_grouped(char out[RELA_GROUPED_SIZE], uint64_t n)
{
    char digits[RELA_GROUPED_SIZE];
    rela_format_text(digits, sizeof digits, "%llu", (unsigned long long)n);
    const size_t len = strlen(digits);
    char *to = out;
    for (size_t i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            *to++ = ',';
        *to++ = digits[i];
    }
    *to = '\0';
    return out;
}
