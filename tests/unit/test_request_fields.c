/* SPDX-License-Identifier: MIT */
/* tests/unit/test_request_fields.c - fields of requests, from forms and JSON. */
#include "check.h"

#include "serve/request_fields.h"

#include <stdio.h>
#include <string.h>

typedef struct fields_case {
    bool json;
    const char *text;
    const char *fields; /* name=value, each ended by ';'; NULL: refused */
} fields_case;

static const fields_case CASES[] = {
    { false, "q=a+b&source=en&target=d%65", "q=a b;source=en;target=de;" },
    { false, "q=a&q=b&q[]=c&empty=&&x", "q=a;q=b;q[]=c;empty=;x=;" },
    { false, "q=%C3%A9%0D%0A%26=", "q=\xC3\xA9\r\n&=;" },
    { false, "q=%", NULL },
    { false, "q=%4", NULL },
    { false, "q=a&%zz=b", NULL },
    { false, "", "" },
    { true, "{\"q\": \"a\\nb\", \"n\": 3, \"x\": 1.5e0, \"t\": true, \"z\": null}",
      "q=a\nb;n=3;x=1.5e0;t=true;" },
    { true, "{\"q\":[\"a\",\"b\", \"\"],\"o\":{\"a\":[1]},\"n\":-7}", "q=a;q=b;q=;n=-7;" },
    { true, "{}", "" },
    { true, "[]", NULL },
    { true, "\"q\"", NULL },
    { true, "{\"q\":\"a\"", NULL },
    { true, "{\"q\":\"a\"} x", NULL },
    { true, "{\"q\":\"a\",\"\\u0071\":\"b\"}", NULL },
    { true, "{\"q\":[[\"a\"]]}", NULL },
    { true, "{\"q\":\"\\ud800\"}", NULL },
    { true, "{\"q\":\"\xFF\"}", NULL },
    { true, "{\"q\":01}", NULL },
    { true, "", NULL },
};

static void fields_are_decoded_or_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const fields_case *c = &CASES[i];
        const size_t len = strlen(c->text);
        char *text = test_malloc(len + 1), got[256] = "";
        memcpy(text, c->text, len);
        rela_fields p = { .n = 0 };
        rela_error err = { RELA_OK, "" };
        const rela_status st = c->json ? rela_fields_add_json(&p, text, len, &err)
                                       : rela_fields_add_form(&p, text, len, &err);
        for (size_t k = 0; k < p.n && st == RELA_OK; k++) {
            const size_t used = strlen(got);
            (void)snprintf(got + used, sizeof got - used, "%.*s=%.*s;", (int)p.items[k].name.len,
                           p.items[k].name.text, (int)p.items[k].value.len, p.items[k].value.text);
        }
        CHECK(c->fields ? st == RELA_OK && strcmp(got, c->fields) == 0 : st == RELA_FORMAT,
              "%s: %d %s %s", c->text, st, got, err.message);
        rela_fields_free(&p);
        test_free(text);
    }
}

static void lists_differ_from_single_values(void **state)
{
    (void)state;
    char json[] = "{\"q\": [\"a\"], \"r\": \"a\"}", form[] = "s=a&s=b&t[]=a&u=a";
    rela_fields p = { .n = 0 };
    rela_error err;
    CHECK_OK(rela_fields_add_json(&p, json, strlen(json), &err), err);
    CHECK_OK(rela_fields_add_form(&p, form, strlen(form), &err), err);
    assert_true(rela_fields_listed(&p, "q") && rela_fields_listed(&p, "s"));
    assert_true(rela_fields_listed(&p, "t") && !rela_fields_listed(&p, "r"));
    assert_true(!rela_fields_listed(&p, "u") && !rela_fields_listed(&p, "v"));
    assert_int_equal(rela_fields_count(&p, "s"), 2);
    assert_true(rela_span_is(rela_fields_at(&p, "s", 1)->value, "b"));
    assert_null(rela_fields_at(&p, "s", 2));
    rela_fields_free(&p);
}

static void numbers_have_bounds(void **state)
{
    (void)state;
    char json[] = "{\"a\": 3, \"b\": -1, \"c\": \"7\", \"d\": 9223372036854775808, \"e\": 1.5,"
                  "\"f\": \"x\", \"g\": true, \"h\": 1e999}";
    rela_fields p = { .n = 0 };
    rela_error err;
    int32_t n = 5;
    double x = 2;
    bool yes = false;
    CHECK_OK(rela_fields_add_json(&p, json, strlen(json), &err), err);
    static const struct {
        const char *name;
        int32_t value; /* 0: refused */
    } INTS[] = { { "none", 5 }, { "a", 3 }, { "b", 0 }, { "c", 7 },
                 { "d", 0 },    { "e", 0 }, { "f", 0 } };
    for (size_t i = 0; i < sizeof INTS / sizeof *INTS; i++) {
        n = 5;
        const rela_status st = rela_fields_int(&n, &p, INTS[i].name, 1, 10, &err);
        CHECK(INTS[i].value ? st == RELA_OK && n == INTS[i].value : st == RELA_FORMAT, "%s",
              INTS[i].name);
    }
    CHECK_OK(rela_fields_real(&x, &p, "e", 0, 2, &err), err);
    assert_true(x > 1.4 && x < 1.6);
    assert_int_equal(rela_fields_real(&x, &p, "h", 0, 2, &err), RELA_FORMAT);
    CHECK_OK(rela_fields_flag(&yes, &p, "g", &err), err);
    assert_true(yes);
    assert_int_equal(rela_fields_flag(&yes, &p, "f", &err), RELA_FORMAT);
    rela_fields_free(&p);
}

static void fields_are_bounded(void **state)
{
    (void)state;
    enum { MANY = 3 * (RELA_FIELDS_MAX + 1) };
    char *form = test_malloc(MANY);
    for (size_t i = 0; i < MANY; i += 3)
        memcpy(form + i, "a=&", 3);
    rela_fields p = { .n = 0 };
    rela_error err;
    assert_int_equal(rela_fields_add_form(&p, form, MANY, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "more than 1024 fields"));
    rela_fields_free(&p);
    test_free(form);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_decoded_or_refused),
        cmocka_unit_test(lists_differ_from_single_values),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(fields_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
