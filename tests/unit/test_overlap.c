/* SPDX-License-Identifier: MIT */
/* tests/unit/test_overlap.c - exchange of gradients during the backward pass: what is called
 * complete does not change any more, and models large enough for many bands keep their bytes. */
#include "base/mem.h"
#include "copying.h"
#include "thread_ranks.h"

enum { CALLS_MAX = 64, UPDATES = 2 };

/* ---- what a worker calls complete ---- */

/* Copies of gradients, as they were when they were called complete. */
typedef struct seen {
    const rela_net *net;
    const real *grads;
    real *copies[CALLS_MAX];
    size_t from[CALLS_MAX], n;
} seen;

static void on_gradients(void *ctx, size_t from)
{
    seen *s = ctx;
    const size_t end = s->net->list.params_end;
    CHECK(s->n < CALLS_MAX && from < end, "call %zu: %zu of %zu", s->n, from, end);
    CHECK(s->n == 0 || from <= s->from[s->n - 1], "call %zu: rises to %zu", s->n, from);
    s->copies[s->n] = rela_mem_alloc((end - from) * sizeof(real));
    memcpy(s->copies[s->n], s->grads + from, (end - from) * sizeof(real));
    s->from[s->n++] = from;
}

static void check_complete(const rela_config *c)
{
    rela_net net;
    rela_worker *w = NULL;
    rela_error err = { RELA_OK, "" };
    text t;
    make_text(&t, 1);
    make_net_of(&net, c);
    rela_model_batch b = { .first = { 0 } };
    for (size_t i = 0; i <= c->sources; i++)
        b.streams[i] = (rela_tokens){ t.ids, t.at, SENTENCES };
    const size_t rows = t.at[SENTENCES], total = net.params.total;
    CHECK_OK(rela_worker_create(&w, &net, rows, rows, true, &err), err);
    real *grads = rela_mem_zalloc(total * sizeof(real));
    seen s = { .net = &net, .grads = grads };
    const rela_pass_options o = { .training = true,
                                  .seed = 1,
                                  .update = 1,
                                  .on_gradients = on_gradients,
                                  .on_gradients_ctx = &s };
    (void)rela_worker_train(w, grads, &b, &o);
    /* One call for each block that has others after it in the layout. */
    CHECK(s.n >= 2 * c->dec_layers, "%zu calls", s.n);
    CHECK(c->share_encoders || s.from[s.n - 1] < total / 2, "ends at %zu", s.from[s.n - 1]);
    for (size_t i = 0; i < s.n; i++) {
        const size_t n = net.list.params_end - s.from[i];
        CHECK(memcmp(s.copies[i], grads + s.from[i], n * sizeof(real)) == 0,
              "call %zu: gradients from %zu on have changed", i, s.from[i]);
        rela_mem_free(s.copies[i]);
    }
    rela_mem_free(grads);
    rela_worker_destroy(w);
    rela_net_deinit(&net);
}

static void complete_gradients_do_not_change(void **state)
{
    (void)state;
    for (int i = 0; i < 48; i++) {
        rela_config c = copying_config(i % 3 ? "rela-g" : "softmax", 0.2);
        c.pre_norm = i % 2;
        c.tie = i / 2 % 2 ? RELA_TIE_ALL : RELA_TIE_NONE;
        c.sources = (size_t)(1 + i / 4 % 3);
        c.share_encoders = i / 12 % 2;
        c.serial_cross = i / 24;
        check_complete(&c);
    }
}

/* ---- ranks ---- */

typedef struct run {
    bool pre_norm;
    int n_threads;
    size_t slots, groups;
    real *weights; /* of rank 0 */
    size_t n;
} run;

static void train(rela_world *w, void *ctx)
{
    run *r = ctx;
    rela_net net;
    rela_updater *s = NULL;
    rela_error err = { RELA_OK, "" };
    rela_update_options o = clipped_steps(w, r->n_threads, r->slots, r->groups);
    rela_config c = copying_config("rela-g", 0.2);
    c.d = 96;
    c.ffn = 160;
    c.pre_norm = r->pre_norm;
    make_net_of(&net, &c);
    CHECK_OK(rela_updater_create(&s, &net, &o, &err), err);
    for (uint64_t u = 1; u <= UPDATES; u++) {
        text t;
        rela_update_result result;
        make_text(&t, u);
        const rela_model_batch p = update_of(&t);
        CHECK_OK(rela_updater_run(s, &result, &p, u, 1e-3, &err), err);
    }
    if (w)
        CHECK(this_rank->n_advanced > 0, "rank %zu sends nothing early", this_rank->rank);
    if (rela_world_rank(w) == 0) {
        r->n = net.params.total;
        r->weights = rela_mem_alloc(r->n * sizeof(real));
        memcpy(r->weights, net.weights, r->n * sizeof(real));
    }
    rela_updater_destroy(s);
    rela_net_deinit(&net);
}

/* Slots that every rank has in each round, and groups of them. */
static void early_exchange_changes_no_byte(void **state)
{
    static const size_t SLOTS[] = { 4, 8, 8 }, GROUPS[] = { 1, 4, 8 };
    (void)state;
    for (int i = 0; i < 6; i++) {
        run one = {
            .pre_norm = i / 3, .n_threads = 1, .slots = SLOTS[i % 3], .groups = GROUPS[i % 3]
        };
        train(NULL, &one);
        for (size_t ranks = 2; ranks <= 4; ranks++)
            for (int threads = 1; threads <= 2; threads++) {
                run other = one;
                other.n_threads = threads;
                if (ranks * (size_t)threads > one.slots)
                    continue; /* a rank without a slot has nothing to send */
                run_thread_ranks(ranks, train, &other);
                CHECK(other.n == one.n &&
                          memcmp(one.weights, other.weights, one.n * sizeof(real)) == 0,
                      "%zu ranks of %d threads, %zu slots in %zu groups, pre-norm %d", ranks,
                      threads, one.slots, one.groups, (int)one.pre_norm);
                rela_mem_free(other.weights);
            }
        rela_mem_free(one.weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_gradients_do_not_change),
        cmocka_unit_test(early_exchange_changes_no_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
