/* SPDX-License-Identifier: MIT */
/* src/model/decoder.c - see decoder.h.
 *
 * Post- and pre-norm share one code, as in encdec.c. Only one set of activations exists: a sublayer
 * reads x and the residual, and leaves them in the same place for the next. */
#include "model/decoder.h"

#include "base/mem.h"
#include "nn/attn/cache.h"
#include "nn/attn/guard.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Between rows as wide as the inner layer, which is often a power of two: without a gap all rows
 * of a product would compete for the same few places in the cache. */
enum { ROW_GAP = 16 };

struct rela_decoder {
    const rela_frozen *frozen;
    rela_decoder_size size;
    void *block; /* everything planned lies in it */
    size_t block_bytes;
    real *x;          /* (rows, d) what the next sublayer reads */
    real *r;          /* (rows, d) pre-norm: the residual stream */
    real *y;          /* (rows, d) output of a sublayer */
    real *z;          /* (rows, d) mixed values */
    real *wide;       /* (rows, max(3d, ffn + gap)) */
    int8_t *bytes;    /* (rows, widest) rows of a product in 8 bits, if the net is in 8 bits */
    real *byte_scale; /* (rows) */
    rela_norm_stats *stats;
    rela_attn_scratch enc_scratch;
    rela_cache_scratch scratch;
    uint32_t *src_at; /* (sentences + 1) */
    size_t *keys_at;  /* (sentences + 1): place of the transposed keys, in units of d reals */
    size_t keys_total, n_sentences, n_rows; /* n_rows: of the last step */
    real *keys_t;                           /* (layers, keys_total, d) */
    real *values;                           /* (layers, src_rows, d) */
    real *odd;                              /* (layers, sentences): see nn/attn/guard.h */
    /* Rows of the output matrix, put together for each sentence. */
    size_t *chosen_at, *chosen_n; /* (sentences) where they begin and how many; 0: all */
    real *chosen;                 /* packed; or the next three, as rela_bytes */
    int8_t *chosen_bytes;
    real *chosen_scale;
    int32_t *chosen_sums;
    void *slots; /* allocation of the cache */
    size_t n_slots;
    rela_cache cache;
};

/* Of rows of k bytes. */
static size_t byte_ld(size_t k)
{
    return (k + 3) / 4 * 4;
}

/* Where one layer of one stack finds its numbers. */
typedef struct place {
    rela_decoder *d;
    const rela_layer_at *at;
    const rela_frozen_layer *w;
    size_t layer, n_layers, rows;
    bool decoder;
} place;

static void plan(rela_decoder *d, rela_plan *p);
static void product(const rela_decoder *d, real *c, size_t ldc, const real *a, size_t lda,
                    const rela_frozen_matrix *w, const real *bias, size_t rows);
static void embed_source(rela_decoder *d, real *x, const rela_tokens *src);
static void finish(const place *p, const real *bias, size_t sublayer);
static void start(rela_decoder *d, size_t rows, bool decoder);
static void attn_end(const place *p, const rela_attn_at *at, const rela_frozen_matrix *out,
                     rela_attn_type type, size_t sublayer);
static void ffn(const place *p);
static rela_attn attn_of(const place *p, const rela_attn_at *at, rela_attn_type type);
static void remember(rela_decoder *d, const rela_tokens *src);
static void encode_layer(const place *p, const rela_tokens *src);
static void embed_rows(rela_decoder *d, const rela_decoder_rows *rows);
static void self_step(const place *p, const rela_decoder_rows *rows);
static void cross_step(const place *p, const rela_decoder_rows *rows);

rela_status rela_decoder_create(rela_decoder **out, const rela_frozen *f, rela_error *err)
{
    *out = rela_mem_zalloc(sizeof **out);
    if (!*out)
        return rela_fail(err, RELA_NOMEM, "no memory for a decoder");
    (*out)->frozen = f;
    (*out)->cache.ld = rela_cache_ld(f->net->config.dec_layers, f->net->config.d);
    return RELA_OK;
}

void rela_decoder_destroy(rela_decoder *d)
{
    if (!d)
        return;
    rela_mem_free(d->block);
    rela_mem_free(d->slots);
    rela_mem_free(d);
}

rela_status rela_decoder_reserve(rela_decoder *d, const rela_decoder_size *size, rela_error *err)
{
    d->size = *size;
    rela_plan p = { NULL, 0 };
    plan(d, &p);
    const size_t bytes = p.used + RELA_PLAN_ALIGN;
    if (bytes > d->block_bytes) {
        rela_mem_free(d->block);
        d->block = rela_mem_alloc(bytes);
        d->block_bytes = d->block ? bytes : 0;
        if (!d->block)
            return rela_fail(err, RELA_NOMEM, "no memory for %zu bytes of decoder state", bytes);
    }
    p = rela_plan_in(d->block);
    plan(d, &p);
    return RELA_OK;
}

rela_status rela_decoder_reserve_slots(rela_decoder *d, size_t n_slots, rela_error *err)
{
    if (n_slots <= d->n_slots)
        return RELA_OK;
    size_t bytes = 0;
    char *block = NULL;
    const size_t before = d->slots ? (size_t)((char *)d->cache.rows - (char *)d->slots) : 0;
    if (rela_size_mul(&bytes, n_slots, d->cache.ld * sizeof *d->cache.rows) &&
        rela_size_add(&bytes, bytes, RELA_PLAN_ALIGN))
        block = rela_mem_resize(d->slots, bytes); /* moved page by page, never there twice */
    if (!block)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu positions of hypotheses", n_slots);
    rela_plan p = rela_plan_in(block);
    real *rows = rela_plan_reals(&p, n_slots * d->cache.ld);
    if (d->n_slots && (char *)rows != block + before)
        memmove(rows, block + before, d->n_slots * d->cache.ld * sizeof *rows);
    d->slots = block;
    d->cache.rows = rows;
    d->n_slots = n_slots;
    return RELA_OK;
}

void rela_decoder_encode(rela_decoder *d, const rela_tokens *src)
{
    const rela_net *n = d->frozen->net;
    const size_t rows = src->at[src->n];
    assert(src->n <= d->size.sentences && rows <= d->size.src_rows);
    d->n_sentences = src->n;
    real *x = n->config.pre_norm ? d->r : d->x;
    embed_source(d, x, src);
    start(d, rows, false);
    for (size_t i = 0; i < n->config.enc_layers; i++) {
        const place p = { d,    &n->layout.enc[i],    &d->frozen->enc[i],
                          i,    n->config.enc_layers, rows,
                          false };
        encode_layer(&p, src);
        ffn(&p);
    }
    remember(d, src);
}

const real *rela_decoder_step(rela_decoder *d, const rela_decoder_rows *rows)
{
    const rela_net *n = d->frozen->net;
    assert(rows->n <= d->size.rows);
    d->n_rows = rows->n;
    embed_rows(d, rows);
    start(d, rows->n, true);
    for (size_t i = 0; i < n->config.dec_layers; i++) {
        const place p = { d,   &n->layout.dec[i],    &d->frozen->dec[i],
                          i,   n->config.dec_layers, rows->n,
                          true };
        self_step(&p, rows);
        cross_step(&p, rows);
        ffn(&p);
    }
    if (d->bytes) /* for the logits, whose product comes in slices */
        n->k->bytes(d->bytes, byte_ld(n->config.d), d->byte_scale, d->x, n->config.d, rows->n,
                    n->config.d);
    return d->x;
}

/* Logits of some rows for the symbols [first, first + n) of a packed part of the output matrix. */
static void logits_of(const rela_decoder *d, real *logits, size_t ld, const rela_frozen_matrix *w,
                      const size_t rows[2], size_t first, size_t n)
{
    const size_t width = d->frozen->net->config.d, row = rows[0], count = rows[1];
    const rela_kern *k = d->frozen->net->k;
    assert(first % k->panel == 0 && first % RELA_BYTE_PANEL == 0 && first + n <= w->n);
    if (w->reals) {
        k->packed(logits, ld, d->x + row * width, width, w->reals + first * width, NULL, count, n,
                  width, false);
        return;
    }
    const size_t ldq = byte_ld(width);
    const rela_bytes part = { w->bytes.p + first * ldq, w->bytes.scale + first,
                              w->bytes.sums + first };
    k->packed_bytes(logits, ld, d->bytes + row * ldq, ldq, d->byte_scale + row, &part, NULL, count,
                    n, width, false);
}

void rela_decoder_logits(const rela_decoder *d, real *logits, size_t ld, size_t first, size_t n)
{
    logits_of(d, logits, ld, &d->frozen->output, (const size_t[2]){ 0, d->n_rows }, first, n);
}

/* The output matrix of one sentence: its rows of the whole, or the whole. */
static rela_frozen_matrix output_of(const rela_decoder *d, size_t sentence)
{
    rela_frozen_matrix w = d->frozen->output;
    if (d->size.chosen == 0 || d->chosen_n[sentence] == 0)
        return w;
    const size_t at = d->chosen_at[sentence];
    w.n = d->chosen_n[sentence];
    if (w.reals)
        w.reals = d->chosen + at * w.k;
    else
        w.bytes = (rela_bytes){ d->chosen_bytes + at * byte_ld(w.k), d->chosen_scale + at,
                                d->chosen_sums + at };
    return w;
}

void rela_decoder_logits_chosen(const rela_decoder *d, real *logits, size_t ld, size_t sentence,
                                size_t row, size_t rows, size_t first, size_t n)
{
    const rela_frozen_matrix w = output_of(d, sentence);
    logits_of(d, logits, ld, &w, (const size_t[2]){ row, rows }, first, n);
}

void rela_decoder_choose(rela_decoder *d, const uint32_t *ids, const size_t *at)
{
    const rela_net *net = d->frozen->net;
    const rela_frozen_matrix *w = &d->frozen->output;
    size_t end = 0;
    for (size_t i = 0; i < d->n_sentences; i++) {
        const uint32_t *own = ids + at[i];
        const size_t n = at[i + 1] - at[i], to = end;
        d->chosen_at[i] = to;
        d->chosen_n[i] = n;
        end += rela_round_up(n, RELA_CHOSEN_UNIT);
        assert(end <= d->size.chosen && RELA_CHOSEN_UNIT % net->k->panel == 0);
        if (w->reals && net->layout.params.bare)
            net->k->pick(d->chosen + to * w->k, w->reals, own, n, w->k);
        else if (w->reals) /* rows that are not packed yet lie together: faster */
            net->k->pack_at(d->chosen + to * w->k, net->weights + net->layout.output, w->k, own, n,
                            w->k);
        else
            net->k->pick_bytes(d->chosen_bytes + to * byte_ld(w->k), d->chosen_scale + to,
                               d->chosen_sums + to, &w->bytes, own, n, w->k);
    }
}

/* ---- memory ---- */

static void plan(rela_decoder *d, rela_plan *p)
{
    const rela_config *c = &d->frozen->net->config;
    const rela_decoder_size *s = &d->size;
    const size_t rows = s->src_rows > s->rows ? s->src_rows : s->rows;
    const size_t wide = 3 * c->d > c->ffn + ROW_GAP ? 3 * c->d : c->ffn + ROW_GAP;
    const size_t len = s->src_len > s->steps ? s->src_len : s->steps;
    d->x = rela_plan_reals(p, rows * c->d);
    d->r = rela_plan_reals(p, c->pre_norm ? rows * c->d : 0);
    d->y = rela_plan_reals(p, rows * c->d);
    d->z = rela_plan_reals(p, rows * c->d);
    d->wide = rela_plan_reals(p, rows * wide);
    const bool bytes = !d->frozen->output.reals;
    d->bytes = rela_plan_take(p, bytes ? rows * byte_ld(c->d > c->ffn ? c->d : c->ffn) : 0, 1);
    d->bytes = bytes ? d->bytes : NULL;
    d->byte_scale = rela_plan_reals(p, bytes ? rows : 0);
    d->stats = rela_plan_take(p, rows, sizeof *d->stats);
    rela_attn_scratch_plan(&d->enc_scratch, p, c->kind[RELA_ATTN_ENC], c->d / c->heads, s->src_len);
    rela_cache_scratch_plan(&d->scratch, p, c->heads, len, s->sentence_rows);
    d->src_at = rela_plan_take(p, s->sentences + 1, sizeof *d->src_at);
    d->keys_at = rela_plan_take(p, s->sentences + 1, sizeof *d->keys_at);
    /* Each source is rounded up to whole vectors: at most one vector more per sentence. */
    d->keys_total = s->src_rows + s->sentences * (rela_memory_ld(1) - 1);
    d->keys_t = rela_plan_reals(p, c->dec_layers * d->keys_total * c->d);
    d->values = rela_plan_reals(p, c->dec_layers * s->src_rows * c->d);
    d->odd = rela_plan_reals(p, c->dec_layers * s->sentences);
    const size_t reals = bytes ? 0 : s->chosen, whole = bytes ? s->chosen : 0;
    d->chosen_at = rela_plan_take(p, s->chosen ? s->sentences : 0, sizeof *d->chosen_at);
    d->chosen_n = rela_plan_take(p, s->chosen ? s->sentences : 0, sizeof *d->chosen_n);
    d->chosen = rela_plan_reals(p, reals * c->d);
    d->chosen_bytes = rela_plan_take(p, rela_bytes_size(whole, c->d), 1);
    d->chosen_scale = rela_plan_reals(p, whole);
    d->chosen_sums = rela_plan_take(p, whole, sizeof *d->chosen_sums);
}

/* ---- what sublayers share ---- */

/* c (rows, n) = a (rows, k) w^T + bias. */
static void product(const rela_decoder *d, real *c, size_t ldc, const real *a, size_t lda,
                    const rela_frozen_matrix *w, const real *bias, size_t rows)
{
    const rela_kern *k = d->frozen->net->k;
    if (w->reals) {
        k->packed(c, ldc, a, lda, w->reals, bias, rows, w->n, w->k, w->relu);
        return;
    }
    const size_t ldq = byte_ld(w->k);
    k->bytes(d->bytes, ldq, d->byte_scale, a, lda, rows, w->k);
    k->packed_bytes(c, ldc, d->bytes, ldq, d->byte_scale, &w->bytes, bias, rows, w->n, w->k,
                    w->relu);
}

static rela_ln_at ln_of(const rela_layer_at *at, size_t part, bool decoder)
{
    if (part == 0)
        return at->self.ln;
    return decoder && part == 1 ? at->cross.ln : at->ffn.ln;
}

/* The LN after sublayer number `sublayer` of this layer: its own, or in pre-norm that of the next
 * sublayer and after the last the one of the stack. */
static rela_ln_at ln_after(const place *p, size_t sublayer)
{
    const rela_net *n = p->d->frozen->net;
    const size_t last = p->decoder ? 2 : 1;
    if (!n->config.pre_norm)
        return ln_of(p->at, sublayer, p->decoder);
    if (sublayer < last)
        return ln_of(p->at, sublayer + 1, p->decoder);
    if (p->layer + 1 < p->n_layers)
        return p->at[1].self.ln;
    return p->decoder ? n->layout.dec_ln : n->layout.enc_ln;
}

/* Residual sum and norm: y of the sublayer, its bias and the residual become the next x. */
static void finish(const place *p, const real *bias, size_t sublayer)
{
    static const rela_drop NONE = { .threshold = 0 };
    rela_decoder *d = p->d;
    const rela_net *n = d->frozen->net;
    const rela_ln_at ln = ln_after(p, sublayer);
    real *sum = n->config.pre_norm ? d->r : d->y;
    n->k->residual_norm(d->x, sum, d->stats, n->config.pre_norm ? d->r : d->x, d->y, bias,
                        n->weights + ln.gain, n->weights + ln.offset, p->rows, n->config.d,
                        (real)n->config.eps, &NONE);
}

/* Embeddings are in place; pre-norm begins with a norm. */
static void start(rela_decoder *d, size_t rows, bool decoder)
{
    static const rela_drop NONE = { .threshold = 0 };
    const rela_net *n = d->frozen->net;
    if (!n->config.pre_norm)
        return;
    const rela_ln_at ln = (decoder ? n->layout.dec : n->layout.enc)[0].self.ln;
    n->k->residual_norm(d->x, d->r, d->stats, NULL, d->r, NULL, n->weights + ln.gain,
                        n->weights + ln.offset, rows, n->config.d, (real)n->config.eps, &NONE);
}

static rela_attn attn_of(const place *p, const rela_attn_at *at, rela_attn_type type)
{
    const rela_net *n = p->d->frozen->net;
    const rela_config *c = &n->config;
    return (rela_attn){ .k = n->k,
                        .kind = c->kind[type],
                        .setup = &c->setup,
                        .heads = c->heads,
                        .d_head = c->d / c->heads,
                        .causal = type == RELA_ATTN_DEC,
                        .head_params = c->kind[type]->n_head ? n->weights + at->head : NULL,
                        .layer = p->layer,
                        .type = (int)type };
}

/* From mixed values z to the end of the sublayer. */
static void attn_end(const place *p, const rela_attn_at *at, const rela_frozen_matrix *out,
                     rela_attn_type type, size_t sublayer)
{
    rela_decoder *d = p->d;
    const rela_net *n = d->frozen->net;
    const rela_config *c = &n->config;
    const rela_attn_norm *norm = c->kind[type]->norm;
    if (norm)
        n->k->gated_norm(d->z, d->z, n->weights + at->gain,
                         norm->gated ? n->weights + at->gate : NULL, p->rows, c->d,
                         c->norm_per_head ? c->heads : 1, (real)c->attn_eps, norm->center);
    product(d, d->y, c->d, d->z, c->d, out, NULL, p->rows);
    finish(p, n->weights + at->out_bias, sublayer);
}

static void ffn(const place *p)
{
    rela_decoder *d = p->d;
    const rela_net *n = d->frozen->net;
    const rela_config *c = &n->config;
    const rela_ffn_at *at = &p->at->ffn;
    const size_t ld = c->ffn + ROW_GAP;
    product(d, d->wide, ld, d->x, c->d, &p->w->up, n->weights + at->up_bias, p->rows);
    product(d, d->y, c->d, d->wide, ld, &p->w->down, NULL, p->rows);
    finish(p, n->weights + at->down_bias, p->decoder ? 2 : 1);
}

/* ---- encoder ---- */

/* Row j of a packed matrix. */
static void unpack(real *row, const rela_kern *k, const rela_frozen_matrix *w, size_t j)
{
    if (w->reals)
        k->unpack(row, w->reals, j, w->k);
    else
        k->unpack_bytes(row, w->bytes.p, w->bytes.scale, j, w->k);
}

static void embed_source(rela_decoder *d, real *x, const rela_tokens *src)
{
    const rela_net *n = d->frozen->net;
    const real *bias = n->weights + n->layout.embed_bias;
    const size_t w = n->config.d;
    if (!n->layout.params.bare) {
        rela_embed_forward(x, src, false, n->weights + n->layout.embed_src, bias, n->positions, w);
        return;
    }
    const real factor = (real)sqrt((double)w);
    for (size_t s = 0; s < src->n; s++)
        for (size_t t = src->at[s]; t < src->at[s + 1]; t++) {
            const real *position = n->positions + (t - src->at[s]) * w;
            real *row = x + t * w;
            unpack(row, n->k, &d->frozen->embed_src, (size_t)src->ids[t]);
            for (size_t i = 0; i < w; i++)
                row[i] = row[i] * factor + bias[i] + position[i];
        }
}

static void encode_layer(const place *p, const rela_tokens *src)
{
    rela_decoder *d = p->d;
    const rela_net *n = d->frozen->net;
    const size_t w = n->config.d;
    const rela_attn_at *at = &p->at->self;
    const rela_attn attn = attn_of(p, at, RELA_ATTN_ENC);
    const rela_attn_rows rows = { src->n, src->at, src->at, 0 };
    const rela_attn_in in = { d->wide, d->wide + w, d->wide + 2 * w, 3 * w, 3 * w, 3 * w };
    product(d, d->wide, 3 * w, d->x, w, &p->w->qkv, n->weights + at->in_bias, p->rows);
    rela_attn_forward(&attn, &d->enc_scratch, d->z, &in, &rows);
    rela_attn_guard(&attn, d->z, &in, &rows);
    attn_end(p, at, &p->w->self_out, RELA_ATTN_ENC, 0);
}

/* The cross keys and values of one sentence in one layer. */
static rela_memory memory_of(const rela_decoder *d, size_t layer, size_t sentence)
{
    const size_t w = d->frozen->net->config.d, n = d->src_at[sentence + 1] - d->src_at[sentence];
    return (rela_memory){
        .keys_t = d->keys_t + (layer * d->keys_total + d->keys_at[sentence]) * w,
        .values = d->values + (layer * d->size.src_rows + d->src_at[sentence]) * w,
        .n = n,
        .ld = rela_memory_ld(n),
    };
}

/* Cross keys and values of all decoder layers, from the encoder's last x. */
static void remember(rela_decoder *d, const rela_tokens *src)
{
    const rela_net *n = d->frozen->net;
    const size_t w = n->config.d, rows = src->at[src->n];
    memcpy(d->src_at, src->at, (src->n + 1) * sizeof *d->src_at);
    d->keys_at[0] = 0;
    for (size_t i = 0; i < src->n; i++)
        d->keys_at[i + 1] = d->keys_at[i] + rela_memory_ld(src->at[i + 1] - src->at[i]);
    for (size_t l = 0; l < n->config.dec_layers; l++) {
        const rela_attn_at *at = &n->layout.dec[l].cross;
        const place p = { d, &n->layout.dec[l], &d->frozen->dec[l], l, 0, rows, true };
        const rela_attn attn = attn_of(&p, at, RELA_ATTN_CROSS);
        const real *bias = n->weights + at->kv_bias;
        product(d, d->y, w, d->x, w, &p.w->cross_k, bias, rows);
        product(d, d->values + l * d->size.src_rows * w, w, d->x, w, &p.w->cross_v, bias + w, rows);
        for (size_t i = 0; i < src->n; i++) {
            const rela_memory m = memory_of(d, l, i);
            real *keys = d->y + src->at[i] * w;
            d->odd[l * d->size.sentences + i] =
                rela_attn_odd(n->k, keys, m.n * w) + rela_attn_odd(n->k, m.values, m.n * w);
            rela_memory_put(&m, &attn, keys, w);
        }
    }
}

/* ---- one step ---- */

static void embed_rows(rela_decoder *d, const rela_decoder_rows *rows)
{
    const rela_net *n = d->frozen->net;
    const size_t w = n->config.d;
    const real factor = (real)sqrt((double)w);
    const real *bias = n->weights + n->layout.embed_bias;
    real *x = n->config.pre_norm ? d->r : d->x;
    for (size_t i = 0; i < rows->n; i++) {
        real *row = x + i * w;
        assert(rows->position[i] < n->config.max_len);
        memcpy(row, n->positions + rows->position[i] * w, w * sizeof *row);
        if (rows->position[i] == 0)
            continue;
        const size_t token = (size_t)rows->token[i];
        const real *entry = d->y;
        if (n->layout.params.bare)
            unpack(d->y, n->k, &d->frozen->embed_tgt, token);
        else
            entry = n->weights + n->layout.embed_tgt + token * w;
        for (size_t c = 0; c < w; c++)
            row[c] += entry[c] * factor + bias[c];
    }
}

static void self_step(const place *p, const rela_decoder_rows *rows)
{
    rela_decoder *d = p->d;
    const rela_net *n = d->frozen->net;
    const size_t w = n->config.d;
    const rela_attn_at *at = &p->at->self;
    const rela_attn attn = attn_of(p, at, RELA_ATTN_DEC);
    product(d, d->wide, 3 * w, d->x, w, &p->w->qkv, n->weights + at->in_bias, rows->n);
    for (size_t i = 0; i < rows->n; i++) {
        real *qkv = d->wide + i * 3 * w;
        const uint32_t *slots = rows->history + i * rows->ld;
        const size_t last = rows->position[i];
        assert(slots[last] < d->n_slots);
        const real odd = rela_attn_odd(n->k, qkv, 3 * w);
        rela_cache_put(&d->cache, &attn, slots[last], qkv + w, qkv + 2 * w);
        rela_attn_query(&attn, qkv);
        rela_cache_attend(&d->cache, &attn, &d->scratch, d->z + i * w, qkv, slots, last + 1);
        d->z[i * w] += odd;
    }
    attn_end(p, at, &p->w->self_out, RELA_ATTN_DEC, 0);
}

static void cross_step(const place *p, const rela_decoder_rows *rows)
{
    rela_decoder *d = p->d;
    const rela_net *n = d->frozen->net;
    const size_t w = n->config.d;
    const rela_attn_at *at = &p->at->cross;
    rela_attn attn = attn_of(p, at, RELA_ATTN_CROSS);
    attn.tap = rows->tap;
    product(d, d->wide, w, d->x, w, &p->w->cross_q, n->weights + at->in_bias, rows->n);
    for (size_t i = 0; i < rows->n; i++)
        rela_attn_query(&attn, d->wide + i * w);
    size_t end = 0;
    for (size_t i = 0; i < rows->n; i = end) {
        end = i + 1;
        while (end < rows->n && rows->sentence[end] == rows->sentence[i])
            end++;
        const rela_memory m = memory_of(d, p->layer, rows->sentence[i]);
        rela_memory_attend(&m, &attn, &d->scratch, d->z + i * w, d->wide + i * w, end - i, i,
                           rows->position[i]);
        for (size_t j = i; j < end; j++)
            d->z[j * w] += d->odd[p->layer * d->size.sentences + rows->sentence[i]] +
                           rela_attn_odd(n->k, d->wide + j * w, w);
    }
    attn_end(p, at, &p->w->cross_out, RELA_ATTN_CROSS, 1);
}
