/* SPDX-License-Identifier: MIT */
/* cli/display_names.c - see display_names.h. */
#include "display_names.h"

#include "base/str.h"
#include "base/utf8.h"
#include "models.h"

#include <string.h>

enum { NAME_SIZE = RELA_CLI_DISPLAY_NAME };

/* The last parts of a path, without .rela; parts 0: the path as it is. */
static void last_parts(char *out, const char *path, int parts)
{
    const size_t len = strlen(path);
    const char *end = path + len, *start = end;
    if (parts > 0 && len > 5 && strcmp(end - 5, ".rela") == 0)
        end -= 5;
    while (start > path && (start[-1] != '/' || --parts != 0))
        start--;
    if (parts > 0 && *start == '/') /* no more parts than this */
        start++;
    if (end - start < NAME_SIZE) {
        rela_format_text(out, NAME_SIZE, "%.*s", (int)(end - start), start);
        return;
    }
    const char *tail = end - (NAME_SIZE - 4); /* ends differ more often than beginnings */
    while ((*tail & 0xC0) == 0x80)            /* inside a character */
        tail++;
    rela_format_text(out, NAME_SIZE, "...%.*s", (int)(end - tail), tail);
}

/* "runs/rela-g/model.rela" is rela-g, "big.rela" is big. */
static void name_of(char *out, const char *path)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (slash && slash > path &&
        (strcmp(file, "model.rela") == 0 || strcmp(file, "best.rela") == 0)) {
        const char *start = slash;
        while (start > path && start[-1] != '/')
            start--;
        rela_format_text(out, NAME_SIZE, "%.*s", (int)(slash - start), start);
    } else {
        last_parts(out, path, 1);
    }
}

static bool is_clash(char names[][NAME_SIZE], size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (k != i && strcmp(names[k], names[i]) == 0)
            return true;
    return false;
}

/* Models with the same name get longer ones: folder and file ("rela-g/best"), then the whole path,
 * at last numbers. */
void rela_cli_display_names(char names[][NAME_SIZE], const char *const *paths, size_t n)
{
    bool clash[RELA_CLI_MODELS_MAX];
    for (size_t i = 0; i < n; i++)
        name_of(names[i], paths[i]);
    for (int parts = 2; parts >= 0; parts -= 2) {
        for (size_t i = 0; i < n; i++)
            clash[i] = is_clash(names, n, i);
        for (size_t i = 0; i < n; i++)
            if (clash[i])
                last_parts(names[i], paths[i], parts);
    }
    for (size_t i = 1; i < n; i++)
        for (int copy = 2; is_clash(names, i + 1, i); copy++) {
            char number[16];
            rela_format_text(number, sizeof number, " (%d)", copy);
            last_parts(names[i], paths[i], 0);
            names[i][rela_utf8_whole(names[i], NAME_SIZE - 1 - strlen(number))] = '\0';
            const size_t len = strlen(names[i]);
            rela_format_text(names[i] + len, NAME_SIZE - len, "%s", number);
        }
}
