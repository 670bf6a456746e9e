/* SPDX-License-Identifier: MIT */
/* include/rela/translate.h - using a model: translate, score, look at its attention.
 *
 *   rela_runtime  threads and log            any number of threads at once
 *   rela_model    weights and text pipeline  read-only: any number of threads at once
 *   rela_session  caches and scratch         one thread at a time
 *   rela_shortlist  likely words             read-only: any number of threads at once
 *   rela_result, rela_scores                 owned by the caller, independent of the session; they
 *                                            need the model for tokens and links, which end with it
 *
 * Raw text goes in and raw text comes out: a model carries its tokeniser, subword codes and
 * vocabularies. Texts are given with their lengths, or, with NULL for the lengths, NUL-terminated.
 * A translation depends on its sentence, the model and the options alone: neither on the sentences
 * beside it, nor on their order, nor on the number of threads. */
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
    /* Notices such as a sentence that had to be cut; level 1: information, 2: warning. May be
     * called from any thread that uses the runtime. May be NULL. */
    void (*log)(void *ctx, int32_t level, const char *line);
    void *log_ctx;
} rela_runtime_options;

RELA_API void rela_runtime_options_init(rela_runtime_options *o, size_t size);
/* o may be NULL. */
RELA_API rela_status rela_runtime_create(rela_runtime **out, const rela_runtime_options *o,
                                         rela_error *err);
RELA_API void rela_runtime_destroy(rela_runtime *rt); /* NULL is fine */

/* ---- model ---- */

typedef struct rela_model_options {
    size_t struct_size;
    /* Keep matrices in int8. Such a model translates faster in a quarter of the memory,
     * and does nothing else: scores and the attention of given pairs are RELA_FORMAT. Stored models
     * in int8 (RELA_MODEL_INT8) are always so. */
    bool int8;
    int32_t part; /* 1 or 2: that model of a pair (rela_model_pair_save); 0: a file of one model */
} rela_model_options;

RELA_API void rela_model_options_init(rela_model_options *o, size_t size);

/* The file is checked as a whole before it is used. rt must outlive the model. */
RELA_API rela_status rela_model_load(rela_model **out, rela_runtime *rt, const char *path,
                                     rela_error *err);
/* o may be NULL. */
RELA_API rela_status rela_model_load_with(rela_model **out, rela_runtime *rt, const char *path,
                                          const rela_model_options *o, rela_error *err);
RELA_API void rela_model_free(rela_model *m); /* NULL is fine */

/* Sizes, for those who read attention. */
typedef struct rela_model_shape {
    size_t struct_size;
    int32_t enc_layers, dec_layers, heads, width, ffn;
    int32_t max_length; /* tokens of a sentence, its end included */
    int32_t vocab_src, vocab_tgt;
    char attention[3][256]; /* kinds, as in training options: encoder, decoder, cross */
    int32_t sources;        /* texts that a sentence is translated from: usually 1 */
    int32_t stacks;         /* attention stacks: encoder, decoder, cross (of each source) */
} rela_model_shape;

/* out->struct_size: sizeof(rela_model_shape) of the caller. */
RELA_API rela_status rela_model_shape_get(rela_model_shape *out, const rela_model *m,
                                          rela_error *err);

/* Name of an attention stack, that is, the same attention in all layers: "enc", "dec", "cross";
 * with several sources "enc0", "enc1", "dec", "cross0" and so on. Lent by the model; NULL past the
 * last. */
RELA_API const char *rela_model_stack_name(const rela_model *m, int32_t stack);

/* ---- session ---- */

/* m must outlive the session. */
RELA_API rela_status rela_session_create(rela_session **out, const rela_model *m, rela_error *err);
/* Several models whose probabilities are averaged; they must have the same vocabularies. The first
 * one's text pipeline is used, and its attention shown. */
RELA_API rela_status rela_session_create_ensemble(rela_session **out,
                                                  const rela_model *const *models, size_t n,
                                                  rela_error *err);
RELA_API void rela_session_destroy(rela_session *s); /* NULL is fine */

/* ---- shortlist: which words a sentence may be translated with ---- */

/* Reads what rela_shortlist_learn (analyse.h) wrote for a model with the vocabularies of m, which
 * need not live on. A file for another model, or a damaged one, is RELA_FORMAT. */
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
    RELA_UNK_REPLACE = 2 /* by the source word with most cross attention */
};
/* What to do with a sentence that is longer than the model allows; either way it is logged. */
enum {
    RELA_LONG_SPLIT = 0, /* translate it in parts, cut at punctuation or else at a word */
    RELA_LONG_CUT = 1    /* translate its beginning */
};

/* Whether a text is one sentence, or may hold several (rela_split_next in text.h), which are
 * translated one by one and give one result: translations are joined with blanks (with nothing
 * after East Asian end marks), log-probabilities and scores are sums, tokens have the end symbol of
 * each sentence, and translation k consists of translation k of each. */
enum {
    RELA_SPLIT_NEVER = 0,
    RELA_SPLIT_AUTO = 1,  /* not texts with a prefix, and not for models with several sources */
    RELA_SPLIT_ALWAYS = 2 /* RELA_ARG in these cases */
};

/* What to do with a text for which numbers of the model overflow, so that its logits are not
 * finite: end the call with RELA_NOTFINITE and the number of the first such text, or give it an
 * empty result with scores that are NaN. */
enum { RELA_NOT_FINITE_FAIL = 0, RELA_NOT_FINITE_MARK = 1 };

typedef struct rela_translate_options {
    size_t struct_size;
    int32_t method;        /* RELA_SEARCH_... */
    int32_t beam_size;     /* 1..512; 4; 1 is greedy */
    int32_t n_best;        /* 1..beam_size; sampling: independent samples */
    int32_t penalty;       /* RELA_PENALTY_... */
    double length_penalty; /* 0.6 */
    /* Longest translation in tokens, end included: factor * source + extra; 1 and 50. */
    double max_factor;
    int32_t max_extra;
    int32_t unk;           /* RELA_UNK_... */
    int32_t long_sentence; /* RELA_LONG_... */
    double temperature;    /* sampling */
    int32_t top_k;         /* sampling: among the k most probable; 0: all */
    double top_p;          /* sampling: among the fewest that hold so much probability; 1: all */
    uint64_t seed;
    uint64_t first_line;     /* line of the first text, from 0: random numbers depend on it, and
                              * notices, which count lines from 1 */
    int32_t batch_sentences; /* translated together, by all threads; tokens of their sources */
    int32_t batch_tokens;
    bool attention;            /* keep the cross attention of every token */
    const char *const *prefix; /* what each translation must begin with; NULL: nothing */
    const size_t *prefix_len;  /* NULL: NUL-terminated */
    /* Words come from the list of their sentence only, which is faster; probabilities are those
     * among these words. Made for the models of the session. NULL: all words. */
    const rela_shortlist *shortlist;
    int32_t not_finite;       /* RELA_NOT_FINITE_... */
    int32_t source;           /* from 0: whose tokens, attention and words results are about */
    int32_t split;            /* RELA_SPLIT_... */
    const char *src_language; /* for RELA_SPLIT_...; NULL: that of the model */
} rela_translate_options;

RELA_API void rela_translate_options_init(rela_translate_options *o, size_t size);

/* Translates n texts, usually sentences. texts has one of each, or as many as the model has
 * sources, those of a sentence side by side; of several, some may be empty, and one that is too
 * long is cut. o may be NULL. */
RELA_API rela_status rela_translate(rela_result **out, rela_session *s, const char *const *texts,
                                    const size_t *lens, size_t n, const rela_translate_options *o,
                                    rela_error *err);
RELA_API void rela_result_free(rela_result *r); /* NULL is fine */

/* i: number of the text; rank: 0 is the best of rela_result_n_best(r, i). All texts are
 * NUL-terminated; translations are lent by the result, tokens by the (first) model, which must not
 * be freed before they are read. Getters do not check their arguments. */
RELA_API size_t rela_result_count(const rela_result *r);
RELA_API size_t rela_result_n_best(const rela_result *r, size_t i);
/* false: the text was marked (RELA_NOT_FINITE_MARK); its only translation has no tokens. */
RELA_API bool rela_result_finite(const rela_result *r, size_t i);
RELA_API const char *rela_result_text(const rela_result *r, size_t i, size_t rank);
RELA_API size_t rela_result_text_len(const rela_result *r, size_t i, size_t rank);
/* score: the log-probability divided by the penalty of its length; logp: as it is. */
RELA_API double rela_result_score(const rela_result *r, size_t i, size_t rank);
RELA_API double rela_result_logp(const rela_result *r, size_t i, size_t rank);
/* Subword tokens of a translation; the last is the end symbol unless it was cut off. */
RELA_API size_t rela_result_n_tokens(const rela_result *r, size_t i, size_t rank);
RELA_API const char *rela_result_token(const rela_result *r, size_t i, size_t rank, size_t k);
RELA_API double rela_result_token_logp(const rela_result *r, size_t i, size_t rank, size_t k);
/* Subword tokens of the source as the model saw it, the end symbol last (of each sentence). */
RELA_API size_t rela_result_n_source(const rela_result *r, size_t i);
RELA_API const char *rela_result_source_token(const rela_result *r, size_t i, size_t k);
/* Cross attention (tokens, dec_layers * heads, source tokens) while each token was predicted; NULL
 * if it was not asked for, or the text was empty or translated in several sentences or parts. */
RELA_API const float *rela_result_attention(const rela_result *r, size_t i, size_t rank);

/* Which heads links are taken from. */
typedef struct rela_link_options {
    size_t struct_size;
    int32_t layer; /* from 0; -1: mean of all */
    int32_t head;  /* from 0; -1: mean of all */
    bool soft;     /* all words with weight, as i-j:weight; false: the heaviest, as i-j */
} rela_link_options;

RELA_API void rela_link_options_init(rela_link_options *o, size_t size);

/* Appends links between source and target words (blank-separated i-j, from 0; words are those of
 * the tokenised text). A target word whose weight is all on the end symbol, or that has none, gets
 * no link, nor do those of a sentence translated in parts. RELA_STATE without attention, unless the
 * text is empty. o may be
 * NULL. The model must still be there. */
RELA_API rela_status rela_result_links(rela_buffer *out, const rela_result *r, size_t i,
                                       size_t rank, const rela_link_options *o, rela_error *err);

/* ---- scoring: how probable is a given translation? ---- */

/* Texts and their translations; lengths NULL: NUL-terminated. src has as many texts of each
 * sentence as the model has sources, as rela_translate does. */
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
    uint64_t first_line; /* line of the first pair, from 0, for notices, which count from 1 */
    int32_t not_finite;  /* RELA_NOT_FINITE_...; marked: a log-probability that is not finite */
} rela_score_options;

RELA_API void rela_score_options_init(rela_score_options *o, size_t size);

/* Sentences longer than the model allows are cut and logged. o may be NULL. */
RELA_API rela_status rela_score(rela_scores **out, rela_session *s, const rela_pairs *pairs,
                                const rela_score_options *o, rela_error *err);
RELA_API void rela_scores_free(rela_scores *r); /* NULL is fine */

RELA_API size_t rela_scores_count(const rela_scores *r);
RELA_API double rela_scores_logp(const rela_scores *r, size_t i); /* natural, end included */
RELA_API size_t rela_scores_n_tokens(const rela_scores *r, size_t i);
/* Lent by the (first) model of the session: it ends with that, not with the scores. */
RELA_API const char *rela_scores_token(const rela_scores *r, size_t i, size_t k);
RELA_API double rela_scores_token_logp(const rela_scores *r, size_t i, size_t k);

/* ---- attention of given pairs, every layer and head ---- */

enum { RELA_ATTENTION_ENCODER = 0, RELA_ATTENTION_DECODER = 1, RELA_ATTENTION_CROSS = 2 };

/* One query of one head: the keys with weight. n 0: the head attends to nothing. */
typedef struct rela_attention_row {
    size_t pair;                /* number of the pair */
    int32_t stack, layer, head; /* stack: RELA_ATTENTION_..., or rela_model_stack_name */
    uint32_t query, n_keys;     /* n_keys: how many it could have attended to */
    const uint32_t *keys;       /* (n) rising; lent during the call */
    const float *weights;       /* (n) */
    uint32_t n;
} rela_attention_row;

/* Calls on_row with every row of every pair, teacher forced, on the calling thread; a return value
 * other than 0 stops it with RELA_CANCEL. Query q of decoder and cross attention predicts target
 * token q, the last one the end symbol; keys and queries of the source include its end symbol. A
 * model loaded with int8 is RELA_FORMAT. Tokens: rela_scores of the same pairs. A pair for which
 * numbers of the model overflow ends it with RELA_NOTFINITE, after its rows. */
RELA_API rela_status rela_attend(rela_session *s, const rela_pairs *pairs,
                                 int (*on_row)(void *ctx, const rela_attention_row *row), void *ctx,
                                 rela_error *err);

#ifdef __cplusplus
}
#endif
#endif
