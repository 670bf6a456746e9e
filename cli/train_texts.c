/* SPDX-License-Identifier: MIT */
/* cli/train_texts.c - see train_texts.h. */
#include "train_texts.h"

#include "base/mem.h"

static rela_status check_columns(const rela_train_options *o, const rela_cli_texts *t,
                                 rela_error *err);
static rela_status split_file(rela_cli_columns *c, const char *path, const char *out,
                              const char *name, size_t number, size_t n, rela_error *err);

rela_status rela_cli_texts_split(rela_cli_texts *t, rela_train_options *o, rela_error *err)
{
    if (!t->tsv.n && !t->valid_tsv)
        return RELA_OK;
    rela_status st = check_columns(o, t, err);
    size_t sides = 0;
    if (st == RELA_OK && t->tsv.n) {
        t->n = t->tsv.n;
        t->columns = rela_mem_zalloc(t->n * sizeof *t->columns);
        t->names = rela_mem_zalloc(RELA_CLI_COLUMNS_MAX * t->n * sizeof *t->names);
        if (!t->columns || !t->names)
            return rela_fail(err, RELA_NOMEM, "no memory for the names of files");
    }
    for (size_t i = 0; i < t->n && st == RELA_OK; i++) {
        st = split_file(&t->columns[i], t->tsv.items[i], o->out, "train", i + 1, sides, err);
        sides = t->columns[i].n;
        for (size_t k = 0; k < sides && st == RELA_OK; k++)
            t->names[k * t->n + i] = t->columns[i].paths[k];
    }
    for (size_t k = 0; k < sides; k++)
        *(k + 1 < sides ? &t->src[k] : &t->tgt) = (rela_list){ t->names + k * t->n, t->n };
    if (st == RELA_OK && t->valid_tsv)
        st = split_file(&t->valid, t->valid_tsv, o->out, "valid", 1, sides, err);
    if (st == RELA_OK && t->valid_tsv) {
        const char **src[] = { &o->valid_src, &o->valid_src_2, &o->valid_src_3, &o->valid_src_4 };
        for (size_t k = 0; k + 1 < t->valid.n; k++)
            *src[k] = t->valid.paths[k];
        o->valid_tgt = t->valid.paths[t->valid.n - 1];
    }
    return st;
}

/* Each source must have one file per training text. */
rela_status rela_cli_texts_take(rela_train_options *o, rela_cli_texts *t, rela_error *err)
{
    const size_t n = t->src[0].n;
    const rela_list *lists[] = { &t->tgt, &t->src[1], &t->src[2], &t->src[3] };
    static const char *const NAMES[] = { "tgt", "src-2", "src-3", "src-4" };
    for (size_t i = 0; i < 4; i++)
        if (lists[i]->n != n && (i == 0 || lists[i]->n))
            return rela_fail(err, RELA_ARG, "%zu x --train-src, but %zu x --train-%s", n,
                             lists[i]->n, NAMES[i]);
    if (n == 0)
        return RELA_OK; /* reported by rela_train */
    rela_train_text *texts = t->list = rela_mem_zalloc(n * sizeof *texts);
    const char **sources = t->sources = rela_mem_zalloc(n * RELA_SOURCES_MAX * sizeof *sources);
    if (!texts || !sources)
        return rela_fail(err, RELA_NOMEM, "no memory for the names of files");
    for (size_t i = 0; i < n; i++) {
        texts[i] = (rela_train_text){ sources + i * RELA_SOURCES_MAX, t->tgt.items[i] };
        for (size_t k = 0; k < RELA_SOURCES_MAX; k++)
            sources[i * RELA_SOURCES_MAX + k] = t->src[k].n ? t->src[k].items[i] : NULL;
    }
    o->train_src = texts->src[0];
    o->train_src_2 = texts->src[1];
    o->train_src_3 = texts->src[2];
    o->train_src_4 = texts->src[3];
    o->train_tgt = texts->tgt;
    o->more = texts + 1;
    o->n_more = n - 1;
    return RELA_OK;
}

void rela_cli_texts_free(rela_cli_texts *t)
{
    for (size_t i = 0; i < t->n && t->columns; i++)
        rela_cli_columns_free(&t->columns[i]);
    rela_cli_columns_free(&t->valid);
    rela_mem_free(t->columns);
    rela_mem_free(t->names);
    rela_mem_free(t->list);
    rela_mem_free(t->sources);
}

static rela_status check_columns(const rela_train_options *o, const rela_cli_texts *t,
                                 rela_error *err)
{
    if (t->tsv.n && (t->tgt.n || t->src[0].n || t->src[1].n || t->src[2].n || t->src[3].n))
        return rela_fail(err, RELA_ARG,
                         "--train-tsv has all sides: leave --train-src and "
                         "--train-tgt");
    if (t->valid_tsv && (o->valid_src || o->valid_tgt))
        return rela_fail(err, RELA_ARG,
                         "--valid-tsv has all sides: leave --valid-src and "
                         "--valid-tgt");
    if (!o->out)
        return rela_fail(err, RELA_ARG, RELA_CLI_NO_OUT);
    return RELA_OK;
}

/* Splits one TSV file into OUT/text; n: as in rela_cli_columns_split. */
static rela_status split_file(rela_cli_columns *c, const char *path, const char *out,
                              const char *name, size_t number, size_t n, rela_error *err)
{
    rela_buffer stem = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&stem, err, "%s/text", out);
    st = st ? st : rela_dir_make(stem.data, err);
    st = st ? st : rela_buffer_printf(&stem, err, "/%s-%zu", name, number);
    st = st ? st : rela_cli_columns_split(c, path, stem.data, n, err);
    rela_buffer_free(&stem);
    return st;
}
