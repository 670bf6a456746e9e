/* SPDX-License-Identifier: MIT */
/* tests/unit/test_builtin.c - the files of the built-in corpus: sizes, parts that do not overlap,
 * threads, failures. */
#include "scratch.h"

#include "base/fault.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "grammar/builtin_corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const PARTS[] = { "train", "valid", "test" };
static const char *const FILES[] = { "src", "tgt", "align", "src.upos", "tgt.upos" };
enum { N_FILES = sizeof FILES / sizeof FILES[0] };

static void path_of(char *out, size_t size, int part, int file)
{
    (void)snprintf(out, size, "%s/%s.%s", scratch_dir, PARTS[part], FILES[file]);
}

/* Removes the files of the corpus; returns how many other names there are. */
static size_t empty_dir(void)
{
    for (int i = 0; i < 3 * N_FILES; i++) {
        char path[SCRATCH_PATH];
        path_of(path, sizeof path, i / N_FILES, i % N_FILES);
        (void)unlink(path);
    }
    return count_files(scratch_dir, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    (void)empty_dir();
    return rmdir(scratch_dir);
}

static rela_corpus_make_options options(uint64_t train, uint64_t valid, uint64_t test)
{
    return (rela_corpus_make_options){
        .dir = scratch_dir, .train = train, .valid = valid, .test = test, .seed = 1
    };
}

static void make(rela_corpus_made *made, const rela_corpus_make_options *o)
{
    rela_error err;
    CHECK_OK(rela_corpus_make(made, o, &err), err);
}

static char *read_part(int part, int file, size_t *len)
{
    rela_error err;
    char path[SCRATCH_PATH], *text = NULL;
    path_of(path, sizeof path, part, file);
    CHECK_OK(rela_file_read(&text, len, path, 0, &err), err);
    return text;
}

static uint64_t count_lines(int part, int file)
{
    size_t len = 0;
    char *text = read_part(part, file, &len);
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += text[i] == '\n';
    rela_mem_free(text);
    return n;
}

static void every_size_has_as_many_lines(void **state)
{
    (void)state;
    static const uint64_t SIZES[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 2 }, { 1300, 7, 9 } };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        rela_corpus_made made;
        const rela_corpus_make_options o = options(SIZES[i][0], SIZES[i][1], SIZES[i][2]);
        make(&made, &o);
        for (int part = 0; part < 3; part++)
            for (int file = 0; file < 3; file++)
                CHECK(count_lines(part, file) == SIZES[i][part] &&
                          made.pairs[part] == SIZES[i][part],
                      "size %zu: %s.%s", i, PARTS[part], FILES[file]);
    }
}

static void result_does_not_depend_on_threads(void **state)
{
    (void)state;
    char *want[3 * N_FILES];
    size_t len[3 * N_FILES];
    rela_corpus_made first, again;
    rela_corpus_make_options o = options(3000, 50, 50);
    o.n_threads = 1;
    make(&first, &o);
    for (int i = 0; i < 3 * N_FILES; i++)
        want[i] = read_part(i / N_FILES, i % N_FILES, &len[i]);
    o.n_threads = 3;
    make(&again, &o);
    assert_memory_equal(&first, &again, sizeof first);
    for (int i = 0; i < 3 * N_FILES; i++) {
        size_t n = 0;
        char *got = read_part(i / N_FILES, i % N_FILES, &n);
        CHECK(n == len[i] && memcmp(got, want[i], n) == 0, "file %d differs", i);
        rela_mem_free(got);
    }
    o.train = 1000; /* a smaller corpus is the beginning of a larger one */
    make(&again, &o);
    size_t n = 0;
    char *got = read_part(0, 0, &n);
    CHECK(n < len[0] && memcmp(got, want[0], n) == 0, "1000 pairs are not the first of 3000");
    rela_mem_free(got);
    o.seed = 2;
    make(&again, &o);
    got = read_part(0, 0, &n);
    CHECK(memcmp(got, want[0], 100) != 0, "another seed gives the same text");
    rela_mem_free(got);
    for (int i = 0; i < 3 * N_FILES; i++)
        rela_mem_free(want[i]);
}

/* Adds each line; lines of later parts must be new if they are held out. */
static void add_lines(rela_map *seen, int part, int file, bool must_be_new)
{
    size_t len = 0;
    char *text = read_part(part, file, &len);
    const char *at = text, *end = text + len;
    rela_span line;
    while (rela_next_line(&line, &at, end)) {
        const size_t before = rela_map_size(seen);
        CHECK(rela_map_add(seen, line.text, line.len) != RELA_MAP_NONE, "no memory");
        CHECK(!must_be_new || rela_map_size(seen) > before, "%s: '%.*s' occurs twice", PARTS[part],
              (int)line.len, line.text);
    }
    rela_mem_free(text);
}

static void held_out_sentences_occur_nowhere_else(void **state)
{
    (void)state;
    rela_corpus_made made;
    const rela_corpus_make_options o = options(20000, 500, 500);
    make(&made, &o);
    for (int side = 0; side < 2; side++) {
        rela_map *seen = rela_map_create(0);
        assert_non_null(seen);
        add_lines(seen, 0, side, false);
        add_lines(seen, 1, side, true);
        add_lines(seen, 2, side, true);
        rela_map_destroy(seen);
    }
}

static void files_are_replaced_or_left_alone(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_corpus_made made;
    rela_corpus_make_options o = options(10, 1, 1);
    make(&made, &o);
    o.train = 20;
    make(&made, &o);
    assert_int_equal(count_lines(0, 0), 20);
    o.dir = "";
    assert_int_equal(rela_corpus_make(&made, &o, &err), RELA_ARG);
    assert_int_equal(count_lines(0, 0), 20);
}

static int stop_soon(void *ctx, uint64_t done, uint64_t total)
{
    (void)ctx;
    return done > total / 2;
}

static void progress_can_stop_the_run(void **state)
{
    (void)state;
    rela_corpus_made made;
    rela_corpus_make_options o = options(5000, 1, 1);
    o.progress = stop_soon;
    (void)empty_dir();
    assert_int_equal(rela_corpus_make(&made, &o, NULL), RELA_CANCEL);
    char path[SCRATCH_PATH];
    path_of(path, sizeof path, 0, 0);
    CHECK(!rela_file_exists(path), "a part of a file has its final name");
    CHECK(empty_dir() == 0, "a temporary file is left");
}

static void statistics_as_table_and_json(void **state)
{
    (void)state;
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    const rela_corpus_made made = { { 80, 10, 10 }, { 1000, 900 }, { 50, 60 }, { 30, 31 },
                                    { 20, 45 },     800,           40,         200 };
    CHECK_OK(rela_corpus_made_table(&text, &made, &err), err);
    CHECK(strstr(text.data, "train 80, valid 10, test 10") && strstr(text.data, "25.00 %") &&
              strstr(text.data, "10.00         9.00"),
          "%s", text.data);
    rela_buffer_free(&text);
    CHECK_OK(rela_corpus_made_json(&text, &made, &err), err);
    assert_string_equal(text.data,
                        "{\"train\": 80, \"valid\": 10, \"test\": 10, \"words\": [1000, 900], "
                        "\"types\": [50, 60], \"longest\": [30, 31], \"unaligned\": [20, 45], "
                        "\"links\": 800, \"possible\": 40, \"crossing\": 200}\n");
    rela_buffer_free(&text);
}

static void reports_survive_failing_memory(void **state)
{
    (void)state;
    const rela_corpus_made made = { .links = 1 };
    for (int json = 0; json < 2; json++) {
        rela_status st = RELA_NOMEM;
        for (uint64_t n = 1; st != RELA_OK; n++) {
            rela_error err = { RELA_OK, "" };
            rela_buffer text = RELA_BUFFER_INIT;
            rela_fault_set(RELA_FAULT_MEM, n, true);
            st = json ? rela_corpus_made_json(&text, &made, &err)
                      : rela_corpus_made_table(&text, &made, &err);
            rela_fault_set(RELA_FAULT_MEM, 0, false);
            CHECK(st == RELA_OK || (st == RELA_NOMEM && *err.message), "%d: %d", json, (int)st);
            rela_buffer_free(&text);
        }
    }
}

static void every_failing_call_is_survived(void **state)
{
    (void)state;
    for (int c = 0; c < RELA_FAULT_N_CLASSES; c++)
        for (int persistent = 0; persistent < 2; persistent++)
            for (uint64_t n = 1;; n++) {
                rela_error err = { RELA_OK, "" };
                rela_memory_stats before, after;
                rela_corpus_made made;
                rela_corpus_make_options o = options(3, 2, 2);
                o.n_threads = 1 + (int32_t)(n % 2);
                before = memory_now();
                rela_fault_set((rela_fault_class)c, n, persistent);
                const rela_status st = rela_corpus_make(&made, &o, &err);
                const uint64_t seen = rela_fault_seen((rela_fault_class)c);
                rela_fault_set((rela_fault_class)c, 0, false);
                after = memory_now();
                CHECK(after.live == before.live, "class %d n %d: leak", c, (int)n);
                CHECK(st == RELA_OK || *err.message, "class %d n %d: no message", c, (int)n);
                CHECK(empty_dir() == 0, "class %d n %d: a temporary file is left", c, (int)n);
                if (seen < n) {
                    CHECK(st == RELA_OK, "class %d n %d: %s", c, (int)n, err.message);
                    break;
                }
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_has_as_many_lines),
        cmocka_unit_test(result_does_not_depend_on_threads),
        cmocka_unit_test(held_out_sentences_occur_nowhere_else),
        cmocka_unit_test(files_are_replaced_or_left_alone),
        cmocka_unit_test(progress_can_stop_the_run),
        cmocka_unit_test(statistics_as_table_and_json),
        cmocka_unit_test(reports_survive_failing_memory),
        cmocka_unit_test(every_failing_call_is_survived),
    };
    return cmocka_run_group_tests(tests, scratch_make, tear_down);
}
