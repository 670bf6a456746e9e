/* SPDX-License-Identifier: MIT */
/* cli/cmd_score.c - rela score: log-probabilities of given translations. */
#include "models.h"
#include "text_jobs.h"

#include "base/json.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum { JSON_DIGITS = 9 };

typedef struct score_options {
    const char *src[RELA_SOURCES_MAX], *tgt, *output, *nan;
    bool word_scores, normalize;
    int64_t batch_words, read_bytes;
    const char *resume;
} score_options;

#define AT(member) offsetof(score_options, member)
#define NOT_FINITE "logits are not finite: numbers of the model overflow"

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "src", 0, RELA_OPTION_FILE, AT(src[0]), 0, 0, NULL, "FILE", "source text; with several sources the first, or all in tab-separated columns" },
    { "src-2", 0, RELA_OPTION_FILE, AT(src[1]), 0, 0, NULL, "FILE", "text of the second source, if the model has several; lines may be empty" },
    { "src-3", 0, RELA_OPTION_FILE, AT(src[2]), 0, 0, NULL, "FILE", "text of the third source" },
    { "src-4", 0, RELA_OPTION_FILE, AT(src[3]), 0, 0, NULL, "FILE", "text of the fourth source" },
    { "tgt", 0, RELA_OPTION_FILE, AT(tgt), 0, 0, NULL, "FILE", "its translation" },
    { "output", 'o', RELA_OPTION_OUTPUT, AT(output), 0, 0, "-", "FILE", "output file for the scores; - is standard output" },
    { "resume", 0, RELA_OPTION_OUTPUT, AT(resume), 0, 0, NULL, "FILE", RELA_CLI_RESUME_HELP },
    { "word-scores", 0, RELA_OPTION_FLAG, AT(word_scores), 0, 0, NULL, NULL, "append the log-probability of every token, <eos> last" },
    { "normalize", 0, RELA_OPTION_FLAG, AT(normalize), 0, 0, NULL, NULL, "divide by the number of tokens" },
    { "nan", 0, RELA_OPTION_CHOICE, AT(nan), 0, 0, "fail", "fail|mark", "if the model overflows on a pair: fail, or write nan and leave the pair out of the totals" },
    { "batch-words", 0, RELA_OPTION_INT, AT(batch_words), 1, 1e9, "2048", "N", "maximum number of tokens scored together" },
    { "read-bytes", 0, RELA_OPTION_INT, AT(read_bytes), 1, 1e9, "262144", "N", "bytes of text to read ahead and sort by length" },
    { .name = NULL },
};
/* clang-format on */

/* clang-format off */
static const char *const NEEDS[] = {
    "seed", "",
    NULL,
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_score[] = {
    { .name = "score",
      .summary = "score given translations by their probability",
      .operands = "MODEL... [SRC TGT]",
      .min_operands = 1,
      .max_operands = RELA_CLI_MODELS_MAX + 2,
      .description =
          "Writes one line per pair: the natural log-probability that the model gives to the\n"
          "translation, including <eos>. The perplexity of the whole text is reported at the end.\n"
          "Several models form an ensemble. With --json every pair is an object on a line of its\n"
          "own, and the last line is the summary.",
      .examples = "rela score run/model.rela test.en test.de > scores\n"
                  "rela score --word-scores a.rela b.rela --src test.en --tgt test.de",
      .options = OPTIONS,
      .options_size = sizeof(score_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

typedef struct pair_note {
    uint64_t line, tokens;
    double logp;
} pair_note;

typedef struct scorer {
    rela_cli *cli;
    const score_options *options;
    rela_cli_models models;
    rela_cli_text_job job;
    uint64_t first; /* line number of the block being scored */
    rela_buffer *out, *notes;
    double logp; /* of all pairs */
    uint64_t tokens, pairs, marked;
} scorer;

static rela_status open_all(scorer *s, rela_error *err);
static rela_status score_block(void *ctx, const rela_cli_lines_read *lines, rela_buffer *text,
                               rela_buffer *notes, rela_error *err);
static rela_status append(scorer *s, const rela_scores *r, size_t i, rela_error *err);
static rela_status summarise(scorer *s, rela_error *err);
static void count(void *ctx, const char *notes, size_t len);

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    score_options *o = options;
    scorer s = { .cli = cli, .options = o };
    const rela_status taken =
        o->src[0] || o->tgt ? RELA_OK : rela_cli_take_texts(cli, &o->src[0], &o->tgt, err);
    if (taken != RELA_OK)
        return taken;
    if (!o->src[0] || !o->tgt)
        return rela_fail(err, RELA_ARG, "no text: name the two files, or --src and --tgt");
    if (cli->operands.n == 0)
        return rela_fail(err, RELA_ARG, "no model: rela score MODEL SRC TGT");
    s.job = (rela_cli_text_job){ .cli = cli,
                                 .label = "scoring",
                                 .read_bytes = s.options->read_bytes,
                                 .work = score_block,
                                 .on_notes = count,
                                 .ctx = &s };
    rela_status st = rela_cli_job_open(&s.job.job, cli, s.options->resume, err);
    st = st ? st : rela_job_agree(s.job.job, open_all(&s, err), err);
    st = st ? st : rela_cli_text_job_run(&s.job, err);
    if (st == RELA_OK && rela_job_rank(s.job.job) == 0)
        st = summarise(&s, err);
    st = rela_job_agree(s.job.job, st, err);
    st = st ? st : rela_cli_text_job_commit(&s.job, err);
    rela_cli_models_close(&s.models);
    return rela_cli_text_job_close(&s.job, st, err);
}

static rela_status open_all(scorer *s, rela_error *err)
{
    rela_cli_text_job *j = &s->job;
    memcpy(j->paths, s->options->src, sizeof s->options->src);
    j->paths[RELA_SOURCES_MAX] = s->options->tgt;
    s->models.input = "--src and --tgt";
    rela_status st = rela_cli_models_open(&s->models, s->cli, err);
    if (st == RELA_OK)
        st = rela_cli_sources_open(&j->sources, s->models.models[0], s->options->src, "src", err);
    if (st == RELA_OK)
        st = rela_reader_open(&j->other, s->options->tgt, NULL, err);
    return st == RELA_OK ? rela_cli_text_job_output(j, s->options->output, err) : st;
}

static rela_status score_block(void *ctx, const rela_cli_lines_read *lines, rela_buffer *text,
                               rela_buffer *notes, rela_error *err)
{
    scorer *s = ctx;
    rela_score_options o;
    rela_scores *r = NULL;
    const rela_cli_sentences *in = &lines->in;
    const rela_pairs pairs = { in->texts, in->lens, lines->other.texts, lines->other.lens, in->n };
    s->first = in->first;
    s->out = text;
    s->notes = notes;
    rela_score_options_init(&o, sizeof o);
    o.batch_tokens = (int32_t)s->options->batch_words;
    o.first_line = in->first - 1;
    o.not_finite = RELA_NOT_FINITE_MARK; /* we fail below, after the lines before it */
    rela_status st = rela_score(&r, s->models.session, &pairs, &o, err);
    const bool marks = strcmp(s->options->nan, "mark") == 0;
    size_t n = 0;
    while (n < in->n && st == RELA_OK && (isfinite(rela_scores_logp(r, n)) || marks))
        st = append(s, r, n++, err);
    rela_scores_free(r);
    if (st == RELA_OK && n < in->n)
        st = rela_fail(err, RELA_NOTFINITE, "line %llu: " NOT_FINITE "; --nan mark goes on",
                       (unsigned long long)(in->first + n));
    return st;
}

/* Non-finite numbers are "nan", in JSON null. */
static rela_status append_number(scorer *s, double x, rela_error *err)
{
    if (s->cli->common.json)
        return rela_json_number(s->out, x, JSON_DIGITS, err);
    return isfinite(x) ? rela_buffer_printf(s->out, err, "%.6f", x)
                       : rela_buffer_append_text(s->out, "nan", err);
}

/* Sums up in input order, so that the result does not depend on which rank scored a pair. */
static void count(void *ctx, const char *notes, size_t len)
{
    scorer *s = ctx;
    for (size_t at = 0; at < len; at += sizeof(pair_note)) {
        pair_note p;
        memcpy(&p, notes + at, sizeof p);
        s->pairs++;
        if (isfinite(p.logp)) {
            s->logp += p.logp;
            s->tokens += p.tokens;
            continue;
        }
        s->marked++;
        rela_log_line(&s->cli->sink, RELA_LOG_WARNING, "line %llu: " NOT_FINITE,
                      (unsigned long long)p.line);
    }
}

/* Appends one pair. Target words are shown as the model sees them. */
static rela_status append(scorer *s, const rela_scores *r, size_t i, rela_error *err)
{
    const bool json = s->cli->common.json;
    const size_t n = rela_scores_n_tokens(r, i);
    const double logp = rela_scores_logp(r, i);
    const double shown = s->options->normalize ? logp / (double)n : logp;
    const pair_note note = { s->first + i, n, logp };
    rela_status st = rela_buffer_append(s->notes, (const char *)&note, sizeof note, err);
    if (st == RELA_OK)
        st = json ? rela_buffer_printf(s->out, err, "{\"line\": %llu, \"logp\": ",
                                       (unsigned long long)(s->first + i - 1))
                  : RELA_OK;
    st = st ? st : append_number(s, shown, err);
    if (st == RELA_OK && json)
        st = rela_buffer_printf(s->out, err, ", \"tokens\": %zu", n);
    if (st == RELA_OK && s->options->word_scores) {
        st = rela_buffer_append_text(s->out, json ? ", \"words\": [" : " |||", err);
        for (size_t k = 0; k < n && st == RELA_OK; k++) {
            const char *token = rela_scores_token(r, i, k);
            const double value = rela_scores_token_logp(r, i, k);
            if (!json) {
                st = rela_buffer_append_char(s->out, ' ', err);
                st = st ? st : append_number(s, value, err);
                continue;
            }
            st = rela_buffer_append_text(s->out, k ? ", [" : "[", err);
            st = st ? st : rela_json_quote(s->out, token, strlen(token), err);
            st = st ? st : rela_buffer_append_text(s->out, ", ", err);
            st = st ? st : append_number(s, value, err);
            st = st ? st : rela_buffer_append_char(s->out, ']', err);
        }
        if (st == RELA_OK && json)
            st = rela_buffer_append_char(s->out, ']', err);
    }
    return st == RELA_OK ? rela_buffer_append_text(s->out, json ? "}\n" : "\n", err) : st;
}

static rela_status summarise(scorer *s, rela_error *err)
{
    const double perplexity = s->tokens ? exp(-s->logp / (double)s->tokens) : (double)NAN;
    if (s->pairs == 0)
        rela_log_line(&s->cli->sink, RELA_LOG_WARNING, "%s: no pairs",
                      rela_reader_name(s->job.sources.readers[0]));
    else
        rela_log_line(&s->cli->sink, RELA_LOG_INFO,
                      "%llu pair%s, %llu token%s, log-probability %.4f, perplexity %.4f",
                      (unsigned long long)s->pairs, s->pairs == 1 ? "" : "s",
                      (unsigned long long)s->tokens, s->tokens == 1 ? "" : "s", s->logp,
                      perplexity);
    if (!s->cli->common.json)
        return RELA_OK;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st =
        rela_buffer_printf(&text, err, "{\"pairs\": %llu, \"tokens\": %llu, ",
                           (unsigned long long)s->pairs, (unsigned long long)s->tokens);
    if (st == RELA_OK && s->marked)
        st =
            rela_buffer_printf(&text, err, "\"not_finite\": %llu, ", (unsigned long long)s->marked);
    st = st ? st : rela_buffer_append_text(&text, "\"logp\": ", err);
    st = st ? st : rela_json_number(&text, s->logp, JSON_DIGITS, err);
    st = st ? st : rela_buffer_append_text(&text, ", \"perplexity\": ", err);
    st = st ? st : rela_json_number(&text, perplexity, JSON_DIGITS, err);
    st = st ? st : rela_buffer_append_text(&text, "}\n", err);
    st = st ? st : rela_writer_write(s->job.writer, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}
