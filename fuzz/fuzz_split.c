/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_split.c - splitting any bytes into sentences: they are in order, with only blanks
 * between them, and no character is cut.
 *
 * The first byte chooses the language. */
#include "base/utf8.h"
#include "fuzz.h"
#include "text/moses_chars.h"

#include "rela/text.h"

static const char *const LANGUAGES[] = { "en", "de", "fr", "cs", "ru", "zh", "fi", "it" };

static bool blank(const char *text, size_t len)
{
    return rela_text_trim((rela_span){ text, len }).len == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const rela_splitter_options o = { .struct_size = sizeof o, .language = LANGUAGES[data[0] & 7] };
    const char *text = (const char *)data + 1;
    const size_t len = size - 1;
    const bool valid = rela_utf8_valid(text, len) == len;
    rela_splitter *s = NULL;
    HOLDS(rela_splitter_create(&s, &o, NULL) == RELA_OK);
    rela_sentence x;
    size_t at = 0, last = 0;
    while (rela_split_next(&x, &at, s, text, len)) {
        HOLDS(last <= x.begin && x.begin < x.end && x.end <= at && at <= len);
        HOLDS(blank(text + last, x.begin - last));
        HOLDS(!valid || rela_utf8_valid(text + x.begin, x.end - x.begin) == x.end - x.begin);
        last = x.end;
    }
    HOLDS(at == len && blank(text + last, len - last));
    rela_splitter_destroy(s);
    return 0;
}
