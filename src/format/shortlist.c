/* SPDX-License-Identifier: MIT */
/* src/format/shortlist.c - see shortlist.h. */
#include "format/shortlist.h"

#include "base/mem.h"

#include <string.h>

#define FORMAT_NAME    "rela-shortlist"
#define FORMAT_VERSION "1"

enum { MARK_BITS = 64 };

/* Texts of a file, sorted; and its tensors, sorted. */
enum { TEXT_FORMAT, TEXT_VERSION, TEXT_HASH, TEXT_VOCABULARIES, N_TEXTS };
enum { TENSOR_FIRST, TENSOR_FREQUENT, TENSOR_WORDS, N_TENSORS };
static const char *const TEXTS[N_TEXTS] = { "format", "format_version", RELA_HASH_KEY,
                                            "vocabularies" };
static const char *const TENSORS[N_TENSORS] = { "first", "frequent", "words" };

struct rela_shortlist {
    rela_shortlist_parts parts;
    int32_t *numbers[N_TENSORS];
};

static rela_status check_parts(const rela_shortlist_parts *p, rela_error *err);
static rela_status check_header(const rela_header *h, rela_error *err);
static rela_status check_vocab(const rela_header *h, const rela_vocab_pair *vocab, rela_error *err);
static rela_status read_numbers(rela_shortlist *l, const rela_safetensors *f, const char *path,
                                rela_error *err);

/* ---- making ---- */

rela_status rela_vocab_pair_init(rela_vocab_pair *p, const rela_vocab *src, const rela_vocab *tgt,
                                 rela_error *err)
{
    rela_buffer text[2] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    *p = (rela_vocab_pair){ .n_src = rela_vocab_size(src), .n_tgt = rela_vocab_size(tgt) };
    rela_status st = rela_vocab_write(&text[0], src, err);
    st = st ? st : rela_vocab_write(&text[1], tgt, err);
    if (st == RELA_OK) {
        static const char *const KEYS[] = { "text.vocab.src", "text.vocab.tgt" };
        rela_metadata both[2];
        for (int i = 0; i < 2; i++)
            both[i] = (rela_metadata){ rela_span_of(KEYS[i]), { text[i].data, text[i].len } };
        const rela_content c = { .header = { NULL, 0, both, 2 }, .n_threads = 1, .path = "" };
        st = rela_content_run(p->hash, &c, err);
    }
    rela_buffer_free(&text[0]);
    rela_buffer_free(&text[1]);
    return st;
}

static int32_t *copy(const int32_t *from, size_t n)
{
    int32_t *to = rela_mem_array(n + 1, sizeof *to); /* never of size 0 */
    if (to && n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

static void point(rela_shortlist *l)
{
    l->parts.first = l->numbers[TENSOR_FIRST];
    l->parts.frequent = l->numbers[TENSOR_FREQUENT];
    l->parts.words = l->numbers[TENSOR_WORDS];
}

rela_status rela_shortlist_create(rela_shortlist **out, const rela_shortlist_parts *parts,
                                  rela_error *err)
{
    *out = NULL;
    rela_status st = check_parts(parts, err);
    if (st != RELA_OK)
        return st;
    rela_shortlist *l = rela_mem_zalloc(sizeof *l);
    if (l) {
        l->parts = *parts;
        l->numbers[TENSOR_FIRST] = copy(parts->first, parts->vocab.n_src + 1);
        l->numbers[TENSOR_FREQUENT] = copy(parts->frequent, parts->n_frequent);
        l->numbers[TENSOR_WORDS] = copy(parts->words, (size_t)parts->first[parts->vocab.n_src]);
    }
    if (!l || !l->numbers[0] || !l->numbers[1] || !l->numbers[2]) {
        rela_shortlist_free(l);
        return rela_fail(err, RELA_NOMEM, "no memory for a shortlist");
    }
    point(l);
    *out = l;
    return RELA_OK;
}

void rela_shortlist_free(rela_shortlist *l)
{
    if (!l)
        return;
    for (int i = 0; i < N_TENSORS; i++)
        rela_mem_free(l->numbers[i]);
    rela_mem_free(l);
}

const rela_shortlist_parts *rela_shortlist_parts_of(const rela_shortlist *l)
{
    return &l->parts;
}

/* Checks that target symbols exist and are ascending. */
static rela_status check_words(const int32_t *words, size_t n, size_t n_tgt, const char *of,
                               size_t number, rela_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (words[i] < 0 || (size_t)words[i] >= n_tgt)
            return rela_fail(err, RELA_FORMAT, "%s %zu: symbol %d; expected 0..%zu", of, number,
                             (int)words[i], n_tgt - 1);
        if (i > 0 && words[i] <= words[i - 1])
            return rela_fail(err, RELA_FORMAT,
                             "%s %zu: symbol %d after %d; expected rising numbers", of, number,
                             (int)words[i], (int)words[i - 1]);
    }
    return RELA_OK;
}

static rela_status check_parts(const rela_shortlist_parts *p, rela_error *err)
{
    const size_t n_src = p->vocab.n_src, n_tgt = p->vocab.n_tgt;
    if (p->first[0] != 0)
        return rela_fail(err, RELA_FORMAT, "the first list begins at %d; expected 0",
                         (int)p->first[0]);
    for (size_t i = 0; i < n_src; i++) /* ascending, so no list lies outside of words */
        if (p->first[i + 1] < p->first[i])
            return rela_fail(err, RELA_FORMAT,
                             "the list of source symbol %zu ends at %d, before it begins", i,
                             (int)p->first[i + 1]);
    rela_status st = check_words(p->frequent, p->n_frequent, n_tgt, "frequent list", 1, err);
    for (size_t i = 0; i < n_src && st == RELA_OK; i++)
        st = check_words(p->words + p->first[i], (size_t)(p->first[i + 1] - p->first[i]), n_tgt,
                         "source symbol", i, err);
    return st;
}

/* ---- files ---- */

rela_status rela_shortlist_read(rela_shortlist **out, const char *path,
                                const rela_vocab_pair *vocab, rela_error *err)
{
    rela_safetensors *f = NULL;
    *out = NULL;
    rela_status st = rela_safetensors_open(&f, path, 0, err);
    if (st == RELA_FORMAT)
        return rela_fail(err, st,
                         "%s: not a shortlist, or a damaged one; expected a file written "
                         "by 'rela shortlist'",
                         path);
    if (st != RELA_OK)
        return st;
    rela_shortlist *l = rela_mem_zalloc(sizeof *l);
    st = l ? check_header(rela_safetensors_header(f), err)
           : rela_fail(err, RELA_NOMEM, "no memory for a shortlist");
    st = st ? st : check_vocab(rela_safetensors_header(f), vocab, err);
    if (st == RELA_OK) {
        l->parts.vocab = *vocab;
        st = read_numbers(l, f, path, err);
    }
    if (st != RELA_OK) {
        rela_shortlist_free(l);
        l = NULL;
        st = rela_fail_in(err, st, path);
    }
    rela_safetensors_close(f);
    *out = l;
    return st;
}

static rela_status check_header(const rela_header *h, rela_error *err)
{
    const rela_metadata *format = rela_header_text(h, TEXTS[TEXT_FORMAT]);
    if (!format || !rela_span_is(format->value, FORMAT_NAME))
        return rela_fail(err, RELA_FORMAT,
                         "not a shortlist: its 'format' is not '" FORMAT_NAME "'");
    const rela_metadata *version = rela_header_text(h, TEXTS[TEXT_VERSION]);
    if (!version || !rela_span_is(version->value, FORMAT_VERSION))
        return rela_fail(err, RELA_FORMAT,
                         "'format_version' is '%.*s'; this program reads " FORMAT_VERSION,
                         version ? (int)(version->value.len < 16 ? version->value.len : 16) : 0,
                         version ? version->value.text : "");
    for (int i = 0; i < N_TEXTS; i++)
        if (!rela_header_text(h, TEXTS[i]))
            return rela_fail(err, RELA_FORMAT, "text '%s' is missing", TEXTS[i]);
    if (h->n_metadata != N_TEXTS)
        return rela_fail(err, RELA_FORMAT, "%zu texts; expected %d", h->n_metadata, (int)N_TEXTS);
    for (int i = 0; i < N_TENSORS; i++) {
        const rela_tensor *t = rela_header_find(h, TENSORS[i]);
        if (!t || t->dtype != RELA_I32 || t->rank != 1 || t->shape[0] > INT32_MAX)
            return rela_fail(err, RELA_FORMAT, "tensor '%s' is missing or no list of I32",
                             TENSORS[i]);
    }
    if (h->n != N_TENSORS)
        return rela_fail(err, RELA_FORMAT, "%zu tensors; expected %d", h->n, (int)N_TENSORS);
    return RELA_OK;
}

static rela_status check_vocab(const rela_header *h, const rela_vocab_pair *vocab, rela_error *err)
{
    const rela_tensor *first = rela_header_find(h, TENSORS[TENSOR_FIRST]);
    const rela_metadata *made_for = rela_header_text(h, TEXTS[TEXT_VOCABULARIES]);
    if (!rela_span_is(made_for->value, vocab->hash))
        return rela_fail(err, RELA_FORMAT,
                         "made for a model with other vocabularies; learn one for this model with "
                         "'rela shortlist'");
    if (first->shape[0] != (uint64_t)vocab->n_src + 1)
        return rela_fail(err, RELA_FORMAT, "%llu lists of source symbols; expected %zu",
                         (unsigned long long)first->shape[0], vocab->n_src + 1);
    return RELA_OK;
}

/* The container has checked that the file holds what the shapes say. */
static rela_status read_numbers(rela_shortlist *l, const rela_safetensors *f, const char *path,
                                rela_error *err)
{
    const rela_header *h = rela_safetensors_header(f);
    char hash[RELA_HASH_TEXT] = "";
    void *to[N_TENSORS];
    for (int i = 0; i < N_TENSORS; i++) {
        const size_t n = (size_t)h->tensors[i].shape[0];
        to[i] = l->numbers[i] = rela_mem_array(n + 1, sizeof *l->numbers[i]);
        if (!to[i])
            return rela_fail(err, RELA_NOMEM, "no memory for a shortlist of %zu symbols", n);
    }
    const rela_content c = { .header = *h, .file = f, .to = to, .n_threads = 1, .path = path };
    rela_status st = rela_content_run(hash, &c, err);
    st = st ? st : rela_safetensors_check(f, err);
    if (st != RELA_OK)
        return st;
    point(l);
    l->parts.n_frequent = (size_t)h->tensors[TENSOR_FREQUENT].shape[0];
    const uint64_t n_words = h->tensors[TENSOR_WORDS].shape[0];
    const int32_t end = l->parts.first[l->parts.vocab.n_src];
    if (end < 0 || (uint64_t)end != n_words)
        return rela_fail(err, RELA_FORMAT, "the last list ends at %d; expected %llu", (int)end,
                         (unsigned long long)n_words);
    st = check_parts(&l->parts, err);
    if (st == RELA_OK && !rela_span_is(rela_header_text(h, RELA_HASH_KEY)->value, hash))
        st = rela_fail(err, RELA_FORMAT, "damaged: its contents have the hash %s", hash);
    return st;
}

rela_status rela_shortlist_write(const char *path, const rela_shortlist *l, rela_error *err)
{
    const rela_shortlist_parts *p = &l->parts;
    const size_t sizes[N_TENSORS] = { [TENSOR_FIRST] = p->vocab.n_src + 1,
                                      [TENSOR_FREQUENT] = p->n_frequent,
                                      [TENSOR_WORDS] = (size_t)p->first[p->vocab.n_src] };
    char hash[RELA_HASH_TEXT] = "";
    const char *const values[N_TEXTS] = { [TEXT_FORMAT] = FORMAT_NAME,
                                          [TEXT_VERSION] = FORMAT_VERSION,
                                          [TEXT_HASH] = hash,
                                          [TEXT_VOCABULARIES] = p->vocab.hash };
    rela_tensor tensors[N_TENSORS];
    rela_metadata texts[N_TEXTS];
    for (int i = 0; i < N_TENSORS; i++)
        tensors[i] = (rela_tensor){ .name = rela_span_of(TENSORS[i]),
                                    .dtype = RELA_I32,
                                    .rank = 1,
                                    .shape = { sizes[i] },
                                    .data = l->numbers[i] };
    for (int i = 0; i < N_TEXTS; i++)
        texts[i] = (rela_metadata){ rela_span_of(TEXTS[i]), rela_span_of(values[i]) };
    const rela_header header = { tensors, N_TENSORS, texts, N_TEXTS };
    const rela_content c = { .header = header, .n_threads = 1, .path = path };
    const rela_status st = rela_content_run(hash, &c, err);
    texts[TEXT_HASH].value.len = strlen(hash);
    return st ? st : rela_safetensors_write(path, &header, 0, err);
}

/* ---- the list of a sentence ---- */

static size_t mark(uint64_t *marks, const int32_t *words, size_t n)
{
    size_t added = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t *at = &marks[(size_t)words[i] / MARK_BITS];
        const uint64_t bit = (uint64_t)1 << ((size_t)words[i] % MARK_BITS);
        added += !(*at & bit);
        *at |= bit;
    }
    return added;
}

size_t rela_shortlist_mark(uint64_t *marks, const rela_shortlist *l, const int32_t *ids, size_t n,
                           const int32_t *prefix, size_t n_prefix)
{
    static const int32_t SPECIAL[RELA_SHORTLIST_SPECIAL] = { 0, 1, 2 };
    const rela_shortlist_parts *p = &l->parts;
    size_t count = mark(marks, SPECIAL, RELA_SHORTLIST_SPECIAL);
    count += mark(marks, p->frequent, p->n_frequent);
    count += mark(marks, prefix, n_prefix);
    for (size_t i = 0; i < n; i++) {
        const size_t from = (size_t)p->first[ids[i]], to = (size_t)p->first[ids[i] + 1];
        count += mark(marks, p->words + from, to - from);
    }
    return count;
}

void rela_shortlist_collect(uint32_t *out, uint64_t *marks, size_t n_tgt)
{
    for (size_t i = 0; i < (n_tgt + MARK_BITS - 1) / MARK_BITS; i++) {
        for (uint64_t bits = marks[i]; bits && out; bits &= bits - 1)
            *out++ = (uint32_t)(i * MARK_BITS + (size_t)__builtin_ctzll(bits));
        marks[i] = 0;
    }
}
