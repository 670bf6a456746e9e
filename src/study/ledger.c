/* SPDX-License-Identifier: MIT */
/* src/study/ledger.c - see ledger.h. */
#include "study/ledger.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>

rela_status rela_study_ledger_note(const rela_study *s, const rela_study_job *job,
                                   const char *results, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT, row = RELA_BUFFER_INIT;
    rela_appender *out = NULL;
    char *text = NULL, now[32];
    size_t len = 0;
    if (job->kind != RELA_STUDY_SCORE || strcmp(job->test, "valid") == 0)
        return RELA_OK;
    rela_clock_text(now);
    rela_status st = rela_buffer_printf(&path, err, "%s/ledger.tsv", results);
    const bool new = st == RELA_OK && !rela_file_exists(path.data);
    if (st == RELA_OK && !new)
        st = rela_file_read(&text, &len, path.data, 0, err);
    const bool there = text && strstr(text, job->key);
    st = st || !new ? st : rela_buffer_append_text(&row, "time\tplan\tdata\ttest\tjob\n", err);
    st = st ? st
            : rela_buffer_printf(&row, err, "%s\t%s\t%s\t%s\t%s\n", now, s->plan.hash, job->data,
                                 job->test, job->key);
    if (st == RELA_OK && !there) {
        st = rela_appender_open(&out, path.data, UINT64_MAX, err);
        st = st ? st : rela_appender_write(out, row.data, row.len, err);
        rela_appender_close(out);
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    rela_buffer_free(&row);
    return st;
}
