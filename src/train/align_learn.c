/* SPDX-License-Identifier: MIT */
/* src/train/align_learn.c - trains alignment models for both directions on the text to be aligned.
 */
#include "base/file.h"
#include "base/sized.h"
#include "rela/corpus.h"
#include "rela/model.h"
#include "rela/train.h"
#include "train/train_options.h"

#include <string.h>

/* The preset is tuned for some millions of words. Less text needs fewer updates, and fewer merges,
 * since most subwords would otherwise be too rare to learn from. */
enum {
    WORDS_PER_MERGE = 400,
    MERGES_LEAST = 200,
    MERGES_MOST = 8000,
    WORDS_PER_UPDATE = 1000,
    UPDATES_LEAST = 300,
    UPDATES_MOST = 3000
};

typedef struct direction {
    const rela_align_learn_options *o;
    int32_t number; /* 0, 1 */
} direction;

static rela_status learn(const char *out, const char *dir, const rela_align_learn_options *o,
                         rela_error *err);
static rela_status check_output(const char *path, rela_error *err);
static rela_status count_words(int64_t *words, const rela_align_learn_options *o, rela_error *err);
static void set_options(rela_train_options *t, const char *dir, const direction *d);
static rela_status train(const char *dir, direction *d, rela_error *err);
static rela_status check_options(const rela_align_learn_options *o, rela_error *err);
static int on_event(void *ctx, const rela_train_event *e);
static rela_status fail_empty(const rela_align_learn_options *o, const rela_corpus_report *r,
                              rela_error *err);
static int64_t within(int64_t least, int64_t n, int64_t most);

void rela_align_learn_options_init(rela_align_learn_options *o, size_t size)
{
    const rela_align_learn_options defaults = { .struct_size = size, .seed = 1 };
    rela_sized_init(o, size, &defaults, sizeof defaults);
}

rela_status rela_align_learn(const char *out, const rela_align_learn_options *o, rela_error *err)
{
    rela_buffer dir = RELA_BUFFER_INIT;
    rela_align_learn_options own;
    int64_t words = 0;
    rela_align_learn_options_init(&own, sizeof own);
    rela_status st = rela_sized_take(&own, sizeof own, o, "rela_align_learn_options", err);
    if (st == RELA_OK && (!out || !own.src || !own.tgt))
        st = rela_fail(err, RELA_ARG, "out, src and tgt are needed");
    if (st == RELA_OK && (own.merges < 0 || own.updates < 0))
        st = rela_fail(err, RELA_ARG, "merges is %lld and updates %lld; expected 0 or more",
                       (long long)own.merges, (long long)own.updates);
    st = st ? st : check_options(&own, err);
    st = st ? st : check_output(out, err);
    st = st ? st : count_words(&words, &own, err);
    if (st != RELA_OK)
        return st;
    if (own.merges == 0)
        own.merges = within(MERGES_LEAST, words / WORDS_PER_MERGE, MERGES_MOST);
    if (own.updates == 0)
        own.updates = within(UPDATES_LEAST, words / WORDS_PER_UPDATE, UPDATES_MOST);
    st = rela_dir_temporary(&dir, err);
    st = st ? st : learn(out, dir.data, &own, err);
    if (dir.len) {
        const rela_status removed = rela_dir_remove(dir.data, st ? NULL : err);
        st = st ? st : removed;
    }
    rela_buffer_free(&dir);
    return st;
}

static rela_status learn(const char *out, const char *dir, const rela_align_learn_options *o,
                         rela_error *err)
{
    rela_buffer run[2] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    rela_status st = RELA_OK;
    for (int32_t i = 0; i < 2 && st == RELA_OK; i++) {
        direction d = { .o = o, .number = i };
        st = rela_buffer_printf(&run[i], err, "%s/%d", dir, i);
        st = st ? st : train(run[i].data, &d, err);
        st = st ? st : rela_buffer_append_text(&run[i], "/model.rela", err);
    }
    st = st ? st : rela_model_pair_save(out, run[0].data, run[1].data, err);
    rela_buffer_free(&run[0]);
    rela_buffer_free(&run[1]);
    return st;
}

/* The result of minutes must not be lost at the end. */
static rela_status check_output(const char *path, rela_error *err)
{
    rela_writer *w = NULL;
    const rela_status st = rela_writer_open(&w, path, err);
    rela_writer_abort(w);
    return st;
}

/* The mean of both sides. Fails if they differ in the number of lines. */
static rela_status count_words(int64_t *words, const rela_align_learn_options *o, rela_error *err)
{
    rela_corpus_check_options check;
    rela_corpus_stats stats = { .struct_size = sizeof stats };
    rela_corpus_report report = { .struct_size = sizeof report };
    rela_corpus_check_options_init(&check, sizeof check);
    check.src = o->src;
    check.tgt = o->tgt;
    check.n_threads = (int32_t)o->threads;
    rela_status st = rela_corpus_check(&report, &stats, &check, err);
    *words = (int64_t)((stats.side[0].tokens + stats.side[1].tokens) / 2);
    if (st == RELA_OK && *words == 0)
        st = fail_empty(o, &report, err);
    return st;
}

static rela_status fail_empty(const rela_align_learn_options *o, const rela_corpus_report *r,
                              rela_error *err)
{
    char why[256] = "";
    for (int i = 0; rela_corpus_reason_text(i); i++) {
        const size_t used = strlen(why);
        if (r->dropped[i])
            rela_format_text(why + used, sizeof why - used, "%s%s (%llu)",
                             used ? ", " : "; left out: ", rela_corpus_reason_text(i),
                             (unsigned long long)r->dropped[i]);
    }
    return rela_fail(err, RELA_FORMAT, "%s and %s: no pairs to learn from%s", o->src, o->tgt, why);
}

static void set_options(rela_train_options *t, const char *dir, const direction *d)
{
    const rela_align_learn_options *o = d->o;
    const bool back = d->number == 1;
    rela_train_options_init(t, sizeof *t);
    t->preset = RELA_PRESET_ALIGN;
    t->train_src = back ? o->tgt : o->src;
    t->train_tgt = back ? o->src : o->tgt;
    t->src_lang = back ? o->tgt_lang : o->src_lang;
    t->tgt_lang = back ? o->src_lang : o->tgt_lang;
    t->tokenise = o->tokenise;
    t->lowercase = true;
    t->merges = o->merges;
    t->updates = o->updates;
    t->save_every = o->updates;
    t->out = dir;
    t->threads = o->threads;
    t->seed = o->seed;
}

static rela_status train(const char *dir, direction *d, rela_error *err)
{
    rela_train_options t;
    set_options(&t, dir, d);
    return rela_train(&t, on_event, d, err);
}

/* Such as languages that are missing: found before the text is read. */
static rela_status check_options(const rela_align_learn_options *o, rela_error *err)
{
    rela_train_own room;
    rela_train_options t, all;
    rela_align_learn_options own = *o;
    own.merges = own.merges ? own.merges : MERGES_LEAST;
    own.updates = own.updates ? own.updates : UPDATES_LEAST;
    const direction d = { .o = &own };
    set_options(&t, "out", &d);
    return rela_train_resolve(&all, &room, &t, err);
}

static int on_event(void *ctx, const rela_train_event *e)
{
    const direction *d = ctx;
    const rela_align_learn_options *o = d->o;
    if (e->kind != RELA_TRAIN_UPDATE || !o->progress)
        return RELA_TRAIN_GO_ON;
    return o->progress(o->progress_ctx, d->number, e->update, e->updates) ? RELA_TRAIN_STOP
                                                                          : RELA_TRAIN_GO_ON;
}

static int64_t within(int64_t least, int64_t n, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}
