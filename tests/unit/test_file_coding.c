/* SPDX-License-Identifier: MIT */
/* tests/unit/test_file_coding.c - compressed input: recognised by content, whole or an error. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "coded.h"
#include "scratch.h"

static const char TEXT[] = "the first line\nthe second line\n\xC3\xBC"
                           "ber alles\n\nlast";

enum { TEXT_LEN = sizeof TEXT - 1, N_TEXT_LINES = 5 };

typedef void adder(coded *c, const void *bytes, size_t len);
static adder *const CODERS[] = { coded_add_gzip, coded_add_zstd };
static const char *const CODER_NAMES[] = { "gzip", "zstd" };

enum { N_CODERS = 2 };

/* Reads the file and compares it with want; the status and the message are returned. */
static rela_status read_as(const char *name, const rela_reader_options *options, const void *want,
                           size_t want_len, rela_error *err)
{
    rela_reader *r = NULL;
    rela_status st = rela_reader_open(&r, scratch(name), options, err);
    static char bytes[1 << 16];
    size_t got = 1, len = 0;
    bool same = true;
    while (st == RELA_OK && got > 0) {
        st = rela_reader_bytes(r, bytes, sizeof bytes, &got, err);
        same = same && got <= want_len - len && memcmp(bytes, (const char *)want + len, got) == 0;
        len += got;
    }
    rela_reader_close(r);
    if (st == RELA_OK)
        CHECK(same && len == want_len, "%s: %zu bytes instead of %zu", name, len, want_len);
    return st;
}

static void check_text(const coded *c, const char *want, size_t want_len, const char *what)
{
    rela_error err = { RELA_OK, "" };
    (void)spill("coded", c->data, c->len);
    const rela_status st = read_as("coded", NULL, want, want_len, &err);
    CHECK(st == RELA_OK, "%s: %s", what, err.message);
}

static void check_refused(const coded *c, const char *reason, const char *what)
{
    rela_error err = { RELA_OK, "" };
    (void)spill("coded", c->data, c->len);
    const rela_status st = read_as("coded", NULL, "", 0, &err);
    CHECK(st == RELA_FORMAT && strstr(err.message, "coded: ") && strstr(err.message, reason),
          "%s: status %d, %s", what, (int)st, err.message);
}

static void the_content_decides_not_the_name(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "a.txt", "a.gz", "a.zst", "a" };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        for (int k = -1; k < N_CODERS; k++) {
            rela_error err = { RELA_OK, "" };
            coded c = { NULL, 0 };
            (k < 0 ? coded_add : CODERS[k])(&c, TEXT, TEXT_LEN);
            (void)spill(NAMES[i], c.data, c.len);
            CHECK(read_as(NAMES[i], NULL, TEXT, TEXT_LEN, &err) == RELA_OK, "%s", err.message);
            free(c.data);
        }
}

static void members_and_frames_are_joined(void **state)
{
    (void)state;
    for (int k = 0; k < N_CODERS; k++) {
        coded c = { NULL, 0 };
        CODERS[k](&c, "", 0); /* an empty one first */
        check_text(&c, "", 0, CODER_NAMES[k]);
        CODERS[k](&c, TEXT, 20);
        CODERS[k](&c, "", 0);
        CODERS[k](&c, TEXT + 20, TEXT_LEN - 20);
        CODERS[k](&c, "", 0);
        for (uint32_t bytes = 0; bytes < 4; bytes++) {
            rela_fault_set_short(bytes);
            check_text(&c, TEXT, TEXT_LEN, CODER_NAMES[k]);
        }
        rela_fault_set_short(0);
        free(c.data);
    }
}

static void skippable_frames_are_skipped(void **state)
{
    (void)state;
    coded c = { NULL, 0 };
    coded_add_skippable(&c, 100);
    check_text(&c, "", 0, "only a skippable frame");
    coded_add_zstd(&c, TEXT, 30);
    coded_add_skippable(&c, 0);
    coded_add_zstd(&c, TEXT + 30, TEXT_LEN - 30);
    coded_add_skippable(&c, 200);
    check_text(&c, TEXT, TEXT_LEN, "skippable frames between");
    c.len--;
    check_refused(&c, "cut off", "a cut skippable frame");
    free(c.data);
}

static void a_cut_anywhere_is_an_error(void **state)
{
    (void)state;
    for (int k = 0; k < N_CODERS; k++) {
        coded c = { NULL, 0 };
        CODERS[k](&c, TEXT, TEXT_LEN);
        const size_t n = c.len, magic = k == 0 ? 2 : 4;
        for (c.len = 0; c.len < n; c.len++)
            if (c.len < magic) /* not yet recognisable: plain bytes */
                check_text(&c, c.data, c.len, CODER_NAMES[k]);
            else
                check_refused(&c, "cut off", CODER_NAMES[k]);
        c.len = n;
        CODERS[k](&c, TEXT, TEXT_LEN);
        const size_t both = c.len;
        for (c.len = n + 1; c.len < both; c.len++) /* the second member */
            check_refused(&c, "", CODER_NAMES[k]);
        free(c.data);
    }
}

static void a_changed_bit_never_changes_the_text(void **state)
{
    (void)state;
    for (int k = 0; k < N_CODERS; k++) {
        coded c = { NULL, 0 };
        CODERS[k](&c, TEXT, TEXT_LEN);
        size_t found = 0;
        for (size_t i = k == 0 ? 2 : 4; i < c.len; i++) {
            rela_error err = { RELA_OK, "" };
            c.data[i] = (char)(c.data[i] ^ 1 << i % 8);
            (void)spill("coded", c.data, c.len);
            /* Equal text is fine: gzip has a time and a system in its header. */
            const rela_status st = read_as("coded", NULL, TEXT, TEXT_LEN, &err);
            CHECK(st == RELA_OK || st == RELA_FORMAT || st == RELA_NOMEM, "%s", err.message);
            found += st != RELA_OK;
            c.data[i] = (char)(c.data[i] ^ 1 << i % 8);
        }
        CHECK(found > c.len - 14, "%s: only %zu changes found", CODER_NAMES[k], found);
        free(c.data);
    }
}

static void a_wrong_checksum_is_an_error(void **state)
{
    (void)state;
    coded c = { NULL, 0 };
    coded_add_gzip(&c, TEXT, TEXT_LEN);
    c.data[c.len - 8] ^= 1; /* CRC */
    check_refused(&c, "incorrect data check", "gzip checksum");
    c.data[c.len - 8] ^= 1;
    c.data[c.len - 1] ^= 1; /* length */
    check_refused(&c, "incorrect length check", "gzip length");
    free(c.data);
    c = (coded){ NULL, 0 };
    coded_add_zstd(&c, TEXT, TEXT_LEN);
    c.data[c.len - 1] ^= 1;
    check_refused(&c, "checksum", "zstd checksum");
    free(c.data);
}

static void garbage_after_the_data_is_an_error(void **state)
{
    (void)state;
    static const char *const GARBAGE[] = { "x",    "\n",       "garbage\n",
                                           "\x1F", "\x1F\x8B", "\x28\xB5\x2F\xFD",
                                           "\x28" };
    for (int k = 0; k < N_CODERS; k++)
        for (size_t i = 0; i <= sizeof GARBAGE / sizeof GARBAGE[0]; i++) {
            coded c = { NULL, 0 };
            CODERS[k](&c, TEXT, TEXT_LEN);
            if (i < sizeof GARBAGE / sizeof GARBAGE[0])
                coded_add(&c, GARBAGE[i], strlen(GARBAGE[i]));
            else
                coded_add(&c, "\0\0\0\0\0\0\0\0", 8);
            check_refused(&c, "", CODER_NAMES[k]);
            free(c.data);
        }
}

static void bombs_are_refused_early(void **state)
{
    (void)state;
    enum { BOMB = 64 << 20 };
    char *zeros = calloc(1, BOMB);
    CHECK(zeros, "no memory");
    for (int k = 0; k < N_CODERS; k++) {
        rela_error err = { RELA_OK, "" };
        coded c = { NULL, 0 };
        rela_memory_stats stats;
        CODERS[k](&c, zeros, BOMB);
        CHECK(c.len < BOMB / 500, "not a bomb: %zu", c.len);
        check_refused(&c, "more than 200 times", CODER_NAMES[k]);
        const rela_reader_options any = { .any_ratio = true }, high = { .max_ratio = 100000 };
        CHECK(read_as("coded", &any, zeros, BOMB, &err) == RELA_OK, "%s", err.message);
        CHECK(read_as("coded", &high, zeros, BOMB, &err) == RELA_OK, "%s", err.message);
        char *whole = NULL;
        size_t len = 0;
        assert_int_equal(rela_file_read(&whole, &len, scratch("coded"), 1 << 20, &err),
                         RELA_FORMAT);
        assert_int_equal(rela_file_read(&whole, &len, scratch("coded"), 0, &err), RELA_FORMAT);
        stats = memory_now();
        CHECK(stats.peak < 40 << 20, "peak %llu", (unsigned long long)stats.peak);
        free(c.data);
        c = (coded){ NULL, 0 };
        CODERS[k](&c, zeros, 8 << 20); /* below 16 MiB any ratio is fine */
        check_text(&c, zeros, 8 << 20, CODER_NAMES[k]);
        free(c.data);
    }
    free(zeros);
}

static void a_window_over_128_mib_is_refused(void **state)
{
    (void)state;
    /* A frame without contents: magic, no flags, window of 2^(10 + b / 8), last empty block. */
    char frame[] = "\x28\xB5\x2F\xFD\x00\x00\x01\x00";
    coded c = { frame, 9 };
    for (int log = 10; log <= 41; log++) {
        frame[5] = (char)((log - 10) << 3);
        if (log <= 27)
            check_text(&c, "", 0, "a small window");
        else
            check_refused(&c, "memory", "a large window");
    }
}

static void check_lines(const char *what)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line;
    size_t n = 0;
    CHECK_OK(rela_reader_open(&r, scratch("coded"), NULL, &err), err);
    const char *at = TEXT, *end = TEXT + TEXT_LEN;
    for (rela_span want; rela_next_line(&want, &at, end); n++) {
        CHECK_OK(rela_reader_line(r, &line, &err), err);
        CHECK(line.text && line.len == want.len && memcmp(line.text, want.text, want.len) == 0,
              "%s: line %zu", what, n + 1);
    }
    assert_int_equal(n, N_TEXT_LINES);
    CHECK_OK(rela_reader_line(r, &line, &err), err);
    assert_null(line.text);
    assert_int_equal(rela_reader_position(r), rela_reader_size(r));
    rela_reader_close(r);
}

static void lines_come_out_as_from_a_plain_file(void **state)
{
    (void)state;
    for (int k = 0; k < N_CODERS; k++) {
        coded c = { NULL, 0 };
        CODERS[k](&c, TEXT, 15);
        CODERS[k](&c, TEXT + 15, TEXT_LEN - 15);
        (void)spill("coded", c.data, c.len);
        check_lines(CODER_NAMES[k]);
        rela_fault_set_short(1);
        check_lines(CODER_NAMES[k]);
        rela_fault_set_short(0);
        free(c.data);
    }
}

/* With call number n failing, reading fails cleanly or gives all lines. */
static bool sweep_once(rela_fault_class class, uint64_t n, bool persistent)
{
    rela_error err = { RELA_OK, "" };
    rela_reader *r = NULL;
    rela_line line = { .text = "" };
    size_t n_lines = 0;
    rela_fault_set(class, n, persistent);
    rela_status st = rela_reader_open(&r, scratch("coded"), NULL, &err);
    while (st == RELA_OK && line.text) {
        st = rela_reader_line(r, &line, &err);
        n_lines += st == RELA_OK && line.text;
    }
    rela_reader_close(r);
    const bool reached = rela_fault_seen(class) >= n;
    rela_fault_set(class, 0, false);
    if (st == RELA_OK)
        CHECK(n_lines == N_TEXT_LINES, "call %d: %zu lines", (int)n, n_lines);
    else
        CHECK(st == (class == RELA_FAULT_MEM ? RELA_NOMEM : RELA_IO) && *err.message &&
                  strstr(err.message, "coded"),
              "call %d: status %d, %s", (int)n, (int)st, err.message);
    return reached;
}

static void every_call_may_fail(void **state)
{
    (void)state;
    for (int k = -1; k < N_CODERS; k++) {
        coded c = { NULL, 0 };
        (k < 0 ? coded_add : CODERS[k])(&c, TEXT, TEXT_LEN);
        (void)spill("coded", c.data, c.len);
        for (int class = 0; class < RELA_FAULT_N_CLASSES; class ++)
            for (int persistent = 0; persistent < 2; persistent++) {
                uint64_t n = 1;
                while (sweep_once((rela_fault_class) class, n, persistent))
                    n++;
                CHECK(n > 3 && n < 1000, "%d calls", (int)n);
            }
        free(c.data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_content_decides_not_the_name),
        cmocka_unit_test(members_and_frames_are_joined),
        cmocka_unit_test(skippable_frames_are_skipped),
        cmocka_unit_test(a_cut_anywhere_is_an_error),
        cmocka_unit_test(a_changed_bit_never_changes_the_text),
        cmocka_unit_test(a_wrong_checksum_is_an_error),
        cmocka_unit_test(garbage_after_the_data_is_an_error),
        cmocka_unit_test(bombs_are_refused_early),
        cmocka_unit_test(a_window_over_128_mib_is_refused),
        cmocka_unit_test(lines_come_out_as_from_a_plain_file),
        cmocka_unit_test(every_call_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
