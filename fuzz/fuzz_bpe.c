/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_bpe.c - any codes are read or refused with a message; with any codes, segmenting a line
 * and joining it again gives the same letters.
 *
 * The input is a line, an LF, and the codes. */
#include "base/utf8.h"
#include "fuzz.h"

#include "rela/subword.h"

#include <string.h>

/* Segmenting does not keep the number of blanks. */
static void drop_blanks(rela_buffer *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->len; i++)
        if (b->data[i] != ' ')
            b->data[n++] = b->data[i];
    b->len = n;
}

static void check_line(const rela_bpe *bpe, const char *line, size_t len)
{
    rela_error err = { RELA_OK, "" };
    rela_bpe_scratch *scratch = NULL;
    rela_buffer pieces = RELA_BUFFER_INIT, back = RELA_BUFFER_INIT, want = RELA_BUFFER_INIT;
    const rela_piece *list = NULL;
    size_t n = 0, n_bad = 0;
    HOLDS(rela_bpe_scratch_create(&scratch, bpe, &err) == RELA_OK);
    HOLDS(rela_bpe_apply(&pieces, scratch, line, len, 1, &err) == RELA_OK);
    HOLDS(rela_bpe_pieces(&list, &n, scratch, line, len, 1, &err) == RELA_OK);
    HOLDS(rela_utf8_valid(pieces.data, pieces.len) == pieces.len);
    HOLDS(rela_bpe_undo(&back, "@@", pieces.data, pieces.len, &err) == RELA_OK);
    HOLDS(rela_utf8_repair(&want, &n_bad, line, len, &err) == RELA_OK);
    drop_blanks(&back);
    drop_blanks(&want);
    if (!len || !memchr(line, '@', len)) /* a separator in the text itself is joined too */
        HOLDS(back.len == want.len &&
              (back.len == 0 || memcmp(back.data, want.data, back.len) == 0));
    rela_buffer_free(&pieces);
    rela_buffer_free(&back);
    rela_buffer_free(&want);
    rela_bpe_scratch_destroy(scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *end = size ? memchr(text, '\n', size) : NULL;
    const size_t len = end ? (size_t)(end - text) : size;
    const char *codes = end ? end + 1 : "";
    rela_bpe *bpe = NULL;
    rela_error err = { RELA_OK, "" };
    const rela_status st =
        rela_bpe_parse(&bpe, "codes", codes, end ? size - len - 1 : 0, NULL, &err);
    HOLDS(st == RELA_OK ? bpe != NULL : !bpe && *err.message);
    if (bpe)
        check_line(bpe, text, len);
    rela_bpe_free(bpe);
    return 0;
}
