/* SPDX-License-Identifier: MIT */
/* tests/unit/test_settings.c - the settings of a run: what is written to config.yml is what the
 * program reads with --config, for names of any bytes. */
#include "check.h"
#include "scratch.h"

#include "base/rng.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "cli.h"
#include "train/train_options.h"

enum { ROUNDS = 3000, TEXT_MAX = 40 };

extern const rela_command rela_commands_train[];

/* The command's own bar and output are not used here. */
void rela_cli_progress(rela_cli *cli, rela_progress *p, const char *label, const char *unit,
                       uint64_t total)
{
    (void)cli, (void)p, (void)label, (void)unit, (void)total;
}

rela_status rela_cli_print(const rela_buffer *text, rela_error *err)
{
    (void)text, (void)err;
    return RELA_OK;
}

/* clang-format off */
static const rela_option COMMON[] = {
    { "threads", 't', RELA_OPTION_INT, offsetof(rela_train_options, threads), 0, 256, "0", "N", "a" },
    { "seed", 0, RELA_OPTION_INT, offsetof(rela_train_options, seed), 0, 9007199254740991.0, "1", "N", "b" },
    { .name = NULL },
};

/* Characters that somebody may take for an end, a mark or nothing. */
static const char *const ODD[] = {
    "\"", "'", "\\", "#", ": ", " #", "- ", "%", "@", "`", "{", "[", ",", "&", "*", "!", "|", ">", "~", "null", "true",
    " ", "  ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\b", "\a", "\x1B", "\x7F", "\x01", "\x1F",
    "\xC2\x80", "\xC2\x85", "\xC2\x9F", "\xC2\xA0", "\xC2\xAD", "\xE2\x80\x8B", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAE",
    "\xEE\x80\x80", "\xEF\xBB\xBF", "\xEF\xBF\xBD", "\xEF\xBF\xBE", "\xEF\xBF\xBF", "\xF0\x9F\x98\x80", "\xF0\x9F\xBF\xBE", "\xF4\x8F\xBF\xBF",
    "\\x41", "\\u0041", "\\\"", "a", "b", "/", ".", "\xC3\xBC", "\xE6\xBC\xA2",
    "\xFF", "\xC2", "\xED\xA0\x80", "\xC0\xAF", "\xF4\x90\x80\x80", /* not UTF-8, from here on */
};
/* clang-format on */
enum { N_ODD = sizeof ODD / sizeof ODD[0], N_BAD = 5 };

/* Some of them in a row; never empty, as no name is. */
static void make_text(char out[TEXT_MAX], rela_rng *r, bool bytes, size_t n_overlaps)
{
    size_t len = 0;
    const size_t want = 1 + (size_t)rela_rng_below(r, TEXT_MAX - 8);
    while (len < want) {
        if (bytes) {
            out[len++] = (char)(1 + rela_rng_below(r, 255));
            continue;
        }
        const char *part = ODD[rela_rng_below(r, n_overlaps)];
        memcpy(out + len, part, strlen(part));
        len += strlen(part);
    }
    out[len] = '\0';
}

static const char **text_at(rela_train_options *o, size_t i)
{
    const char **const all[] = { &o->train_src, &o->train_tgt, &o->valid_src,
                                 &o->valid_tgt, &o->out,       &o->init,
                                 &o->codes,     &o->vocab_src, &o->vocab_tgt };
    return i < sizeof all / sizeof all[0] ? all[i] : NULL;
}

/* Reads text as --config does into the fields of the command; they point into the state. */
static rela_option_state *read_back(rela_train_options *o, const char *text, size_t len)
{
    rela_error err = { RELA_OK, "" };
    const rela_option_group groups[] = { { rela_commands_train[0].options, o }, { COMMON, o } };
    rela_option_state *s = rela_options_create(groups, 2);
    assert_non_null(s);
    CHECK_OK(rela_options_default(s, &err), err);
    const rela_status st = rela_cli_config(s, spill("config.yml", text, len), &err);
    CHECK(st == RELA_OK, "%s in\n%.*s", err.message, (int)len, text);
    return s;
}

/* The training text: a field for the first file, a list in the command. */
static void check_files(const rela_train_options *a, const rela_train_options *b,
                        const rela_option *row)
{
    const rela_list *l = (const void *)((const char *)b + row->offset);
    const char *file = strcmp(row->name, "train-src") == 0   ? a->train_src
                       : strcmp(row->name, "train-tgt") == 0 ? a->train_tgt
                                                             : NULL;
    CHECK(l->n == (file ? 1 : 0), "%s: %zu files", row->name, l->n);
    CHECK(!file || strcmp(l->items[0], file) == 0, "%s: '%s'", row->name, l->items[0]);
}

/* All settings, by the table of the command. b: its fields. */
static void check_same(const rela_train_options *a, const rela_train_options *b)
{
    for (const rela_option *row = rela_commands_train[0].options; row->name; row++) {
        if (row->type == RELA_OPTION_FILES) {
            check_files(a, b, row);
            continue;
        }
        if (row->offset >= sizeof *a) /* of the command alone */
            continue;
        const void *x = (const char *)a + row->offset, *y = (const char *)b + row->offset;
        if (row->type == RELA_OPTION_INT || row->type == RELA_OPTION_REAL) {
            CHECK(memcmp(x, y, 8) == 0, "%s", row->name);
        } else if (row->type == RELA_OPTION_FLAG) {
            CHECK(*(const bool *)x == *(const bool *)y, "%s", row->name);
        } else {
            const char *s = *(const char *const *)x, *t = *(const char *const *)y;
            CHECK(!s == !t && (!s || strcmp(s, t) == 0), "%s: '%s' and '%s'", row->name,
                  s ? s : "none", t ? t : "none");
        }
    }
    assert_int_equal(a->threads, b->threads);
    assert_int_equal(a->seed, b->seed);
}

static void check_round(rela_rng *r, int kind)
{
    static const char *const PRESETS[] = { "paper", "base", "tiny", "demo", "align" };
    rela_train_own own;
    rela_train_options given, o, *back = calloc(1, rela_commands_train[0].options_size);
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    char room[9][TEXT_MAX];
    bool good = true;
    rela_train_options_init(&given, sizeof given);
    assert_non_null(back);
    rela_train_options_init(back, sizeof *back);
    given.preset = PRESETS[rela_rng_below(r, 5)];
    for (size_t i = 0; text_at(&given, i); i++) {
        make_text(room[i], r, kind == 0, kind == 1 ? N_ODD : N_ODD - N_BAD);
        *text_at(&given, i) = room[i];
    }
    /* --init cannot go with the others, and is read at once: it joins the resolved settings. */
    const bool valid = rela_utf8_valid(given.init, strlen(given.init)) == strlen(given.init);
    const char *init = valid && rela_rng_below(r, 2) ? given.init : NULL;
    if (init)
        given.codes = given.vocab_src = given.vocab_tgt = NULL;
    given.init = NULL;
    for (size_t i = 0; text_at(&given, i); i++) {
        const char *name = *text_at(&given, i);
        good = good && (!name || rela_utf8_valid(name, strlen(name)) == strlen(name));
    }
    given.merges = 0;
    given.seed = (int64_t)rela_rng_below(r, UINT64_C(1) << 53);
    given.lr = rela_rng_real(r) * 1e-3;
    given.dropout = rela_rng_real(r) * 0.9;
    given.tokenise = rela_rng_below(r, 2);
    given.src_lang = "en";
    given.tgt_lang = "pt-BR";
    const rela_status st = rela_train_resolve(&o, &own, &given, &err);
    CHECK(st == (good ? RELA_OK : RELA_ARG), "status %d: %s", st, err.message);
    if (!good) {
        assert_non_null(strstr(err.message, "is not UTF-8"));
        free(back);
        return;
    }
    o.init = init;
    o.hold_out = rela_train_hold_out(&o); /* as a run does */
    CHECK_OK(rela_train_options_dump(&text, &o, &err), err);
    rela_option_state *s = read_back(back, text.data, text.len);
    check_same(&o, back);
    rela_options_destroy(s);
    rela_buffer_free(&text);
    free(back);
}

static void names_of_any_bytes_come_back_or_are_refused(void **state)
{
    (void)state;
    rela_rng r = rela_rng_start(17, 1);
    for (int i = 0; i < ROUNDS; i++)
        check_round(&r, i % 3);
}

static void a_scalar_is_one_line_of_printable_characters(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    for (uint32_t code = 1; code <= 0x10FFFF; code++) {
        char bytes[8];
        rela_buffer text = RELA_BUFFER_INIT;
        if (code == 0xD800)
            code = 0xE000;
        if (code == 0x20000) /* nothing special between here and the last planes */
            code = 0x10FF00;
        const size_t n = rela_utf8_put(bytes, code);
        CHECK_OK(rela_yaml_quote(&text, bytes, n, &err), err);
        const bool same = text.len == n + 2 && memcmp(text.data + 1, bytes, n) == 0;
        bool ascii = text.data[0] == '"' && text.data[text.len - 1] == '"';
        for (size_t i = 0; i < text.len && !same; i++)
            ascii = ascii && text.data[i] >= 0x20 && text.data[i] < 0x7F;
        CHECK(same || ascii, "U+%04X: %s", (unsigned)code, text.data);
        CHECK(!same || (code >= 0x20 && code != '"' && code != '\\' && code != 0x7F &&
                        (code < 0x80 || code > 0x9F) && code != 0x2028 && code != 0x2029 &&
                        code != 0xFEFF && code != 0xFFFE && code != 0xFFFF),
              "U+%04X as it is", (unsigned)code);
        rela_buffer_free(&text);
    }
    rela_buffer text = RELA_BUFFER_INIT;
    assert_int_equal(rela_yaml_quote(&text, "a\xFF", 2, &err), RELA_ARG);
    rela_buffer_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_any_bytes_come_back_or_are_refused),
        cmocka_unit_test(a_scalar_is_one_line_of_printable_characters),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
