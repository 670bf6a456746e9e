/* SPDX-License-Identifier: MIT */
/* tests/api/header_corpus.c - header_corpus DIR: a program written from the public headers alone.
 * On the built-in corpus in DIR it tokenises, learns and applies BPE, checks and filters by rules,
 * and computes BLEU and chrF, with intervals, of a copy of the target in which words are missing.
 */
#include "header_check.h"

#include <rela/analyse.h>
#include <rela/corpus.h>
#include <rela/metric.h>
#include <rela/subword.h>
#include <rela/text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_TRAIN = 1000, N_TEST = 100, N_MERGES = 300 };

typedef struct paths {
    const char *dir;
    char src[1024], tgt[1024], test[1024], kept_src[1024], kept_tgt[1024];
} paths;

/* Tokenises one line and appends it. */
static int tokenise(rela_buffer *out, const char *line)
{
    rela_error err;
    rela_tokeniser_options o;
    rela_tokeniser_options_init(&o, sizeof o);
    o.language = "en";
    rela_tokeniser *t = NULL;
    int bad = failed("tokeniser", rela_tokeniser_create(&t, &o, &err), &err) ||
              failed("tokenise", rela_tokenise(out, t, line, strlen(line), &err), &err);
    rela_tokeniser_destroy(t);
    return bad;
}

/* Learns codes from the source side of the corpus. */
static int learn(rela_bpe **out, const char *path)
{
    rela_error err;
    rela_bpe_learn_options o;
    rela_bpe_learn_options_init(&o, sizeof o);
    o.n_symbols = N_MERGES;
    rela_bpe_learn_report report;
    report.struct_size = sizeof report;
    rela_word_counts *counts = NULL;
    rela_buffer codes = RELA_BUFFER_INIT;
    int bad =
        failed("counts", rela_word_counts_create(&counts, &err), &err) ||
        failed("count", rela_word_counts_add_file(counts, path, 1, &err), &err) ||
        failed("learn", rela_bpe_learn(&codes, &report, counts, &o, &err), &err) ||
        failed("parse", rela_bpe_parse(out, "codes", codes.data, codes.len, NULL, &err), &err);
    if (!bad)
        printf("BPE: %" PRIu64 " merges%s\n", report.n_merges,
               report.exhausted ? ", no pair left" : "");
    rela_buffer_free(&codes);
    rela_word_counts_destroy(counts);
    return bad || wrong("merges", rela_bpe_n_merges(*out) == report.n_merges);
}

/* Tokenises, segments and joins again. */
static int subwords(const paths *p)
{
    rela_error err;
    rela_buffer tokens = RELA_BUFFER_INIT, pieces = RELA_BUFFER_INIT, joined = RELA_BUFFER_INIT;
    rela_bpe *bpe = NULL;
    rela_bpe_scratch *scratch = NULL;
    int bad =
        tokenise(&tokens, "\"Don't worry,\" the teacher said (twice).") || learn(&bpe, p->src) ||
        failed("scratch", rela_bpe_scratch_create(&scratch, bpe, &err), &err) ||
        failed("apply", rela_bpe_apply(&pieces, scratch, tokens.data, tokens.len, 0, &err), &err) ||
        failed("undo", rela_bpe_undo(&joined, "@@", pieces.data, pieces.len, &err), &err);
    if (!bad)
        printf("tokens: %s\npieces: %s\n", tokens.data, pieces.data);
    bad = bad || wrong("undo gives the tokens",
                       joined.len == tokens.len && !memcmp(joined.data, tokens.data, joined.len));
    rela_bpe_scratch_destroy(scratch);
    rela_bpe_free(bpe);
    rela_buffer_free(&joined);
    rela_buffer_free(&pieces);
    rela_buffer_free(&tokens);
    return bad;
}

static int check(const paths *p)
{
    rela_error err;
    rela_corpus_rules rules;
    rela_corpus_rules_init(&rules, sizeof rules);
    rules.max_tokens = 20;
    rela_corpus_check_options o;
    rela_corpus_check_options_init(&o, sizeof o);
    o.src = p->src;
    o.tgt = p->tgt;
    o.rules = &rules;
    o.n_threads = 1;
    rela_corpus_report report;
    report.struct_size = sizeof report;
    rela_corpus_stats stats;
    stats.struct_size = sizeof stats;
    rela_buffer table = RELA_BUFFER_INIT;
    int bad = failed("check", rela_corpus_check(&report, &stats, &o, &err), &err) ||
              failed("table", rela_corpus_stats_table(&table, &report, &stats, &err), &err);
    if (!bad)
        (void)fputs(table.data, stdout);
    rela_buffer_free(&table);
    uint64_t sum = report.kept;
    for (size_t i = 0; i < RELA_CORPUS_REASONS_MAX; i++)
        sum += report.dropped[i];
    return bad || wrong("lines read", report.read == N_TRAIN) ||
           wrong("kept plus dropped is read", sum == report.read);
}

static int filter(const paths *p)
{
    rela_error err;
    rela_filter_options o;
    rela_filter_options_init(&o, sizeof o);
    o.src = p->src;
    o.tgt = p->tgt;
    o.out_src = p->kept_src;
    o.out_tgt = p->kept_tgt;
    o.n_threads = 1;
    o.max_words = 20;
    o.duplicates = RELA_REPEATS_PAIR;
    rela_filter_report report;
    report.struct_size = sizeof report;
    rela_buffer table = RELA_BUFFER_INIT;
    int bad = failed("filter", rela_filter(&report, NULL, &o, &err), &err) ||
              failed("table", rela_filter_report_table(&table, &report, &err), &err);
    if (!bad)
        (void)fputs(table.data, stdout);
    rela_buffer_free(&table);
    uint64_t sum = 0;
    for (size_t i = 0; i < RELA_FILTER_REASONS_MAX; i++)
        sum += report.count[i];
    return bad || wrong("pairs read", report.read == N_TRAIN) ||
           wrong("reasons add up to read", sum == report.read);
}

/* The test set, and a copy in which every seventh word is missing. */
typedef struct copies {
    char lines[N_TEST][1024], damaged[N_TEST][1024];
    const char *refs[N_TEST];
    size_t ref_lens[N_TEST];
    rela_segment segments[N_TEST];
} copies;

static int read_copies(copies *c, const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return 1;
    }
    size_t n = 0, n_words = 0;
    while (n < N_TEST && fgets(c->lines[n], sizeof c->lines[n], f)) {
        char *line = c->lines[n], *to = c->damaged[n];
        line[strcspn(line, "\n")] = 0;
        for (const char *at = line; *at;) {
            size_t len = strcspn(at, " ");
            if (++n_words % 7) {
                if (to > c->damaged[n])
                    *to++ = ' ';
                memcpy(to, at, len);
                to += len;
            }
            at += len + strspn(at + len, " ");
        }
        *to = 0;
        c->refs[n] = line;
        c->ref_lens[n] = strlen(line);
        c->segments[n] = (rela_segment){ c->damaged[n], (size_t)(to - c->damaged[n]), &c->refs[n],
                                         &c->ref_lens[n], 1 };
        n++;
    }
    fclose(f);
    return wrong("lines of the test set", n == N_TEST);
}

/* A score and its interval. */
static int score(rela_metric *m, const rela_segment *segments)
{
    rela_error err;
    size_t k = rela_metric_n_stats(m);
    uint32_t *stats = calloc(N_TEST * k, sizeof *stats);
    if (!stats)
        return 1;
    uint64_t sums[RELA_STATS_MAX] = { 0 };
    rela_resampling r;
    rela_resampling_init(&r, sizeof r);
    r.samples = 500;
    r.n_threads = 1;
    rela_scored scored = { stats, N_TEST, k, rela_metric_score_fn, m };
    rela_interval in;
    int bad = failed("statistics", rela_metric_count(stats, m, segments, N_TEST, 1, &err), &err) ||
              failed("bootstrap", rela_bootstrap(&in, &scored, &r, &err), &err);
    if (!bad) {
        rela_stats_add(sums, stats, N_TEST, k);
        double x = rela_metric_score(m, sums);
        printf("%s %.2f, 95 %% interval %.2f .. %.2f\n", rela_metric_name(m), x, in.low, in.high);
        bad = wrong("score within its interval", in.low <= x && x <= in.high) ||
              wrong("words are missing", x > 20 && x < 100);
    }
    free(stats);
    return bad;
}

static int metrics(const paths *p)
{
    rela_error err;
    copies *c = calloc(1, sizeof *c);
    if (!c)
        return 1;
    rela_metric *bleu = NULL, *chrf = NULL;
    int bad = read_copies(c, p->test) ||
              failed("BLEU", rela_metric_create_bleu(&bleu, NULL, &err), &err) ||
              failed("chrF", rela_metric_create_chrf(&chrf, NULL, &err), &err) ||
              score(bleu, c->segments) || score(chrf, c->segments);
    rela_metric_destroy(chrf);
    rela_metric_destroy(bleu);
    free(c);
    return bad;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: header_corpus DIR\n");
        return 2;
    }
    paths p = { .dir = argv[1] };
    if (set_path(p.src, p.dir, "train.src") || set_path(p.tgt, p.dir, "train.tgt") ||
        set_path(p.test, p.dir, "test.tgt") || set_path(p.kept_src, p.dir, "kept.src") ||
        set_path(p.kept_tgt, p.dir, "kept.tgt"))
        return 1;
    int bad = subwords(&p) || check(&p) || filter(&p) || metrics(&p);
    rela_error err;
    rela_memory_stats memory;
    memory.struct_size = sizeof memory;
    bad = bad || failed("memory", rela_memory_stats_get(&memory, &err), &err) ||
          wrong("all memory was freed", memory.live == 0);
    return bad;
}
