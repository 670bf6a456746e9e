/* SPDX-License-Identifier: MIT */
/* src/view/foreign_dump.c - what `rela analyse --dump` writes (docs/formats.md): a zip archive of
 * stored .npy arrays with 64-bit sizes. */
#include "base/mem.h"
#include "view/foreign.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_NUMBERS = 6, PAIR = 0, PLACE, LAYER, HEAD, QUERY, KEYS, LAYERS_MAX = 4096 };

typedef struct column {
    const char *bytes;
    size_t n; /* numbers */
} column;

/* The rows of one pair, place and layer. */
typedef struct rows_group {
    size_t pair, place, layer, first, n;
} rows_group;

typedef struct dump {
    column rows, indptr, indices, weights, tokens, places;
    size_t n_rows;
    rows_group *groups;
    size_t n_groups, cap_groups;
    char (*keys)[24]; /* of the stacks */
} dump;

static rela_status find_arrays(dump *d, const rela_foreign *f, const char *bytes, size_t len,
                               rela_error *err);
static rela_status check_rows(const dump *d, const rela_foreign *f, rela_error *err);
static rela_status find_groups(dump *d, rela_error *err);
static rela_status name_stacks(dump *d, rela_foreign *f, rela_error *err);
static rela_status read_pairs(const dump *d, rela_foreign *f, rela_error *err);

rela_status rela_foreign_dump(rela_foreign *f, const char *bytes, size_t len, rela_error *err)
{
    dump d = { .n_rows = 0 };
    rela_status st = find_arrays(&d, f, bytes, len, err);
    st = st ? st : check_rows(&d, f, err);
    st = st ? st : find_groups(&d, err);
    st = st ? st : name_stacks(&d, f, err);
    st = st ? st : rela_foreign_begin(f, err);
    st = st ? st : read_pairs(&d, f, err);
    rela_mem_free(d.groups);
    rela_mem_free(d.keys);
    return st;
}

/* ---- numbers, little endian, anywhere ---- */

static uint64_t get(const char *bytes, int n)
{
    uint64_t x = 0;
    for (int i = 0; i < n; i++)
        x |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
    return x;
}

static int32_t int_of(const column *c, size_t i)
{
    return (int32_t)(uint32_t)get(c->bytes + 4 * i, 4);
}

static size_t row_number(const dump *d, size_t row, int which)
{
    return (size_t)(uint32_t)int_of(&d->rows, row * ROW_NUMBERS + (size_t)which);
}

static uint64_t place_of(const dump *d, size_t row)
{
    return get(d->indptr.bytes + 8 * row, 8);
}

/* ---- the archive ---- */

/* Sets c to the numbers of an array of that type; size: bytes of one. */
static rela_status take_array(column *c, const rela_foreign *f, const char *name, const char *bytes,
                              size_t len, const char *type, size_t size, rela_error *err)
{
    if (len < 10 || memcmp(bytes, "\x93NUMPY\x01\x00", 8) != 0 || get(bytes + 8, 2) + 10 > len)
        return rela_fail(err, RELA_FORMAT, "%s: %s is no array of NumPy, version 1.0", f->name,
                         name);
    const size_t start = 10 + (size_t)get(bytes + 8, 2);
    if (!memmem(bytes + 10, start - 10, type, strlen(type)) ||
        !memmem(bytes + 10, start - 10, "'fortran_order': False", 22))
        return rela_fail(err, RELA_FORMAT, "%s: %s is of another type; expected %s", f->name, name,
                         type);
    *c = (column){ bytes + start, (len - start) / size };
    return (len - start) % size == 0
               ? RELA_OK
               : rela_fail(err, RELA_FORMAT, "%s: %s ends in the middle of a number", f->name,
                           name);
}

static rela_status take_entry(dump *d, const rela_foreign *f, rela_span name, const char *bytes,
                              size_t len, rela_error *err)
{
    const struct {
        const char *name, *type;
        size_t size;
        column *to;
    } ARRAYS[] = {
        { "rows.npy", "<i4", 4, &d->rows },       { "indptr.npy", "<i8", 8, &d->indptr },
        { "indices.npy", "<i4", 4, &d->indices }, { "weights.npy", "<f4", 4, &d->weights },
        { "tokens.npy", "|u1", 1, &d->tokens },   { "places.npy", "|u1", 1, &d->places }
    };
    for (size_t i = 0; i < sizeof ARRAYS / sizeof ARRAYS[0]; i++)
        if (rela_span_is(name, ARRAYS[i].name))
            return take_array(ARRAYS[i].to, f, ARRAYS[i].name, bytes, len, ARRAYS[i].type,
                              ARRAYS[i].size, err);
    return RELA_OK;
}

/* Entries follow each other; each has its sizes in an extra field. */
static rela_status find_arrays(dump *d, const rela_foreign *f, const char *bytes, size_t len,
                               rela_error *err)
{
    enum { HEADER = 30, SIZES = 20 };
    for (size_t at = 0; len - at >= HEADER && memcmp(bytes + at, "PK\3\4", 4) == 0;) {
        const char *h = bytes + at;
        const size_t n_name = (size_t)get(h + 26, 2), n_extra = (size_t)get(h + 28, 2);
        const size_t start = at + HEADER + n_name + n_extra;
        if (get(h + 8, 2) != 0 || n_extra != SIZES || start > len ||
            get(h + HEADER + n_name, 2) != 1)
            return rela_fail(err, RELA_FORMAT,
                             "%s: byte %zu: no entry of rela analyse --dump (stored, 64-bit sizes)",
                             f->name, at + 1);
        const uint64_t size = get(h + HEADER + n_name + 4, 8);
        if (size > len - start)
            return rela_fail(err, RELA_FORMAT, "%s: byte %zu: the file ends inside of an array",
                             f->name, at + 1);
        const rela_status st =
            take_entry(d, f, (rela_span){ h + HEADER, n_name }, bytes + start, (size_t)size, err);
        if (st != RELA_OK)
            return st;
        at = start + (size_t)size;
    }
    if (!d->rows.bytes || !d->indptr.bytes || !d->indices.bytes || !d->weights.bytes ||
        !d->tokens.bytes)
        return rela_fail(err, RELA_FORMAT,
                         "%s: an array is missing; expected rows, indptr, indices, weights, tokens",
                         f->name);
    return RELA_OK;
}

static rela_status check_rows(const dump *d, const rela_foreign *f, rela_error *err)
{
    const size_t n = d->indptr.n ? d->indptr.n - 1 : 0;
    if (d->rows.n != n * ROW_NUMBERS || d->indptr.n == 0 || d->indices.n != d->weights.n ||
        place_of(d, 0) != 0 || place_of(d, n) != d->indices.n)
        return rela_fail(err, RELA_FORMAT, "%s: sizes of arrays do not match", f->name);
    for (size_t i = 0; i < n; i++)
        if (place_of(d, i) > place_of(d, i + 1) ||
            row_number(d, i, PLACE) >= RELA_DOCUMENT_STACKS ||
            row_number(d, i, LAYER) >= LAYERS_MAX || row_number(d, i, HEAD) >= LAYERS_MAX ||
            row_number(d, i, KEYS) > RELA_FOREIGN_TOKENS_MAX)
            return rela_fail(err, RELA_FORMAT, "%s: row %zu is out of range", f->name, i);
    return RELA_OK;
}

static int compare_groups(const void *a, const void *b)
{
    const rows_group *x = a, *y = b;
    const size_t p[] = { x->pair, x->place, x->layer }, q[] = { y->pair, y->place, y->layer };
    for (int i = 0; i < 3; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static rela_status find_groups(dump *d, rela_error *err)
{
    d->n_rows = d->indptr.n - 1;
    for (size_t i = 0; i < d->n_rows; i++) {
        const rows_group g = { row_number(d, i, PAIR), row_number(d, i, PLACE),
                               row_number(d, i, LAYER), i, 1 };
        if (d->n_groups && compare_groups(&d->groups[d->n_groups - 1], &g) == 0) {
            d->groups[d->n_groups - 1].n++;
            continue;
        }
        rows_group *all = rela_mem_grow(d->groups, &d->cap_groups, d->n_groups + 1, sizeof *all);
        if (!all)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu rows", d->n_rows);
        d->groups = all;
        d->groups[d->n_groups++] = g;
    }
    if (d->n_groups)
        qsort(d->groups, d->n_groups, sizeof *d->groups, compare_groups);
    return RELA_OK;
}

/* ---- stacks ---- */

/* Encoders come first, then the decoder, then as many cross attentions as encoders. */
static rela_status name_stacks(dump *d, rela_foreign *f, rela_error *err)
{
    size_t n_lines = 0;
    for (size_t i = 0; i < d->places.n; i++)
        n_lines += d->places.bytes[i] == '\n';
    const size_t n_stacks = n_lines ? n_lines : 3, n_sources = (n_stacks - 1) / 2;
    if (n_stacks % 2 == 0 || n_stacks > RELA_DOCUMENT_STACKS || n_stacks < 3)
        return rela_fail(err, RELA_FORMAT, "%s: %zu places", f->name, n_stacks);
    d->keys = rela_mem_zalloc(n_stacks * sizeof *d->keys);
    if (!d->keys)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu places", n_stacks);
    f->model =
        (rela_document_model){ .name = "rela", .n_texts = n_sources + 1, .n_stacks = n_stacks };
    for (size_t i = 0; i < n_stacks; i++) {
        rela_document_stack *s = &f->model.stacks[i];
        const bool encoder = i < n_sources, decoder = i == n_sources;
        const size_t source = encoder ? i : decoder ? 0 : i - n_sources - 1;
        const char *name = encoder ? "encoder" : decoder ? "decoder" : "cross";
        if (decoder || n_sources == 1)
            rela_format_text(d->keys[i], sizeof d->keys[i], "%s", name);
        else
            rela_format_text(d->keys[i], sizeof d->keys[i], "%s %zu", name, source);
        *s = (rela_document_stack){ .key = d->keys[i],
                                    .label = d->keys[i],
                                    .queries = encoder ? source : n_sources,
                                    .keys = decoder ? n_sources : source,
                                    .causal = decoder };
    }
    for (size_t i = 0; i < d->n_rows; i++) {
        const size_t place = row_number(d, i, PLACE);
        if (place >= n_stacks)
            return rela_fail(err, RELA_FORMAT, "%s: row %zu: place %zu of %zu", f->name, i, place,
                             n_stacks);
        rela_document_stack *s = &f->model.stacks[place];
        if (row_number(d, i, LAYER) >= s->layers)
            s->layers = row_number(d, i, LAYER) + 1;
        if (row_number(d, i, HEAD) >= s->heads)
            s->heads = row_number(d, i, HEAD) + 1;
    }
    return RELA_OK;
}

/* ---- pairs ---- */

static rela_status read_tokens(rela_foreign *f, rela_span line, rela_error *err)
{
    const char *at = line.text, *end = at + line.len;
    rela_status st = RELA_OK;
    for (size_t k = 0; k < f->model.n_texts && st == RELA_OK; k++) {
        const char *tab = k + 1 < f->model.n_texts ? memchr(at, '\t', (size_t)(end - at)) : NULL;
        const char *stop = tab ? tab : end, *from = at;
        rela_span word;
        while (st == RELA_OK && rela_next_word(&word, &from, stop))
            st = rela_foreign_add_piece(&f->texts[k], word, err);
        st = st ? st : rela_foreign_end_text(&f->texts[k], true, err);
        at = tab ? tab + 1 : end;
    }
    return st;
}

static rela_status read_row(const dump *d, const rela_foreign *f, size_t row, size_t n_keys,
                            real *to, rela_error *err)
{
    for (uint64_t i = place_of(d, row); i < place_of(d, row + 1); i++) {
        const size_t key = (size_t)(uint32_t)int_of(&d->indices, (size_t)i);
        const uint32_t bits = (uint32_t)int_of(&d->weights, (size_t)i);
        float weight;
        memcpy(&weight, &bits, sizeof weight);
        if (key >= n_keys || !isfinite(weight))
            return rela_fail(err, RELA_FORMAT, "%s: row %zu: weight of key %zu of %zu", f->name,
                             row, key, n_keys);
        to[key] = weight;
    }
    return RELA_OK;
}

static rela_status read_group(const dump *d, rela_foreign *f, const rows_group *g, rela_error *err)
{
    const rela_document_stack *s = &f->model.stacks[g->place];
    const size_t n_q = f->texts[s->queries].n, n_k = f->texts[s->keys].n;
    if (g->n != s->heads * n_q)
        return rela_fail(err, RELA_FORMAT, "%s: pair %zu: %zu rows of a layer; expected %zu",
                         f->name, g->pair, g->n, s->heads * n_q);
    rela_status st = rela_foreign_room(f, n_q * n_k, err);
    for (size_t h = 0; h < s->heads && st == RELA_OK; h++) {
        memset(f->weights, 0, n_q * n_k * sizeof *f->weights);
        for (size_t q = 0; q < n_q && st == RELA_OK; q++) {
            const size_t row = g->first + h * n_q + q;
            const size_t seen = s->causal && q + 1 < n_k ? q + 1 : n_k;
            if (row_number(d, row, HEAD) != h || row_number(d, row, QUERY) != q ||
                row_number(d, row, KEYS) != seen)
                return rela_fail(err, RELA_FORMAT, "%s: row %zu is out of order", f->name, row);
            st = read_row(d, f, row, seen, f->weights + q * n_k, err);
        }
        st = st ? st : rela_foreign_add_head(f, g->place, g->layer, h, err);
    }
    return st;
}

/* Groups of one pair; all layers of all stacks must be there. */
static rela_status read_pair(const dump *d, rela_foreign *f, rela_span line, size_t first, size_t n,
                             rela_error *err)
{
    size_t at = first;
    rela_foreign_clear(f);
    rela_status st = read_tokens(f, line, err);
    st = st ? st : rela_foreign_start_rows(f, false, err);
    for (size_t i = 0; i < f->model.n_stacks && st == RELA_OK; i++)
        for (size_t layer = 0; layer < f->model.stacks[i].layers && st == RELA_OK; layer++) {
            const rela_document_stack *s = &f->model.stacks[i];
            if (f->texts[s->queries].n == 0)
                continue; /* an empty one of several sources has no rows */
            if (at == first + n || d->groups[at].place != i || d->groups[at].layer != layer)
                return rela_fail(err, RELA_FORMAT, "%s: pair %zu: no %s of layer %zu", f->name,
                                 d->groups[first].pair, s->key, layer);
            st = read_group(d, f, &d->groups[at++], err);
        }
    if (st == RELA_OK && at != first + n)
        st = rela_fail(err, RELA_FORMAT, "%s: pair %zu: rows are left over", f->name,
                       d->groups[first].pair);
    return st ? st : rela_foreign_add_sentence(f, d->groups[first].pair + 1, false, false, 0, err);
}

static rela_status read_pairs(const dump *d, rela_foreign *f, rela_error *err)
{
    const char *at = d->tokens.bytes, *end = at + d->tokens.n;
    size_t group = 0;
    rela_status st = RELA_OK;
    for (size_t pair = 0; at < end && st == RELA_OK && !rela_foreign_full(f); pair++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const rela_span line = { at, (size_t)((stop ? stop : end) - at) };
        size_t n = 0;
        at = stop ? stop + 1 : end;
        while (group + n < d->n_groups && d->groups[group + n].pair == pair)
            n++;
        if (n)
            st = read_pair(d, f, line, group, n, err);
        group += n;
    }
    if (st == RELA_OK && group < d->n_groups && !rela_foreign_full(f))
        st = rela_fail(err, RELA_FORMAT, "%s: rows of pair %zu, which has no tokens", f->name,
                       d->groups[group].pair);
    return st;
}
