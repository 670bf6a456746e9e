/* SPDX-License-Identifier: MIT */
/* src/base/file_dir.c - temporary directories of file.h. */
#include "base/file.h"
#include "base/temporary.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static rela_status remove_entry(void *ctx, const char *name, rela_error *err);

rela_status rela_dir_temporary(rela_buffer *out, rela_error *err)
{
    const char *temporary = getenv("TMPDIR");
    rela_buffer_clear(out);
    rela_status st = rela_buffer_printf(out, err, "%s/rela-XXXXXX",
                                        temporary && *temporary ? temporary : "/tmp");
    st = st ? st : rela_temporary_dir(out->data, err);
    if (st != RELA_OK)
        rela_buffer_clear(out);
    return st;
}

rela_status rela_dir_remove(const char *path, rela_error *err)
{
    rela_buffer entry = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&entry, err, "%s/", path);
    st = st ? st : rela_dir_list(path, remove_entry, &entry, err);
    rela_buffer_free(&entry);
    st = st ? st : rela_dir_remove_empty(path, err);
    if (st == RELA_OK)
        rela_temporary_forget_dir(path);
    return st;
}

rela_status rela_dir_remove_empty(const char *path, rela_error *err)
{
    return rmdir(path) == 0 ? RELA_OK : rela_fail_errno(err, errno, "%s", path);
}

/* ctx: a buffer with "directory/", to which the name is appended during the call. */
static rela_status remove_entry(void *ctx, const char *name, rela_error *err)
{
    rela_buffer *path = ctx;
    const size_t len = path->len;
    rela_status st = rela_buffer_append_text(path, name, err);
    if (st == RELA_OK)
        st = rela_dir_exists(path->data) ? rela_dir_remove(path->data, err)
                                         : rela_file_remove(path->data, err);
    path->len = len;
    if (path->data)
        path->data[len] = '\0';
    return st;
}
