/* SPDX-License-Identifier: MIT */
/* src/nn/block_output.c - logits = x W^T, without a bias, and the loss of a batch. Logits and
 * gradients of a chunk of rows are computed together (nn/loss.h), so there is nothing left for the
 * backward pass. */
#include "nn/block.h"

static void declare(rela_block *b, rela_declare *d)
{
    rela_output_at *at = &b->at.output;
    rela_declare_table(d, &at->table, at->table_name, at->vocabulary, b->d, false);
}

static void plan(const rela_block *b, rela_plan *kept, rela_plan *scratch, const rela_pass_size *s)
{
    (void)kept;
    if (!s->step)
        (void)rela_plan_reals(scratch, RELA_LOSS_CHUNK * b->at.output.vocabulary);
}

static void forward(const rela_block *b, rela_pass *p)
{
    const rela_output_at *at = &b->at.output;
    const rela_stream *s = &p->streams[b->stream];
    if (p->step) {
        if (p->rounded.q)
            p->k->bytes(p->rounded.q, rela_int8_ld(b->d), p->rounded.scale, s->act.x, b->d, s->rows,
                        b->d);
        return;
    }
    rela_plan scratch = rela_block_scratch(p);
    const rela_loss loss = { .k = p->k,
                             .d = b->d,
                             .vocabulary = at->vocabulary,
                             .smooth = p->loss.smooth,
                             .logits = rela_plan_reals(&scratch, RELA_LOSS_CHUNK * at->vocabulary),
                             .row_nll = p->loss.row_nll,
                             .kl_weight = p->loss.kl_weight,
                             .pairs = s->tokens.at,
                             .n_pairs = p->loss.kl_weight > 0 ? s->tokens.n : 0 };
    p->sums = rela_loss_run(
        &loss, p->grads ? p->dx : NULL, p->grads ? rela_gradient(p, at->table) : NULL, s->act.x,
        rela_matrix(p, at->table)->reals, s->tokens.ids, p->loss.row_weight, s->rows);
}

const rela_block_type rela_block_output = { "output", declare, plan, forward, NULL, NULL };
