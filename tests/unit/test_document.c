/* SPDX-License-Identifier: MIT */
/* tests/unit/test_document.c - attention documents: numbers and rows as the viewer reads them, text
 * in a page. */
#include "base/base64.h"
#include "page/web_page.h"
#include "view/document.h"

#include "check.h"

#include <math.h>
#include <string.h>

static float value_of(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double x = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return (float)(half & 0x8000 ? -x : x);
}

static void every_half_keeps_its_bits(void **state)
{
    (void)state;
    for (uint32_t half = 0; half < 0x7C00; half++) {
        assert_int_equal(rela_document_half(value_of((uint16_t)half)), half);
        if (half)
            assert_int_equal(rela_document_half(-value_of((uint16_t)half)), half | 0x8000);
    }
}

static void halves_are_the_nearest(void **state)
{
    (void)state;
    for (uint32_t half = 1; half + 1 < 0x7C00; half++) {
        const float low = value_of((uint16_t)half), high = value_of((uint16_t)(half + 1));
        const float middle = (low + high) / 2;
        assert_int_equal(rela_document_half(middle), half % 2 ? half + 1 : half);
        assert_int_equal(rela_document_half(nextafterf(middle, 0)), half);
        assert_int_equal(rela_document_half(nextafterf(middle, 1e9F)), half + 1);
    }
}

static void no_weight_becomes_zero_or_infinite(void **state)
{
    (void)state;
    assert_int_equal(rela_document_half(1e-30F), 1);
    assert_int_equal(rela_document_half(-1e-45F), 0x8001);
    assert_int_equal(rela_document_half(ldexpf(1, -26)), 1);
    assert_int_equal(rela_document_half(1e9F), 0x7BFF);
    assert_int_equal(rela_document_half(-65530.0F), 0xFBFF);
    assert_int_equal(rela_document_half(0.0F), 0);
}

static void rows_hold_a_bit_for_each_key(void **state)
{
    static const unsigned char expected[] = { 0x02, 0x01, 0x00, 0x3C, 0x00, 0xB8, 0x00, 0x00 };
    real row[9] = { 0 };
    rela_document_rows rows = { .bytes = RELA_BUFFER_INIT };
    (void)state;
    row[1] = 1;
    row[8] = (real)-0.5;
    assert_int_equal(rela_document_add_row(&rows, row, 9, NULL), RELA_OK);
    row[1] = row[8] = 0;
    assert_int_equal(rela_document_add_row(&rows, row, 9, NULL), RELA_OK);
    assert_int_equal(rela_document_add_row(&rows, row, 0, NULL), RELA_OK);
    assert_int_equal(rows.bytes.len, sizeof expected);
    assert_memory_equal(rows.bytes.data, expected, sizeof expected);
    rela_buffer_free(&rows.bytes);
}

static void base64_has_padding(void **state)
{
    static const char *const expected[] = { "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=" };
    (void)state;
    for (size_t n = 0; n < sizeof expected / sizeof expected[0]; n++) {
        rela_buffer out = RELA_BUFFER_INIT;
        assert_int_equal(rela_base64_append(&out, "foobar", n, NULL), RELA_OK);
        assert_string_equal(out.data, expected[n]);
        rela_buffer back = RELA_BUFFER_INIT;
        assert_int_equal(rela_base64_decode(&back, out.data, out.len, NULL), RELA_OK);
        assert_int_equal(back.len, n);
        assert_memory_equal(back.data, "foobar", n);
        rela_buffer_free(&back);
        rela_buffer_free(&out);
    }
}

static void other_text_is_not_base64(void **state)
{
    static const char *const bad[] = { "Zm9", "Zm9*", "Z===", "=Zm9", "Zg=a" };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        rela_buffer out = RELA_BUFFER_INIT;
        assert_int_equal(rela_base64_decode(&out, bad[i], strlen(bad[i]), NULL), RELA_FORMAT);
        rela_buffer_free(&out);
    }
}

static void text_cannot_leave_its_element(void **state)
{
    static const char JSON[] = "{\"title\":\"</script><script>alert(1)</script><!--\"}";
    rela_buffer page = RELA_BUFFER_INIT;
    (void)state;
    assert_int_equal(rela_page_add_viewer(&page, "<b>&\"", JSON, strlen(JSON), NULL), RELA_OK);
    assert_null(strstr(page.data, "alert(1)</script>"));
    assert_non_null(strstr(page.data, "\\u003c/script>\\u003cscript>alert(1)\\u003c/script>"));
    assert_non_null(strstr(page.data, "<title>&lt;b&gt;&amp;&quot;</title>"));
    assert_non_null(strstr(page.data, "default-src 'none'; script-src 'sha256-"));
    assert_non_null(strstr(page.data, "connect-src 'none'"));
    rela_buffer_clear(&page);
    assert_int_equal(rela_page_add_viewer(&page, NULL, NULL, 0, NULL), RELA_OK);
    assert_non_null(strstr(page.data, "connect-src 'self'"));
    assert_null(strstr(page.data, "id=\"data\""));
    rela_buffer_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_keeps_its_bits),
        cmocka_unit_test(halves_are_the_nearest),
        cmocka_unit_test(no_weight_becomes_zero_or_infinite),
        cmocka_unit_test(rows_hold_a_bit_for_each_key),
        cmocka_unit_test(base64_has_padding),
        cmocka_unit_test(other_text_is_not_base64),
        cmocka_unit_test(text_cannot_leave_its_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
