/* SPDX-License-Identifier: MIT */
/* cli/study_keep.c - see study_keep.h. */
#include "study_keep.h"

#include "study/check_results.h"
#include "study/locate.h"
#include "study/manifest.h"

#include <string.h>

static rela_status adopt_named(rela_cli *cli, rela_cli_study *s, rela_study_locator *l,
                               const rela_study_key_names *names, const char *from, bool *found,
                               rela_error *err);
static bool is_named(const rela_cli *cli, const rela_study_job *j);

rela_status rela_cli_study_verify(rela_cli *cli, const rela_cli_study_options *o, rela_error *err)
{
    rela_cli_study s = { .study = NULL };
    rela_study_check check = { 0, 0, 0 };
    rela_buffer out = RELA_BUFFER_INIT;
    size_t done = 0;
    rela_status st = rela_cli_study_open(&s, cli->operands.items[0], o, err);
    st = st ? st : rela_study_check_files(s.study, err);
    st =
        st ? st : rela_study_locate(&s.jobs, s.dir.data, s.results.data, &RELA_CLI_NORMALISER, err);
    const rela_study_folders where = { s.dir.data, s.results.data };
    for (size_t i = 0; i < s.jobs.n && st == RELA_OK; i++)
        if (s.jobs.items[i].state == RELA_STUDY_DONE) {
            done++;
            st = rela_study_check_job(&out, &check, &s.jobs.items[i], where, err);
        }
    st = st ? st
            : rela_buffer_printf(&out, err, "%zu files of %zu jobs: %zu bad", check.files, done,
                                 check.bad);
    if (st == RELA_OK && check.absent)
        st = rela_buffer_printf(&out, err, "; %zu big outputs are not here", check.absent);
    st = st ? st : rela_buffer_append_char(&out, '\n', err);
    st = st ? st : rela_cli_print(&out, err);
    if (st == RELA_OK && check.bad)
        st = rela_fail(err, RELA_FORMAT,
                       "%zu file%s not what the manifests say; remove the folder "
                       "of the job to run it again",
                       check.bad, check.bad == 1 ? " is" : "s are");
    rela_buffer_free(&out);
    rela_cli_study_close(&s);
    return st;
}

rela_status rela_cli_study_adopt(rela_cli *cli, const rela_cli_adopt_options *o, rela_error *err)
{
    rela_cli_study s = { .study = NULL };
    rela_study_locator *l = NULL;
    rela_study_key_names names = { NULL, NULL, 0 };
    bool found = false;
    if (o->from && cli->operands.n != 2)
        return rela_fail(err, RELA_ARG, "--from needs one job");
    rela_status st = rela_cli_study_open(&s, cli->operands.items[0], &o->study, err);
    st = st ? st : rela_study_check_files(s.study, err);
    st = st ? st
            : rela_study_locator_open(&l, &s.jobs, s.dir.data, s.results.data, &RELA_CLI_NORMALISER,
                                      err);
    st = st ? st : rela_study_names_read(&names, s.study->arena, s.results.data, err);
    st = st ? st : adopt_named(cli, &s, l, &names, o->from, &found, err);
    if (st == RELA_OK && !found)
        st = rela_fail(err, RELA_ARG,
                       "no such job that has a key, is not done, and has results "
                       "under another key");
    st = st ? st : rela_study_names_update(&s.jobs, s.results.data, err);
    rela_study_locator_close(l);
    rela_cli_study_close(&s);
    return st;
}

/* In the order of the jobs, as those that need others get their keys when these are done. */
static rela_status adopt_named(rela_cli *cli, rela_cli_study *s, rela_study_locator *l,
                               const rela_study_key_names *names, const char *from, bool *found,
                               rela_error *err)
{
    const rela_study_folders where = { s->dir.data, s->results.data };
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->jobs.n && st == RELA_OK; i++) {
        rela_study_job *j = &s->jobs.items[i];
        st = rela_study_locator_job(l, i, err);
        const char *key = from ? from : rela_study_names_find(names, j->name);
        if (st != RELA_OK || j->state == RELA_STUDY_DONE || !*j->key || !key || !is_named(cli, j))
            continue;
        st = rela_study_adopt(j, s->study, key, where, err);
        *found = *found || st == RELA_OK;
        if (st == RELA_OK)
            rela_log_line(&cli->sink, RELA_LOG_INFO, "%s: %.*s now stands for %.*s", j->name,
                          RELA_STUDY_FOLDER_DIGITS, key, RELA_STUDY_FOLDER_DIGITS, j->key);
    }
    return st;
}

static bool is_named(const rela_cli *cli, const rela_study_job *j)
{
    for (size_t i = 1; i < cli->operands.n; i++)
        if (strcmp(cli->operands.items[i], j->name) == 0 ||
            strcmp(cli->operands.items[i], "all") == 0)
            return true;
    return false;
}
