/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_lines.c - plain, gzip and zstd bytes read whole, by line and by block: all must agree.
 *
 * The first byte sets the limits, the rest is the file. */
#include "base/fault.h"
#include "base/file.h"
#include "base/mem.h"
#include "fuzz.h"

#include <string.h>

typedef struct lines {
    rela_buffer text; /* lines, each ended by LF */
    uint64_t n;
    bool too_long;
    rela_status status;
} lines;

static void read_lines(lines *l, const char *path, const rela_reader_options *options)
{
    rela_reader *r = NULL;
    rela_line line = { .text = "" };
    rela_error err = { RELA_OK, "" };
    l->status = rela_reader_open(&r, path, options, &err);
    while (l->status == RELA_OK && line.text && !l->too_long) {
        l->status = rela_reader_line(r, &line, &err);
        HOLDS(l->status == RELA_OK || *err.message);
        if (l->status != RELA_OK || !line.text)
            break;
        HOLDS(line.number == l->n + 1 && line.len <= options->max_line);
        HOLDS(!memchr(line.text, '\n', line.len));
        l->too_long = line.too_long;
        if (l->too_long)
            break;
        l->n++;
        HOLDS(rela_buffer_append(&l->text, line.text, line.len, NULL) == RELA_OK);
        HOLDS(rela_buffer_append_char(&l->text, '\n', NULL) == RELA_OK);
    }
    rela_reader_close(r);
}

static void read_blocks(lines *l, const char *path, const rela_reader_options *options, size_t want)
{
    rela_reader *r = NULL;
    rela_buffer block = RELA_BUFFER_INIT;
    rela_error err = { RELA_OK, "" };
    l->status = rela_reader_open(&r, path, options, &err);
    for (bool more = true; l->status == RELA_OK && more;) {
        uint64_t first = 0;
        l->status = rela_reader_block(r, &block, &first, want, &err);
        l->too_long = l->status != RELA_OK && strstr(err.message, "longer than") != NULL;
        more = l->status == RELA_OK && block.len > 0;
        HOLDS(!more || (first == l->n + 1 && block.data[block.len - 1] == '\n'));
        const char *at = block.data, *end = more ? at + block.len : at;
        for (rela_span line; rela_next_line(&line, &at, end); l->n++) {
            HOLDS(line.len <= options->max_line);
            HOLDS(rela_buffer_append(&l->text, line.text, line.len, NULL) == RELA_OK);
            HOLDS(rela_buffer_append_char(&l->text, '\n', NULL) == RELA_OK);
        }
    }
    rela_buffer_free(&block);
    rela_reader_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t LIMITS[] = { 1, 2, 7, 100, 5000, 1 << 20, 1 << 20, 1 << 20 };
    if (size == 0)
        return 0;
    const rela_reader_options options = { .max_line = LIMITS[data[0] % 8] };
    const char *path = fuzz_file(data + 1, size - 1);
    rela_fault_set_short(data[0] >> 3 & 3); /* 0 to 3 bytes per read */
    lines a = { RELA_BUFFER_INIT, 0, false, RELA_OK }, b = a;
    read_lines(&a, path, &options);
    read_blocks(&b, path, &options, data[0] >> 5);
    if (a.status == RELA_OK && !a.too_long)
        HOLDS(b.status == RELA_OK && a.n == b.n && a.text.len == b.text.len &&
              (a.text.len == 0 || memcmp(a.text.data, b.text.data, a.text.len) == 0));
    if (a.too_long)
        HOLDS(b.too_long && a.n == b.n);
    char *whole = NULL;
    size_t len = 0;
    const rela_status st = rela_file_read(&whole, &len, path, 32 << 20, NULL);
    HOLDS(a.too_long || a.status == st);
    rela_mem_free(whole);
    rela_fault_set_short(0);
    rela_buffer_free(&a.text);
    rela_buffer_free(&b.text);
    return 0;
}
