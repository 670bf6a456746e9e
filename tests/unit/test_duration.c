/* SPDX-License-Identifier: MIT */
/* tests/unit/test_duration.c - lengths of time are read as people write them, and nothing else. */
#include "base/duration.h"
#include "check.h"

#include <string.h>

static void times_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } GOOD[] = { { "90", 90 },         { "0", 0 },         { "90s", 90 },     { "20m", 1200 },
                 { "2h", 7200 },       { "1h30m", 5400 },  { "1d2h", 93600 }, { "45min", 2700 },
                 { "1h30m15s", 5415 }, { "2hours", 7200 }, { "1day", 86400 } };
    static const char *const BAD[] = { "",     "h",    "20x",  "-5",  "2 h",  "1m1h",
                                       "1h1h", "1.5h", "1h30", "m20", "1:30", "99999999999s",
                                       "20m " };
    double seconds = -1;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++)
        CHECK(rela_duration_parse(&seconds, GOOD[i].text) && seconds == GOOD[i].seconds, "'%s': %g",
              GOOD[i].text, seconds);
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        CHECK(!rela_duration_parse(&seconds, BAD[i]), "'%s' is taken for %g", BAD[i], seconds);
}

static void times_are_shown(void **state)
{
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } SHOWN[] = { { 0, "0 s" },          { 12.4, "12 s" },       { 60, "1 min" },
                  { 245, "4 min 5 s" },  { 5400, "1 h 30 min" }, { 7205, "2 h" },
                  { 183600, "2 d 3 h" }, { 4579200, "53 d" },    { -3, "0 s" } };
    for (size_t i = 0; i < sizeof SHOWN / sizeof SHOWN[0]; i++) {
        char text[RELA_DURATION_SIZE];
        rela_duration_text(text, SHOWN[i].seconds);
        CHECK(strcmp(text, SHOWN[i].text) == 0, "%g s: '%s'", SHOWN[i].seconds, text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_read),
        cmocka_unit_test(times_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
