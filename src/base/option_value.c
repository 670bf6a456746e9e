/* SPDX-License-Identifier: MIT */
/* src/base/option_value.c - the value of one option: read from text, written as YAML. */
#include "base/nearest.h"
#include "base/option.h"
#include "base/str.h"
#include "base/yaml.h"

#include <math.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64 };

static rela_status store_number(const rela_option *o, void *field, const char *value,
                                rela_error *err);
static rela_status out_of_range(const rela_option *o, const char *value, rela_error *err);
static rela_status store_choice(const rela_option *o, void *field, const char *value,
                                rela_error *err);
static rela_status dump_text(rela_buffer *out, const char *lead, const char *text, rela_error *err);
static rela_status dump_real(rela_buffer *out, const rela_option *o, double v, rela_error *err);
static bool parse_count(double *out, const char *value);
static bool looks_like_number(const char *value, bool whole);

rela_status rela_option_store(const rela_option *o, void *field, const char *value, rela_error *err)
{
    switch (o->type) {
    case RELA_OPTION_FLAG:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return rela_fail(err, RELA_ARG, "option --%s: '%s' is not true or false", o->name,
                             value);
        *(bool *)field = value[0] == 't';
        return RELA_OK;
    case RELA_OPTION_INT:
    case RELA_OPTION_REAL:
        return store_number(o, field, value, err);
    case RELA_OPTION_CHOICE:
        return store_choice(o, field, value, err);
    case RELA_OPTION_LIST:
    case RELA_OPTION_TEXT:
        break;
    case RELA_OPTION_FILE:
    case RELA_OPTION_FILES:
    case RELA_OPTION_OUTPUT:
    case RELA_OPTION_DIR:
        if (!*value)
            return rela_fail(err, RELA_ARG, "option --%s: the name is empty", o->name);
        break;
    }
    if (field)
        *(const char **)field = value;
    return RELA_OK;
}

static rela_status store_number(const rela_option *o, void *field, const char *value,
                                rela_error *err)
{
    const bool whole = o->type == RELA_OPTION_INT;
    double v = 0;
    const bool good = whole ? parse_count(&v, value) : rela_parse_f64(&v, value);
    if (!good && !looks_like_number(value, whole))
        return rela_fail(err, RELA_ARG, "option --%s: '%s' is not a %snumber", o->name, value,
                         whole ? "whole " : "");
    if (!good || v < o->min || v > o->max)
        return out_of_range(o, value, err);
    if (whole)
        *(int64_t *)field = (int64_t)v;
    else
        *(double *)field = v;
    return RELA_OK;
}

/* Whole numbers as such: %g would write the greatest ones with an exponent. */
static rela_status out_of_range(const rela_option *o, const char *value, rela_error *err)
{
    if (o->type == RELA_OPTION_INT)
        return rela_fail(err, RELA_ARG, "option --%s: %s is out of range; expected %lld..%lld",
                         o->name, value, (long long)o->min, (long long)o->max);
    return rela_fail(err, RELA_ARG, "option --%s: %s is out of range; expected %.15g..%.15g",
                     o->name, value, o->min, o->max);
}

static rela_status store_choice(const rela_option *o, void *field, const char *value,
                                rela_error *err)
{
    const size_t len = strlen(value);
    rela_nearest best = { NULL, 0 };
    for (const char *c = o->value; len && *c;) {
        const size_t n = strcspn(c, "|");
        rela_nearest_offer(&best, value, c, n);
        if (n == len && strncmp(c, value, n) == 0) {
            *(const char **)field = value;
            return RELA_OK;
        }
        c += n + (c[n] == '|');
    }
    const int near = best.name ? (int)strcspn(best.name, "|") : 0;
    return rela_fail(err, RELA_ARG, "option --%s: '%s' is not one of %s%s%.*s%s", o->name, value,
                     o->value, near ? "; did you mean '" : "", near, near ? best.name : "",
                     near ? "'?" : "");
}

/* 10^3, 10^6 or 10^9 for K, M or G in either case, else 1. */
static double unit_of(char letter)
{
    switch (letter) {
    case 'K':
    case 'k':
        return 1e3;
    case 'M':
    case 'm':
        return 1e6;
    case 'G':
    case 'g':
        return 1e9;
    default:
        return 1;
    }
}

/* Integers, with such a suffix. */
static bool parse_count(double *out, const char *value)
{
    char digits[NAME_MAX_BYTES];
    const size_t len = strlen(value);
    if (len == 0 || len >= sizeof digits)
        return false;
    memcpy(digits, value, len + 1);
    const double factor = unit_of(digits[len - 1]);
    if (factor > 1)
        digits[len - 1] = '\0';
    int64_t n = 0;
    if (!rela_parse_i64(&n, digits))
        return false;
    *out = (double)n * factor;
    return fabs(*out) < 0x1p53; /* exact, and fits an int64_t */
}

/* Whether a number that could not be parsed is well-formed but too large. */
static bool looks_like_number(const char *value, bool whole)
{
    static const char DIGITS[] = "0123456789";
    const char *p = value + (*value == '-' || *value == '+');
    const size_t digits = strspn(p, DIGITS);
    p += digits;
    if (whole)
        p += unit_of(*p) > 1;
    if (!whole && *p == '.')
        p += 1 + strspn(p + 1, DIGITS);
    if (!whole && (*p == 'e' || *p == 'E')) {
        p += 1 + (p[1] == '-' || p[1] == '+');
        p += strspn(p, DIGITS);
    }
    return digits > 0 && !*p;
}

rela_status rela_option_dump(rela_buffer *out, const rela_option *o, const void *fields,
                             rela_error *err)
{
    const void *field = (const char *)fields + o->offset;
    const rela_list *list = field;
    rela_status st = RELA_OK;
    switch (o->type) {
    case RELA_OPTION_FLAG:
        return rela_buffer_printf(out, err, "%s: %s\n", o->name,
                                  *(const bool *)field ? "true" : "false");
    case RELA_OPTION_INT:
        return rela_buffer_printf(out, err, "%s: %lld\n", o->name,
                                  (long long)*(const int64_t *)field);
    case RELA_OPTION_REAL:
        return dump_real(out, o, *(const double *)field, err);
    case RELA_OPTION_LIST:
    case RELA_OPTION_FILES:
        if (list->n)
            st = rela_buffer_printf(out, err, "%s:\n", o->name);
        for (size_t i = 0; i < list->n && st == RELA_OK; i++)
            st = dump_text(out, "  - ", list->items[i], err);
        return st;
    default:
        if (!*(const char *const *)field)
            return RELA_OK;
        st = rela_buffer_printf(out, err, "%s: ", o->name);
        return st == RELA_OK ? dump_text(out, "", *(const char *const *)field, err) : st;
    }
}

static rela_status dump_real(rela_buffer *out, const rela_option *o, double v, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s: ", o->name);
    st = st ? st : rela_buffer_append_f64(out, v, false, err);
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

/* Appends a YAML scalar and LF. */
static rela_status dump_text(rela_buffer *out, const char *lead, const char *text, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, lead, err);
    if (st == RELA_OK)
        st = rela_yaml_quote(out, text, strlen(text), err);
    return st == RELA_OK ? rela_buffer_append_char(out, '\n', err) : st;
}
