/* SPDX-License-Identifier: MIT */
/* src/train/train_settings.h - the settings of training, one row each: from them come the options
 * of rela train, their help, presets, ranges, and config.yml.
 *
 *   NUMBER(INT or REAL, key, letter, member, place, of_model, presets, least, most, unit, help)
 *   STRING(FILE, DIR, CHOICE or TEXT, key, letter, member, place, presets, values, help)
 *   FLAG(key, member, place, of_model, recent, help)
 *   LIST(key, member, list, place, unit, help)   files: the first is the member, list is the
 * program's TIME(key, member, place, presets, least, most, unit, help)   seconds, which the program
 * reads as text COMMON(key, member, place, presets, least, most)   the program has it for every
 * command
 *
 * member: of rela_train_options. place: in config.yml and in the record of a model, whose order
 * must stay. of_model: a run that starts from a model has its value. presets: defaults for paper,
 * base, tiny, demo and align. recent: missing in older records, so left out if false. */
#ifndef RELA_TRAIN_TRAIN_SETTINGS_H
#define RELA_TRAIN_TRAIN_SETTINGS_H

#include "model/config.h"
#include "rela/train.h"
#include "train/update.h"

#define RELA_PRESET_ALIGN "align" /* makes a model for alignment */
#define RELA_PRESETS(separator)                                                                    \
    "paper" separator "base" separator "tiny" separator "demo" separator RELA_PRESET_ALIGN
enum { RELA_N_PRESETS = 5 };

#define RELA_SAME(value) (value, value, value, value, value) /* for all presets */

/* clang-format off */
/* The program puts its own options between the two parts. */
#define RELA_TRAIN_FILES_MAP(STRING, LIST) \
    LIST("train-src", train_src, texts.src[0], 12, "FILE", "training text, source side; may be repeated") \
    LIST("train-tgt", train_tgt, texts.tgt, 13, "FILE", "training text, target side; once for each --train-src") \
    STRING(FILE, "valid-src", 0, valid_src, 14, RELA_SAME(NULL), "FILE", "validation text, source side") \
    STRING(FILE, "valid-tgt", 0, valid_tgt, 15, RELA_SAME(NULL), "FILE", "validation text, target side")

#define RELA_TRAIN_SETTINGS_MAP(NUMBER, STRING, FLAG, LIST, TIME, COMMON) \
    LIST("train-src-2", train_src_2, texts.src[1], 18, "FILE", "training text of a second source, once for each --train-src; lines may be empty") \
    LIST("train-src-3", train_src_3, texts.src[2], 19, "FILE", "training text of a third source") \
    LIST("train-src-4", train_src_4, texts.src[3], 20, "FILE", "training text of a fourth source") \
    STRING(FILE, "valid-src-2", 0, valid_src_2, 21, RELA_SAME(NULL), "FILE", "validation text of the second source") \
    STRING(FILE, "valid-src-3", 0, valid_src_3, 22, RELA_SAME(NULL), "FILE", "validation text of the third source") \
    STRING(FILE, "valid-src-4", 0, valid_src_4, 23, RELA_SAME(NULL), "FILE", "validation text of the fourth source") \
    STRING(DIR, "out", 'o', out, 16, RELA_SAME(NULL), "DIR", "directory of the run; an existing run is resumed") \
    STRING(FILE, "init", 0, init, 17, RELA_SAME(NULL), "FILE", "model to start from, with its sizes, attention, text preparation, languages, subwords and vocabularies") \
    STRING(TEXT, "src-lang", 0, src_lang, 1, RELA_SAME(NULL), "CODE", "source language, for the tokeniser and the card: en, fra, French [by the name of the file, as train.en.gz]") \
    STRING(TEXT, "tgt-lang", 0, tgt_lang, 2, RELA_SAME(NULL), "CODE", "target language") \
    STRING(TEXT, "src-lang-2", 0, src_lang_2, 24, RELA_SAME(NULL), "CODE", "language of the second source") \
    STRING(TEXT, "src-lang-3", 0, src_lang_3, 25, RELA_SAME(NULL), "CODE", "language of the third source") \
    STRING(TEXT, "src-lang-4", 0, src_lang_4, 26, RELA_SAME(NULL), "CODE", "language of the fourth source") \
    FLAG("tokenise", tokenise, 34, true, false, "tokenise the text (Moses conventions); translations are detokenised") \
    FLAG("normalise", normalise, 35, true, false, "normalise punctuation first") \
    FLAG("lowercase", lowercase, 36, true, false, "lower-case the text") \
    NUMBER(INT, "merges", 0, merges, 40, false, (32000, 32000, 10000, 600, 8000), 0, 1e7, "N", "BPE merges to learn; 0: whole words") \
    STRING(FILE, "codes", 0, codes, 28, RELA_SAME(NULL), "FILE", "BPE codes to use instead of learning them") \
    STRING(FILE, "vocab-src", 0, vocab_src, 29, RELA_SAME(NULL), "FILE", "source (or joint) vocabulary to use instead of building one") \
    STRING(FILE, "vocab-tgt", 0, vocab_tgt, 30, RELA_SAME(NULL), "FILE", "target vocabulary to use instead of building one") \
    NUMBER(INT, "vocab-size", 0, vocab_size, 41, false, RELA_SAME(0), 0, 1 << 20, "N", "maximum vocabulary size; 0: no limit") \
    NUMBER(INT, "vocab-min", 0, vocab_min, 42, false, RELA_SAME(1), 1, 1e12, "N", "minimum frequency of a token in the vocabulary") \
    NUMBER(REAL, "bpe-dropout", 0, bpe_dropout, 43, false, RELA_SAME(0), 0, 0.99, "P", "BPE dropout: probability of skipping a merge, sampled anew in each epoch") \
    STRING(TEXT, "attention", 'a', attention, 3, RELA_SAME("rela-g"), "KIND", "kind of attention; 'rela info --attention' lists them [rela-g]") \
    STRING(TEXT, "attention-enc", 0, attention_enc, 4, RELA_SAME(NULL), "KIND", "kind of encoder self-attention only; by layers and heads: 1-2=local:window=4,3=6xrela-g+2xlocal") \
    STRING(TEXT, "attention-dec", 0, attention_dec, 5, RELA_SAME(NULL), "KIND", "kind of decoder self-attention only") \
    STRING(TEXT, "attention-cross", 0, attention_cross, 6, RELA_SAME(NULL), "KIND", "kind of cross attention only") \
    NUMBER(INT, "width", 0, width, 44, true, (512, 512, 128, 128, 128), 2, RELA_D_MAX, "N", "width of the model (embedding size)") \
    NUMBER(INT, "ffn", 0, ffn, 45, true, (2048, 2048, 256, 256, 1), 1, RELA_FFN_MAX, "N", "inner width of the feed-forward layers") \
    NUMBER(INT, "heads", 0, heads, 46, true, (8, 8, 4, 4, 1), 1, RELA_HEADS_MAX, "N", "attention heads") \
    NUMBER(INT, "enc-layers", 0, enc_layers, 47, true, (6, 6, 4, 2, 1), 1, RELA_LAYERS_MAX, "N", "encoder layers") \
    NUMBER(INT, "dec-layers", 0, dec_layers, 48, true, (6, 6, 4, 2, 1), 1, RELA_LAYERS_MAX, "N", "decoder layers") \
    NUMBER(INT, "max-length", 0, max_length, 49, true, (512, 512, 256, 128, 256), 2, RELA_LEN_MAX, "N", "maximum sentence length in tokens, including <eos>") \
    STRING(CHOICE, "norm", 0, norm, 7, RELA_SAME("post"), "post|pre", "position of LayerNorm: after or before sublayers") \
    STRING(CHOICE, "tie", 0, tie, 8, ("output", "all", "all", "all", "output"), "none|output|all", "tied embeddings: none, target and output, or source, target and output") \
    FLAG("norm-per-head", norm_per_head, 37, true, false, "normalise the attention output for each head separately") \
    FLAG("share-encoders", share_encoders, 39, true, true, "one encoder for all sources") \
    STRING(CHOICE, "cross", 0, cross, 27, RELA_SAME(NULL), "parallel|serial", "cross attention to several sources: in parallel, with outputs added, or one after the other [parallel]") \
    NUMBER(REAL, "dropout", 0, dropout, 50, false, (0.1, 0.1, 0.3, 0.1, 0.1), 0, 0.99, "P", "dropout of sublayer outputs") \
    NUMBER(REAL, "dropout-embed", 0, dropout_embed, 51, false, RELA_SAME(-1), 0, 0.99, "P", "dropout of embeddings [as --dropout]") \
    NUMBER(REAL, "dropout-attention", 0, dropout_attention, 52, false, (0.1, 0.1, 0, 0, 0), 0, 0.99, "P", "dropout of attention weights") \
    NUMBER(REAL, "dropout-ffn", 0, dropout_ffn, 53, false, (0.1, 0.1, 0, 0, 0), 0, 0.99, "P", "dropout inside feed-forward layers") \
    NUMBER(REAL, "ln-epsilon", 0, ln_epsilon, 54, true, (1e-8, 1e-6, 1e-6, 1e-6, 1e-6), 1e-12, 0.1, "E", "epsilon of LayerNorm") \
    NUMBER(REAL, "attn-epsilon", 0, attn_epsilon, 55, true, (1e-8, 1e-8, 1e-8, 1e-8, 1e-8), 1e-12, 0.1, "E", "epsilon of the norm of attention outputs") \
    NUMBER(REAL, "attn-slope", 0, attn_slope, 56, false, RELA_SAME(0.01), 0, 0.99, "X", "leaky-g: slope below zero") \
    NUMBER(REAL, "attn-alpha", 0, attn_alpha, 57, false, RELA_SAME(1.5), 1.01, 4, "X", "entmax: alpha") \
    NUMBER(REAL, "attn-fuse", 0, attn_fuse, 58, false, RELA_SAME(0.1), 0, 100, "X", "fusedmax: weight of the total variation") \
    NUMBER(INT, "attn-top", 0, attn_top, 59, false, RELA_SAME(8), 1, RELA_LEN_MAX, "N", "topk: number of scores to keep") \
    NUMBER(INT, "attn-window", 0, attn_window, 60, false, RELA_SAME(8), 1, RELA_LEN_MAX, "N", "local: keys on each side") \
    NUMBER(INT, "attn-stride", 0, attn_stride, 61, false, RELA_SAME(8), 1, RELA_LEN_MAX, "N", "strided: stride") \
    NUMBER(INT, "updates", 'u', updates, 62, true, (300000, 100000, 8000, 600, 3000), 1, 1e12, "N", "total number of updates") \
    TIME("max-time", max_time, 84, RELA_SAME(0), 0, 1e9, "TIME", "time for the whole run, like 20m, 2h, 1h30m or 90 (seconds): it ends with a finished model by then, and the learning rate follows; 0: no limit [4h without --preset and --updates]") \
    NUMBER(INT, "epochs", 0, epochs, 63, false, RELA_SAME(0), 0, 1e9, "N", "maximum number of epochs; 0: no limit") \
    NUMBER(INT, "batch-tokens", 0, batch_tokens, 64, false, (25000, 25000, 8192, 4096, 4096), 1, 1e9, "N", "target tokens per update") \
    NUMBER(REAL, "lr", 0, lr, 65, true, (1, 1, 5e-3, 3e-3, 5e-3), 0, 1e6, "X", "peak learning rate; the scale of noam") \
    NUMBER(REAL, "lr-start", 0, lr_start, 66, false, (1e-7, 1e-7, 1e-7, 1e-7, 1e-7), 0, 1e6, "X", "learning rate at the start of warm-up") \
    NUMBER(REAL, "lr-least", 0, lr_least, 67, false, (0, 0, 0, 0, 2e-4), 0, 1e6, "X", "learning rate at the end of cosine and linear decay and of --cool-down") \
    NUMBER(INT, "warmup", 0, warmup, 68, true, (4000, 4000, 2000, 200, 100), 0, 1e9, "N", "warm-up updates") \
    NUMBER(INT, "cool-down", 0, cool_down, 69, false, RELA_SAME(0), 0, 1e9, "N", "number of last updates over which the learning rate falls to --lr-least, with any schedule") \
    STRING(CHOICE, "schedule", 0, schedule, 9, ("noam", "noam", "inverse-sqrt", "inverse-sqrt", "linear"), "noam|inverse-sqrt|constant|cosine|linear", "learning rate schedule") \
    NUMBER(REAL, "beta1", 0, beta1, 70, false, RELA_SAME(0.9), 0, 0.9999999, "X", "Adam: decay of the first moment") \
    NUMBER(REAL, "beta2", 0, beta2, 71, false, RELA_SAME(0.98), 0, 0.9999999, "X", "Adam: decay of the second moment") \
    NUMBER(REAL, "adam-epsilon", 0, adam_epsilon, 72, false, (1e-8, 1e-8, 1e-8, 1e-8, 1e-8), 1e-30, 1, "X", "Adam: epsilon") \
    NUMBER(REAL, "weight-decay", 0, weight_decay, 73, false, RELA_SAME(0), 0, 1, "X", "decoupled weight decay") \
    NUMBER(REAL, "clip", 0, clip, 74, false, RELA_SAME(0), 0, 1e9, "X", "gradient clipping: maximum norm; 0: no clipping") \
    NUMBER(REAL, "label-smoothing", 0, label_smoothing, 75, false, (0.1, 0.1, 0.1, 0.1, 0), 0, 0.99, "X", "label smoothing: probability given to words other than the reference") \
    NUMBER(REAL, "r-drop", 0, r_drop, 76, false, RELA_SAME(0), 0, 1000, "A", "R-Drop: weight of the KL divergence between two passes with different dropout") \
    STRING(CHOICE, "loss-mean", 0, loss_mean, 10, ("sentence", "token", "token", "token", "token"), "token|sentence", "average the loss over tokens, or over sentence means") \
    STRING(TEXT, "licence", 0, licence, 31, RELA_SAME(NULL), "TEXT", "licence of the model, for its card ('rela info')") \
    STRING(TEXT, "description", 0, description, 32, RELA_SAME(NULL), "TEXT", "description of the model, for its card") \
    STRING(TEXT, "date", 0, date, 33, RELA_SAME(NULL), "DATE", "date of the model, YYYY-MM-DD, for its card [that of SOURCE_DATE_EPOCH, if set]") \
    NUMBER(INT, "gradient-slots", 0, gradient_slots, 79, false, (8, 8, 8, 4, 4), 1, RELA_SLOTS_MAX, "N", "parts of an update whose gradients are summed in a fixed order, so the result does not depend on the number of threads; more threads than slots are not used") \
    NUMBER(INT, "gradient-groups", 0, gradient_groups, 80, false, RELA_SAME(1), 1, RELA_SLOTS_MAX, "N", "groups of slots whose gradients are summed first; with at least as many groups as ranks, only sums of groups cross the network; divides the slots") \
    NUMBER(INT, "micro-batch", 0, micro_batch, 81, false, (0, 0, 0, 0, 4096), 0, 1 << 20, "N", "tokens per micro-batch, which one thread computes at once; 0: automatic") \
    NUMBER(INT, "max-skipped", 0, max_skipped, 82, false, RELA_SAME(10), 1, 1e9, "N", "maximum number of consecutive updates that may be skipped as not finite") \
    FLAG("cut-long", cut_long, 38, false, false, "cut sentences over --max-length instead of dropping the pair") \
    NUMBER(INT, "hold-out", 0, hold_out, 83, false, RELA_SAME(-1), 0, 1e6, "N", "lines of the training text held out for validation if no text is given for it, at most one in 50; 0: none [500]") \
    NUMBER(REAL, "max-ratio", 0, max_ratio, 85, false, RELA_SAME(0), 0, 1e6, "X", "drop pairs with one side more than X times as long as the other; 0: keep them") \
    NUMBER(INT, "data-memory", 0, data_memory, 86, false, RELA_SAME(1 << 30), 0, 1e13, "BYTES", "encoded text kept in memory; the rest goes to a scratch file") \
    NUMBER(INT, "report-every", 0, report_every, 87, false, (100, 100, 100, 50, 100), 1, 1e9, "N", "updates between reports") \
    NUMBER(INT, "valid-every", 0, valid_every, 88, false, (2500, 2500, 500, 200, 500), 1, 1e9, "N", "updates between validations") \
    NUMBER(INT, "save-every", 0, save_every, 89, false, (2500, 2500, 250, 100, 500), 1, 1e9, "N", "updates between checkpoints") \
    NUMBER(INT, "keep", 0, keep, 90, false, (5, 5, 10, 3, 3), 1, 10000, "N", "number of checkpoints to keep") \
    NUMBER(INT, "average", 0, average, 91, false, (5, 5, 10, 1, 1), 1, 10000, "N", "maximum number of last checkpoints to average for the final model; 1: no mean") \
    NUMBER(INT, "patience", 0, patience, 92, false, RELA_SAME(0), 0, 1e9, "N", "stop after this many validations without improvement; 0: never") \
    STRING(CHOICE, "best-by", 0, best_by, 11, ("bleu", "bleu", "bleu", "bleu", "loss"), "bleu|loss", "criterion for the best validation") \
    NUMBER(INT, "valid-beam", 0, valid_beam, 93, false, (4, 4, 5, 4, 0), 0, 64, "N", "beam size for validation; 0: no BLEU") \
    COMMON("seed", seed, 77, RELA_SAME(1), 0, 9007199254740991.0) \
    COMMON("threads", threads, 78, RELA_SAME(0), 0, 256)
/* clang-format on */

/* Sets numbers below zero: not given. */
void rela_settings_init(rela_train_options *o);
/* Gives what is not set the value of the preset, and checks ranges and choices. */
rela_status rela_settings_resolve(rela_train_options *o, rela_error *err);
/* Takes numbers and flags that come from a model from the settings of a run. */
void rela_settings_take(rela_train_options *o, const char *config);
/* Which of the values of a setting it is. */
rela_status rela_settings_choose(size_t *which, const char *key, const char *value,
                                 rela_error *err);
/* RELA_ARG if a text is not UTF-8. */
rela_status rela_settings_check_texts(const rela_train_options *o, rela_error *err);
/* All settings as YAML, which --config reads back. */
rela_status rela_train_options_dump(rela_buffer *out, const rela_train_options *o, rela_error *err);
/* That name, kept for ever; NULL if there is no such preset. */
const char *rela_train_preset(const char *name);
/* The value of a line "key: value" of settings, without quotes. */
bool rela_train_find_line(char *value, size_t size, const char *text, const char *key);

#endif
