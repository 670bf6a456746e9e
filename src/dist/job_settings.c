/* SPDX-License-Identifier: MIT */
/* src/dist/job_settings.c - see job_settings.h. */
#include "dist/job_settings.h"

#include <string.h>

static size_t key_length(const char *line)
{
    const size_t n = strcspn(line, "\n"), key = strcspn(line, ":");
    return key < n ? key : n;
}

rela_status rela_settings_compare(const char *own, const char *other, const char *where,
                                  rela_error *err)
{
    while (*own && *other) {
        const size_t n = strcspn(own, "\n"), m = strcspn(other, "\n");
        if (n != m || memcmp(own, other, n) != 0)
            break;
        own += n + (own[n] == '\n');
        other += m + (other[m] == '\n');
    }
    if (!*own && !*other)
        return RELA_OK;
    const size_t key = key_length(own), skip = key < strlen(own) ? key + 1 : key;
    const bool same = key == key_length(other) && memcmp(own, other, key) == 0;
    const char *value = own + skip, *rest = same ? other + skip : other;
    return rela_fail(err, RELA_STATE, "%.*s is%.*s, but%.*s %s", (int)key, own,
                     (int)strcspn(value, "\n"), value, (int)strcspn(rest, "\n"), rest, where);
}
