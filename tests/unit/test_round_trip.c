/* SPDX-License-Identifier: MIT */
/* tests/unit/test_round_trip.c - what is written is read: codes, vocabularies, counts and
 * truecasing models made of text with any characters, and vocabularies of other tools with any
 * tokens. */
#include "check.h"
#include "scratch.h"

#include "base/rng.h"
#include "base/str.h"

#include "rela/subword.h"
#include "rela/text.h"
#include "rela/vocab.h"

enum { ROUNDS = 1000, TOKEN_MAX = 64 };

/* clang-format off */
static const char *const ODD[] = {
    "a", "b", "A", "B", "\xC3\x9C", "\xC3\xBC", "\xC3\x9F", "\xC4\xB0", "\xE6\xBC\xA2", "@@", "@", "</w>", "<", ">", "#", "#version: 0.2", "|", "&amp;",
    "\"", "'", "\\", ":", "-", "(", ")", "(1/2)", "<pad>", "<unk>", "<eos>", "<s>", "</s>", "<blank>", "1", "0",
    "\t", "\r", "\r\r", "\v", "\f", "\b", "\x1B", "\x1C", "\x1D", "\x1E", "\x1F", "\x7F", "\x01",
    "\xC2\x85", "\xC2\xA0", "\xC2\xAD", "\xE2\x80\x83", "\xE2\x80\x8B", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE3\x80\x80",
    "\xEF\xBB\xBF", "\xEF\xBF\xBD", "\xEF\xBF\xBE", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80", "\xF0\x90\x90\x80",
    " ", "\n", "\r\n", "\xFF", "\xC2", /* the last: no part of a token that is well formed */
};
/* clang-format on */
enum { N_ODD = sizeof ODD / sizeof ODD[0], N_ENDS = 5 };

static void add_odd(rela_buffer *b, rela_rng *r, size_t n_overlaps)
{
    rela_error err;
    const char *part = ODD[rela_rng_below(r, n_overlaps)];
    /* Letters often, so that there is something to merge. */
    if (rela_rng_below(r, 2))
        part = ODD[rela_rng_below(r, 4)];
    CHECK_OK(rela_buffer_append_text(b, part, &err), err);
}

static void make_text(rela_buffer *b, rela_rng *r)
{
    rela_error err;
    rela_buffer_clear(b);
    for (uint64_t n = 1 + rela_rng_below(r, 1 + rela_rng_below(r, 300)); n > 0; n--) {
        add_odd(b, r, N_ODD);
        if (rela_rng_below(r, 4) == 0)
            CHECK_OK(rela_buffer_append_char(b, " \n"[rela_rng_below(r, 2)], &err), err);
    }
}

static rela_word_counts *count(const rela_buffer *text)
{
    rela_error err;
    rela_word_counts *c = NULL;
    CHECK_OK(rela_word_counts_create(&c, &err), err);
    CHECK_OK(rela_word_counts_add_text(c, text->data, text->len, &err), err);
    return c;
}

/* ---- codes ---- */

static void codes_of_any_text_are_read(void **state)
{
    (void)state;
    rela_rng r = rela_rng_start(3, 1);
    rela_buffer text = RELA_BUFFER_INIT, codes = RELA_BUFFER_INIT;
    for (int i = 0; i < ROUNDS; i++) {
        rela_error err = { RELA_OK, "" };
        rela_bpe *bpe = NULL;
        rela_bpe_learn_options o;
        rela_bpe_learn_report report = { .struct_size = sizeof report };
        rela_bpe_learn_options_init(&o, sizeof o);
        o.n_symbols = 100;
        make_text(&text, &r);
        rela_word_counts *c = count(&text);
        rela_buffer_clear(&codes);
        CHECK_OK(rela_bpe_learn(&codes, &report, c, &o, &err), err);
        CHECK(rela_bpe_parse(&bpe, "codes", codes.data, codes.len, NULL, &err) == RELA_OK,
              "round %d: %s in\n%s", i, err.message, codes.data);
        CHECK(rela_bpe_n_merges(bpe) == report.n_merges, "round %d: %d merges written, %d read", i,
              (int)report.n_merges, (int)rela_bpe_n_merges(bpe));
        rela_bpe_free(bpe);
        rela_word_counts_destroy(c);
    }
    rela_buffer_free(&text);
    rela_buffer_free(&codes);
}

/* ---- counts ---- */

/* The lines of `rela vocab`. */
static void write_counts(rela_buffer *out, rela_word_counts *c)
{
    rela_error err;
    rela_buffer_clear(out);
    CHECK_OK(rela_word_counts_sort(c, 0, &err), err);
    CHECK_OK(rela_word_counts_write(out, c, 0, 1, &err), err);
}

static void counts_of_any_text_are_read(void **state)
{
    (void)state;
    rela_rng r = rela_rng_start(5, 1);
    rela_buffer text = RELA_BUFFER_INIT, first = RELA_BUFFER_INIT, second = RELA_BUFFER_INIT;
    for (int i = 0; i < ROUNDS; i++) {
        rela_error err = { RELA_OK, "" };
        rela_word_counts *back = NULL;
        make_text(&text, &r);
        rela_word_counts *c = count(&text);
        write_counts(&first, c);
        CHECK_OK(rela_word_counts_create(&back, &err), err);
        CHECK(rela_word_counts_add_dictionary(back, spill("counts", first.data, first.len),
                                              RELA_DUPLICATES_SUM, &err) == RELA_OK,
              "round %d: %s", i, err.message);
        write_counts(&second, back);
        CHECK(first.len == second.len &&
                  (first.len == 0 || memcmp(first.data, second.data, first.len) == 0),
              "round %d: %s and\n%s", i, first.data, second.data);
        rela_word_counts_destroy(back);
        rela_word_counts_destroy(c);
    }
    rela_buffer_free(&text);
    rela_buffer_free(&first);
    rela_buffer_free(&second);
}

/* ---- vocabularies ---- */

/* Written and read it has the same tokens. */
static void check_vocab(const rela_vocab *v, int round)
{
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    rela_vocab *back = NULL;
    CHECK_OK(rela_vocab_write(&text, v, &err), err);
    CHECK(rela_vocab_parse(&back, "vocab", text.data, text.len, &err) == RELA_OK,
          "round %d: %s in\n%s", round, err.message, text.data);
    CHECK(rela_vocab_size(back) == rela_vocab_size(v), "round %d: %d tokens written, %d read",
          round, (int)rela_vocab_size(v), (int)rela_vocab_size(back));
    for (int32_t i = 0; i < (int32_t)rela_vocab_size(v); i++)
        CHECK(strcmp(rela_vocab_token(v, i), rela_vocab_token(back, i)) == 0, "round %d: token %d",
              round, (int)i);
    rela_vocab_free(back);
    rela_buffer_free(&text);
}

static void vocabularies_of_any_text_are_read(void **state)
{
    (void)state;
    rela_rng r = rela_rng_start(7, 1);
    rela_buffer text = RELA_BUFFER_INIT;
    for (int i = 0; i < ROUNDS; i++) {
        rela_error err = { RELA_OK, "" };
        rela_vocab *v = NULL;
        make_text(&text, &r);
        rela_word_counts *c = count(&text);
        CHECK_OK(rela_vocab_build(&v, NULL, c, 0, 1, &err), err);
        check_vocab(v, i);
        rela_vocab_free(v);
        rela_word_counts_destroy(c);
    }
    rela_buffer_free(&text);
}

/* A token as Marian would quote it, or between single quotes. */
static void add_marian(rela_buffer *out, rela_span token, bool escapes)
{
    rela_error err;
    CHECK_OK(rela_buffer_append_char(out, escapes ? '"' : '\'', &err), err);
    for (size_t i = 0; i < token.len; i++) {
        const char c = token.text[i];
        const char *short_form = c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\t' ? "\\t" : NULL;
        if (escapes && short_form)
            CHECK_OK(rela_buffer_append_text(out, short_form, &err), err);
        else if (escapes && (c == '"' || c == '\\'))
            CHECK_OK(rela_buffer_printf(out, &err, "\\%c", c), err);
        else
            CHECK_OK(rela_buffer_printf(out, &err, !escapes && c == '\'' ? "''" : "%c", c), err);
    }
    CHECK_OK(rela_buffer_append_char(out, escapes ? '"' : '\'', &err), err);
}

static void make_foreign(rela_buffer *out, rela_rng *r, rela_vocab_format form)
{
    static const char *const START[] = { "</s>: 0\n<unk>: 1\n", "", "<unk>\n",
                                         "<unk>\n<pad>\n<s>\n</s>\n" };
    rela_error err;
    rela_buffer token = RELA_BUFFER_INIT;
    rela_buffer_clear(out);
    CHECK_OK(rela_buffer_append_text(out, START[form], &err), err);
    const uint64_t n = 1 + rela_rng_below(r, 4);
    for (uint64_t i = 0; i < n; i++) {
        rela_buffer_clear(&token);
        for (uint64_t k = 1 + rela_rng_below(r, 3); k > 0; k--)
            add_odd(&token, r, form == RELA_VOCAB_MARIAN ? N_ODD : N_ODD - N_ENDS);
        if (form == RELA_VOCAB_MARIAN)
            add_marian(out, (rela_span){ token.data, token.len }, rela_rng_below(r, 4) != 0);
        else
            CHECK_OK(rela_buffer_append(out, token.data, token.len, &err), err);
        if (form == RELA_VOCAB_MARIAN)
            CHECK_OK(rela_buffer_printf(out, &err, ": %d", (int)i + 2), err);
        else if (form == RELA_VOCAB_FAIRSEQ)
            CHECK_OK(rela_buffer_append_text(out, " 7", &err), err);
        CHECK_OK(rela_buffer_append_char(out, '\n', &err), err);
    }
    rela_buffer_free(&token);
}

static void vocabularies_of_other_tools_are_read_again_or_refused(void **state)
{
    (void)state;
    rela_rng r = rela_rng_start(11, 1);
    rela_buffer text = RELA_BUFFER_INIT;
    int taken = 0;
    for (int i = 0; i < 10 * ROUNDS; i++) {
        rela_error err = { RELA_OK, "" };
        rela_vocab *v = NULL;
        const rela_vocab_format form = (rela_vocab_format)(i % 4);
        make_foreign(&text, &r, form);
        const rela_status st =
            rela_vocab_import(&v, spill("foreign", text.data, text.len), form, &err);
        CHECK(st == RELA_OK || (st == RELA_FORMAT && err.message[0]), "round %d: status %d", i, st);
        if (st != RELA_OK)
            continue;
        check_vocab(v, i);
        taken++;
        rela_vocab_free(v);
    }
    print_message("%d of %d were taken\n", taken, 10 * ROUNDS);
    CHECK(taken > ROUNDS, "only %d were taken", taken);
    rela_buffer_free(&text);
}

/* ---- truecasing ---- */

static void truecasing_models_of_any_text_are_read(void **state)
{
    (void)state;
    static const rela_truecaser_options PLAIN = { .struct_size = sizeof PLAIN };
    rela_rng r = rela_rng_start(13, 1);
    rela_buffer text = RELA_BUFFER_INIT, model = RELA_BUFFER_INIT;
    for (int i = 0; i < ROUNDS; i++) {
        rela_error err = { RELA_OK, "" };
        rela_truecase_counts *c = NULL;
        rela_truecaser *t = NULL;
        make_text(&text, &r);
        CHECK_OK(rela_truecase_counts_create(&c, true, &err), err);
        CHECK_OK(rela_truecase_counts_add(c, text.data, text.len, 1, &err), err);
        rela_buffer_clear(&model);
        CHECK_OK(rela_truecase_counts_write(&model, c, &err), err);
        CHECK(rela_truecaser_parse(&t, "model", model.data ? model.data : "", model.len, &PLAIN,
                                   &err) == RELA_OK,
              "round %d: %s in\n%s", i, err.message, model.data);
        rela_truecaser_free(t);
        rela_truecase_counts_destroy(c);
    }
    rela_buffer_free(&text);
    rela_buffer_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_any_text_are_read),
        cmocka_unit_test(counts_of_any_text_are_read),
        cmocka_unit_test(vocabularies_of_any_text_are_read),
        cmocka_unit_test(vocabularies_of_other_tools_are_read_again_or_refused),
        cmocka_unit_test(truecasing_models_of_any_text_are_read),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
