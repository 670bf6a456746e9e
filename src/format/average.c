/* SPDX-License-Identifier: MIT */
/* src/format/average.c - rela_model_average of rela/model.h: the plain mean of checkpoints. */
#include "rela/model.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/par.h"
#include "base/sized.h"
#include "format/checkpoint.h"

#include <stdlib.h>
#include <string.h>

#define TAIL   ".rela"
#define FOLDER "checkpoints"

typedef struct path_list {
    char **items;
    size_t n, cap;
    const char *dir; /* that is being listed */
} path_list;

/* The running sum, in double so that the order of adding hardly matters. */
typedef struct mean {
    rela_net net; /* of the first file; receives the mean */
    rela_extras extras;
    double *sum;
    real *part;         /* weights of the file being added */
    rela_buffer parts;  /* JSON: names and hashes */
    rela_buffer record; /* of the last file */
    int n_threads;
    size_t n;
} mean;

static rela_status expand(path_list *l, const char *path, rela_error *err);
static rela_status see_name(void *ctx, const char *name, rela_error *err);
static rela_status push(path_list *l, char *path, rela_error *err);
static void path_list_deinit(path_list *l);
static rela_status average(const char *out, char *const *paths, size_t n,
                           const rela_checkpoint_options *o, rela_error *err);
static rela_status start(mean *m, const char *path, const rela_checkpoint_options *o,
                         rela_error *err);
static rela_status add(mean *m, const char *path, const rela_checkpoint_options *o,
                       rela_error *err);
static rela_status note_part(mean *m, const char *path, const rela_checkpoint *c, rela_error *err);
static rela_status write_record(mean *m, rela_error *err);
static void add_rows(void *ctx, size_t begin, size_t end, int thread);
static void divide_rows(void *ctx, size_t begin, size_t end, int thread);
static int compare_paths(const void *a, const void *b);

void rela_model_average_options_init(rela_model_average_options *o, size_t size)
{
    const rela_model_average_options defaults = { .struct_size = size };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_model_average(const char *out, const char *const *paths, size_t n,
                               const rela_model_average_options *options, rela_error *err)
{
    rela_model_average_options o;
    path_list l = { .items = NULL };
    rela_model_average_options_init(&o, sizeof o);
    rela_status st = rela_sized_take(&o, sizeof o, options, "rela_model_average_options", err);
    rela_notice notice = { o.notice, o.notice_ctx };
    const rela_log log = { .write = rela_notice_write, .ctx = &notice };
    const rela_checkpoint_options how = { .n_threads = o.n_threads, .log = &log };
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = expand(&l, paths[i], err);
    const size_t last = o.last > 0 ? (size_t)o.last : l.n;
    if (st == RELA_OK && (l.n == 0 || last > l.n))
        st = rela_fail(err, RELA_ARG, "%s: %zu checkpoint%s to average; expected %zu",
                       n ? paths[0] : "no file", l.n, rela_plural(l.n), last ? last : 1);
    for (size_t i = l.n - (last < l.n ? last : l.n); i < l.n && st == RELA_OK; i++)
        if (rela_file_same(out, l.items[i]))
            st = rela_fail(err, RELA_ARG, "%s: an input, which the output would replace",
                           l.items[i]);
    st = st ? st : average(out, l.items + (l.n - last), last, &how, err);
    path_list_deinit(&l);
    return st;
}

/* A directory stands for the files in it, in the order of their numbers. */
static rela_status expand(path_list *l, const char *path, rela_error *err)
{
    rela_buffer folder = RELA_BUFFER_INIT;
    if (!rela_dir_exists(path)) {
        char *copy = rela_str_copy(path, strlen(path));
        return copy ? push(l, copy, err) : rela_fail(err, RELA_NOMEM, "no memory for a file name");
    }
    const size_t first = l->n;
    rela_status st = rela_buffer_printf(&folder, err, "%s/" FOLDER, path);
    if (st == RELA_OK) {
        l->dir = rela_dir_exists(folder.data) ? folder.data : path;
        st = rela_dir_list(l->dir, see_name, l, err);
    }
    if (l->n > first)
        qsort(l->items + first, l->n - first, sizeof *l->items, compare_paths);
    rela_buffer_free(&folder);
    return st;
}

/* Only names like 000300.rela: best.rela and temporary files are not part of the series. */
static rela_status see_name(void *ctx, const char *name, rela_error *err)
{
    path_list *l = ctx;
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || strcmp(name + digits, TAIL) != 0)
        return RELA_OK;
    rela_buffer full = RELA_BUFFER_INIT;
    const rela_status st = rela_buffer_printf(&full, err, "%s/%s", l->dir, name);
    return st ? st : push(l, full.data, err);
}

/* path is given, on failure too. */
static rela_status push(path_list *l, char *path, rela_error *err)
{
    char **items = rela_mem_grow(l->items, &l->cap, l->n + 1, sizeof *items);
    if (!items) {
        rela_mem_free(path);
        return rela_fail(err, RELA_NOMEM, "no memory for a list of files");
    }
    l->items = items;
    items[l->n++] = path;
    return RELA_OK;
}

static void path_list_deinit(path_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        rela_mem_free(l->items[i]);
    rela_mem_free(l->items);
}

static rela_status average(const char *out, char *const *paths, size_t n,
                           const rela_checkpoint_options *o, rela_error *err)
{
    mean m = { .n_threads = rela_par_threads(o->n_threads) };
    rela_status st = start(&m, paths[0], o, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = add(&m, paths[i], o, err);
    if (st == RELA_OK) {
        rela_par_rows(m.net.params.total, m.n_threads, divide_rows, &m);
        st = write_record(&m, err);
        st = st ? st : rela_net_save(out, &m.net, &m.extras, o, err);
    }
    rela_net_deinit(&m.net);
    rela_extras_deinit(&m.extras);
    rela_mem_free(m.sum);
    rela_mem_free(m.part);
    rela_buffer_free(&m.parts);
    rela_buffer_free(&m.record);
    return st;
}

static rela_status start(mean *m, const char *path, const rela_checkpoint_options *o,
                         rela_error *err)
{
    const rela_checkpoint_options quiet = { .n_threads = o->n_threads }; /* add reads it again */
    rela_status st = rela_net_load(&m->net, &m->extras, path, &quiet, err);
    if (st != RELA_OK)
        return st;
    const size_t total = m->net.params.total;
    m->sum = rela_mem_array(total, sizeof *m->sum);
    m->part = rela_mem_array(total, sizeof *m->part);
    if (!m->sum || !m->part)
        return rela_fail(err, RELA_NOMEM, "no memory for a mean of %zu numbers", total);
    memset(m->sum, 0, total * sizeof *m->sum);
    memset(m->part, 0, total * sizeof *m->part); /* padding between parameters stays zero */
    return RELA_OK;
}

static rela_status add(mean *m, const char *path, const rela_checkpoint_options *o, rela_error *err)
{
    rela_checkpoint *c = NULL;
    real *base[1 + RELA_ARRAYS_MAX] = { m->part };
    rela_status st = rela_checkpoint_open(&c, path, o, err);
    if (st == RELA_OK && (st = rela_checkpoint_compare(c, &m->net, &m->extras, err)) != RELA_OK)
        st = rela_fail_in(err, st, path);
    st = st ? st : rela_checkpoint_read(c, base, NULL, o->n_threads, err);
    st = st ? st : note_part(m, path, c, err);
    if (st == RELA_OK)
        rela_par_rows(m->net.params.total, m->n_threads, add_rows, m);
    m->n++;
    rela_checkpoint_close(c);
    return st;
}

static rela_status note_part(mean *m, const char *path, const rela_checkpoint *c, rela_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const rela_metadata *r = rela_header_text(&c->header, RELA_SECTION_RECORD);
    rela_status st = rela_buffer_append_text(&m->parts, m->n ? ",{\"file\":" : "{\"file\":", err);
    st = st ? st : rela_json_quote(&m->parts, name, strlen(name), err);
    st = st ? st : rela_buffer_append_text(&m->parts, ",\"hash\":", err);
    st = st ? st : rela_json_quote(&m->parts, c->hash, strlen(c->hash), err);
    st = st ? st : rela_buffer_append_char(&m->parts, '}', err);
    rela_buffer_clear(&m->record);
    if (st == RELA_OK && r)
        st = rela_buffer_append(&m->record, r->value.text, r->value.len, err);
    return st;
}

/* {"average": [parts], "last": the record of the last part} */
static rela_status write_record(mean *m, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_extras kept = { 0 };
    rela_status st = rela_buffer_printf(&text, err, "{\"average\":[%s],\"last\":%s}", m->parts.data,
                                        m->record.len ? m->record.data : "null");
    for (size_t i = 0; i < m->extras.n_sections && st == RELA_OK; i++) {
        const rela_section *s = &m->extras.sections[i];
        if (strcmp(s->name, RELA_SECTION_STATE) != 0)
            st = rela_extras_set(&kept, s->name, s->text, s->len, err);
    }
    st = st ? st : rela_extras_set(&kept, RELA_SECTION_RECORD, text.data, text.len, err);
    rela_buffer_free(&text);
    rela_extras_deinit(&m->extras);
    m->extras = kept;
    return st;
}

static void add_rows(void *ctx, size_t begin, size_t end, int thread)
{
    const mean *m = ctx;
    (void)thread;
    for (size_t i = begin; i < end; i++)
        m->sum[i] += (double)m->part[i];
}

static void divide_rows(void *ctx, size_t begin, size_t end, int thread)
{
    const mean *m = ctx;
    (void)thread;
    for (size_t i = begin; i < end; i++)
        m->net.weights[i] = (real)(m->sum[i] / (double)m->n);
}

/* Names of equal form: the shorter number is the smaller one. */
static int compare_paths(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    const size_t n = strlen(x), k = strlen(y);
    return n != k ? (n > k) - (n < k) : strcmp(x, y);
}
