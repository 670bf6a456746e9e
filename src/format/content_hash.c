/* SPDX-License-Identifier: MIT */
/* src/format/content_hash.c - see content_hash.h. */
#include "format/content_hash.h"

#include "base/mem.h"
#include "base/par.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define XXH_STATIC_LINKING_ONLY /* the state may live on the stack */
#include <xxhash.h>

enum {
    PIECE = 256 << 10, /* bytes; part of the definition of the hash */
    DIGEST = 16,
    BLOCK = 64 /* numbers checked at a time */
};

typedef struct walk {
    const rela_content *c;
    size_t *first;    /* n + 1: the first piece of each tensor */
    char *digests;    /* DIGEST bytes per piece */
    char *scratch;    /* PIECE bytes per thread, for data that is not kept */
    rela_error *errs; /* one per thread; the status tells which failed */
} walk;

static rela_status walk_init(walk *w, const rela_content *c, int n_threads, rela_error *err);
static void walk_deinit(walk *w);
static void walk_pieces(void *ctx, size_t begin, size_t end, int thread);
static rela_status do_piece(const walk *w, size_t piece, size_t tensor, int thread,
                            rela_error *err);
static rela_status check_finite(const walk *w, const rela_tensor *t, const char *bytes, size_t len,
                                uint64_t offset, rela_error *err);
static size_t count_finite_32(const char *bytes, size_t n);
static size_t count_finite_64(const char *bytes, size_t n);
static XXH128_hash_t hash_all(const walk *w);
static void add_number(XXH3_state_t *state, uint64_t v);
static void add_text(XXH3_state_t *state, rela_span s);

rela_status rela_content_run(char out[RELA_HASH_TEXT], const rela_content *c, rela_error *err)
{
    walk w = { .c = c };
    const int n_threads = rela_par_threads(c->n_threads);
    rela_status st = walk_init(&w, c, n_threads, err);
    if (st == RELA_OK) {
        rela_par_rows(w.first[c->header.n], n_threads, walk_pieces, &w);
        for (int i = 0; i < n_threads && st == RELA_OK; i++) {
            st = w.errs[i].status; /* the first thread has the first pieces */
            if (st != RELA_OK && err)
                *err = w.errs[i];
        }
    }
    if (st == RELA_OK) {
        const XXH128_hash_t h = hash_all(&w);
        (void)snprintf(out, RELA_HASH_TEXT, "xxh3-128:%016llx%016llx", (unsigned long long)h.high64,
                       (unsigned long long)h.low64);
    }
    walk_deinit(&w);
    return st;
}

static rela_status walk_init(walk *w, const rela_content *c, int n_threads, rela_error *err)
{
    size_t pieces = 0;
    bool keeps_all = true;
    w->errs = rela_mem_zalloc((size_t)n_threads * sizeof *w->errs);
    w->first = rela_mem_array(c->header.n + 1, sizeof *w->first);
    for (size_t i = 0; w->first && i < c->header.n; i++) {
        uint64_t bytes = 0;
        (void)rela_tensor_bytes(&bytes, &c->header.tensors[i]);
        w->first[i] = pieces;
        pieces += (size_t)((bytes + PIECE - 1) / PIECE);
        keeps_all = keeps_all && (!c->file || c->mapped || (c->to && c->to[i]));
    }
    if (w->first)
        w->first[c->header.n] = pieces;
    w->digests = rela_mem_array(pieces, DIGEST);
    w->scratch = keeps_all ? NULL : rela_mem_array((size_t)n_threads, PIECE);
    if (!w->errs || !w->first || !w->digests || !(w->scratch || keeps_all))
        return rela_fail(err, RELA_NOMEM, "%s: no memory to check %zu tensors", c->path,
                         c->header.n);
    return RELA_OK;
}

static void walk_deinit(walk *w)
{
    rela_mem_free(w->errs);
    rela_mem_free(w->first);
    rela_mem_free(w->digests);
    rela_mem_free(w->scratch);
}

static void walk_pieces(void *ctx, size_t begin, size_t end, int thread)
{
    const walk *w = ctx;
    size_t tensor = 0;
    for (size_t i = begin; i < end; i++) {
        while (w->first[tensor + 1] <= i)
            tensor++;
        if (do_piece(w, i, tensor, thread, &w->errs[thread]) != RELA_OK)
            return;
    }
}

static rela_status do_piece(const walk *w, size_t piece, size_t tensor, int thread, rela_error *err)
{
    const rela_content *c = w->c;
    const rela_tensor *t = &c->header.tensors[tensor];
    const uint64_t offset = (uint64_t)(piece - w->first[tensor]) * PIECE;
    uint64_t bytes = 0;
    (void)rela_tensor_bytes(&bytes, t);
    const size_t len = bytes - offset < PIECE ? (size_t)(bytes - offset) : PIECE;
    const char *data = NULL;
    if (c->mapped) {
        data = c->mapped + t->begin + offset;
    } else if (c->file) {
        char *to = c->to && c->to[tensor] ? (char *)c->to[tensor] + offset
                                          : w->scratch + (size_t)thread * PIECE;
        const rela_status st = rela_safetensors_read(c->file, to, t, offset, len, err);
        if (st != RELA_OK)
            return st;
        data = to;
    } else {
        data = (const char *)t->data + offset;
    }
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(data, len));
    memcpy(w->digests + piece * DIGEST, digest.digest, DIGEST);
    return check_finite(w, t, data, len, offset, err);
}

static rela_status check_finite(const walk *w, const rela_tensor *t, const char *bytes, size_t len,
                                uint64_t offset, rela_error *err)
{
    if (t->dtype != RELA_F32 && t->dtype != RELA_F64)
        return RELA_OK;
    const size_t size = rela_dtype_size(t->dtype), n = len / size;
    const size_t good = size == 4 ? count_finite_32(bytes, n) : count_finite_64(bytes, n);
    if (good == n)
        return RELA_OK;
    return rela_fail(err, RELA_FORMAT,
                     "%s: tensor '%.*s': element %" PRIu64 " is not a finite number", w->c->path,
                     (int)t->name.len, t->name.text, offset / size + good);
}

/* How many numbers come before the first that is not finite. Blocks of fixed size, so that the
 * compiler vectorises. Bytes may be unaligned. */
static size_t count_finite_32(const char *bytes, size_t n)
{
    const uint32_t exponent = 0x7F800000u;
    size_t i = 0;
    for (; i + BLOCK <= n; i += BLOCK) {
        uint32_t block[BLOCK], bad = 0;
        memcpy(block, bytes + i * sizeof *block, sizeof block);
        for (size_t j = 0; j < BLOCK; j++)
            bad |= (block[j] & exponent) == exponent;
        if (bad)
            break;
    }
    for (; i < n; i++) {
        uint32_t v = 0;
        memcpy(&v, bytes + i * sizeof v, sizeof v);
        if ((v & exponent) == exponent)
            break;
    }
    return i;
}

static size_t count_finite_64(const char *bytes, size_t n)
{
    const uint64_t exponent = 0x7FF0000000000000u;
    for (size_t i = 0; i < n; i++) {
        uint64_t v = 0;
        memcpy(&v, bytes + i * sizeof v, sizeof v);
        if ((v & exponent) == exponent)
            return i;
    }
    return n;
}

static XXH128_hash_t hash_all(const walk *w)
{
    const rela_header *h = &w->c->header;
    XXH3_state_t state;
    size_t n_metadata = 0;
    for (size_t i = 0; i < h->n_metadata; i++)
        n_metadata += !rela_span_is(h->metadata[i].key, RELA_HASH_KEY);
    (void)XXH3_128bits_reset(&state);
    add_number(&state, n_metadata);
    for (size_t i = 0; i < h->n_metadata; i++) {
        if (rela_span_is(h->metadata[i].key, RELA_HASH_KEY))
            continue;
        add_text(&state, h->metadata[i].key);
        add_text(&state, h->metadata[i].value);
    }
    add_number(&state, h->n);
    for (size_t i = 0; i < h->n; i++) {
        const rela_tensor *t = &h->tensors[i];
        add_text(&state, t->name);
        add_text(&state, rela_span_of(rela_dtype_name(t->dtype)));
        add_number(&state, t->rank);
        for (uint32_t k = 0; k < t->rank; k++)
            add_number(&state, t->shape[k]);
        (void)XXH3_128bits_update(&state, w->digests + w->first[i] * DIGEST,
                                  (w->first[i + 1] - w->first[i]) * DIGEST);
    }
    return XXH3_128bits_digest(&state);
}

static void add_number(XXH3_state_t *state, uint64_t v)
{
    (void)XXH3_128bits_update(state, &v, sizeof v); /* little endian, as this machine is */
}

static void add_text(XXH3_state_t *state, rela_span s)
{
    add_number(state, s.len);
    (void)XXH3_128bits_update(state, s.len ? s.text : "", s.len);
}
