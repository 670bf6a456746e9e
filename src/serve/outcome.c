/* SPDX-License-Identifier: MIT */
/* src/serve/outcome.c - see outcome.h. */
#include "serve/outcome.h"

#include "base/json.h"
#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 6, REPEAT_TOKENS = 12, NEAR = 64 };
static const double UNLIKELY = -3; /* log-probability per token */
static const double LONG = 3;      /* as many tokens of one side as of the other */

/* A word of the tokenised text: its tokens, and where it stands in the raw text. */
typedef struct word {
    size_t begin, end;
} word;

static rela_status fill(rela_outcome *o, const rela_result *r, rela_span source,
                        const rela_model_shape *shape, int wants, rela_error *err);
static rela_status add_details(rela_outcome *o, const rela_result *r, size_t rank,
                               const rela_model_shape *shape, int wants, rela_error *err);
static rela_status add_tokens(rela_buffer *out, const rela_result *r, size_t rank, rela_error *err);
static rela_status add_attention(rela_buffer *out, const rela_result *r, size_t rank,
                                 const rela_model_shape *shape, rela_error *err);
static double null_rate(const rela_result *r, size_t rank, const rela_model_shape *shape);
static uint32_t find_warnings(const rela_result *r, size_t rank);
static rela_status add_warnings(rela_buffer *out, uint32_t warnings, rela_error *err);
static rela_status place_links(rela_outcome *o, const rela_result *r, rela_span source,
                               rela_error *err);

const char *rela_warning_name(size_t kind)
{
    static const char *const NAMES[] = { "cut", "length", "repetition", "improbable", "overflow" };
    return kind < RELA_WARNING_KINDS ? NAMES[kind] : NULL;
}

rela_outcome *rela_outcome_create(const rela_result *result, const rela_error *err,
                                  rela_span source, const rela_model_shape *shape, int wants)
{
    rela_outcome *o = rela_mem_zalloc(sizeof *o);
    if (!o)
        return NULL;
    o->null_rate = -1;
    o->err = *err;
    o->status = err->status;
    if (result)
        o->status = fill(o, result, source, shape, wants, &o->err);
    return o;
}

rela_outcome *rela_outcome_of_text(const char *text, size_t len, size_t n)
{
    rela_outcome *o = rela_mem_zalloc(sizeof *o);
    rela_outcome_text *best = rela_mem_array(n, sizeof *best);
    if (!o || !best || rela_buffer_append(&o->text, text, len, NULL) != RELA_OK) {
        rela_mem_free(best);
        rela_mem_free(o);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        best[i] = (rela_outcome_text){ 0, len, len, len, -1, -1 };
    o->best = best;
    o->n = n;
    o->null_rate = -1;
    return o;
}

void rela_outcome_free(rela_outcome *o)
{
    if (o) {
        rela_buffer_free(&o->text);
        rela_mem_free(o->best);
        rela_mem_free(o->links);
    }
    rela_mem_free(o);
}

static rela_status fill(rela_outcome *o, const rela_result *r, rela_span source,
                        const rela_model_shape *shape, int wants, rela_error *err)
{
    const size_t n = rela_result_n_best(r, 0);
    o->source_tokens = rela_result_n_source(r, 0);
    o->target_tokens = rela_result_n_tokens(r, 0, 0);
    o->warnings = find_warnings(r, 0);
    o->null_rate = null_rate(r, 0, shape);
    o->best = rela_mem_array(n, sizeof *o->best);
    if (!o->best)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu translations", n);
    rela_status st = RELA_OK;
    for (; o->n < n && st == RELA_OK; o->n++) {
        rela_outcome_text *t = &o->best[o->n];
        *t = (rela_outcome_text){ .begin = o->text.len,
                                  .score = rela_result_score(r, 0, o->n),
                                  .logp = rela_result_logp(r, 0, o->n) };
        st = rela_buffer_append(&o->text, rela_result_text(r, 0, o->n),
                                rela_result_text_len(r, 0, o->n), err);
        t->end = t->details = o->text.len;
        st = st ? st : add_details(o, r, o->n, shape, wants, err);
        t->ended = o->text.len;
    }
    if (st == RELA_OK && wants & RELA_WANT_LINKS)
        st = place_links(o, r, source, err);
    return st;
}

static rela_status add_details(rela_outcome *o, const rela_result *r, size_t rank,
                               const rela_model_shape *shape, int wants, rela_error *err)
{
    rela_buffer *out = &o->text;
    rela_status st = RELA_OK;
    if (wants & RELA_WANT_LINKS) {
        st = rela_buffer_append_text(out, ",\"links\":\"", err);
        st = st ? st : rela_result_links(out, r, 0, rank, NULL, err);
        st = st ? st : rela_buffer_append_char(out, '"', err);
    }
    if (st == RELA_OK && wants & (RELA_WANT_TOKENS | RELA_WANT_ATTENTION))
        st = add_tokens(out, r, rank, err);
    if (st == RELA_OK && wants & RELA_WANT_ATTENTION)
        st = add_attention(out, r, rank, shape, err);
    const double nulls = wants & RELA_WANT_NULL_RATE ? null_rate(r, rank, shape) : -1;
    if (st == RELA_OK && nulls >= 0) {
        st = rela_buffer_append_text(out, ",\"null_rate\":", err);
        st = st ? st : rela_json_number(out, nulls, DIGITS, err);
    }
    if (st == RELA_OK && wants & RELA_WANT_WARNINGS)
        st = add_warnings(out, find_warnings(r, rank), err);
    return st;
}

static rela_status add_tokens(rela_buffer *out, const rela_result *r, size_t rank, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, ",\"source_tokens\":[", err);
    for (size_t k = 0; k < rela_result_n_source(r, 0) && st == RELA_OK; k++) {
        const char *token = rela_result_source_token(r, 0, k);
        st = rela_buffer_append_text(out, k ? "," : "", err);
        st = st ? st : rela_json_quote(out, token, strlen(token), err);
    }
    st = st ? st : rela_buffer_append_text(out, "],\"tokens\":[", err);
    for (size_t k = 0; k < rela_result_n_tokens(r, 0, rank) && st == RELA_OK; k++) {
        const char *token = rela_result_token(r, 0, rank, k);
        st = rela_buffer_append_text(out, k ? ",[" : "[", err);
        st = st ? st : rela_json_quote(out, token, strlen(token), err);
        st = st ? st : rela_buffer_append_char(out, ',', err);
        st = st ? st : rela_json_number(out, rela_result_token_logp(r, 0, rank, k), DIGITS, err);
        st = st ? st : rela_buffer_append_char(out, ']', err);
    }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

/* [token, layer, head, source token, weight] for each weight that is not zero. */
static rela_status add_attention(rela_buffer *out, const rela_result *r, size_t rank,
                                 const rela_model_shape *shape, rela_error *err)
{
    const size_t n = rela_result_n_tokens(r, 0, rank), n_src = rela_result_n_source(r, 0);
    const size_t heads = (size_t)shape->heads, rows = n * heads * (size_t)shape->dec_layers;
    const float *w = rela_result_attention(r, 0, rank);
    bool first = true;
    rela_status st = rela_buffer_append_text(out, ",\"attention\":[", err);
    for (size_t row = 0; w && row < rows && st == RELA_OK; row++)
        for (size_t i = 0; i < n_src && st == RELA_OK; i++) {
            const double weight = (double)w[row * n_src + i];
            if (!(weight > 0 || weight < 0))
                continue;
            const size_t head = row % heads, layer = row / heads % (size_t)shape->dec_layers;
            st = rela_buffer_printf(out, err, "%s[%zu,%zu,%zu,%zu,", first ? "" : ",",
                                    row / heads / (size_t)shape->dec_layers, layer, head, i);
            st = st ? st : rela_json_number(out, weight, DIGITS, err);
            st = st ? st : rela_buffer_append_char(out, ']', err);
            first = false;
        }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

static double null_rate(const rela_result *r, size_t rank, const rela_model_shape *shape)
{
    const float *w = rela_result_attention(r, 0, rank);
    const size_t n_src = rela_result_n_source(r, 0);
    const size_t rows =
        rela_result_n_tokens(r, 0, rank) * (size_t)shape->heads * (size_t)shape->dec_layers;
    size_t nulls = 0;
    for (size_t row = 0; w && row < rows; row++) {
        size_t i = 0;
        while (i < n_src && !(w[row * n_src + i] > 0 || w[row * n_src + i] < 0))
            i++;
        nulls += i == n_src;
    }
    return w && rows ? (double)nulls / (double)rows : -1;
}

/* ---- warnings: the one place that decides ---- */

static bool repeats(const rela_result *r, size_t rank)
{
    const size_t n = rela_result_n_tokens(r, 0, rank);
    for (size_t period = 1; period <= 4; period++) {
        size_t run = 0;
        for (size_t k = period; k < n; k++) {
            run = strcmp(rela_result_token(r, 0, rank, k),
                         rela_result_token(r, 0, rank, k - period)) == 0
                      ? run + 1
                      : 0;
            if (run >= REPEAT_TOKENS)
                return true;
        }
    }
    return false;
}

static uint32_t find_warnings(const rela_result *r, size_t rank)
{
    if (!rela_result_finite(r, 0))
        return RELA_WARNING_UNSURE;
    const size_t n = rela_result_n_tokens(r, 0, rank), n_src = rela_result_n_source(r, 0);
    uint32_t w = 0;
    if (n == 0 || n_src == 0)
        return 0;
    if (strcmp(rela_result_token(r, 0, rank, n - 1), "<eos>") != 0)
        w |= RELA_WARNING_CUT;
    const double ratio = (double)n / (double)n_src;
    if (n + n_src > 8 && (ratio > LONG || ratio < 1 / LONG))
        w |= RELA_WARNING_LENGTH;
    if (rela_result_logp(r, 0, rank) / (double)n < UNLIKELY)
        w |= RELA_WARNING_UNLIKELY;
    return w | (repeats(r, rank) ? RELA_WARNING_REPEATS : 0);
}

static rela_status add_warnings(rela_buffer *out, uint32_t warnings, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, ",\"warnings\":[", err);
    bool first = true;
    for (size_t kind = 0; kind < RELA_WARNING_KINDS && st == RELA_OK; kind++)
        if (warnings >> kind & 1) {
            st =
                rela_buffer_printf(out, err, "%s\"%s\"", first ? "" : ",", rela_warning_name(kind));
            first = false;
        }
    return st ? st : rela_buffer_append_char(out, ']', err);
}

/* ---- links as places in the raw texts ---- */

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* Appends a token without its BPE mark and with the entities of the tokeniser undone. */
static void append_plain(char *out, size_t size, size_t *len, const char *token)
{
    static const char *const ENTITIES[][2] = { { "&amp;", "&" },  { "&#124;", "|" },
                                               { "&lt;", "<" },   { "&gt;", ">" },
                                               { "&apos;", "'" }, { "&quot;", "\"" },
                                               { "&#91;", "[" },  { "&#93;", "]" } };
    size_t n = strlen(token);
    n -= n > 2 && memcmp(token + n - 2, "@@", 2) == 0 ? 2 : 0;
    for (size_t i = 0; i < n && *len + 1 < size;) {
        size_t k = 0;
        while (k < 8 && strncmp(token + i, ENTITIES[k][0], strlen(ENTITIES[k][0])) != 0)
            k++;
        out[(*len)++] = k < 8 ? *ENTITIES[k][1] : token[i];
        i += k < 8 ? strlen(ENTITIES[k][0]) : 1;
    }
    out[*len] = '\0';
}

/* Finds a word soon after *at, whatever the case of its letters; none: an empty place. */
static word find_word(const char *text, size_t len, size_t *at, const char *w, size_t n)
{
    for (size_t i = *at; n && i + n <= len && i < *at + NEAR; i++) {
        size_t k = 0;
        while (k < n && lower(text[i + k]) == lower(w[k]))
            k++;
        if (k == n) {
            *at = i + n;
            return (word){ i, i + n };
        }
    }
    return (word){ *at, *at };
}

/* Where the words of a token list stand in a text; words (n_tokens). Returns how many there are. */
static size_t place_words(word *words, const rela_result *r, bool target, const char *text,
                          size_t len)
{
    const size_t n = target ? rela_result_n_tokens(r, 0, 0) : rela_result_n_source(r, 0);
    size_t n_words = 0, at = 0, used = 0;
    char plain[256] = "";
    for (size_t k = 0; k < n; k++) {
        const char *token =
            target ? rela_result_token(r, 0, 0, k) : rela_result_source_token(r, 0, k);
        const size_t size = strlen(token);
        if (strcmp(token, "<eos>") == 0)
            continue;
        append_plain(plain, sizeof plain, &used, token);
        if (size > 2 && memcmp(token + size - 2, "@@", 2) == 0 && k + 1 < n)
            continue;
        words[n_words++] = find_word(text, len, &at, plain, used);
        used = 0;
    }
    return n_words;
}

static size_t number(const char **at)
{
    size_t n = 0;
    while (**at >= '0' && **at <= '9' && n < UINT32_MAX)
        n = 10 * n + (size_t)(*(*at)++ - '0');
    return n;
}

static rela_status place_links(rela_outcome *o, const rela_result *r, rela_span source,
                               rela_error *err)
{
    word *src = rela_mem_array(o->source_tokens + 1, sizeof *src);
    word *tgt = rela_mem_array(o->target_tokens + 1, sizeof *tgt);
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = src && tgt ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for links");
    st = st ? st : rela_result_links(&text, r, 0, 0, NULL, err);
    o->links = st == RELA_OK ? rela_mem_array(text.len + 1, sizeof *o->links) : NULL;
    if (st == RELA_OK && !o->links)
        st = rela_fail(err, RELA_NOMEM, "no memory for links");
    if (st == RELA_OK) {
        const size_t n_src = place_words(src, r, false, source.text, source.len);
        const size_t n_tgt = place_words(tgt, r, true, o->text.data, o->best[0].end);
        for (const char *at = text.data; at && *at; at += *at != '\0') {
            const size_t i = number(&at);
            at += *at == '-';
            const size_t j = number(&at);
            if (i < n_src && j < n_tgt)
                o->links[o->n_links++] =
                    (rela_outcome_link){ (uint32_t)src[i].begin, (uint32_t)src[i].end,
                                         (uint32_t)tgt[j].begin, (uint32_t)tgt[j].end };
        }
    }
    rela_buffer_free(&text);
    rela_mem_free(src);
    rela_mem_free(tgt);
    return st;
}
