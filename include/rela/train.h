/* SPDX-License-Identifier: MIT */
/* include/rela/train.h - training: raw parallel text in, a model file out.
 *
 * One blocking call. Everything it writes is below one directory, the run:
 *   config.yml           all settings, as they were resolved
 *   train.log            what a person reads
 *   train.jsonl          one record per interval: update, epoch, loss, nll, rate, speed ...
 *   valid.tsv            one row per validation
 *   checkpoints/N.rela   the last few, each complete: weights, optimiser, position in the data
 *   interim-N.rela       the same, saved on demand between two checkpoints; the next replaces it
 *   best.rela            best by validation
 *   model.rela           mean of the last checkpoints: the result
 *   figures/             curves
 * The same call on the same directory resumes, bit for bit as if it had never stopped. */
#ifndef RELA_TRAIN_H
#define RELA_TRAIN_H

#include "rela/rela.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Files with the same number of lines: one for each source of the model, and the target. */
typedef struct rela_train_text {
    const char *src[RELA_SOURCES_MAX];
    const char *tgt;
} rela_train_text;

/* After _init numbers are below zero and texts NULL: as the preset says; flags are false. Text is
 * used as it is, words between blanks, unless tokenise is set. A preset is a size of the model and
 * a recipe (docs/training.md); rela_train_options_show lists its settings. */
typedef struct rela_train_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    const char *preset; /* "paper", "base", "tiny", "demo", "align"; NULL: base */

    /* files */
    const char *train_src, *train_tgt;
    const char *valid_src, *valid_tgt; /* NULL: no validation */
    /* The run directory; made if need be. One that has checkpoints is resumed; other settings than
     * those of the run are then RELA_STATE with both values. */
    const char *out;
    const char *init; /* NULL, or a model whose weights, subwords and vocabularies to begin with */

    /* text */
    const char *src_lang, *tgt_lang; /* for the tokeniser: "en", "de", "fr", "cs", any other */
    bool tokenise, normalise, lowercase;
    int64_t merges;                    /* of the BPE that is learned; 0: none */
    const char *codes;                 /* BPE codes to use instead of learning them */
    const char *vocab_src, *vocab_tgt; /* vocabularies to use instead of making them */
    int64_t vocab_size;                /* largest vocabulary; 0: no limit */
    int64_t vocab_min;                 /* least frequency of a token */
    double bpe_dropout; /* probability of leaving a merge out, sampled anew each epoch; 0: none */

    /* model */
    const char *attention; /* kind for encoder, decoder and cross attention */
    const char *attention_enc, *attention_dec, *attention_cross; /* or for one */
    int64_t width, ffn, heads, enc_layers, dec_layers, max_length;
    const char *norm; /* "post", "pre" */
    const char *tie;  /* "none", "output", "all" */
    bool norm_per_head;
    double dropout, dropout_embed, dropout_attention, dropout_ffn;
    double ln_epsilon, attn_epsilon; /* of LayerNorm; of the norm of attention outputs */
    double attn_slope, attn_alpha, attn_fuse;
    int64_t attn_top, attn_window, attn_stride;

    /* optimisation */
    int64_t updates, epochs; /* whichever is reached first; epochs 0: no limit */
    int64_t batch_tokens;    /* target tokens of an update */
    double lr, lr_start, lr_least;
    int64_t warmup;
    int64_t cool_down;    /* updates before the last over which the rate falls to lr_least */
    const char *schedule; /* "noam", "inverse-sqrt", "constant", "cosine", "linear" */
    double beta1, beta2, adam_epsilon, weight_decay, clip, label_smoothing;
    double r_drop; /* R-Drop: weight of the KL divergence between two dropout masks; 0: off */
    const char *loss_mean; /* "token", or "sentence": of the means of their tokens */
    int64_t seed;
    int64_t threads;     /* 0: all */
    int64_t micro_batch; /* tokens of a micro-batch; 0: chosen */
    int64_t max_skipped;

    /* corpus */
    bool cut_long;       /* cut sentences over max_length instead of dropping them */
    double max_ratio;    /* of lengths, longer to shorter; 0: any */
    int64_t data_memory; /* bytes of encoded text held in memory */

    /* intervals, in updates */
    int64_t report_every, valid_every, save_every;
    int64_t keep;        /* checkpoints */
    int64_t average;     /* number of last checkpoints whose mean is the result */
    int64_t patience;    /* validations without improvement; 0: no early stopping */
    const char *best_by; /* "bleu", "loss" */
    int64_t valid_beam;  /* 0: no translation, so no BLEU */

    /* several sources: each sentence is translated from all of them; some may be empty */
    const char *train_src_2, *train_src_3, *train_src_4;
    const char *valid_src_2, *valid_src_3, *valid_src_4;
    const char *src_lang_2, *src_lang_3, *src_lang_4; /* NULL: as src_lang */
    bool share_encoders; /* one encoder for all of them, instead of one for each */
    const char *cross;   /* "parallel", "serial": attention of the decoder to them */

    /* further training text, read after the first */
    const rela_train_text *more;
    size_t n_more;

    /* Parts of an update whose gradients are added in a fixed order: the result depends on it, but
     * not on the number of threads and ranks; no more threads than that compute. */
    int64_t gradient_slots;

    /* for the card of the model (rela_model_info); nothing else depends on them */
    const char *licence, *description, *date; /* NULL: none */

    /* The processes that mpirun or srun has started together (ranks) train one model. Each of them
     * makes the same call; rank 0 writes all files. Alone, a process trains as without it. A rank
     * that is lost ends the others, with a line on standard error: see docs/cluster.md. */
    bool mpi;

    /* Gradients of neighbouring slots are added in so many groups first, then the groups. Ranks
     * that compute whole groups exchange one sum for each instead of every slot. Divides
     * gradient_slots; the result depends on it. */
    int64_t gradient_groups;
} rela_train_options;

typedef enum rela_train_event_kind {
    RELA_TRAIN_LOG,       /* text */
    RELA_TRAIN_UPDATE,    /* after every update: cheap to ignore */
    RELA_TRAIN_REPORT,    /* figures of the last interval */
    RELA_TRAIN_VALIDATED, /* figures of a validation */
    RELA_TRAIN_SAVED,     /* text: the path */
    RELA_TRAIN_JOINED     /* one of several ranks: all but 0 get this event and updates only */
} rela_train_event_kind;

/* What a callback gets; members that do not belong to the kind are 0. Lent during the call. */
typedef struct rela_train_event {
    int32_t kind; /* rela_train_event_kind */
    const char *text;
    uint64_t update, updates; /* now, and in all */
    uint64_t epoch;
    /* What is minimised: label smoothing and R-Drop (not at validation) included, mean as loss_mean
     * says. NaN, as nll and grad_norm, if all updates of an interval were skipped. */
    double loss;
    double nll; /* plain negative log-likelihood, mean of target tokens, whatever loss_mean says */
    double rate, grad_norm, tokens_per_second, padding;
    double perplexity; /* exp(nll) */
    double bleu;       /* < 0: not measured */
    bool is_best;
    uint32_t rank, ranks; /* which process this is, of how many */
} rela_train_event;

/* What a callback may return for RELA_TRAIN_UPDATE; other events ignore it. */
enum { RELA_TRAIN_GO_ON = 0, RELA_TRAIN_STOP = 1, RELA_TRAIN_SAVE = 2 };

/* Everything as the preset says. size: sizeof(rela_train_options) of the caller. */
RELA_API void rela_train_options_init(rela_train_options *o, size_t size);

/* Appends all settings, those of the preset included, as YAML that --config and config.yml hold. */
RELA_API rela_status rela_train_options_show(rela_buffer *out, const rela_train_options *o,
                                             rela_error *err);

/* Trains, or goes on where the run stopped. Calls on_event, which may be NULL, on the calling
 * thread. RELA_CANCEL if it asked to stop: the run is saved and can be resumed. */
RELA_API rela_status rela_train(const rela_train_options *o,
                                int (*on_event)(void *ctx, const rela_train_event *e), void *ctx,
                                rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
