/* SPDX-License-Identifier: MIT */
/* include/rela/train.h - training: raw parallel text in, a model file out.
 *
 * One blocking call. Everything it writes goes into one directory, the run:
 *   config.yml           all settings, after defaults and preset are applied
 *   train.log            the log, for people
 *   train.jsonl          one record per interval: update, epoch, loss, nll, rate, speed ...
 *   valid.tsv            one row per validation
 *   checkpoints/N.rela   the last few, each complete: weights, optimiser, position in the data
 *   interim-N.rela       a checkpoint saved on demand; the next regular one replaces it
 *   best.rela            best by validation
 *   model.rela           the result: the last checkpoint, a mean of the last ones, or the best
 *   figures/             training curves
 * The same call on the same directory resumes, bit for bit as if it had never stopped. */
#ifndef RELA_TRAIN_H
#define RELA_TRAIN_H

#include "rela/rela.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Files with the same number of lines. */
typedef struct rela_train_text {
    const char *const *src; /* one for each source: as many as train_src, train_src_2 ... name */
    const char *tgt;
} rela_train_text;

/* _init sets numbers below zero and texts to NULL, which means the preset's value, and flags to
 * false. Text is taken as already tokenised, with words separated by blanks, unless tokenise is
 * set. A preset is a model size and a training recipe (docs/training.md); rela_train_options_show
 * lists its settings. */
typedef struct rela_train_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char
        *preset; /* "paper", "base", "tiny", "demo", "align"; NULL: by the size of the text */

    /* files */
    const char *train_src, *train_tgt;
    const char *valid_src, *valid_tgt; /* NULL: see hold_out */
    /* The run directory; created if missing. A run with checkpoints is resumed; settings that
     * differ from those of the run are then RELA_STATE, with both values in the message. */
    const char *out;
    const char *init; /* model whose weights, subwords and vocabularies to start from; or NULL */

    /* text */
    /* As rela_language_code of text.h takes them; NULL: what rela_language_of_file finds in the
     * name of the training text. If that is nothing either, tokenise and normalise are RELA_ARG. */
    const char *src_lang, *tgt_lang;
    bool tokenise, normalise, lowercase;
    int64_t merges;                    /* BPE merges to learn; 0: no BPE */
    const char *codes;                 /* file of BPE codes to use instead of learning them */
    const char *vocab_src, *vocab_tgt; /* files of vocabularies to use instead of building them */
    int64_t vocab_size;                /* maximum size of a vocabulary; 0: no limit */
    int64_t vocab_min;                 /* minimum frequency of a token */
    double bpe_dropout; /* probability of skipping a merge, sampled anew each epoch; 0: off */

    /* model */
    const char *attention; /* kind of encoder, decoder and cross attention */
    const char *attention_enc, *attention_dec, *attention_cross; /* kinds set separately */
    int64_t width, ffn, heads, enc_layers, dec_layers, max_length;
    const char *norm; /* "post", "pre" */
    const char *tie;  /* "none", "output", "all" */
    bool norm_per_head;
    double dropout, dropout_embed, dropout_attention, dropout_ffn;
    double ln_epsilon, attn_epsilon; /* of LayerNorm; of the norm on attention outputs */
    double attn_slope, attn_alpha, attn_fuse;
    int64_t attn_top, attn_window, attn_stride;

    /* optimisation */
    int64_t updates, epochs; /* whichever is reached first; epochs 0: no limit */
    int64_t batch_tokens;    /* target tokens per update */
    double lr, lr_start, lr_least;
    int64_t warmup;
    int64_t cool_down;    /* number of last updates over which the rate falls to lr_least */
    const char *schedule; /* "noam", "inverse-sqrt", "constant", "cosine", "linear" */
    double beta1, beta2, adam_epsilon, weight_decay, clip, label_smoothing;
    double r_drop; /* R-Drop: weight of the KL divergence between two dropout masks; 0: off */
    const char *loss_mean; /* "token", or "sentence": mean over sentences of their token means */
    int64_t seed;
    int64_t threads;     /* 0: all */
    int64_t micro_batch; /* tokens of a micro-batch; 0: automatic */
    int64_t max_skipped; /* updates in a row skipped as not finite before the run fails */

    /* corpus */
    bool cut_long;       /* cut sentences over max_length instead of dropping them */
    double max_ratio;    /* of lengths, longer to shorter; 0: any */
    int64_t data_memory; /* bytes of encoded text held in memory */

    /* intervals, in updates */
    int64_t report_every, valid_every, save_every;
    int64_t keep;        /* number of checkpoints to keep */
    int64_t average;     /* maximum number of last checkpoints averaged for the result */
    int64_t patience;    /* validations without improvement before stopping; 0: no early stopping */
    const char *best_by; /* "bleu", "loss" */
    int64_t valid_beam;  /* 0: no translation, so no BLEU */

    /* several sources: each sentence is translated from all of them; some may be empty */
    const char *train_src_2, *train_src_3, *train_src_4;
    const char *valid_src_2, *valid_src_3, *valid_src_4;
    const char *src_lang_2, *src_lang_3, *src_lang_4; /* as src_lang */
    bool share_encoders; /* one encoder for all of them, instead of one for each */
    const char *cross;   /* "parallel", "serial": how the decoder attends to the sources */

    /* further training text, read after the first */
    const rela_train_text *more;
    size_t n_more;

    /* Slots that an update is divided into; their gradients are added in a fixed order. The result
     * depends on the number of slots, but not on that of threads and ranks. No more threads than
     * slots, over all ranks, compute at a time. */
    int64_t gradient_slots;

    /* for the model card (rela_model_info); nothing else depends on them */
    const char *licence, *description, *date; /* NULL: none */

    /* The processes that mpirun or srun has started together (ranks) train one model. Each of them
     * makes the same call; rank 0 writes all files. It has no effect on a single process. If a rank
     * is lost the others end too, with a line on standard error: see docs/cluster.md. */
    bool mpi;

    /* Number of groups of neighbouring slots: gradients are added within each group first, then
     * across groups. Ranks that compute whole groups exchange one sum per group instead of one per
     * slot. Must divide gradient_slots; the result depends on it. */
    int64_t gradient_groups;

    /* Without validation text, lines of the training text at even distances are held out and used
     * instead, without BLEU: at most this number, and one in 50; none if that makes fewer than 20.
     * A resumed run keeps its lines, unless hold_out says otherwise. < 0: 500; 0 with validation
     * text and for alignment models. */
    int64_t hold_out;

    /* Seconds that the run may take in all, from the text to the model, with those used before it
     * was resumed; 0: no limit. The number of updates, the warm-up and the fall of the learning
     * rate follow from it; updates, if set, may end the run earlier. < 0: 0, or four hours if
     * neither preset nor updates are set. */
    int64_t max_time;

    /* Asked often from the beginning to the end of the call, also while text is read, within an
     * update and by other threads than the caller's: a value other than 0, which it must then go on
     * to return, ends the call with RELA_CANCEL within about a second. An update that has begun is
     * dropped; if others were done since the last checkpoint, one is saved first. A run that is
     * resumed repeats what was dropped, and ends as if it had never stopped. May be NULL. */
    int (*stop)(void *ctx);
    void *stop_ctx;
} rela_train_options;

typedef enum rela_train_event_kind {
    RELA_TRAIN_LOG,       /* a line of the log, in text */
    RELA_TRAIN_UPDATE,    /* after every update */
    RELA_TRAIN_REPORT,    /* statistics of the last interval */
    RELA_TRAIN_VALIDATED, /* results of a validation */
    RELA_TRAIN_SAVED,     /* a checkpoint was saved; text is its path */
    RELA_TRAIN_JOINED     /* training on several ranks: all but 0 get only this and updates */
} rela_train_event_kind;

/* Passed to a callback and lent during the call; members that do not apply to the kind are 0. */
typedef struct rela_train_event {
    int32_t kind; /* rela_train_event_kind */
    const char *text;
    uint64_t update, updates; /* the current one, and the total */
    uint64_t epoch;
    /* The training objective, with label smoothing and R-Drop (not at validation), averaged as
     * loss_mean says. NaN, like nll and grad_norm, if all updates of an interval were skipped. */
    double loss;
    double nll; /* negative log-likelihood, always averaged over target tokens */
    double rate, grad_norm, tokens_per_second, padding;
    double perplexity; /* exp(nll) */
    double bleu;       /* < 0: not measured */
    bool is_best;
    uint32_t rank, ranks; /* of this process, and how many there are */
} rela_train_event;

/* What a callback may return for RELA_TRAIN_UPDATE; other events ignore it. */
enum { RELA_TRAIN_GO_ON = 0, RELA_TRAIN_STOP = 1, RELA_TRAIN_SAVE = 2 };

/* Sets everything to the preset's values. size: sizeof(rela_train_options) of the caller. */
RELA_API void rela_train_options_init(rela_train_options *o, size_t size);

/* Appends all settings, including those of the preset, as YAML in the format of config.yml and
 * --config. */
RELA_API rela_status rela_train_options_show(rela_buffer *out, const rela_train_options *o,
                                             rela_error *err);

/* Trains, or resumes the run. Calls on_event, which may be NULL, on the calling thread. RELA_CANCEL
 * if on_event asked to stop: the run is saved and can be resumed. */
RELA_API rela_status rela_train(const rela_train_options *o,
                                int (*on_event)(void *ctx, const rela_train_event *e), void *ctx,
                                rela_error *err);

/* ---- alignment models, learned from the text that is to be aligned ---- */

typedef struct rela_align_learn_options {
    size_t struct_size;
    const char *src, *tgt;           /* files; read several times */
    const char *src_lang, *tgt_lang; /* as in rela_train_options, for tokenise */
    bool tokenise;                   /* false: words are separated by blanks */
    int64_t merges;                  /* BPE merges to learn; 0: by the size of the text */
    int64_t updates;                 /* of each direction; 0: by the size of the text */
    int64_t threads;                 /* 0: all */
    int64_t seed;
    /* Called after every update, direction 0 (src to tgt) first, then 1; a return value other than
     * 0 stops with RELA_CANCEL. May be NULL. */
    int (*progress)(void *ctx, int32_t direction, uint64_t update, uint64_t updates);
    void *progress_ctx;
} rela_align_learn_options;

RELA_API void rela_align_learn_options_init(rela_align_learn_options *o, size_t size);

/* Trains a model for each direction on the text and writes both into one file, a pair
 * (rela_model_pair_save) for rela_align: its models are `m` and `reverse` there. Works in a
 * temporary directory, which it removes. */
RELA_API rela_status rela_align_learn(const char *out, const rela_align_learn_options *o,
                                      rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
