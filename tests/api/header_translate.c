/* SPDX-License-Identifier: MIT */
/* tests/api/header_translate.c - header_translate DIR: a program written from the public headers
 * alone. It trains a tiny model on the built-in corpus in DIR, translates, and measures attention.
 */
#include "header_check.h"

#include <rela/train.h>
#include <rela/translate.h>

#include <inttypes.h>
#include <stdio.h>

enum { N_TEXTS = 3, BEAM = 4, N_BEST = 2, N_UPDATES = 20 };

typedef struct paths {
    char src[1024], tgt[1024], run[1024], model[1024];
} paths;

typedef struct losses {
    uint64_t updates;
    double first, last;
} losses;

typedef struct row_counts {
    size_t all, null;
} row_counts;

static const char *const TEXTS[N_TEXTS] = { "The old man sees a dog.", "She reads the book.",
                                            "We buy a small house." };

static int on_event(void *ctx, const rela_train_event *e)
{
    losses *l = ctx;
    if (e->kind == RELA_TRAIN_UPDATE)
        l->updates = e->update;
    if (e->kind == RELA_TRAIN_REPORT) {
        l->first = l->first > 0 ? l->first : e->loss;
        l->last = e->loss;
    }
    return RELA_TRAIN_GO_ON;
}

static int train(const paths *p)
{
    rela_error err;
    rela_train_options o;
    rela_train_options_init(&o, sizeof o);
    o.preset = "tiny";
    o.train_src = p->src;
    o.train_tgt = p->tgt;
    o.out = p->run;
    o.src_lang = "en";
    o.tgt_lang = "de";
    o.tokenise = true;
    o.merges = 200;
    o.attention = "rela-g";
    o.width = 32;
    o.ffn = 64;
    o.heads = 4;
    o.enc_layers = o.dec_layers = 2;
    o.updates = o.save_every = N_UPDATES;
    o.batch_tokens = 500;
    o.lr = 5e-3;
    o.warmup = N_UPDATES / 2;
    o.report_every = N_UPDATES / 4;
    o.threads = 1;
    losses l = { 0, 0, 0 };
    if (failed("train", rela_train(&o, on_event, &l, &err), &err))
        return 1;
    printf("%" PRIu64 " updates: loss %.2f -> %.2f\n", l.updates, l.first, l.last);
    return wrong("number of updates", l.updates == N_UPDATES) ||
           wrong("loss falls", l.last < l.first);
}

static int print_translation(const rela_result *r, size_t i)
{
    rela_error err;
    rela_buffer links = RELA_BUFFER_INIT;
    printf("%s\n", TEXTS[i]);
    for (size_t rank = 0; rank < rela_result_n_best(r, i); rank++)
        printf("  %.3f %s\n", rela_result_score(r, i, rank), rela_result_text(r, i, rank));
    const int bad = failed("links", rela_result_links(&links, r, i, 0, NULL, &err), &err) ||
                    wrong("number of translations", rela_result_n_best(r, i) == N_BEST) ||
                    wrong("best first", rela_result_score(r, i, 0) >= rela_result_score(r, i, 1));
    if (!bad)
        printf("  links: %s\n", links.len ? links.data : "none");
    rela_buffer_free(&links);
    return bad;
}

static int on_row(void *ctx, const rela_attention_row *row)
{
    row_counts *c = ctx;
    if (row->type == RELA_ATTENTION_CROSS) {
        c->all++;
        c->null += row->n == 0;
    }
    return 0;
}

static int null_rate(rela_session *s, const rela_result *r)
{
    rela_error err;
    const char *best[N_TEXTS];
    for (size_t i = 0; i < N_TEXTS; i++)
        best[i] = rela_result_text(r, i, 0);
    const rela_pairs pairs = { .src = TEXTS, .tgt = best, .n = N_TEXTS };
    row_counts c = { 0, 0 };
    if (failed("attend", rela_attend(s, &pairs, on_row, &c, &err), &err) ||
        wrong("rows of cross attention", c.all > 0))
        return 1;
    printf("null rate of cross attention: %.4f of %zu rows\n", (double)c.null / (double)c.all,
           c.all);
    return 0;
}

static int translate(rela_session *s)
{
    rela_error err;
    rela_translate_options o;
    rela_translate_options_init(&o, sizeof o);
    o.beam_size = BEAM;
    o.n_best = N_BEST;
    o.attention = 1;
    rela_result *r = NULL;
    int bad = failed("translate", rela_translate(&r, s, TEXTS, NULL, N_TEXTS, &o, &err), &err) ||
              wrong("number of results", rela_result_count(r) == N_TEXTS);
    for (size_t i = 0; i < N_TEXTS && !bad; i++)
        bad = print_translation(r, i);
    bad = bad || null_rate(s, r);
    rela_result_free(r);
    return bad;
}

static int use_model(const char *path)
{
    rela_error err;
    rela_runtime_options o;
    rela_runtime_options_init(&o, sizeof o);
    o.n_threads = 1;
    rela_runtime *rt = NULL;
    rela_model *m = NULL;
    rela_session *s = NULL;
    const int bad = failed("runtime", rela_runtime_create(&rt, &o, &err), &err) ||
                    failed("load", rela_model_load(&m, rt, path, &err), &err) ||
                    failed("session", rela_session_create(&s, m, &err), &err) || translate(s);
    rela_session_destroy(s);
    rela_model_free(m);
    rela_runtime_destroy(rt);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: header_translate DIR\n");
        return 2;
    }
    paths p;
    if (set_path(p.src, argv[1], "train.src") || set_path(p.tgt, argv[1], "train.tgt") ||
        set_path(p.run, argv[1], "run") || set_path(p.model, argv[1], "run/model.rela"))
        return 1;
    int bad = train(&p) || use_model(p.model);
    rela_error err;
    rela_memory_stats memory;
    memory.struct_size = sizeof memory;
    bad = bad || failed("memory", rela_memory_stats_get(&memory, &err), &err) ||
          wrong("all memory was freed", memory.live == 0);
    return bad;
}
