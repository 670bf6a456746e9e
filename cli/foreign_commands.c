/* SPDX-License-Identifier: MIT */
/* cli/foreign_commands.c - commands of other tools, and ours that do the same; only suggested. */
#include "cli.h"

/* Theirs with - for _. */
static const char *const FOREIGN[][2] = {
    /* one word for what we call by another */
    { "translation", "translate" },
    { "decode", "translate" },
    { "generate", "translate" },
    { "infer", "translate" },
    { "predict", "translate" },
    { "inference", "translate" },
    { "finetune", "train" },
    { "fine-tune", "train" },
    { "learn", "train" },
    { "prepare", "train" },
    { "preprocess", "train" },
    { "build-vocab", "vocab" },
    { "fit", "train" },
    { "training", "train" },
    { "evaluate", "bleu" },
    { "eval", "bleu" },
    { "evaluation", "bleu" },
    { "benchmark", "bench" },
    { "version", "--version" },
    { "-v", "--version" },
    { "-V", "--version" },
    /* Marian, fairseq, OpenNMT, CTranslate2 */
    { "marian", "train" },
    { "marian-decoder", "translate" },
    { "marian-scorer", "score" },
    { "fairseq-train", "train" },
    { "fairseq-generate", "translate" },
    { "fairseq-interactive", "translate" },
    { "fairseq-score", "bleu" },
    { "onmt-train", "train" },
    { "onmt-translate", "translate" },
    { "ct2-transformers-converter", "convert" },
    /* subword-nmt, Moses, fast_align, sacrebleu */
    { "subword-nmt", "bpe learn" },
    { "learn-bpe", "bpe learn" },
    { "apply-bpe", "bpe apply" },
    { "get-vocab", "vocab" },
    { "tokenizer", "tokenise" },
    { "detokenizer", "detokenise" },
    { "detruecase", "truecase undo" },
    { "fast-align", "align" },
    { "atools", "symmetrise" },
    { "sacrebleu", "bleu" },
    { "multi-bleu", "bleu" },
};

static bool is_same(const char *given, const char *name)
{
    while (*given && (*given == *name || (*given == '_' && *name == '-'))) {
        given++;
        name++;
    }
    return !*given && !*name;
}

const char *rela_cli_foreign_command(const char *word)
{
    for (size_t i = 0; i < sizeof FOREIGN / sizeof FOREIGN[0]; i++)
        if (is_same(word, FOREIGN[i][0]))
            return FOREIGN[i][1];
    return NULL;
}
