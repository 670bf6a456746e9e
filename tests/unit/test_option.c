/* SPDX-License-Identifier: MIT */
/* tests/unit/test_option.c - parsing, configuration keys and the texts made from option tables. */
#include "base/fault.h"
#include "base/mem.h"
#include "base/option.h"
#include "base/str.h"
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fields {
    bool loud;
    bool warm;
    int64_t beam;
    double rate;
    const char *name, *file, *kind, *many, *licence;
    bool organise;
    rela_list items;
} fields;

typedef struct common {
    int64_t threads, seed;
    const char *config;
    bool help;
} common;

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "loud", 'l', RELA_OPTION_FLAG, offsetof(fields, loud), 0, 0, NULL, NULL, "make noise" },
    { "warm", 0, RELA_OPTION_FLAG, offsetof(fields, warm), 0, 0, "true", NULL, "start warm" },
    { "beam", 'b', RELA_OPTION_INT, offsetof(fields, beam), 1, 64, "4", "N", "hypotheses" },
    { "rate", 0, RELA_OPTION_REAL, offsetof(fields, rate), -1, 1e6, "0.1", "X", "how fast" },
    { "name", 'n', RELA_OPTION_TEXT, offsetof(fields, name), 0, 0, NULL, "TEXT",
      "a text whose help is long enough to be broken into two lines of the screen, so that the "
      "second line must be indented" },
    { "file", 0, RELA_OPTION_FILE, offsetof(fields, file), 0, 0, NULL, "FILE", "it's a file" },
    { "kind", 0, RELA_OPTION_CHOICE, offsetof(fields, kind), 0, 0, "red", "red|green|blue",
      "the colour [of it]: which" },
    { "many", 0, RELA_OPTION_CHOICE, offsetof(fields, many), 0, 0, NULL,
      "alabaster|amaranth|apricot|burgundy|carmine|celadon|cerulean|chartreuse|cinnabar|cobalt|ochre",
      "a list that is longer than a line" },
    { "organise", 0, RELA_OPTION_FLAG, offsetof(fields, organise), 0, 0, NULL, NULL, "tidy up" },
    { "licence", 0, RELA_OPTION_TEXT, offsetof(fields, licence), 0, 0, NULL, "TEXT",
      "who may use it [anyone]" },
    { "item", 'i', RELA_OPTION_LIST, offsetof(fields, items), 0, 0, "first", "TEXT", "things" },
    { .name = NULL },
};
static const rela_option COMMON[] = {
    { "threads", 't', RELA_OPTION_INT, offsetof(common, threads), 0, 256, "0", "N", "threads" },
    { "seed", 0, RELA_OPTION_INT, offsetof(common, seed), 0, 9007199254740991.0, "1", "N", "seed" },
    { "config", 0, RELA_OPTION_FILE, offsetof(common, config), 0, 0, NULL, "FILE", "settings" },
    { "help", 'h', RELA_OPTION_FLAG, offsetof(common, help), 0, 0, NULL, NULL, "this text" },
    { .name = NULL },
};
/* clang-format on */

typedef struct fixture {
    fields f;
    common c;
    rela_list operands;
    rela_option_state *state;
    rela_error err;
} fixture;

static void open_fixture(fixture *x)
{
    *x = (fixture){ .err = { RELA_OK, "" } };
    const rela_option_group groups[] = { { OPTIONS, &x->f }, { COMMON, &x->c } };
    x->state = rela_options_create(groups, 2);
    CHECK(x->state, "no memory");
    CHECK_OK(rela_options_default(x->state, &x->err), x->err);
}

/* Splits at '~', so that a table row can hold a command line with blanks. */
static rela_status parse(fixture *x, const char *line)
{
    static char text[512];
    const char *argv[32];
    int argc = 0;
    (void)snprintf(text, sizeof text, "%s", line);
    for (char *p = text; *line; p = NULL) {
        argv[argc] = strtok(p, "~");
        if (!argv[argc])
            break;
        if (strcmp(argv[argc], "<empty>") == 0)
            argv[argc] = "";
        argc++;
    }
    return rela_options_parse(x->state, &x->operands, argc, argv, &x->err);
}

static void defaults_come_from_the_table(void **state)
{
    (void)state;
    fixture x;
    open_fixture(&x);
    CHECK(!x.f.loud && x.f.warm && x.f.beam == 4 && x.f.rate == 0.1, "numbers");
    CHECK(!x.f.name && !x.f.file && strcmp(x.f.kind, "red") == 0, "texts");
    CHECK(x.f.items.n == 1 && strcmp(x.f.items.items[0], "first") == 0, "list");
    CHECK(!rela_options_given(x.state, "beam") && !rela_options_given(x.state, "nothing"), "given");
    rela_options_destroy(x.state);
    rela_options_destroy(NULL);
}

static void all_forms_of_an_option_are_read(void **state)
{
    (void)state;
    fixture x;
    open_fixture(&x);
    CHECK_OK(parse(&x, "in~--beam=8~-l~--no-warm~--rate~-0.5~-nAnna~--kind~blue~out~-i~a~-i=b~"
                       "--threads~3~-~--~--beam"),
             x.err);
    CHECK(x.f.beam == 8 && x.f.loud && !x.f.warm && x.f.rate == -0.5, "beam %d", (int)x.f.beam);
    CHECK(strcmp(x.f.name, "Anna") == 0 && strcmp(x.f.kind, "blue") == 0 && x.c.threads == 3, "");
    CHECK(x.f.items.n == 2 && strcmp(x.f.items.items[1], "b") == 0, "%zu items", x.f.items.n);
    CHECK(x.operands.n == 4 && strcmp(x.operands.items[1], "out") == 0 &&
              strcmp(x.operands.items[2], "-") == 0 && strcmp(x.operands.items[3], "--beam") == 0,
          "%zu operands", x.operands.n);
    CHECK(rela_options_given(x.state, "beam") && !rela_options_given(x.state, "file"), "given");
    rela_options_destroy(x.state);
}

static void both_spellings_are_one_option(void **state)
{
    (void)state;
    static const char *const LINES[] = { "--organise~--licence~MIT", "--organize~--license=MIT" };
    for (size_t i = 0; i < 2; i++) {
        fixture x;
        open_fixture(&x);
        CHECK_OK(parse(&x, LINES[i]), x.err);
        CHECK(x.f.organise && x.f.licence && strcmp(x.f.licence, "MIT") == 0, "%s", LINES[i]);
        CHECK(rela_options_given(x.state, "organise"), "%s: not given", LINES[i]);
        assert_int_equal(parse(&x, "--no-organize"), RELA_ARG);
        assert_string_equal(x.err.message, "option --organise is given twice");
        CHECK_OK(rela_options_set(x.state, "license", "GPL", &x.err), x.err);
        assert_string_equal(x.f.licence, "MIT");
        rela_options_destroy(x.state);
    }
}

static const struct {
    const char *line;
    int64_t beam;
} COUNTS[] = { { "--beam=64", 64 }, { "--beam=1", 1 }, { "--beam=+2", 2 }, { "--beam=007", 7 } };

static void numbers_may_use_their_whole_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof COUNTS / sizeof COUNTS[0]; i++) {
        fixture x;
        open_fixture(&x);
        CHECK_OK(parse(&x, COUNTS[i].line), x.err);
        assert_int_equal(x.f.beam, COUNTS[i].beam);
        rela_options_destroy(x.state);
    }
    int64_t big = 0;
    const rela_option rows[] = {
        { "n", 0, RELA_OPTION_INT, 0, -1e15, 9007199254740991.0, NULL, "N", "x" },
        { .name = NULL },
    };
    static const struct {
        const char *text;
        int64_t value;
    } UNITS[] = { { "10K", 10000 },     { "-2M", -2000000 },
                  { "20k", 20000 },     { "3g", 3000000000 },
                  { "1G", 1000000000 }, { "9007199254740991", 9007199254740991 } };
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        const rela_option_group group = { rows, &big };
        rela_option_state *s = rela_options_create(&group, 1);
        CHECK_OK(rela_options_set(s, "n", UNITS[i].text, &err), err);
        assert_int_equal(big, UNITS[i].value);
        rela_options_destroy(s);
    }
}

static const struct {
    const char *line;
    const char *message;
} BAD[] = {
    { "--bogus", "unknown option --bogus" },
    { "--beem=3", "unknown option --beem=3; did you mean --beam?" },
    { "--Beam=3", "unknown option --Beam=3; did you mean --beam?" },
    { "--BEAM=3", "unknown option --BEAM=3; did you mean --beam?" },
    { "-x", "unknown option -x" },
    { "-beam=3", "unknown option -beam=3; did you mean --beam?" },
    { "-name", "unknown option -name; did you mean --name?" },                 /* not -n ame */
    { "--beam-size=3", "unknown option --beam-size=3; did you mean --beam?" }, /* Marian */
    { "--beam_size", "unknown option --beam_size; did you mean --beam?" },
    { "--nbest=3", "unknown option --nbest=3" }, /* there is no such option here */
    { "--workers=3", "unknown option --workers=3; did you mean --threads?" },
    { "-lc", "unknown option -lc; did you mean --loud?" },
    { "-ltrue", "unknown option -ltrue; did you mean --loud?" },
    { "-boat", "option --beam: 'oat' is not a whole number" },
    { "---", "unknown option ---" },
    { "--=3", "unknown option --=3" },
    { "--bea=3", "unknown option --bea=3; did you mean --beam?" }, /* no silent abbreviations */
    { "--no-beam", "unknown option --no-beam" },
    { "--no-loud=1", "unknown option --no-loud=1" },
    { "--beam", "option --beam needs a value" },
    { "-b", "option --beam needs a value" },
    { "--beam=", "option --beam: '' is not a whole number" },
    { "--beam=<empty>", "option --beam: '<empty>' is not a whole number" },
    { "--beam~x", "option --beam: 'x' is not a whole number" },
    { "--beam=1.5", "option --beam: '1.5' is not a whole number" },
    { "--beam=1e1", "option --beam: '1e1' is not a whole number" },
    { "--beam=nan", "option --beam: 'nan' is not a whole number" },
    { "--beam=K", "option --beam: 'K' is not a whole number" },
    { "--beam=1k", "option --beam: 1k is out of range; expected 1..64" },
    { "--seed=-1", "option --seed: -1 is out of range; expected 0..9007199254740991" },
    { "--beam=0", "option --beam: 0 is out of range; expected 1..64" },
    { "--beam=65", "option --beam: 65 is out of range; expected 1..64" },
    { "--beam=-1", "option --beam: -1 is out of range; expected 1..64" },
    { "--beam=99999999999999999999", "option --beam: 99999999999999999999 is out of range; "
                                     "expected 1..64" },
    { "--beam=9999999999999999G", "option --beam: 9999999999999999G is out of range; expected "
                                  "1..64" },
    { "--beam=9007199254740993", "option --beam: 9007199254740993 is out of range; expected "
                                 "1..64" },
    { "--rate=nan", "option --rate: 'nan' is not a number" },
    { "--rate=inf", "option --rate: 'inf' is not a number" },
    { "--rate=1e999", "option --rate: 1e999 is out of range; expected -1..1000000" },
    { "--rate=-2", "option --rate: -2 is out of range; expected -1..1000000" },
    { "--rate=1,5", "option --rate: '1,5' is not a number" },
    { "--rate=1.5.2", "option --rate: '1.5.2' is not a number" },
    { "--rate=0x1", "option --rate: '0x1' is not a number" },
    { "--rate=", "option --rate: '' is not a number" },
    { "--kind=BLUE", "option --kind: 'BLUE' is not one of red|green|blue; did you mean 'blue'?" },
    { "--kind=pink", "option --kind: 'pink' is not one of red|green|blue" },
    { "--kind=", "option --kind: '' is not one of red|green|blue" },
    { "--kind=red|green", "option --kind: 'red|green' is not one of red|green|blue" },
    { "--loud=maybe", "option --loud: 'maybe' is not true or false" },
    { "--file=", "option --file: the name is empty" },
    { "--file~<empty>", "option --file: the name is empty" },
    { "--beam=2~--beam=3", "option --beam is given twice" },
    { "--beam=2~-b3", "option --beam is given twice" },
    { "--loud~--no-loud", "option --loud is given twice" },
};

static void bad_arguments_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        fixture x;
        open_fixture(&x);
        const rela_status st = parse(&x, BAD[i].line);
        CHECK(st == RELA_ARG && strcmp(x.err.message, BAD[i].message) == 0, "%s: status %d, %s",
              BAD[i].line, (int)st, x.err.message);
        rela_options_destroy(x.state);
    }
}

static void the_command_line_wins_over_the_configuration(void **state)
{
    (void)state;
    fixture x;
    open_fixture(&x);
    CHECK_OK(parse(&x, "--beam=8~-i~mine"), x.err);
    CHECK_OK(rela_options_set(x.state, "beam", "2", &x.err), x.err);
    CHECK_OK(rela_options_set(x.state, "item", "theirs", &x.err), x.err);
    CHECK_OK(rela_options_set(x.state, "name", "given", &x.err), x.err);
    CHECK_OK(rela_options_set(x.state, "loud", "true", &x.err), x.err);
    CHECK(x.f.beam == 8 && x.f.items.n == 1 && strcmp(x.f.items.items[0], "mine") == 0, "lost");
    CHECK(strcmp(x.f.name, "given") == 0 && x.f.loud, "not set");
    CHECK(rela_options_given(x.state, "name"), "not given");
    rela_options_destroy(x.state);
}

static void a_list_from_the_configuration_replaces_the_default(void **state)
{
    (void)state;
    fixture x;
    open_fixture(&x);
    CHECK_OK(rela_options_set(x.state, "item", "a", &x.err), x.err);
    CHECK_OK(rela_options_set(x.state, "item", "b", &x.err), x.err);
    CHECK(x.f.items.n == 2 && strcmp(x.f.items.items[0], "a") == 0, "%zu", x.f.items.n);
    CHECK(rela_options_is_list(x.state, "item") && !rela_options_is_list(x.state, "beam") &&
              !rela_options_is_list(x.state, "none"),
          "lists");
    rela_options_destroy(x.state);
}

static void bad_keys_are_named(void **state)
{
    (void)state;
    static const char *const ROWS[][3] = {
        { "bogus", "1", "unknown key 'bogus'" },
        { "beem", "1", "unknown key 'beem'; did you mean 'beam'?" },
        { "beam-size", "1", "unknown key 'beam-size'; did you mean 'beam'?" },
        { "", "1", "unknown key ''" },
        { "beam", "x", "option --beam: 'x' is not a whole number" },
        { "no-loud", "true", "unknown key 'no-loud'; did you mean 'loud'?" },
        { "config", "x", "key 'config' belongs on the command line" },
        { "help", "true", "key 'help' belongs on the command line" },
    };
    fixture x;
    open_fixture(&x);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        assert_int_equal(rela_options_set(x.state, ROWS[i][0], ROWS[i][1], &x.err), RELA_ARG);
        if (i == 5) /* too far for a guess is fine as well */
            CHECK(strncmp(x.err.message, "unknown key 'no-loud'", 21) == 0, "%s", x.err.message);
        else
            assert_string_equal(x.err.message, ROWS[i][2]);
    }
    rela_options_destroy(x.state);
}

static void a_dump_holds_every_key(void **state)
{
    (void)state;
    fixture x;
    rela_buffer text = RELA_BUFFER_INIT;
    open_fixture(&x);
    CHECK_OK(parse(&x, "--name=a \"b\" \\ \x01~--rate=0.30000000000000004~-i~x~-i~y~--config=c"),
             x.err);
    CHECK_OK(rela_options_dump(&text, x.state, &x.err), x.err);
    assert_string_equal(text.data,
                        "loud: false\nwarm: true\nbeam: 4\nrate: 0.30000000000000004\n"
                        "name: \"a \\\"b\\\" \\\\ \\x01\"\nkind: \"red\"\n"
                        "organise: false\nitem:\n  - \"x\"\n  - \"y\"\nthreads: 0\nseed: 1\n");
    rela_buffer_clear(&text);
    x.f.rate = 0.1; /* as short as it can be */
    CHECK_OK(rela_options_dump(&text, x.state, &x.err), x.err);
    CHECK(strstr(text.data, "rate: 0.1\n"), "%s", text.data);
    rela_buffer_free(&text);
    rela_options_destroy(x.state);
}

static const rela_command COMMAND = { .name = "paint wall",
                                      .summary = "paint a wall",
                                      .operands = "[FILE...]",
                                      .max_operands = 9,
                                      .description = "Paints a wall.\n\n.dots and 'quotes' at the "
                                                     "start of a line are no requests - \\n.",
                                      .examples = "rela paint wall --beam 3 \\\n    house.txt\n",
                                      .options = OPTIONS,
                                      .options_size = sizeof(fields) };

static void the_help_text_shows_all_and_fits_the_screen(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    static const char *const PARTS[] = {
        "usage: rela paint wall [OPTION...] [FILE...]\n",
        "  -b, --beam N              hypotheses [1..64; default 4]\n",
        "      --warm                start warm [default true; --no-warm turns it off]\n",
        "      --licence TEXT        who may use it [default anyone]\n",
        "      --kind WORD           the colour [of it]: which [red|green|blue; default\n"
        "                            red]\n",
        "\nOptions of every command:\n  -t, --threads N",
        "\nExamples:\n  rela paint wall --beam 3 \\\n      house.txt\n",
    };
    CHECK_OK(rela_options_help(&text, &COMMAND, COMMON, &err), err);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        CHECK(strstr(text.data, PARTS[i]), "missing: %s\nin: %s", PARTS[i], text.data);
    const char *at = text.data, *end = at + text.len;
    while (at < end) {
        const size_t len = strcspn(at, "\n");
        CHECK(len <= 80, "%zu columns: %.*s", len, (int)len, at);
        CHECK(len == 0 || at[len - 1] != ' ', "blank at the end: '%.*s'", (int)len, at);
        at += len + 1;
    }
    rela_buffer_free(&text);
}

static void the_manual_page_escapes_requests(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    static const char *const PARTS[] = {
        ".TH \"rela-paint-wall\" 1 ",     "\n\\&.dots and 'quotes'", "\\- \\en.\n",
        "\\fB\\-\\-beam\\fR \\fIN\\fR\n", "\n.SH EXAMPLES\n.nf\n",
    };
    CHECK_OK(rela_options_man(&text, &COMMAND, COMMON, &err), err);
    for (size_t i = 0; i < sizeof PARTS / sizeof PARTS[0]; i++)
        CHECK(strstr(text.data, PARTS[i]), "missing: %s\nin: %s", PARTS[i], text.data);
    rela_buffer_free(&text);
}

static void completions_know_commands_options_and_words(void **state)
{
    (void)state;
    static const rela_command *const ALL[] = { &COMMAND };
    const rela_command_list list = { ALL, 1 };
    static const char *const SHELLS[] = { "bash", "zsh", "fish" };
    for (size_t i = 0; i < 3; i++) {
        rela_error err = { RELA_OK, "" };
        rela_buffer text = RELA_BUFFER_INIT;
        CHECK_OK(rela_options_completion(&text, SHELLS[i], list, COMMON, &err), err);
        CHECK(strstr(text.data, "paint") && strstr(text.data, "wall") &&
                  strstr(text.data, "beam") && strstr(text.data, "threads"),
              "%s: %s", SHELLS[i], text.data);
        rela_buffer_free(&text);
    }
    rela_error err = { RELA_OK, "" };
    rela_buffer text = RELA_BUFFER_INIT;
    assert_int_equal(rela_options_completion(&text, "cmd", list, COMMON, &err), RELA_ARG);
    CHECK(strstr(err.message, "'cmd'"), "%s", err.message);
    rela_buffer_free(&text);
}

static rela_status do_everything(rela_error *err)
{
    static const rela_command *const ALL[] = { &COMMAND };
    static const char *const ARGV[] = { "-i", "a", "-i", "b", "x", "y", "--kind=blue" };
    const rela_command_list list = { ALL, 1 };
    fixture x = { .operands = { NULL, 0 } };
    rela_buffer text = RELA_BUFFER_INIT;
    const rela_option_group groups[] = { { OPTIONS, &x.f }, { COMMON, &x.c } };
    x.state = rela_options_create(groups, 2);
    rela_status st = x.state ? rela_options_default(x.state, err) : RELA_NOMEM;
    if (st == RELA_OK)
        st = rela_options_parse(x.state, &x.operands, 7, ARGV, err);
    if (st == RELA_OK)
        st = rela_options_set(x.state, "name", "value", err);
    if (st == RELA_OK)
        st = rela_options_dump(&text, x.state, err);
    if (st == RELA_OK)
        st = rela_options_help(&text, &COMMAND, COMMON, err);
    if (st == RELA_OK)
        st = rela_options_man(&text, &COMMAND, COMMON, err);
    if (st == RELA_OK)
        st = rela_options_completion(&text, "bash", list, COMMON, err);
    if (st == RELA_OK)
        st = rela_options_completion(&text, "zsh", list, COMMON, err);
    if (st == RELA_OK)
        st = rela_options_completion(&text, "fish", list, COMMON, err);
    rela_buffer_free(&text);
    rela_options_destroy(x.state);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    rela_status st = RELA_NOMEM;
    uint64_t n = 0;
    while (st != RELA_OK) {
        rela_error err = { RELA_OK, "" };
        rela_fault_set(RELA_FAULT_MEM, ++n, false);
        st = do_everything(&err);
        const bool reached = rela_fault_seen(RELA_FAULT_MEM) >= n;
        rela_fault_set(RELA_FAULT_MEM, 0, false);
        CHECK(st == (reached ? RELA_NOMEM : RELA_OK), "allocation %d: %d", (int)n, (int)st);
    }
    CHECK(n > 20, "only %d allocations", (int)n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_come_from_the_table),
        cmocka_unit_test(all_forms_of_an_option_are_read),
        cmocka_unit_test(both_spellings_are_one_option),
        cmocka_unit_test(numbers_may_use_their_whole_range),
        cmocka_unit_test(bad_arguments_are_named),
        cmocka_unit_test(the_command_line_wins_over_the_configuration),
        cmocka_unit_test(a_list_from_the_configuration_replaces_the_default),
        cmocka_unit_test(bad_keys_are_named),
        cmocka_unit_test(a_dump_holds_every_key),
        cmocka_unit_test(the_help_text_shows_all_and_fits_the_screen),
        cmocka_unit_test(the_manual_page_escapes_requests),
        cmocka_unit_test(completions_know_commands_options_and_words),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
