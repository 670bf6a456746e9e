/* SPDX-License-Identifier: MIT */
/* src/serve/request_fields.c - see request_fields.h. */
#include "serve/request_fields.h"

#include "base/json.h"
#include "base/mem.h"
#include "serve/http_head.h"

#include <string.h>

static rela_status add(rela_fields *p, rela_span name, rela_span value, bool listed, bool form,
                       rela_error *err);
static rela_status add_json_value(rela_fields *p, rela_json *j, rela_span name, rela_error *err);

rela_status rela_fields_add_form(rela_fields *p, char *text, size_t len, rela_error *err)
{
    char *at = text, *end = text + len;
    while (at < end) {
        char *stop = memchr(at, '&', (size_t)(end - at));
        stop = stop ? stop : end;
        char *equals = memchr(at, '=', (size_t)(stop - at));
        char *value = equals ? equals + 1 : stop;
        const size_t n_name =
            rela_percent_decode(at, (size_t)((equals ? equals : stop) - at), true);
        const size_t n_value = rela_percent_decode(value, (size_t)(stop - value), true);
        if (n_name == SIZE_MAX || n_value == SIZE_MAX)
            return rela_fail(err, RELA_FORMAT, "byte %zu: %% without two hexadecimal digits",
                             1 + (size_t)(at - text));
        rela_status st = RELA_OK;
        if (n_name > 0)
            st = add(p, (rela_span){ at, n_name }, (rela_span){ value, n_value }, false, true, err);
        if (st != RELA_OK)
            return st;
        at = stop < end ? stop + 1 : end;
    }
    return RELA_OK;
}

rela_status rela_fields_add_json(rela_fields *p, char *text, size_t len, rela_error *err)
{
    rela_json j;
    const size_t before = p->n;
    rela_status st = rela_json_start(&j, text, len, err);
    st = st ? st : rela_json_object(&j, err);
    for (bool more = st == RELA_OK; more;) {
        rela_span name = { NULL, 0 };
        st = rela_json_key(&j, &name, &more, err);
        for (size_t i = before; i < p->n && st == RELA_OK && more; i++)
            if (p->items[i].name.len == name.len &&
                memcmp(p->items[i].name.text, name.text, name.len) == 0)
                st = rela_fail(err, RELA_FORMAT, "a name comes twice");
        if (st == RELA_OK && more)
            st = add_json_value(p, &j, name, err);
        more = more && st == RELA_OK;
    }
    return st ? st : rela_json_end(&j, err);
}

void rela_fields_free(rela_fields *p)
{
    rela_mem_free(p->items);
    *p = (rela_fields){ .n = 0 };
}

static bool has_name(const rela_field *p, const char *name)
{
    const size_t len = strlen(name);
    return p->name.len >= len && memcmp(p->name.text, name, len) == 0 &&
           (p->name.len == len ||
            (p->name.len == len + 2 && p->form && memcmp(p->name.text + len, "[]", 2) == 0));
}

rela_span rela_fields_get(const rela_fields *p, const char *name)
{
    const rela_field *first = rela_fields_at(p, name, 0);
    return first ? first->value : (rela_span){ NULL, 0 };
}

size_t rela_fields_count(const rela_fields *p, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += has_name(&p->items[i], name);
    return n;
}

const rela_field *rela_fields_at(const rela_fields *p, const char *name, size_t i)
{
    for (size_t k = 0; k < p->n; k++)
        if (has_name(&p->items[k], name) && i-- == 0)
            return &p->items[k];
    return NULL;
}

bool rela_fields_listed(const rela_fields *p, const char *name)
{
    const rela_field *first = rela_fields_at(p, name, 0);
    return first &&
           (first->listed || first->name.len > strlen(name) || rela_fields_count(p, name) > 1);
}

/* A value as text that ends with NUL; false: there is none, or it is no number. */
static bool number_text(char out[64], rela_span v)
{
    if (!v.text || v.len == 0 || v.len >= 64)
        return false;
    memcpy(out, v.text, v.len);
    out[v.len] = '\0';
    return strlen(out) == v.len;
}

rela_status rela_fields_int(int32_t *out, const rela_fields *p, const char *name, int64_t min,
                            int64_t max, rela_error *err)
{
    char text[64];
    int64_t v = 0;
    const rela_span value = rela_fields_get(p, name);
    if (!value.text)
        return RELA_OK;
    if (!number_text(text, value) || !rela_parse_i64(&v, text) || v < min || v > max)
        return rela_fail(err, RELA_FORMAT, "%s: expected a whole number from %lld to %lld", name,
                         (long long)min, (long long)max);
    *out = (int32_t)v;
    return RELA_OK;
}

rela_status rela_fields_real(double *out, const rela_fields *p, const char *name, double min,
                             double max, rela_error *err)
{
    char text[64], low[32], high[32];
    double v = 0;
    const rela_span value = rela_fields_get(p, name);
    if (!value.text)
        return RELA_OK;
    if (!number_text(text, value) || !rela_parse_f64(&v, text) || v < min || v > max) {
        rela_format_text(low, sizeof low, "%g", min);
        rela_format_text(high, sizeof high, "%g", max);
        return rela_fail(err, RELA_FORMAT, "%s: expected a number from %s to %s", name, low, high);
    }
    *out = v;
    return RELA_OK;
}

rela_status rela_fields_flag(bool *out, const rela_fields *p, const char *name, rela_error *err)
{
    const rela_span v = rela_fields_get(p, name);
    if (!v.text)
        return RELA_OK;
    const bool yes = rela_span_is(v, "true") || rela_span_is(v, "1");
    if (!yes && !rela_span_is(v, "false") && !rela_span_is(v, "0"))
        return rela_fail(err, RELA_FORMAT, "%s: expected true or false", name);
    *out = yes;
    return RELA_OK;
}

size_t rela_percent_decode(char *text, size_t len, bool plus)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%') {
            const int high = i + 2 < len ? rela_http_hex(text[i + 1]) : -1;
            const int low = i + 2 < len ? rela_http_hex(text[i + 2]) : -1;
            if (high < 0 || low < 0)
                return SIZE_MAX;
            text[n++] = (char)(16 * high + low);
            i += 2;
        } else {
            text[n++] = plus && text[i] == '+' ? ' ' : text[i];
        }
    }
    return n;
}

/* ---- helpers ---- */

static rela_status add(rela_fields *p, rela_span name, rela_span value, bool listed, bool form,
                       rela_error *err)
{
    if (p->n == RELA_FIELDS_MAX)
        return rela_fail(err, RELA_FORMAT, "more than %d fields", RELA_FIELDS_MAX);
    rela_field *items = rela_mem_grow(p->items, &p->cap, p->n + 1, sizeof *items);
    if (!items)
        return rela_fail(err, RELA_NOMEM, "no memory for the fields");
    p->items = items;
    items[p->n++] = (rela_field){ name, value, listed, form };
    return RELA_OK;
}

/* The first character of the next value. */
static char peek(rela_json *j)
{
    while (j->at < j->end && strchr(" \t\r\n", *j->at) && *j->at)
        j->at++;
    return j->at < j->end ? *j->at : '\0';
}

static rela_status add_json_scalar(rela_fields *p, rela_json *j, rela_span name, bool listed,
                                   rela_error *err)
{
    const char first = peek(j);
    const char *at = j->at;
    rela_span value = { NULL, 0 };
    rela_status st = RELA_OK;
    if (first == '"') {
        st = rela_json_string(j, &value, err);
    } else {
        st = rela_json_skip(j, err);
        value = (rela_span){ at, (size_t)(j->at - at) };
    }
    if (st != RELA_OK || first == '{' || (first == '[' && !listed) || first == 'n')
        return st;
    return first == '[' ? rela_fail(err, RELA_FORMAT, "a list in a list")
                        : add(p, name, value, listed, false, err);
}

static rela_status add_json_value(rela_fields *p, rela_json *j, rela_span name, rela_error *err)
{
    if (peek(j) != '[')
        return add_json_scalar(p, j, name, false, err);
    rela_status st = rela_json_array(j, err);
    for (bool more = st == RELA_OK; more;) {
        st = rela_json_item(j, &more, err);
        if (st == RELA_OK && more)
            st = add_json_scalar(p, j, name, true, err);
        more = more && st == RELA_OK;
    }
    return st;
}
