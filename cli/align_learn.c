/* SPDX-License-Identifier: MIT */
/* cli/align_learn.c - see align_learn.h. */
#include "align_learn.h"

#include "rela/corpus.h"
#include "rela/model.h"
#include "rela/train.h"
#include "stop_signals.h"

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
    rela_cli *cli;
    const char *label;
    rela_progress bar;
    bool started;
} direction;

static rela_status count_words(int64_t *words, const rela_cli *cli, const rela_cli_learn *o,
                               rela_error *err);
static rela_status train(const char *dir, rela_cli *cli, const rela_cli_learn *o, bool back,
                         rela_error *err);
static int on_event(void *ctx, const rela_train_event *e);
static int64_t within(int64_t least, int64_t n, int64_t most);

rela_status rela_cli_learn_links(rela_cli *cli, const rela_cli_learn *o, rela_error *err)
{
    rela_cli_learn own = *o;
    rela_buffer run[2] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    int64_t words = 0;
    rela_status st = count_words(&words, cli, o, err);
    if (own.merges == 0)
        own.merges = within(MERGES_LEAST, words / WORDS_PER_MERGE, MERGES_MOST);
    if (own.updates == 0)
        own.updates = within(UPDATES_LEAST, words / WORDS_PER_UPDATE, UPDATES_MOST);
    for (int back = 0; back < 2 && st == RELA_OK; back++) {
        st = rela_buffer_printf(&run[back], err, "%s/%d", o->dir, back);
        st = st ? st : train(run[back].data, cli, &own, back, err);
        st = st ? st : rela_buffer_append_text(&run[back], "/model.rela", err);
    }
    st = st ? st : rela_model_pair_save(o->save, run[0].data, run[1].data, err);
    rela_buffer_free(&run[0]);
    rela_buffer_free(&run[1]);
    return st;
}

/* The mean of both sides. Fails if they differ in the number of lines. */
static rela_status count_words(int64_t *words, const rela_cli *cli, const rela_cli_learn *o,
                               rela_error *err)
{
    rela_corpus_check_options check;
    rela_corpus_stats stats = { .struct_size = sizeof stats };
    rela_corpus_check_options_init(&check, sizeof check);
    check.src = o->src;
    check.tgt = o->tgt;
    check.n_threads = (int32_t)cli->common.threads;
    rela_status st = rela_corpus_check(NULL, &stats, &check, err);
    *words = (int64_t)((stats.side[0].tokens + stats.side[1].tokens) / 2);
    if (st == RELA_OK && *words == 0)
        st = rela_fail(err, RELA_FORMAT, "%s and %s: no pairs to learn from", o->src, o->tgt);
    return st;
}

static rela_status train(const char *dir, rela_cli *cli, const rela_cli_learn *o, bool back,
                         rela_error *err)
{
    direction d = { .cli = cli, .label = back ? "learning 2/2" : "learning 1/2" };
    rela_train_options t;
    rela_train_options_init(&t, sizeof t);
    t.preset = "align";
    t.train_src = back ? o->tgt : o->src;
    t.train_tgt = back ? o->src : o->tgt;
    t.src_lang = back ? o->tgt_lang : o->src_lang;
    t.tgt_lang = back ? o->src_lang : o->tgt_lang;
    t.tokenise = o->tokenise;
    t.lowercase = true;
    t.merges = o->merges;
    t.updates = o->updates;
    t.save_every = o->updates;
    t.out = dir;
    t.threads = cli->common.threads;
    t.seed = cli->common.seed;
    const rela_status st = rela_train(&t, on_event, &d, err);
    if (st == RELA_OK && d.started)
        rela_progress_finish(&d.bar, (uint64_t)o->updates, NULL);
    return st;
}

static int on_event(void *ctx, const rela_train_event *e)
{
    direction *d = ctx;
    if (e->kind != RELA_TRAIN_UPDATE)
        return RELA_TRAIN_GO_ON;
    if (!d->started) {
        rela_cli_progress(d->cli, &d->bar, d->label, "updates", e->updates);
        rela_progress_start(&d->bar, e->update - 1);
        d->started = true;
    }
    rela_progress_update(&d->bar, e->update, NULL);
    return rela_cli_stop_signal() ? RELA_TRAIN_STOP : RELA_TRAIN_GO_ON;
}

static int64_t within(int64_t least, int64_t n, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}
