/* SPDX-License-Identifier: MIT */
/* src/study/hashes.c - hashes of files, kept from run to run, for key.h. */
#include "study/key.h"

#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

#include <string.h>
#include <xxhash.h>

enum { HASH_BLOCK = 1 << 20, HASHES_FILE_MAX = 64 << 20 };

typedef struct known {
    rela_file_mark mark;
    char hash[RELA_STUDY_KEY_SIZE];
} known;

struct rela_study_hashes {
    char *path;
    rela_map *names;
    known *items;
    size_t room;
    bool new;
};

static rela_status read_all(rela_study_hashes *h, rela_error *err);
static void read_line(rela_study_hashes *h, rela_span line);
static bool keep(rela_study_hashes *h, const char *file, size_t len, const known *item);

rela_status rela_study_hash_file(char out[RELA_STUDY_KEY_SIZE], uint64_t *size, const char *path,
                                 rela_error *err)
{
    rela_blob *b = NULL;
    XXH3_state_t *hash = XXH3_createState();
    char *block = rela_mem_alloc(HASH_BLOCK);
    rela_status st = block && hash ? rela_blob_open(&b, path, err)
                                   : rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    if (hash)
        (void)XXH3_128bits_reset(hash);
    *size = b ? rela_blob_size(b) : 0;
    for (uint64_t at = 0; st == RELA_OK && at < *size;) {
        const size_t n = *size - at < HASH_BLOCK ? (size_t)(*size - at) : HASH_BLOCK;
        st = rela_blob_read(b, block, n, at, err);
        if (st == RELA_OK)
            (void)XXH3_128bits_update(hash, block, n);
        at += n;
    }
    const XXH128_hash_t h = hash ? XXH3_128bits_digest(hash) : (XXH128_hash_t){ 0, 0 };
    rela_format_text(out, RELA_STUDY_KEY_SIZE, "%016llx%016llx", (unsigned long long)h.high64,
                     (unsigned long long)h.low64);
    (void)XXH3_freeState(hash);
    rela_blob_close(b);
    rela_mem_free(block);
    return st;
}

rela_status rela_study_hashes_open(rela_study_hashes **out, const char *path, rela_error *err)
{
    rela_study_hashes *h = rela_mem_zalloc(sizeof *h);
    *out = NULL;
    if (h)
        h->names = rela_map_create(0);
    if (h && path)
        h->path = rela_str_copy(path, strlen(path));
    if (!h || !h->names || (path && !h->path)) {
        rela_study_hashes_close(h);
        return rela_fail(err, RELA_NOMEM, "no memory for hashes of files");
    }
    const rela_status st = path && rela_file_exists(path) ? read_all(h, err) : RELA_OK;
    if (st != RELA_OK) {
        rela_study_hashes_close(h);
        return st;
    }
    *out = h;
    return RELA_OK;
}

static rela_status read_all(rela_study_hashes *h, rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    const rela_status st = rela_file_read(&text, &len, h->path, HASHES_FILE_MAX, err);
    rela_span line;
    const char *at = text;
    while (st == RELA_OK && rela_next_line(&line, &at, text + len))
        read_line(h, line);
    rela_mem_free(text);
    return st == RELA_FORMAT ? RELA_OK : st; /* it is only a cache */
}

/* HASH SIZE CHANGED INODE PATH; lines that are not like this are left out. */
static void read_line(rela_study_hashes *h, rela_span line)
{
    known item;
    int64_t numbers[3];
    const char *at = line.text, *end = line.text + line.len;
    rela_span word;
    if (!rela_next_word(&word, &at, end) || word.len != RELA_STUDY_KEY_SIZE - 1)
        return;
    memcpy(item.hash, word.text, word.len);
    item.hash[word.len] = '\0';
    for (size_t i = 0; i < 3; i++) {
        char text[32];
        if (!rela_next_word(&word, &at, end) || word.len >= sizeof text)
            return;
        memcpy(text, word.text, word.len);
        text[word.len] = '\0';
        if (!rela_parse_i64(&numbers[i], text))
            return;
    }
    item.mark = (rela_file_mark){ (uint64_t)numbers[0], (uint64_t)numbers[2], numbers[1] };
    if (at < end)
        (void)keep(h, at + 1, (size_t)(end - at) - 1, &item);
}

static bool keep(rela_study_hashes *h, const char *file, size_t len, const known *item)
{
    const uint32_t number = rela_map_add(h->names, file, len);
    if (number == RELA_MAP_NONE)
        return false;
    if (number >= h->room) {
        known *grown = rela_mem_grow(h->items, &h->room, number + 1, sizeof *grown);
        if (!grown)
            return false;
        h->items = grown;
    }
    h->items[number] = *item;
    return true;
}

rela_status rela_study_hashes_find(char out[RELA_STUDY_KEY_SIZE], uint64_t *size,
                                   rela_study_hashes *h, const char *file, rela_error *err)
{
    known item;
    if (!rela_file_look(&item.mark, file))
        return rela_fail(err, RELA_IO, "%s: no such file", file);
    const uint32_t number = rela_map_find(h->names, file, strlen(file));
    if (number != RELA_MAP_NONE && h->items[number].mark.size == item.mark.size &&
        h->items[number].mark.inode == item.mark.inode &&
        h->items[number].mark.changed == item.mark.changed) {
        memcpy(out, h->items[number].hash, RELA_STUDY_KEY_SIZE);
        *size = item.mark.size;
        return RELA_OK;
    }
    const rela_status st = rela_study_hash_file(item.hash, size, file, err);
    if (st != RELA_OK)
        return st;
    memcpy(out, item.hash, RELA_STUDY_KEY_SIZE);
    h->new = true;
    return keep(h, file, strlen(file), &item)
               ? RELA_OK
               : rela_fail(err, RELA_NOMEM, "no memory for hashes of files");
}

rela_status rela_study_hashes_save(rela_study_hashes *h, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    if (!h->path || !h->new)
        return RELA_OK;
    for (uint32_t i = 0; i < rela_map_size(h->names) && st == RELA_OK; i++) {
        const rela_span name = rela_map_key(h->names, i);
        const known *k = &h->items[i];
        if (!memchr(name.text, '\n', name.len))
            st = rela_buffer_printf(&text, err, "%s %llu %lld %llu %.*s\n", k->hash,
                                    (unsigned long long)k->mark.size, (long long)k->mark.changed,
                                    (unsigned long long)k->mark.inode, (int)name.len, name.text);
    }
    st = st ? st : rela_file_write(h->path, text.data ? text.data : "", text.len, err);
    rela_buffer_free(&text);
    h->new = st != RELA_OK;
    return st;
}

void rela_study_hashes_close(rela_study_hashes *h)
{
    if (!h)
        return;
    rela_map_destroy(h->names);
    rela_mem_free(h->items);
    rela_mem_free(h->path);
    rela_mem_free(h);
}
