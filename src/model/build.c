/* SPDX-License-Identifier: MIT */
/* src/model/build.c - see build.h:
 *
 *   embed(src) { attention(src) ffn(src) } x n
 *   embed(tgt) { attention(tgt) attention(tgt <- src) ffn(tgt) } x m   output(tgt)
 *
 * With several sources the first line is repeated for each, and the target attends to all of them
 * in one block (outputs are added) or in one block after the other.
 *
 * A model for word alignment is a single block. */
#include "model/build.h"

#include "base/mem.h"

#include <assert.h>
#include <stdio.h>

/* Dropout sites of a layer of a stack; those of further cross-attentions come after. */
enum { SITE_EMBED = 0, SITE_SELF = 1, SITE_CROSS = 3, SITE_FFN = 5, SITES = 7, SITES_CROSS = 2 };

typedef struct builder {
    rela_block_list *list;
    const rela_config *c;
    rela_declare declare;
    size_t stream;
    char stack[16]; /* prefix of parameter names: "enc", "enc2" or "dec" */
    size_t layer;
} builder;

static size_t stack_of(const rela_block_list *l, size_t queries, size_t keys);
static void build_stacks(builder *b);
static void build_aligner(builder *b);
static size_t count_blocks(const rela_config *c);

rela_status rela_block_list_init(rela_block_list *l, rela_params *params, const rela_config *c,
                                 rela_error *err)
{
    *l = (rela_block_list){ .n_streams = c->sources + 1 };
    l->blocks = rela_mem_zalloc(count_blocks(c) * sizeof *l->blocks);
    if (!l->blocks) {
        rela_params_deinit(params);
        return rela_fail(err, RELA_NOMEM, "no memory for the blocks of the model");
    }
    l->n_stacks = rela_attn_stacks(l->stacks, c);
    builder b = { .list = l, .c = c, .declare = { .params = params, .err = err } };
    if (c->task == RELA_TASK_ALIGN)
        build_aligner(&b);
    else
        build_stacks(&b);
    if (b.declare.status != RELA_OK) {
        rela_block_list_deinit(l);
        rela_params_deinit(params);
    }
    return b.declare.status;
}

void rela_block_list_deinit(rela_block_list *l)
{
    rela_mem_free(l->blocks);
    *l = (rela_block_list){ 0 };
}

size_t rela_block_list_plan(const rela_block_list *l, size_t *kept, const rela_pass_size *size)
{
    rela_plan all = { NULL, 0 };
    size_t most = 0;
    for (size_t i = 0; i < l->n; i++) {
        rela_plan scratch = { NULL, 0 };
        l->blocks[i].type->plan(&l->blocks[i], &all, &scratch, size);
        most = scratch.used > most ? scratch.used : most;
    }
    *kept = all.used;
    return most;
}

rela_status rela_params_of(rela_params *params, const rela_config *c, bool packed, rela_error *err)
{
    rela_block_list l;
    *params = (rela_params){ .packed = packed };
    const rela_status st = rela_block_list_init(&l, params, c, err);
    rela_block_list_deinit(&l);
    return st;
}

static void describe(rela_attn_stack *p, const rela_config *c, rela_attn_type type, size_t queries,
                     size_t keys)
{
    static const char *const LABELS[] = { "encoder", "decoder", "cross" };
    const size_t target = c->sources, source = keys == target ? queries : keys;
    const bool numbered = target > 1 && type != RELA_ATTN_DEC;
    *p = (rela_attn_stack){ .type = type,
                            .queries = queries,
                            .keys = keys,
                            .layers = rela_config_layers(c, type),
                            .causal = type == RELA_ATTN_DEC };
    (void)snprintf(p->name, sizeof p->name, "%s", rela_attn_type_name(type));
    (void)snprintf(p->label, sizeof p->label, "%s", LABELS[type]);
    (void)snprintf(p->key, sizeof p->key, "%s", LABELS[type]);
    if (!numbered)
        return;
    (void)snprintf(p->name, sizeof p->name, "%s%zu", rela_attn_type_name(type), source);
    (void)snprintf(p->label, sizeof p->label, "%s %zu", LABELS[type], source + 1);
    (void)snprintf(p->key, sizeof p->key, "%s %zu", LABELS[type], source);
}

size_t rela_attn_stacks(rela_attn_stack stacks[RELA_STACKS_MAX], const rela_config *c)
{
    const size_t target = c->sources;
    for (size_t i = 0; i < target; i++) {
        describe(&stacks[i], c, RELA_ATTN_ENC, i, i);
        describe(&stacks[target + 1 + i], c, RELA_ATTN_CROSS, target, i);
    }
    describe(&stacks[target], c, RELA_ATTN_DEC, target, target);
    return 2 * target + 1;
}

size_t rela_block_list_cross(const rela_block_list *l, size_t source)
{
    return stack_of(l, rela_block_list_target(l), source);
}

static size_t stack_of(const rela_block_list *l, size_t queries, size_t keys)
{
    for (size_t i = 0; i < l->n_stacks; i++)
        if (l->stacks[i].queries == queries && l->stacks[i].keys == keys)
            return i;
    assert(!"a stack of the model");
    return 0;
}

/* Blocks of cross attention in a layer. */
static size_t count_cross(const rela_config *c)
{
    return c->serial_cross ? c->sources : 1;
}

static size_t count_blocks(const rela_config *c)
{
    return c->sources * (1 + 2 * c->enc_layers) + 2 + (2 + count_cross(c)) * c->dec_layers;
}

static size_t count_sites(const rela_config *c)
{
    return SITES + SITES_CROSS * (count_cross(c) - 1);
}

static rela_block *add(builder *b, const rela_block_type *type, uint32_t site)
{
    const rela_config *c = b->c;
    const size_t stack = b->layer * b->list->n_streams + b->stream;
    rela_block *block = &b->list->blocks[b->list->n];
    block->type = type;
    block->number = b->list->n++;
    block->stream = b->stream;
    block->layer = b->layer;
    block->d = c->d;
    block->max_len = c->max_len;
    block->pre_norm = c->pre_norm;
    block->eps = (real)c->eps;
    block->drop = c->drop_residual;
    block->site = (uint32_t)(stack * count_sites(c)) + site;
    return block;
}

/* Names the parameters: those of a layer begin with stack, layer and part. */
static void declare(builder *b, rela_block *block, const char *part)
{
    rela_declare *d = &b->declare;
    if (part)
        (void)snprintf(d->prefix, sizeof d->prefix, "%s.%zu.%s", b->stack, b->layer, part);
    else
        d->prefix[0] = '\0';
    block->type->declare(block, d);
    block->params_end = d->params->total;
}

static void add_embedding(builder *b, size_t vocabulary, const char *name, bool shifted)
{
    rela_block *block = add(b, &rela_block_embed, SITE_EMBED);
    rela_embed_at *at = &block->at.embed;
    block->drop = b->c->drop_embed;
    block->first = true;
    at->vocabulary = vocabulary;
    at->shifted = shifted;
    (void)snprintf(at->table_name, sizeof at->table_name, "%s",
                   b->c->tie == RELA_TIE_ALL ? "embed" : name);
    declare(b, block, NULL);
}

static size_t groups_at(const builder *b, rela_head_group *to, rela_attn_type type)
{
    rela_attn_group groups[RELA_GROUPS_MAX];
    const size_t n = rela_attn_spec_groups(groups, &b->c->attention[type], b->layer, b->c->heads);
    for (size_t i = 0; i < n; i++)
        to[i].of = groups[i];
    return n;
}

static void make_group(const rela_block *b, const rela_attn_side *side, size_t g, real *made,
                       uint64_t update, const uint64_t *before)
{
    const rela_attn_group *of = &side->groups[g].of;
    const rela_attn_shape shape = { of->kind, of->numbers, of->heads, b->at.attn.d_head };
    const uint64_t place = (uint64_t)side->stack << 48 | (uint64_t)b->layer << 24 | of->first;
    if (!of->kind->made)
        return;
    const uint64_t draw = of->kind->made->draw(of->numbers, update);
    if (!before || of->kind->made->draw(of->numbers, *before) != draw)
        of->kind->made->make(made + side->groups[g].made, &shape, place, draw);
}

void rela_block_list_make(const rela_block_list *l, real *made, uint64_t update,
                          const uint64_t *before)
{
    for (const rela_block *b = l->blocks; l->made && b < l->blocks + l->n; b++) {
        if (b->type != &rela_block_attention)
            continue;
        for (size_t i = 0; i < b->at.attn.n_sides; i++)
            for (size_t g = 0; g < b->at.attn.sides[i].n_groups; g++)
                make_group(b, &b->at.attn.sides[i], g, made, update, before);
    }
}

/* Places in the caches of decoding: of keys and values, which all groups without a state share, and
 * of states. */
static void place_groups(builder *b, rela_attn_at *at, rela_attn_side *side)
{
    rela_memories_need *memories = &b->list->memories[side->stream];
    size_t *const states = at->self ? &b->list->state : &memories->state;
    bool keyed = false, stated = false;
    for (size_t g = 0; g < side->n_groups; g++) {
        const rela_attn_group *of = &side->groups[g].of;
        const rela_attn_shape shape = { of->kind, of->numbers, of->heads, at->d_head };
        const size_t state = rela_attn_state(&shape);
        side->groups[g].state = *states;
        *states += state;
        keyed = keyed || !state;
        stated = stated || state;
    }
    if (at->self) {
        at->cache = b->list->slot;
        b->list->slot += keyed ? 2 * b->c->d : 0;
    } else {
        side->keyed = memories->keyed;
        memories->keyed += keyed;
        side->shown = memories->shown;
        memories->shown += stated;
    }
}

static void add_side(builder *b, rela_attn_at *at, size_t stream, rela_attn_type type)
{
    rela_attn_side *side = &at->sides[at->n_sides++];
    side->stream = stream;
    side->stack = stack_of(b->list, b->stream, stream);
    side->n_groups = groups_at(b, side->groups, type);
    for (size_t g = 0; g < side->n_groups; g++) {
        const rela_attn_group *of = &side->groups[g].of;
        const rela_attn_shape shape = { of->kind, of->numbers, of->heads, at->d_head };
        side->groups[g].made = b->list->made;
        b->list->made += of->kind->made ? of->kind->made->size(&shape) : 0;
    }
    if (!at->self)
        side->memory = b->list->memories[stream].n++;
    if (!at->self || at->causal)
        place_groups(b, at, side);
}

static rela_attn_at *add_attention(builder *b, bool self, bool causal, uint32_t site)
{
    const rela_config *c = b->c;
    rela_block *block = add(b, &rela_block_attention, site);
    block->at.attn = (rela_attn_at){ .heads = c->heads,
                                     .d_head = c->d / c->heads,
                                     .causal = causal,
                                     .self = self,
                                     .norm_per_head = c->norm_per_head,
                                     .eps = (real)c->attn_eps,
                                     .drop = c->drop_attn };
    return &block->at.attn;
}

static void add_self(builder *b, rela_attn_type type)
{
    rela_attn_at *at = add_attention(b, true, type == RELA_ATTN_DEC, SITE_SELF);
    add_side(b, at, b->stream, type);
    declare(b, &b->list->blocks[b->list->n - 1], "self");
}

/* i: number among the cross-attention blocks of the layer. */
static void add_cross(builder *b, size_t i)
{
    const size_t site = i ? SITES + SITES_CROSS * (i - 1) : SITE_CROSS;
    rela_attn_at *at = add_attention(b, false, false, (uint32_t)site);
    char part[32] = "cross";
    if (b->c->serial_cross) {
        add_side(b, at, i, RELA_ATTN_CROSS);
        if (i)
            (void)snprintf(part, sizeof part, "cross.%zu", i + 1);
    } else {
        for (size_t source = 0; source < b->c->sources; source++)
            add_side(b, at, source, RELA_ATTN_CROSS);
    }
    declare(b, &b->list->blocks[b->list->n - 1], part);
}

static void add_ffn(builder *b)
{
    rela_block *block = add(b, &rela_block_ffn, SITE_FFN);
    block->at.ffn = (rela_ffn_at){ .width = b->c->ffn, .drop = b->c->drop_ffn };
    declare(b, block, "ffn");
}

/* The encoders of several sources share their names, and so their parameters, or are numbered. */
static void enter_stack(builder *b, size_t stream)
{
    if (stream == rela_block_list_target(b->list))
        (void)snprintf(b->stack, sizeof b->stack, "dec");
    else if (stream == 0 || b->c->share_encoders)
        (void)snprintf(b->stack, sizeof b->stack, "enc");
    else
        (void)snprintf(b->stack, sizeof b->stack, "enc%zu", stream + 1);
    b->stream = stream;
    b->layer = 0;
}

/* Sets the norm that follows each block of the stream: its own; with pre-norm that of the next
 * block and, after the last, the final norm of the stream. */
static void settle_norms(builder *b, size_t stream)
{
    rela_block *last = NULL;
    rela_norm_at final = { 0, 0 };
    if (b->c->pre_norm) {
        enter_stack(b, stream);
        (void)snprintf(b->declare.prefix, sizeof b->declare.prefix, "%s", b->stack);
        rela_declare_norm(&b->declare, &final, b->c->d);
    }
    for (size_t i = 0; i < b->list->n; i++) {
        rela_block *block = &b->list->blocks[i];
        if (block->stream != stream || block->type == &rela_block_output)
            continue;
        block->normed = b->c->pre_norm || last; /* embeddings have no norm of their own */
        block->norm = block->own;
        if (last && b->c->pre_norm)
            last->norm = block->own;
        last = block;
    }
    assert(last);
    last->last = true;
    if (b->c->pre_norm)
        last->norm = final;
}

static void build_source(builder *b, size_t stream)
{
    enter_stack(b, stream);
    add_embedding(b, b->c->vocab_src, "embed.src", false);
    for (; b->layer < b->c->enc_layers; b->layer++) {
        add_self(b, RELA_ATTN_ENC);
        add_ffn(b);
    }
}

static const char *output_name(const rela_config *c)
{
    return c->tie == RELA_TIE_NONE ? "output" : c->tie == RELA_TIE_OUT ? "embed.tgt" : "embed";
}

static void build_target(builder *b)
{
    const rela_config *c = b->c;
    enter_stack(b, rela_block_list_target(b->list));
    add_embedding(b, c->vocab_tgt, "embed.tgt", true);
    for (; b->layer < c->dec_layers; b->layer++) {
        add_self(b, RELA_ATTN_DEC);
        for (size_t i = 0; i < count_cross(c); i++)
            add_cross(b, i);
        add_ffn(b);
    }
    b->layer = 0;
    rela_block *output = add(b, &rela_block_output, 0);
    output->at.output.vocabulary = c->vocab_tgt;
    (void)snprintf(output->at.output.table_name, sizeof output->at.output.table_name, "%s",
                   output_name(c));
    declare(b, output, NULL);
}

/* Tables come first among the parameters and norms of streams last, as in all versions so far: sums
 * over all gradients stay bit-identical, and old training runs can be resumed. */
static void declare_tables(builder *b)
{
    const rela_config *c = b->c;
    const char *const names[] = { c->tie == RELA_TIE_ALL ? "embed" : "embed.src",
                                  c->tie == RELA_TIE_ALL ? "embed" : "embed.tgt", output_name(c) };
    const size_t sizes[] = { c->vocab_src, c->vocab_tgt, c->vocab_tgt };
    for (size_t i = 0; i < 3; i++) {
        uint32_t number = 0;
        rela_declare_table(&b->declare, &number, names[i], sizes[i], c->d, i < 2);
    }
}

static void build_stacks(builder *b)
{
    declare_tables(b);
    for (size_t i = 0; i < b->c->sources; i++)
        build_source(b, i);
    build_target(b);
    b->list->params_end = b->declare.params->total;
    for (size_t i = 0; i < b->list->n_streams; i++)
        settle_norms(b, i);
}

static void build_aligner(builder *b)
{
    b->stream = rela_block_list_target(b->list);
    rela_block *block = add(b, &rela_block_align, 0);
    block->drop = b->c->drop_embed;
    block->site = SITE_EMBED;
    rela_head_group groups[RELA_GROUPS_MAX];
    (void)groups_at(b, groups, RELA_ATTN_CROSS);
    block->at.align = (rela_align_at){ .kind = groups[0].of,
                                       .stack = stack_of(b->list, b->stream, 0),
                                       .vocab_src = b->c->vocab_src,
                                       .vocab_tgt = b->c->vocab_tgt };
    declare(b, block, NULL);
    b->list->params_end = block->params_end;
}
