/* SPDX-License-Identifier: MIT */
/* tests/grad/test_sources.c - gradients of models with several sources, in double: two to four of
 * them, encoders shared or not, cross attention in parallel or serial, every kind, and sentences of
 * which some sources are empty. */
#include "modelgrad.h"

enum { SENTENCES = 4, SOURCES = RELA_SOURCES_MAX };

/* Lengths by source and sentence; 0: empty. The first sentence has all, the last only one. */
static const uint32_t LENGTHS[SOURCES][SENTENCES] = {
    { 5, 3, 0, 2 }, { 2, 0, 4, 0 }, { 3, 6, 1, 0 }, { 4, 1, 2, 0 }
};
static const uint32_t TARGET_LENGTHS[SENTENCES] = { 3, 5, 4, 2 };

typedef struct side {
    int32_t ids[PROBE_ROWS];
    uint32_t at[2 * SENTENCES + 1];
} side;

static void fill_side(side *s, rela_tokens *out, const uint32_t *lengths, size_t copies,
                      uint64_t seed)
{
    rela_rng r = rela_rng_start(19, seed);
    size_t n = 0;
    s->at[0] = 0;
    for (size_t i = 0; i < SENTENCES; i++) {
        const uint32_t first = s->at[n];
        for (size_t copy = 0; copy < copies; copy++, n++) {
            const uint32_t at = s->at[n];
            for (uint32_t k = 0; k < lengths[i]; k++)
                s->ids[at + k] =
                    copy ? s->ids[first + k]
                         : (k + 1 == lengths[i] ? 2 : (int32_t)(3 + rela_rng_below(&r, 8)));
            s->at[n + 1] = at + lengths[i];
        }
    }
    *out = (rela_tokens){ s->ids, s->at, n };
}

static rela_model_batch make_batch(side *sides, size_t sources, size_t copies)
{
    rela_model_batch b = { .first = { 0 } };
    for (size_t i = 0; i < sources; i++)
        fill_side(&sides[i], &b.streams[i], LENGTHS[i], copies, i);
    fill_side(&sides[sources], &b.streams[sources], TARGET_LENGTHS, copies, sources);
    return b;
}

static void check(const rela_config *c, double kl_weight, const char *what)
{
    side sides[RELA_STREAMS_MAX];
    char text[96];
    const rela_model_batch b = make_batch(sides, c->sources, kl_weight > 0 ? 2 : 1);
    (void)snprintf(text, sizeof text, "%zu sources, %s, %s%s%s", c->sources,
                   c->share_encoders ? "shared" : "separate",
                   c->serial_cross ? "serial" : "parallel", *what ? ", " : "", what);
    probe_check(c, &b, kl_weight, text);
}

static rela_config sources_model(const char *kind, size_t sources)
{
    rela_config c = small_model(rela_attn_kind_find(kind));
    c.sources = sources;
    return c;
}

static void every_number_of_sources_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3 * 4; i++) {
        rela_config c = sources_model("rela-g", 2 + i / 4);
        c.share_encoders = i % 2;
        c.serial_cross = i / 2 % 2;
        check(&c, 0, "");
        c.pre_norm = true;
        check(&c, 0, "pre-norm");
    }
}

static void every_kind_has_exact_gradients(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        for (int serial = 0; serial < 2; serial++) {
            rela_config c = sources_model(rela_attn_kind_at(i)->name, 2);
            c.serial_cross = serial;
            c.share_encoders = i % 2;
            check(&c, 0, "");
        }
}

static void every_shape_has_exact_gradients(void **state)
{
    (void)state;
    rela_config c = sources_model("rela-g", 2);
    c.norm_per_head = true;
    c.tie = RELA_TIE_OUT;
    check(&c, 0, "per head, tie out");
    c.tie = RELA_TIE_NONE;
    check(&c, 0, "per head, no tying");
    c = sources_model("rela-i", 3);
    set_attention(&c, RELA_ATTN_CROSS, "1=rela-g+2xsoftmax,2=2xsparsemax+rela-i");
    check(&c, 0, "mixed heads");
    c = sources_model("rela-g", 2);
    check(&c, 4, "R-Drop pairs");
    c.serial_cross = true;
    check(&c, 4, "R-Drop pairs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_sources_has_exact_gradients),
        cmocka_unit_test(every_kind_has_exact_gradients),
        cmocka_unit_test(every_shape_has_exact_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
