/* SPDX-License-Identifier: MIT */
/* include/rela/translate.h - using a model: translate, score, inspect attention.
 *
 *   rela_runtime  threads and log            any number of threads at once
 *   rela_model    weights and text pipeline  read-only: any number of threads at once
 *   rela_session  caches and scratch         one thread at a time
 *   rela_shortlist  likely words             read-only: any number of threads at once
 *   rela_result, rela_scores                 owned by the caller; may outlive the session, but not
 *                                            the model, if tokens or links are read
 *
 * Raw text goes in and raw text comes out: a model includes its tokeniser, subword codes and
 * vocabularies. Texts are passed with their lengths, or NUL-terminated if the lengths are NULL.
 * A translation depends only on its sentence, the model and the options: not on the other sentences
 * of the call, their order, or the number of threads. */
#ifndef RELA_TRANSLATE_H
#define RELA_TRANSLATE_H

#include "rela/rela.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rela_runtime rela_runtime;
typedef struct rela_model rela_model;
typedef struct rela_session rela_session;
typedef struct rela_shortlist rela_shortlist;
typedef struct rela_result rela_result;
typedef struct rela_scores rela_scores;

/* ---- runtime ---- */

typedef struct rela_runtime_options {
    size_t struct_size; /* set by _init; lets the struct grow at its end */
    int32_t n_threads;  /* 0: every core this process may use */
    /* Receives log messages, such as that a sentence was cut; level 1: information, 2: warning. May
     * be called from any thread that uses the runtime. May be NULL. */
    void (*log)(void *ctx, int32_t level, const char *line);
    void *log_ctx;
} rela_runtime_options;

RELA_API void rela_runtime_options_init(rela_runtime_options *o, size_t size);
/* o may be NULL. */
RELA_API rela_status rela_runtime_create(rela_runtime **out, const rela_runtime_options *o,
                                         rela_error *err);
/* The last runtime ends the threads of the pool. NULL is fine. */
RELA_API void rela_runtime_destroy(rela_runtime *rt);

/* ---- model ---- */

typedef struct rela_model_options {
    size_t struct_size;
    /* Quantise matrices to int8. Such a model translates faster, in a quarter of the memory, but
     * can only translate: scoring and the attention of given pairs are RELA_FORMAT. Models stored
     * in int8 (RELA_MODEL_INT8) always behave like this. */
    bool int8;
    int32_t part; /* 1 or 2: which model of a pair (rela_model_pair_save); 0: not a pair */
} rela_model_options;

RELA_API void rela_model_options_init(rela_model_options *o, size_t size);

/* The whole file is checked before it is used. rt must outlive the model. */
RELA_API rela_status rela_model_load(rela_model **out, rela_runtime *rt, const char *path,
                                     rela_error *err);
/* o may be NULL. */
RELA_API rela_status rela_model_load_with(rela_model **out, rela_runtime *rt, const char *path,
                                          const rela_model_options *o, rela_error *err);
/* The same for the len bytes of a model file in memory, of any kind, which may be freed after the
 * call. name: of the model, in messages. o may be NULL. */
RELA_API rela_status rela_model_load_memory(rela_model **out, rela_runtime *rt, const char *name,
                                            const void *bytes, size_t len,
                                            const rela_model_options *o, rela_error *err);
RELA_API void rela_model_free(rela_model *m); /* NULL is fine */

/* Sizes of a model, as needed to read its attention. */
typedef struct rela_model_shape {
    size_t struct_size;
    int32_t enc_layers, dec_layers, heads, width, ffn;
    int32_t max_length; /* maximum tokens of a sentence, end symbol included */
    int32_t vocab_src, vocab_tgt;
    char attention[3][256]; /* kinds, as in training options: encoder, decoder, cross */
    int32_t sources;        /* usually 1; more for a multi-source model */
    int32_t stacks;         /* number of attention stacks, see rela_model_stack_name */
} rela_model_shape;

/* out->struct_size: sizeof(rela_model_shape) of the caller. */
RELA_API rela_status rela_model_shape_get(rela_model_shape *out, const rela_model *m,
                                          rela_error *err);

/* Name of an attention stack, which is one attention sublayer across all layers: "enc", "dec",
 * "cross"; with several sources "enc0", "enc1", "dec", "cross0" and so on. Lent by the model; NULL
 * past the last one. */
RELA_API const char *rela_model_stack_name(const rela_model *m, int32_t stack);

/* The language of a source, from 0, or, for the number of sources, of the target, like "en"; lent
 * by the model. NULL: not known, or there is no such side. */
RELA_API const char *rela_model_language(const rela_model *m, int32_t side);

/* ---- session ---- */

/* m must outlive the session. */
RELA_API rela_status rela_session_create(rela_session **out, const rela_model *m, rela_error *err);
/* An ensemble: probabilities are averaged. All models must have the same vocabularies and outlive
 * the session; text pipeline and attention are those of the first. */
RELA_API rela_status rela_session_create_ensemble(rela_session **out,
                                                  const rela_model *const *models, size_t n,
                                                  rela_error *err);
RELA_API void rela_session_destroy(rela_session *s); /* NULL is fine */

/* ---- shortlist: the target words allowed for a source sentence ---- */

/* Reads what rela_shortlist_learn (analyse.h) wrote for a model with the vocabularies of m. m may
 * be freed before the shortlist. A file for other vocabularies, or a damaged one, is RELA_FORMAT.
 */
RELA_API rela_status rela_shortlist_load(rela_shortlist **out, const rela_model *m,
                                         const char *path, rela_error *err);
RELA_API void rela_shortlist_free(rela_shortlist *l); /* NULL is fine */

/* ---- translation ---- */

enum { RELA_SEARCH_BEAM = 0, RELA_SEARCH_SAMPLE = 1 };
enum {
    RELA_PENALTY_GNMT = 0,  /* ((5 + length) / 6) ^ length_penalty */
    RELA_PENALTY_POWER = 1, /* length ^ length_penalty */
    RELA_PENALTY_NONE = 2
};
enum {
    RELA_UNK_ALLOW = 0,
    RELA_UNK_FORBID = 1,
    RELA_UNK_REPLACE = 2 /* by the source word with the most cross attention */
};
/* What to do with a sentence that is longer than the model allows; either way it is logged. */
enum {
    RELA_LONG_SPLIT = 0, /* translate it in parts, cut at punctuation or else at a word */
    RELA_LONG_CUT = 1    /* translate its beginning */
};

/* Whether texts are split into sentences (rela_split_next in text.h). The sentences of a text are
 * translated one by one and give one result: translations are joined with spaces (but not
 * after East Asian end punctuation), log-probabilities and scores are added, tokens include the end
 * symbol of each sentence, and translation k of the text joins translation k of each sentence. */
enum {
    RELA_SPLIT_NEVER = 0,
    RELA_SPLIT_AUTO = 1,  /* except for texts with a prefix and models with several sources */
    RELA_SPLIT_ALWAYS = 2 /* RELA_ARG in these cases */
};

/* What to do with a text whose logits are not finite, because activations of the model overflow:
 * fail with RELA_NOTFINITE and the number of the first such text, or mark it with an empty result
 * whose scores are NaN. */
enum { RELA_NOT_FINITE_FAIL = 0, RELA_NOT_FINITE_MARK = 1 };

typedef struct rela_translate_options {
    size_t struct_size;
    int32_t method;        /* RELA_SEARCH_... */
    int32_t beam_size;     /* 1..512, 1 is greedy; default 4 */
    int32_t n_best;        /* 1..beam_size; when sampling: number of independent samples */
    int32_t penalty;       /* RELA_PENALTY_... */
    double length_penalty; /* default 0.6 */
    /* Maximum length of a translation in tokens, end symbol included: max_factor * source tokens +
     * max_extra; defaults 1 and 50. */
    double max_factor;
    int32_t max_extra;
    int32_t unk;           /* RELA_UNK_... */
    int32_t long_sentence; /* RELA_LONG_... */
    double temperature;    /* for sampling */
    int32_t top_k;         /* sample among the k most probable tokens; 0: all */
    double top_p;          /* nucleus sampling: among the fewest tokens with this probability in
                            * total; 1: all */
    uint64_t seed;
    uint64_t first_line;       /* line number of the first text, from 0; sampling depends on it, and
                                * log messages show it, counted from 1 */
    int32_t batch_sentences;   /* sentences translated together */
    int32_t batch_tokens;      /* source tokens of these sentences */
    bool attention;            /* keep the cross attention of every token */
    const char *const *prefix; /* text that each translation must start with; NULL: none */
    const size_t *prefix_len;  /* NULL: NUL-terminated */
    /* Restricts a sentence to its shortlist, which is faster; probabilities are normalised over
     * these words only. Must match the vocabularies of the session. NULL: all words. */
    const rela_shortlist *shortlist;
    int32_t not_finite;       /* RELA_NOT_FINITE_... */
    int32_t source;           /* from 0: the source whose tokens and attention results refer to */
    int32_t split;            /* RELA_SPLIT_... */
    const char *src_language; /* for sentence splitting; NULL: that of the model */
    /* Called on the calling thread: at the start, about ten times a second, and at the end, with
     * the sentences done and their number (0: not known yet). A return value other than 0 stops
     * with RELA_CANCEL, soon and in the middle of a sentence. May be NULL. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
} rela_translate_options;

RELA_API void rela_translate_options_init(rela_translate_options *o, size_t size);

/* Translates n texts, usually sentences. With S sources texts and lens have n * S items, those of a
 * sentence side by side; with several sources, some may be empty, and one that is too long is cut.
 * o may be NULL. */
RELA_API rela_status rela_translate(rela_result **out, rela_session *s, const char *const *texts,
                                    const size_t *lens, size_t n, const rela_translate_options *o,
                                    rela_error *err);
RELA_API void rela_result_free(rela_result *r); /* NULL is fine */

/* i: index of the text; rank: 0 is the best of rela_result_n_best(r, i). All texts are
 * NUL-terminated; translations are lent by the result, tokens by the (first) model, which must not
 * be freed before they are read. Getters do not check their arguments. */
RELA_API size_t rela_result_count(const rela_result *r);
RELA_API size_t rela_result_n_best(const rela_result *r, size_t i);
/* false: the text was marked (RELA_NOT_FINITE_MARK); its only translation has no tokens. */
RELA_API bool rela_result_finite(const rela_result *r, size_t i);
RELA_API const char *rela_result_text(const rela_result *r, size_t i, size_t rank);
RELA_API size_t rela_result_text_len(const rela_result *r, size_t i, size_t rank);
/* score: the log-probability divided by the length penalty; logp: the log-probability itself. */
RELA_API double rela_result_score(const rela_result *r, size_t i, size_t rank);
RELA_API double rela_result_logp(const rela_result *r, size_t i, size_t rank);
/* Subword tokens of a translation; the last is the end symbol unless it was cut off. */
RELA_API size_t rela_result_n_tokens(const rela_result *r, size_t i, size_t rank);
RELA_API const char *rela_result_token(const rela_result *r, size_t i, size_t rank, size_t k);
RELA_API double rela_result_token_logp(const rela_result *r, size_t i, size_t rank, size_t k);
/* Subword tokens of the source as fed to the model, with the end symbol of each sentence. */
RELA_API size_t rela_result_n_source(const rela_result *r, size_t i);
RELA_API const char *rela_result_source_token(const rela_result *r, size_t i, size_t k);
/* Cross attention (tokens, dec_layers * heads, source tokens) of the query that predicts each
 * token; NULL if it was not requested, or the text was empty or translated in several sentences or
 * parts. */
RELA_API const float *rela_result_attention(const rela_result *r, size_t i, size_t rank);

/* Which heads links are computed from. */
typedef struct rela_link_options {
    size_t struct_size;
    int32_t layer; /* from 0; -1: mean of all */
    int32_t head;  /* from 0; -1: mean of all */
    bool soft;     /* all source words with weight, as i-j:weight; false: the one with the largest
                    * weight, as i-j */
    char reserved[7]; /* leave it 0 */
} rela_link_options;

RELA_API void rela_link_options_init(rela_link_options *o, size_t size);

/* Appends links between source and target words (i-j from 0, separated by spaces; words are those
 * of the tokenised text). A target word with all its weight on the end symbol, or with no weight,
 * gets no link, nor does any word of a sentence translated in parts. RELA_STATE without attention,
 * unless the text is empty. o may be NULL. The model must not have been freed. */
RELA_API rela_status rela_result_links(rela_buffer *out, const rela_result *r, size_t i,
                                       size_t rank, const rela_link_options *o, rela_error *err);

/* ---- scoring: how probable is a given translation? ---- */

/* Texts and their translations; lengths NULL: NUL-terminated. With several sources, src has those
 * of a sentence side by side, as in rela_translate. */
typedef struct rela_pairs {
    const char *const *src;
    const size_t *src_lens;
    const char *const *tgt;
    const size_t *tgt_lens;
    size_t n;
} rela_pairs;

typedef struct rela_score_options {
    size_t struct_size;
    int32_t batch_tokens;
    uint64_t first_line; /* line number of the first pair, from 0; log messages count from 1 */
    int32_t not_finite;  /* RELA_NOT_FINITE_...; a marked pair has a log-probability that is not
                          * finite */
    /* As in rela_translate_options; counts pairs. */
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *progress_ctx;
} rela_score_options;

RELA_API void rela_score_options_init(rela_score_options *o, size_t size);

/* Sentences longer than the model allows are cut and logged. o may be NULL. */
RELA_API rela_status rela_score(rela_scores **out, rela_session *s, const rela_pairs *pairs,
                                const rela_score_options *o, rela_error *err);
RELA_API void rela_scores_free(rela_scores *r); /* NULL is fine */

RELA_API size_t rela_scores_count(const rela_scores *r);
RELA_API double rela_scores_logp(const rela_scores *r, size_t i); /* natural; with end symbol */
RELA_API size_t rela_scores_n_tokens(const rela_scores *r, size_t i);
/* Lent by the (first) model of the session: valid until the model is freed. */
RELA_API const char *rela_scores_token(const rela_scores *r, size_t i, size_t k);
RELA_API double rela_scores_token_logp(const rela_scores *r, size_t i, size_t k);

/* ---- attention of given pairs, every layer and head ---- */

enum { RELA_ATTENTION_ENCODER = 0, RELA_ATTENTION_DECODER = 1, RELA_ATTENTION_CROSS = 2 };

/* One query of one head: the keys whose weight is not zero. n 0: the head attends to nothing. */
typedef struct rela_attention_row {
    size_t pair;                /* index of the pair */
    int32_t stack, layer, head; /* stack: from 0, for rela_model_stack_name; see type */
    uint32_t query, n_keys;     /* n_keys: keys that are not masked */
    const uint32_t *keys;       /* (n) ascending; lent during the call */
    const float *weights;       /* (n) */
    uint32_t n;
    int32_t type;   /* RELA_ATTENTION_...; the number of the stack only in models with one source */
    int32_t source; /* from 0: that of the keys; 0 for the decoder */
} rela_attention_row;

/* Calls on_row with every row of every pair, computed with teacher forcing, on the calling thread;
 * a return value other than 0 stops with RELA_CANCEL. Query q of decoder and cross attention
 * predicts target token q, the last one the end symbol; keys and queries of the source include its
 * end symbol. rela_score of the same pairs gives the tokens. A model loaded in int8 is RELA_FORMAT.
 * A pair for which activations of the model overflow fails with RELA_NOTFINITE, after its rows. */
RELA_API rela_status rela_attend(rela_session *s, const rela_pairs *pairs,
                                 int (*on_row)(void *ctx, const rela_attention_row *row), void *ctx,
                                 rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
