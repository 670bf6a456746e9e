/* SPDX-License-Identifier: MIT */
/* cli/model_names.c - see model_names.h. */
#include "model_names.h"

#include "rela/model.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rela_status list_places(rela_buffer *out, rela_error *err);
static rela_status add_place(rela_buffer *out, const char *dir, const char *below, rela_error *err);
static rela_status add_share(rela_buffer *out, rela_error *err);

rela_status rela_cli_find_model(rela_buffer *out, const char *name, rela_error *err)
{
    rela_buffer places = RELA_BUFFER_INIT;
    const bool dir = rela_dir_exists(name), file = rela_file_exists(name) && !dir;
    const bool path = !*name || strpbrk(name, "/.");
    rela_buffer_clear(out);
    if (file || (path && !dir))
        return rela_buffer_append_text(out, name, err);
    rela_status st = dir ? rela_model_find(out, name, path ? err : NULL) : RELA_OK;
    if (dir && (path || st == RELA_OK)) /* a run, or a directory that is not one */
        return st;
    st = list_places(&places, err);
    const char *at = places.data ? places.data : "";
    while (st == RELA_OK && *at) {
        const size_t len = strcspn(at, ":");
        rela_buffer_clear(out);
        st = rela_buffer_printf(out, err, "%.*s/%s.rela", (int)len, at, name);
        if (st == RELA_OK && len && rela_file_exists(out->data))
            break;
        at += len + (at[len] == ':');
    }
    if (st == RELA_OK && !*at && dir)
        st = rela_model_find(out, name, err);
    else if (st == RELA_OK && !*at)
        st = rela_fail(err, RELA_IO, "%s: no such file, and no %s.rela in %s%s", name, name,
                       places.data ? places.data : "any place",
                       strcmp(name, "demo") == 0 ? "; 'make demo-model install' makes it" : "");
    rela_buffer_free(&places);
    return st;
}

/* Directories in search order, separated by colons. */
static rela_status list_places(rela_buffer *out, rela_error *err)
{
    const char *models = getenv("RELA_MODELS"), *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    rela_status st = add_place(out, models, "", err);
    if (data && *data)
        st = st ? st : add_place(out, data, "/rela", err);
    else
        st = st ? st : add_place(out, home, "/.local/share/rela", err);
    return st ? st : add_share(out, err);
}

static rela_status add_place(rela_buffer *out, const char *dir, const char *below, rela_error *err)
{
    if (!dir || !*dir)
        return RELA_OK;
    return rela_buffer_printf(out, err, "%s%s%s", out->len ? ":" : "", dir, below);
}

/* Relative to the program, since the install prefix is not known when building. */
static rela_status add_share(rela_buffer *out, rela_error *err)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0)
        return RELA_OK;
    path[n] = '\0';
    for (int i = 0; i < 2; i++) { /* strip the file name, then bin */
        char *slash = strrchr(path, '/');
        if (!slash)
            return RELA_OK;
        *slash = '\0';
    }
    return add_place(out, *path ? path : "/", "/share/rela", err);
}
