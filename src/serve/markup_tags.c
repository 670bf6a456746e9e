/* SPDX-License-Identifier: MIT */
/* src/serve/markup_tags.c - see markup_tags.h. */
#include "serve/markup_tags.h"

#include "serve/http_head.h"

#include <string.h>

enum { LAST_CHARACTER = 0x10FFFF, SURROGATES = 0xD800, SURROGATES_END = 0xDFFF };

/* After the > of a tag, whose attributes may have one in quotes; NULL: it has no end. */
static const char *tag_end(const char *at, const char *end)
{
    char quote = '\0';
    for (; at < end; at++) {
        if (quote)
            quote = *at == quote ? '\0' : quote;
        else if (*at == '>')
            return at + 1;
        else if (*at == '"' || *at == '\'')
            quote = *at;
    }
    return NULL;
}

static const char *find(const char *at, const char *end, const char *text)
{
    const size_t len = strlen(text);
    for (; at + len <= end; at++)
        if (memcmp(at, text, len) == 0)
            return at + len;
    return NULL;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *end_of(const char *at, const char *end)
{
    if (end - at < 3 || *at != '<')
        return NULL;
    if (end - at > 4 && memcmp(at, "<!--", 4) == 0)
        return find(at + 4, end, "-->");
    if (at[1] == '!' || at[1] == '?' || is_letter(at[1]) || (at[1] == '/' && is_letter(at[2])))
        return tag_end(at + 1, end);
    return NULL;
}

bool rela_markup_is_tag(const char *at, const char *end)
{
    return end_of(at, end) != NULL;
}

rela_markup_tag rela_markup_tag_read(const char *at, const char *end)
{
    static const char *const VOID[] = {
        "area",  "base", "br",   "col",   "embed",  "hr",    "img",
        "input", "link", "meta", "param", "source", "track", "wbr"
    };
    rela_markup_tag t = { .text = at, .end = end_of(at, end), .kind = RELA_TAG_POINT };
    const char *name = at + 1 + (at[1] == '/');
    size_t len = 0;
    if (!t.end)
        return t;
    while (name + len < t.end && (rela_http_is_token(name[len]) || name[len] == ':'))
        len++;
    if (!is_letter(*name))
        return t;
    t.name = (rela_span){ name, len };
    t.kind = at[1] == '/' ? RELA_TAG_CLOSE : RELA_TAG_OPEN;
    if (t.end[-2] == '/')
        t.kind = RELA_TAG_POINT;
    for (size_t i = 0; i < sizeof VOID / sizeof *VOID; i++)
        if (rela_http_same(t.name, VOID[i]))
            t.kind = RELA_TAG_POINT;
    return t;
}

bool rela_markup_is_block(const rela_markup_tag *t)
{
    static const char *const BLOCKS[] = {
        "address",  "article",    "aside",   "blockquote", "body",  "br",     "caption",
        "center",   "dd",         "details", "dialog",     "div",   "dl",     "dt",
        "fieldset", "figcaption", "figure",  "footer",     "form",  "h1",     "h2",
        "h3",       "h4",         "h5",      "h6",         "head",  "header", "hr",
        "html",     "legend",     "li",      "link",       "main",  "meta",   "nav",
        "noscript", "ol",         "option",  "p",          "pre",   "script", "section",
        "select",   "style",      "summary", "table",      "tbody", "td",     "template",
        "textarea", "tfoot",      "th",      "thead",      "title", "tr",     "ul"
    };
    for (size_t i = 0; i < sizeof BLOCKS / sizeof *BLOCKS; i++)
        if (rela_http_same(t->name, BLOCKS[i]))
            return true;
    return false;
}

bool rela_markup_is_kept(const rela_markup_tag *t)
{
    static const char *const KEPT[] = { "script", "style", "template", "textarea",
                                        "code",   "kbd",   "samp",     "var" };
    static const char *const MARKS[] = { "translate=\"no\"", "translate='no'", "notranslate" };
    for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++)
        if (rela_http_same(t->name, KEPT[i]))
            return true;
    for (size_t i = 0; i < sizeof MARKS / sizeof *MARKS; i++)
        if (find(t->text, t->end, MARKS[i]))
            return true;
    return false;
}

const char *rela_markup_element_end(const rela_markup_tag *t, const char *end)
{
    char name[32] = "";
    if (t->name.len >= sizeof name)
        return NULL;
    memcpy(name, t->name.text, t->name.len);
    for (const char *at = t->end; (at = find(at, end, "</"));) {
        const size_t left = (size_t)(end - at), len = t->name.len;
        if (left <= len || !rela_http_same((rela_span){ at, len }, name))
            continue;
        const char *stop = at + len;
        while (stop < end && (*stop == ' ' || (*stop >= '\t' && *stop <= '\r')))
            stop++;
        if (stop < end && *stop == '>')
            return stop + 1;
    }
    return NULL;
}

static size_t encode(char out[8], uint32_t c)
{
    if (c == 0 || c > LAST_CHARACTER || (c >= SURROGATES && c <= SURROGATES_END))
        return 0;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char LEAD[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(LEAD[n] | c);
    return n;
}

size_t rela_markup_entity(char out[8], rela_span name)
{
    static const struct {
        const char *name;
        uint32_t character;
    } NAMED[] = {
        { "amp", '&' },      { "lt", '<' },       { "gt", '>' },        { "quot", '"' },
        { "apos", '\'' },    { "nbsp", 0xA0 },    { "copy", 0xA9 },     { "laquo", 0xAB },
        { "reg", 0xAE },     { "deg", 0xB0 },     { "middot", 0xB7 },   { "raquo", 0xBB },
        { "Agrave", 0xC0 },  { "Auml", 0xC4 },    { "Ccedil", 0xC7 },   { "Eacute", 0xC9 },
        { "Ouml", 0xD6 },    { "Uuml", 0xDC },    { "szlig", 0xDF },    { "agrave", 0xE0 },
        { "aacute", 0xE1 },  { "acirc", 0xE2 },   { "auml", 0xE4 },     { "aring", 0xE5 },
        { "ccedil", 0xE7 },  { "egrave", 0xE8 },  { "eacute", 0xE9 },   { "ecirc", 0xEA },
        { "euml", 0xEB },    { "iacute", 0xED },  { "icirc", 0xEE },    { "iuml", 0xEF },
        { "ntilde", 0xF1 },  { "oacute", 0xF3 },  { "ocirc", 0xF4 },    { "ouml", 0xF6 },
        { "ugrave", 0xF9 },  { "uacute", 0xFA },  { "uuml", 0xFC },     { "ndash", 0x2013 },
        { "mdash", 0x2014 }, { "lsquo", 0x2018 }, { "rsquo", 0x2019 },  { "ldquo", 0x201C },
        { "rdquo", 0x201D }, { "bdquo", 0x201E }, { "hellip", 0x2026 }, { "euro", 0x20AC },
    };
    if (name.len > 1 && *name.text == '#') {
        const bool hex = name.text[1] == 'x' || name.text[1] == 'X';
        uint32_t c = 0;
        for (size_t i = hex ? 2 : 1; i < name.len; i++) {
            const int digit = rela_http_hex(name.text[i]);
            if (digit < 0 || (!hex && digit > 9))
                return 0;
            c = c > LAST_CHARACTER ? c : c * (hex ? 16 : 10) + (uint32_t)digit;
        }
        return encode(out, c);
    }
    for (size_t i = 0; i < sizeof NAMED / sizeof *NAMED; i++)
        if (rela_span_is(name, NAMED[i].name))
            return encode(out, NAMED[i].character);
    return 0;
}
