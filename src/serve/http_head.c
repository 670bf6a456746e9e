/* SPDX-License-Identifier: MIT */
/* src/serve/http_head.c - see http_head.h. The grammar is that of RFC 9112, sections 2 to 6. */
#include "serve/http_head.h"

#include <string.h>

enum { LENGTH_DIGITS = 18 }; /* of Content-Length: fits 64 bits with room to add */

typedef struct head_fields {
    size_t hosts, lengths, codings;
    rela_span coding;
    bool close, keep;
} head_fields;

static int read_request_line(rela_http_head *h, rela_span *authority, const char *at,
                             const char *end);
static int read_method(rela_http_head *h, rela_span method);
static int read_version(rela_http_head *h, rela_span version);
static int read_target(rela_http_head *h, rela_span *authority, rela_span target);
static int take_field(rela_http_head *h, head_fields *seen, const rela_http_field *f);
static int finish(rela_http_head *h, const head_fields *seen, rela_span authority);

int rela_http_head_read(rela_http_head *out, const char *bytes, size_t len)
{
    const char *at = bytes, *limit = bytes + (len < RELA_HTTP_HEAD_MAX ? len : RELA_HTTP_HEAD_MAX);
    head_fields seen = { .hosts = 0 };
    rela_span authority = { NULL, 0 };
    *out = (rela_http_head){ .n_fields = 0 };
    for (size_t line = 0;; line++) {
        const char *end = rela_http_line_end(at, limit);
        if (!end)
            return 400;
        if (end + 1 >= limit) { /* no room for the LF, or the line goes on */
            const bool target = line == 0 && (size_t)(limit - at) > RELA_HTTP_TARGET_MAX + 64;
            return target ? 414 : len >= RELA_HTTP_HEAD_MAX ? 431 : RELA_HTTP_MORE;
        }
        int status = RELA_HTTP_DONE;
        if (line == 0) {
            status = read_request_line(out, &authority, at, end);
        } else if (end == at) {
            out->size = (size_t)(end + 2 - bytes);
            return finish(out, &seen, authority);
        } else {
            rela_http_field f;
            if (!rela_http_field_read(&f, at, end))
                return 400;
            if (out->n_fields == RELA_HTTP_FIELDS_MAX)
                return 431;
            out->fields[out->n_fields++] = f;
            status = take_field(out, &seen, &f);
        }
        if (status != RELA_HTTP_DONE)
            return status;
        at = end + 2;
    }
}

rela_span rela_http_field_get(const rela_http_head *h, const char *name)
{
    for (size_t i = 0; i < h->n_fields; i++)
        if (rela_http_same(h->fields[i].name, name))
            return h->fields[i].value;
    return (rela_span){ NULL, 0 };
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

bool rela_http_same(rela_span a, const char *b)
{
    size_t i = 0;
    while (i < a.len && b[i] && lower(a.text[i]) == lower(b[i]))
        i++;
    return i == a.len && !b[i];
}

bool rela_http_is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

int rela_http_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *rela_http_line_end(const char *at, const char *end)
{
    for (; at < end; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c == '\r')
            return at + 1 == end || at[1] == '\n' ? at : NULL;
        if ((c < ' ' && c != '\t') || c == 0x7F)
            return NULL;
    }
    return end;
}

bool rela_http_field_read(rela_http_field *out, const char *at, const char *end)
{
    const char *colon = at;
    while (colon < end && rela_http_is_token(*colon))
        colon++;
    if (colon == at || colon == end || *colon != ':')
        return false;
    out->name = (rela_span){ at, (size_t)(colon - at) };
    out->value = rela_trim((rela_span){ colon + 1, (size_t)(end - colon - 1) });
    return true;
}

/* ---- request line ---- */

static int read_request_line(rela_http_head *h, rela_span *authority, const char *at,
                             const char *end)
{
    rela_span words[3];
    for (size_t i = 0; i < 3; i++) {
        const char *space = i < 2 ? memchr(at, ' ', (size_t)(end - at)) : end;
        if (!space || space == at)
            return 400;
        words[i] = (rela_span){ at, (size_t)(space - at) };
        at = space + 1;
    }
    int status = read_version(h, words[2]);
    if (status == RELA_HTTP_DONE)
        status = read_method(h, words[0]);
    return status == RELA_HTTP_DONE ? read_target(h, authority, words[1]) : status;
}

static int read_version(rela_http_head *h, rela_span v)
{
    const bool form = v.len == 8 && memcmp(v.text, "HTTP/", 5) == 0 && v.text[6] == '.' &&
                      v.text[5] >= '0' && v.text[5] <= '9' && v.text[7] >= '0' && v.text[7] <= '9';
    if (!form)
        return 400;
    h->old = v.text[7] == '0';
    return v.text[5] == '1' && v.text[7] <= '1' ? RELA_HTTP_DONE : 505;
}

static int read_method(rela_http_head *h, rela_span method)
{
    static const char *const NAMES[] = {
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (rela_span_is(method, NAMES[i])) {
            h->method = (rela_http_method)i;
            return RELA_HTTP_DONE;
        }
    for (size_t i = 0; i < method.len; i++)
        if (!rela_http_is_token(method.text[i]))
            return 400;
    return 501;
}

/* "/path?query", "http://host/path?query", or "*" for OPTIONS. */
static int read_target(rela_http_head *h, rela_span *authority, rela_span t)
{
    if (t.len > RELA_HTTP_TARGET_MAX)
        return 414;
    for (size_t i = 0; i < t.len; i++)
        if (t.text[i] <= ' ' || t.text[i] > '~' || t.text[i] == '#')
            return 400;
    const char *at = t.text, *end = at + t.len;
    if (t.len > 7 && rela_http_same((rela_span){ at, 7 }, "http://")) {
        at += 7;
        const char *slash = memchr(at, '/', (size_t)(end - at));
        if (!slash || slash == at)
            return 400;
        *authority = (rela_span){ at, (size_t)(slash - at) };
        at = slash;
    } else if (*at != '/' && !(h->method == RELA_HTTP_OPTIONS && rela_span_is(t, "*"))) {
        return 400;
    }
    const char *mark = memchr(at, '?', (size_t)(end - at));
    h->path = (rela_span){ at, (size_t)((mark ? mark : end) - at) };
    h->query = mark ? (rela_span){ mark + 1, (size_t)(end - mark - 1) } : (rela_span){ end, 0 };
    return RELA_HTTP_DONE;
}

/* ---- fields ---- */

/* A name or address, with or without a port. */
static bool is_host(rela_span s)
{
    for (size_t i = 0; i < s.len; i++) {
        const char c = lower(s.text[i]);
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && !(c && strchr("-._~:[]", c)))
            return false;
    }
    return s.len > 0;
}

static int take_length(rela_http_head *h, rela_span value)
{
    if (value.len == 0 || value.len > LENGTH_DIGITS)
        return 400;
    for (size_t i = 0; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9')
            return 400;
        h->length = 10 * h->length + (uint64_t)(value.text[i] - '0');
    }
    return RELA_HTTP_DONE;
}

static void take_connection(head_fields *seen, rela_span value)
{
    const char *at = value.text, *end = at + value.len;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        const rela_span word = rela_trim((rela_span){ at, (size_t)(stop - at) });
        seen->close = seen->close || rela_http_same(word, "close");
        seen->keep = seen->keep || rela_http_same(word, "keep-alive");
        at = comma ? comma + 1 : end;
    }
}

static int take_field(rela_http_head *h, head_fields *seen, const rela_http_field *f)
{
    if (rela_http_same(f->name, "host")) {
        h->host = f->value;
        return seen->hosts++ == 0 && is_host(f->value) ? RELA_HTTP_DONE : 400;
    }
    if (rela_http_same(f->name, "content-length"))
        return seen->lengths++ == 0 ? take_length(h, f->value) : 400;
    if (rela_http_same(f->name, "transfer-encoding")) {
        seen->coding = f->value;
        /* Readers differ on blanks after it: the line must end there. */
        return seen->codings++ == 0 && f->value.text[f->value.len] == '\r' ? RELA_HTTP_DONE : 400;
    }
    if (rela_http_same(f->name, "connection"))
        take_connection(seen, f->value);
    else if (rela_http_same(f->name, "expect"))
        return 417;
    else if (rela_http_same(f->name, "upgrade"))
        return 501;
    return RELA_HTTP_DONE;
}

/* What only all fields together show. */
static int finish(rela_http_head *h, const head_fields *seen, rela_span authority)
{
    if (seen->hosts == 0 && !h->old)
        return 400;
    if (authority.len &&
        (authority.len != h->host.len || memcmp(authority.text, h->host.text, authority.len) != 0))
        return 400;
    if (seen->codings && (seen->lengths || h->old))
        return 400;
    if (seen->codings && !rela_http_same(seen->coding, "chunked"))
        return 501;
    h->chunked = seen->codings > 0;
    h->keep_alive = !seen->close && (!h->old || seen->keep);
    return RELA_HTTP_DONE;
}
