/* SPDX-License-Identifier: MIT */
/* cli/cmd_study_parts.c - steps of the jobs of a study that no other command does: statistics of
 * sentences for every score, parts of files. */
#include "cli.h"

#include "base/mem.h"
#include "base/textlines.h"
#include "rela/metric.h"
#include "rela/text.h"

#include <string.h>

enum { SCORES_MAX = 3 };

typedef struct statistics_options {
    const char *input, *output, *scores, *lang;
} statistics_options;

typedef struct excerpt_options {
    const char *output;
    int64_t lines;
} excerpt_options;

typedef struct noise_options {
    const char *out;
} noise_options;

static rela_status statistics(rela_cli *cli, void *options, rela_error *err);
static rela_status noise(rela_cli *cli, void *options, rela_error *err);
static rela_status excerpt(rela_cli *cli, void *options, rela_error *err);

/* clang-format off */
static const rela_option STATISTICS[] = {
    { "input", 'i', RELA_OPTION_FILE, offsetof(statistics_options, input), 0, 0, "-", "FILE",
      "the translation, one segment per line; - is standard input" },
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(statistics_options, output), 0, 0, "-", "FILE",
      "table of statistics; - is standard output" },
    { "scores", 0, RELA_OPTION_TEXT, offsetof(statistics_options, scores), 0, 0, "bleu", "NAME,...",
      "bleu, bleu-tokenised and chrf, separated by commas" },
    { "lang", 'l', RELA_OPTION_TEXT, offsetof(statistics_options, lang), 0, 0, "en", "CODE",
      "language of the text, for the tokeniser of bleu-tokenised" },
    { .name = NULL },
};

static const rela_option EXCERPT[] = {
    { "output", 'o', RELA_OPTION_OUTPUT, offsetof(excerpt_options, output), 0, 0, "-", "FILE",
      "output file; - is standard output" },
    { "lines", 'n', RELA_OPTION_INT, offsetof(excerpt_options, lines), 0, 1e12, "0", "N",
      "only the first N lines; 0: all" },
    { .name = NULL },
};

static const rela_option NOISE[] = {
    { "out", 'o', RELA_OPTION_DIR, offsetof(noise_options, out), 0, 0, ".", "DIR",
      "directory for src, tgt and labels.txt" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_study_parts[] = {
    { .name = "study statistics",
      .summary = "write the statistics of every sentence, from which scores are made",
      .operands = "REF",
      .min_operands = 1,
      .max_operands = 1,
      .description =
          "A step of the jobs of 'rela study': writes a row of whole numbers for each line of a\n"
          "translation. Any score of any set of lines is a function of the sum of its rows, so\n"
          "tests of significance need neither the translation nor the reference.",
      .examples = "rela study statistics test.de --input hyp.de --scores bleu,chrf --output "
                  "stats.tsv.gz",
      .options = STATISTICS,
      .options_size = sizeof(statistics_options),
      .run = statistics },
    { .name = "study excerpt",
      .summary = "copy the first lines of a file, compressed or not",
      .operands = "FILE",
      .min_operands = 1,
      .max_operands = 1,
      .description = "A step of the jobs of 'rela study': copies the first lines of a file.",
      .examples = "rela study excerpt train.de.gz --lines 10",
      .options = EXCERPT,
      .options_size = sizeof(excerpt_options),
      .run = excerpt },
    { .name = "study noise",
      .summary = "spoil half of the pairs of a text, and label all",
      .operands = "SRC TGT",
      .min_operands = 2,
      .max_operands = 2,
      .description =
          "A step of the jobs of 'rela study': of every eight pairs four stay as they are (ok), "
          "two\n"
          "get the target of another pair (shuf), one has another target appended (ins), one\n"
          "another source (omit).",
      .examples = "rela study noise test.en test.de --out noisy",
      .options = NOISE,
      .options_size = sizeof(noise_options),
      .run = noise },
    { .name = NULL },
};

/* ---- statistics ---- */

/* A metric and its rows of all lines. */
typedef struct counted {
    const char *name;
    rela_metric *metric;
    uint32_t *stats;
    size_t k;
} counted;

/* The name of a score is one of the list. */
static bool asked(const char *list, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        const char *end = strchr(at, ',');
        if ((end ? (size_t)(end - at) : strlen(at)) == len && strncmp(at, name, len) == 0)
            return true;
    }
    return false;
}

static rela_status make_metrics(counted *out, size_t *n, const char *list, rela_error *err)
{
    rela_bleu_options words;
    rela_bleu_options_init(&words, sizeof words);
    words.tokens = RELA_BLEU_NONE;
    rela_status st = RELA_OK;
    if (asked(list, "bleu")) {
        out[*n].name = "bleu";
        st = rela_metric_create_bleu(&out[(*n)++].metric, NULL, err);
    }
    if (st == RELA_OK && asked(list, "bleu-tokenised")) {
        out[*n].name = "bleu-tokenised";
        st = rela_metric_create_bleu(&out[(*n)++].metric, &words, err);
    }
    if (st == RELA_OK && asked(list, "chrf")) {
        out[*n].name = "chrf";
        st = rela_metric_create_chrf(&out[(*n)++].metric, NULL, err);
    }
    if (st == RELA_OK && *n == 0)
        st = rela_fail(err, RELA_ARG, "--scores is '%s'; expected bleu, bleu-tokenised or chrf",
                       list);
    return st;
}

/* All lines as tokens, one after the other; ends (n) of each. */
static rela_status tokens_of(rela_buffer *out, size_t *ends, const rela_text_lines *l,
                             const char *lang, rela_error *err)
{
    rela_tokeniser_options o;
    rela_tokeniser *t = NULL;
    rela_tokeniser_options_init(&o, sizeof o);
    o.language = lang;
    o.no_escape = true;
    rela_status st = rela_tokeniser_create(&t, &o, err);
    for (size_t i = 0; i < l->n && st == RELA_OK; i++) {
        st = rela_tokenise(out, t, l->items[i].text, l->items[i].len, err);
        ends[i] = out->len;
    }
    rela_tokeniser_destroy(t);
    return st;
}

typedef struct sides {
    rela_text_lines hyp, ref;
    rela_buffer hyp_tokens, ref_tokens;
    size_t *hyp_ends, *ref_ends;
    rela_segment *segments;
    const char **refs;
    size_t *ref_lens;
} sides;

static void fill_segments(sides *s, bool tokens)
{
    for (size_t i = 0; i < s->hyp.n; i++) {
        const size_t h = i ? s->hyp_ends[i - 1] : 0, r = i ? s->ref_ends[i - 1] : 0;
        s->refs[i] = tokens ? s->ref_tokens.data + r : s->ref.items[i].text;
        s->ref_lens[i] = tokens ? s->ref_ends[i] - r : s->ref.items[i].len;
        s->segments[i] = (rela_segment){
            .hyp = tokens ? s->hyp_tokens.data + h : s->hyp.items[i].text,
            .hyp_len = tokens ? s->hyp_ends[i] - h : s->hyp.items[i].len,
            .refs = &s->refs[i],
            .ref_lens = &s->ref_lens[i],
            .n_refs = 1,
        };
    }
}

static rela_status count_all(counted *all, size_t n, sides *s, rela_cli *cli, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        all[i].k = rela_metric_n_stats(all[i].metric);
        all[i].stats = rela_mem_array(s->hyp.n * all[i].k + 1, sizeof *all[i].stats);
        if (!all[i].stats)
            return rela_fail(err, RELA_NOMEM, "no memory for the statistics of %zu lines",
                             s->hyp.n);
        fill_segments(s, strcmp(all[i].name, "bleu-tokenised") == 0);
        st = rela_metric_count(all[i].stats, all[i].metric, s->segments, s->hyp.n,
                               (int32_t)cli->common.threads, err);
    }
    return st;
}

static rela_status write_all(const char *path, const counted *all, size_t n, size_t lines,
                             rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].k && st == RELA_OK; k++)
            st = rela_buffer_printf(&text, err, "%s%s:%zu", i + k ? "\t" : "", all[i].name, k);
    for (size_t line = 0; line < lines && st == RELA_OK; line++) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < all[i].k && st == RELA_OK; k++)
                st = rela_buffer_printf(&text, err, "%s%u", i + k ? "\t" : "\n",
                                        (unsigned)all[i].stats[line * all[i].k + k]);
    }
    st = st ? st : rela_buffer_append_char(&text, '\n', err);
    st = st ? st : rela_file_write(path, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}

static rela_status statistics(rela_cli *cli, void *options, rela_error *err)
{
    const statistics_options *o = options;
    const char *ref = cli->operands.items[0];
    counted all[SCORES_MAX] = { { .k = 0 } };
    sides s = { .hyp = { .n = 0 } };
    size_t n = 0;
    rela_status st = make_metrics(all, &n, o->scores, err);
    st = st ? st : rela_text_lines_read(&s.hyp, o->input, err);
    st = st ? st : rela_text_lines_read(&s.ref, ref, err);
    if (st == RELA_OK && s.hyp.n != s.ref.n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu lines, but %s has %zu", o->input, s.hyp.n, ref,
                       s.ref.n);
    if (st != RELA_OK)
        goto out;
    s.hyp_ends = rela_mem_array(s.hyp.n + 1, sizeof *s.hyp_ends);
    s.ref_ends = rela_mem_array(s.hyp.n + 1, sizeof *s.ref_ends);
    s.segments = rela_mem_array(s.hyp.n + 1, sizeof *s.segments);
    s.refs = rela_mem_array(s.hyp.n + 1, sizeof *s.refs);
    s.ref_lens = rela_mem_array(s.hyp.n + 1, sizeof *s.ref_lens);
    if (!s.hyp_ends || !s.ref_ends || !s.segments || !s.refs || !s.ref_lens) {
        st = rela_fail(err, RELA_NOMEM, "no memory for %zu lines", s.hyp.n);
        goto out;
    }
    st = tokens_of(&s.hyp_tokens, s.hyp_ends, &s.hyp, o->lang, err);
    st = st ? st : tokens_of(&s.ref_tokens, s.ref_ends, &s.ref, o->lang, err);
    st = st ? st : count_all(all, n, &s, cli, err);
    st = st ? st : write_all(o->output, all, n, s.hyp.n, err);
out:
    for (size_t i = 0; i < SCORES_MAX; i++) {
        rela_metric_destroy(all[i].metric);
        rela_mem_free(all[i].stats);
    }
    rela_text_lines_free(&s.hyp);
    rela_text_lines_free(&s.ref);
    rela_buffer_free(&s.hyp_tokens);
    rela_buffer_free(&s.ref_tokens);
    rela_mem_free(s.hyp_ends);
    rela_mem_free(s.ref_ends);
    rela_mem_free(s.segments);
    rela_mem_free(s.refs);
    rela_mem_free(s.ref_lens);
    return st;
}

/* ---- excerpts ---- */

static rela_status excerpt(rela_cli *cli, void *options, rela_error *err)
{
    const excerpt_options *o = options;
    rela_reader *in = NULL;
    rela_writer *out = NULL;
    rela_line line = { .text = "" };
    rela_status st = rela_reader_open(&in, cli->operands.items[0], NULL, err);
    st = st ? st : rela_writer_open(&out, o->output, err);
    while (st == RELA_OK && (o->lines == 0 || line.number < (uint64_t)o->lines)) {
        st = rela_reader_line(in, &line, err);
        if (st != RELA_OK || !line.text)
            break;
        st = rela_writer_write(out, line.text, line.len, err);
        st = st ? st : rela_writer_write(out, "\n", 1, err);
    }
    if (out)
        st = rela_writer_finish(out, st, err);
    rela_reader_close(in);
    return st;
}

/* ---- noise ---- */

enum { CYCLE = 8 };

static rela_status spoil(rela_buffer out[3], const rela_text_lines *src, const rela_text_lines *tgt,
                         size_t i, rela_error *err)
{
    static const char *const LABELS[CYCLE] = {
        "ok", "ok", "ok", "ok", "shuf", "ins", "omit", "shuf"
    };
    const char *label = LABELS[i % CYCLE];
    const size_t other = (i + src->n / 2) % src->n;
    const rela_span t = tgt->items[*label == 's' ? other : i], s = src->items[i];
    rela_status st = rela_buffer_append(&out[0], s.text, s.len, err);
    if (st == RELA_OK && strcmp(label, "omit") == 0)
        st = rela_buffer_printf(&out[0], err, " %.*s", (int)src->items[other].len,
                                src->items[other].text);
    st = st ? st : rela_buffer_append(&out[1], t.text, t.len, err);
    if (st == RELA_OK && strcmp(label, "ins") == 0)
        st = rela_buffer_printf(&out[1], err, " %.*s", (int)tgt->items[other].len,
                                tgt->items[other].text);
    st = st ? st : rela_buffer_append_char(&out[0], '\n', err);
    st = st ? st : rela_buffer_append_char(&out[1], '\n', err);
    return st ? st : rela_buffer_printf(&out[2], err, "%s\n", label);
}

static rela_status noise(rela_cli *cli, void *options, rela_error *err)
{
    static const char *const NAMES[] = { "src", "tgt", "labels.txt" };
    const noise_options *o = options;
    rela_text_lines src = { .n = 0 }, tgt = { .n = 0 };
    rela_buffer out[3] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = rela_text_lines_read(&src, cli->operands.items[0], err);
    st = st ? st : rela_text_lines_read(&tgt, cli->operands.items[1], err);
    if (st == RELA_OK && src.n != tgt.n)
        st = rela_fail(err, RELA_FORMAT, "%s has %zu lines, but %s has %zu", cli->operands.items[0],
                       src.n, cli->operands.items[1], tgt.n);
    for (size_t i = 0; i < src.n && st == RELA_OK; i++)
        st = spoil(out, &src, &tgt, i, err);
    st = st ? st : rela_dir_make(o->out, err);
    for (size_t i = 0; i < 3 && st == RELA_OK; i++) {
        rela_buffer_clear(&path);
        st = rela_buffer_printf(&path, err, "%s/%s", o->out, NAMES[i]);
        st = st ? st : rela_file_write(path.data, out[i].data ? out[i].data : "", out[i].len, err);
    }
    for (size_t i = 0; i < 3; i++)
        rela_buffer_free(&out[i]);
    rela_buffer_free(&path);
    rela_text_lines_free(&src);
    rela_text_lines_free(&tgt);
    return st;
}
