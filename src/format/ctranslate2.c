/* SPDX-License-Identifier: MIT */
/* src/format/ctranslate2.c - a model directory of CTranslate2: export_formats.h.
 *
 * Its Transformer is the same as ours except for the embeddings: a row times sqrt(d) plus a row of
 * a position table, no learned bias, and a start symbol. Our bias is added to the position tables,
 * except to row 0 of the decoder's. The flag start_from_zero_embedding makes that row the only
 * input of the first step, so any symbol can be the start; <pad>, which must never be produced, is
 * used. An output bias, which our models do not have, keeps <pad> from being chosen. */
#include "format/export_formats.h"

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "format/ctranslate2_file.h"
#include "rela/vocab.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define CONFIG  "config.json"
#define WEIGHTS "model.bin"

/* Every file of a conversion. */
static const char *const NAMES[] = {
    CONFIG,         "shared_vocabulary.json", "source_vocabulary.json",
    WEIGHTS,        "target_vocabulary.json", "bpe.codes",
    "pipeline.json"
};

enum { N_NAMES = sizeof NAMES / sizeof NAMES[0], CONFIG_MAX = 1 << 16 };

enum { NEVER = -1000000000 }; /* logit of a symbol that must not be chosen */

/* The list of variables; the first failure is kept. */
typedef struct list {
    const rela_net *net;
    rela_ct2_variable *items;
    size_t n, cap;
    rela_status status;
    rela_error *err;
    const char *stack;                   /* "encoder" or "decoder" */
    real *enc_positions, *dec_positions; /* (max_len, d) */
    real *out_bias;                      /* (vocab_tgt) */
} list;

static rela_status check_model(const rela_net *net, const rela_extras *extras, rela_error *err);
static rela_status check_own(const char *dir, rela_error *err);
static rela_status clear_dir(rela_file_set *set, const char *dir, rela_error *err);
static rela_status write_texts(rela_file_set *set, const char *dir, const rela_extras *extras,
                               rela_error *err);
static rela_status write_vocabulary(rela_file_set *set, const char *dir, const char *name,
                                    const rela_section *s, rela_error *err);
static rela_status write_config(rela_file_set *set, const char *dir, const rela_config *c,
                                rela_error *err);
static rela_status write_weights(rela_file_set *set, const char *dir, const rela_net *net,
                                 rela_error *err);
static rela_status make_tables(list *l, rela_error *err);
static void list_all(list *l);

rela_status rela_ctranslate2_write(const char *dir, const rela_net *net, const rela_extras *extras,
                                   rela_error *err)
{
    rela_file_set *set = NULL;
    rela_status st = check_model(net, extras, err);
    st = st ? st : rela_dir_make(dir, err);
    st = st ? st : rela_file_set_create(&set, err);
    st = st ? st : check_own(dir, err);
    st = st ? st : write_config(set, dir, &net->config, err);
    st = st ? st : write_texts(set, dir, extras, err);
    st = st ? st : clear_dir(set, dir, err);
    st = st ? st : write_weights(set, dir, net, err);
    return rela_file_set_finish(set, st, err);
}

static rela_status check_model(const rela_net *net, const rela_extras *extras, rela_error *err)
{
    const rela_config *c = &net->config;
    rela_status st = rela_config_translates(c, err);
    st = st ? st : rela_host_check(err);
    if (st == RELA_OK && c->sources > 1)
        st = rela_fail(err, RELA_UNSUP, "CTranslate2 has no models with several sources");
    for (int t = 0; t < RELA_ATTN_N_TYPES && st == RELA_OK; t++)
        if (strcmp(c->attention[t].text, "softmax") != 0)
            st = rela_fail(err, RELA_UNSUP,
                           "CTranslate2 has no %s attention (place: %s); expected softmax",
                           c->attention[t].text, rela_attn_type_name((rela_attn_type)t));
    if (st == RELA_OK && (!rela_extras_get(extras, RELA_SECTION_VOCAB_SRC) ||
                          !rela_extras_get(extras, RELA_SECTION_VOCAB_TGT)))
        st = rela_fail(err, RELA_UNSUP, "the model has no vocabularies; CTranslate2 needs them");
    return st;
}

/* ---- what was there before ---- */

/* Files of an earlier conversion: the configuration says that a sentence starts with <pad>, as no
 * other converter does. An interrupted one may have no weights. */
static rela_status check_own(const char *dir, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    rela_status st = rela_buffer_printf(&path, err, "%s/" CONFIG, dir);
    const bool own = st == RELA_OK &&
                     rela_file_read(&text, &len, path.data, CONFIG_MAX, NULL) == RELA_OK &&
                     strstr(text, "\"decoder_start_token\": \"<pad>\"");
    for (size_t i = 0; i < N_NAMES && st == RELA_OK && !own; i++) {
        rela_buffer_clear(&path);
        st = rela_buffer_printf(&path, err, "%s/%s", dir, NAMES[i]);
        if (st == RELA_OK && rela_name_taken(path.data))
            st = rela_fail(err, RELA_STATE,
                           "%s is there already, and not from 'rela convert'; choose another "
                           "directory",
                           path.data);
    }
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

/* CTranslate2 would take a vocabulary of the model that was there before for one of this model. */
static rela_status clear_dir(rela_file_set *set, const char *dir, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < N_NAMES && st == RELA_OK; i++) {
        rela_buffer_clear(&path);
        st = rela_buffer_printf(&path, err, "%s/%s", dir, NAMES[i]);
        if (st == RELA_OK && strcmp(NAMES[i], WEIGHTS) != 0)
            st = rela_file_set_remove(set, path.data, err);
    }
    rela_buffer_free(&path);
    return st;
}

/* ---- texts ---- */

static rela_status write_texts(rela_file_set *set, const char *dir, const rela_extras *extras,
                               rela_error *err)
{
    const rela_section *src = rela_extras_get(extras, RELA_SECTION_VOCAB_SRC);
    const rela_section *tgt = rela_extras_get(extras, RELA_SECTION_VOCAB_TGT);
    const rela_section *codes = rela_extras_get(extras, RELA_SECTION_BPE);
    const rela_section *pipeline = rela_extras_get(extras, RELA_SECTION_PIPELINE);
    const bool shared = src->len == tgt->len && memcmp(src->text, tgt->text, src->len) == 0;
    rela_status st = RELA_OK;
    if (shared)
        st = write_vocabulary(set, dir, "shared_vocabulary.json", src, err);
    else {
        st = write_vocabulary(set, dir, "source_vocabulary.json", src, err);
        st = st ? st : write_vocabulary(set, dir, "target_vocabulary.json", tgt, err);
    }
    if (st == RELA_OK && codes)
        st = rela_form_file(set, dir, "bpe.codes", codes->text, codes->len, err);
    if (st == RELA_OK && pipeline)
        st = rela_form_file(set, dir, "pipeline.json", pipeline->text, pipeline->len, err);
    return st;
}

/* A list of all tokens; the last line may lack its end. */
static rela_status write_vocabulary(rela_file_set *set, const char *dir, const char *name,
                                    const rela_section *s, rela_error *err)
{
    rela_buffer out = RELA_BUFFER_INIT;
    const char *at = s->text, *end = s->text + s->len;
    rela_status st = rela_buffer_append_text(&out, "[", err);
    while (at < end && st == RELA_OK) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        st = rela_buffer_append_text(&out, at == s->text ? "\n  " : ",\n  ", err);
        st = st ? st : rela_json_quote(&out, at, (size_t)(stop - at), err);
        at = stop + 1;
    }
    st = st ? st : rela_buffer_append_text(&out, "\n]\n", err);
    st = st ? st : rela_form_file(set, dir, name, out.data, out.len, err);
    rela_buffer_free(&out);
    return st;
}

static rela_status write_config(rela_file_set *set, const char *dir, const rela_config *c,
                                rela_error *err)
{
    rela_buffer out = RELA_BUFFER_INIT;
    rela_status st = rela_buffer_printf(&out, err,
                                        "{\n"
                                        "  \"add_source_bos\": false,\n"
                                        "  \"add_source_eos\": true,\n"
                                        "  \"bos_token\": \"<pad>\",\n"
                                        "  \"decoder_start_token\": \"<pad>\",\n"
                                        "  \"eos_token\": \"<eos>\",\n"
                                        "  \"layer_norm_epsilon\": %.9g,\n"
                                        "  \"multi_query_attention\": false,\n"
                                        "  \"unk_token\": \"<unk>\"\n"
                                        "}\n",
                                        c->eps);
    st = st ? st : rela_form_file(set, dir, CONFIG, out.data, out.len, err);
    rela_buffer_free(&out);
    return st;
}

/* ---- list of variables ---- */

static rela_ct2_variable *add(list *l, const char *name, rela_ct2_type type)
{
    rela_ct2_variable *items = rela_mem_grow(l->items, &l->cap, l->n + 1, sizeof *items);
    if (!items && l->status == RELA_OK)
        l->status = rela_fail(l->err, RELA_NOMEM, "no memory to list %zu variables", l->n + 1);
    if (!items)
        return NULL;
    l->items = items;
    rela_ct2_variable *v = &items[l->n++];
    *v = (rela_ct2_variable){ .type = type };
    (void)snprintf(v->name, sizeof v->name, "%s/%s", l->stack, name);
    return v;
}

static void add_number(list *l, const char *name, rela_ct2_type type, int32_t value)
{
    rela_ct2_variable *v = add(l, name, type);
    if (v)
        v->scalar = value;
}

/* cols 0: a vector. */
static void set_values(rela_ct2_variable *v, const real *values, size_t rows, size_t cols)
{
    v->rank = cols ? 2 : 1;
    v->dims[0] = rows;
    v->dims[1] = cols;
    v->values = values;
}

static void add_values(list *l, const char *name, const real *values, size_t rows, size_t cols)
{
    rela_ct2_variable *v = add(l, name, RELA_CT2_F32);
    if (v)
        set_values(v, values, rows, cols);
}

static void add_alias(list *l, const char *name, const char *same_as)
{
    rela_ct2_variable *v = add(l, name, RELA_CT2_F32);
    if (v)
        v->same_as = same_as;
}

/* Our names and theirs; '#' stands for the number of a layer. */
static const struct pattern {
    const char *ours, *theirs;
} PATTERNS[] = {
    { "enc.#.self.qkv.", "encoder/layer_#/self_attention/linear_0/" },
    { "enc.#.self.out.", "encoder/layer_#/self_attention/linear_1/" },
    { "enc.#.self.ln.", "encoder/layer_#/self_attention/layer_norm/" },
    { "enc.#.ffn.up.", "encoder/layer_#/ffn/linear_0/" },
    { "enc.#.ffn.down.", "encoder/layer_#/ffn/linear_1/" },
    { "enc.#.ffn.ln.", "encoder/layer_#/ffn/layer_norm/" },
    { "enc.ln.", "encoder/layer_norm/" },
    { "dec.#.self.qkv.", "decoder/layer_#/self_attention/linear_0/" },
    { "dec.#.self.out.", "decoder/layer_#/self_attention/linear_1/" },
    { "dec.#.self.ln.", "decoder/layer_#/self_attention/layer_norm/" },
    { "dec.#.cross.q.", "decoder/layer_#/attention/linear_0/" },
    { "dec.#.cross.kv.", "decoder/layer_#/attention/linear_1/" },
    { "dec.#.cross.out.", "decoder/layer_#/attention/linear_2/" },
    { "dec.#.cross.ln.", "decoder/layer_#/attention/layer_norm/" },
    { "dec.#.ffn.up.", "decoder/layer_#/ffn/linear_0/" },
    { "dec.#.ffn.down.", "decoder/layer_#/ffn/linear_1/" },
    { "dec.#.ffn.ln.", "decoder/layer_#/ffn/layer_norm/" },
    { "dec.ln.", "decoder/layer_norm/" },
    { "embed.", NULL }, /* its bias, in the tables of positions */
};

enum { N_PATTERNS = sizeof PATTERNS / sizeof PATTERNS[0] };

/* Returns what follows the pattern in the name and sets *layer; NULL if the name does not match. */
static const char *match(const char *name, const char *pattern, int *layer)
{
    assert(name);
    for (; *pattern; pattern++) {
        if (*pattern == '#') {
            if (*name < '0' || *name > '9')
                return NULL;
            for (*layer = 0; *name >= '0' && *name <= '9'; name++)
                *layer = 10 * *layer + (*name - '0');
        } else if (*name++ != *pattern) {
            return NULL;
        }
    }
    return name;
}

/* Ends of parameter names, and theirs. */
static const struct pattern KINDS[] = {
    { "weight", "weight" }, { "bias", "bias" }, { "gain", "gamma" }, { "offset", "beta" }
};

enum { N_KINDS = sizeof KINDS / sizeof KINDS[0] };

/* Returns what the end of a parameter name is called; NULL: unknown. */
static const char *kind_of(const char *end)
{
    for (size_t i = 0; end && i < N_KINDS; i++)
        if (strcmp(end, KINDS[i].ours) == 0)
            return KINDS[i].theirs;
    return NULL;
}

/* A parameter that is left out would change the model: one that no pattern knows is an error.
 * list_encoder and list_decoder take the tables. */
static void list_parameter(list *l, const rela_param *p)
{
    for (size_t i = 0; i < N_PATTERNS; i++) {
        int layer = 0;
        const char *kind = kind_of(match(p->name, PATTERNS[i].ours, &layer));
        if (!kind)
            continue;
        const char *theirs = PATTERNS[i].theirs, *mark = theirs ? strchr(theirs, '#') : NULL;
        if (!theirs)
            return;
        rela_ct2_variable *v = add(l, "", RELA_CT2_F32);
        if (!v)
            return;
        if (mark)
            (void)snprintf(v->name, sizeof v->name, "%.*s%d%s%s", (int)(mark - theirs), theirs,
                           layer, mark + 1, kind);
        else
            (void)snprintf(v->name, sizeof v->name, "%s%s", theirs, kind);
        set_values(v, l->net->weights + p->offset, p->rank == 1 ? p->cols : p->rows,
                   p->rank == 1 ? 0 : p->cols);
        return;
    }
    if (l->status == RELA_OK && !p->table)
        l->status =
            rela_fail(l->err, RELA_UNSUP,
                      "parameter '%s' has no counterpart in a model of CTranslate2", p->name);
}

static const real *table_of(const list *l, const char *name)
{
    const char *tied = l->net->config.tie == RELA_TIE_ALL ? "embed" : name;
    return rela_net_values(l->net, tied);
}

static void list_stack(list *l, const char *stack, const real *positions)
{
    const rela_config *c = &l->net->config;
    l->stack = stack;
    add_number(l, "activation", RELA_CT2_I8, 0); /* ReLU */
    add_number(l, "num_heads", RELA_CT2_I16, (int32_t)c->heads);
    add_number(l, "pre_norm", RELA_CT2_I8, c->pre_norm);
    add_number(l, "scale_embeddings", RELA_CT2_I8, 1); /* by sqrt(d) */
    add_values(l, "position_encodings/encodings", positions, c->max_len, c->d);
}

static void list_encoder(list *l)
{
    const rela_config *c = &l->net->config;
    list_stack(l, "encoder", l->enc_positions);
    add_number(l, "embeddings_merge", RELA_CT2_I8, 0); /* only one embedding per token */
    add_number(l, "multi_query_attention", RELA_CT2_I8, 0);
    if (c->tie == RELA_TIE_ALL)
        add_alias(l, "embeddings_0/weight", "decoder/embeddings/weight");
    else
        add_values(l, "embeddings_0/weight", table_of(l, "embed.src"), c->vocab_src, c->d);
}

static void list_decoder(list *l)
{
    const rela_config *c = &l->net->config;
    list_stack(l, "decoder", l->dec_positions);
    add_number(l, "alibi", RELA_CT2_I8, 0);
    add_number(l, "alibi_use_positive_positions", RELA_CT2_I8, 0);
    add_number(l, "scale_alibi", RELA_CT2_I8, 0);
    add_number(l, "alignment_heads", RELA_CT2_I16, 1);
    add_number(l, "alignment_layer", RELA_CT2_I16, -1);
    add_number(l, "start_from_zero_embedding", RELA_CT2_I8, 1);
    add_values(l, "embeddings/weight", table_of(l, "embed.tgt"), c->vocab_tgt, c->d);
    if (c->tie == RELA_TIE_NONE)
        add_values(l, "projection/weight", table_of(l, "output"), c->vocab_tgt, c->d);
    else
        add_alias(l, "projection/weight", "decoder/embeddings/weight");
    add_values(l, "projection/bias", l->out_bias, c->vocab_tgt, 0);
}

static void list_all(list *l)
{
    list_encoder(l);
    list_decoder(l);
    for (size_t i = 0; i < l->net->params.n; i++)
        list_parameter(l, &l->net->params.items[i]);
}

/* The arrays that our model does not have as such. */
static rela_status make_tables(list *l, rela_error *err)
{
    const rela_net *net = l->net;
    const size_t len = net->config.max_len, d = net->config.d;
    l->enc_positions = rela_mem_array(len * d, sizeof(real));
    l->dec_positions = rela_mem_array(len * d, sizeof(real));
    l->out_bias = rela_mem_array(net->config.vocab_tgt, sizeof(real));
    if (!l->enc_positions || !l->dec_positions || !l->out_bias)
        return rela_fail(err, RELA_NOMEM, "no memory for tables of %zu positions", len);
    const real *bias = rela_net_values(net, "embed.bias");
    for (size_t i = 0; i < len * d; i++)
        l->enc_positions[i] = net->positions[i] + bias[i % d];
    memcpy(l->dec_positions, l->enc_positions, len * d * sizeof(real));
    memcpy(l->dec_positions, net->positions, d * sizeof(real));
    memset(l->out_bias, 0, net->config.vocab_tgt * sizeof(real));
    l->out_bias[RELA_VOCAB_PAD] = NEVER;
    return RELA_OK;
}

/* ---- the file ---- */

static rela_status write_weights(rela_file_set *set, const char *dir, const rela_net *net,
                                 rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    list l = { .net = net, .err = err };
    rela_status st = make_tables(&l, err);
    if (st == RELA_OK) {
        list_all(&l);
        st = l.status;
    }
    st = st ? st : rela_buffer_printf(&path, err, "%s/" WEIGHTS, dir);
    st = st ? st : rela_ct2_write(set, path.data, l.items, l.n, err);
    rela_buffer_free(&path);
    rela_mem_free(l.enc_positions);
    rela_mem_free(l.dec_positions);
    rela_mem_free(l.out_bias);
    rela_mem_free(l.items);
    return st;
}
