/* SPDX-License-Identifier: MIT */
/* cli/rank_jobs.c - see ranks.h. */
#include "rank_jobs.h"

#include "base/mem.h"
#include "dist/build_id.h"
#include "dist/processors.h"

#include <string.h>

static rela_status collect(rela_cli_ranks *r, rela_error *err);

bool rela_cli_ranks_several(const rela_cli_ranks *r)
{
    return r->world != NULL;
}

static bool is_first(const rela_cli_ranks *r)
{
    return rela_world_rank(r->world) == 0;
}

rela_status rela_cli_ranks_open(rela_cli_ranks *r, rela_cli *cli, rela_error *err)
{
    char text[RELA_BUILD_ID_MAX + 32], build[RELA_BUILD_ID_MAX];
    r->cli = cli;
    rela_status st = rela_world_open(&r->world, err);
    if (st != RELA_OK || !r->world)
        return st;
    cli->reported = !is_first(r);
    cli->common.quiet = cli->common.quiet || !is_first(r);
    cli->common.threads = rela_world_threads(r->world, (int)cli->common.threads);
    r->sizes = rela_mem_zalloc(rela_world_size(r->world) * 2 * sizeof *r->sizes);
    st = r->sizes ? RELA_OK : rela_fail(err, RELA_NOMEM, "no memory for several ranks");
    rela_build_id(build);
    rela_format_text(text, sizeof text, "build of rela: %s\n", build);
    st = rela_world_agree(r->world, st, err);
    return st ? st : rela_world_same(r->world, text, err);
}

rela_status rela_cli_ranks_close(rela_cli_ranks *r, rela_status st, rela_error *err)
{
    if (r->writer && st != RELA_OK)
        (void)rela_writer_flush(r->writer, NULL); /* what was done before the failure */
    rela_writer_abort(r->writer);
    rela_world_close(r->world, st, err);
    rela_buffer_free(&r->notes);
    rela_buffer_free(&r->text);
    rela_buffer_free(&r->all);
    rela_mem_free(r->sizes);
    *r = (rela_cli_ranks){ .cli = NULL };
    return st;
}

rela_status rela_cli_ranks_agree(rela_cli_ranks *r, rela_status st, rela_error *err)
{
    return rela_world_agree(r->world, st, err);
}

rela_status rela_cli_ranks_output(rela_cli_ranks *r, const char *path, rela_error *err)
{
    return is_first(r) ? rela_writer_open(&r->writer, path, err) : RELA_OK;
}

rela_status rela_cli_ranks_add(rela_cli_ranks *r, const rela_buffer *text, rela_error *err)
{
    return r->writer ? rela_writer_write(r->writer, text->data, text->len, err) : RELA_OK;
}

rela_status rela_cli_ranks_commit(rela_cli_ranks *r, rela_error *err)
{
    rela_writer *w = r->writer;
    r->writer = NULL;
    return rela_world_agree(r->world, w ? rela_writer_commit(w, err) : RELA_OK, err);
}

size_t rela_cli_ranks_bytes(const rela_cli_ranks *r, int64_t want, uint64_t size)
{
    enum { ROUNDS = 8, LEAST = 4096 };
    const uint64_t part = size / (rela_world_size(r->world) * ROUNDS), most = (uint64_t)want;
    const uint64_t few = part > LEAST ? part : LEAST;
    return (size_t)(r->world && few < most ? few : most);
}

bool rela_cli_ranks_turn(rela_cli_ranks *r)
{
    return r->turn++ == rela_world_rank(r->world);
}

rela_status rela_cli_ranks_write(rela_cli_ranks *r, const rela_buffer *text, rela_error *err)
{
    if (r->world)
        return rela_buffer_append(&r->text, text->data, text->len, err);
    rela_status st = text->len ? rela_writer_write(r->writer, text->data, text->len, err) : RELA_OK;
    return st ? st : rela_writer_flush(r->writer, err);
}

rela_status rela_cli_ranks_next(rela_cli_ranks *r, rela_status read, rela_status own, bool more,
                                rela_error *err)
{
    const rela_status st = read ? read : own;
    if (!r->world) {
        if (r->on_notes && r->notes.len)
            r->on_notes(r->ctx, r->notes.data, r->notes.len);
        rela_buffer_clear(&r->notes);
        r->turn = 0;
        return st;
    }
    if (own && !r->own && err)
        r->why = *err;
    r->own = r->own ? r->own : own;
    if (read == RELA_OK && more && r->turn < rela_world_size(r->world))
        return RELA_OK;
    rela_error failed = r->why;
    rela_status all = collect(r, &failed);
    if (all == RELA_OK && read && err)
        failed = *err;
    all = rela_world_agree(r->world, all ? all : r->own ? r->own : read, &failed);
    if (all != RELA_OK && err)
        *err = failed;
    r->turn = 0;
    r->own = RELA_OK;
    return all;
}

/* Ranks up to the first that failed have something to write. */
static size_t count_blocks(const rela_cli_ranks *r)
{
    const size_t size = rela_world_size(r->world);
    const size_t failed =
        (size_t)rela_world_min(r->world, (int64_t)(r->own ? rela_world_rank(r->world) : size));
    return failed < size ? failed + 1 : size;
}

static rela_status put(rela_cli_ranks *r, const char *text, size_t len, size_t n_notes,
                       rela_error *err)
{
    const rela_status st = len ? rela_writer_write(r->writer, text, len, err) : RELA_OK;
    if (r->on_notes && n_notes)
        r->on_notes(r->ctx, text + len, n_notes);
    return st;
}

/* Text and notes of the blocks of this round go to rank 0, which has made room. */
static rela_status transfer(rela_cli_ranks *r, size_t n, rela_error *err)
{
    const size_t rank = rela_world_rank(r->world);
    char *at = r->all.data;
    rela_status st = RELA_OK;
    for (size_t i = 1; i < n; i++) {
        const size_t len = r->sizes[2 * i] + r->sizes[2 * i + 1];
        const rela_message in = { i, at, len }, out = { 0, r->text.data, len };
        rela_world_begin(r->world, &out, rank == i && len, &in, rank == 0 && len);
        rela_world_wait(r->world);
        if (rank == 0 && st == RELA_OK)
            st = put(r, at, r->sizes[2 * i], r->sizes[2 * i + 1], err);
        at += rank == 0 ? len : 0;
    }
    return st ? st : rank == 0 ? rela_writer_flush(r->writer, err) : RELA_OK;
}

static rela_status collect(rela_cli_ranks *r, rela_error *err)
{
    const size_t rank = rela_world_rank(r->world), n = count_blocks(r);
    rela_status st = RELA_OK;
    size_t room = 0;
    r->sizes[2 * rank] = r->text.len;
    r->sizes[2 * rank + 1] = r->notes.len;
    st = rela_buffer_append(&r->text, r->notes.data ? r->notes.data : "", r->notes.len, err);
    rela_world_share_equal(r->world, r->sizes, 2 * sizeof *r->sizes);
    for (size_t i = 1; i < n; i++)
        room += r->sizes[2 * i] + r->sizes[2 * i + 1];
    if (st == RELA_OK && rank == 0)
        st = rela_buffer_reserve(&r->all, room, err);
    st = rela_world_agree(r->world, st, err);
    if (st == RELA_OK && rank == 0)
        st = put(r, r->text.data, r->sizes[0], r->sizes[1], err);
    st = rela_world_agree(r->world, st, err);
    st = st ? st : transfer(r, n, err);
    rela_buffer_clear(&r->text);
    rela_buffer_clear(&r->notes);
    return st;
}
