/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attn_spec.c - the grammar of kinds by layer and head: what is read, how it is
 * written again, what is refused and why. */
#include "attend.h"
#include "base/rng.h"

#include <stdio.h>

static void texts_are_written_in_their_shortest_form(void **state)
{
    (void)state;
    static const char *const TEXTS[][2] = {
        { "rela-g", "rela-g" },
        { "entmax:alpha=1.3", "entmax:alpha=1.3" },
        { "entmax:alpha=1.50", "entmax" },
        { "topk:k=8", "topk" },
        { "topk:k=10", "topk:k=10" },
        { "fusedmax:fuse=1e2+2xtopk:k=60000", "fusedmax:fuse=100+2xtopk:k=60000" },
        { "1-6=rela-g", "rela-g" },
        { "8xrela-g", "rela-g" },
        { "1-2=local:window=4,3-6=rela-g", "1-2=local:window=4,3-6=rela-g" },
        { "3-3=local,rela-g", "3=local,rela-g" },
        { "6xrela-g+2xlocal:window=4", "6xrela-g+2xlocal:window=4" },
        { "local+4xsoftmax", "local+4xsoftmax" },
        { "1-5=8xsoftmax,6=4xrela-t+4xrelu2-g", "1-5=softmax,6=4xrela-t+4xrelu2-g" },
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        rela_attn_spec s, again;
        CHECK_OK(rela_attn_spec_parse(&s, TEXTS[i][0], &err), err);
        CHECK_OK(rela_attn_spec_check(&s, 6, 8, &err), err);
        CHECK_OK(rela_attn_spec_shorten(&s, 6, 8, &err), err);
        assert_string_equal(s.text, TEXTS[i][1]);
        CHECK_OK(rela_attn_spec_parse(&again, s.text, &err), err);
        assert_string_equal(again.text, s.text);
    }
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    static const char *const TEXTS[][2] = {
        { "", "expected a kind of attention at the end" },
        { "hard", "unknown attention 'hard'" },
        { "rela-g,", "expected a kind of attention at the end" },
        { "rela-g softmax", "expected ',' or '+' at ' softmax'" },
        { "rela-g:k=3", "rela-g has no number 'k'" },
        { "topk:k", "expected name=value at 'k'" },
        { "topk:k=0", "k of topk is '0'; expected a whole number, 1..65536" },
        { "topk:k=2.5", "k of topk is '2.5'; expected a whole number" },
        { "topk:k=", "k of topk is ''; expected" },
        { "topk:k=2:k=3", "a number is set twice" },
        { "performer:features=8,redraw=2",
          "numbers of a kind are separated by ':', not by ',' at 'redraw=2'" },
        { "entmax:alpha=nan", "alpha of entmax is 'nan'" },
        { "entmax:alpha=1e999", "alpha of entmax is '1e999'" },
        { "2-1=rela-g", "expected layers like 2= or 1-3=" },
        { "0=rela-g", "layers are counted from 1" },
        { "0-2=rela-g", "layers are counted from 1" },
        { "rela", "'rela'; did you mean rela-i or rela-g or rela-g-ln or rela-tl or rela-t?" },
        { "ReLA", "'ReLA'; did you mean rela-i or" },
        { "RELA-G", "'RELA-G'; did you mean 'rela-g'?" },
        { "entmax-1.5:x=1", "unknown attention 'entmax-1.5'; did you mean 'entmax15'?" },
        { "1-=rela-g", "expected layers like 2= or 1-3=" },
        { "rela-g+softmax", "several kinds without a number of heads" },
        { "0xrela-g", "unknown attention '0xrela-g'" },
        { "99999999999999999999xrela-g", "unknown attention" },
        { "7=rela-g,softmax", "no layer 7; there are only 6" },
        { "1-3=rela-g", "layer 4 is named nowhere" },
        { "1-3=rela-g,3-6=softmax", "layer 3 is named twice" },
        { "rela-g,softmax", "layer 1 is named twice" },
        { "5xrela-g+5xsoftmax", "groups of 10 heads, but there are 8" },
        { "8xrela-g+softmax", "groups of 9 heads, but there are 8" },
        { "3xrela-g", "groups of 3 heads, but there are 8" },
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
        rela_error err = { RELA_OK, "" };
        rela_attn_spec s;
        rela_status st = rela_attn_spec_parse(&s, TEXTS[i][0], &err);
        st = st ? st : rela_attn_spec_check(&s, 6, 8, &err);
        CHECK(st == RELA_ARG && strstr(err.message, TEXTS[i][1]), "'%s': %d '%s'", TEXTS[i][0], st,
              err.message);
    }
}

static void groups_are_those_of_the_layer(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    rela_attn_spec s;
    rela_attn_group g[RELA_GROUPS_MAX];
    CHECK_OK(rela_attn_spec_parse(&s, "2=2xlocal:window=3+rela-g,topk", &err), err);
    assert_int_equal(rela_attn_spec_groups(g, &s, 0, 8), 1);
    assert_string_equal(g[0].kind->name, "topk");
    CHECK(g[0].heads == 8 && g[0].numbers[0] == 8, "%zu heads", g[0].heads);
    assert_int_equal(rela_attn_spec_groups(g, &s, 1, 8), 2);
    CHECK(g[0].heads == 2 && g[0].numbers[0] == 3 && g[1].first == 2 && g[1].heads == 6,
          "%zu and %zu heads", g[0].heads, g[1].heads);
    /* A number that stands elsewhere is for those that do not name it. */
    CHECK_OK(rela_attn_spec_alias(&s, "window", 5, &err), err);
    CHECK_OK(rela_attn_spec_alias(&s, "top", 4, &err), err);
    assert_string_equal(s.text, "2=2xlocal:window=3+rela-g,topk:k=4");
}

/* Random texts over the characters of the grammar: refused, or read again as the same. */
static void any_text_is_read_again_or_refused(void **state)
{
    (void)state;
    static const char *const PARTS[] = { "rela-g", "topk", "local", ":k=", ":window=", "1",  "2",
                                         "-",      "=",    ",",     "+",   "x",        "8.", "e9" };
    rela_rng r = rela_rng_start(5, 1);
    size_t taken = 0;
    for (int i = 0; i < 200000; i++) {
        char text[128] = "";
        rela_attn_spec s, again;
        rela_error err = { RELA_OK, "" };
        for (size_t n = rela_rng_below(&r, 9); n > 0; n--)
            strcat(text, PARTS[rela_rng_below(&r, sizeof PARTS / sizeof PARTS[0])]);
        if (rela_attn_spec_parse(&s, text, &err) != RELA_OK)
            continue;
        taken++;
        CHECK_OK(rela_attn_spec_parse(&again, s.text, &err), err);
        assert_string_equal(again.text, s.text);
        (void)rela_attn_spec_check(&s, 4, 4, &err);
    }
    CHECK(taken > 1000, "only %zu were taken", taken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_written_in_their_shortest_form),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(groups_are_those_of_the_layer),
        cmocka_unit_test(any_text_is_read_again_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
