/* SPDX-License-Identifier: MIT */
/* src/base/option_foreign.c - options of other tools (Marian, fairseq, CTranslate2, Sockeye,
 * OpenNMT, sacrebleu, subword-nmt, fast_align), and ours that do the same; only suggested, never
 * accepted. */
#include "base/option.h"

#include <string.h>

/* Commands with a model as an operand, by options that only they have. */
#define MODEL_FIRST                                                                                \
    "beam|word-scores|skip-end|reverse-layer|calibrate|frequent|max-header|last",                  \
        "!a model is named without an option"

/* Theirs with - for _, ours with a value if it needs one. A name has several rows if commands
 * differ: the first whose option the command has counts. */
static const char *const FOREIGN[][2] = {
    /* translation */
    { "beam-size", "beam" },
    { "beamsize", "beam" },
    { "nbest", "n-best" },
    { "nbest-size", "n-best" },
    { "num-hypotheses", "n-best" },
    { "lenpen", "normalize" },
    { "length-penalty", "normalize" },
    { "max-len-a", "max-length-factor" },
    { "max-len-b", "max-length-extra" },
    { "max-decoding-length", "max-length-extra" },
    { "max-length", "max-length-factor" },
    { "max-length-crop", "long cut" },
    { "replace-unk", "unk replace" },
    { "allow-unk", "unk allow" },
    { "prefix-size", "prefix" },
    { "output-sampling", "sampling" },
    { "sampling-topk", "sampling top:K" },
    { "sampling-topp", "sampling nucleus:P" },
    { "print-alignment", "alignment hard" },
    { "maxi-batch", "read-bytes" },
    { "hyp", "input" },
    { "hypothesis", "input" },
    /* batches and threads */
    { "mini-batch", "batch" },
    { "mini-batch", "batch-tokens" },
    { "mini-batch-words", "batch-words" },
    { "mini-batch-words", "batch-tokens" },
    { "batch-size", "batch" },
    { "batch-size", "batch-tokens" },
    { "batch-size", "batch-words" },
    { "max-batch-size", "batch" },
    { "max-tokens", "batch-tokens" },
    { "max-tokens", "batch-words" },
    { "cpu-threads", "threads" },
    { "inter-threads", "threads" },
    { "intra-threads", "threads" },
    { "num-workers", "threads" },
    { "workers", "threads" },
    /* files and languages */
    { "input-file", "input" },
    { "output-file", "output" },
    { "output-dir", "output" },
    { "output-dir", "out" },
    { "save-dir", "out" },
    { "train-sets", "train-src" },
    { "valid-sets", "valid-src" },
    { "source-lang", "src-lang" },
    { "target-lang", "tgt-lang" },
    { "vocabs", "vocab-src" },
    { "trainpref", "train-src" },
    { "validpref", "valid-src" },
    /* training */
    { "arch", "preset" },
    { "dim-vocabs", "vocab-size" },
    { "dim-emb", "width" },
    { "dim-model", "width" },
    { "d-model", "width" },
    { "embed-dim", "width" },
    { "hidden-size", "width" },
    { "dim", "width" },
    { "ffn-dim", "ffn" },
    { "num-heads", "heads" },
    { "nhead", "heads" },
    { "encoder-embed-dim", "width" },
    { "transformer-dim-ffn", "ffn" },
    { "encoder-ffn-embed-dim", "ffn" },
    { "transformer-heads", "heads" },
    { "encoder-attention-heads", "heads" },
    { "enc-depth", "enc-layers" },
    { "encoder-layers", "enc-layers" },
    { "dec-depth", "dec-layers" },
    { "decoder-layers", "dec-layers" },
    { "encoder-normalize-before", "norm pre" },
    { "tied-embeddings", "tie output" },
    { "tied-embeddings-all", "tie all" },
    { "share-all-embeddings", "tie all" },
    { "transformer-dropout", "dropout" },
    { "transformer-dropout-attention", "dropout-attention" },
    { "attention-dropout", "dropout-attention" },
    { "transformer-dropout-ffn", "dropout-ffn" },
    { "activation-dropout", "dropout-ffn" },
    { "learn-rate", "lr" },
    { "learning-rate", "lr" },
    { "lr-warmup", "warmup" },
    { "warmup-updates", "warmup" },
    { "lr-scheduler", "schedule" },
    { "clip-norm", "clip" },
    { "after-batches", "updates" },
    { "max-update", "updates" },
    { "max-updates", "updates" },
    { "steps", "updates" },
    { "max-steps", "updates" },
    { "num-steps", "updates" },
    { "iterations", "updates" },
    { "train-steps", "updates" },
    { "after-epochs", "epochs" },
    { "max-epoch", "epochs" },
    { "disp-freq", "report-every" },
    { "log-interval", "report-every" },
    { "valid-freq", "valid-every" },
    { "save-freq", "save-every" },
    { "early-stopping", "patience" },
    { "time", "max-time" },
    { "time-limit", "max-time" },
    { "timeout", "max-time" },
    { "max-hours", "max-time" },
    { "max-minutes", "max-time" },
    { "max-seconds", "max-time" },
    { "stop-time-hours", "max-time" },
    { "walltime", "max-time" },
    { "valid-fraction", "hold-out" },
    { "validation-split", "hold-out" },
    { "dev-size", "hold-out" },
    { "finetune-from-model", "init" },
    { "finetune", "init" },
    { "restore-file", "init" },
    { "pretrained-model", "init" },
    /* conversion and subwords */
    { "int8", "to int8" },
    { "quantization", "to int8" },
    { "quantization", "int8" },
    { "compute-type", "int8" },
    { "compute-type", "to int8" },
    { "num-operations", "symbols" },
    { "merges", "symbols" },
    { "vocab-size", "symbols" },
    { "bpe-codes", "codes" },
    /* metrics */
    { "lc", "lowercase" },
    { "tok", "tokenize" },
    { "smooth-method", "smooth" },
    { "metrics", "metric" },
    { "sentence-level", "sentence" },
    { "chrf-lowercase", "lowercase" },
    { "chrf-char-order", "char-order" },
    { "chrf-word-order", "word-order" },
    { "chrf-beta", "beta" },
    { "confidence-n", "samples" },
    { "paired-bs", "test bs" },
    { "paired-ar", "test ar" },
};

/* The same for what needs words, in commands that have one of the options separated by |. */
static const struct remedy {
    const char *name, *with, *words; /* words: an option, or after ! a remedy */
} REMEDIES[] = {
    { "model", "train-src", "out" },
    { "model", MODEL_FIRST },
    { "models", MODEL_FIRST },
    { "path", MODEL_FIRST },
    { "src", "beam", "input" },
    { "resume", "train-src", "!run again with the same --out" },
    { "restart", "train-src", "!run again with the same --out" },
    { "layers", "enc-layers",
      "!encoder and decoder have their own: --enc-layers N --dec-layers N" },
    { "num-layers", "enc-layers",
      "!encoder and decoder have their own: --enc-layers N --dec-layers N" },
    { "gpu", "threads", "!this program computes on processors only: --threads N" },
    { "gpus", "threads", "!this program computes on processors only: --threads N" },
    { "devices", "threads", "!this program computes on processors only: --threads N" },
    { "device", "threads", "!this program computes on processors only: --threads N" },
    { "cuda", "threads", "!this program computes on processors only: --threads N" },
    { "fp16", "threads",
      "!weights are trained in fp32; 'rela convert --to int8' makes a model small and fast" },
    { "world-size", "train-src", "!for several processes: mpirun -n N rela train ..." },
    { "input",
      "symbols|separator|escape|unescape|map-breaks|paragraphs|first-words|min-frequency|form",
      "!files are named without an option" },
    { "m", "multi-bleu", "!chrF has its own command: rela chrf" },
    { "metrics", "multi-bleu", "!chrF has its own command: rela chrf" },
    { "i", "reverse-layer", "!name the two files: --src FILE --tgt FILE" },
    { "d", "reverse-layer", "!fast_align's -d, -o and -v are not needed" },
    { "v", "reverse-layer", "!fast_align's -d, -o and -v are not needed" },
    { "r", "reverse-layer", "!without a model, both directions are learned and combined" },
};

static bool has_any(const char *names, bool (*has)(const void *ctx, const char *name, size_t len),
                    const void *ctx)
{
    for (const char *at = names; *at;) {
        const size_t n = strcspn(at, "|");
        if (has(ctx, at, n))
            return true;
        at += n + (at[n] == '|');
    }
    return false;
}

static bool is_named(const char *given, size_t len, const char *name)
{
    if (strlen(name) != len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (given[i] != name[i] && !(given[i] == '_' && name[i] == '-'))
            return false;
    return true;
}

const char *rela_option_foreign(const char *name, size_t len,
                                bool (*has)(const void *ctx, const char *name, size_t len),
                                const void *ctx)
{
    for (size_t i = 0; i < sizeof REMEDIES / sizeof REMEDIES[0]; i++)
        if (is_named(name, len, REMEDIES[i].name) && has_any(REMEDIES[i].with, has, ctx))
            return REMEDIES[i].words;
    for (size_t i = 0; i < sizeof FOREIGN / sizeof FOREIGN[0]; i++)
        if (is_named(name, len, FOREIGN[i][0]) &&
            has(ctx, FOREIGN[i][1], strcspn(FOREIGN[i][1], " ")))
            return FOREIGN[i][1];
    return NULL;
}
