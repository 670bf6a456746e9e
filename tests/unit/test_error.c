/* SPDX-License-Identifier: MIT */
/* tests/unit/test_error.c - messages are one printable line that keeps its reason. */
#include "base/error.h"
#include "base/utf8.h"
#include "check.h"

#include <errno.h>
#include <string.h>

static void every_status_has_a_text(void **state)
{
    (void)state;
    for (int s = 0; s >= -8; s--)
        CHECK(strcmp(rela_status_text((rela_status)s), "unknown status") != 0, "status %d", s);
    assert_string_equal(rela_status_text(RELA_OK), "success");
    assert_string_equal(rela_status_text((rela_status)-99), "unknown status");
    assert_int_equal(rela_version() >> 16, RELA_VERSION_MAJOR);
    assert_int_equal(rela_version() & 0xFFFF, RELA_VERSION_MINOR << 8 | RELA_VERSION_PATCH);
}

static void failing_fills_status_and_message(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    assert_int_equal(rela_fail(&err, RELA_FORMAT, "line %d: bad", 3), RELA_FORMAT);
    assert_int_equal(err.status, RELA_FORMAT);
    assert_string_equal(err.message, "line 3: bad");
    assert_int_equal(rela_fail_in(&err, RELA_FORMAT, "a.txt"), RELA_FORMAT);
    assert_string_equal(err.message, "a.txt: line 3: bad");
}

static void the_error_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(rela_fail(NULL, RELA_ARG, "x"), RELA_ARG);
    assert_int_equal(rela_fail_in(NULL, RELA_ARG, "x"), RELA_ARG);
    assert_int_equal(rela_fail_errno(NULL, EIO, "x"), RELA_IO);
}

static void errno_decides_the_status(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    assert_int_equal(rela_fail_errno(&err, ENOENT, "%s", "f"), RELA_IO);
    assert_string_equal(err.message, "f: No such file or directory");
    assert_int_equal(rela_fail_errno(&err, EPIPE, "f"), RELA_CLOSED);
    assert_int_equal(rela_fail_errno(&err, ENOMEM, "f"), RELA_NOMEM);
    assert_int_equal(err.status, RELA_NOMEM);
    assert_int_equal(rela_fail_errno(&err, 98765, "f"), RELA_IO);
    CHECK(strstr(err.message, "98765"), "%s", err.message);
}

static void messages_are_one_printable_line(void **state)
{
    (void)state;
    rela_error err = { RELA_OK, "" };
    (void)rela_fail(&err, RELA_IO, "a\nb\tc\x1b[2J\x7f%s", "\r");
    assert_string_equal(err.message, "a?b?c?[2J??");
    (void)rela_fail(&err, RELA_IO, "gr\xC3\xBC\xC3\x9F");
    assert_string_equal(err.message, "gr\xC3\xBC\xC3\x9F");
    (void)rela_fail(&err, RELA_IO, "bad \xFF\xC3 byte"); /* a file name in another encoding */
    assert_string_equal(err.message, "bad ?? byte");
    (void)rela_fail(&err, RELA_IO,
                    "c1 \xC2\x9B"
                    "31m"); /* a control sequence in one character */
    assert_string_equal(err.message, "c1 ?31m");
    (void)rela_fail_in(&err, RELA_IO, "x\ny");
    assert_string_equal(err.message, "x?y: c1 ?31m");
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    char name[2000];
    for (size_t lead = 0; lead < 3; lead++) {
        memset(name, 'x', lead);
        for (size_t i = lead; i + 3 < sizeof name; i += 3)
            memcpy(name + i, "\xE2\x82\xAC", 4);
        rela_error err = { RELA_OK, "" };
        (void)rela_fail(&err, RELA_IO, "%s", name);
        const size_t len = strlen(err.message);
        CHECK(len >= sizeof err.message - 4 && rela_utf8_valid(err.message, len) == len,
              "%zu bytes, the last %02x", len, (unsigned char)err.message[len - 1]);
        CHECK(!strchr(err.message, '?'), "the cut character shows");
    }
}

static void a_long_name_does_not_hide_the_reason(void **state)
{
    (void)state;
    char name[4000];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    rela_error err = { RELA_OK, "" };
    (void)rela_fail_errno(&err, ENOENT, "%s", name);
    CHECK(strstr(err.message, ": No such file or directory"), "%s", err.message);
    (void)rela_fail(&err, RELA_FORMAT, "line 7: bad merge");
    (void)rela_fail_in(&err, RELA_FORMAT, name);
    CHECK(strstr(err.message, ": line 7: bad merge"), "%s", err.message);
    CHECK(err.message[0] == 'n', "the name is gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(failing_fills_status_and_message),
        cmocka_unit_test(the_error_may_be_null),
        cmocka_unit_test(errno_decides_the_status),
        cmocka_unit_test(messages_are_one_printable_line),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(a_long_name_does_not_hide_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
