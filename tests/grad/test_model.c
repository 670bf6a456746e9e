/* SPDX-License-Identifier: MIT */
/* tests/grad/test_model.c - gradients of whole 2+2-layer models against central differences, in
 * double: every kind of attention, both norm placements, all tyings, dropout on; and of models for
 * alignment. */
#include "modelgrad.h"

static const int32_t SRC[] = { 3, 4, 5, 6, 2, 7, 8, 2, 9, 2 };
static const uint32_t SRC_AT[] = { 0, 5, 8, 10 };
static const int32_t TGT[] = { 5, 3, 2, 8, 9, 10, 4, 2, 6, 7, 2 };
static const uint32_t TGT_AT[] = { 0, 3, 8, 11 };

static const rela_model_batch BATCH = { .streams = { { SRC, SRC_AT, 3 }, { TGT, TGT_AT, 3 } } };

/* Every sentence twice: with dropout on they differ. */
static const int32_t SRC_TWICE[] = { 3, 4, 5, 6, 2, 3, 4, 5, 6, 2, 7, 8, 2, 7, 8, 2, 9, 2, 9, 2 };
static const uint32_t SRC_TWICE_AT[] = { 0, 5, 10, 13, 16, 18, 20 };
static const int32_t TGT_TWICE[] = { 5, 3, 2,  5, 3, 2, 8, 9, 10, 4, 2,
                                     8, 9, 10, 4, 2, 6, 7, 2, 6,  7, 2 };
static const uint32_t TGT_TWICE_AT[] = { 0, 3, 6, 11, 16, 19, 22 };

static const rela_model_batch PAIRS = { .streams = { { SRC_TWICE, SRC_TWICE_AT, 6 },
                                                     { TGT_TWICE, TGT_TWICE_AT, 6 } } };

static void check(const rela_config *c, const char *what)
{
    probe_check(c, &BATCH, 0, what);
}

static void every_kind_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_config c = small_model(rela_attn_kind_at(i));
        check(&c, "post-norm");
    }
}

static void every_shape_has_exact_gradients(void **state)
{
    (void)state;
    rela_config c = small_model(rela_attn_kind_find("rela-g"));
    c.pre_norm = true;
    check(&c, "pre-norm");
    c.norm_per_head = true;
    c.tie = RELA_TIE_OUT;
    check(&c, "pre-norm, per head, tie out");
    c.pre_norm = false;
    c.tie = RELA_TIE_NONE;
    check(&c, "per head, no tying");
    c = small_model(rela_attn_kind_find("softmax"));
    set_attention(&c, RELA_ATTN_CROSS, "rela-i");
    set_attention(&c, RELA_ATTN_DEC, "rela-g");
    check(&c, "mixed kinds");
}

static void r_drop_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const rela_config c = small_model(rela_attn_kind_at(i));
        probe_check(&c, &PAIRS, 4, "R-Drop pairs");
    }
}

/* Sentences of the batch are as different in length as the sides of a pair. */
static void alignment_has_exact_gradients(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        rela_error err = { RELA_OK, "" };
        rela_config c = small_model(rela_attn_kind_at(i));
        c.task = RELA_TASK_ALIGN;
        c.heads = c.enc_layers = c.dec_layers = 1;
        c.tie = RELA_TIE_OUT;
        if (rela_config_check(&c, &err) != RELA_OK)
            continue; /* a kind with more than a row function */
        check(&c, "alignment");
        n++;
    }
    CHECK(n >= 8, "%zu kinds", n);
}

/* The check must be able to fail: an error of a thousandth in one gradient is seen. */
static void planted_fault_is_caught(void **state)
{
    (void)state;
    probe p;
    const char *where = "";
    const rela_config c = small_model(rela_attn_kind_find("rela-g"));
    probe_start(&p, &c, &BATCH, 0);
    const rela_param *q = rela_params_find(&p.net.params, "enc.1.self.norm.gate");
    for (size_t i = 0; i < rela_param_count(q); i++)
        p.grads[q->offset + i] *= 1.001;
    CHECK(probe_worst_gap(&p, &where) > 1e-6, "not noticed");
    CHECK(strcmp(where, q->name) == 0, "blamed %s", where);
    probe_end(&p);
}

/* The block at fault, as it was. */
static const rela_block_type *sound;

/* Its input gradient is off by a thousandth; an embedding has none but its table's. */
static void back_with_a_fault(const rela_block *b, rela_pass *p)
{
    if (sound->back)
        sound->back(b, p);
    const size_t n = p->streams[b->stream].rows * b->d;
    const bool embed = b->type->declare == rela_block_embed.declare;
    const bool align = b->type->declare == rela_block_align.declare;
    real *x = embed   ? rela_gradient(p, b->at.embed.bias)
              : align ? rela_gradient(p, b->at.align.bias)
                      : p->dx;
    for (size_t i = 0; i < (embed ? b->d : align ? b->at.align.vocab_tgt : n); i++)
        x[i] *= 1.001;
}

static size_t faults_caught(const rela_config *c, size_t *n)
{
    probe p;
    size_t caught = 0;
    probe_start(&p, c, &BATCH, 0);
    for (size_t i = 0; i < p.net.list.n; i++) {
        const char *where = "";
        rela_block *b = &p.net.list.blocks[i];
        sound = b->type;
        rela_block_type faulty = *sound;
        faulty.back = back_with_a_fault;
        b->type = &faulty;
        memset(p.grads, 0, p.net.params.total * sizeof *p.grads);
        (void)rela_worker_train(p.worker, p.grads, p.batch, &p.pass);
        b->type = sound;
        const double worst = probe_worst_gap(&p, &where);
        print_message("fault in %-10s of stream %zu, layer %zu: %.1e at %s\n", sound->name,
                      b->stream, b->layer, worst, where);
        caught += worst > 1e-6;
    }
    *n = p.net.list.n;
    probe_end(&p);
    return caught;
}

static void planted_fault_in_each_block_is_caught(void **state)
{
    (void)state;
    size_t n = 0;
    rela_config c = small_model(rela_attn_kind_find("rela-g"));
    size_t caught = faults_caught(&c, &n);
    CHECK(caught == n, "%zu of %zu", caught, n);
    c.task = RELA_TASK_ALIGN;
    c.heads = c.enc_layers = c.dec_layers = 1;
    c.tie = RELA_TIE_OUT;
    caught = faults_caught(&c, &n);
    CHECK(caught == n, "alignment: %zu of %zu", caught, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_exact_gradients),
        cmocka_unit_test(every_shape_has_exact_gradients),
        cmocka_unit_test(r_drop_has_exact_gradients),
        cmocka_unit_test(alignment_has_exact_gradients),
        cmocka_unit_test(planted_fault_is_caught),
        cmocka_unit_test(planted_fault_in_each_block_is_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
