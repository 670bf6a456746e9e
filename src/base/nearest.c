/* SPDX-License-Identifier: MIT */
/* src/base/nearest.c - see nearest.h. */
#include "base/nearest.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64, DISTANCE_MAX = 2 };

static bool alike(char a, char b)
{
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= m; j++)
        row[j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            const size_t change = diagonal + !alike(a[i - 1], b[j - 1]);
            diagonal = row[j];
            const size_t gap = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = change < gap ? change : gap;
        }
    }
    return row[m];
}

void rela_nearest_offer(rela_nearest *n, const char *given, const char *name, size_t len)
{
    const size_t given_len = strcspn(given, "=");
    if (given_len > NAME_MAX_BYTES || len > NAME_MAX_BYTES || given_len == 0)
        return;
    const size_t d = distance(given, given_len, name, len);
    const size_t most = len < 3 * DISTANCE_MAX ? (len + 2) / 3 : DISTANCE_MAX;
    if (d <= most && d < len && (!n->name || d < n->distance))
        *n = (rela_nearest){ name, d };
}
