/* SPDX-License-Identifier: MIT */
/* cli/studies.c - see studies.h. */
#include "studies.h"

#include "base/mem.h"

#include <string.h>

static rela_status name_folders(rela_cli_study *out, const rela_cli_study_options *o,
                                rela_error *err);
static rela_status normalise(void *ctx, rela_buffer *out, const char *const *words, size_t n,
                             rela_error *err);

const rela_study_normaliser RELA_CLI_NORMALISER = { .normalise = normalise };

rela_status rela_cli_study_open(rela_cli_study *out, const char *path,
                                const rela_cli_study_options *o, rela_error *err)
{
    const rela_tree_sets sets = { o->sets.items, o->sets.n };
    rela_status st = rela_study_read(&out->study, path, o->scale, sets, err);
    st = st ? st : name_folders(out, o, err);
    return st ? st : rela_study_expand(&out->jobs, out->study, err);
}

void rela_cli_study_close(rela_cli_study *s)
{
    rela_study_destroy(s->study);
    rela_buffer_free(&s->dir);
    rela_buffer_free(&s->results);
}

static rela_status name_folders(rela_cli_study *out, const rela_cli_study_options *o,
                                rela_error *err)
{
    const rela_study *s = out->study;
    rela_status st = o->dir ? rela_buffer_append_text(&out->dir, o->dir, err)
                            : rela_buffer_printf(&out->dir, err, "build/study/%s%s%s", s->name,
                                                 *s->scale ? "-" : "", s->scale);
    if (st != RELA_OK)
        return st;
    return o->results ? rela_buffer_append_text(&out->results, o->results, err)
                      : rela_buffer_printf(&out->results, err, "%s/results", out->dir.data);
}

static rela_status normalise(void *ctx, rela_buffer *out, const char *const *words, size_t n,
                             rela_error *err)
{
    (void)ctx;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "%s\n", words[i]);
    return st;
}
