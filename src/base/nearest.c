/* SPDX-License-Identifier: MIT */
/* src/base/nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64, DISTANCE_MAX = 2, SHORT_NAME = 3 };

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool alike(char a, char b)
{
    return fold(a) == fold(b) || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Damerau-Levenshtein distance (optimal string alignment). */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            row[j] =
                least(before[j - 1] + !alike(a[i - 1], b[j - 1]), least(before[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && alike(a[i - 1], b[j - 2]) && alike(a[i - 2], b[j - 1]))
                row[j] = least(row[j], two_before[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void rela_nearest_offer(rela_nearest *n, const char *given, const char *name, size_t len)
{
    const size_t given_len = strcspn(given, "=");
    if (given_len > NAME_MAX_BYTES || len > NAME_MAX_BYTES || given_len == 0)
        return;
    const size_t d = distance(given, given_len, name, len);
    const size_t most = len < 3 * DISTANCE_MAX ? (len + 2) / 3 : DISTANCE_MAX;
    const bool start = len > SHORT_NAME || alike(given[0], name[0]);
    if (d <= most && d < len && start && (!n->name || d < n->distance))
        *n = (rela_nearest){ name, d };
}
