/* SPDX-License-Identifier: MIT */
/* tests/unit/test_safetensors.c - the container: one table of defects, round trips, bounded memory,
 * failing calls. */
#include "scratch.h"
#include "sweep.h"

#include "base/file.h"
#include "base/mem.h"
#include "format/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SLACK = 32 << 20 }; /* bytes that a bad file may cost beyond its own size */

static two_paths files;

static int set_up(void **state)
{
    (void)state;
    return two_paths_make(&files, "model", "other");
}

static int tear_down(void **state)
{
    (void)state;
    return two_paths_remove(&files);
}

static void write_bytes(const char *bytes, size_t len)
{
    rela_error err;
    CHECK_OK(rela_file_write(files.path, bytes, len, &err), err);
}

/* A file with the given header and n_data zero bytes; the length field says declared. */
static void write_parts(uint64_t declared, const char *header, size_t len, size_t n_data)
{
    char *bytes = test_calloc(8 + len + n_data, 1);
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(declared >> (8 * i));
    memcpy(bytes + 8, header, len);
    write_bytes(bytes, 8 + len + n_data);
    test_free(bytes);
}

/* ---- one row per defect ---- */

typedef struct defect {
    const char *what;
    const char *header;
    size_t n_data;
    const char *message; /* part of it; NULL: accepted */
} defect;

#define T(name, shape, from, to)                                                                   \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":[" shape "],\"data_offsets\":[" #from "," #to "]}"
#define ENTRY(inside) "{\"a\":{" inside "}}"
#define LONG_32       "abcdefghijklmnopqrstuvwxyz012345"
#define LONG_256      LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32 LONG_32

static const defect DEFECTS[] = {
    { "no tensors", "{}", 0, NULL },
    { "padding", "{}      ", 0, NULL },
    { "white space in front", " \n{}", 0, NULL },
    { "one tensor", "{" T("a", "2,3", 0, 24) "}", 24, NULL },
    { "rank 0", "{" T("a", "", 0, 4) "}", 4, NULL },
    { "rank 8", "{" T("a", "1,1,1,1,1,1,1,2", 0, 8) "}", 8, NULL },
    { "dimension 0", "{" T("a", "3,0", 0, 0) "}", 0, NULL },
    { "a tensor without bytes between others",
      "{" T("a", "1", 0, 4) "," T("b", "0", 4, 4) "," T("c", "1", 4, 8) "}", 8, NULL },
    { "any order in the header", "{" T("b", "1", 4, 8) "," T("a", "1", 0, 4) "}", 8, NULL },
    { "any order in an entry", ENTRY("\"data_offsets\":[0,4],\"shape\":[1],\"dtype\":\"I32\""), 4,
      NULL },
    { "metadata", "{\"__metadata__\":{\"k\":\"v\",\"\":\"\\u0000\"}}", 0, NULL },
    { "a name of 256 bytes", "{" T(LONG_256, "1", 0, 4) "}", 4, NULL },

    { "an array", "[]", 0, "header: byte 1: '[]'; expected an object" },
    { "cut after the bracket", "{ ", 0, "byte 3: the text ends" },
    { "garbage after the object", "{}garbage", 0, "byte 3: 'garbage'; expected the end" },
    { "not UTF-8", "{\"\xFF\":1}", 0, "byte 3: not UTF-8" },
    { "a string", "\"a\"", 0, "expected an object" },
    { "a control character", "{\"a\tb\":1}", 0, "no control character" },
    { "half a pair", "{\"\\ud800\":1}", 0, "expected an escape" },

    { "a tensor twice", "{" T("a", "1", 0, 4) "," T("a", "1", 4, 8) "}", 8,
      "tensor 'a': appears twice" },
    { "a tensor twice by an escape", "{" T("a", "1", 0, 4) "," T("\\u0061", "1", 4, 8) "}", 8,
      "tensor 'a': appears twice" },
    { "shape twice", ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,4]"),
      4, "tensor 'a': 'shape' appears twice" },
    { "shape twice by an escape",
      ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"sh\\u0061pe\":[1],\"data_offsets\":[0,4]"), 4,
      "tensor 'a': 'shape' appears twice" },
    { "dtype twice", ENTRY("\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[1]"), 4,
      "'dtype' appears twice" },
    { "metadata twice", "{\"__metadata__\":{},\"__metadata__\":{}}", 0,
      "__metadata__ appears twice" },
    { "a key of the metadata twice", "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0,
      "__metadata__: 'k' appears twice" },
    { "a key of the metadata twice by an escape",
      "{\"__metadata__\":{\"k\":\"1\",\"\\u006b\":\"2\"}}", 0, "__metadata__: 'k' appears twice" },
    { "a number in the metadata", "{\"__metadata__\":{\"k\":1}}", 0,
      "__metadata__: byte 22: '1}}'; expected a string" },
    { "metadata that is a list", "{\"__metadata__\":[]}", 0, "__metadata__: " },

    { "a negative offset", "{" T("a", "1", -4, 0) "}", 4, "tensor 'a': byte " },
    { "minus zero", "{" T("a", "1", -0, 4) "}", 4, "'-0,4]}}'; expected a plain whole number" },
    { "a fraction", "{" T("a", "1", 0.5, 4) "}", 4, "expected a plain whole number" },
    { "an exponent", "{" T("a", "1", 0, 4e0) "}", 4, "expected a plain whole number" },
    { "1e3", "{" T("a", "250", 0, 1e3) "}", 1000, "expected a plain whole number" },
    { "a leading zero", "{" T("a", "1", 0, 04) "}", 4, "expected a plain whole number" },
    { "an offset of 2^64", "{" T("a", "1", 0, 18446744073709551616) "}", 4,
      "expected a plain whole number" },
    { "overlap by one byte",
      "{" T("a", "2", 0, 8) ",\"b\":{\"dtype\":\"U8\",\"shape\":[5],\"data_offsets\":[7,12]}}", 12,
      "tensor 'b': begins at byte 7; expected 8" },
    { "two tensors on the same bytes", "{" T("a", "1", 0, 4) "," T("b", "1", 0, 4) "}", 4,
      "begins at byte 0; expected 4" },
    { "a hole", "{" T("a", "1", 0, 4) "," T("b", "1", 8, 12) "}", 12,
      "tensor 'b': begins at byte 8; expected 4" },
    { "a hole in front", "{" T("a", "1", 4, 8) "}", 8, "tensor 'a': begins at byte 4; expected 0" },
    { "a tensor without bytes inside another", "{" T("a", "2", 0, 8) "," T("b", "0", 4, 4) "}", 8,
      "tensor 'b': begins at byte 4; expected 8" },
    { "reversed offsets", "{" T("a", "1", 4, 0) "}", 4, "tensor 'a': bytes 4 to 0" },
    { "past the end", "{" T("a", "2", 0, 8) "}", 4,
      "tensor 'a': bytes 0 to 8; the file has 4 bytes of data" },
    { "bytes after the last tensor", "{" T("a", "1", 0, 4) "}", 5,
      "5 bytes of data; the tensors need 4" },
    { "bytes without a tensor", "{}", 1, "1 bytes of data; the tensors need 0" },
    { "one offset", ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0]"), 4,
      "fewer than two data_offsets" },
    { "three offsets", ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4,4]"), 4,
      "more than two data_offsets" },

    { "a product that wraps to 0", "{" T("a", "4294967296,4294967296", 0, 0) "}", 0,
      "its size does not fit 64 bits" },
    { "a product that wraps to 4", "{" T("a", "4611686018427387905", 0, 4) "}", 4,
      "its size does not fit 64 bits" },
    { "a wrap hidden after a zero", "{" T("a", "4294967296,4294967296,0", 0, 0) "}", 0,
      "its size does not fit 64 bits" },
    { "a shape beyond the data", "{" T("a", "1000000", 0, 4) "}", 4,
      "tensor 'a': 4 bytes of data; its shape needs 4000000" },
    { "a shape smaller than the data", "{" T("a", "1", 0, 8) "}", 8,
      "8 bytes of data; its shape needs 4" },
    { "rank 9", "{" T("a", "1,1,1,1,1,1,1,1,1", 0, 4) "}", 4, "more than 8 dimensions" },
    { "rank 64",
      "{" T("a",
            "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
            "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1",
            0, 4) "}",
      4, "more than 8 dimensions" },
    { "a negative dimension", "{" T("a", "-1", 0, 4) "}", 4, "expected a plain whole number" },
    { "a nested dimension", "{" T("a", "[1]", 0, 4) "}", 4, "expected a plain whole number" },

    { "an unknown dtype", ENTRY("\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]"), 4,
      "tensor 'a': dtype 'F31'; expected F64, F32" },
    { "a dtype of another case", ENTRY("\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]"), 4,
      "dtype 'f32'" },
    { "a dtype that is a number", ENTRY("\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,4]"), 4,
      "expected a string" },
    { "an unknown key", ENTRY("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1"), 4,
      "tensor 'a': unknown key 'x'" },
    { "no dtype", ENTRY("\"shape\":[1],\"data_offsets\":[0,4]"), 4, "tensor 'a': no 'dtype'" },
    { "no shape", ENTRY("\"dtype\":\"F32\",\"data_offsets\":[0,4]"), 4, "no 'shape'" },
    { "no offsets", ENTRY("\"dtype\":\"F32\",\"shape\":[1]"), 4, "no 'data_offsets'" },
    { "an entry that is a number", "{\"a\":1}", 0, "tensor 'a': byte 6: '1}'; expected an object" },
    { "an entry that is null", "{\"a\":null}", 0, "expected an object" },
    { "an empty name", "{" T("", "1", 0, 4) "}", 4, "a tensor without a name" },
    { "a NUL in a name", "{" T("a\\u0000b", "1", 0, 4) "}", 4, "a tensor name with a NUL in it" },
    { "a name of 257 bytes", "{" T(LONG_256 "x", "1", 0, 4) "}", 4,
      "a tensor name of 257 bytes; expected 1..256" },
};

/* The message must hold this text, and the path once, in front. */
static void check_message(const char *what, const char *have, const char *want)
{
    CHECK(strstr(have, want), "%s: '%s'; expected '%s'", what, have, want);
    CHECK(strstr(have, files.path) == have && !strstr(have + 1, files.path), "%s: path in '%s'",
          what, have);
}

static void check_file(const char *what, const char *message)
{
    rela_safetensors *f = NULL;
    rela_error err = { RELA_OK, "" };
    rela_memory_stats before, after;
    before = memory_now();
    const rela_status st = rela_safetensors_open(&f, files.path, 0, &err);
    CHECK((st == RELA_OK) == (f != NULL), "%s: a handle after status %d", what, st);
    rela_safetensors_close(f);
    after = memory_now();
    CHECK(after.live == before.live, "%s: leak", what);
    CHECK(st == (message ? RELA_FORMAT : RELA_OK), "%s: status %d (%s)", what, st, err.message);
    if (message)
        check_message(what, err.message, message);
}

static void each_defect_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof DEFECTS / sizeof DEFECTS[0]; i++) {
        const defect *d = &DEFECTS[i];
        write_parts(strlen(d->header), d->header, strlen(d->header), d->n_data);
        check_file(d->what, d->message);
        rela_header h; /* and the same from memory */
        char *copy = rela_str_copy(d->header, strlen(d->header));
        const rela_status st = rela_header_parse(&h, copy, strlen(d->header), d->n_data, NULL);
        CHECK(st == (d->message ? RELA_FORMAT : RELA_OK), "%s: in memory %d", d->what, st);
        rela_header_deinit(&h);
        rela_mem_free(copy);
    }
}

static void each_bad_length_is_named(void **state)
{
    (void)state;
    static const uint64_t LENGTHS[] = { 0, 1, (uint64_t)1 << 63, UINT64_MAX, 3, 100 };
    write_bytes("", 0);
    check_file("an empty file", "not a model file: 0 bytes");
    write_bytes("1234567", 7);
    check_file("7 bytes", "not a model file: 7 bytes");
    write_bytes("\2\0\0\0\0\0\0\0", 8);
    check_file("8 bytes", "or one that was cut off: a header of 2 bytes in a file of 8");
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        write_parts(LENGTHS[i], "{}", 2, 0);
        check_file("a wrong length", "not a model file");
    }
    write_parts(2, "{\0", 2, 0);
    check_file("NUL in the header", "byte 2: ");
    write_bytes("PK\3\4\24\0\0\0\10\0abcdefgh", 18);
    check_file("a zip file", "not a model file");
    write_bytes("<!DOCTYPE html><html></html>", 28);
    check_file("an HTML page", "not a model file");
    write_bytes("\x80\4\x95\20\0\0\0\0\0\0\0]\x94(K\1K\2e.", 20);
    check_file("a pickle", "not a model file");
    write_bytes("\x1F\x8B\10\0\0\0\0\0\0\3abcdefgh", 18);
    check_file("a gzip file", "not a model file");
}

static void the_limit_of_the_header_is_kept(void **state)
{
    (void)state;
    const size_t len = RELA_HEADER_MAX + 1;
    char *header = test_malloc(len);
    memset(header, ' ', len);
    header[0] = '{';
    header[1] = '}';
    write_parts(len, header, len, 0);
    check_file("one byte over the limit", "a header of 16777217 bytes; the limit is 16777216");
    write_parts(len - 1, header, len - 1, 0);
    check_file("the limit", NULL);
    test_free(header);
    rela_safetensors *f = NULL;
    rela_error err;
    write_parts(3, "{} ", 3, 0);
    assert_int_equal(rela_safetensors_open(&f, files.path, 2, &err), RELA_FORMAT);
    CHECK_OK(rela_safetensors_open(&f, files.path, 3, &err), err);
    rela_safetensors_close(f);
}

/* ---- memory ---- */

/* Copies text without its end; returns the place after it. */
static size_t put(char *out, size_t at, const char *text)
{
    while (*text)
        out[at++] = *text++;
    return at;
}

/* Fills header with one repeated unit between a beginning and an end; returns its length. */
static size_t fill(char *header, size_t max, const char *begin, const char *unit, const char *end)
{
    size_t n = put(header, 0, begin);
    while (n + strlen(unit) + strlen(end) <= max)
        n = put(header, n, unit);
    return put(header, n, end);
}

/* One more entry than the limit, each with its own name: tensors or texts. */
static size_t fill_numbered(char *header, size_t max, bool texts)
{
    size_t n = (size_t)snprintf(header, max, "%s", texts ? "{\"__metadata__\":{" : "{");
    for (unsigned i = 0; i <= RELA_TENSORS_MAX; i++)
        n += (size_t)snprintf(header + n, max - n, "%s\"%x\":%s", i ? "," : "", i,
                              texts ? "\"\""
                                    : "{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}");
    n += (size_t)snprintf(header + n, max - n, "%s", texts ? "}}" : "}");
    memset(header + n, ' ', max - n);
    return max;
}

static void check_memory(const char *what, const char *header, size_t len, const char *message)
{
    rela_memory_stats before, after;
    write_parts(len, header, len, 0);
    /* The counters only ever rise: start from where nothing else has been. */
    before = memory_now();
    check_file(what, message);
    after = memory_now();
    const uint64_t used = after.peak > before.live ? after.peak - before.live : 0;
    CHECK(used < len + SLACK, "%s: %d MiB for a header of %d MiB", what, (int)(used >> 20),
          (int)(len >> 20));
}

static void hostile_headers_cost_little_memory(void **state)
{
    (void)state;
    const size_t max = RELA_HEADER_MAX;
    char *h = test_malloc(max + 256);
    check_memory("nested brackets", h, fill(h, 100000, "", "[", ""), "expected an object");
    check_memory("brackets in a tensor", h, fill(h, max, "{\"a\":", "[", ""), "expected an object");
    check_memory("brackets in metadata", h, fill(h, max, "{\"__metadata__\":{\"a\":", "{", ""),
                 "expected a string");
    check_memory("a million numbers", h, fill(h, max, "{\"a\":{\"shape\":[0", ",0", "]}}"),
                 "more than 8 dimensions");
    check_memory("one long string", h, fill(h, max, "{\"", "a", "\":0}"), "a tensor name of");
    check_memory("escapes", h, fill(h, max, "{\"", "\\u0061", "\":0}"), "a tensor name of");
    check_memory("many tensors", h, fill_numbered(h, max, false), "more than 65536 tensors");
    check_memory("many texts", h, fill_numbered(h, max, true), "more than 65536 texts");
    check_memory("the same name over and over", h,
                 fill(h, 5 << 20, "{",
                      "\"a\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},",
                      "\"b\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"),
                 "more than 65536 tensors");
    test_free(h);
}

/* What the system sees, not only what we count. Not under a sanitizer, which has costs of its own.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void hostile_headers_cost_little_resident_memory(void **state)
{
    (void)state;
    char *h = test_malloc(RELA_HEADER_MAX);
    const size_t len = fill_numbered(h, RELA_HEADER_MAX, false);
    write_parts(len, h, len, 0);
    test_free(h);
    long peak[2] = { 0, 0 };
    for (int opens = 0; opens < 2; opens++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct rusage usage;
            rela_safetensors *f = NULL;
            if (opens)
                (void)rela_safetensors_open(&f, files.path, 0, NULL);
            getrusage(RUSAGE_SELF, &usage);
            _exit(write(ends[1], &usage.ru_maxrss, sizeof usage.ru_maxrss) < 0);
        }
        assert_int_equal(read(ends[0], &peak[opens], sizeof peak[0]), sizeof peak[0]);
        assert_int_equal(waitpid(child, NULL, 0), child);
        (void)close(ends[0]);
        (void)close(ends[1]);
    }
    const long used = (peak[1] - peak[0]) * 1024;
    print_message("resident: %ld MiB for a header of %zu MiB\n", used >> 20, len >> 20);
    CHECK(used < (long)len + SLACK, "%ld MiB", used >> 20);
}
#endif

/* ---- writing ---- */

static const float NUMBERS[] = { 1.5f, -2.0f, 0.0f, 4.25f, 1e-30f, 3e30f };
static const int64_t LARGE[] = { INT64_MIN, INT64_MAX };
static const int8_t SMALL[] = { -128, 127, 1 };

static rela_tensor tensor(const char *name, rela_dtype dtype, uint32_t rank, uint64_t a, uint64_t b,
                          const void *data)
{
    return (rela_tensor){ .name = { name, strlen(name) },
                          .dtype = dtype,
                          .rank = rank,
                          .shape = { a, b },
                          .data = data };
}

static rela_metadata text(const char *key, const char *value)
{
    return (rela_metadata){ { key, strlen(key) }, { value, strlen(value) } };
}

static void files_do_not_depend_on_the_order_of_writing(void **state)
{
    (void)state;
    rela_tensor t[] = {
        tensor("w", RELA_F32, 2, 2, 3, NUMBERS), tensor("b", RELA_F32, 1, 2, 0, NUMBERS),
        tensor("s", RELA_F32, 0, 0, 0, NUMBERS), tensor("bytes", RELA_U8, 1, 3, 0, SMALL),
        tensor("none", RELA_F64, 2, 0, 7, NULL), tensor("q", RELA_I8, 1, 3, 0, SMALL),
        tensor("n", RELA_I64, 1, 2, 0, LARGE),   tensor("i", RELA_I32, 1, 2, 0, NUMBERS),
    };
    enum { N = sizeof t / sizeof t[0] };
    rela_metadata m[] = { text("b", "line\n\"quoted\" \\ \x01 \xC3\xA9"), text("a", "") };
    const rela_header h = { t, N, m, 2 };
    rela_error err;
    char *bytes = NULL, *again = NULL;
    size_t len = 0, len_again = 0;
    CHECK_OK(rela_safetensors_write(files.path, &h, 0, &err), err);
    for (size_t i = 0; i < N / 2; i++) {
        const rela_tensor swap = t[i];
        t[i] = t[N - 1 - i];
        t[N - 1 - i] = swap;
    }
    const rela_metadata first = m[0];
    m[0] = m[1];
    m[1] = first;
    CHECK_OK(rela_safetensors_write(files.other, &h, 0, &err), err);
    CHECK_OK(rela_file_read(&bytes, &len, files.path, 0, &err), err);
    CHECK_OK(rela_file_read(&again, &len_again, files.other, 0, &err), err);
    assert_int_equal(len, len_again);
    assert_memory_equal(bytes, again, len);
    const char *want =
        "{\"__metadata__\":{\"a\":\"\",\"b\":\"line\\n\\\"quoted\\\" \\\\ \\u0001 \xC3\xA9\"},"
        "\"n\":{\"dtype\":\"I64\",\"shape\":[2],\"data_offsets\":[0,16]},"
        "\"none\":{\"dtype\":\"F64\",\"shape\":[0,7],\"data_offsets\":[16,16]},"
        "\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]},"
        "\"s\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[24,28]},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[28,52]},"
        "\"i\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[52,60]},"
        "\"q\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[60,63]},"
        "\"bytes\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[63,66]}}";
    assert_memory_equal(bytes + 8, want, strlen(want));
    const size_t data_at = (8 + strlen(want) + 63) / 64 * 64;
    assert_int_equal((unsigned char)bytes[0] + 256 * (unsigned char)bytes[1], data_at - 8);
    assert_int_equal(len, data_at + 66);
    rela_mem_free(bytes);
    rela_mem_free(again);
}

static void check_read(const rela_safetensors *f, const rela_tensor *t, uint64_t offset,
                       const void *want, size_t len)
{
    char got[64];
    rela_error err;
    assert_true(len <= sizeof got);
    CHECK_OK(rela_safetensors_read(f, got, t, offset, len, &err), err);
    assert_memory_equal(got, want, len);
}

static void what_was_written_is_read_back(void **state)
{
    (void)state;
    rela_tensor t[] = { tensor("w", RELA_F32, 2, 2, 3, NUMBERS),
                        tensor("n", RELA_I64, 1, 2, 0, LARGE) };
    rela_metadata m[] = { text("k", "v\n") };
    const rela_header h = { t, 2, m, 1 };
    rela_error err;
    rela_safetensors *f = NULL;
    rela_status st = rela_safetensors_write(files.path, &h, 0, &err);
    st = st ? st : rela_safetensors_open(&f, files.path, 0, &err);
    CHECK_OK(st, err);
    const rela_header *got = rela_safetensors_header(f);
    CHECK(got->n == 2 && got->n_metadata == 1, "counts");
    CHECK(!rela_header_find(got, "x") && !rela_header_text(got, "x"), "found x");
    const rela_metadata *v = rela_header_text(got, "k");
    CHECK(v && v->value.len == 2 && memcmp(v->value.text, "v\n", 2) == 0, "text");
    const rela_tensor *w = rela_header_find(got, "w");
    CHECK(w && w == &got->tensors[1] && w->dtype == RELA_F32 && w->rank == 2 && w->shape[0] == 2 &&
              w->shape[1] == 3 && w->end - w->begin == sizeof NUMBERS,
          "tensor");
    check_read(f, w, 0, NUMBERS, sizeof NUMBERS);
    check_read(f, w, 8, NUMBERS + 2, 4);
    rela_safetensors_close(f);
}

static void a_file_cut_while_it_is_read_is_noticed(void **state)
{
    (void)state;
    rela_tensor t = tensor("w", RELA_F32, 2, 2, 3, NUMBERS);
    const rela_header h = { &t, 1, NULL, 0 };
    rela_error err;
    rela_safetensors *f = NULL;
    float got[6] = { 0 };
    CHECK_OK(rela_safetensors_write(files.path, &h, 0, &err), err);
    CHECK_OK(rela_safetensors_open(&f, files.path, 0, &err), err);
    const rela_tensor *w = rela_header_find(rela_safetensors_header(f), "w");
    CHECK_OK(rela_safetensors_check(f, &err), err);
    assert_int_equal(truncate(files.path, (off_t)rela_safetensors_size(f) - 1), 0);
    assert_int_equal(rela_safetensors_read(f, got, w, 0, sizeof got, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "ends after"));
    assert_int_equal(rela_safetensors_check(f, &err), RELA_FORMAT);
    rela_safetensors_close(f);
}

/* A file with holes takes no room on the disk. */
static void files_beyond_4_gib_are_read(void **state)
{
    (void)state;
    static const char HEADER[] =
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[5368709120],\"data_offsets\":[0,5368709120]},"
        "\"b\":{\"dtype\":\"I32\",\"shape\":[],\"data_offsets\":[5368709120,5368709124]}}";
    const size_t len = strlen(HEADER);
    const off_t end = (off_t)(8 + len) + 5368709124;
    rela_error err;
    rela_safetensors *f = NULL;
    write_parts(len, HEADER, len, 0);
    FILE *out = fopen(files.path, "r+b");
    assert_non_null(out);
    const bool room = fseeko(out, end - 4, SEEK_SET) == 0 && fwrite("last", 4, 1, out) == 1;
    if (fclose(out) != 0 || !room) {
        print_message("partly skipped: files of %lld bytes do not fit on this file system\n",
                      (long long)end);
        skip();
    }
    CHECK_OK(rela_safetensors_open(&f, files.path, 0, &err), err);
    check_read(f, rela_header_find(rela_safetensors_header(f), "b"), 0, "last", 4);
    check_read(f, rela_header_find(rela_safetensors_header(f), "a"), 5368709118, "\0\0", 2);
    rela_safetensors_close(f);
}

static void contents_that_could_not_be_read_are_not_written(void **state)
{
    (void)state;
    const struct {
        const char *what;
        rela_tensor t[2];
        rela_metadata m[2];
        const char *message;
    } cases[] = {
        { "an empty name", { tensor("", RELA_U8, 0, 0, 0, SMALL) }, { text("a", "") }, "name" },
        { "a reserved name",
          { tensor("__metadata__", RELA_U8, 0, 0, 0, SMALL) },
          { text("a", "") },
          "'__metadata__' cannot be the name of a tensor" },
        { "a name that is not UTF-8",
          { tensor("\xFF", RELA_U8, 0, 0, 0, SMALL) },
          { text("a", "") },
          "a tensor name is not UTF-8" },
        { "a long name",
          { tensor(LONG_256 "x", RELA_U8, 0, 0, 0, SMALL) },
          { text("a", "") },
          "cannot be the name" },
        { "the same name",
          { tensor("b", RELA_U8, 0, 0, 0, SMALL) },
          { text("a", "") },
          "'b' appears" },
        { "the same key",
          { tensor("a", RELA_U8, 0, 0, 0, SMALL) },
          { text("k", "") },
          "'k' appears" },
        { "a text that is not UTF-8",
          { tensor("a", RELA_U8, 0, 0, 0, SMALL) },
          { text("a", "\xC3") },
          "the text 'a' is not UTF-8" },
        { "a size that wraps",
          { tensor("a", RELA_F32, 2, (uint64_t)1 << 62, 4, SMALL) },
          { text("a", "") },
          "too large" },
        { "rank 9", { tensor("a", RELA_F32, 9, 1, 1, SMALL) }, { text("a", "") }, "too large" },
    };
    (void)unlink(files.path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rela_error err = { RELA_OK, "" };
        rela_tensor t[2] = { cases[i].t[0], tensor("b", RELA_U8, 0, 0, 0, SMALL) };
        rela_metadata m[2] = { cases[i].m[0], text("k", "") };
        const rela_header h = { t, 2, m, 2 };
        const rela_status st = rela_safetensors_write(files.path, &h, 0, &err);
        CHECK(st == RELA_ARG && strstr(err.message, cases[i].message), "%s: %d '%s'", cases[i].what,
              st, err.message);
    }
    rela_error err;
    rela_metadata wide = text("a", LONG_256);
    const rela_header one = { NULL, 0, &wide, 1 }, none = { NULL, 0, NULL, 0 };
    assert_int_equal(rela_safetensors_write(files.path, &one, 100, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "the limit is 100"));
    assert_int_equal(rela_safetensors_write("x.gz", &none, 0, &err), RELA_ARG);
    assert_int_equal(rela_safetensors_write("x.zst", &none, 0, &err), RELA_ARG);
    assert_false(rela_file_exists(files.path));
}

static void failing_calls_are_survived(void **state)
{
    (void)state;
    rela_tensor t[] = { tensor("w", RELA_F32, 2, 2, 3, NUMBERS),
                        tensor("n", RELA_I64, 1, 2, 0, LARGE) };
    rela_metadata m[] = { text("k", "v\n") };
    const rela_header h = { t, 2, m, 1 };
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        rela_error err = { RELA_OK, "" };
        rela_safetensors *f = NULL;
        sweep_arm(&w);
        rela_status st = rela_safetensors_write(files.other, &h, 0, &err);
        st = st ? st : rela_safetensors_open(&f, files.other, 0, &err);
        rela_safetensors_close(f);
        sweep_disarm(&w);
        sweep_check(&w);
        sweep_status(&w, st, &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_headers_cost_little_memory), /* first: it reads the peak */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(hostile_headers_cost_little_resident_memory),
#endif
        cmocka_unit_test(each_defect_is_named),
        cmocka_unit_test(each_bad_length_is_named),
        cmocka_unit_test(the_limit_of_the_header_is_kept),
        cmocka_unit_test(files_do_not_depend_on_the_order_of_writing),
        cmocka_unit_test(what_was_written_is_read_back),
        cmocka_unit_test(a_file_cut_while_it_is_read_is_noticed),
        cmocka_unit_test(files_beyond_4_gib_are_read),
        cmocka_unit_test(contents_that_could_not_be_read_are_not_written),
        cmocka_unit_test(failing_calls_are_survived),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
