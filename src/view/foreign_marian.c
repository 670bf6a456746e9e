/* SPDX-License-Identifier: MIT */
/* src/view/foreign_marian.c - lines of Marian's `--alignment soft`: for each target token, its end
 * included, the weights of all source tokens, separated by commas; tokens separated by blanks. The
 * decoder puts the translation and " ||| " before them, the scorer a score; in n-best lists the
 * number of the sentence comes first, and features follow. */
#include "base/line_rows.h"
#include "view/foreign.h"

#include <math.h>
#include <string.h>

static rela_status read_line(rela_foreign *f, rela_span line, uint64_t number, rela_error *err);

rela_status rela_foreign_marian(rela_foreign *f, char *text, size_t len, rela_error *err)
{
    const char *at = text, *end = text + len;
    rela_span line;
    f->model = (rela_document_model){ .name = "Marian",
                                      .n_texts = 2,
                                      .stacks = { { "cross", "cross", NULL, 1, 0, 1, 1, false } },
                                      .n_stacks = 1 };
    rela_status st = rela_foreign_begin(f, err);
    for (uint64_t number = 1; st == RELA_OK && !rela_foreign_full(f) && at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        line = rela_trim((rela_span){ at, (size_t)((stop ? stop : end) - at) });
        at = stop ? stop + 1 : end;
        if (line.len)
            st = rela_fail_at(err, read_line(f, line, number, err), f->name, number);
    }
    return st;
}

/* Parts between " ||| "; at most n, *found of them. */
static void split(rela_span *parts, size_t n, size_t *found, rela_span line)
{
    *found = 0;
    while (*found < n) {
        const char *end = memmem(line.text, line.len, "|||", 3);
        const size_t len = end ? (size_t)(end - line.text) : line.len;
        parts[(*found)++] = rela_trim((rela_span){ line.text, len });
        if (!end)
            return;
        line = (rela_span){ end + 3, line.len - len - 3 };
    }
}

/* Is it a list of weights: numbers with commas, in groups of one size? *n_q groups of *n_k. */
static bool is_matrix(rela_span part, size_t *n_q, size_t *n_k)
{
    const char *at = part.text, *end = at + part.len;
    rela_span group;
    *n_q = *n_k = 0;
    while (rela_next_word(&group, &at, end)) {
        size_t n = 1;
        for (size_t i = 0; i < group.len; i++) {
            if (!strchr("0123456789.,+-einfa", group.text[i]) || group.text[i] == '\0')
                return false;
            n += group.text[i] == ',';
        }
        if (*n_q && n != *n_k)
            return false;
        *n_k = n;
        ++*n_q;
    }
    return *n_q > 0 && (*n_k > 1 || *n_q > 1);
}

static rela_status read_weights(rela_foreign *f, rela_span part, rela_error *err)
{
    char number[40];
    size_t i = 0;
    for (const char *at = part.text, *end = at + part.len; at < end;) {
        size_t len = 0;
        while (at + len < end && at[len] != ',' && at[len] != ' ')
            len++;
        double x = 0;
        rela_format_text(number, sizeof number, "%.*s", len < 32 ? (int)len : 32, at);
        if (!rela_parse_f64(&x, number))
            return rela_fail(err, RELA_FORMAT, "weight %zu is %s; expected a number", i + 1,
                             number);
        f->weights[i++] = (real)x;
        at += len + 1;
        while (at < end && *at == ' ')
            at++;
    }
    return RELA_OK;
}

/* The tokens of a text; numbers if there are more or fewer than weights. If there is a weight more,
 * it is that of the end; a translation that was cut has none. */
static rela_status name_tokens(rela_foreign_text *t, rela_span text, size_t n, rela_error *err)
{
    rela_span word;
    rela_status st = RELA_OK;
    size_t words = 0;
    const char *at = text.text, *end = at + text.len;
    while (text.len && rela_next_word(&word, &at, end))
        words++;
    at = text.text;
    if (words != n && words + 1 != n) {
        char number[24];
        for (size_t i = 0; i < n && st == RELA_OK; i++) {
            rela_format_text(number, sizeof number, i + 1 < n ? "%zu" : "<eos>", i + 1);
            st = rela_foreign_add_piece(t, rela_span_of(number), err);
        }
        return st ? st : rela_foreign_end_text(t, true, err);
    }
    while (st == RELA_OK && text.len && rela_next_word(&word, &at, end))
        st = rela_foreign_add_piece(t, word, err);
    if (st == RELA_OK && words + 1 == n)
        st = rela_foreign_add_piece(t, rela_span_of("<eos>"), err);
    return st ? st : rela_foreign_end_text(t, words + 1 == n, err);
}

static rela_span line_of(const rela_text_lines *texts, uint64_t number)
{
    return number <= texts->n ? texts->items[number - 1] : (rela_span){ NULL, 0 };
}

static rela_status read_line(rela_foreign *f, rela_span line, uint64_t number, rela_error *err)
{
    enum { PARTS = 6 };
    rela_span parts[PARTS];
    size_t n = 0, n_q = 0, n_k = 0, at = 0;
    split(parts, PARTS, &n, line);
    while (at < n && !is_matrix(parts[at], &n_q, &n_k))
        at++;
    if (at == n)
        return rela_fail(err, RELA_FORMAT,
                         "no weights; expected lines of Marian's --alignment soft, a JSON file of "
                         "inseq, or a .npz file of rela analyse --dump");
    if (n_q > RELA_FOREIGN_TOKENS_MAX || n_k > RELA_FOREIGN_TOKENS_MAX)
        return rela_fail(err, RELA_FORMAT, "%zu by %zu weights; expected at most %d tokens", n_q,
                         n_k, RELA_FOREIGN_TOKENS_MAX);
    const bool best_list = at == 2; /* number, translation, weights, features, score */
    double score = 0;
    char text[40] = "";
    int64_t sentence = (int64_t)number - 1;
    if (best_list && parts[0].len < sizeof text) {
        rela_format_text(text, sizeof text, "%.*s", (int)parts[0].len, parts[0].text);
        if (!rela_parse_i64(&sentence, text) || sentence < 0)
            return rela_fail(err, RELA_FORMAT, "number of the sentence is %s", text);
    }
    const rela_span last = best_list && n > at + 1 ? parts[n - 1] : parts[0];
    rela_format_text(text, sizeof text, "%.*s", last.len < 32 ? (int)last.len : 32, last.text);
    const bool scored = at > 0 && rela_parse_f64(&score, text);
    const uint64_t own = (uint64_t)sentence + 1;
    const rela_span tgt = line_of(&f->tgt, best_list ? UINT64_MAX : own);
    const rela_span given =
        at == 0 || (scored && !best_list) ? (rela_span){ NULL, 0 } : parts[at - 1];
    rela_foreign_clear(f);
    rela_status st = name_tokens(&f->texts[0], line_of(&f->src, own), n_k, err);
    st = st ? st : name_tokens(&f->texts[1], tgt.text ? tgt : given, n_q, err);
    st = st ? st : rela_foreign_start_rows(f, false, err);
    st = st ? st : rela_foreign_room(f, n_q * n_k, err);
    st = st ? st : read_weights(f, parts[at], err);
    st = st ? st : rela_foreign_add_head(f, 0, 0, 0, err);
    return st ? st : rela_foreign_add_sentence(f, own, false, scored, score, err);
}
