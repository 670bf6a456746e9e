/* SPDX-License-Identifier: MIT */
/* tests/unit/test_file_lines.c - lines and blocks of plain input: ends, marks, limits, streaming.
 *
 * Every table is read line by line and in blocks, with reads of several sizes: all ways must
 * give the same lines. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

enum { LINES_MAX = 8 };

typedef struct row {
    const char *bytes;
    size_t len;
    const char *lines[LINES_MAX]; /* NULL after the last */
} row;

#define BYTES(s) s, sizeof s - 1
#define MARK     "\xEF\xBB\xBF"

static const row ROWS[] = {
    { BYTES(""), { NULL } },
    { BYTES("\n"), { "" } },
    { BYTES("\n\n"), { "", "" } },
    { BYTES("a"), { "a" } },
    { BYTES("a\n"), { "a" } },
    { BYTES("a\nb"), { "a", "b" } },
    { BYTES("a\n\nb\n"), { "a", "", "b" } },
    { BYTES("a\r\nb\r\n"), { "a", "b" } },
    { BYTES("a\rb\n"), { "a\rb" } },
    { BYTES("a\r\r\nb"), { "a\r", "b" } },
    { BYTES("\r\n\r\n"), { "", "" } },
    { BYTES("a\r"), { "a" } }, /* the missing LF counts as there */
    { BYTES("\r"), { "" } },
    { BYTES(MARK), { NULL } },
    { BYTES(MARK "a\n"), { "a" } },
    { BYTES(MARK "\n"), { "" } },
    { BYTES(MARK MARK "a"), { MARK "a" } },
    { BYTES("a\n" MARK "b\n"), { "a", MARK "b" } },
    { BYTES("\n" MARK "b\n"), { "", MARK "b" } },
    { BYTES("\xEF\xBB"), { "\xEF\xBB" } },
    { BYTES("\xEF\n\xBB\xBFx"), { "\xEF", "\xBB\xBFx" } },
    { BYTES("a\xE2\x80\xA8"
            "b\v\f\xC2\x85"
            "c\n"),
      { "a\xE2\x80\xA8"
        "b\v\f\xC2\x85"
        "c" } },
    { BYTES("\x1F\n"), { "\x1F" } },                 /* begins like gzip */
    { BYTES("\x28\xB5\x2F\n"), { "\x28\xB5\x2F" } }, /* begins like zstd */
    { BYTES("(a)\n"), { "(a)" } },
};

static void check_line(const char *got, size_t len, const row *r, size_t n, const char *how)
{
    CHECK(n < LINES_MAX && r->lines[n], "%s: '%s' has a line %zu too many: %.*s", how, r->bytes,
          n + 1, (int)len, got);
    CHECK(len == strlen(r->lines[n]) && memcmp(got, r->lines[n], len) == 0,
          "%s: '%s' line %zu is '%.*s'", how, r->bytes, n + 1, (int)len, got);
}

static void check_by_line(const row *r)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *reader = NULL;
    rela_line line;
    size_t n = 0;
    CHECK_OK(rela_reader_open(&reader, scratch("rows"), NULL, &err), err);
    for (;; n++) {
        CHECK_OK(rela_reader_line(reader, &line, &err), err);
        if (!line.text)
            break;
        check_line(line.text, line.len, r, n, "by line");
        CHECK(line.number == n + 1 && !line.too_long, "number %d", (int)line.number);
    }
    CHECK(rela_reader_had_mark(reader) == (r->len >= 3 && memcmp(r->bytes, MARK, 3) == 0),
          "'%s': mark %d", r->bytes, rela_reader_had_mark(reader));
    CHECK(!r->lines[n], "'%s': only %zu lines", r->bytes, n);
    CHECK_OK(rela_reader_line(reader, &line, &err), err); /* the end stays the end */
    assert_null(line.text);
    assert_int_equal(rela_reader_position(reader), r->len);
    rela_reader_close(reader);
}

static void check_by_block(const row *r, size_t want)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *reader = NULL;
    rela_buffer block = RELA_BUFFER_INIT;
    size_t n = 0;
    uint64_t first = 0;
    CHECK_OK(rela_reader_open(&reader, scratch("rows"), NULL, &err), err);
    for (;;) {
        CHECK_OK(rela_reader_block(reader, &block, &first, want, &err), err);
        if (block.len == 0)
            break;
        assert_int_equal(first, n + 1);
        CHECK(block.data[block.len - 1] == '\n', "a block without a line end");
        const char *at = block.data, *end = at + block.len;
        for (rela_span line; rela_next_line(&line, &at, end); n++)
            check_line(line.text, line.len, r, n, "by block");
    }
    CHECK(!r->lines[n], "'%s': only %zu lines in blocks of %zu", r->bytes, n, want);
    rela_buffer_free(&block);
    rela_reader_close(reader);
}

static void all_ways_of_reading_give_the_same_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        (void)spill("rows", ROWS[i].bytes, ROWS[i].len);
        for (uint32_t bytes = 0; bytes < 5; bytes++) {
            rela_fault_set_short(bytes);
            check_by_line(&ROWS[i]);
            check_by_block(&ROWS[i], 0);
            check_by_block(&ROWS[i], 3);
            check_by_block(&ROWS[i], 1 << 18);
        }
    }
    rela_fault_set_short(0);
}

static void nul_is_data(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    rela_buffer block = RELA_BUFFER_INIT;
    uint64_t first = 0;
    (void)spill("nul", "a\0b\n\0\n", 6);
    CHECK_OK(rela_reader_open(&r, scratch("nul"), NULL, &err), err);
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    CHECK(line.len == 3 && memcmp(line.text, "a\0b", 3) == 0, "%zu bytes", line.len);
    CHECK_OK(rela_reader_block(r, &block, &first, 100, &err), err);
    CHECK(first == 2 && block.len == 2 && memcmp(block.data, "\0\n", 2) == 0, "%zu", block.len);
    rela_buffer_free(&block);
    rela_reader_close(r);
}

/* n letters and whether that is too long for max_line 10; each line ends in CR LF or LF. */
static const struct {
    size_t n;
    bool too_long;
} LENGTHS[] = { { 9, false }, { 10, false }, { 11, true },  { 0, false },
                { 3, false }, { 999, true }, { 10, false }, { 12, true } };

enum { N_LENGTHS = sizeof LENGTHS / sizeof LENGTHS[0] };

static void spill_lengths(const char *end, bool last_end)
{
    char text[4096];
    size_t len = 0;
    for (size_t i = 0; i < N_LENGTHS; i++) {
        memset(text + len, (int)('a' + i), LENGTHS[i].n);
        len += LENGTHS[i].n;
        if (i + 1 < N_LENGTHS || last_end) {
            memcpy(text + len, end, strlen(end));
            len += strlen(end);
        }
    }
    (void)spill("lengths", text, len);
}

static void check_lengths(const char *how)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    const rela_reader_options options = { .max_line = 10 };
    CHECK_OK(rela_reader_open(&r, scratch("lengths"), &options, &err), err);
    for (size_t i = 0; i < N_LENGTHS; i++) {
        CHECK_OK(rela_reader_line(r, &line, &err), err);
        const size_t want = LENGTHS[i].too_long ? 10 : LENGTHS[i].n;
        CHECK(line.too_long == LENGTHS[i].too_long && line.len == want && line.number == i + 1,
              "%s: line %zu: %d, %zu bytes", how, i + 1, line.too_long, line.len);
        for (size_t j = 0; j < line.len; j++)
            CHECK(line.text[j] == (char)('a' + i), "%s: line %zu byte %zu", how, i + 1, j);
    }
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    assert_null(line.text);
    rela_reader_close(r);
}

static void too_long_lines_are_cut_and_the_next_is_whole(void **state)
{
    (void)state;
    for (uint32_t bytes = 0; bytes < 4; bytes++) {
        rela_fault_set_short(bytes);
        spill_lengths("\n", true);
        check_lengths("LF");
        spill_lengths("\r\n", true);
        check_lengths("CR LF");
        spill_lengths("\n", false);
        check_lengths("no end");
    }
    rela_fault_set_short(0);
}

static void a_block_stops_before_a_line_that_is_too_long(void **state)
{
    (void)state;
    for (uint32_t bytes = 0; bytes < 4; bytes++) {
        rela_error err = { RELA_OK, "" };
        rela_reader *r = NULL;
        rela_buffer block = RELA_BUFFER_INIT;
        uint64_t first = 0;
        const rela_reader_options options = { .max_line = 10 };
        spill_lengths("\r\n", true);
        rela_fault_set_short(bytes);
        CHECK_OK(rela_reader_open(&r, scratch("lengths"), &options, &err), err);
        CHECK_OK(rela_reader_block(r, &block, &first, 1 << 16, &err), err);
        assert_int_equal(block.len, 9 + 10 + 4);
        assert_int_equal(rela_reader_block(r, &block, &first, 1 << 16, &err), RELA_FORMAT);
        CHECK(strstr(err.message, "lengths: line 3: "), "%s", err.message);
        CHECK(strstr(err.message, "10 bytes"), "%s", err.message);
        rela_buffer_free(&block);
        rela_reader_close(r);
    }
    rela_fault_set_short(0);
}

static void a_huge_line_is_never_held_whole(void **state)
{
    (void)state;
    enum { HUGE_LINE = 5 << 20 };
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    rela_memory_stats before, after;
    char *text = malloc(HUGE_LINE + 6);
    CHECK(text, "no memory");
    memset(text, 'x', HUGE_LINE);
    memcpy(text + HUGE_LINE, "\nnext\n", 6);
    (void)spill("huge", text, HUGE_LINE + 6);
    free(text);
    const rela_reader_options options = { .max_line = 1000 };
    CHECK_OK(rela_reader_open(&r, scratch("huge"), &options, &err), err);
    before = memory_now();
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    CHECK(line.too_long && line.len == 1000 && line.text[999] == 'x', "%zu bytes", line.len);
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    CHECK(line.len == 4 && memcmp(line.text, "next", 4) == 0 && line.number == 2, "%zu", line.len);
    after = memory_now();
    CHECK(after.peak < before.live + (2 << 20), "peak %llu", (unsigned long long)after.peak);
    rela_reader_close(r);
}

static void lines_that_cross_reads_are_whole(void **state)
{
    (void)state;
    enum { N = 40 };
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    size_t len = 0, cap = 4 << 20;
    char *text = malloc(cap);
    CHECK(text, "no memory");
    for (size_t i = 0; i < N; i++) { /* lengths around the sizes of the buffers */
        const size_t n = i % 4 == 0 ? 262144 + i - 20 : i * 1000;
        memset(text + len, (int)('a' + i % 26), n);
        len += n;
        text[len++] = '\n';
    }
    (void)spill("cross", text, len);
    free(text);
    CHECK_OK(rela_reader_open(&r, scratch("cross"), NULL, &err), err);
    for (size_t i = 0; i < N; i++) {
        CHECK_OK(rela_reader_line(r, &line, &err), err);
        const size_t n = i % 4 == 0 ? 262144 + i - 20 : i * 1000;
        CHECK(line.len == n, "line %zu has %zu bytes", i, line.len);
        for (size_t j = 0; j < n; j++)
            CHECK(line.text[j] == (char)('a' + i % 26), "line %zu byte %zu", i, j);
    }
    rela_reader_close(r);
}

static void bytes_go_on_where_lines_stopped(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    char rest[32];
    size_t got = 0;
    (void)spill_text("mixed", "one\ntwo\nthree");
    CHECK_OK(rela_reader_open(&r, scratch("mixed"), NULL, &err), err);
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    CHECK_OK(rela_reader_bytes(r, rest, 2, &got, &err), err);
    CHECK(got == 2 && memcmp(rest, "tw", 2) == 0, "%zu", got);
    CHECK_OK(rela_reader_bytes(r, rest, sizeof rest, &got, &err), err);
    CHECK(got == 7 && memcmp(rest, "o\nthree", 7) == 0, "%zu", got);
    CHECK_OK(rela_reader_bytes(r, rest, sizeof rest, &got, &err), err);
    assert_int_equal(got, 0);
    rela_reader_close(r);
}

/* A child writes a line to a pipe and keeps it open until told to end. */
static void a_line_is_delivered_as_soon_as_it_is_there(void **state)
{
    (void)state;
    for (int by_block = 0; by_block < 2; by_block++) {
        int go[2];
        const char *fifo = scratch("fifo");
        (void)unlink(fifo);
        CHECK(mkfifo(fifo, 0600) == 0 && pipe(go) == 0, "no pipe");
        const pid_t child = fork();
        if (child == 0) {
            char c = 0;
            (void)close(go[1]); /* so that it ends with its parent */
            FILE *f = fopen(fifo, "w");
            (void)!(f && fputs("a\n", f) >= 0 && fflush(f) == 0 && read(go[0], &c, 1) == 1 &&
                    fputs("bc\n", f) >= 0 && fclose(f) == 0);
            _exit(0);
        }
        (void)alarm(20); /* a reader that waits for more than the line would hang */
        rela_error err = { RELA_OK, "" };
        rela_reader *r = NULL;
        rela_line line = { .len = 0 };
        rela_buffer block = RELA_BUFFER_INIT;
        uint64_t first = 0;
        CHECK_OK(rela_reader_open(&r, fifo, NULL, &err), err);
        CHECK_OK(by_block ? rela_reader_block(r, &block, &first, 1 << 18, &err)
                          : rela_reader_line(r, &line, &err),
                 err);
        CHECK(by_block ? block.len == 2 : line.len == 1, "%zu bytes", block.len);
        CHECK(write(go[1], "g", 1) == 1, "cannot tell the child");
        CHECK_OK(by_block ? rela_reader_block(r, &block, &first, 1 << 18, &err)
                          : rela_reader_line(r, &line, &err),
                 err);
        CHECK(by_block ? block.len == 3 : line.len == 2, "%zu bytes", block.len);
        assert_int_equal(rela_reader_size(r), 0);
        (void)alarm(0);
        rela_buffer_free(&block);
        rela_reader_close(r);
        (void)waitpid(child, NULL, 0);
        (void)close(go[0]);
        (void)close(go[1]);
    }
}

static void ignore(int number)
{
    (void)number;
}

static void an_interrupted_read_goes_on(void **state)
{
    (void)state;
    const struct sigaction action = { .sa_handler = ignore }; /* no SA_RESTART */
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction");
    const char *fifo = scratch("slow");
    CHECK(mkfifo(fifo, 0600) == 0, "no pipe");
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        const int fd = open(fifo, O_WRONLY);
        for (int i = 0; i < 30; i++) {
            (void)usleep(2000);
            (void)kill(parent, SIGUSR1);
        }
        (void)!write(fd, "late\n", 5);
        _exit(0);
    }
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    CHECK_OK(rela_reader_open(&r, fifo, NULL, &err), err);
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    CHECK(line.text && line.len == 4, "%zu bytes", line.len);
    rela_reader_close(r);
    (void)waitpid(child, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways_of_reading_give_the_same_lines),
        cmocka_unit_test(nul_is_data),
        cmocka_unit_test(too_long_lines_are_cut_and_the_next_is_whole),
        cmocka_unit_test(a_block_stops_before_a_line_that_is_too_long),
        cmocka_unit_test(a_huge_line_is_never_held_whole),
        cmocka_unit_test(lines_that_cross_reads_are_whole),
        cmocka_unit_test(bytes_go_on_where_lines_stopped),
        cmocka_unit_test(a_line_is_delivered_as_soon_as_it_is_there),
        cmocka_unit_test(an_interrupted_read_goes_on),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
