/* SPDX-License-Identifier: MIT */
/* cli/cmd_train.c - rela train: trains a model on raw parallel text. */
#include "cli.h"
#include "stop_signals.h"
#include "train_checks.h"
#include "train_texts.h"

#include "base/json.h"
#include "base/par.h"
#include "rela/model.h"
#include "rela/train.h"

#include <math.h>
#include <signal.h>
#include <string.h>

/* Filled in by the option table. */
typedef struct train_args {
    rela_train_options o;
    rela_cli_texts texts;
    const char *max_time;
    bool show_config;
} train_args;

typedef struct display {
    rela_cli *cli;
    rela_progress bar;
    bool started;
    char note[96];
    uint64_t update, best_update; /* for --json */
    double perplexity, bleu;
    uint32_t rank;
} display;

#define VALIDATION "valid-src|valid-tsv"
/* clang-format off */
static const char *const NEEDS[] = {
    "best-by", VALIDATION,
    "valid-beam", VALIDATION,
    "lr-least", "cool-down|schedule=cosine|schedule=linear|preset=align",
    "src-lang-2", "train-src-2|train-tsv",
    "src-lang-3", "train-src-3|train-tsv",
    "src-lang-4", "train-src-4|train-tsv",
    "json", "!show-config",
    NULL,
};
/* clang-format on */

static rela_status run(rela_cli *cli, void *options, rela_error *err);
static rela_status show_config(const rela_train_options *o, rela_error *err);
static rela_status print_result(const display *s, const rela_train_options *o, rela_error *err);
static int on_event(void *ctx, const rela_train_event *e);
static int is_stopped(void *ctx);
static rela_status report_stop(rela_cli *cli, const rela_train_options *o, int number,
                               rela_error *err);

#define AT(member)      offsetof(train_args, o.member)
#define LIST_AT(member) offsetof(train_args, member)

/* clang-format off */
static const rela_option OPTIONS[] = {
    { "preset", 0, RELA_OPTION_CHOICE, AT(preset), 0, 0, NULL, "paper|base|tiny|demo|align", "model size and training settings, which other options override [by the size of the text: demo below 5,000 lines or 15 minutes, otherwise tiny]" },
    { "train-src", 0, RELA_OPTION_FILES, LIST_AT(texts.src[0]), 0, 0, NULL, "FILE", "training text, source side; may be repeated" },
    { "train-tgt", 0, RELA_OPTION_FILES, LIST_AT(texts.tgt), 0, 0, NULL, "FILE", "training text, target side; once for each --train-src" },
    { "valid-src", 0, RELA_OPTION_FILE, AT(valid_src), 0, 0, NULL, "FILE", "validation text, source side" },
    { "valid-tgt", 0, RELA_OPTION_FILE, AT(valid_tgt), 0, 0, NULL, "FILE", "validation text, target side" },
    { "train-tsv", 0, RELA_OPTION_FILES, LIST_AT(texts.tsv), 0, 0, NULL, "FILE", "training text in one file instead: source TAB target, with several sources all of them before the target; may be repeated" },
    { "valid-tsv", 0, RELA_OPTION_FILE, LIST_AT(texts.valid_tsv), 0, 0, NULL, "FILE", "validation text in one file, with the same columns" },
    { "train-src-2", 0, RELA_OPTION_FILES, LIST_AT(texts.src[1]), 0, 0, NULL, "FILE", "training text of a second source, once for each --train-src; lines may be empty" },
    { "train-src-3", 0, RELA_OPTION_FILES, LIST_AT(texts.src[2]), 0, 0, NULL, "FILE", "training text of a third source" },
    { "train-src-4", 0, RELA_OPTION_FILES, LIST_AT(texts.src[3]), 0, 0, NULL, "FILE", "training text of a fourth source" },
    { "valid-src-2", 0, RELA_OPTION_FILE, AT(valid_src_2), 0, 0, NULL, "FILE", "validation text of the second source" },
    { "valid-src-3", 0, RELA_OPTION_FILE, AT(valid_src_3), 0, 0, NULL, "FILE", "validation text of the third source" },
    { "valid-src-4", 0, RELA_OPTION_FILE, AT(valid_src_4), 0, 0, NULL, "FILE", "validation text of the fourth source" },
    { "out", 'o', RELA_OPTION_DIR, AT(out), 0, 0, NULL, "DIR", "directory of the run; an existing run is resumed" },
    { "init", 0, RELA_OPTION_FILE, AT(init), 0, 0, NULL, "FILE", "model to start from, with its sizes, attention, text preparation, languages, subwords and vocabularies" },
    { "src-lang", 0, RELA_OPTION_TEXT, AT(src_lang), 0, 0, NULL, "CODE", "source language, for the tokeniser and the card: en, fra, French [by the name of the file, as train.en.gz]" },
    { "tgt-lang", 0, RELA_OPTION_TEXT, AT(tgt_lang), 0, 0, NULL, "CODE", "target language" },
    { "src-lang-2", 0, RELA_OPTION_TEXT, AT(src_lang_2), 0, 0, NULL, "CODE", "language of the second source" },
    { "src-lang-3", 0, RELA_OPTION_TEXT, AT(src_lang_3), 0, 0, NULL, "CODE", "language of the third source" },
    { "src-lang-4", 0, RELA_OPTION_TEXT, AT(src_lang_4), 0, 0, NULL, "CODE", "language of the fourth source" },
    { "tokenise", 0, RELA_OPTION_FLAG, AT(tokenise), 0, 0, NULL, NULL, "tokenise the text (Moses conventions); translations are detokenised" },
    { "normalise", 0, RELA_OPTION_FLAG, AT(normalise), 0, 0, NULL, NULL, "normalise punctuation first" },
    { "lowercase", 0, RELA_OPTION_FLAG, AT(lowercase), 0, 0, NULL, NULL, "lower-case the text" },
    { "merges", 0, RELA_OPTION_INT, AT(merges), 0, 1e7, NULL, "N", "BPE merges to learn; 0: whole words" },
    { "codes", 0, RELA_OPTION_FILE, AT(codes), 0, 0, NULL, "FILE", "BPE codes to use instead of learning them" },
    { "vocab-src", 0, RELA_OPTION_FILE, AT(vocab_src), 0, 0, NULL, "FILE", "source (or joint) vocabulary to use instead of building one" },
    { "vocab-tgt", 0, RELA_OPTION_FILE, AT(vocab_tgt), 0, 0, NULL, "FILE", "target vocabulary to use instead of building one" },
    { "vocab-size", 0, RELA_OPTION_INT, AT(vocab_size), 0, 1 << 20, NULL, "N", "maximum vocabulary size; 0: no limit" },
    { "vocab-min", 0, RELA_OPTION_INT, AT(vocab_min), 1, 1e12, NULL, "N", "minimum frequency of a token in the vocabulary" },
    { "bpe-dropout", 0, RELA_OPTION_REAL, AT(bpe_dropout), 0, 0.99, NULL, "P", "BPE dropout: probability of skipping a merge, sampled anew in each epoch" },
    { "attention", 'a', RELA_OPTION_TEXT, AT(attention), 0, 0, NULL, "KIND", "kind of attention; 'rela info --attention' lists them [rela-g]" },
    { "attention-enc", 0, RELA_OPTION_TEXT, AT(attention_enc), 0, 0, NULL, "KIND", "kind of encoder self-attention only; by layers and heads: 1-2=local:window=4,3=6xrela-g+2xlocal" },
    { "attention-dec", 0, RELA_OPTION_TEXT, AT(attention_dec), 0, 0, NULL, "KIND", "kind of decoder self-attention only" },
    { "attention-cross", 0, RELA_OPTION_TEXT, AT(attention_cross), 0, 0, NULL, "KIND", "kind of cross attention only" },
    { "width", 0, RELA_OPTION_INT, AT(width), 2, 16384, NULL, "N", "width of the model (embedding size)" },
    { "ffn", 0, RELA_OPTION_INT, AT(ffn), 1, 65536, NULL, "N", "inner width of the feed-forward layers" },
    { "heads", 0, RELA_OPTION_INT, AT(heads), 1, 256, NULL, "N", "attention heads" },
    { "enc-layers", 0, RELA_OPTION_INT, AT(enc_layers), 1, 256, NULL, "N", "encoder layers" },
    { "dec-layers", 0, RELA_OPTION_INT, AT(dec_layers), 1, 256, NULL, "N", "decoder layers" },
    { "max-length", 0, RELA_OPTION_INT, AT(max_length), 2, 65536, NULL, "N", "maximum sentence length in tokens, including <eos>" },
    { "norm", 0, RELA_OPTION_CHOICE, AT(norm), 0, 0, NULL, "post|pre", "position of LayerNorm: after or before sublayers" },
    { "tie", 0, RELA_OPTION_CHOICE, AT(tie), 0, 0, NULL, "none|output|all", "tied embeddings: none, target and output, or source, target and output" },
    { "norm-per-head", 0, RELA_OPTION_FLAG, AT(norm_per_head), 0, 0, NULL, NULL, "normalise the attention output for each head separately" },
    { "share-encoders", 0, RELA_OPTION_FLAG, AT(share_encoders), 0, 0, NULL, NULL, "one encoder for all sources" },
    { "cross", 0, RELA_OPTION_CHOICE, AT(cross), 0, 0, NULL, "parallel|serial", "cross attention to several sources: in parallel, with outputs added, or one after the other [parallel]" },
    { "dropout", 0, RELA_OPTION_REAL, AT(dropout), 0, 0.99, NULL, "P", "dropout of sublayer outputs" },
    { "dropout-embed", 0, RELA_OPTION_REAL, AT(dropout_embed), 0, 0.99, NULL, "P", "dropout of embeddings [as --dropout]" },
    { "dropout-attention", 0, RELA_OPTION_REAL, AT(dropout_attention), 0, 0.99, NULL, "P", "dropout of attention weights" },
    { "dropout-ffn", 0, RELA_OPTION_REAL, AT(dropout_ffn), 0, 0.99, NULL, "P", "dropout inside feed-forward layers" },
    { "ln-epsilon", 0, RELA_OPTION_REAL, AT(ln_epsilon), 1e-12, 0.1, NULL, "E", "epsilon of LayerNorm" },
    { "attn-epsilon", 0, RELA_OPTION_REAL, AT(attn_epsilon), 1e-12, 0.1, NULL, "E", "epsilon of the norm of attention outputs" },
    { "attn-slope", 0, RELA_OPTION_REAL, AT(attn_slope), 0, 0.99, NULL, "X", "leaky-g: slope below zero" },
    { "attn-alpha", 0, RELA_OPTION_REAL, AT(attn_alpha), 1.01, 4, NULL, "X", "entmax: alpha" },
    { "attn-fuse", 0, RELA_OPTION_REAL, AT(attn_fuse), 0, 100, NULL, "X", "fusedmax: weight of the total variation" },
    { "attn-top", 0, RELA_OPTION_INT, AT(attn_top), 1, 65536, NULL, "N", "topk: number of scores to keep" },
    { "attn-window", 0, RELA_OPTION_INT, AT(attn_window), 1, 65536, NULL, "N", "local: keys on each side" },
    { "attn-stride", 0, RELA_OPTION_INT, AT(attn_stride), 1, 65536, NULL, "N", "strided: stride" },
    { "updates", 'u', RELA_OPTION_INT, AT(updates), 1, 1e12, NULL, "N", "total number of updates" },
    { "max-time", 0, RELA_OPTION_TEXT, LIST_AT(max_time), 0, 0, NULL, "TIME", "time for the whole run, like 20m, 2h, 1h30m or 90 (seconds): it ends with a finished model by then, and the learning rate follows; 0: no limit [4h without --preset and --updates]" },
    { "epochs", 0, RELA_OPTION_INT, AT(epochs), 0, 1e9, NULL, "N", "maximum number of epochs; 0: no limit" },
    { "batch-tokens", 0, RELA_OPTION_INT, AT(batch_tokens), 1, 1e9, NULL, "N", "target tokens per update" },
    { "lr", 0, RELA_OPTION_REAL, AT(lr), 0, 1e6, NULL, "X", "peak learning rate; the scale of noam" },
    { "lr-start", 0, RELA_OPTION_REAL, AT(lr_start), 0, 1e6, NULL, "X", "learning rate at the start of warm-up" },
    { "lr-least", 0, RELA_OPTION_REAL, AT(lr_least), 0, 1e6, NULL, "X", "learning rate at the end of cosine and linear decay and of --cool-down" },
    { "warmup", 0, RELA_OPTION_INT, AT(warmup), 0, 1e9, NULL, "N", "warm-up updates" },
    { "cool-down", 0, RELA_OPTION_INT, AT(cool_down), 0, 1e9, NULL, "N", "number of last updates over which the learning rate falls to --lr-least, with any schedule" },
    { "schedule", 0, RELA_OPTION_CHOICE, AT(schedule), 0, 0, NULL, "noam|inverse-sqrt|constant|cosine|linear", "learning rate schedule" },
    { "beta1", 0, RELA_OPTION_REAL, AT(beta1), 0, 0.9999999, NULL, "X", "Adam: decay of the first moment" },
    { "beta2", 0, RELA_OPTION_REAL, AT(beta2), 0, 0.9999999, NULL, "X", "Adam: decay of the second moment" },
    { "adam-epsilon", 0, RELA_OPTION_REAL, AT(adam_epsilon), 1e-30, 1, NULL, "X", "Adam: epsilon" },
    { "weight-decay", 0, RELA_OPTION_REAL, AT(weight_decay), 0, 1, NULL, "X", "decoupled weight decay" },
    { "clip", 0, RELA_OPTION_REAL, AT(clip), 0, 1e9, NULL, "X", "gradient clipping: maximum norm; 0: no clipping" },
    { "label-smoothing", 0, RELA_OPTION_REAL, AT(label_smoothing), 0, 0.99, NULL, "X", "label smoothing: probability given to words other than the reference" },
    { "r-drop", 0, RELA_OPTION_REAL, AT(r_drop), 0, 1000, NULL, "A", "R-Drop: weight of the KL divergence between two passes with different dropout" },
    { "loss-mean", 0, RELA_OPTION_CHOICE, AT(loss_mean), 0, 0, NULL, "token|sentence", "average the loss over tokens, or over sentence means" },
    { "licence", 0, RELA_OPTION_TEXT, AT(licence), 0, 0, NULL, "TEXT", "licence of the model, for its card ('rela info')" },
    { "description", 0, RELA_OPTION_TEXT, AT(description), 0, 0, NULL, "TEXT", "description of the model, for its card" },
    { "date", 0, RELA_OPTION_TEXT, AT(date), 0, 0, NULL, "DATE", "date of the model, YYYY-MM-DD, for its card [that of SOURCE_DATE_EPOCH, if set]" },
    { "gradient-slots", 0, RELA_OPTION_INT, AT(gradient_slots), 1, 1024, NULL, "N", "parts of an update whose gradients are summed in a fixed order, so the result does not depend on the number of threads; more threads than slots are not used" },
    { "gradient-groups", 0, RELA_OPTION_INT, AT(gradient_groups), 1, 1024, NULL, "N", "groups of slots whose gradients are summed first; with at least as many groups as ranks, only sums of groups cross the network; divides the slots" },
    { "micro-batch", 0, RELA_OPTION_INT, AT(micro_batch), 0, 1 << 20, NULL, "N", "tokens per micro-batch, which one thread computes at once; 0: automatic" },
    { "max-skipped", 0, RELA_OPTION_INT, AT(max_skipped), 1, 1e9, NULL, "N", "maximum number of consecutive updates that may be skipped as not finite" },
    { "cut-long", 0, RELA_OPTION_FLAG, AT(cut_long), 0, 0, NULL, NULL, "cut sentences over --max-length instead of dropping the pair" },
    { "hold-out", 0, RELA_OPTION_INT, AT(hold_out), 0, 1e6, NULL, "N", "lines of the training text held out for validation if no text is given for it, at most one in 50; 0: none [500]" },
    { "max-ratio", 0, RELA_OPTION_REAL, AT(max_ratio), 0, 1e6, NULL, "X", "drop pairs with one side more than X times as long as the other; 0: keep them" },
    { "data-memory", 0, RELA_OPTION_INT, AT(data_memory), 0, 1e13, NULL, "BYTES", "encoded text kept in memory; the rest goes to a scratch file" },
    { "report-every", 0, RELA_OPTION_INT, AT(report_every), 1, 1e9, NULL, "N", "updates between reports" },
    { "valid-every", 0, RELA_OPTION_INT, AT(valid_every), 1, 1e9, NULL, "N", "updates between validations" },
    { "save-every", 0, RELA_OPTION_INT, AT(save_every), 1, 1e9, NULL, "N", "updates between checkpoints" },
    { "keep", 0, RELA_OPTION_INT, AT(keep), 1, 10000, NULL, "N", "number of checkpoints to keep" },
    { "average", 0, RELA_OPTION_INT, AT(average), 1, 10000, NULL, "N", "maximum number of last checkpoints to average for the final model; 1: no mean" },
    { "patience", 0, RELA_OPTION_INT, AT(patience), 0, 1e9, NULL, "N", "stop after this many validations without improvement; 0: never" },
    { "best-by", 0, RELA_OPTION_CHOICE, AT(best_by), 0, 0, NULL, "bleu|loss", "criterion for the best validation" },
    { "valid-beam", 0, RELA_OPTION_INT, AT(valid_beam), 0, 64, NULL, "N", "beam size for validation; 0: no BLEU" },
    { "show-config", 0, RELA_OPTION_FLAG, LIST_AT(show_config), 0, 0, NULL, NULL, "print all settings, including those of the preset, and exit" },
    { .name = NULL },
};
/* clang-format on */

const rela_command rela_commands_train[] = {
    { .name = "train",
      .summary = "train a translation model from raw parallel text",
      .operands = "--train-src FILE --train-tgt FILE --out DIR",
      .description =
          "Learns BPE and vocabularies if none are given, trains, validates, and writes "
          "OUT/model.rela: the last checkpoint, a mean of the last ones or the best one, whichever "
          "is best on the validation text. Run again with the same --out, it resumes where it "
          "stopped, with bit-identical results. SIGTERM and SIGINT save and stop within seconds "
          "(another one, more than a second later, at once), SIGHUP and SIGUSR1 save and continue. "
          "Options without a default take it from the preset: demo for thousands of lines (a "
          "minute or two on two cores, 62 MB of memory), tiny from 5,000 lines on (1 h 45 min, 151 "
          "MB), base and paper for millions of lines on several machines (53 and 160 days on two "
          "cores, 2 GB), align for an alignment model (three minutes, 76 MB). In the first minute "
          "there is a forecast. Started by mpirun or srun, all processes train one model, and the "
          "result does not depend on their number.",
      .examples =
          "rela train --preset tiny --train-src train.en --train-tgt train.de \\\n"
          "    --valid-src val.en --valid-tgt val.de --out run\n"
          "rela train --preset base --attention softmax --tokenise --src-lang fr --tgt-lang en \\\n"
          "    --train-src french.txt --train-tgt english.txt --out run2\n"
          "rela train --preset tiny --train-src a.en --train-src-2 a.fr \\\n"
          "    --train-tgt a.de --src-lang en --src-lang-2 fr --out en+fr-de\n"
          "mpirun --bind-to none -n 4 rela train --preset base --gradient-slots 16 \\\n"
          "    --gradient-groups 4 --train-src corpus.en --train-tgt corpus.de --out run3\n",
      .options = OPTIONS,
      .options_size = sizeof(train_args),
      .needs = NEEDS,
      .run = run },
    { .name = NULL },
};

/* Numbers stay "unset" unless they are given. */
static void take_given(rela_train_options *o, const train_args *given, const rela_cli *cli)
{
    rela_train_options_init(o, sizeof *o);
    for (const rela_option *row = OPTIONS; row->name; row++) {
        if (row->offset >= sizeof *o) /* not a library option */
            continue;
        const bool number = row->type == RELA_OPTION_INT || row->type == RELA_OPTION_REAL;
        const size_t size = number                          ? 8
                            : row->type == RELA_OPTION_FLAG ? sizeof(bool)
                                                            : sizeof(char *);
        if (!number || rela_options_given(cli->state, row->name))
            memcpy((char *)o + row->offset, (const char *)given + row->offset, size);
    }
    o->threads = cli->common.threads;
    o->seed = cli->common.seed;
}

rela_status rela_cli_train_settings(rela_buffer *out, rela_cli *cli, const void *options,
                                    rela_error *err)
{
    rela_train_options o;
    take_given(&o, options, cli);
    rela_status st = rela_cli_train_time(&o.max_time, ((const train_args *)options)->max_time, err);
    st = st ? st : rela_cli_train_check_settings(cli, &o, err);
    return st ? st : rela_train_options_show(out, &o, err);
}

static rela_status run(rela_cli *cli, void *options, rela_error *err)
{
    train_args *given = options;
    rela_cli_texts *texts = &given->texts;
    rela_train_options o;
    take_given(&o, given, cli);
    o.mpi = true;
    char date[RELA_CLI_DATE_SIZE];
    display s = { .cli = cli };
    rela_status st = rela_cli_train_date(&o, cli, date, err);
    st = st || given->show_config ? st : rela_cli_texts_split(texts, &o, err);
    st = st ? st : rela_cli_texts_take(&o, texts, err);
    st = st ? st : rela_cli_train_time(&o.max_time, given->max_time, err);
    st = st ? st : rela_cli_train_check_settings(cli, &o, err);
    if (st == RELA_OK && given->show_config) {
        st = show_config(&o, err);
        rela_cli_texts_free(texts);
        return st;
    }
    st = st ? st : rela_cli_train_check_files(&o, err);
    o.stop = is_stopped;
    st = st ? st : rela_cli_watch_signals(err);
    st = st ? st : rela_train(&o, on_event, &s, err);
    rela_cli_texts_free(texts);
    /* Without a signal of its own, this rank stopped because another one did. */
    const int own = rela_cli_stop_signal(), number = own ? own : SIGTERM;
    cli->reported = s.rank > 0; /* by rank 0 */
    if (st == RELA_CANCEL) {
        if (s.rank == 0)
            st = report_stop(cli, &o, number, err);
        cli->exit_code = 128 + number;
        return s.rank == 0 ? st : RELA_OK;
    }
    return st == RELA_OK && cli->common.json && s.rank == 0 ? print_result(&s, &o, err) : st;
}

/* As a word of a shell command. */
static rela_status quote(rela_buffer *out, const char *text, rela_error *err)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._-+,:@%";
    if (text[strspn(text, PLAIN)] == '\0')
        return rela_buffer_append_text(out, text, err);
    rela_status st = rela_buffer_append_char(out, '\'', err);
    for (; *text && st == RELA_OK; text++)
        st = *text == '\'' ? rela_buffer_append_text(out, "'\\''", err)
                           : rela_buffer_append_char(out, *text, err);
    return st ? st : rela_buffer_append_char(out, '\'', err);
}

static rela_status report_stop(rela_cli *cli, const rela_train_options *o, int number,
                               rela_error *err)
{
    rela_buffer model = RELA_BUFFER_INIT, out = RELA_BUFFER_INIT;
    rela_status st = quote(&out, o->out, err);
    if (st == RELA_OK && rela_dir_exists(o->out) &&
        rela_model_find(&model, o->out, NULL) == RELA_OK)
        rela_log_line(&cli->sink, RELA_LOG_INFO,
                      "stopped by signal %d; go on with: rela train --config %s/config.yml; use "
                      "what there is with: rela translate %s",
                      number, out.data, out.data);
    else if (st == RELA_OK)
        rela_log_line(&cli->sink, RELA_LOG_INFO,
                      "stopped by signal %d before the first update; nothing was saved", number);
    rela_buffer_free(&model);
    rela_buffer_free(&out);
    return st;
}

static int is_stopped(void *ctx)
{
    (void)ctx;
    return rela_cli_stop_signal();
}

/* The best validation of this call only: a resumed run may have had a better one before. */
static rela_status print_result(const display *s, const rela_train_options *o, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT, path = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&path, err, "%s/model.rela", o->out);
    st = st ? st : rela_buffer_append_text(&text, "{\"model\": ", err);
    st = st ? st : rela_json_quote(&text, path.data, path.len, err);
    st = st ? st
            : rela_buffer_printf(&text, err, ", \"updates\": %llu", (unsigned long long)s->update);
    if (st == RELA_OK && s->best_update) {
        st = rela_buffer_printf(&text, err, ", \"best\": {\"update\": %llu, \"perplexity\": ",
                                (unsigned long long)s->best_update);
        st = st ? st : rela_json_number(&text, s->perplexity, 9, err);
        st = st ? st : rela_buffer_append_text(&text, ", \"bleu\": ", err);
        st = st            ? st
             : s->bleu < 0 ? rela_buffer_append_text(&text, "null", err)
                           : rela_json_number(&text, s->bleu, 9, err);
        st = st ? st : rela_buffer_append_char(&text, '}', err);
    }
    st = st ? st : rela_buffer_append_text(&text, "}\n", err);
    st = st ? st : rela_cli_print(&text, err);
    rela_buffer_free(&text);
    rela_buffer_free(&path);
    return st;
}

static rela_status show_config(const rela_train_options *o, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = rela_train_options_show(&text, o, err);
    st = st ? st : rela_cli_print(&text, err);
    rela_buffer_free(&text);
    return st;
}

static int on_event(void *ctx, const rela_train_event *e)
{
    display *s = ctx;
    char speed[RELA_GROUPED_SIZE];
    switch (e->kind) {
    case RELA_TRAIN_SAVED:
        break;
    case RELA_TRAIN_LOG:
        if (s->bar.visible && s->bar.terminal && s->bar.emit)
            s->bar.emit(s->bar.ctx, "\r\033[K", 4);
        rela_log_line(&s->cli->sink, RELA_LOG_INFO, "%s", e->text);
        break;
    case RELA_TRAIN_JOINED:
        s->rank = e->rank;
        break;
    case RELA_TRAIN_UPDATE:
        s->update = e->update;
        if (!s->started && e->rank == 0) {
            rela_cli_progress(s->cli, &s->bar, "training", "updates", e->updates);
            rela_progress_start(&s->bar, e->update - 1);
            s->started = true;
        }
        s->bar.total = e->updates; /* follows the time that updates take */
        if (s->started)
            rela_progress_update(&s->bar, e->update, s->note);
        if (rela_cli_save_signal())
            return RELA_TRAIN_SAVE;
        break;
    case RELA_TRAIN_VALIDATED:
        if (e->is_best) {
            s->best_update = e->update;
            s->perplexity = e->perplexity;
            s->bleu = e->bleu;
        }
        break;
    case RELA_TRAIN_REPORT:
        if (isnan(e->loss))
            (void)snprintf(s->note, sizeof s->note, "updates are not finite");
        else
            (void)snprintf(s->note, sizeof s->note, "loss %.3f, %s tok/s, padding %.1f %%", e->loss,
                           rela_grouped(speed, (uint64_t)(e->tokens_per_second + 0.5)),
                           100 * e->padding);
        break;
    default:
        break;
    }
    return RELA_TRAIN_GO_ON;
}
