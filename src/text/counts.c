/* SPDX-License-Identifier: MIT */
/* src/text/counts.c - counting words on all threads; see rela/vocab.h.
 *
 * Each thread has its own tally; they are merged after each file. The first occurrence of each
 * word is kept, so that ties are broken as if one thread had read everything. */
#include "text/counts.h"

#include "base/encoding.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "text/bpe.h"
#include "text/word_walk.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 18, WORD_BITS = 26 };

typedef struct record {
    uint64_t count;
    uint64_t first; /* line << WORD_BITS | word in the line */
} record;

typedef struct tally {
    rela_map *map;
    record *records; /* by id in the map */
    size_t cap;
    rela_word_stats stats;
    char apart[64]; /* padding: tallies of two threads share no cache line */
} tally;

struct rela_word_counts {
    tally all;
    uint32_t *order; /* ids by rank; NULL: not sorted */
};

typedef struct block {
    rela_buffer text;
    uint64_t first;
} block;

typedef struct counting {
    rela_reader *reader;
    tally *tallies; /* one per thread */
    uint64_t n_before;
} counting;

typedef struct sort_row {
    uint64_t count, first;
    rela_span word;
    uint32_t number;
} sort_row;

static bool tally_start(tally *t);
static void tally_stop(tally *t);
static rela_status tally_text(tally *t, const char *text, size_t len, uint64_t first,
                              rela_error *err);
static rela_status tally_line(tally *t, rela_span line, uint64_t number, rela_error *err);
static void note_long(tally *t, rela_span word, uint64_t number);
static record *tally_word(tally *t, rela_span word, uint64_t hash, uint64_t place);
static rela_status tally_merge(tally *to, const tally *from, rela_error *err);
static void stats_merge(rela_word_stats *to, const rela_word_stats *from);
static rela_status run_pipe(counting *k, int n_threads, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static rela_status add_entry(tally *t, rela_span line, uint64_t number, rela_duplicates duplicates,
                             rela_error *err);
static int by_first(const void *a, const void *b);
static int by_word(const void *a, const void *b);

rela_status rela_word_counts_create(rela_word_counts **out, rela_error *err)
{
    *out = NULL;
    rela_word_counts *c = rela_mem_zalloc(sizeof *c);
    if (!c || !tally_start(&c->all)) {
        rela_word_counts_destroy(c);
        return rela_fail(err, RELA_NOMEM, "no memory to count words");
    }
    *out = c;
    return RELA_OK;
}

void rela_word_counts_destroy(rela_word_counts *c)
{
    if (!c)
        return;
    tally_stop(&c->all);
    rela_mem_free(c->order);
    rela_mem_free(c);
}

rela_status rela_word_counts_add_file(rela_word_counts *c, const char *path, int n_threads,
                                      rela_error *err)
{
    const int n = rela_par_threads(n_threads);
    counting k = { .n_before = c->all.stats.n_lines };
    rela_mem_free(c->order);
    c->order = NULL;
    k.tallies = rela_mem_zalloc((size_t)n * sizeof *k.tallies);
    if (!k.tallies)
        return rela_fail(err, RELA_NOMEM, "no memory to count words on %d threads", n);
    rela_status st = rela_reader_open(&k.reader, path, NULL, err);
    for (int i = 1; i < n && st == RELA_OK; i++)
        if (!tally_start(&k.tallies[i]))
            st = rela_fail(err, RELA_NOMEM, "no memory to count words on %d threads", n);
    if (st == RELA_OK) {
        k.tallies[0] = c->all; /* the first thread adds to the existing tally */
        st = run_pipe(&k, n, err);
        c->all = k.tallies[0];
    }
    for (int i = 1; i < n; i++) {
        if (st == RELA_OK)
            st = tally_merge(&c->all, &k.tallies[i], err);
        tally_stop(&k.tallies[i]);
    }
    c->all.stats.n_types = rela_map_size(c->all.map);
    rela_mem_free(k.tallies);
    rela_reader_close(k.reader);
    return st;
}

rela_status rela_word_counts_add_text(rela_word_counts *c, const char *text, size_t len,
                                      rela_error *err)
{
    rela_mem_free(c->order);
    c->order = NULL;
    const rela_status st = tally_text(&c->all, text, len, c->all.stats.n_lines + 1, err);
    c->all.stats.n_types = rela_map_size(c->all.map);
    return st;
}

rela_status rela_word_counts_add_dictionary(rela_word_counts *c, const char *path,
                                            rela_duplicates duplicates, rela_error *err)
{
    const rela_reader_options options = { .max_line = RELA_BPE_LINE_MAX };
    rela_reader *reader = NULL;
    rela_buffer lines = RELA_BUFFER_INIT;
    rela_mem_free(c->order);
    c->order = NULL;
    rela_status st = rela_reader_open(&reader, path, &options, err);
    do { /* by blocks: reading lines would wait for the end of one that is too long */
        uint64_t number = 0;
        if (st == RELA_OK)
            st = rela_reader_block(reader, &lines, &number, BLOCK_BYTES, err);
        const char *at = lines.data, *end = at + lines.len;
        rela_span line;
        while (st == RELA_OK && lines.len && rela_next_line(&line, &at, end))
            if ((st = add_entry(&c->all, line, number++, duplicates, err)) != RELA_OK)
                st = rela_fail_in(err, st, rela_reader_name(reader));
    } while (st == RELA_OK && lines.len);
    rela_buffer_free(&lines);
    c->all.stats.n_types = rela_map_size(c->all.map);
    rela_reader_close(reader);
    return st;
}

rela_status rela_word_counts_stats_get(rela_word_stats *out, const rela_word_counts *c,
                                       rela_error *err)
{
    const rela_status st = rela_sized_check(out, sizeof *out, "rela_word_stats", err);
    if (st == RELA_OK)
        rela_sized_give(out, &c->all.stats, sizeof c->all.stats);
    return st;
}

rela_status rela_word_counts_sort(rela_word_counts *c, int by_text, rela_error *err)
{
    const size_t n = rela_map_size(c->all.map);
    rela_mem_free(c->order);
    c->order = rela_mem_array(n, sizeof *c->order);
    sort_row *rows = rela_mem_array(n, sizeof *rows);
    if (!c->order || !rows) {
        rela_mem_free(rows);
        rela_mem_free(c->order);
        c->order = NULL;
        return rela_fail(err, RELA_NOMEM, "no memory to sort %zu words", n);
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = (sort_row){ c->all.records[i].count, c->all.records[i].first,
                              rela_map_key(c->all.map, (uint32_t)i), (uint32_t)i };
    qsort(rows, n, sizeof *rows, by_text ? by_word : by_first);
    for (size_t i = 0; i < n; i++)
        c->order[i] = rows[i].number;
    rela_mem_free(rows);
    return RELA_OK;
}

const char *rela_word_counts_get(const rela_word_counts *c, size_t rank, size_t *len,
                                 uint64_t *count)
{
    assert(c->order && rank < rela_map_size(c->all.map));
    const rela_span word = rela_map_key(c->all.map, c->order[rank]);
    *len = word.len;
    *count = c->all.records[c->order[rank]].count;
    return word.text;
}

rela_status rela_word_counts_write(rela_buffer *out, const rela_word_counts *c, uint64_t max_lines,
                                   uint64_t min_frequency, rela_error *err)
{
    static const char MARK[] = "\xEF\xBB\xBF";
    const uint64_t n = rela_map_size(c->all.map);
    rela_status st = RELA_OK;
    for (uint64_t i = 0; st == RELA_OK && i < n && (max_lines == 0 || i < max_lines); i++) {
        size_t len = 0;
        uint64_t count = 0;
        const char *word = rela_word_counts_get(c, (size_t)i, &len, &count);
        if (count < min_frequency)
            break;
        if (i == 0 && len >= sizeof MARK - 1 && memcmp(word, MARK, sizeof MARK - 1) == 0)
            st = rela_buffer_append_text(out, MARK, err); /* doubled: readers strip one */
        st = st ? st : rela_buffer_append(out, word, len, err);
        st = st ? st : rela_buffer_printf(out, err, " %llu\n", (unsigned long long)count);
    }
    return st;
}

const rela_map *rela_word_counts_map(const rela_word_counts *c)
{
    return c->all.map;
}

uint64_t rela_word_counts_of(const rela_word_counts *c, uint32_t number)
{
    return c->all.records[number].count;
}

static bool tally_start(tally *t)
{
    t->map = rela_map_create(0);
    return t->map != NULL;
}

static void tally_stop(tally *t)
{
    rela_map_destroy(t->map);
    rela_mem_free(t->records);
}

/* text: whole lines; first: the number of the first one. */
static rela_status tally_text(tally *t, const char *text, size_t len, uint64_t first,
                              rela_error *err)
{
    const char *end = text + len;
    rela_status st = RELA_OK;
    rela_span line;
    for (uint64_t i = first; st == RELA_OK && rela_next_line(&line, &text, end); i++)
        st = tally_line(t, line, i, err);
    return st;
}

static rela_status tally_line(tally *t, rela_span line, uint64_t number, rela_error *err)
{
    t->stats.n_lines++;
    if (rela_utf8_valid(line.text, line.len) != line.len) {
        t->stats.n_bad++;
        if (t->stats.bad_line == 0 || number < t->stats.bad_line) {
            t->stats.bad_line = number;
            t->stats.bad_encoding = rela_encoding_guess(line.text, line.len);
        }
        return RELA_OK;
    }
    rela_word_walk walk = rela_words(line.text, line.len);
    rela_word w;
    for (uint64_t i = 0; rela_words_next(&walk, &w); i++) {
        if (w.word.len > RELA_WORD_MAX) {
            note_long(t, w.word, number);
            continue;
        }
        record *r =
            tally_word(t, w.word, rela_map_hash(w.word.text, w.word.len), number << WORD_BITS | i);
        if (!r)
            return rela_fail(err, RELA_NOMEM, "no memory to count more than %zu different words",
                             rela_map_size(t->map));
        r->count++;
        t->stats.n_words++;
        if (w.word.len > RELA_WORD_LONG) /* bytes; note_long counts characters */
            note_long(t, w.word, number);
    }
    return RELA_OK;
}

static void note_long(tally *t, rela_span word, uint64_t number)
{
    const size_t n = rela_utf8_count(word.text, word.len);
    t->stats.n_long += n > RELA_WORD_LONG;
    if (n > t->stats.longest) {
        t->stats.longest = n;
        t->stats.longest_line = number;
    }
}

/* The record of a word, new or old; NULL when out of memory. */
static record *tally_word(tally *t, rela_span word, uint64_t hash, uint64_t place)
{
    const size_t had = rela_map_size(t->map);
    if (had >= t->cap || !t->records) { /* before adding: the map cannot remove entries */
        record *records = rela_mem_grow(t->records, &t->cap, had + 1, sizeof *records);
        if (!records)
            return NULL;
        t->records = records;
    }
    const uint32_t i = rela_map_add_hashed(t->map, word.text, word.len, hash);
    if (i == RELA_MAP_NONE)
        return NULL;
    record *r = &t->records[i];
    if (i == had)
        *r = (record){ 0, place };
    else if (place < r->first)
        r->first = place;
    return r;
}

static rela_status tally_merge(tally *to, const tally *from, rela_error *err)
{
    const size_t n = rela_map_size(from->map);
    for (size_t i = 0; i < n; i++) {
        const rela_span word = rela_map_key(from->map, (uint32_t)i);
        record *r =
            tally_word(to, word, rela_map_hash(word.text, word.len), from->records[i].first);
        if (!r)
            return rela_fail(err, RELA_NOMEM, "no memory to count %zu different words",
                             rela_map_size(to->map) + n - i);
        r->count += from->records[i].count;
    }
    stats_merge(&to->stats, &from->stats);
    return RELA_OK;
}

static void stats_merge(rela_word_stats *to, const rela_word_stats *from)
{
    to->n_lines += from->n_lines;
    to->n_words += from->n_words;
    to->n_bad += from->n_bad;
    to->n_long += from->n_long;
    if (from->bad_line && (!to->bad_line || from->bad_line < to->bad_line)) {
        to->bad_line = from->bad_line;
        to->bad_encoding = from->bad_encoding;
    }
    if (from->longest > to->longest ||
        (from->longest == to->longest && from->longest_line < to->longest_line)) {
        to->longest = from->longest;
        to->longest_line = from->longest_line;
    }
}

static rela_status run_pipe(counting *k, int n_threads, rela_error *err)
{
    block *blocks = rela_mem_zalloc((size_t)n_threads * sizeof *blocks);
    void **pointers = rela_mem_array((size_t)n_threads, sizeof *pointers);
    rela_status st = RELA_OK;
    if (!blocks || !pointers) {
        st = rela_fail(err, RELA_NOMEM, "no memory to read on %d threads", n_threads);
    } else {
        for (int i = 0; i < n_threads; i++)
            pointers[i] = &blocks[i];
        const rela_pipe pipe = { .read = read_block,
                                 .work = work_block,
                                 .write = write_block,
                                 .ctx = k,
                                 .blocks = pointers,
                                 .n_threads = n_threads };
        st = rela_pipe_run(&pipe, err);
    }
    for (int i = 0; blocks && i < n_threads; i++)
        rela_buffer_free(&blocks[i].text);
    rela_mem_free(pointers);
    rela_mem_free(blocks);
    return st;
}

static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err)
{
    counting *k = ctx;
    block *to = b;
    const rela_status st = rela_reader_block(k->reader, &to->text, &to->first, BLOCK_BYTES, err);
    *more = to->text.len > 0;
    return st;
}

static rela_status work_block(void *ctx, void *b, int thread, rela_error *err)
{
    counting *k = ctx;
    const block *from = b;
    return tally_text(&k->tallies[thread], from->text.data, from->text.len,
                      k->n_before + from->first, err);
}

static rela_status write_block(void *ctx, void *b, rela_error *err)
{
    (void)ctx;
    (void)b;
    (void)err;
    return RELA_OK;
}

/* One line `word count`, blanks allowed at both ends as in subword-nmt. */
static rela_status add_entry(tally *t, rela_span line, uint64_t number, rela_duplicates duplicates,
                             rela_error *err)
{
    while (line.len && line.text[line.len - 1] == ' ')
        line.len--;
    while (line.len && *line.text == ' ') {
        line.text++;
        line.len--;
    }
    const char *blank = memchr(line.text, ' ', line.len);
    const unsigned long long where = number;
    char digits[24];
    int64_t count = 0;
    if (!blank || memchr(blank + 1, ' ', line.len - (size_t)(blank + 1 - line.text)))
        return rela_fail(err, RELA_FORMAT, "line %llu: expected a word, a blank and a count",
                         where);
    const rela_span word = { line.text, (size_t)(blank - line.text) };
    const size_t n = line.len - word.len - 1;
    memcpy(digits, blank + 1, n < sizeof digits ? n : 0);
    digits[n < sizeof digits ? n : 0] = '\0';
    if (strlen(digits) != n || !rela_parse_i64(&count, digits) || count < 0 ||
        count > RELA_COUNT_MAX)
        return rela_fail(err, RELA_FORMAT, "line %llu: bad count; expected a number 0..%lld", where,
                         (long long)RELA_COUNT_MAX);
    if (rela_utf8_valid(word.text, word.len) != word.len)
        return rela_fail(err, RELA_FORMAT, "line %llu: the word is not valid UTF-8", where);
    if (memchr(word.text, '\r', word.len))
        return rela_fail(err, RELA_FORMAT, "line %llu: CR in the word", where);
    record *r = tally_word(t, word, rela_map_hash(word.text, word.len), number << WORD_BITS);
    if (!r)
        return rela_fail(err, RELA_NOMEM, "line %llu: no memory for more words", where);
    if (duplicates == RELA_DUPLICATES_SUM)
        r->count += (uint64_t)count;
    else if ((uint64_t)count > r->count)
        r->count = (uint64_t)count;
    t->stats.n_lines++;
    t->stats.n_words += (uint64_t)count;
    if (t->stats.n_words > (uint64_t)RELA_COUNT_MAX)
        return rela_fail(err, RELA_FORMAT, "line %llu: the counts add up to more than %lld", where,
                         (long long)RELA_COUNT_MAX);
    return RELA_OK;
}

static int by_first(const void *a, const void *b)
{
    const sort_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int by_word(const void *a, const void *b)
{
    const sort_row *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    const size_t n = x->word.len < y->word.len ? x->word.len : y->word.len;
    const int d = memcmp(x->word.text, y->word.text, n); /* UTF-8: byte order is code point order */
    return d ? d : x->word.len < y->word.len ? -1 : x->word.len > y->word.len;
}
