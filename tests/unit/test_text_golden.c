/* SPDX-License-Identifier: MIT */
/* tests/unit/test_text_golden.c - the text commands against cases made by tools/golden/text.py. */
#include "base/file.h"
#include "base/mem.h"
#include "check.h"
#include "rela/text.h"

#include <stdlib.h>
#include <string.h>

enum { FIELDS = 5 };

static const char PATH[] = "tests/golden/text.tsv";

typedef struct golden {
    rela_buffer field[FIELDS]; /* command, language, options, input, output */
    uint64_t number;
} golden;

static rela_error err;
static rela_buffer model; /* of the learn case, for the truecase cases after it */

static void ok(rela_status st)
{
    CHECK(st == RELA_OK, "%s", err.message);
}

static bool has(const golden *g, const char *option)
{
    const char *at = strstr(g->field[2].data, option);
    return at && (at == g->field[2].data || at[-1] == ' ');
}

static void read_field(rela_buffer *out, rela_span s)
{
    rela_buffer_clear(out);
    ok(rela_buffer_append(out, "", 0, &err));
    for (size_t i = 0; i < s.len; i++) {
        unsigned long byte = (unsigned char)s.text[i];
        if (byte == '\\') { /* \xHH */
            const char digits[] = { s.text[i + 2], s.text[i + 3], '\0' };
            byte = strtoul(digits, NULL, 16);
            i += 3;
        }
        ok(rela_buffer_append_char(out, (char)byte, &err));
    }
}

static void run_tokenise(const golden *g, rela_buffer *out)
{
    rela_tokeniser_options o = { .struct_size = sizeof o,
                                 .language = g->field[1].data,
                                 .no_escape = has(g, "no-escape"),
                                 .aggressive_dash = has(g, "aggressive-dash") };
    if (has(g, "web"))
        o.protect = rela_tokeniser_patterns(&o.n_protect, "web");
    if (has(g, "basic"))
        o.protect = rela_tokeniser_patterns(&o.n_protect, "basic");
    rela_tokeniser *t = NULL;
    ok(rela_tokeniser_create(&t, &o, &err));
    ok(rela_tokenise(out, t, g->field[3].data, g->field[3].len, &err));
    rela_tokeniser_destroy(t);
}

static void run_detokenise(const golden *g, rela_buffer *out)
{
    const rela_detokeniser_options o = { .struct_size = sizeof o,
                                         .language = g->field[1].data,
                                         .no_unescape = has(g, "no-unescape") };
    rela_detokeniser *d = NULL;
    ok(rela_detokeniser_create(&d, &o, &err));
    ok(rela_detokenise(out, d, g->field[3].data, g->field[3].len, &err));
    rela_detokeniser_destroy(d);
}

static void run_normalise(const golden *g, rela_buffer *out)
{
    const rela_normaliser_options o = { .struct_size = sizeof o,
                                        .language = g->field[1].data,
                                        .keep_breaks = true,
                                        .keep_penn = has(g, "no-penn"),
                                        .no_quote_commas = has(g, "no-quote-commas"),
                                        .no_numbers = has(g, "no-numbers"),
                                        .wide_punctuation = has(g, "wide-punctuation"),
                                        .remove_control = has(g, "remove-control") };
    rela_normaliser *n = NULL;
    ok(rela_normaliser_create(&n, &o, &err));
    ok(rela_normalise(out, n, g->field[3].data, g->field[3].len, &err));
    rela_normaliser_destroy(n);
}

static void run_learn(const golden *g, rela_buffer *out)
{
    rela_truecase_counts *c = NULL;
    ok(rela_truecase_counts_create(&c, false, &err));
    const char *at = g->field[3].data, *end = at + g->field[3].len;
    for (uint64_t number = 1; at < end; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        ok(rela_truecase_counts_add(c, at, (size_t)(stop - at), number, &err));
        at = stop + 1;
    }
    ok(rela_truecase_counts_write(out, c, &err));
    rela_truecase_counts_destroy(c);
    ok(rela_buffer_append(&model, out->data, out->len, &err));
}

static void run_truecase(const golden *g, rela_buffer *out)
{
    const rela_truecaser_options o = { .struct_size = sizeof o,
                                       .all_words = has(g, "no-known"),
                                       .lowercase = has(g, "asr") };
    rela_truecaser *t = NULL;
    ok(rela_truecaser_parse(&t, "model", model.data, model.len, &o, &err));
    ok(rela_truecase(out, t, g->field[3].data, g->field[3].len, &err));
    rela_truecaser_free(t);
}

static void run_undo(const golden *g, rela_buffer *out)
{
    ok(rela_detruecase(out, g->field[3].data, g->field[3].len, has(g, "headline"), &err));
}

typedef struct command {
    const char *name;
    void (*run)(const golden *g, rela_buffer *out);
} command;

static const command COMMANDS[] = {
    { "tokenise", run_tokenise }, { "detokenise", run_detokenise }, { "normalise", run_normalise },
    { "learn", run_learn },       { "truecase", run_truecase },     { "undo", run_undo },
};

static void check_case(const golden *g)
{
    rela_buffer out = RELA_BUFFER_INIT;
    size_t i = 0;
    while (strcmp(COMMANDS[i].name, g->field[0].data) != 0)
        i++;
    ok(rela_buffer_append(&out, "", 0, &err));
    COMMANDS[i].run(g, &out);
    const rela_buffer *want = &g->field[4];
    CHECK(out.len == want->len && memcmp(out.data, want->data, out.len) == 0,
          "%s:%llu: %s -l %s %s\n   in: %s\n  got: %s\n want: %s", PATH,
          (unsigned long long)g->number, g->field[0].data, g->field[1].data, g->field[2].data,
          g->field[3].data, out.data, want->data);
    rela_buffer_free(&out);
}

static void read_case(golden *g, const rela_line *line)
{
    const char *at = line->text, *end = at + line->len;
    g->number = line->number;
    for (int i = 0; i < FIELDS; i++) {
        const char *tab = memchr(at, '\t', (size_t)(end - at));
        CHECK((tab != NULL) == (i < FIELDS - 1), "%s:%llu: not %d fields", PATH,
              (unsigned long long)g->number, FIELDS);
        const char *stop = tab ? tab : end;
        read_field(&g->field[i], (rela_span){ at, (size_t)(stop - at) });
        at = stop + 1;
    }
}

static void every_golden_case_comes_out_as_the_reference_has_it(void **state)
{
    (void)state;
    rela_reader *r = NULL;
    rela_line line;
    golden g = { .number = 0 };
    ok(rela_reader_open(&r, PATH, NULL, &err));
    for (ok(rela_reader_line(r, &line, &err)); line.text; ok(rela_reader_line(r, &line, &err))) {
        read_case(&g, &line);
        check_case(&g);
    }
    CHECK(g.number > 1000, "only %llu cases", (unsigned long long)g.number);
    rela_reader_close(r);
    for (int i = 0; i < FIELDS; i++)
        rela_buffer_free(&g.field[i]);
    rela_buffer_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_golden_case_comes_out_as_the_reference_has_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
