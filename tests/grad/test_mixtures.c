/* SPDX-License-Identifier: MIT */
/* tests/grad/test_mixtures.c - gradients of models whose attention stacks have different kinds, in
 * double: every ordered pair (self, cross) and random triples, sentences on both sides of every
 * length at which attention changes its way of computing, every path forced, with and without a
 * tap.
 *
 * One random direction per group of parameters stands for all its entries: a wrong entry changes
 * the slope along it. Without arguments sentences are short; `full` takes all lengths. */
#include "base/mem.h"
#include "base/rng.h"
#include "smallmodel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LENGTHS_MAX = 7, ROWS_MAX = 800, TRIES = 6 };
enum { PAIR_STEP = EMULATED ? 11 : 1, TRIPLES = EMULATED ? 10 : 100 };

/* The limits of strips are 64 queries and of blocks 128 keys. */
static const uint32_t SHORT_SRC[] = { 1, 15, 64, 65 }, SHORT_TGT[] = { 65, 64, 1, 15 };
static const uint32_t ALL_SRC[] = { 1, 15, 64, 127, 128, 129, 300 };
static const uint32_t ALL_TGT[] = { 129, 300, 1, 64, 127, 15, 128 };

typedef struct side {
    int32_t ids[ROWS_MAX];
    uint32_t at[LENGTHS_MAX + 1];
} side;

static const double LARGEST_GAP = 1e-6;

static side src, tgt;
static rela_model_batch batch;
static bool full;

typedef struct group {
    const char *name;
    const char *first, *second; /* parts of the names of its parameters; second may be NULL */
} group;

static const group GROUPS[] = {
    { "embeddings", "embed", NULL },        { "encoder self", "enc.", ".self." },
    { "encoder ffn", "enc.", ".ffn." },     { "decoder self", "dec.", ".self." },
    { "decoder cross", "dec.", ".cross." }, { "decoder ffn", "dec.", ".ffn." },
};

enum { N_GROUPS = sizeof GROUPS / sizeof GROUPS[0] };

static void fill_side(side *s, const uint32_t *lengths, size_t n)
{
    rela_rng r = rela_rng_start(17, n);
    s->at[0] = 0;
    for (size_t i = 0; i < n; i++) {
        s->at[i + 1] = s->at[i] + lengths[i];
        for (uint32_t j = s->at[i]; j < s->at[i + 1]; j++)
            s->ids[j] = (int32_t)(3 + rela_rng_below(&r, SMALL_MODEL_VOCAB - 3));
        s->ids[s->at[i + 1] - 1] = 2;
    }
}

static void fill_batch(void)
{
    const size_t n = full ? 7 : 4;
    fill_side(&src, full ? ALL_SRC : SHORT_SRC, n);
    fill_side(&tgt, full ? ALL_TGT : SHORT_TGT, n);
    batch = (rela_model_batch){ .streams = { { src.ids, src.at, n }, { tgt.ids, tgt.at, n } } };
}

/* A mixture under test. */
typedef struct mixture {
    rela_config config;
    rela_net net;
    rela_worker *worker;
    rela_pass_options pass;
    real *grads, *direction, *start;
} mixture;

static void mixture_start(mixture *m, const rela_config *c)
{
    rela_error err = { RELA_OK, "" };
    memset(m, 0, sizeof *m);
    m->config = *c;
    CHECK_OK(rela_config_check(c, &err), err);
    CHECK_OK(rela_net_init(&m->net, c, &err), err);
    CHECK_OK(rela_worker_create(&m->worker, &m->net, rela_tokens_rows(&batch.streams[0]),
                                rela_tokens_rows(&batch.streams[1]), true, &err),
             err);
    const size_t n = m->net.params.total;
    real **const arrays[] = { &m->grads, &m->direction, &m->start };
    for (size_t i = 0; i < 3; i++) {
        *arrays[i] = rela_mem_zalloc(n * sizeof(real));
        CHECK(*arrays[i] != NULL, "no memory for %zu reals", n);
    }
    m->pass =
        (rela_pass_options){ .training = true, .seed = 5, .update = 9, .loss = { .smooth = 0.1 } };
}

/* Biases, gains and learned head numbers start at constants: they are moved off special points. */
static void choose_weights(mixture *m, uint64_t number)
{
    const size_t n = m->net.params.total;
    rela_rng r = rela_rng_start(3, number);
    rela_params_init(m->start, &m->net.params, 7);
    for (size_t i = 0; i < n; i++)
        m->start[i] += 0.1 * (rela_rng_real(&r) - 0.5);
    memcpy(m->net.weights, m->start, n * sizeof(real));
}

static void mixture_end(mixture *m)
{
    rela_mem_free(m->grads);
    rela_mem_free(m->direction);
    rela_mem_free(m->start);
    rela_worker_destroy(m->worker);
    rela_net_deinit(&m->net);
}

static bool belongs(const group *g, const rela_param *p)
{
    return strstr(p->name, g->first) && (!g->second || strstr(p->name, g->second));
}

/* Random signs for the parameters of a group, 0 for all others. */
static void choose_direction(mixture *m, const group *g, uint64_t number)
{
    rela_rng r = rela_rng_start(11, number);
    memset(m->direction, 0, m->net.params.total * sizeof *m->direction);
    for (size_t i = 0; i < m->net.params.n; i++) {
        const rela_param *p = &m->net.params.items[i];
        for (size_t j = 0; belongs(g, p) && j < rela_param_count(p); j++)
            m->direction[p->offset + j] = rela_rng_real(&r) < 0.5 ? -1 : 1;
    }
}

static double loss_at(mixture *m, double step)
{
    const size_t n = m->net.params.total;
    for (size_t i = 0; i < n; i++)
        m->net.weights[i] = m->start[i] + step * m->direction[i];
    const double loss = rela_worker_forward(m->worker, &batch, &m->pass).loss;
    memcpy(m->net.weights, m->start, n * sizeof(real));
    return loss;
}

/* Steps of central differences, wide enough for the rounding of the loss. The narrower one is, the
 * fewer scores change their sign within it: long sentences have so many that some always do in the
 * widest. */
static const double STEPS[] = { 5e-7, 1e-7, 2e-8 };
enum { N_STEPS = sizeof STEPS / sizeof STEPS[0] };

static double slope_measured(mixture *m, double h)
{
    return (loss_at(m, h) - loss_at(m, -h)) / (2 * h);
}

static void see_nothing(void *ctx, const rela_attn_view *v)
{
    (void)ctx;
    (void)v;
}

/* Gradients in one of the ways to compute them: paths, each without and with a tap. */
enum { PATHS = RELA_ATTN_N_PATHS, WAYS = 2 * PATHS };

static void compute_gradients(mixture *m, size_t way)
{
    static const rela_attn_tap TAP = { see_nothing, NULL };
    rela_pass_options pass = m->pass;
    pass.path = (rela_attn_path)(way % PATHS);
    pass.tap = way < PATHS ? NULL : &TAP;
    memset(m->grads, 0, m->net.params.total * sizeof *m->grads);
    (void)rela_worker_train(m->worker, m->grads, &batch, &pass);
}

/* Slopes along the directions of all groups, as the gradients have them. */
static void slopes_computed(mixture *m, size_t way, uint64_t number, double *slopes)
{
    compute_gradients(m, way);
    for (size_t g = 0; g < N_GROUPS; g++) {
        choose_direction(m, &GROUPS[g], number);
        slopes[g] = 0;
        for (size_t i = 0; i < m->net.params.total; i++)
            slopes[g] += m->grads[i] * m->direction[i];
    }
}

static double gap(double x, double y)
{
    return fabs(x - y) / (fabs(x) + fabs(y) + 1e-2);
}

/* Notes where the slopes of all ways along the direction at hand come nearer to the measured one;
 * the largest gap that is left. */
static double compare_slopes(mixture *m, double (*computed)[N_GROUPS], double (*best)[N_GROUPS],
                             size_t g)
{
    double worst = INFINITY;
    for (size_t i = 0; i < N_STEPS && worst > LARGEST_GAP; i++) {
        const double measured = slope_measured(m, STEPS[i]);
        worst = 0;
        for (size_t way = 0; way < WAYS; way++) {
            const double now = gap(computed[way][g], measured);
            if (now < best[way][g]) /* not if it is NaN */
                best[way][g] = now;
            worst = best[way][g] > worst ? best[way][g] : worst;
        }
    }
    return worst;
}

static void describe(char *where, size_t size, double (*best)[N_GROUPS], size_t g)
{
    size_t way = 0;
    for (size_t i = 1; i < WAYS; i++)
        way = best[i][g] > best[way][g] ? i : way;
    (void)snprintf(where, size, "%s, path %s%s", GROUPS[g].name,
                   rela_attn_path_name((rela_attn_path)(way % PATHS)),
                   way < PATHS ? "" : ", tapped");
}

/* The largest gap of a mixture. Where a rectified score changes its sign within a step the
 * difference says nothing, so other steps and weights are tried: a wrong gradient is wrong with
 * all.
 */
static double worst_gap(mixture *m, char *where, size_t size)
{
    double worst = 0, computed[WAYS][N_GROUPS];
    double best[WAYS][N_GROUPS];
    for (size_t i = 0; i < WAYS * N_GROUPS; i++)
        best[i / N_GROUPS][i % N_GROUPS] = INFINITY;
    for (uint64_t try = 0; try < TRIES; try++) {
        worst = 0;
        choose_weights(m, try);
        for (size_t way = 0; way < WAYS; way++)
            slopes_computed(m, way, try, computed[way]);
        for (size_t g = 0; g < N_GROUPS; g++) {
            choose_direction(m, &GROUPS[g], try);
            const double now = compare_slopes(m, computed, best, g);
            if (now > worst) {
                worst = now;
                describe(where, size, best, g);
            }
        }
        if (worst <= LARGEST_GAP)
            break;
    }
    return worst;
}

static rela_config mixed(size_t enc, size_t dec, size_t cross)
{
    rela_config c = small_model(rela_attn_kind_at(enc));
    set_attention(&c, RELA_ATTN_DEC, rela_attn_kind_at(dec)->name);
    set_attention(&c, RELA_ATTN_CROSS, rela_attn_kind_at(cross)->name);
    c.enc_layers = c.dec_layers = 1;
    c.d = 8;
    c.ffn = 6;
    c.heads = 2;
    c.max_len = 320;
    return c;
}

static double check_config(const rela_config *c, size_t *wrong)
{
    mixture m;
    char where[80] = "";
    mixture_start(&m, c);
    const double worst = worst_gap(&m, where, sizeof where);
    mixture_end(&m);
    if (!(worst <= LARGEST_GAP)) {
        print_error("%s, %s, cross %s: %.3e at %s\n", c->attention[0].text, c->attention[1].text,
                    c->attention[2].text, worst, where);
        ++*wrong;
    }
    return worst;
}

static double check_mixture(size_t enc, size_t dec, size_t cross, size_t *wrong)
{
    const rela_config c = mixed(enc, dec, cross);
    return check_config(&c, wrong);
}

static size_t count_kinds(void)
{
    size_t n = 0;
    while (rela_attn_kind_at(n))
        n++;
    return n;
}

static void every_pair_has_exact_gradients(void **state)
{
    (void)state;
    const size_t n = count_kinds();
    size_t wrong = 0, pairs = 0;
    double worst = 0;
    for (size_t i = 0; i < n * n; i += PAIR_STEP, pairs++)
        worst = fmax(worst, check_mixture(i / n, i / n, i % n, &wrong));
    print_message("%zu pairs, worst %.1e\n", pairs, worst);
    CHECK(wrong == 0, "%zu of %zu pairs of kinds have wrong gradients", wrong, pairs);
}

static void random_triples_have_exact_gradients(void **state)
{
    (void)state;
    const size_t n = count_kinds();
    size_t wrong = 0;
    double worst = 0;
    rela_rng r = rela_rng_start(23, 5);
    for (size_t i = 0; i < TRIPLES; i++) {
        const size_t enc = (size_t)rela_rng_below(&r, n), dec = (size_t)rela_rng_below(&r, n);
        worst = fmax(worst, check_mixture(enc, dec, (size_t)rela_rng_below(&r, n), &wrong));
    }
    print_message("%d triples, worst %.1e\n", TRIPLES, worst);
    CHECK(wrong == 0, "%zu of %d triples of kinds have wrong gradients", wrong, TRIPLES);
}

/* Two layers of four heads, each layer with two kinds. */
static void random_heads(rela_config *c, rela_rng *r)
{
    const size_t n = count_kinds();
    for (int place = 0; place < RELA_ATTN_N_TYPES; place++) {
        char text[RELA_ATTN_SPEC_MAX] = "";
        for (int layer = 1; layer <= 2; layer++) {
            const int first = 1 + (int)rela_rng_below(r, 3);
            const char *a = rela_attn_kind_at((size_t)rela_rng_below(r, n))->name;
            const char *b = rela_attn_kind_at((size_t)rela_rng_below(r, n))->name;
            const size_t used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, "%s%d=%dx%s+%dx%s", used ? "," : "",
                           layer, first, a, 4 - first, b);
        }
        set_attention(c, place, text);
    }
    narrow_patterns(c);
}

static void random_heads_and_layers_have_exact_gradients(void **state)
{
    (void)state;
    enum { MIXTURES = EMULATED ? 5 : 50 };
    size_t wrong = 0;
    double worst = 0;
    rela_rng r = rela_rng_start(29, 7);
    for (int i = 0; i < MIXTURES; i++) {
        rela_config c = mixed(0, 0, 0);
        c.enc_layers = c.dec_layers = 2;
        c.d = 16;
        c.heads = 4;
        c.pre_norm = i % 3 == 0;
        c.norm_per_head = i % 5 == 0;
        random_heads(&c, &r);
        worst = fmax(worst, check_config(&c, &wrong));
    }
    print_message("%d mixtures of heads and layers, worst %.1e\n", MIXTURES, worst);
    CHECK(wrong == 0, "%zu of %d mixtures have wrong gradients", wrong, MIXTURES);
}

/* What an array that overlaps its neighbours does to the gradients: the largest gap to those
 * without it. With a tap, since bits that are kept could lead anywhere. */
static double gap_of_fault(mixture *m, size_t which)
{
    double worst = 0, expected[N_GROUPS], slopes[N_GROUPS];
    for (size_t way = PATHS; way < WAYS; way++) {
        slopes_computed(m, way, 0, expected);
        (void)rela_plan_plant(which);
        slopes_computed(m, way, 0, slopes);
        (void)rela_plan_plant(0);
        for (size_t g = 0; g < N_GROUPS; g++) {
            const double now = gap(slopes[g], expected[g]);
            worst = now <= worst ? worst : now; /* NaN counts */
        }
    }
    return worst;
}

/* Array number 2, 3 ... of the memory of every block overlaps what was taken before it, as when
 * room is planned for one kind and used by another. */
static void planted_faults_in_the_plan_are_caught(void **state)
{
    (void)state;
    enum { ARRAYS = 20 };
    mixture m;
    size_t caught = 0;
    rela_config c = mixed(0, 0, 0);
    set_attention(&c, RELA_ATTN_ENC, "rela-g");
    set_attention(&c, RELA_ATTN_DEC, "rela-g");
    set_attention(&c, RELA_ATTN_CROSS, "sparsemax");
    mixture_start(&m, &c);
    choose_weights(&m, 0);
    for (size_t which = 2; which <= ARRAYS; which++)
        caught += !(gap_of_fault(&m, which) <= LARGEST_GAP);
    print_message("%zu of %d overlapping arrays noticed\n", caught, ARRAYS - 1);
    CHECK(caught * 4 >= (ARRAYS - 1) * 3, "only %zu overlapping arrays were noticed", caught);
    mixture_end(&m);
}

int main(int argc, char **argv)
{
    full = argc > 1 && strcmp(argv[1], "full") == 0;
    fill_batch();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_has_exact_gradients),
        cmocka_unit_test(random_triples_have_exact_gradients),
        cmocka_unit_test(random_heads_and_layers_have_exact_gradients),
        cmocka_unit_test(planted_faults_in_the_plan_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
