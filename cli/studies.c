/* SPDX-License-Identifier: MIT */
/* cli/studies.c - see studies.h. */
#include "studies.h"
#include "train_checks.h"

#include "base/mem.h"

#include <string.h>

static rela_status name_folders(rela_cli_study *out, const rela_cli_study_options *o,
                                rela_error *err);
static rela_status normalise(void *ctx, rela_buffer *out, const char *const *words, size_t n,
                             rela_error *err);

static const rela_command *find_whole(const char *name);
static rela_status append_relevant(rela_buffer *out, const rela_buffer *lines, rela_error *err);

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

/* Options in full, without those that change no result. The name of a two-word command is one
 * word: "study choose". */
static rela_status normalise(void *ctx, rela_buffer *out, const char *const *words, size_t n,
                             rela_error *err)
{
    (void)ctx;
    static const rela_option NONE[] = { { .name = NULL } };
    const rela_command *c = find_whole(words[0]);
    if (!c)
        return rela_fail(err, RELA_ARG, "no command '%s'", words[0]);
    rela_cli cli = { .command = c, .sink = { .write = NULL } };
    void *fields = rela_mem_zalloc(c->options_size + 1);
    const rela_option *rows = c->options ? c->options : NONE;
    const rela_option_group groups[] = { { rows, fields }, { RELA_CLI_COMMON, &cli.common } };
    rela_buffer all = RELA_BUFFER_INIT;
    cli.state = fields ? rela_options_create(groups, 2) : NULL;
    rela_status st = cli.state ? rela_options_default(cli.state, err)
                               : rela_fail(err, RELA_NOMEM, "no memory for options");
    st = st ? st : rela_options_parse(cli.state, &cli.operands, (int)n - 1, words + 1, err);
    for (size_t i = 0; i < cli.operands.n && st == RELA_OK; i++)
        st = rela_buffer_printf(&all, err, "%s: %s\n", "operand", cli.operands.items[i]);
    if (st == RELA_OK && strcmp(c->name, "train") == 0)
        st = rela_cli_train_settings(&all, &cli, fields, err);
    else if (st == RELA_OK)
        st = rela_options_dump(&all, cli.state, err);
    st = st ? st : append_relevant(out, &all, err);
    rela_options_destroy(cli.state);
    rela_buffer_free(&all);
    rela_mem_free(fields);
    return st;
}

static const rela_command *find_whole(const char *name)
{
    char first[64];
    int n_words = 0;
    const char *blank = strchr(name, ' ');
    rela_format_text(first, sizeof first, "%.*s", blank ? (int)(blank - name) : 63, name);
    const char *const words[] = { first, blank ? blank + 1 : NULL };
    return rela_cli_find_command(blank ? 2 : 1, words, &n_words);
}

static rela_status append_relevant(rela_buffer *out, const rela_buffer *lines, rela_error *err)
{
    static const char ITEM[] = "  - ";
    static const char *const OTHERS[] = { "threads", "quiet",    "log",         "json", "help",
                                          "config",  "max-time", "data-memory", "out",  "output" };
    rela_status st = RELA_OK;
    rela_span name = { "", 0 }; /* of a list, whose items become lines of their own */
    for (const char *at = lines->data; at && *at && st == RELA_OK;) {
        const size_t key = strcspn(at, ":\n"), len = strcspn(at, "\n");
        const bool item = strncmp(at, ITEM, strlen(ITEM)) == 0;
        bool relevant = true;
        if (!item)
            name = (rela_span){ at, key };
        for (size_t i = 0; i < sizeof OTHERS / sizeof OTHERS[0]; i++)
            relevant = relevant && !rela_span_is(name, OTHERS[i]);
        const bool head = strncmp(at + len + (at[len] == '\n'), ITEM, strlen(ITEM)) == 0 && !item;
        if (relevant && item)
            st = rela_buffer_printf(out, err, "%.*s: %.*s\n", (int)name.len, name.text,
                                    (int)(len - strlen(ITEM)), at + strlen(ITEM));
        else if (relevant && !head)
            st = rela_buffer_printf(out, err, "%.*s\n", (int)len, at);
        at += len + (at[len] == '\n');
    }
    return st;
}
