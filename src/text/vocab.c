/* SPDX-License-Identifier: MIT */
/* src/text/vocab.c - the token table of a model; see rela/vocab.h.
 *
 * Whatever form a vocabulary comes in, it is built by adding tokens one by one, which checks them;
 * the id of a token is its position. */
#include "rela/vocab.h"

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 1 << 30, LINE_MAX_BYTES = 1 << 16 }; /* so long that errors can name the length */

struct rela_vocab {
    rela_map *map; /* ids in the map are token ids */
};

static const char *const SPECIAL[RELA_VOCAB_N_SPECIAL] = { "<pad>", "<unk>", "<eos>" };
static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

static rela_vocab *create(void);
static rela_status add(rela_vocab *v, rela_span token, rela_error *err);
static rela_status add_lines(rela_vocab *v, const char *text, size_t len, rela_error *err);
static rela_status add_line(rela_vocab *v, rela_span line, rela_error *err);
static bool holds(const rela_vocab *v, rela_span token);

rela_status rela_vocab_build(rela_vocab **out, size_t *n_left_out, rela_word_counts *c,
                             size_t max_size, uint64_t min_frequency, rela_error *err)
{
    rela_word_stats stats = { .struct_size = sizeof stats };
    size_t n_out = 0;
    *out = NULL;
    if (max_size == 0 || max_size > RELA_VOCAB_SIZE_MAX)
        max_size = RELA_VOCAB_SIZE_MAX;
    if (max_size < RELA_VOCAB_N_SPECIAL)
        return rela_fail(err, RELA_ARG, "a vocabulary of %zu tokens; expected %d or more", max_size,
                         RELA_VOCAB_N_SPECIAL);
    rela_status st = rela_word_counts_stats_get(&stats, c, err);
    rela_vocab *v = create();
    if (!v)
        return rela_fail(err, RELA_NOMEM, "no memory for a vocabulary");
    for (size_t i = 0; st == RELA_OK && i < RELA_VOCAB_N_SPECIAL; i++)
        st = add(v, (rela_span){ SPECIAL[i], strlen(SPECIAL[i]) }, err);
    if (st == RELA_OK)
        st = rela_word_counts_sort(c, 1, err);
    for (size_t i = 0; st == RELA_OK && i < stats.n_types && rela_vocab_size(v) < max_size; i++) {
        rela_span token;
        uint64_t count = 0;
        token.text = rela_word_counts_get(c, i, &token.len, &count);
        if (count < min_frequency)
            break;
        if (holds(v, token))
            st = add(v, token, err);
        else
            n_out++;
    }
    if (n_left_out)
        *n_left_out = n_out;
    if (st == RELA_OK) {
        *out = v;
        v = NULL;
    }
    rela_vocab_free(v);
    return st;
}

rela_status rela_vocab_parse(rela_vocab **out, const char *name, const char *text, size_t len,
                             rela_error *err)
{
    *out = NULL;
    rela_vocab *v = create();
    if (!v)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for a vocabulary", name);
    const rela_status st = add_lines(v, text, len, err);
    if (st == RELA_OK) {
        *out = v;
        return RELA_OK;
    }
    rela_vocab_free(v);
    return rela_fail_in(err, st, name);
}

rela_status rela_vocab_load(rela_vocab **out, const char *path, rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *out = NULL;
    rela_status st = rela_file_read_lines(&text, &len, path, FILE_MAX, LINE_MAX_BYTES, err);
    if (st == RELA_OK)
        st = rela_vocab_parse(out, path, text, len, err);
    rela_mem_free(text);
    return st;
}

void rela_vocab_free(rela_vocab *v)
{
    if (!v)
        return;
    rela_map_destroy(v->map);
    rela_mem_free(v);
}

rela_status rela_vocab_write(rela_buffer *out, const rela_vocab *v, rela_error *err)
{
    const size_t n = rela_vocab_size(v);
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        const rela_span token = rela_map_key(v->map, (uint32_t)i);
        st = rela_buffer_append(out, token.text, token.len, err);
        if (st == RELA_OK)
            st = rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

rela_status rela_vocab_save(const rela_vocab *v, const char *path, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_vocab_write(&text, v, err);
    if (st == RELA_OK)
        st = rela_file_write(path, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}

size_t rela_vocab_size(const rela_vocab *v)
{
    return rela_map_size(v->map);
}

const char *rela_vocab_token(const rela_vocab *v, int32_t id)
{
    assert(id >= 0 && (size_t)id < rela_vocab_size(v));
    return rela_map_key(v->map, (uint32_t)id).text;
}

int32_t rela_vocab_find(const rela_vocab *v, const char *token, size_t len)
{
    const uint32_t i = rela_map_find(v->map, token, len);
    return i == RELA_MAP_NONE ? RELA_VOCAB_NONE : (int32_t)i;
}

int32_t rela_vocab_id(const rela_vocab *v, const char *token, size_t len)
{
    const int32_t id = rela_vocab_find(v, token, len);
    return id < RELA_VOCAB_N_SPECIAL ? RELA_VOCAB_UNK : id;
}

static rela_vocab *create(void)
{
    rela_vocab *v = rela_mem_zalloc(sizeof *v);
    if (v && !(v->map = rela_map_create(0))) {
        rela_vocab_free(v);
        v = NULL;
    }
    return v;
}

static rela_status add(rela_vocab *v, rela_span token, rela_error *err)
{
    const size_t n = rela_vocab_size(v);
    if (n >= RELA_VOCAB_SIZE_MAX)
        return rela_fail(err, RELA_FORMAT, "more than %d tokens", RELA_VOCAB_SIZE_MAX);
    const uint32_t i = rela_map_add(v->map, token.text, token.len);
    if (i == RELA_MAP_NONE)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", n + 1);
    if (i != n)
        return rela_fail(err, RELA_FORMAT, "token '%.80s' was already listed in line %u",
                         token.text, (unsigned)i + 1);
    return RELA_OK;
}

static rela_status add_lines(rela_vocab *v, const char *text, size_t len, rela_error *err)
{
    static const size_t MARK_LEN = sizeof BYTE_ORDER_MARK - 1;
    const char *at = text, *end = text + len;
    rela_status st = RELA_OK;
    rela_span line;
    if (len >= MARK_LEN && memcmp(at, BYTE_ORDER_MARK, MARK_LEN) == 0)
        at += MARK_LEN;
    while (st == RELA_OK && rela_next_line(&line, &at, end))
        if ((st = add_line(v, line, err)) != RELA_OK) {
            char where[32];
            (void)snprintf(where, sizeof where, "line %zu", rela_vocab_size(v) + 1);
            st = rela_fail_in(err, st, where);
        }
    if (st == RELA_OK && rela_vocab_size(v) < RELA_VOCAB_N_SPECIAL)
        st =
            rela_fail(err, RELA_FORMAT, "ends after %zu line%s; expected <pad>, <unk>, <eos> first",
                      rela_vocab_size(v), rela_plural(rela_vocab_size(v)));
    return st;
}

static rela_status add_line(rela_vocab *v, rela_span line, rela_error *err)
{
    const size_t n = rela_vocab_size(v);
    if (line.len == 0)
        return rela_fail(err, RELA_FORMAT, "empty token");
    if (line.len > RELA_VOCAB_TOKEN_MAX)
        return rela_fail(err, RELA_FORMAT, "token of %zu bytes; expected at most %d", line.len,
                         RELA_VOCAB_TOKEN_MAX);
    if (memchr(line.text, '\0', line.len))
        return rela_fail(err, RELA_FORMAT, "NUL byte");
    if (memchr(line.text, '\r', line.len)) /* at the end it would be read as part of the line end */
        return rela_fail(err, RELA_FORMAT, "CR in a token");
    if (rela_utf8_valid(line.text, line.len) != line.len)
        return rela_fail(err, RELA_FORMAT, "not valid UTF-8");
    if (memchr(line.text, ' ', line.len))
        return rela_fail(err, RELA_FORMAT, "blank in a token; expected one token per line");
    if (n < RELA_VOCAB_N_SPECIAL &&
        (strlen(SPECIAL[n]) != line.len || memcmp(SPECIAL[n], line.text, line.len) != 0))
        return rela_fail(err, RELA_FORMAT, "expected the special token %s", SPECIAL[n]);
    char token[RELA_VOCAB_TOKEN_MAX + 1]; /* with a NUL, for the message */
    memcpy(token, line.text, line.len);
    token[line.len] = '\0';
    return add(v, (rela_span){ token, line.len }, err);
}

/* Whether a vocabulary file can hold the token and it is not a special one. */
static bool holds(const rela_vocab *v, rela_span token)
{
    return token.len > 0 && token.len <= RELA_VOCAB_TOKEN_MAX &&
           !memchr(token.text, '\0', token.len) && !memchr(token.text, '\r', token.len) &&
           rela_map_find(v->map, token.text, token.len) == RELA_MAP_NONE;
}
