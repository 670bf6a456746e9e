/* SPDX-License-Identifier: MIT */
/* src/model/config.c - see config.h. */
#include "model/config.h"

#include <string.h>

/* Below this fp32 arithmetic gives infinities. */
static const double EPS_MIN = 1e-30;

static rela_status check_size(const char *what, size_t v, size_t max, rela_error *err);
static rela_status check_length(size_t v, rela_error *err);
static rela_status check_share(const char *what, double v, rela_error *err);
static rela_status check_kinds(const rela_config *c, rela_error *err);
static rela_status check_aligner(const rela_config *c, rela_error *err);

rela_status rela_config_check(const rela_config *c, rela_error *err)
{
    rela_status st = check_size("width", c->d, RELA_D_MAX, err);
    st = st ? st : check_size("ffn", c->ffn, RELA_FFN_MAX, err);
    st = st ? st : check_size("heads", c->heads, RELA_HEADS_MAX, err);
    st = st ? st : check_size("encoder layers", c->enc_layers, RELA_LAYERS_MAX, err);
    st = st ? st : check_size("decoder layers", c->dec_layers, RELA_LAYERS_MAX, err);
    st = st ? st : check_size("number of sources", c->sources, RELA_SOURCES_MAX, err);
    st = st ? st : check_size("source vocabulary", c->vocab_src, RELA_VOCAB_MAX, err);
    st = st ? st : check_size("target vocabulary", c->vocab_tgt, RELA_VOCAB_MAX, err);
    st = st ? st : check_length(c->max_len, err);
    st = st ? st : check_share("embedding dropout", c->drop_embed, err);
    st = st ? st : check_share("residual dropout", c->drop_residual, err);
    st = st ? st : check_share("attention dropout", c->drop_attn, err);
    st = st ? st : check_share("feed-forward dropout", c->drop_ffn, err);
    st = st ? st : check_kinds(c, err);
    if (st != RELA_OK)
        return st;
    if (c->d % c->heads != 0)
        return rela_fail(err, RELA_ARG, "width %zu is not a multiple of %zu heads", c->d, c->heads);
    if (c->d % 2 != 0)
        return rela_fail(err, RELA_ARG, "width %zu is odd; positions need an even one", c->d);
    if (c->tie == RELA_TIE_ALL && c->vocab_src != c->vocab_tgt)
        return rela_fail(err, RELA_ARG,
                         "source and target share one matrix, but have %zu and %zu symbols",
                         c->vocab_src, c->vocab_tgt);
    if (!(c->eps >= EPS_MIN && c->eps < 1) || !(c->attn_eps >= EPS_MIN && c->attn_eps < 1))
        return rela_fail(err, RELA_ARG, "the epsilon of a norm is not between %g and 1", EPS_MIN);
    return c->task == RELA_TASK_ALIGN ? check_aligner(c, err) : RELA_OK;
}

rela_status rela_config_translates(const rela_config *c, rela_error *err)
{
    if (c->task == RELA_TASK_TRANSLATE)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "a model for alignment can only link words");
}

const char *rela_attn_type_name(rela_attn_type t)
{
    static const char *const NAMES[] = { "enc", "dec", "cross" };
    return NAMES[t];
}

static rela_status check_size(const char *what, size_t v, size_t max, rela_error *err)
{
    if (v >= 1 && v <= max)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is %zu; expected 1..%zu", what, v, max);
}

static rela_status check_length(size_t v, rela_error *err)
{
    if (v >= RELA_LEN_MIN && v <= RELA_LEN_MAX)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "maximum length is %zu; expected %d..%d", v, RELA_LEN_MIN,
                     RELA_LEN_MAX);
}

static rela_status check_share(const char *what, double v, rela_error *err)
{
    if (v >= 0 && v < 1)
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is %g; expected from 0 to below 1", what, v);
}

rela_status rela_config_attend(rela_config *c, const char *text, rela_error *err)
{
    rela_status st = RELA_OK;
    for (int i = 0; i < RELA_ATTN_N_TYPES && st == RELA_OK; i++)
        st = rela_attn_spec_parse(&c->attention[i], text, err);
    return st;
}

size_t rela_config_layers(const rela_config *c, rela_attn_type t)
{
    return t == RELA_ATTN_ENC ? c->enc_layers : c->dec_layers;
}

const rela_attn_kind *rela_config_kind(const rela_config *c, rela_attn_type t, size_t layer,
                                       size_t head)
{
    rela_attn_group groups[RELA_GROUPS_MAX];
    const size_t n = rela_attn_spec_groups(groups, &c->attention[t], layer, c->heads);
    size_t g = 0;
    while (g + 1 < n && head >= groups[g + 1].first)
        g++;
    return groups[g].kind;
}

rela_status rela_config_check_shown(const rela_config *c, uint32_t types, rela_error *err)
{
    for (int t = 0; t < RELA_ATTN_N_TYPES; t++)
        for (size_t i = 0; types >> t & 1 && i < rela_config_layers(c, t) * c->heads; i++) {
            const rela_attn_kind *kind = rela_config_kind(c, t, i / c->heads, i % c->heads);
            if (!rela_attn_shows(kind))
                return rela_fail(err, RELA_ARG, "attention %s forms no weights that could be shown",
                                 kind->name);
        }
    return RELA_OK;
}

static rela_status check_kinds(const rela_config *c, rela_error *err)
{
    rela_status st = RELA_OK;
    for (int i = 0; i < RELA_ATTN_N_TYPES && st == RELA_OK; i++) {
        const rela_attn_type t = (rela_attn_type)i;
        st = rela_attn_spec_check(&c->attention[i], rela_config_layers(c, t), c->heads, err);
        if (st == RELA_ARG)
            st = rela_fail_in(err, st, rela_attn_type_name(t));
    }
    return st;
}

/* An alignment model has no layers to choose from, and of a kind it uses only how scores become
 * weights. */
static rela_status check_aligner(const rela_config *c, rela_error *err)
{
    if (c->heads != 1 || c->enc_layers != 1 || c->dec_layers != 1)
        return rela_fail(err, RELA_ARG, "a model for alignment has one layer and one head");
    if (c->sources != 1)
        return rela_fail(err, RELA_ARG, "a model for alignment has one source");
    if (c->tie != RELA_TIE_OUT)
        return rela_fail(err, RELA_ARG, "a model for alignment ties target and output");
    const rela_attn_kind *kind = rela_config_kind(c, RELA_ATTN_CROSS, 0, 0);
    const bool negative = !(kind->flags & (ATTN_SPARSE | ATTN_SUM_ONE));
    if (kind->params || kind->method || kind->pattern || negative)
        return rela_fail(err, RELA_ARG, "attention %s cannot be used in a model for alignment",
                         kind->name);
    return RELA_OK;
}

const char *rela_config_differs(const rela_config *a, const rela_config *b)
{
    const struct {
        const char *name;
        size_t a, b;
    } sizes[] = { { "task", (size_t)a->task, (size_t)b->task },
                  { "width", a->d, b->d },
                  { "width of feed-forward layers", a->ffn, b->ffn },
                  { "number of heads", a->heads, b->heads },
                  { "number of encoder layers", a->enc_layers, b->enc_layers },
                  { "number of decoder layers", a->dec_layers, b->dec_layers },
                  { "number of sources", a->sources, b->sources },
                  { "sharing of encoders", a->share_encoders, b->share_encoders },
                  { "order of cross attention", a->serial_cross, b->serial_cross },
                  { "place of the norm", a->pre_norm, b->pre_norm },
                  { "norm of heads", a->norm_per_head, b->norm_per_head },
                  { "tie of embeddings", (size_t)a->tie, (size_t)b->tie } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (sizes[i].a != sizes[i].b)
            return sizes[i].name;
    for (int i = 0; i < RELA_ATTN_N_TYPES; i++)
        if (strcmp(a->attention[i].text, b->attention[i].text) != 0)
            return "attention";
    return NULL;
}
