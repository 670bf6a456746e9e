/* SPDX-License-Identifier: MIT */
/* src/dist/job.c - opening and closing a job, and a flow of blocks in one process; see rela/job.h
 * and job_flow.h. */
#include "rela/job.h"

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "dist/build_id.h"
#include "dist/job_parts.h"
#include "kern/gemm.h"

#include <string.h>

static rela_status begin(rela_job *j, rela_error *err);
static rela_status replay(rela_job *j, const rela_flow *f, rela_error *err);
static rela_status run_alone(rela_job *j, const rela_flow *f, rela_error *err);

void rela_job_options_init(rela_job_options *o, size_t size)
{
    const rela_job_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_job_open(rela_job **out, const rela_job_options *o, rela_error *err)
{
    rela_job *j = rela_mem_zalloc(sizeof *j);
    *out = NULL;
    if (!j)
        return rela_fail(err, RELA_NOMEM, "no memory for a job");
    rela_job_options_init(&j->o, sizeof j->o);
    rela_status st = rela_sized_take(&j->o, sizeof j->o, o, "rela_job_options", err);
    if (st == RELA_OK && j->o.record &&
        !(j->path = rela_str_copy(j->o.record, strlen(j->o.record))))
        st = rela_fail(err, RELA_NOMEM, "no memory for a job");
    if (st == RELA_OK && j->o.mpi)
        st = rela_world_open(&j->world, err);
    if (st != RELA_OK) {
        rela_mem_free(j->path);
        rela_mem_free(j);
        return st;
    }
    *out = j;
    return RELA_OK;
}

rela_status rela_job_close(rela_job *j, rela_status st, rela_error *err)
{
    if (!j)
        return st;
    if (st == RELA_OK && j->record)
        st = rela_record_remove(j->record, err);
    rela_record_close(j->record);
    rela_world_close(j->world, st, err);
    rela_buffer_free(&j->settings);
    rela_buffer_free(&j->outputs);
    rela_mem_free(j->path);
    rela_mem_free(j);
    return st;
}

rela_world *rela_job_world(const rela_job *j)
{
    return j ? j->world : NULL;
}

uint32_t rela_job_rank(const rela_job *j)
{
    return (uint32_t)rela_world_rank(rela_job_world(j));
}

uint32_t rela_job_ranks(const rela_job *j)
{
    return (uint32_t)rela_world_size(rela_job_world(j));
}

rela_status rela_job_setting(rela_job *j, const char *name, const char *value, rela_error *err)
{
    if (!j)
        return RELA_OK;
    const size_t from = j->settings.len;
    rela_status st = rela_buffer_printf(&j->settings, err, "%s: %s", name, value);
    for (size_t i = from; i < j->settings.len; i++)
        if (j->settings.data[i] == '\n')
            j->settings.data[i] = ' ';
    return st ? st : rela_buffer_append_char(&j->settings, '\n', err);
}

rela_status rela_job_output(rela_job *j, const char *path, rela_error *err)
{
    return rela_buffer_append(&j->outputs, path, strlen(path) + 1, err);
}

rela_status rela_job_agree(rela_job *j, rela_status st, rela_error *err)
{
    return rela_world_agree(rela_job_world(j), st, err);
}

rela_status rela_job_run(rela_job *j, const rela_flow *f, rela_error *err)
{
    rela_status st = j && !j->begun ? begin(j, err) : RELA_OK;
    if (st == RELA_OK && j && j->record)
        st = replay(j, f, err);
    st = rela_job_agree(j, st, err);
    if (st == RELA_OK)
        st = rela_job_world(j) ? rela_job_run_ranks(j, f, err) : run_alone(j, f, err);
    if (j)
        j->run++;
    return st;
}

/* The settings of the caller come first: only the first difference is reported, and what a user has
 * changed matters more than the build. */
static rela_status begin(rela_job *j, rela_error *err)
{
    char build[RELA_BUILD_ID_MAX];
    rela_build_id(build);
    rela_status st = rela_buffer_printf(
        &j->settings, err,
        "version: %d.%d.%d\nbuild of rela: %s\ninstruction set (RELA_ISA limits it): %s\n"
        "instruction set of oneDNN (DNNL_MAX_CPU_ISA limits it): %d\n",
        RELA_VERSION_MAJOR, RELA_VERSION_MINOR, RELA_VERSION_PATCH, build, rela_kern_get()->name,
        rela_gemm_isa());
    st = rela_world_agree(j->world, st, err);
    st = st ? st : rela_world_same(j->world, j->settings.data, err);
    if (st == RELA_OK && j->path && rela_world_rank(j->world) == 0)
        st = rela_record_open(&j->record, j->path, j->settings.data, err);
    if (st == RELA_OK && j->record) /* no other process can be at work on this job */
        for (size_t i = 0; i < j->outputs.len; i += strlen(j->outputs.data + i) + 1)
            rela_file_sweep(j->outputs.data + i);
    j->begun = true;
    return rela_world_agree(j->world, st, err);
}

/* ---- blocks ---- */

rela_job_slot *rela_job_slots_create(const rela_flow *f, size_t n, rela_error *err)
{
    rela_job_slot *s = rela_mem_zalloc(n * sizeof *s);
    for (size_t i = 0; s && i < n; i++)
        if (!(s[i].block = rela_mem_zalloc(f->block_size))) {
            rela_job_slots_destroy(s, f, n);
            s = NULL;
        }
    if (!s)
        (void)rela_fail(err, RELA_NOMEM, "no memory for %zu blocks", n);
    return s;
}

void rela_job_slots_destroy(rela_job_slot *s, const rela_flow *f, size_t n)
{
    for (size_t i = 0; s && i < n; i++) {
        if (s[i].block && f->free_block)
            f->free_block(s[i].block);
        rela_mem_free(s[i].block);
        rela_buffer_free(&s[i].result);
    }
    rela_mem_free(s);
}

rela_status rela_job_work(const rela_flow *f, rela_job_slot *s, int thread, rela_error *err)
{
    s->why = (rela_error){ RELA_OK, "" };
    rela_buffer_clear(&s->result);
    s->st = f->work(f->ctx, s->block, &s->result, thread, &s->why);
    if (s->st == RELA_OK || f->partial)
        return RELA_OK;
    if (err)
        *err = s->why;
    return s->st;
}

rela_status rela_job_finish(rela_job *j, const rela_flow *f, rela_job_slot *s, rela_error *err)
{
    rela_status st = RELA_OK;
    if (s->st != RELA_OK && s->result.len == 0)
        return RELA_OK;
    if (j && j->record && s->st == RELA_OK) {
        const rela_record_head head = { j->run, s->lines, f->hash ? f->hash(f->ctx, s->block) : 0 };
        st = rela_record_add(j->record, &head, &s->result, err);
    }
    return st ? st : f->finish(f->ctx, s->block, &s->result, err);
}

/* ---- replay of the record ---- */

static rela_status compare_text(const rela_job *j, const rela_flow *f, const rela_job_slot *s,
                                const rela_record_head *head, uint64_t before, rela_error *err)
{
    const uint64_t hash = f->hash ? f->hash(f->ctx, s->block) : 0;
    if (s->lines != head->lines)
        return rela_fail(
            err, RELA_STATE,
            "the text has %llu lines, but it had %llu or more in the job that %s began",
            (unsigned long long)(before + s->lines), (unsigned long long)(before + head->lines),
            j->path);
    if (hash != head->text)
        return rela_fail(
            err, RELA_STATE,
            "the hash of lines %llu to %llu is %016llx, but %016llx in the job that %s began",
            (unsigned long long)before + 1, (unsigned long long)(before + head->lines),
            (unsigned long long)hash, (unsigned long long)head->text, j->path);
    return RELA_OK;
}

static rela_status replay(rela_job *j, const rela_flow *f, rela_error *err)
{
    rela_record_head head;
    uint64_t done = 0;
    bool there = true;
    rela_job_slot *s = rela_job_slots_create(f, 1, err);
    rela_status st = s ? RELA_OK : RELA_NOMEM;
    while (st == RELA_OK && there) {
        st = rela_record_next(j->record, &head, &s->result, j->run, &there, err);
        if (st != RELA_OK || !there)
            break;
        st = f->read(f->ctx, s->block, head.lines, &s->lines, err);
        st = st ? st : compare_text(j, f, s, &head, done, err);
        st = st ? st : f->finish(f->ctx, s->block, &s->result, err);
        done += head.lines;
    }
    rela_job_slots_destroy(s, f, 1);
    if (st == RELA_OK && done && j->o.log) {
        char line[512];
        rela_format_text(line, sizeof line, "%.300s: results of %llu lines are there: going on",
                         j->path, (unsigned long long)done);
        j->o.log(j->o.log_ctx, RELA_LOG_INFO, line);
    }
    return st;
}

/* ---- one process ---- */

typedef struct walk {
    rela_job *j;
    const rela_flow *f;
} walk;

static rela_status read_slot(void *ctx, void *slot, bool *more, rela_error *err)
{
    const walk *w = ctx;
    rela_job_slot *s = slot;
    const rela_status st = w->f->read(w->f->ctx, s->block, 0, &s->lines, err);
    *more = s->lines > 0;
    return st;
}

static rela_status work_slot(void *ctx, void *slot, int thread, rela_error *err)
{
    const walk *w = ctx;
    return rela_job_work(w->f, slot, thread, err);
}

static rela_status finish_slot(void *ctx, void *slot, rela_error *err)
{
    const walk *w = ctx;
    rela_job_slot *s = slot;
    const rela_status st = rela_job_finish(w->j, w->f, s, err);
    if (st == RELA_OK && s->st != RELA_OK && err)
        *err = s->why;
    return st ? st : s->st;
}

static rela_status run_alone(rela_job *j, const rela_flow *f, rela_error *err)
{
    walk w = { j, f };
    const size_t n = (size_t)f->n_threads;
    rela_job_slot *slots = rela_job_slots_create(f, n, err);
    void **blocks = rela_mem_zalloc(n * sizeof *blocks);
    rela_status st = slots && blocks ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for blocks");
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        blocks[i] = &slots[i];
    const rela_pipe pipe = { .read = read_slot,
                             .work = work_slot,
                             .write = finish_slot,
                             .ctx = &w,
                             .blocks = blocks,
                             .n_threads = f->n_threads };
    st = st ? st : rela_pipe_run(&pipe, err);
    rela_job_slots_destroy(slots, f, n);
    rela_mem_free(blocks);
    return st;
}
