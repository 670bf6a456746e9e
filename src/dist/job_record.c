/* SPDX-License-Identifier: MIT */
/* src/dist/job_record.c - see job_record.h. */
#include "dist/job_record.h"

#include "base/file.h"
#include "base/mem.h"
#include "dist/job_settings.h"

#include <string.h>
#include <xxhash.h>

/* The first bytes of the file. The settings follow, as the first block, then results. */
static const char TITLE[] = "rela job record 1\n";
enum { TITLE_BYTES = sizeof TITLE - 1 };

/* Before the bytes of a block. */
typedef struct head {
    rela_record_head known;
    uint64_t len;
    uint64_t hash; /* of the members above and of the bytes */
} head;

struct rela_record {
    char *path;
    rela_appender *out;
    rela_blob *old; /* the file as it was opened; NULL: no blocks left to take */
    uint64_t at;    /* the next block in it */
    head ahead;     /* its head, if there is one */
};

static rela_status check_kind(const char *path, rela_error *err);
static rela_status look(rela_record *r, const char *settings, rela_error *err);
static rela_status check_title(const rela_record *r, bool *empty, rela_error *err);
static rela_status start(rela_record *r, const char *settings, rela_error *err);
static rela_status take(rela_record *r, rela_buffer *bytes, bool *there, rela_error *err);
static rela_status add(rela_record *r, const rela_record_head *known, const char *bytes, size_t len,
                       rela_error *err);

rela_status rela_record_open(rela_record **out, const char *path, const char *settings,
                             rela_error *err)
{
    rela_record *r = rela_mem_zalloc(sizeof *r);
    rela_status st = RELA_OK;
    *out = NULL;
    if (!r || !(r->path = rela_str_copy(path, strlen(path))))
        st = rela_fail(err, RELA_NOMEM, "%s: no memory to keep results", path);
    st = st ? st : check_kind(path, err);
    st = st ? st : rela_appender_open(&r->out, path, UINT64_MAX, err);
    st = st ? st : rela_appender_lock(r->out, err);
    st = st ? st : rela_blob_open(&r->old, path, err);
    st = st ? st : look(r, settings, err);
    if (st != RELA_OK) {
        rela_record_close(r);
        return st;
    }
    *out = r;
    return RELA_OK;
}

void rela_record_close(rela_record *r)
{
    if (!r)
        return;
    rela_blob_close(r->old);
    rela_appender_close(r->out);
    rela_mem_free(r->path);
    rela_mem_free(r);
}

rela_status rela_record_remove(const rela_record *r, rela_error *err)
{
    return rela_file_remove(r->path, err);
}

const char *rela_record_path(const rela_record *r)
{
    return r->path;
}

/* Opening a FIFO for writing would block until it has a reader. */
static rela_status check_kind(const char *path, rela_error *err)
{
    rela_blob *file = NULL;
    const rela_status st = rela_name_taken(path) ? rela_blob_open(&file, path, err) : RELA_OK;
    rela_blob_close(file);
    return st;
}

static rela_status look(rela_record *r, const char *settings, rela_error *err)
{
    rela_buffer there = RELA_BUFFER_INIT;
    bool empty = false, whole = false;
    rela_status st = check_title(r, &empty, err);
    r->at = TITLE_BYTES;
    if (st == RELA_OK && !empty)
        st = take(r, &there, &whole, err);
    if (st == RELA_OK && !whole) {
        st = start(r, settings, err);
    } else if (st == RELA_OK) {
        char where[300];
        rela_format_text(where, sizeof where, "in the job that %.200s began", r->path);
        st = rela_settings_compare(settings, there.data ? there.data : "", where, err);
    }
    rela_buffer_free(&there);
    return st;
}

/* A file with only the beginning of a title was left by a process that was killed. */
static rela_status check_title(const rela_record *r, bool *empty, rela_error *err)
{
    char bytes[TITLE_BYTES];
    const uint64_t size = rela_blob_size(r->old);
    const size_t n = size < TITLE_BYTES ? (size_t)size : TITLE_BYTES;
    const rela_status st = n ? rela_blob_read(r->old, bytes, n, 0, err) : RELA_OK;
    *empty = size < TITLE_BYTES;
    if (st == RELA_OK && n && memcmp(bytes, TITLE, n) != 0)
        return rela_fail(err, RELA_STATE, "%s: not the record of a job, so it is left alone",
                         r->path);
    return st;
}

static rela_status start(rela_record *r, const char *settings, rela_error *err)
{
    static const rela_record_head NONE = { 0, 0, 0 };
    rela_blob_close(r->old);
    r->old = NULL;
    rela_status st = rela_appender_cut(r->out, 0, err);
    st = st ? st : rela_appender_write(r->out, TITLE, TITLE_BYTES, err);
    return st ? st : add(r, &NONE, settings, strlen(settings), err);
}

static uint64_t hash_of(const head *h, const char *bytes)
{
    return XXH3_64bits_withSeed(bytes, h->len, XXH3_64bits(h, offsetof(head, hash)));
}

/* *there is false if no complete block is left; a partial one is cut off before adding. */
static rela_status take(rela_record *r, rela_buffer *bytes, bool *there, rela_error *err)
{
    const uint64_t size = rela_blob_size(r->old);
    head *h = &r->ahead;
    rela_status st = RELA_OK;
    *there = size >= sizeof *h && r->at <= size - sizeof *h;
    if (*there)
        st = rela_blob_read(r->old, h, sizeof *h, r->at, err);
    *there = *there && st == RELA_OK && h->len <= size - sizeof *h - r->at;
    if (!*there)
        return st;
    rela_buffer_clear(bytes);
    st = rela_buffer_reserve(bytes, h->len, err);
    st = st ? st : rela_blob_read(r->old, bytes->data, h->len, r->at + sizeof *h, err);
    *there = st == RELA_OK && hash_of(h, bytes->data) == h->hash;
    if (!*there)
        return st;
    bytes->len = h->len;
    bytes->data[h->len] = '\0';
    r->at += sizeof *h + h->len;
    return RELA_OK;
}

rela_status rela_record_next(rela_record *r, rela_record_head *known, rela_buffer *result,
                             uint64_t run, bool *there, rela_error *err)
{
    *there = false;
    if (!r->old)
        return RELA_OK;
    const uint64_t at = r->at;
    rela_status st = take(r, result, there, err);
    if (st == RELA_OK && *there && r->ahead.known.run != run) { /* of a later run */
        *there = false;
        r->at = at;
    } else if (st == RELA_OK && !*there) {
        rela_blob_close(r->old);
        r->old = NULL;
        st = rela_appender_cut(r->out, r->at, err);
    }
    *known = r->ahead.known;
    return st;
}

rela_status rela_record_add(rela_record *r, const rela_record_head *known,
                            const rela_buffer *result, rela_error *err)
{
    if (r->old)
        return rela_fail(err, RELA_STATE, "%s: the job that began it had less text", r->path);
    return add(r, known, result->data ? result->data : "", result->len, err);
}

static rela_status add(rela_record *r, const rela_record_head *known, const char *bytes, size_t len,
                       rela_error *err)
{
    rela_buffer all = RELA_BUFFER_INIT;
    head h = { *known, len, 0 };
    h.hash = hash_of(&h, bytes);
    rela_status st = rela_buffer_append(&all, (const char *)&h, sizeof h, err);
    st = st ? st : rela_buffer_append(&all, bytes, len, err);
    st = st ? st : rela_appender_write(r->out, all.data, all.len, err);
    rela_buffer_free(&all);
    return st;
}
