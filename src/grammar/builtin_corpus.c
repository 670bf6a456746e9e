/* SPDX-License-Identifier: MIT */
/* src/grammar/builtin_corpus.c - see builtin_corpus.h. Validation and test come first and are
 * remembered; training sentences equal to one of them are sampled again. */
#include "grammar/builtin_corpus.h"

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/par.h"
#include "grammar/grammar.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

enum { BLOCK_PAIRS = 512, TRIES = 100000 };
enum { FILE_SRC, FILE_TGT, FILE_ALIGN, FILE_SRC_POS, FILE_TGT_POS, N_FILES };
enum { PART_TRAIN, PART_VALID, PART_TEST, N_PARTS };

static const char *const PART_NAME[N_PARTS] = { "train", "valid", "test" };
static const char *const FILE_NAME[N_FILES] = { "src", "tgt", "align", "src.upos", "tgt.upos" };

/* Working memory of one thread. */
typedef struct block {
    rela_builtin_pair example;
    uint64_t first;
    uint32_t n;
    uint64_t hash[2]; /* of the two sides of the last pair */
    rela_buffer text[N_FILES];
    rela_corpus_made made;
    rela_map *types[2];
} block;

typedef struct job {
    const rela_corpus_make_options *o;
    rela_file_set *set;
    rela_writer *writer[N_PARTS][N_FILES];
    rela_map *held_out; /* hashes of both sides of validation and test */
    uint64_t next, done;
} job;

static rela_status open_files(job *j, rela_error *err);
static rela_status make_all(rela_corpus_made *out, job *j, void **blocks, int n, rela_error *err);
static rela_status make_held_out(job *j, block *b, int part, rela_error *err);
static rela_status read_block(void *ctx, void *b, bool *more, rela_error *err);
static rela_status work_block(void *ctx, void *b, int thread, rela_error *err);
static rela_status write_block(void *ctx, void *b, rela_error *err);
static rela_status sample_new(const job *j, block *b, uint64_t number, rela_error *err);
static rela_status write_texts(job *j, const block *b, int part, uint64_t n, rela_error *err);
static rela_status count(block *b, rela_error *err);
static uint64_t count_crossing(const rela_builtin_pair *e);
static rela_status add_up(rela_corpus_made *out, void **blocks, int n, rela_error *err);
static void **make_blocks(int n);
static void free_blocks(void **blocks, int n);

rela_status rela_corpus_make(rela_corpus_made *out, const rela_corpus_make_options *o,
                             rela_error *err)
{
    rela_status st = RELA_OK;
    job j = { .o = o };
    const int n = rela_par_threads(o->n_threads);
    void **blocks = make_blocks(n);
    *out = (rela_corpus_made){ .links = 0 };
    j.held_out = blocks ? rela_map_create(0) : NULL;
    if (!j.held_out)
        st = rela_fail(err, RELA_NOMEM, "no memory for %d threads", n);
    if (st == RELA_OK)
        st = open_files(&j, err);
    if (st == RELA_OK)
        st = make_all(out, &j, blocks, n, err);
    for (int part = 0; part < N_PARTS; part++)
        for (int file = 0; file < N_FILES; file++)
            st = rela_writer_finish(j.writer[part][file], st, err);
    st = rela_file_set_finish(j.set, st, err);
    rela_map_destroy(j.held_out);
    free_blocks(blocks, n);
    return st;
}

rela_status rela_corpus_made_table(rela_buffer *out, const rela_corpus_made *made, rela_error *err)
{
    double share[2], mean[2];
    const uint64_t n = made->pairs[0] + made->pairs[1] + made->pairs[2];
    for (int side = 0; side < 2; side++) {
        const uint64_t words = made->words[side];
        share[side] = words ? 100.0 * (double)made->unaligned[side] / (double)words : 0;
        mean[side] = n ? (double)words / (double)n : 0;
    }
    const double links = made->links ? (double)made->links : 1;
    const uint64_t counts[] = { made->pairs[0],   made->pairs[1], made->pairs[2], made->words[0],
                                made->words[1],   made->types[0], made->types[1], made->longest[0],
                                made->longest[1], made->links };
    char text[sizeof counts / sizeof counts[0]][RELA_GROUPED_SIZE];
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        (void)rela_grouped(text[i], counts[i]);
    return rela_buffer_printf(out, err,
                              "pairs                        train %s, valid %s, test %s\n\n"
                              "                                   source       target\n"
                              "words                        %12s %12s\n"
                              "different words              %12s %12s\n"
                              "mean length                  %12.2f %12.2f\n"
                              "longest                      %12s %12s\n"
                              "words without a link         %10.2f %% %10.2f %%\n\n"
                              "links                        %12s\n"
                              "only possible (not sure) links %8.2f %%\n"
                              "crossing another link        %10.2f %%\n",
                              text[0], text[1], text[2], text[3], text[4], text[5], text[6],
                              mean[0], mean[1], text[7], text[8], share[0], share[1], text[9],
                              100.0 * (double)made->possible / links,
                              100.0 * (double)made->crossing / links);
}

rela_status rela_corpus_made_json(rela_buffer *out, const rela_corpus_made *made, rela_error *err)
{
    return rela_buffer_printf(
        out, err,
        "{\"train\": %" PRIu64 ", \"valid\": %" PRIu64 ", \"test\": %" PRIu64
        ", \"words\": [%" PRIu64 ", %" PRIu64 "], \"types\": [%" PRIu64 ", %" PRIu64
        "], \"longest\": [%" PRIu32 ", %" PRIu32 "], \"unaligned\": [%" PRIu64 ", %" PRIu64
        "], \"links\": %" PRIu64 ", \"possible\": %" PRIu64 ", \"crossing\": %" PRIu64 "}\n",
        made->pairs[0], made->pairs[1], made->pairs[2], made->words[0], made->words[1],
        made->types[0], made->types[1], made->longest[0], made->longest[1], made->unaligned[0],
        made->unaligned[1], made->links, made->possible, made->crossing);
}

static rela_status open_files(job *j, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_dir_make(j->o->dir, err);
    st = st ? st : rela_file_set_create(&j->set, err);
    for (int part = 0; part < N_PARTS && st == RELA_OK; part++)
        for (int file = 0; file < N_FILES && st == RELA_OK; file++) {
            rela_buffer_clear(&path);
            st = rela_buffer_printf(&path, err, "%s/%s.%s", j->o->dir, PART_NAME[part],
                                    FILE_NAME[file]);
            if (st == RELA_OK)
                st = rela_writer_open_in(&j->writer[part][file], j->set, path.data, err);
        }
    rela_buffer_free(&path);
    return st;
}

static rela_status make_all(rela_corpus_made *out, job *j, void **blocks, int n, rela_error *err)
{
    rela_status st = make_held_out(j, blocks[0], PART_VALID, err);
    if (st == RELA_OK)
        st = make_held_out(j, blocks[0], PART_TEST, err);
    const rela_pipe pipe = { .read = read_block,
                             .work = work_block,
                             .write = write_block,
                             .ctx = j,
                             .blocks = blocks,
                             .n_threads = n };
    if (st == RELA_OK)
        st = rela_pipe_run(&pipe, err);
    if (st == RELA_OK)
        st = add_up(out, blocks, n, err);
    out->pairs[PART_TRAIN] = j->o->train;
    out->pairs[PART_VALID] = j->o->valid;
    out->pairs[PART_TEST] = j->o->test;
    return st;
}

static rela_status make_held_out(job *j, block *b, int part, rela_error *err)
{
    const uint64_t n = part == PART_VALID ? j->o->valid : j->o->test;
    rela_status st = RELA_OK;
    for (uint64_t i = 0; i < n && st == RELA_OK; i++) {
        for (int file = 0; file < N_FILES; file++)
            rela_buffer_clear(&b->text[file]);
        st = sample_new(j, b, (uint64_t)part << 56 | i, err);
        for (int side = 0; side < 2 && st == RELA_OK; side++)
            if (rela_map_add(j->held_out, (const char *)&b->hash[side], sizeof b->hash[side]) ==
                RELA_MAP_NONE)
                st = rela_fail(err, RELA_NOMEM, "no memory for the sentences to hold out");
        if (st == RELA_OK)
            st = count(b, err);
        if (st == RELA_OK)
            st = write_texts(j, b, part, 1, err);
    }
    return st;
}

static rela_status read_block(void *ctx, void *block_, bool *more, rela_error *err)
{
    job *j = ctx;
    block *b = block_;
    (void)err;
    b->first = j->next;
    b->n = (uint32_t)(j->o->train - j->next < BLOCK_PAIRS ? j->o->train - j->next : BLOCK_PAIRS);
    j->next += b->n;
    *more = b->n > 0;
    return RELA_OK;
}

static rela_status work_block(void *ctx, void *block_, int thread, rela_error *err)
{
    const job *j = ctx;
    block *b = block_;
    rela_status st = RELA_OK;
    (void)thread;
    for (int file = 0; file < N_FILES; file++)
        rela_buffer_clear(&b->text[file]);
    for (uint32_t i = 0; i < b->n && st == RELA_OK; i++) {
        st = sample_new(j, b, b->first + i, err);
        if (st == RELA_OK)
            st = count(b, err);
    }
    return st;
}

static rela_status write_block(void *ctx, void *block_, rela_error *err)
{
    block *b = block_;
    return write_texts(ctx, b, PART_TRAIN, b->n, err);
}

/* Appends the lines of a pair that is not held out. */
static rela_status sample_new(const job *j, block *b, uint64_t number, rela_error *err)
{
    const size_t start[2] = { b->text[0].len, b->text[1].len };
    rela_status st = RELA_OK;
    bool good = false;
    rela_builtin_pair_start(&b->example, j->o->seed, number);
    b->example.plan.easy = j->o->easy;
    b->example.reverse = j->o->reverse != 0;
    for (int tries = 0; tries < TRIES && !good && st == RELA_OK; tries++) {
        rela_builtin_pair_draw(&b->example);
        good = true;
        for (int side = 0; side < 2 && st == RELA_OK; side++) {
            rela_buffer *t = &b->text[side];
            t->len = start[side];
            if ((st = rela_builtin_pair_text(t, &b->example, side, j->o->tokenised, err)) !=
                RELA_OK)
                break;
            b->hash[side] = XXH3_64bits(t->data + start[side], t->len - start[side]);
            good = good && rela_map_find(j->held_out, (const char *)&b->hash[side],
                                         sizeof b->hash[side]) == RELA_MAP_NONE;
        }
    }
    if (st == RELA_OK && !good)
        return rela_fail(err, RELA_UNSUP, "no new sentence in %d tries; hold out fewer", TRIES);
    if (st == RELA_OK)
        st = rela_builtin_pair_links(&b->text[FILE_ALIGN], &b->example, err);
    for (int side = 0; side < 2 && st == RELA_OK; side++)
        st = rela_builtin_pair_pos(&b->text[FILE_SRC_POS + side], &b->example, side, err);
    for (int file = 0; file < N_FILES && st == RELA_OK; file++)
        st = rela_buffer_append_char(&b->text[file], '\n', err);
    return st;
}

static rela_status write_texts(job *j, const block *b, int part, uint64_t n, rela_error *err)
{
    const rela_corpus_make_options *o = j->o;
    rela_status st = RELA_OK;
    for (int file = 0; file < N_FILES && st == RELA_OK; file++)
        st = rela_writer_write(j->writer[part][file], b->text[file].data, b->text[file].len, err);
    j->done += n;
    const uint64_t total = o->train + o->valid + o->test;
    if (st == RELA_OK && o->progress && o->progress(o->progress_ctx, j->done, total) != 0)
        st = rela_fail(err, RELA_CANCEL, "writing was stopped");
    return st;
}

static rela_status count(block *b, rela_error *err)
{
    const rela_builtin_pair *e = &b->example;
    rela_corpus_made *m = &b->made;
    bool linked[2][WORDS_MAX] = { { false }, { false } };
    for (int i = 0; i < e->n_links; i++) {
        linked[0][e->link[i].from] = linked[1][e->link[i].to] = true;
        m->possible += e->link[i].possible;
    }
    m->links += (uint64_t)e->n_links;
    m->crossing += count_crossing(e);
    for (int side = 0; side < 2; side++) {
        const rela_phrase *l = &e->line[side];
        m->words[side] += (uint64_t)l->n;
        m->longest[side] = (uint32_t)l->n > m->longest[side] ? (uint32_t)l->n : m->longest[side];
        for (int i = 0; i < l->n; i++) {
            const char *text = l->token[i].text;
            m->unaligned[side] += !linked[side][i];
            if (rela_map_add(b->types[side], text, strlen(text)) == RELA_MAP_NONE)
                return rela_fail(err, RELA_NOMEM, "no memory to count the words");
        }
    }
    return RELA_OK;
}

static uint64_t count_crossing(const rela_builtin_pair *e)
{
    uint64_t n = 0;
    for (int i = 0; i < e->n_links; i++) {
        const rela_link_pair *a = &e->link[i];
        bool crosses = false;
        for (int k = 0; k < e->n_links && !crosses; k++)
            crosses = ((int)a->from - e->link[k].from) * ((int)a->to - e->link[k].to) < 0;
        n += crosses;
    }
    return n;
}

/* The sums do not depend on which thread had which pairs; the sets of words are merged. */
static rela_status add_up(rela_corpus_made *out, void **blocks, int n, rela_error *err)
{
    for (int i = 0; i < n; i++) {
        const block *b = blocks[i];
        const rela_corpus_made *m = &b->made;
        out->links += m->links;
        out->possible += m->possible;
        out->crossing += m->crossing;
        for (int side = 0; side < 2; side++) {
            rela_map *all = ((block *)blocks[0])->types[side];
            const rela_map *mine = b->types[side];
            out->words[side] += m->words[side];
            out->unaligned[side] += m->unaligned[side];
            if (m->longest[side] > out->longest[side])
                out->longest[side] = m->longest[side];
            for (uint32_t k = 0; i > 0 && k < rela_map_size(mine); k++) {
                const rela_span word = rela_map_key(mine, k);
                if (rela_map_add(all, word.text, word.len) == RELA_MAP_NONE)
                    return rela_fail(err, RELA_NOMEM, "no memory to count the words");
            }
            out->types[side] = rela_map_size(all);
        }
    }
    return RELA_OK;
}

static void **make_blocks(int n)
{
    void **blocks = rela_mem_zalloc((size_t)n * sizeof *blocks);
    for (int i = 0; i < n && blocks; i++) {
        block *b = blocks[i] = rela_mem_zalloc(sizeof *b);
        for (int side = 0; side < 2 && b; side++)
            b->types[side] = rela_map_create(0);
        if (!b || !b->types[0] || !b->types[1]) {
            free_blocks(blocks, n);
            return NULL;
        }
    }
    return blocks;
}

static void free_blocks(void **blocks, int n)
{
    for (int i = 0; i < n && blocks && blocks[i]; i++) {
        block *b = blocks[i];
        for (int file = 0; file < N_FILES; file++)
            rela_buffer_free(&b->text[file]);
        rela_map_destroy(b->types[0]);
        rela_map_destroy(b->types[1]);
        rela_mem_free(b);
    }
    rela_mem_free(blocks);
}
