/* SPDX-License-Identifier: MIT */
/* src/train/text_compare.c - see text_compare.h. */
#include "train/text_compare.h"

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "data/pair_rules.h"
#include "train/train_options.h"

#include <string.h>

enum {
    WORD_LINES = 50000, /* of the training text, whose words are kept */
    VALID_LINES = 10000,
    LEAST_LINES = 100, /* fewer say nothing about a language */
    LINES_PER_STOP = 1024
};

/* Shares of lines that are the same on both sides, and of validation pairs that are training pairs
 * too, from which on a text is reported. */
static const double SAME_SHARE = 0.5, KNOWN_SHARE = 0.1;
/* By how much the words of swapped sides fit better, as a mean of shares; and below which part of
 * the share of words that lines of the training text have in common a text is another language. */
static const double SWAPPED_MARGIN = 0.1, OTHER_LANGUAGE = 0.5;

typedef struct line_pair {
    rela_span side[2];
} line_pair;

typedef struct compared {
    const rela_train_options *o;
    rela_map *pairs;            /* hashes of validation pairs; NULL: there is no validation text */
    bool *known;                /* by number in pairs: in the training text too */
    rela_map *words[2];         /* of the first lines of the training text */
    uint64_t read[2], found[2]; /* how many there are, and how many earlier lines had */
    uint64_t lines, same;       /* of the training text */
    uint64_t valid_lines, valid_same, seen[2]; /* of the validation text; seen: words */
    uint64_t fits[2][2]; /* words of its side i that the training text has on side k */
} compared;

typedef rela_status (*take_pair)(compared *c, const line_pair *pair, rela_error *err);

static rela_status compare(compared *c, rela_error *err);
static rela_status no_memory(rela_error *err);
static rela_status read_pairs(compared *c, const rela_train_files *files, uint64_t most,
                              take_pair take, rela_error *err);
static rela_status take_valid(compared *c, const line_pair *pair, rela_error *err);
static rela_status take_train(compared *c, const line_pair *pair, rela_error *err);
static rela_status keep_words(compared *c, size_t side, rela_span line, rela_error *err);
static rela_status take_words(compared *c, const line_pair *pair, rela_error *err);
static rela_status report(rela_buffer *out, const compared *c, rela_error *err);
static rela_status report_words(rela_buffer *out, const compared *c, rela_error *err);

rela_status rela_train_compare_texts(rela_buffer *out, const rela_train_options *o, rela_error *err)
{
    compared c = { .o = o };
    rela_status st = compare(&c, err);
    st = st ? st : report(out, &c, err);
    rela_map_destroy(c.pairs);
    rela_map_destroy(c.words[0]);
    rela_map_destroy(c.words[1]);
    rela_mem_free(c.known);
    return st;
}

static rela_status compare(compared *c, rela_error *err)
{
    const rela_train_files valid = rela_train_valid_text(c->o);
    const bool has_valid = c->o->valid_src != NULL;
    rela_status st = RELA_OK;
    c->pairs = rela_map_create(has_valid ? VALID_LINES : 1);
    c->words[0] = rela_map_create(has_valid ? WORD_LINES : 1);
    c->words[1] = rela_map_create(has_valid ? WORD_LINES : 1);
    if (!c->pairs || !c->words[0] || !c->words[1])
        return no_memory(err);
    if (has_valid)
        st = read_pairs(c, &valid, VALID_LINES, take_valid, err);
    c->known = rela_mem_zalloc(rela_map_size(c->pairs) + 1);
    if (st == RELA_OK && !c->known)
        st = no_memory(err);
    for (size_t i = 0; i <= c->o->n_more && st == RELA_OK; i++) {
        const rela_train_files train = rela_train_text_at(c->o, i);
        st = read_pairs(c, &train, has_valid ? UINT64_MAX : WORD_LINES, take_train, err);
    }
    if (has_valid && st == RELA_OK)
        st = read_pairs(c, &valid, VALID_LINES, take_words, err);
    return st;
}

static rela_status no_memory(rela_error *err)
{
    return rela_fail(err, RELA_NOMEM, "no memory to compare texts");
}

/* The first pairs of a text, up to a limit. */
static rela_status read_pairs(compared *c, const rela_train_files *files, uint64_t most,
                              take_pair take, rela_error *err)
{
    const char *const paths[2] = { files->src[0], files->tgt };
    const rela_stop stop = rela_train_stop(c->o);
    rela_reader *r[2] = { NULL, NULL };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < 2 && st == RELA_OK; i++)
        st = rela_reader_open(&r[i], paths[i], NULL, err);
    for (uint64_t n = 0; n < most && st == RELA_OK; n++) {
        line_pair pair;
        bool ended = false;
        for (size_t i = 0; i < 2 && st == RELA_OK; i++) {
            rela_line line;
            st = rela_reader_line(r[i], &line, err);
            ended = ended || (st == RELA_OK && !line.text);
            if (st == RELA_OK && line.text)
                pair.side[i] = rela_trim((rela_span){ line.text, line.len });
        }
        if (st != RELA_OK || ended)
            break;
        if (n % LINES_PER_STOP == 0)
            st = rela_stop_check(&stop, err);
        if (st == RELA_OK && pair.side[0].len && pair.side[1].len)
            st = take(c, &pair, err);
    }
    rela_reader_close(r[0]);
    rela_reader_close(r[1]);
    return st;
}

static bool is_same(const line_pair *p)
{
    return p->side[0].len == p->side[1].len &&
           memcmp(p->side[0].text, p->side[1].text, p->side[0].len) == 0;
}

static rela_status take_valid(compared *c, const line_pair *pair, rela_error *err)
{
    const uint64_t hash = rela_pair_hash(pair->side[0], pair->side[1]);
    c->valid_lines++;
    c->valid_same += is_same(pair);
    return rela_map_add(c->pairs, (const char *)&hash, sizeof hash) == RELA_MAP_NONE
               ? no_memory(err)
               : RELA_OK;
}

static rela_status take_train(compared *c, const line_pair *pair, rela_error *err)
{
    const uint64_t hash = rela_pair_hash(pair->side[0], pair->side[1]);
    const uint32_t number = rela_map_find(c->pairs, (const char *)&hash, sizeof hash);
    const bool words = c->o->valid_src && c->lines < WORD_LINES;
    rela_status st = RELA_OK;
    if (number != RELA_MAP_NONE)
        c->known[number] = true;
    c->same += is_same(pair);
    c->lines++;
    for (size_t i = 0; i < 2 && words && st == RELA_OK; i++)
        st = keep_words(c, i, pair->side[i], err);
    return st;
}

static rela_status keep_words(compared *c, size_t side, rela_span line, rela_error *err)
{
    rela_map *words = c->words[side];
    const char *at = line.text;
    for (rela_span word; rela_next_word(&word, &at, line.text + line.len); c->read[side]++) {
        const size_t before = rela_map_size(words);
        const uint32_t number = rela_map_add(words, word.text, word.len);
        if (number == RELA_MAP_NONE)
            return no_memory(err);
        c->found[side] += number < before;
    }
    return RELA_OK;
}

static rela_status take_words(compared *c, const line_pair *pair, rela_error *err)
{
    (void)err;
    for (size_t i = 0; i < 2; i++) {
        const char *at = pair->side[i].text, *end = at + pair->side[i].len;
        for (rela_span word; rela_next_word(&word, &at, end); c->seen[i]++)
            for (size_t k = 0; k < 2; k++)
                c->fits[i][k] += rela_map_find(c->words[k], word.text, word.len) != RELA_MAP_NONE;
    }
    return RELA_OK;
}

static double share(uint64_t n, uint64_t of)
{
    return of ? (double)n / (double)of : 0;
}

static rela_status report(rela_buffer *out, const compared *c, rela_error *err)
{
    const rela_train_options *o = c->o;
    const size_t n_pairs = rela_map_size(c->pairs);
    const double same = share(c->same, c->lines), valid_same = share(c->valid_same, c->valid_lines);
    char counts[2][RELA_GROUPED_SIZE];
    uint64_t n_known = 0;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n_pairs; i++)
        n_known += c->known[i];
    if (same > SAME_SHARE)
        st = rela_buffer_printf(out, err,
                                "%s and %s: %.0f %% of the lines are the same on both sides; is "
                                "one of them the wrong file?\n",
                                o->train_src, o->train_tgt, 100 * same);
    else if (valid_same > SAME_SHARE)
        st = rela_buffer_printf(out, err,
                                "%s and %s: %.0f %% of the lines are the same on both sides; is "
                                "one of them the wrong file?\n",
                                o->valid_src, o->valid_tgt, 100 * valid_same);
    else if (c->valid_lines)
        st = report_words(out, c, err);
    if (st == RELA_OK && share(n_known, n_pairs) > KNOWN_SHARE)
        st = rela_buffer_printf(out, err,
                                "%s of %s validation pairs are in the training text too, so they "
                                "do not show how good the model is\n",
                                rela_grouped(counts[0], n_known), rela_grouped(counts[1], n_pairs));
    return st;
}

/* Whether the sides of the validation text are swapped, or one is in another language. */
static rela_status report_words(rela_buffer *out, const compared *c, rela_error *err)
{
    const rela_train_options *o = c->o;
    const char *const valid[2] = { o->valid_src, o->valid_tgt };
    const char *const train[2] = { o->train_src, o->train_tgt };
    double fits[2][2];
    rela_status st = RELA_OK;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++)
            fits[i][k] = share(c->fits[i][k], c->seen[i]);
    const double swapped = fits[0][1] + fits[1][0], straight = fits[0][0] + fits[1][1];
    if (swapped > straight + 2 * SWAPPED_MARGIN)
        return rela_buffer_printf(out, err,
                                  "the sides of the validation text seem to be swapped: %.0f %% of "
                                  "the words of %s are in %s, %.0f %% in %s\n",
                                  100 * fits[0][1], valid[0], train[1], 100 * fits[0][0], train[0]);
    for (size_t i = 0; i < 2 && st == RELA_OK && c->lines >= LEAST_LINES; i++)
        if (fits[i][i] < OTHER_LANGUAGE * share(c->found[i], c->read[i]))
            st = rela_buffer_printf(out, err,
                                    "only %.0f %% of the words of %s are in %s; is it the right "
                                    "language?\n",
                                    100 * fits[i][i], valid[i], train[i]);
    return st;
}
