/* SPDX-License-Identifier: MIT */
/* src/page/web_page.c - see web_page.h. */
#include "page/web_page.h"

#include "base/base64.h"
#include "base/markup.h"

#include "page_texts.inc"

#include <string.h>

static rela_status add_bytes(rela_buffer *out, const unsigned char *bytes, size_t n,
                             rela_error *err)
{
    return rela_buffer_append(out, (const char *)bytes, n, err);
}

rela_status rela_page_add_style(rela_buffer *out, rela_page_style style, rela_error *err)
{
    return style == RELA_PAGE_STUDY ? add_bytes(out, STUDY_CSS, STUDY_CSS_LEN, err)
                                    : add_bytes(out, REPORT_CSS, REPORT_CSS_LEN, err);
}

static unsigned char digit(char c)
{
    return (unsigned char)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* 'sha256-...' as a policy has it, from hexadecimal digits. */
static rela_status add_hash(rela_buffer *out, const char *digits, rela_error *err)
{
    unsigned char hash[32];
    for (size_t i = 0; i < sizeof hash; i++)
        hash[i] = (unsigned char)(digit(digits[2 * i]) << 4 | digit(digits[2 * i + 1]));
    rela_status st = rela_buffer_append_text(out, " 'sha256-", err);
    st = st ? st : rela_base64_append(out, hash, sizeof hash, err);
    return st ? st : rela_buffer_append_char(out, '\'', err);
}

/* Nothing but the style and the script of the page itself; requests go to its server, or nowhere.
 * Attributes of style set only lengths and counts. */
rela_status rela_page_add_policy(rela_buffer *out, bool served, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "default-src 'none'; script-src", err);
    st = st ? st : add_hash(out, VIEWER_JS_SHA256, err);
    st = st ? st : rela_buffer_append_text(out, "; style-src-elem", err);
    st = st ? st : add_hash(out, VIEWER_CSS_SHA256, err);
    return st ? st
              : rela_buffer_printf(out, err,
                                   "; style-src-attr 'unsafe-inline'; img-src data: blob:; "
                                   "connect-src %s; base-uri 'none'; form-action 'none'",
                                   served ? "'self'" : "'none'");
}

/* JSON inside of a script element: "<" can only be in a string, where it has another spelling. */
static rela_status add_json(rela_buffer *out, const char *json, size_t len, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t done = 0; done < len && st == RELA_OK;) {
        const char *sign = memchr(json + done, '<', len - done);
        const size_t n = sign ? (size_t)(sign - json) - done : len - done;
        st = rela_buffer_append(out, json + done, n, err);
        done += n;
        if (st == RELA_OK && sign) {
            st = rela_buffer_append_text(out, "\\u003c", err);
            done++;
        }
    }
    return st;
}

rela_status rela_page_add_viewer(rela_buffer *out, const char *title, const char *json, size_t len,
                                 rela_error *err)
{
    rela_status st = rela_buffer_append_text(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta "
        "http-equiv=\"Content-Security-Policy\" content=\"",
        err);
    st = st ? st : rela_page_add_policy(out, json == NULL, err);
    st = st ? st
            : rela_buffer_append_text(
                  out,
                  "\">\n<meta name=\"referrer\" content=\"no-referrer\"><meta name=\"viewport\" "
                  "content=\"width=device-width\"><title>",
                  err);
    st = st ? st : rela_markup_append(out, title ? title : "rela", err);
    st = st ? st : rela_buffer_append_text(out, "</title>\n<style>", err);
    st = st ? st : add_bytes(out, VIEWER_CSS, VIEWER_CSS_LEN, err);
    st = st ? st
            : rela_buffer_append_text(out,
                                      "</style></head>\n<body><noscript>This page needs "
                                      "JavaScript.</noscript>\n",
                                      err);
    if (st == RELA_OK && json) {
        st = rela_buffer_append_text(out, "<script type=\"application/json\" id=\"data\">", err);
        st = st ? st : add_json(out, json, len, err);
        st = st ? st : rela_buffer_append_text(out, "</script>\n", err);
    }
    st = st ? st : rela_buffer_append_text(out, "<script type=\"module\">", err);
    st = st ? st : add_bytes(out, VIEWER_JS, VIEWER_JS_LEN, err);
    return st ? st : rela_buffer_append_text(out, "</script>\n</body></html>\n", err);
}
