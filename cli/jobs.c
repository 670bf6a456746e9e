/* SPDX-License-Identifier: MIT */
/* cli/jobs.c - see jobs.h. */
#include "jobs.h"

#include "base/map.h"
#include "base/mem.h"
#include "dist/job_flow.h"
#include "dist/machine.h"
#include "model_names.h"

#include <string.h>

/* Of a larger file only evenly spaced parts are hashed. */
enum { PARTS = 64, PART_BYTES = 1 << 20 };

static rela_status name_settings(rela_job *j, const rela_cli *cli, rela_error *err);

static void on_log(void *ctx, int32_t level, const char *line)
{
    const rela_cli *cli = ctx;
    rela_log_line(&cli->sink, (rela_log_level)level, "%s", line);
}

bool rela_cli_job_shared(const rela_job *j, const char *resume)
{
    return resume || rela_job_ranks(j) > 1;
}

rela_status rela_cli_job_open(rela_job **out, rela_cli *cli, const char *resume, rela_error *err)
{
    rela_job_options o;
    rela_job_options_init(&o, sizeof o);
    o.mpi = 1;
    o.record = resume;
    o.log = on_log;
    o.log_ctx = cli;
    rela_status st = rela_job_open(out, &o, err);
    if (st != RELA_OK)
        return st;
    if (rela_job_rank(*out) > 0) { /* only rank 0 reports */
        cli->reported = cli->common.quiet = true;
        cli->sink.write = NULL;
    }
    if (rela_job_ranks(*out) > 1)
        cli->common.threads = rela_world_threads(rela_job_world(*out), (int)cli->common.threads);
    if (rela_cli_job_shared(*out, resume))
        st = name_settings(*out, cli, err);
    return rela_job_agree(*out, st, err);
}

/* ---- settings ---- */

static rela_status hash_file(uint64_t *hash, const rela_blob *b, rela_error *err)
{
    const uint64_t size = rela_blob_size(b), all = (uint64_t)PARTS * PART_BYTES;
    char *part = rela_mem_alloc(PART_BYTES + sizeof *hash);
    rela_status st = part ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory to hash a file");
    *hash = size;
    for (uint64_t i = 0; i < PARTS && i * PART_BYTES < size && st == RELA_OK; i++) {
        const uint64_t at = size <= all ? i * PART_BYTES : (size - PART_BYTES) / (PARTS - 1) * i;
        const size_t len = (size_t)(size - at < PART_BYTES ? size - at : PART_BYTES);
        memcpy(part, hash, sizeof *hash);
        st = rela_blob_read(b, part + sizeof *hash, len, at, err);
        *hash = rela_map_hash(part, len + sizeof *hash);
    }
    rela_mem_free(part);
    return st;
}

/* A missing file is left for the command to report. */
static rela_status name_file(rela_job *j, const char *name, const char *path, rela_error *err)
{
    rela_blob *b = NULL;
    uint64_t hash = 0;
    char text[96];
    if (!rela_file_exists(path))
        return RELA_OK;
    rela_status st = rela_blob_open(&b, path, err);
    st = st ? st : hash_file(&hash, b, err);
    if (st == RELA_OK) {
        rela_format_text(text, sizeof text, "%llu bytes with hash %016llx",
                         (unsigned long long)rela_blob_size(b), (unsigned long long)hash);
        st = rela_job_setting(j, name, text, err);
    }
    rela_blob_close(b);
    return st;
}

/* input: a path, or the name of a model. */
static rela_status name_input(rela_job *j, const char *name, const char *input, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    if (strcmp(input, "-") == 0)
        return rela_fail(err, RELA_ARG, "%s: standard input cannot be used: %s", name,
                         rela_job_ranks(j) > 1 ? "every rank reads its part of a file"
                                               : "--resume reads the text again");
    if (rela_cli_find_model(&path, input, NULL) == RELA_OK)
        st = name_file(j, name, path.data, err);
    rela_buffer_free(&path);
    return st;
}

static rela_status name_list(rela_job *j, const rela_option *o, rela_list list, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < list.n && st == RELA_OK; i++)
        st = o->type == RELA_OPTION_FILES ? name_input(j, o->name, list.items[i], err)
                                          : rela_job_setting(j, o->name, list.items[i], err);
    return st;
}

/* Inputs are recorded by content, outputs not at all. */
static rela_status name_option(rela_job *j, const rela_option *o, const void *fields,
                               rela_error *err)
{
    const void *field = (const char *)fields + o->offset;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    switch (o->type) {
    case RELA_OPTION_OUTPUT:
    case RELA_OPTION_DIR:
        return *(const char *const *)field ? rela_job_output(j, *(const char *const *)field, err)
                                           : RELA_OK;
    case RELA_OPTION_LIST:
    case RELA_OPTION_FILES:
        return name_list(j, o, *(const rela_list *)field, err);
    case RELA_OPTION_FILE:
        return *(const char *const *)field
                   ? name_input(j, o->name, *(const char *const *)field, err)
                   : RELA_OK;
    default:
        st = rela_option_dump(&text, o, fields, err);
        if (st == RELA_OK && text.len) /* "name: value" and a line end */
            text.data[text.len - 1] = '\0';
        if (st == RELA_OK && text.len)
            st = rela_job_setting(j, o->name, text.data + strlen(o->name) + 2, err);
        rela_buffer_free(&text);
        return st;
    }
}

/* The other common options do not change results. */
static bool counts(const char *common)
{
    return strcmp(common, "seed") == 0 || strcmp(common, "json") == 0;
}

static rela_status name_settings(rela_job *j, const rela_cli *cli, rela_error *err)
{
    rela_status st = rela_job_setting(j, "command", cli->command->name, err);
    for (size_t i = 0; i < cli->operands.n && st == RELA_OK; i++) {
        char name[32];
        rela_format_text(name, sizeof name, "argument %zu", i + 1);
        st = name_input(j, name, cli->operands.items[i], err);
    }
    for (const rela_option *o = cli->command->options; o->name && st == RELA_OK; o++)
        st = name_option(j, o, cli->options, err);
    for (const rela_option *o = RELA_CLI_COMMON; o->name && st == RELA_OK; o++)
        if (counts(o->name))
            st = name_option(j, o, &cli->common, err);
    return st;
}
