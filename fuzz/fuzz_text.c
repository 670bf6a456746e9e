/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_text.c - the text tools on any line: each appends one valid line to its output and
 * keeps what was there before.
 *
 * The first byte chooses language and options. */
#include "base/utf8.h"
#include "fuzz.h"

#include "rela/text.h"

#include <string.h>

static const char *const LANGUAGES[] = { "en", "de", "fr", "cs", "it", "zh", "fi", "ko" };

static void check_output(const rela_buffer *out)
{
    HOLDS(out->len >= 2 && memcmp(out->data, "x ", 2) == 0);
    HOLDS(rela_utf8_valid(out->data, out->len) == out->len);
    HOLDS(!memchr(out->data, '\n', out->len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const char *language = LANGUAGES[data[0] & 7];
    const unsigned bits = data[0] >> 3;
    const char *line = (const char *)data + 1;
    const char *stop = memchr(line, '\n', size - 1);
    const size_t len = stop ? (size_t)(stop - line) : size - 1;
    rela_tokeniser *t = NULL;
    rela_detokeniser *d = NULL;
    rela_normaliser *n = NULL;
    rela_buffer a = RELA_BUFFER_INIT, b = RELA_BUFFER_INIT, c = RELA_BUFFER_INIT;
    const rela_tokeniser_options to = { .struct_size = sizeof to,
                                        .language = language,
                                        .no_escape = bits & 1,
                                        .aggressive_dash = bits & 2,
                                        .lowercase = bits & 4 };
    const rela_detokeniser_options from = { .struct_size = sizeof from,
                                            .language = language,
                                            .no_unescape = bits & 1 };
    const rela_normaliser_options normal = { .struct_size = sizeof normal,
                                             .language = language,
                                             .form = (rela_unicode_form)(bits % 3),
                                             .wide_punctuation = bits & 4,
                                             .remove_control = bits & 8,
                                             .collapse_blanks = bits & 16 };
    HOLDS(rela_tokeniser_create(&t, &to, NULL) == RELA_OK &&
          rela_detokeniser_create(&d, &from, NULL) == RELA_OK &&
          rela_normaliser_create(&n, &normal, NULL) == RELA_OK);
    HOLDS(rela_buffer_append(&a, "x ", 2, NULL) == RELA_OK &&
          rela_buffer_append(&b, "x ", 2, NULL) == RELA_OK &&
          rela_buffer_append(&c, "x ", 2, NULL) == RELA_OK);
    HOLDS(rela_normalise(&a, n, line, len, NULL) == RELA_OK);
    check_output(&a);
    HOLDS(rela_tokenise(&b, t, a.data + 2, a.len - 2, NULL) == RELA_OK);
    check_output(&b);
    HOLDS(rela_detokenise(&c, d, b.data + 2, b.len - 2, NULL) == RELA_OK);
    check_output(&c);
    rela_tokeniser_destroy(t);
    rela_detokeniser_destroy(d);
    rela_normaliser_destroy(n);
    rela_buffer_free(&a);
    rela_buffer_free(&b);
    rela_buffer_free(&c);
    return 0;
}
