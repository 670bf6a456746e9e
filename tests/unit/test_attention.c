/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attention.c - the attention operator of the public interface: the same bits as
 * the layers inside, whatever the layout, the threads and what is kept between the passes. */
#include "attnlayer.h"
#include "check.h"
#include "rela/attention.h"
#include "sweep.h"

#include <math.h>
#include <string.h>

enum {
    HEADS = 3,
    D_HEAD = 5,
    D = HEADS * D_HEAD,
    LD = D + 4, /* wider than needed */
    SEQS = 5,
    STEP = 41,
    ROWS = SEQS * STEP,
    WEIGHTS = SEQS * HEADS * STEP * STEP
};

/* One sequence is empty, one has no keys, one more queries than keys. */
static const uint32_t Q_LENS[SEQS] = { 7, 0, 40, 2, 9 }, K_LENS[SEQS] = { 9, 3, 41, 0, 4 };

static uint32_t seed = 1u;

static float rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

/* Everything that goes in and comes out. */
typedef struct arrays {
    float q[ROWS * LD], k[ROWS * LD], v[ROWS * LD], dy[ROWS * LD];
    float gain[D], gate[D], head[HEADS];
    float y[ROWS * LD], mixed[ROWS * D], weights[WEIGHTS];
    float dq[ROWS * LD], dk[ROWS * LD], dv[ROWS * LD];
    float dgain[D], dgate[D], dhead[HEADS];
} arrays;

static arrays packed, padded, other;

static void fill(arrays *x)
{
    memset(x, 0, sizeof *x);
    for (size_t i = 0; i < ROWS * LD; i++) {
        x->q[i] = 2 * rnd();
        x->k[i] = 2 * rnd();
        x->v[i] = rnd();
        x->dy[i] = rnd();
        x->y[i] = x->dq[i] = x->dk[i] = x->dv[i] = NAN; /* all that is wanted is written */
    }
    for (size_t i = 0; i < D; i++) {
        x->gain[i] = 1 + 0.3f * rnd();
        x->gate[i] = rnd();
    }
    for (size_t i = 0; i < HEADS; i++)
        x->head[i] = 0.3f * rnd();
}

static bool shown; /* the weights of the operator created last */

static rela_attention *create(const char *kind, bool causal, int threads, double dropout)
{
    rela_error err;
    rela_attention *a = NULL;
    rela_attention_options o;
    rela_attention_options_init(&o, sizeof o);
    o.kind = kind;
    o.heads = HEADS;
    o.head_width = D_HEAD;
    o.max_length = STEP;
    o.causal = causal;
    o.n_threads = threads;
    o.dropout = dropout;
    o.top = 4;
    o.window = o.stride = 3;
    CHECK_OK(rela_attention_create(&a, &o, &err), err);
    shown = rela_attn_shows(rela_attn_kind_find(kind));
    return a;
}

static rela_attention_input input(const arrays *x, size_t ld, size_t step)
{
    rela_attention_input in;
    rela_attention_input_init(&in, sizeof in);
    in.n = SEQS;
    in.q_step = in.k_step = step;
    in.q_lens = Q_LENS;
    in.k_lens = K_LENS;
    in.q = x->q;
    in.k = x->k;
    in.v = x->v;
    in.ldq = in.ldk = in.ldv = ld;
    in.gain = x->gain;
    in.gate = x->gate;
    in.head = x->head;
    in.seed = 5;
    in.training = 1;
    return in;
}

static void forward(arrays *x, rela_attention *a, const rela_attention_input *in, bool keep)
{
    rela_error err;
    rela_attention_output out;
    rela_attention_output_init(&out, sizeof out);
    out.y = x->y;
    out.ldy = in->ldq;
    out.mixed = keep ? x->mixed : NULL;
    out.weights = shown ? x->weights : NULL;
    CHECK_OK(rela_attention_forward(&out, a, in, &err), err);
}

static void back(arrays *x, rela_attention *a, const rela_attention_input *in, bool keep)
{
    rela_error err;
    rela_attention_gradient g;
    rela_attention_gradient_init(&g, sizeof g);
    g.dy = x->dy;
    g.lddy = in->ldq;
    g.mixed = keep ? x->mixed : NULL;
    g.dq = x->dq;
    g.dk = x->dk;
    g.dv = x->dv;
    g.dgain = x->dgain;
    g.dgate = x->dgate;
    g.dhead = x->dhead;
    memset(x->dgain, 0, sizeof x->dgain);
    memset(x->dgate, 0, sizeof x->dgate);
    memset(x->dhead, 0, sizeof x->dhead);
    CHECK_OK(rela_attention_back(&g, a, in, &err), err);
}

static void run(arrays *x, const char *kind, bool causal, int threads, size_t ld, size_t step,
                bool keep)
{
    rela_attention *a = create(kind, causal, threads, 0);
    const rela_attention_input in = input(x, ld, step);
    forward(x, a, &in, keep);
    back(x, a, &in, keep);
    rela_attention_destroy(a);
}

static void same(const char *kind, const char *what, const float *x, size_t ldx, const float *y,
                 size_t ldy, size_t rows)
{
    for (size_t i = 0; i < rows * D; i++) {
        const float got = x[i / D * ldx + i % D], want = y[i / D * ldy + i % D];
        CHECK(got == want, "%s: %s (%zu, %zu) is %.9g instead of %.9g", kind, what, i / D, i % D,
              (double)got, (double)want);
    }
}

static void near(const char *kind, const char *what, const float *x, const float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK(fabsf(x[i] - y[i]) <= 2e-5f * (1 + fabsf(y[i])), "%s: %s[%zu] is %g instead of %g",
              kind, what, i, (double)x[i], (double)y[i]);
}

static size_t starts(uint32_t at[SEQS + 1], const uint32_t *lens)
{
    at[0] = 0;
    for (size_t i = 0; i < SEQS; i++)
        at[i + 1] = at[i] + lens[i];
    return at[SEQS];
}

/* What the layers of a model compute, over packed rows without gaps. */
static void inside(arrays *x, const rela_attn_kind *kind, bool causal)
{
    const attn_setup setup = { 0.01f, 1.5f, 4, 3, 3, 0.1f };
    uint32_t q_at[SEQS + 1], k_at[SEQS + 1];
    attn_layer l;
    const size_t rows = starts(q_at, Q_LENS);
    (void)starts(k_at, K_LENS);
    attn_layer_start(&l, kind, &setup, HEADS, D_HEAD, STEP);
    l.attn.causal = causal;
    const rela_attn_rows at = { SEQS, q_at, k_at, 0 };
    const rela_attn_in in = { x->q, x->k, x->v, D, D, D };
    rela_attn_grad grad = { .dq = x->dq, .dk = x->dk, .dv = x->dv };
    attn_layer_learn(&l, x->head, &grad, x->dhead);
    rela_attn_forward(&l.attn, &l.scratch, x->mixed, &in, &at);
    const float *dz = x->dy;
    memcpy(x->y, x->mixed, rows * D * sizeof *x->y);
    if (kind->norm) {
        const float *gate = kind->norm->gated ? x->gate : NULL;
        l.attn.k->gated_norm(x->y, x->mixed, x->gain, gate, rows, D, 1, 1e-8f, kind->norm->center);
        l.attn.k->gated_norm_back(x->weights, x->dgain, gate ? x->dgate : NULL, x->dy, x->mixed,
                                  x->gain, gate, rows, D, 1, 1e-8f, kind->norm->center);
        dz = x->weights; /* large enough, and not needed otherwise */
    }
    rela_attn_back(&l.attn, &l.scratch, &grad, dz, &in, &at);
    attn_layer_end(&l);
}

static void every_kind_equals_the_layers_inside(void **state)
{
    (void)state;
    uint32_t at[SEQS + 1];
    const size_t q_rows = starts(at, Q_LENS), k_rows = starts(at, K_LENS);
    for (size_t c = 0; rela_attn_kind_at(c / 2); c++) {
        const rela_attn_kind *kind = rela_attn_kind_at(c / 2);
        fill(&packed);
        other = packed;
        inside(&other, kind, c % 2);
        run(&packed, kind->name, c % 2, 1, 0, 0, c % 4 > 1);
        same(kind->name, "y", packed.y, D, other.y, D, q_rows);
        same(kind->name, "dq", packed.dq, D, other.dq, D, q_rows);
        same(kind->name, "dk", packed.dk, D, other.dk, D, k_rows);
        same(kind->name, "dv", packed.dv, D, other.dv, D, k_rows);
        near(kind->name, "dgain", packed.dgain, other.dgain, D);
        near(kind->name, "dgate", packed.dgate, other.dgate, D);
        near(kind->name, "dhead", packed.dhead, other.dhead, HEADS);
    }
}

/* Copies the rows of the packed arrays to where the padded ones have them. */
static void spread(float *to, const float *from, const uint32_t *lens)
{
    size_t row = 0;
    for (size_t i = 0; i < SEQS; i++)
        for (size_t j = 0; j < lens[i]; j++, row++)
            memcpy(to + (i * STEP + j) * LD, from + row * D, D * sizeof *to);
}

static void check_spread(const char *kind, const char *what, const float *x, const float *from,
                         const uint32_t *lens)
{
    static float want[ROWS * LD];
    memset(want, 0, sizeof want);
    spread(want, from, lens);
    same(kind, what, x, LD, want, LD, ROWS);
}

static void layout_changes_nothing(void **state)
{
    (void)state;
    for (size_t c = 0; rela_attn_kind_at(c / 2); c++) {
        const char *kind = rela_attn_kind_at(c / 2)->name;
        fill(&packed);
        padded = packed;
        run(&packed, kind, c % 2, 1, 0, 0, false);
        for (size_t i = 0; i < ROWS * LD; i++) /* reading what does not count would show */
            padded.q[i] = padded.k[i] = padded.v[i] = padded.dy[i] = NAN;
        spread(padded.q, packed.q, Q_LENS);
        spread(padded.k, packed.k, K_LENS);
        spread(padded.v, packed.v, K_LENS);
        spread(padded.dy, packed.dy, Q_LENS);
        run(&padded, kind, c % 2, 3, LD, STEP, true);
        check_spread(kind, "y", padded.y, packed.y, Q_LENS);
        check_spread(kind, "dq", padded.dq, packed.dq, Q_LENS);
        check_spread(kind, "dk", padded.dk, packed.dk, K_LENS);
        check_spread(kind, "dv", padded.dv, packed.dv, K_LENS);
        near(kind, "dgain", padded.dgain, packed.dgain, D);
        near(kind, "dgate", padded.dgate, packed.dgate, D);
        near(kind, "dhead", padded.dhead, packed.dhead, HEADS);
    }
}

/* Sequences that are long enough for three threads; gradients of what is learned are sums over all
 * rows, in the order of the threads. */
static void threads_change_nothing_but_the_order_of_sums(void **state)
{
    (void)state;
    enum { LONG = 300, N = 3 * LONG * D };
    static float q[N], k[N], v[N], dy[N], y[2][N], dx[2][3][N], learned[2][2 * D + HEADS];
    static const char *const KINDS[] = { "rela-t", "softmax", "entmax-learned" };
    fill(&packed); /* for what is learned */
    for (size_t i = 0; i < N; i++) {
        q[i] = rnd();
        k[i] = rnd();
        v[i] = rnd();
        dy[i] = rnd();
    }
    for (size_t c = 0; c < 6; c++) {
        rela_error err;
        rela_attention *a = NULL;
        rela_attention_options o;
        rela_attention_options_init(&o, sizeof o);
        o.kind = KINDS[c / 2];
        o.heads = HEADS;
        o.head_width = D_HEAD;
        o.n_threads = c % 2 ? 3 : 1;
        CHECK_OK(rela_attention_create(&a, &o, &err), err);
        rela_attention_input in = input(&packed, 0, LONG);
        in.n = 3;
        in.q_lens = in.k_lens = NULL;
        in.q = q;
        in.k = k;
        in.v = v;
        rela_attention_output out;
        rela_attention_output_init(&out, sizeof out);
        out.y = y[c % 2];
        CHECK_OK(rela_attention_forward(&out, a, &in, &err), err);
        rela_attention_gradient g;
        rela_attention_gradient_init(&g, sizeof g);
        g.dy = dy;
        g.dq = dx[c % 2][0];
        g.dk = dx[c % 2][1];
        g.dv = dx[c % 2][2];
        g.dgain = learned[c % 2];
        g.dgate = g.dgain + D;
        g.dhead = g.dgate + D;
        memset(learned[c % 2], 0, sizeof learned[0]);
        CHECK_OK(rela_attention_back(&g, a, &in, &err), err);
        rela_attention_destroy(a);
        if (c % 2 == 0)
            continue;
        same(o.kind, "y", y[1], D, y[0], D, 3 * LONG);
        for (size_t i = 0; i < 3; i++)
            same(o.kind, "gradient", dx[1][i], D, dx[0][i], D, 3 * LONG);
        for (size_t i = 0; i < 2 * D + HEADS; i++)
            CHECK(fabsf(learned[1][i] - learned[0][i]) <= 1e-3f * (1 + fabsf(learned[0][i])),
                  "%s: learned %zu: %g and %g", o.kind, i, (double)learned[1][i],
                  (double)learned[0][i]);
    }
}

/* Mixed values are the weights times the values, in both layouts; masked weights are 0. */
static void weights_are_those_that_were_used(void **state)
{
    (void)state;
    for (size_t c = 0; rela_attn_kind_at(c / 4); c++) {
        const char *kind = rela_attn_kind_at(c / 4)->name;
        const size_t step = c % 2 ? STEP : 0;
        const bool causal = c % 4 > 1;
        size_t q0 = 0, k0 = 0, w0 = 0;
        fill(&packed);
        run(&packed, kind, causal, 2, D, step, true);
        if (!shown)
            continue;
        for (size_t s = 0; s < SEQS; s++) {
            const size_t queries = step ? step : Q_LENS[s], keys = step ? step : K_LENS[s];
            for (size_t i = 0; i < Q_LENS[s] * (size_t)D; i++) {
                const size_t row = i / D, head = i % D / D_HEAD;
                const float *w = packed.weights + w0 + (head * queries + row) * keys;
                double sum = 0;
                for (size_t j = 0; j < keys; j++) {
                    CHECK(w[j] == 0 || (j < K_LENS[s] && (!causal || j <= row)),
                          "%s: weight %g of masked key %zu", kind, (double)w[j], j);
                    sum += w[j] == 0 ? 0 : (double)w[j] * (double)packed.v[(k0 + j) * D + i % D];
                }
                CHECK(fabs(sum - (double)packed.mixed[(q0 + row) * D + i % D]) < 1e-4,
                      "%s: mixed %g instead of %g", kind,
                      (double)packed.mixed[(q0 + row) * D + i % D], sum);
            }
            q0 += queries;
            k0 += keys;
            w0 += HEADS * queries * keys;
        }
    }
}

static double objective(rela_attention *a, const rela_attention_input *in)
{
    forward(&other, a, in, false);
    double sum = 0;
    uint32_t at[SEQS + 1];
    for (size_t i = 0; i < starts(at, Q_LENS) * D; i++)
        sum += (double)other.y[i] * (double)packed.dy[i];
    return sum;
}

/* Moves x along a random direction both ways. Returns how far the slope is from what the gradient
 * promises, as a share of the gradient's length. */
static double probe(rela_attention *a, const rela_attention_input *in, float *x, const float *dx,
                    size_t n)
{
    static float saved[ROWS * LD], along[ROWS * LD];
    const float step = 3e-4f;
    double promised = 0, squares = 1e-3;
    memcpy(saved, x, n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        along[i] = rnd();
        promised += (double)along[i] * (double)dx[i];
        squares += (double)dx[i] * (double)dx[i];
        x[i] = saved[i] + step * along[i];
    }
    const double up = objective(a, in);
    for (size_t i = 0; i < n; i++)
        x[i] = saved[i] - step * along[i];
    const double slope = (up - objective(a, in)) / (2 * (double)step);
    memcpy(x, saved, n * sizeof *x);
    return fabs(promised - slope) / sqrt(squares);
}

/* A sanity check in float; tests/grad has the exact ones. Kinks limit what can be asked for. */
static void gradients_follow_the_result_dropout_included(void **state)
{
    (void)state;
    uint32_t at[SEQS + 1];
    const size_t q = starts(at, Q_LENS) * D, k = starts(at, K_LENS) * D;
    for (size_t i = 0; rela_attn_kind_at(i); i++) {
        const char *kind = rela_attn_kind_at(i)->name;
        const double dropout = rela_attn_kind_at(i)->method ? 0 : 0.2;
        rela_attention *a = create(kind, false, 2, dropout);
        fill(&packed);
        other = packed;
        const rela_attention_input in = input(&packed, 0, 0);
        forward(&packed, a, &in, true);
        back(&packed, a, &in, true);
        float *const x[] = { packed.q, packed.k, packed.v, packed.gain, packed.gate, packed.head };
        const float *const dx[] = { packed.dq,    packed.dk,    packed.dv,
                                    packed.dgain, packed.dgate, packed.dhead };
        const size_t n[] = { q, k, k, D, D, HEADS };
        const size_t first = strcmp(kind, "topk") == 0 ? 2 : 0; /* its choice of keys jumps */
        for (size_t p = first; p < sizeof n / sizeof n[0]; p++) {
            const double gap = probe(a, &in, x[p], dx[p], n[p]);
            CHECK(gap < 0.03, "%s: input %zu: off by %g", kind, p, gap);
        }
        rela_attention_destroy(a);
    }
}

static void dropout_acts_in_training_only(void **state)
{
    (void)state;
    fill(&packed);
    other = packed;
    rela_attention *a = create("softmax", false, 2, 0.5), *plain = create("softmax", false, 1, 0);
    rela_attention_input in = input(&packed, 0, 0);
    uint32_t at[SEQS + 1];
    const size_t rows = starts(at, Q_LENS);
    forward(&packed, a, &in, false);
    forward(&other, plain, &in, false);
    CHECK(memcmp(packed.y, other.y, rows * D * sizeof *packed.y) != 0, "nothing was dropped");
    CHECK(memcmp(packed.weights, other.weights, sizeof other.weights) == 0,
          "shown weights must be those before dropout");
    in.training = 0;
    forward(&packed, a, &in, false);
    same("softmax", "y", packed.y, D, other.y, D, rows);
    rela_attention_destroy(a);
    rela_attention_destroy(plain);
}

static void calls_allocate_nothing(void **state)
{
    (void)state;
    rela_memory_stats before, after;
    fill(&packed);
    rela_attention *a = create("rela-g", true, 3, 0);
    const rela_attention_input in = input(&packed, 0, 0);
    before = memory_now();
    forward(&packed, a, &in, false);
    back(&packed, a, &in, false);
    after = memory_now();
    rela_attention_destroy(a);
    CHECK(before.calls == after.calls, "%d allocations", (int)(after.calls - before.calls));
}

static void learned_numbers_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        size_t gain, gate, head;
        int random_gain;
    } ROWS_OF[] = { { "softmax", 0, 0, 0, 0 },
                    { "rela-i", D, 0, 0, 1 },
                    { "rela-g", D, D, 0, 0 },
                    { "rela-t", D, D, HEADS, 0 },
                    { "entmax-learned", 0, 0, HEADS, 0 } };
    for (size_t i = 0; i < sizeof ROWS_OF / sizeof ROWS_OF[0]; i++) {
        rela_attention *a = create(ROWS_OF[i].kind, false, 1, 0);
        rela_attention_learned l = { .struct_size = sizeof l };
        assert_int_equal(rela_attention_learned_get(&l, a, NULL), RELA_OK);
        CHECK(l.gain == ROWS_OF[i].gain && l.gate == ROWS_OF[i].gate && l.head == ROWS_OF[i].head &&
                  l.random_gain == ROWS_OF[i].random_gain,
              "%s: %zu %zu %zu %d", ROWS_OF[i].kind, l.gain, l.gate, l.head, (int)l.random_gain);
        rela_attention_destroy(a);
    }
}

/* ---- what is refused ---- */

static void spoil_options(rela_attention_options *o, size_t row)
{
    rela_attention_options bad[] = { *o, *o, *o, *o, *o, *o, *o, *o, *o };
    bad[0].heads = 0;
    bad[1].head_width = 1 << 20;
    bad[2].max_length = -1;
    bad[3].kind = "bahdanau";
    bad[4].alpha = NAN;
    bad[5].dropout = 1;
    bad[6].stride = 0;
    bad[7].n_threads = 1000;
    bad[8].kind = "linear";
    bad[8].dropout = 0.1;
    *o = bad[row];
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    static const char *const MESSAGES[] = {
        "heads is 0; expected 1..4096",
        "head_width is 1048576; expected 1..65536",
        "max_length is -1; expected 1..16777216",
        "unknown attention 'bahdanau'; 'rela info --attention' lists the kinds",
        "alpha is nan; expected 1.01..4",
        "dropout is 1; expected 0..0.99",
        "stride is 0; expected 1..16777216",
        "n_threads is 1000; expected 0..256",
        "dropout is 0.1, but linear forms no weights to drop",
    };
    for (size_t i = 0; i < sizeof MESSAGES / sizeof MESSAGES[0]; i++) {
        rela_error err;
        rela_attention *a = NULL;
        rela_attention_options o;
        rela_attention_options_init(&o, sizeof o);
        spoil_options(&o, i);
        CHECK(rela_attention_create(&a, &o, &err) == RELA_ARG, "%s: taken", MESSAGES[i]);
        CHECK(!a && strcmp(err.message, MESSAGES[i]) == 0, "got '%s'", err.message);
    }
}

static void spoil_input(rela_attention_input *in, size_t row)
{
    static const uint32_t LONG[SEQS] = { 7, STEP + 1, 1, 1, 1 };
    rela_attention_input bad[] = { *in, *in, *in, *in, *in, *in, *in };
    bad[0].q = NULL;
    bad[1].gain = NULL;
    bad[2].gate = NULL;
    bad[3].k_lens = NULL;
    bad[4].ldv = D - 1;
    bad[5].k_lens = LONG;
    bad[6].q_lens = LONG;
    bad[6].q_step = STEP;
    *in = bad[row];
}

static void bad_inputs_are_refused(void **state)
{
    (void)state;
    static const char *const MESSAGES[] = {
        "queries, keys or values are NULL",       "rela-g needs a gain of 15 numbers",
        "rela-g needs a gate of 15 numbers",      "neither a step nor lengths of the sequences",
        "ldv is 14; expected at least 15",        "sequence 1: 42 keys; expected at most 41",
        "sequence 1: 42 queries in a step of 41",
    };
    rela_attention *a = create("rela-g", false, 1, 0);
    fill(&packed);
    for (size_t i = 0; i < sizeof MESSAGES / sizeof MESSAGES[0]; i++) {
        rela_error err;
        rela_attention_output out;
        rela_attention_gradient g;
        rela_attention_input in = input(&packed, 0, 0);
        rela_attention_output_init(&out, sizeof out);
        rela_attention_gradient_init(&g, sizeof g);
        out.y = packed.y;
        spoil_input(&in, i);
        CHECK(rela_attention_forward(&out, a, &in, &err) == RELA_ARG, "%s", MESSAGES[i]);
        CHECK(strcmp(err.message, MESSAGES[i]) == 0, "got '%s'", err.message);
        CHECK(rela_attention_back(&g, a, &in, &err) == RELA_ARG, "%s", MESSAGES[i]);
        CHECK(strcmp(err.message, MESSAGES[i]) == 0, "got '%s'", err.message);
    }
    rela_error err;
    rela_attention_output out;
    rela_attention_gradient g;
    const rela_attention_input in = input(&packed, 0, 0);
    rela_attention_output_init(&out, sizeof out);
    rela_attention_gradient_init(&g, sizeof g);
    CHECK(rela_attention_forward(&out, a, &in, &err) == RELA_ARG, "without y");
    CHECK(rela_attention_back(&g, a, &in, &err) == RELA_ARG, "without gradients");
    rela_attention_destroy(a);
}

/* A program built before a member was added gives a shorter struct. */
static void shorter_structs_of_older_callers_work(void **state)
{
    (void)state;
    rela_error err;
    rela_attention *a = NULL;
    rela_attention_options o;
    memset(&o, 0x7f, sizeof o);
    rela_attention_options_init(&o, offsetof(rela_attention_options, causal));
    CHECK_OK(rela_attention_create(&a, &o, &err), err);
    rela_attention_destroy(a);
}

static void refused_memory_is_a_status(void **state)
{
    (void)state;
    rela_attention_options o;
    rela_attention_options_init(&o, sizeof o);
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        rela_error err = { .message = "" };
        rela_attention *a = NULL;
        sweep_arm(&s);
        const rela_status st = rela_attention_create(&a, &o, &err);
        sweep_disarm(&s);
        rela_attention_destroy(a);
        sweep_check(&s);
        sweep_status(&s, st, &err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_equals_the_layers_inside),
        cmocka_unit_test(layout_changes_nothing),
        cmocka_unit_test(threads_change_nothing_but_the_order_of_sums),
        cmocka_unit_test(weights_are_those_that_were_used),
        cmocka_unit_test(gradients_follow_the_result_dropout_included),
        cmocka_unit_test(dropout_acts_in_training_only),
        cmocka_unit_test(calls_allocate_nothing),
        cmocka_unit_test(learned_numbers_are_told),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(bad_inputs_are_refused),
        cmocka_unit_test(shorter_structs_of_older_callers_work),
        cmocka_unit_test(refused_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
