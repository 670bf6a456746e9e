/* SPDX-License-Identifier: MIT */
/* tests/unit/test_markup.c - texts with tags: what is translated, what stays, and that tags are as
 * balanced after as before, whatever the links say. */
#include "check.h"

#include "base/mem.h"
#include "base/rng.h"
#include "serve/markup_text.h"

#include <stdio.h>
#include <string.h>

typedef struct translation {
    const rela_passages *p;
    const char *const *texts; /* of the sentences; NULL: the source */
    const rela_outcome_link *links;
    size_t n_links;
    rela_buffer out;
} translation;

static const rela_passage *sentence_at(const rela_passages *p, size_t number)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->items[i].sentence && number-- == 0)
            return &p->items[i];
    return NULL;
}

static rela_span render(const void *ctx, size_t sentence)
{
    translation *t = *(translation *const *)ctx;
    const rela_passage *s = sentence_at(t->p, sentence);
    rela_span text = { t->p->texts.data + s->begin, s->end - s->begin };
    if (t->texts)
        text = rela_span_of(t->texts[sentence]);
    rela_buffer_clear(&t->out);
    CHECK(rela_markup_render(&t->out, t->p, s, text, t->links, t->n_links, NULL) == RELA_OK,
          "no memory");
    return (rela_span){ t->out.data, t->out.len };
}

static rela_splitter *splitter;

/* The text with its sentences replaced by their translations. */
static void run(rela_buffer *out, const char *text, size_t len, const char *const *texts,
                const rela_outcome_link *links, size_t n_links)
{
    rela_passages p = { .n = 0 };
    rela_error err;
    CHECK_OK(rela_markup_add(&p, text, len, splitter, &err), err);
    translation t = { &p, texts, links, n_links, RELA_BUFFER_INIT };
    const translation *ctx = &t;
    CHECK_OK(rela_passages_join(out, &p, 0, render, (const void *)&ctx, &err), err);
    rela_buffer_free(&t.out);
    rela_passages_free(&p);
}

typedef struct markup_case {
    const char *text;
    const char *translations[3];
    const char *want;
} markup_case;

/* Without links tags are placed in proportion. */
static const markup_case CASES[] = {
    { "Hello", { "Hallo" }, "Hallo" },
    { "<p>Hello</p>", { "Hallo" }, "<p>Hallo</p>" },
    { " <p> a &amp; b &lt; c </p>\n", { "x & y < z" }, " <p> x &amp; y &lt; z </p>\n" },
    { "<b>Hello</b>", { "Hallo" }, "<b>Hallo</b>" },
    { "<ul><li>one<li>two</ul>", { "eins", "zwei" }, "<ul><li>eins<li>zwei</ul>" },
    { "a<br>b", { "x", "y" }, "x<br>y" },
    { "One is. Two is.", { "Eins.", "Zwei." }, "Eins. Zwei." },
    { "<i>One is. Two is.</i>", { "Eins.", "Zwei." }, "<i>Eins. Zwei.</i>" },
    { "<i>One is.</i> <b>Two is.</b>", { "Eins.", "Zwei." }, "<i>Eins.</i> <b>Zwei.</b>" },
    { "<script>if (a < b) x();</script>text", { "T" }, "<script>if (a < b) x();</script>T" },
    { "<!-- no -->text", { "T" }, "<!-- no -->T" },
    { "a <code>x<y</code> b", { "c d" }, "c <code>x<y</code>d" },
    { "<b> </b><i></i>", { NULL }, "<b> </b><i></i>" },
    { "caf&eacute; &unknown;", { "C" }, "C&unknown; " },
    { "1 < 2 & 3 > 2", { "a < b & c" }, "a &lt; b &amp; c" },
    { "<a href=\"x>y\">t</a>", { "T" }, "<a href=\"x>y\">T</a>" },
    { "<b>t", { "T" }, "<b>T" },
    { "t</b>", { "T" }, "T</b>" },
    { "<b><i>t</b></i>", { "T" }, "<b><i>T</b></i>" },
    { "&#65;&#x42;&#0;", { "T" }, "T&#0;" },
    { "<>", { "T" }, "T" },
    { "", { NULL }, "" },
};

static void tags_stay_and_text_is_translated(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        rela_buffer out = RELA_BUFFER_INIT;
        run(&out, CASES[i].text, strlen(CASES[i].text), CASES[i].translations, NULL, 0);
        CHECK(strcmp(out.data ? out.data : "", CASES[i].want) == 0, "%s: '%s', expected '%s'",
              CASES[i].text, out.data ? out.data : "", CASES[i].want);
        rela_buffer_free(&out);
    }
}

static void tags_follow_links(void **state)
{
    (void)state;
    /* The old man -> Der alte Mann; the words change places. */
    static const rela_outcome_link LINKS[] = { { 0, 3, 10, 13 }, { 4, 7, 0, 4 }, { 8, 11, 5, 9 } };
    static const char *const TEXT[] = { "mann alte der" };
    rela_buffer out = RELA_BUFFER_INIT;
    const char *source = "the <b>old</b> <a href=\"x\">man</a>";
    run(&out, source, strlen(source), TEXT, LINKS, 3);
    assert_string_equal(out.data, "<b>mann</b> <a href=\"x\">alte</a> der");
    rela_buffer_clear(&out);
    source = "<i>the <b>old</b></i> man";
    run(&out, source, strlen(source), TEXT, LINKS, 3);
    assert_string_equal(out.data, "<i><b>mann</b> alte der</i>");
    rela_buffer_free(&out);
}

/* Tags of a text in order of their bytes, sorted, as one string. */
static size_t count(const char *text, size_t len, const char *tag)
{
    size_t n = 0;
    for (size_t i = 0; i + strlen(tag) <= len; i++)
        n += memcmp(text + i, tag, strlen(tag)) == 0;
    return n;
}

static bool is_balanced(const char *text, size_t len)
{
    char open[256];
    size_t depth = 0;
    for (size_t i = 0; i + 2 < len; i++) {
        if (text[i] != '<')
            continue;
        if (text[i + 1] != '/')
            open[depth++ % sizeof open] = text[i + 1];
        else if (depth == 0 || open[--depth % sizeof open] != text[i + 2])
            return false;
    }
    return depth == 0;
}

static void balanced_tags_stay_balanced(void **state)
{
    (void)state;
    static const char *const TAGS[] = { "<b>", "<i>", "<u>", "</b>", "</i>", "</u>" };
    for (uint64_t seed = 1; seed <= (EMULATED ? 100 : 3000); seed++) {
        rela_rng r = rela_rng_start(seed, 0);
        char text[1024] = "", open[16];
        size_t depth = 0;
        for (int k = 0; k < 20; k++) {
            const uint64_t what = rela_rng_below(&r, 4);
            if (what == 0 && depth < 6) {
                open[depth] = "biu"[rela_rng_below(&r, 3)];
                (void)snprintf(text + strlen(text), 8, "<%c>", open[depth++]);
            } else if (what == 1 && depth > 0) {
                (void)snprintf(text + strlen(text), 8, "</%c>", open[--depth]);
            } else {
                (void)snprintf(text + strlen(text), 8, "%s",
                               rela_rng_below(&r, 6) ? "word " : "End. ");
            }
        }
        while (depth > 0)
            (void)snprintf(text + strlen(text), 8, "</%c>", open[--depth]);
        rela_outcome_link links[12];
        for (size_t i = 0; i < 12; i++) {
            const uint32_t a = (uint32_t)rela_rng_below(&r, 80),
                           b = (uint32_t)rela_rng_below(&r, 9);
            links[i] = (rela_outcome_link){ a, a + 4, 3 * b, 3 * b + 2 };
        }
        static const char *const WORDS[] = {
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr",
            "ab cd ef gh ij kl mn op qr", "ab cd ef gh ij kl mn op qr"
        };
        rela_buffer out = RELA_BUFFER_INIT;
        run(&out, text, strlen(text), WORDS, links, seed % 3 ? 12 : 0);
        for (size_t i = 0; i < 6; i++)
            CHECK(count(out.data, out.len, TAGS[i]) == count(text, strlen(text), TAGS[i]),
                  "seed %d: a tag is lost or new: %s -> %s", (int)seed, text, out.data);
        CHECK(is_balanced(out.data, out.len), "seed %d: not balanced: %s -> %s", (int)seed, text,
              out.data);
        rela_buffer_free(&out);
    }
}

/* What takes the square of its length elsewhere. */
static void hostile_markup_takes_no_time(void **state)
{
    (void)state;
    static const char *const PIECES[] = { "<a", "<!--", "<code>", "<a \"",
                                          "</", "&amp", "<b>x",   "</b>x" };
    enum { BYTES = 1 << 18 };
    char *text = test_malloc(BYTES + 8);
    for (size_t i = 0; i < sizeof PIECES / sizeof *PIECES; i++) {
        const size_t n = strlen(PIECES[i]);
        for (size_t k = 0; k < BYTES; k += n)
            memcpy(text + k, PIECES[i], n);
        rela_passages p = { .n = 0 };
        rela_error err;
        CHECK_OK(rela_markup_add(&p, text, BYTES, NULL, &err), err);
        rela_passages_free(&p);
    }
    test_free(text);
}

static int setup(void **state)
{
    (void)state;
    return rela_splitter_create(&splitter, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    rela_splitter_destroy(splitter);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_stay_and_text_is_translated),
        cmocka_unit_test(tags_follow_links),
        cmocka_unit_test(balanced_tags_stay_balanced),
        cmocka_unit_test(hostile_markup_takes_no_time),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
