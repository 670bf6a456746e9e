/* SPDX-License-Identifier: MIT */
/* src/base/duration.c - see duration.h. */
#include "base/duration.h"

#include "base/str.h"

#include <stddef.h>
#include <string.h>

enum { DAY = 86400, HOUR = 3600, MINUTE = 60, N_UNITS = 4, DIGITS_MAX = 9 };

static const struct unit {
    const char *words[5], *shown;
    int seconds;
} UNITS[N_UNITS] = {
    { { "d", "day", "days" }, "d", DAY },
    { { "h", "hour", "hours" }, "h", HOUR },
    { { "m", "min", "minute", "minutes" }, "min", MINUTE },
    { { "s", "sec", "second", "seconds" }, "s", 1 },
};

static size_t unit_at(const char *text, size_t len)
{
    for (size_t i = 0; i < N_UNITS; i++)
        for (const char *const *word = UNITS[i].words; *word; word++)
            if (strlen(*word) == len && memcmp(*word, text, len) == 0)
                return i;
    return N_UNITS;
}

bool rela_duration_parse(double *seconds, const char *text)
{
    static const char DIGITS[] = "0123456789";
    size_t next = 0; /* units come in this order */
    double sum = 0;
    const char *at = text;
    while (*at) {
        const size_t digits = strspn(at, DIGITS);
        if (digits == 0 || digits > DIGITS_MAX)
            return false;
        double n = 0;
        for (size_t i = 0; i < digits; i++)
            n = 10 * n + (at[i] - '0');
        at += digits;
        const size_t len = strcspn(at, DIGITS);
        if (len == 0 && next == 0) { /* no unit: seconds */
            *seconds = n;
            return true;
        }
        const size_t unit = unit_at(at, len);
        if (unit == N_UNITS || unit < next)
            return false;
        sum += n * UNITS[unit].seconds;
        next = unit + 1;
        at += len;
    }
    *seconds = sum;
    return next > 0;
}

void rela_duration_text(char out[RELA_DURATION_SIZE], double seconds)
{
    long long left = (long long)(seconds > 0 ? seconds + 0.5 : 0);
    size_t i = 0;
    while (i + 1 < N_UNITS && left < UNITS[i].seconds)
        i++;
    const long long n = left / UNITS[i].seconds;
    const long long rest = i + 1 < N_UNITS ? left % UNITS[i].seconds / UNITS[i + 1].seconds : 0;
    if (rest)
        rela_format_text(out, RELA_DURATION_SIZE, "%lld %s %lld %s", n, UNITS[i].shown, rest,
                         UNITS[i + 1].shown);
    else
        rela_format_text(out, RELA_DURATION_SIZE, "%lld %s", n, UNITS[i].shown);
}
