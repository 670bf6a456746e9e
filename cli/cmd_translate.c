/* SPDX-License-Identifier: MIT */
/* cli/cmd_translate.c - rela translate: translates raw text to raw text. */
#include "text_jobs.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <string.h>

enum { JSON_DIGITS = 9 };

typedef struct translate_options {
    const char *input[RELA_SOURCES_MAX], *output, *prefix, *shortlist;
    int64_t beam, n_best;
    const char *normalize;
    double max_factor;
    int64_t max_extra;
    const char *unk, *split, *src_lang, *long_sentence, *nan;
    const char *alignment;
    int64_t source, layer, head;
    bool word_scores, scores, int8;
    const char *sampling;
    double temperature;
    int64_t batch, batch_words, read_bytes;
    const char *resume;
} translate_options;

#define AT(member) offsetof(translate_options, member)
#define NOT_FINITE "logits are not finite: numbers of the model overflow"

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "input", 'i', RELA_OPTION_FILE, AT(input[0]), 0, 0, "-", "FILE", "text to translate; with several sources the first, or all in tab-separated columns" },
    { "input-2", 0, RELA_OPTION_FILE, AT(input[1]), 0, 0, NULL, "FILE", "text of the second source, if the model has several; lines may be empty" },
    { "input-3", 0, RELA_OPTION_FILE, AT(input[2]), 0, 0, NULL, "FILE", "text of the third source" },
    { "input-4", 0, RELA_OPTION_FILE, AT(input[3]), 0, 0, NULL, "FILE", "text of the fourth source" },
    { "output", 'o', RELA_OPTION_OUTPUT, AT(output), 0, 0, "-", "FILE", "output file for the translations; - is standard output" },
    { "resume", 0, RELA_OPTION_OUTPUT, AT(resume), 0, 0, NULL, "FILE", RELA_CLI_RESUME_HELP },
    { "beam", 'b', RELA_OPTION_INT, AT(beam), 1, 512, "4", "N", "beam size; 1 is greedy search" },
    { "n-best", 'n', RELA_OPTION_INT, AT(n_best), 1, 512, "1", "N", "translations per sentence, as 'line ||| text ||| logp= X ||| score'" },
    { "normalize", 0, RELA_OPTION_TEXT, AT(normalize), 0, 0, "gnmt:0.6", "gnmt:A|power:A|none", "length penalty that log-probabilities are divided by" },
    { "max-length-factor", 0, RELA_OPTION_REAL, AT(max_factor), 0, 100, "1", "X", "maximum length of a translation in tokens: X times the source ..." },
    { "max-length-extra", 0, RELA_OPTION_INT, AT(max_extra), 0, 65536, "50", "N", "... plus N" },
    { "prefix", 0, RELA_OPTION_FILE, AT(prefix), 0, 0, NULL, "FILE", "prefixes that translations must begin with, one per line" },
    { "unk", 0, RELA_OPTION_CHOICE, AT(unk), 0, 0, "allow", "allow|forbid|replace", "unknown words: write <unk>, never generate them, or copy the aligned source word" },
    { "split", 0, RELA_OPTION_CHOICE, AT(split), 0, 0, "auto", "auto|never|always", "translate the sentences of a line one by one and join them again; auto: not with --prefix or several sources" },
    { "src-lang", 0, RELA_OPTION_TEXT, AT(src_lang), 0, 0, NULL, "CODE", "language whose abbreviations --split uses [that of the model]" },
    { "long", 0, RELA_OPTION_CHOICE, AT(long_sentence), 0, 0, "split", "split|cut", "sentences over the model's limit: translate them in parts, or only their beginning" },
    { "nan", 0, RELA_OPTION_CHOICE, AT(nan), 0, 0, "fail", "fail|mark", "if the model overflows on a line: fail, or write <nan>" },
    { "alignment", 0, RELA_OPTION_CHOICE, AT(alignment), 0, 0, NULL, "hard|soft", "append word links from cross attention: ' ||| 0-0 2-1', soft with weights" },
    { "source", 0, RELA_OPTION_INT, AT(source), 1, RELA_SOURCES_MAX, "1", "N", "with several sources: the source for --alignment and --unk replace" },
    { "layer", 0, RELA_OPTION_INT, AT(layer), 0, 256, "0", "N", "alignment: decoder layer, from 1; 0: mean of all" },
    { "head", 0, RELA_OPTION_INT, AT(head), 0, 256, "0", "N", "alignment: head, from 1; 0: mean of all" },
    { "scores", 0, RELA_OPTION_FLAG, AT(scores), 0, 0, NULL, NULL, "append log-probability and score" },
    { "word-scores", 0, RELA_OPTION_FLAG, AT(word_scores), 0, 0, NULL, NULL, "append the log-probability of every token, <eos> last" },
    { "sampling", 0, RELA_OPTION_TEXT, AT(sampling), 0, 0, NULL, "full|top:K|nucleus:P", "sample words by their probability instead of beam search" },
    { "temperature", 0, RELA_OPTION_REAL, AT(temperature), 1e-6, 1e6, "1", "X", "sampling: divide logits by X" },
    { "int8", 0, RELA_OPTION_FLAG, AT(int8), 0, 0, NULL, NULL, "int8 weights: faster, a quarter of the memory" },
    { "shortlist", 0, RELA_OPTION_FILE, AT(shortlist), 0, 0, NULL, "FILE", "restrict output to likely words, from 'rela shortlist': faster" },
    { "batch", 0, RELA_OPTION_INT, AT(batch), 1, 65536, "32", "N", "sentences translated together, by all threads" },
    { "batch-words", 0, RELA_OPTION_INT, AT(batch_words), 1, 1e9, "4096", "N", "source tokens translated together, by all threads" },
    { "read-bytes", 0, RELA_OPTION_INT, AT(read_bytes), 1, 1e9, "262144", "N", "bytes of text to read ahead and sort by length" },
    { .name = NULL },
};
/* clang-format on */

/* Options that have no effect without another. */
/* clang-format off */
static const char *const NEEDS[] = {
    "temperature", "sampling",
    "beam", "!sampling",
    "layer", "alignment",
    "head", "alignment",
    "src-lang", "!split=never",
    "seed", "sampling",
    NULL,
};
/* clang-format on */
static const char *const SOURCE_NEEDS[] = { "source", "alignment|unk", NULL };

static rela_status run(rela_cli *cli, void *options, rela_error *err);

const rela_command rela_commands_translate[] = {
    { .name = "translate",
      .summary = "translate text with a model",
      .operands = "MODEL...",
      .min_operands = 1,
      .max_operands = RELA_CLI_MODELS_MAX,
      .description =
          "Reads raw text and writes raw text: the model file includes its tokeniser, subwords\n"
          "and vocabularies. Each input line gives one output line, in the same order. Output\n"
          "does not wait for more input, so the program can be used interactively through a\n"
          "pipe. The sentences of a line are translated one by one and written as one line\n"
          "again. Several models form an ensemble: their probabilities are averaged. With --json\n"
          "every translation is an object on a line of its own.",
      .examples = "rela translate run/model.rela < in.en > out.de\n"
                  "rela translate -b 8 --n-best 4 run/model.rela < in.en\n"
                  "rela translate --alignment hard a.rela b.rela -i in.en -o out.de\n"
                  "rela translate en+fr-de.rela -i in.en --input-2 in.fr -o out.de",
      .options = OPTIONS,
      .options_size = sizeof(translate_options),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

/* Output of one translation; for a very long line it is collected from several. */
typedef struct answer {
    rela_buffer text, words, links;
    double logp, score;
    size_t n_parts;
    bool not_finite;
} answer;

typedef struct translator {
    rela_cli *cli;
    const translate_options *options;
    rela_cli_models models;
    rela_shortlist *shortlist;
    rela_translate_options how;
    rela_link_options links;
    rela_cli_text_job job;
    const rela_cli_lines_read *lines; /* being translated */
    size_t long_bytes;                /* longer lines are translated in parts */
    answer answer;                    /* of an ordinary line */
    rela_buffer *out;
} translator;

static rela_status resolve(translator *t, rela_error *err);
static rela_status parse_penalty(rela_translate_options *how, const char *text, rela_error *err);
static rela_status parse_sampling(rela_translate_options *how, const char *text, rela_error *err);
static rela_status open_all(translator *t, rela_error *err);
static rela_status translate_block(void *ctx, const rela_cli_lines_read *lines, rela_buffer *text,
                                   rela_buffer *notes, rela_error *err);
static rela_status translate_lines(translator *t, size_t first, size_t end, rela_error *err);
static rela_status translate_long(translator *t, size_t i, rela_error *err);
static rela_status gather(answer *a, const translator *t, const rela_result *r, size_t i,
                          size_t rank, rela_error *err);
static rela_status append(translator *t, const answer *a, size_t i, size_t rank, rela_error *err);
static rela_status append_json(translator *t, const answer *a, size_t i, size_t rank,
                               rela_error *err);
static rela_status append_plain(translator *t, const answer *a, size_t i, rela_error *err);
static void answer_free(answer *a);
static void close_all(translator *t);

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    translator t = { .cli = cli, .options = options };
    t.job = (rela_cli_text_job){ .cli = cli,
                                 .label = "translating",
                                 .read_bytes = t.options->read_bytes,
                                 .work = translate_block,
                                 .ctx = &t };
    rela_status st = resolve(&t, err);
    st = st ? st : rela_cli_job_open(&t.job.job, cli, t.options->resume, err);
    st = st ? st : rela_job_agree(t.job.job, open_all(&t, err), err);
    st = st ? st : rela_cli_text_job_run(&t.job, err);
    st = st ? st : rela_cli_text_job_commit(&t.job, err);
    close_all(&t);
    return rela_cli_text_job_close(&t.job, st, err);
}

static rela_status resolve(translator *t, rela_error *err)
{
    const translate_options *o = t->options;
    rela_translate_options *how = &t->how;
    rela_translate_options_init(how, sizeof *how);
    how->beam_size = (int32_t)o->beam;
    how->n_best = (int32_t)o->n_best;
    how->max_factor = o->max_factor;
    how->max_extra = (int32_t)o->max_extra;
    how->unk = strcmp(o->unk, "forbid") == 0    ? RELA_UNK_FORBID
               : strcmp(o->unk, "replace") == 0 ? RELA_UNK_REPLACE
                                                : RELA_UNK_ALLOW;
    how->split = strcmp(o->split, "never") == 0    ? RELA_SPLIT_NEVER
                 : strcmp(o->split, "always") == 0 ? RELA_SPLIT_ALWAYS
                                                   : RELA_SPLIT_AUTO;
    how->src_language = o->src_lang;
    how->long_sentence = strcmp(o->long_sentence, "cut") == 0 ? RELA_LONG_CUT : RELA_LONG_SPLIT;
    how->not_finite = RELA_NOT_FINITE_MARK; /* append fails, after the lines before it */
    how->temperature = o->temperature;
    how->seed = (uint64_t)t->cli->common.seed;
    how->batch_sentences = (int32_t)o->batch;
    how->batch_tokens = (int32_t)o->batch_words;
    how->attention = o->alignment != NULL;
    how->source = (int32_t)o->source - 1;
    rela_link_options_init(&t->links, sizeof t->links);
    t->links.layer = (int32_t)o->layer - 1;
    t->links.head = (int32_t)o->head - 1;
    t->links.soft = o->alignment && strcmp(o->alignment, "soft") == 0;
    rela_status st = parse_penalty(how, o->normalize, err);
    if (st == RELA_OK && o->sampling)
        st = parse_sampling(how, o->sampling, err);
    if (st == RELA_OK && !o->sampling && o->n_best > o->beam)
        st = rela_fail(err, RELA_ARG, "--n-best %lld is more than --beam %lld",
                       (long long)o->n_best, (long long)o->beam);
    if (st == RELA_OK && o->prefix && how->split == RELA_SPLIT_ALWAYS)
        st = rela_fail(err, RELA_ARG, "--split always does not go with --prefix");
    return st;
}

static rela_status parse_penalty(rela_translate_options *how, const char *text, rela_error *err)
{
    const char *colon = strchr(text, ':');
    const size_t len = colon ? (size_t)(colon - text) : strlen(text);
    if (strcmp(text, "none") == 0)
        how->penalty = RELA_PENALTY_NONE;
    else if (len == 4 && memcmp(text, "gnmt", len) == 0)
        how->penalty = RELA_PENALTY_GNMT;
    else if (len == 5 && memcmp(text, "power", len) == 0)
        how->penalty = RELA_PENALTY_POWER;
    else
        return rela_fail(err, RELA_ARG,
                         "option --normalize: '%s'; expected gnmt:NUMBER, power:NUMBER or none",
                         text);
    if (colon && !rela_parse_f64(&how->length_penalty, colon + 1))
        return rela_fail(err, RELA_ARG, "option --normalize: '%s' is not a number", colon + 1);
    return RELA_OK;
}

static rela_status parse_sampling(rela_translate_options *how, const char *text, rela_error *err)
{
    int64_t k = 0;
    how->method = RELA_SEARCH_SAMPLE;
    if (strcmp(text, "full") == 0)
        return RELA_OK;
    if (strncmp(text, "top:", 4) == 0 && rela_parse_i64(&k, text + 4) && k >= 1 && k <= INT32_MAX) {
        how->top_k = (int32_t)k;
        return RELA_OK;
    }
    if (strncmp(text, "nucleus:", 8) == 0 && rela_parse_f64(&how->top_p, text + 8) &&
        how->top_p > 0 && how->top_p <= 1)
        return RELA_OK;
    return rela_fail(err, RELA_ARG,
                     "option --sampling: '%s'; expected full, top:K with K from 1, or nucleus:P "
                     "with P above 0 to 1",
                     text);
}

static rela_status check_source(const translator *t, rela_error *err)
{
    rela_model_shape shape = { .struct_size = sizeof shape };
    const rela_status st = rela_model_shape_get(&shape, t->models.models[0], err);
    if (st == RELA_OK && t->options->source > shape.sources)
        return rela_fail(err, RELA_ARG, "no source %lld; the model has %d source%s",
                         (long long)t->options->source, (int)shape.sources,
                         shape.sources == 1 ? "" : "s");
    if (st == RELA_OK)
        rela_cli_check_effect(t->cli, SOURCE_NEEDS);
    return st;
}

static rela_status check_head(const translator *t, rela_error *err)
{
    rela_model_shape shape = { .struct_size = sizeof shape };
    const rela_status st = rela_model_shape_get(&shape, t->models.models[0], err);
    if (st != RELA_OK)
        return st;
    if (t->options->layer > shape.dec_layers)
        return rela_fail(err, RELA_ARG, "--layer %lld; the model has %d decoder layer%s",
                         (long long)t->options->layer, (int)shape.dec_layers,
                         shape.dec_layers == 1 ? "" : "s");
    if (t->options->head > shape.heads)
        return rela_fail(err, RELA_ARG, "--head %lld; the model has %d head%s",
                         (long long)t->options->head, (int)shape.heads,
                         shape.heads == 1 ? "" : "s");
    return RELA_OK;
}

/* The library cuts sentences itself, and also handles several sources. */
static size_t long_bytes(const translator *t)
{
    rela_model_shape shape = { .struct_size = sizeof shape };
    (void)rela_model_shape_get(&shape, t->models.models[0], NULL);
    return t->how.long_sentence == RELA_LONG_CUT || shape.sources > 1
               ? SIZE_MAX
               : rela_text_bytes((size_t)shape.max_length);
}

static rela_status open_all(translator *t, rela_error *err)
{
    const translate_options *o = t->options;
    t->models.int8 = o->int8;
    t->models.input = "-i, or through a pipe";
    rela_status st = rela_cli_models_open(&t->models, t->cli, err);
    if (st == RELA_OK)
        t->long_bytes = long_bytes(t);
    st = st ? st : check_source(t, err);
    if (st == RELA_OK && o->alignment)
        st = check_head(t, err);
    if (st == RELA_OK && o->shortlist)
        st = rela_shortlist_load(&t->shortlist, t->models.models[0], o->shortlist, err);
    t->how.shortlist = t->shortlist;
    memcpy(t->job.paths, o->input, sizeof o->input);
    t->job.paths[RELA_SOURCES_MAX] = o->prefix;
    if (st == RELA_OK && o->prefix)
        st = rela_reader_open(&t->job.other, o->prefix, NULL, err);
    if (st == RELA_OK)
        st = rela_cli_sources_open(&t->job.sources, t->models.models[0], o->input, "input", err);
    return st == RELA_OK ? rela_cli_text_job_output(&t->job, o->output, err) : st;
}

static void close_all(translator *t)
{
    answer_free(&t->answer);
    rela_shortlist_free(t->shortlist);
    rela_cli_models_close(&t->models);
}

static bool marks(const translator *t)
{
    return strcmp(t->options->nan, "mark") == 0;
}

static rela_status translate_block(void *ctx, const rela_cli_lines_read *lines, rela_buffer *text,
                                   rela_buffer *notes, rela_error *err)
{
    translator *t = ctx;
    const rela_cli_sentences *in = &lines->in;
    const size_t sources = t->job.sources.n;
    rela_status st = RELA_OK;
    (void)notes;
    t->lines = lines;
    t->out = text;
    for (size_t i = 0; i < in->n && st == RELA_OK;) {
        size_t end = i;
        while (end < in->n && (sources > 1 || in->lens[end] <= t->long_bytes))
            end++;
        st = end > i ? translate_lines(t, i, end, err) : translate_long(t, i, err);
        i = end > i ? end : i + 1;
    }
    return st;
}

static void set_prefix(translator *t, size_t first)
{
    const rela_cli_block *begin = &t->lines->other;
    t->how.prefix = t->job.other ? begin->texts + first : NULL;
    t->how.prefix_len = t->job.other ? begin->lens + first : NULL;
}

static rela_status translate_lines(translator *t, size_t first, size_t end, rela_error *err)
{
    rela_result *r = NULL;
    const rela_cli_sentences *in = &t->lines->in;
    const size_t at = first * t->job.sources.n;
    t->how.first_line = in->first - 1 + first;
    set_prefix(t, first);
    rela_status st = rela_translate(&r, t->models.session, in->texts + at, in->lens + at,
                                    end - first, &t->how, err);
    for (size_t i = first; i < end && st == RELA_OK; i++)
        for (size_t k = 0; k < rela_result_n_best(r, i - first) && st == RELA_OK; k++) {
            st = gather(&t->answer, t, r, i - first, k, err);
            st = st ? st : append(t, &t->answer, i, k, err);
            t->answer.n_parts = 0;
        }
    rela_result_free(r);
    return st;
}

/* ---- very long lines ---- */

/* Length in bytes of the next part of a text: at most `most`, preferably up to the end of a
 * sentence or of a word in its second half. */
static size_t piece_bytes(const char *text, size_t len, size_t most)
{
    size_t word = 0;
    if (len <= most)
        return len;
    for (size_t k = most; k > most / 2; k--)
        if (text[k] == ' ') {
            if (strchr(".!?", text[k - 1]) && text[k - 1])
                return k;
            word = word ? word : k;
        }
    size_t cut = most;
    while (cut > most / 2 && ((unsigned char)text[cut] & 0xC0) == 0x80) /* inside a character */
        cut--;
    return word ? word : cut;
}

/* Translates a part and appends it to the results of the parts before. */
static rela_status translate_piece(translator *t, answer *all, size_t *n_best, const char *text,
                                   size_t len, rela_error *err)
{
    rela_result *r = NULL;
    rela_status st = rela_translate(&r, t->models.session, &text, &len, 1, &t->how, err);
    if (st == RELA_OK && rela_result_n_best(r, 0) < *n_best)
        *n_best = rela_result_n_best(r, 0);
    for (size_t k = 0; st == RELA_OK && k < *n_best; k++)
        st = gather(&all[k], t, r, 0, k, err);
    rela_result_free(r);
    return st;
}

/* A call needs many times the memory of its text, so a line of many megabytes takes several. */
static rela_status translate_long(translator *t, size_t i, rela_error *err)
{
    const char *at = t->lines->in.texts[i], *end = at + t->lines->in.lens[i];
    size_t n_best = (size_t)t->options->n_best;
    answer *all = rela_mem_zalloc(n_best * sizeof *all);
    if (!all)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu translations", n_best);
    rela_log_line(&t->cli->sink, RELA_LOG_WARNING,
                  "line %llu: longer than %zu bytes: translated in parts",
                  (unsigned long long)(t->lines->in.first + i), t->long_bytes);
    const rela_log sink = t->cli->sink;
    t->cli->sink.write = NULL; /* every part would give the same warning */
    t->how.first_line = t->lines->in.first - 1 + i;
    set_prefix(t, i);
    rela_status st = RELA_OK;
    while (at < end && st == RELA_OK) {
        const size_t n = piece_bytes(at, (size_t)(end - at), t->long_bytes);
        st = translate_piece(t, all, &n_best, at, n, err);
        at += n;
        t->how.prefix = NULL;
    }
    t->cli->sink = sink;
    for (size_t k = 0; k < n_best && st == RELA_OK; k++)
        st = append(t, &all[k], i, k, err);
    for (size_t k = 0; k < (size_t)t->options->n_best; k++)
        answer_free(&all[k]);
    rela_mem_free(all);
    return st;
}

/* ---- output ---- */

static void answer_free(answer *a)
{
    rela_buffer_free(&a->text);
    rela_buffer_free(&a->words);
    rela_buffer_free(&a->links);
}

static rela_status gather_words(answer *a, const translator *t, const rela_result *r, size_t i,
                                size_t rank, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t k = 0; k < rela_result_n_tokens(r, i, rank) && st == RELA_OK; k++) {
        const char *token = rela_result_token(r, i, rank, k);
        const double logp = rela_result_token_logp(r, i, rank, k);
        if (!t->cli->common.json) {
            st = rela_buffer_printf(&a->words, err, " %.6g", logp);
            continue;
        }
        st = rela_buffer_append_text(&a->words, a->words.len ? ", [" : "[", err);
        st = st ? st : rela_json_quote(&a->words, token, strlen(token), err);
        st = st ? st : rela_buffer_append_text(&a->words, ", ", err);
        st = st ? st : rela_json_number(&a->words, logp, JSON_DIGITS, err);
        st = st ? st : rela_buffer_append_char(&a->words, ']', err);
    }
    return st;
}

/* Collects the output of a translation; later parts of a line are appended. */
static rela_status gather(answer *a, const translator *t, const rela_result *r, size_t i,
                          size_t rank, rela_error *err)
{
    rela_status st = RELA_OK;
    if (a->n_parts == 0) {
        rela_buffer_clear(&a->text);
        rela_buffer_clear(&a->words);
        rela_buffer_clear(&a->links);
        a->logp = a->score = 0;
        a->not_finite = false;
    } else {
        rela_buffer_clear(&a->links); /* a sentence translated in parts has none */
        st = rela_buffer_append_char(&a->text, ' ', err);
    }
    a->not_finite = a->not_finite || !rela_result_finite(r, i);
    a->logp += rela_result_logp(r, i, rank);
    a->score += rela_result_score(r, i, rank);
    if (st == RELA_OK)
        st = rela_buffer_append(&a->text, rela_result_text(r, i, rank),
                                rela_result_text_len(r, i, rank), err);
    if (st == RELA_OK && t->options->word_scores)
        st = gather_words(a, t, r, i, rank, err);
    if (st == RELA_OK && t->options->alignment && a->n_parts == 0) {
        st = rela_result_links(&a->links, r, i, rank, &t->links, err);
        st = st == RELA_STATE ? RELA_OK : st;
    }
    a->n_parts++;
    return st;
}

static rela_status append(translator *t, const answer *a, size_t i, size_t rank, rela_error *err)
{
    const unsigned long long line = (unsigned long long)(t->lines->in.first + i);
    if (a->not_finite && !marks(t))
        return rela_fail(err, RELA_NOTFINITE, "line %llu: " NOT_FINITE "; --nan mark goes on",
                         line);
    if (a->not_finite && rank == 0)
        rela_log_line(&t->cli->sink, RELA_LOG_WARNING, "line %llu: " NOT_FINITE, line);
    const rela_status st =
        t->cli->common.json ? append_json(t, a, i, rank, err) : append_plain(t, a, i, err);
    return st == RELA_OK ? rela_buffer_append_char(t->out, '\n', err) : st;
}

static rela_status append_buffer(rela_buffer *out, const char *before, const rela_buffer *b,
                                 const char *after, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, before, err);
    st = st || !b->len ? st : rela_buffer_append(out, b->data, b->len, err);
    return st ? st : rela_buffer_append_text(out, after, err);
}

static rela_status append_plain(translator *t, const answer *a, size_t i, rela_error *err)
{
    const translate_options *o = t->options;
    rela_buffer *out = t->out;
    rela_status st = RELA_OK;
    if (o->n_best > 1)
        st = rela_buffer_printf(out, err, "%llu ||| ",
                                (unsigned long long)(t->lines->in.first + i - 1));
    if (st == RELA_OK && a->not_finite)
        st = rela_buffer_append_text(out, "<nan>", err);
    else if (st == RELA_OK)
        st = append_buffer(out, "", &a->text, "", err);
    if (st == RELA_OK && (o->n_best > 1 || o->scores))
        st = rela_buffer_printf(out, err, " ||| logp= %.6g ||| %.6g", a->logp, a->score);
    if (st == RELA_OK && o->word_scores)
        st = append_buffer(out, " ||| words=", &a->words, "", err);
    if (st == RELA_OK && o->alignment)
        st = append_buffer(out, " ||| ", &a->links, "", err);
    return st;
}

static rela_status append_json(translator *t, const answer *a, size_t i, size_t rank,
                               rela_error *err)
{
    rela_buffer *out = t->out;
    rela_status st = rela_buffer_printf(out, err, "{\"line\": %llu, \"rank\": %zu, \"text\": ",
                                        (unsigned long long)(t->lines->in.first + i - 1), rank);
    if (st == RELA_OK && a->not_finite)
        st = rela_buffer_append_text(out, "null", err);
    else if (st == RELA_OK)
        st = rela_json_quote(out, a->text.data ? a->text.data : "", a->text.len, err);
    st = st ? st : rela_buffer_append_text(out, ", \"logp\": ", err);
    st = st ? st : rela_json_number(out, a->logp, JSON_DIGITS, err);
    st = st ? st : rela_buffer_append_text(out, ", \"score\": ", err);
    st = st ? st : rela_json_number(out, a->score, JSON_DIGITS, err);
    if (st == RELA_OK && t->options->word_scores)
        st = append_buffer(out, ", \"tokens\": [", &a->words, "]", err);
    if (st == RELA_OK && t->options->alignment)
        st = append_buffer(out, ", \"alignment\": \"", &a->links, "\"", err);
    return st == RELA_OK ? rela_buffer_append_char(out, '}', err) : st;
}
