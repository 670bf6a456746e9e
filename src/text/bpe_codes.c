/* SPDX-License-Identifier: MIT */
/* src/text/bpe_codes.c - reading codes and building the tables to apply them; see bpe.h. */
#include "base/file.h"
#include "base/mem.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "text/bpe.h"
#include "text/counts.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 1 << 30, SLOTS_MIN = 64, SLOTS_PER_MERGE = 2, LETTERS_MIN = 256 };

static const char VERSION_HEAD[] = "#version:";
static const char BYTE_ORDER_MARK[] = "\xEF\xBB\xBF";

static rela_status read_codes(rela_bpe *b, const char *codes, size_t len, int64_t merges,
                              rela_error *err);
static bool is_version(rela_span line);
static rela_status read_version(rela_bpe *b, rela_span line, rela_error *err);
static rela_status read_merge(rela_bpe *b, rela_span line, rela_buffer *joint, rela_error *err);
static rela_status add_merge(rela_bpe *b, const uint32_t symbols[3], rela_error *err);
static bool grow_slots(rela_bpe *b);
static void place(rela_bpe_slot *slots, size_t mask, rela_bpe_slot pair);
static rela_status find_origins(rela_bpe *b, rela_error *err);
static rela_status find_letters(rela_bpe *b, rela_error *err);
static rela_status copy_options(rela_bpe *b, const rela_bpe_options *o, rela_error *err);
static rela_status copy_vocabulary(rela_bpe *b, const rela_word_counts *c, uint64_t threshold,
                                   rela_error *err);
static rela_span strip(rela_span line);

void rela_bpe_options_init(rela_bpe_options *o, size_t size)
{
    const rela_bpe_options defaults = {
        .struct_size = size, .merges = -1, .separator = "@@", .seed = 1
    };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_bpe_parse(rela_bpe **out, const char *name, const char *codes, size_t len,
                           const rela_bpe_options *o, rela_error *err)
{
    rela_bpe_options own;
    *out = NULL;
    rela_bpe_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_bpe_options", err);
    if (st != RELA_OK)
        return st;
    rela_bpe *b = rela_mem_zalloc(sizeof *b);
    if (!b)
        return rela_fail(err, RELA_NOMEM, "%s: no memory for the codes", name);
    st = copy_options(b, &own, err);
    if (st == RELA_OK) {
        b->symbols = rela_map_create(0);
        b->cache = rela_bpe_cache_create();
        st = b->symbols && b->cache && grow_slots(b)
                 ? read_codes(b, codes, len, own.merges, err)
                 : rela_fail(err, RELA_NOMEM, "no memory for the codes");
        if (st == RELA_OK)
            st = find_origins(b, err);
        if (st == RELA_OK)
            st = find_letters(b, err);
        if (st != RELA_OK)
            st = rela_fail_in(err, st, name);
    }
    if (st == RELA_OK) {
        *out = b;
        b = NULL;
    }
    rela_bpe_free(b);
    return st;
}

rela_status rela_bpe_load(rela_bpe **out, const char *path, const rela_bpe_options *o,
                          rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *out = NULL;
    rela_status st = rela_file_read_lines(&text, &len, path, FILE_MAX, RELA_BPE_LINE_MAX, err);
    if (st == RELA_OK)
        st = rela_bpe_parse(out, path, text, len, o, err);
    rela_mem_free(text);
    return st;
}

void rela_bpe_free(rela_bpe *b)
{
    if (!b)
        return;
    rela_map_destroy(b->symbols);
    rela_map_destroy(b->vocabulary);
    rela_glossary_destroy(b->glossary);
    rela_bpe_cache_destroy(b->cache);
    rela_mem_free(b->merges);
    rela_mem_free(b->slots);
    rela_mem_free(b->origin);
    rela_mem_free(b->letters);
    rela_mem_free(b->separator);
    rela_mem_free(b);
}

size_t rela_bpe_n_merges(const rela_bpe *b)
{
    return b->n_merges;
}

static rela_status read_codes(rela_bpe *b, const char *codes, size_t len, int64_t merges,
                              rela_error *err)
{
    static const size_t MARK_LEN = sizeof BYTE_ORDER_MARK - 1;
    const char *at = codes, *end = codes + len;
    rela_buffer joint = RELA_BUFFER_INIT;
    rela_span line;
    rela_status st = RELA_OK;
    if (len >= MARK_LEN && memcmp(at, BYTE_ORDER_MARK, MARK_LEN) == 0)
        at += MARK_LEN;
    while (end > at && end[-1] == '\n') /* trailing empty lines are not merges */
        end--;
    if (at == end)
        return rela_fail(err, RELA_FORMAT, "empty; expected lines like '#version: 0.2' and 't h'");
    b->separate_mark = true; /* codes without a version are of version 0.1 */
    for (size_t number = 1; st == RELA_OK && rela_next_line(&line, &at, end); number++) {
        const bool version = number == 1 && is_version(line);
        if (!version && merges >= 0 && b->n_merges >= (size_t)merges)
            break;
        if (line.len > RELA_BPE_LINE_MAX)
            st = rela_fail(err, RELA_FORMAT, "longer than %d bytes", RELA_BPE_LINE_MAX);
        else if (rela_utf8_valid(line.text, line.len) != line.len)
            st = rela_fail(err, RELA_FORMAT, "not valid UTF-8");
        else
            st = version ? read_version(b, line, err) : read_merge(b, line, &joint, err);
        if (st != RELA_OK) {
            char where[32];
            (void)snprintf(where, sizeof where, "line %zu", number);
            st = rela_fail_in(err, st, where);
        }
    }
    rela_buffer_free(&joint);
    return st;
}

static bool is_version(rela_span line)
{
    return line.len >= sizeof VERSION_HEAD - 1 &&
           memcmp(line.text, VERSION_HEAD, sizeof VERSION_HEAD - 1) == 0;
}

/* The version is the last word of the line; trailing zeros are ignored: 0.2.0 is 0.2. */
static rela_status read_version(rela_bpe *b, rela_span line, rela_error *err)
{
    const char *at = line.text + sizeof VERSION_HEAD - 1, *end = line.text + line.len;
    rela_span word, version = { "", 0 };
    while (rela_next_word(&word, &at, end))
        version = word;
    while (version.len > 3 && memcmp(version.text + version.len - 2, ".0", 2) == 0)
        version.len -= 2;
    const bool known = version.len == 3 && memcmp(version.text, "0.", 2) == 0 &&
                       (version.text[2] == '1' || version.text[2] == '2');
    if (!known)
        return rela_fail(err, RELA_FORMAT, "version '%.*s' of the codes; expected 0.1 or 0.2",
                         version.len < 32 ? (int)version.len : 32, version.text);
    b->separate_mark = version.text[2] == '1';
    return RELA_OK;
}

static rela_status read_merge(rela_bpe *b, rela_span line, rela_buffer *joint, rela_error *err)
{
    line = strip(line);
    const char *blank = memchr(line.text, ' ', line.len);
    const size_t left = blank ? (size_t)(blank - line.text) : 0;
    const size_t right = blank ? line.len - left - 1 : 0;
    if (!blank || memchr(blank + 1, ' ', right))
        return rela_fail(err, RELA_FORMAT, "expected two symbols with one blank between them");
    rela_buffer_clear(joint);
    rela_status st = rela_buffer_append(joint, line.text, left, err);
    if (st == RELA_OK)
        st = rela_buffer_append(joint, blank + 1, right, err);
    if (st != RELA_OK)
        return st;
    const uint32_t symbols[3] = { rela_map_add(b->symbols, line.text, left),
                                  rela_map_add(b->symbols, blank + 1, right),
                                  rela_map_add(b->symbols, joint->data, joint->len) };
    return add_merge(b, symbols, err);
}

/* symbols: left, right, joint. If several lines have the same pair, only the first counts. */
static rela_status add_merge(rela_bpe *b, const uint32_t symbols[3], rela_error *err)
{
    if (symbols[0] == RELA_MAP_NONE || symbols[1] == RELA_MAP_NONE || symbols[2] == RELA_MAP_NONE)
        return rela_fail(err, RELA_NOMEM, "no memory for more merges");
    if (b->n_merges >= RELA_BPE_MERGES_MAX)
        return rela_fail(err, RELA_FORMAT, "more than %d merges", RELA_BPE_MERGES_MAX);
    rela_bpe_merge *merges =
        rela_mem_grow(b->merges, &b->cap_merges, b->n_merges + 1, sizeof *merges);
    if (!merges)
        return rela_fail(err, RELA_NOMEM, "no memory for more merges");
    b->merges = merges;
    const uint32_t rank = (uint32_t)b->n_merges;
    merges[rank] = (rela_bpe_merge){ symbols[0], symbols[1], symbols[2], rank };
    const uint32_t first = rela_bpe_pair(b, symbols[0], symbols[1])->rank;
    b->n_merges++;
    if (first != RELA_RANK_NONE) {
        merges[first].last = rank;
        return RELA_OK;
    }
    place(b->slots, b->slot_mask, (rela_bpe_slot){ symbols[0], symbols[1], rank, symbols[2] });
    if (b->n_merges * SLOTS_PER_MERGE > b->slot_mask && !grow_slots(b))
        return rela_fail(err, RELA_NOMEM, "no memory for more merges");
    return RELA_OK;
}

static bool grow_slots(rela_bpe *b)
{
    const size_t n = b->slots ? (b->slot_mask + 1) * 2 : SLOTS_MIN;
    rela_bpe_slot *slots = rela_mem_array(n, sizeof *slots);
    if (!slots)
        return false;
    memset(slots, 0xFF, n * sizeof *slots); /* RELA_RANK_NONE everywhere */
    for (size_t k = 0; b->slots && k <= b->slot_mask; k++) {
        if (b->slots[k].rank != RELA_RANK_NONE)
            place(slots, n - 1, b->slots[k]);
    }
    rela_mem_free(b->slots);
    b->slots = slots;
    b->slot_mask = n - 1;
    return true;
}

static void place(rela_bpe_slot *slots, size_t mask, rela_bpe_slot pair)
{
    size_t i = rela_pair_hash(pair.left, pair.right) & mask;
    while (slots[i].rank != RELA_RANK_NONE)
        i = (i + 1) & mask;
    slots[i] = pair;
}

/* If several merges make the same symbol, subword-nmt undoes the pair whose last line in the codes
 * comes earliest. */
static rela_status find_origins(rela_bpe *b, rela_error *err)
{
    const size_t n = rela_map_size(b->symbols);
    b->origin = rela_mem_array(n, sizeof *b->origin);
    if (!b->origin)
        return rela_fail(err, RELA_NOMEM, "no memory for the codes");
    memset(b->origin, 0xFF, n * sizeof *b->origin); /* RELA_RANK_NONE everywhere */
    for (size_t i = 0; i < b->n_merges; i++) {
        const rela_bpe_merge *m = &b->merges[i];
        if (rela_bpe_pair(b, m->left, m->right)->rank != i)
            continue;
        uint32_t *origin = &b->origin[m->joint];
        if (*origin == RELA_RANK_NONE || m->last < b->merges[*origin].last)
            *origin = (uint32_t)i;
    }
    return RELA_OK;
}

/* Indexes, by character, the symbols that are one character with or without the end mark. */
static rela_status find_letters(rela_bpe *b, rela_error *err)
{
    const size_t n = rela_map_size(b->symbols);
    size_t n_slots = LETTERS_MIN, n_letters = 0;
    for (size_t i = 0; i < n; i++)
        n_letters += rela_map_key(b->symbols, (uint32_t)i).len <= 4 + RELA_END_MARK_LEN;
    while (n_slots < n_letters * 2)
        n_slots *= 2;
    b->letters = rela_mem_array(n_slots, sizeof *b->letters);
    if (!b->letters)
        return rela_fail(err, RELA_NOMEM, "no memory for the codes");
    memset(b->letters, 0xFF, n_slots * sizeof *b->letters); /* free, RELA_MAP_NONE */
    b->letter_mask = n_slots - 1;
    b->mark = rela_map_find(b->symbols, RELA_END_MARK, RELA_END_MARK_LEN);
    for (size_t i = 0; i < n; i++) {
        const rela_span s = rela_map_key(b->symbols, (uint32_t)i);
        uint32_t code = 0;
        const size_t len = s.len ? rela_utf8_next(&code, s.text, s.len) : 0;
        const bool end = s.len == len + RELA_END_MARK_LEN &&
                         memcmp(s.text + len, RELA_END_MARK, RELA_END_MARK_LEN) == 0;
        if (len == 0 || (s.len != len && !end))
            continue;
        rela_bpe_letter *l = &b->letters[rela_bpe_letter_of(b, code) - b->letters];
        l->code = code;
        *(end ? &l->end : &l->inner) = (uint32_t)i;
    }
    return RELA_OK;
}

static rela_status copy_options(rela_bpe *b, const rela_bpe_options *o, rela_error *err)
{
    b->separator_len = strlen(o->separator);
    b->separator = rela_str_copy(o->separator, b->separator_len);
    b->dropout = o->dropout;
    b->seed = o->seed;
    if (!b->separator)
        return rela_fail(err, RELA_NOMEM, "no memory for the codes");
    if (!(o->dropout >= 0 && o->dropout <= 1))
        return rela_fail(err, RELA_ARG, "dropout %g; expected 0..1", o->dropout);
    rela_status st = RELA_OK;
    if (o->vocabulary)
        st = copy_vocabulary(b, o->vocabulary, o->vocabulary_threshold, err);
    if (st == RELA_OK && o->n_glossaries)
        st = rela_glossary_create(&b->glossary, o->glossaries, o->n_glossaries, err);
    return st;
}

/* An empty vocabulary allows every piece, as in subword-nmt. */
static rela_status copy_vocabulary(rela_bpe *b, const rela_word_counts *c, uint64_t threshold,
                                   rela_error *err)
{
    const rela_map *all = rela_word_counts_map(c);
    const size_t n = rela_map_size(all);
    b->vocabulary = rela_map_create(0);
    for (size_t i = 0; b->vocabulary && i < n; i++) {
        const rela_span piece = rela_map_key(all, (uint32_t)i);
        if (rela_word_counts_of(c, (uint32_t)i) < threshold)
            continue;
        if (rela_map_add(b->vocabulary, piece.text, piece.len) == RELA_MAP_NONE)
            return rela_fail(err, RELA_NOMEM, "no memory for a vocabulary of %zu pieces", n);
    }
    if (!b->vocabulary)
        return rela_fail(err, RELA_NOMEM, "no memory for a vocabulary of %zu pieces", n);
    if (rela_map_size(b->vocabulary) == 0) {
        rela_map_destroy(b->vocabulary);
        b->vocabulary = NULL;
    }
    return RELA_OK;
}

static rela_span strip(rela_span line)
{
    while (line.len && (line.text[line.len - 1] == ' ' || line.text[line.len - 1] == '\r'))
        line.len--;
    while (line.len && (*line.text == ' ' || *line.text == '\r')) {
        line.text++;
        line.len--;
    }
    return line;
}
