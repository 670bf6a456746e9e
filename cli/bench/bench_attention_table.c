/* SPDX-License-Identifier: MIT */
/* cli/bench/bench_attention_table.c - the tables of bench_attention.c. */
#include "bench/bench_attention.h"

/* clang-format off */
static const rela_bench_column COLUMNS[] = {
    { "kind", "kind", RELA_BENCH_TEXT, 0 },
    { "length", "T", RELA_BENCH_NUMBER, 0 },
    { "scores", "scores", RELA_BENCH_TEXT, 0 },
    { "zeros", "zeros %", RELA_BENCH_NUMBER, 1 },
    { "sentences", "sentences", RELA_BENCH_NUMBER, 0 },
    { "heads", "heads", RELA_BENCH_NUMBER, 0 },
    { "forward_ns", "forward ns", RELA_BENCH_SPREAD, 2 },
    { "forward_share", "of peak", RELA_BENCH_NUMBER, 2 },
    { "back_ns", "back ns", RELA_BENCH_SPREAD, 2 },
    { "back_share", "of peak", RELA_BENCH_NUMBER, 2 },
    { "forward_speed", "forward/softmax", RELA_BENCH_NUMBER, 2 },
    { "back_speed", "back/softmax", RELA_BENCH_NUMBER, 2 },
    { "speed", "both/softmax", RELA_BENCH_NUMBER, 2 },
};
static const rela_bench_column ZERO_COLUMNS[] = {
    { "kind", "kind", RELA_BENCH_TEXT, 0 },
    { "length", "T", RELA_BENCH_NUMBER, 0 },
    { "zeros", "zeros %", RELA_BENCH_NUMBER, 1 },
    { "forward_dense_ns", "forward: all ns", RELA_BENCH_SPREAD, 2 },
    { "forward_ns", "as chosen ns", RELA_BENCH_SPREAD, 2 },
    { "forward_speed", "speed", RELA_BENCH_NUMBER, 2 },
    { "back_dense_ns", "back: all ns", RELA_BENCH_SPREAD, 2 },
    { "back_ns", "as chosen ns", RELA_BENCH_SPREAD, 2 },
    { "back_speed", "speed", RELA_BENCH_NUMBER, 2 },
    { "products_speed", "gradients", RELA_BENCH_NUMBER, 2 },
};
/* clang-format on */

rela_bench_table *rela_bench_attention_table(rela_bench_job *j)
{
    return rela_bench_table_new(
        j, "attention",
        "kernels of training with their norms, one thread; ns for one score of one head; speed "
        "relative to softmax",
        COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
}

rela_bench_table *rela_bench_zeros_table(rela_bench_job *j)
{
    return rela_bench_table_new(j, "zeros",
                                "the same without norm, all weights against zeros left out "
                                "where it pays; gradients: over the four products of a dense "
                                "backward pass that has its weights",
                                ZERO_COLUMNS, sizeof ZERO_COLUMNS / sizeof ZERO_COLUMNS[0]);
}

/* Speed relative to another case. passes: bit 0 forward, bit 1 backward, bit 2: without the time
 * the other case spends on scores. */
static double speed_of(const rela_bench_attention *s, size_t other, size_t i, int passes)
{
    const size_t n = s->j->rounds;
    double ratio[RELA_BENCH_ROUNDS_MAX];
    for (size_t r = 0; r < n; r++) {
        double reference = 0, own = 0;
        for (int pass = 0; pass < 2; pass++)
            if (passes & 1 << pass) {
                reference += s->seconds[pass][other * n + r];
                own += s->seconds[pass][i * n + r];
            }
        /* Scores are one of the two products of the dense forward pass. */
        const double scores = passes & 4 ? s->seconds[0][other * n + r] / 2 : 0;
        ratio[r] = (reference - scores) / own;
    }
    return rela_bench_spread_of(ratio, n).median;
}

/* Nanoseconds per score and head. */
static rela_bench_spread ns_of(const rela_bench_attention *s, size_t i, int pass)
{
    const double scores = (double)s->length * (double)s->rows * (double)s->heads;
    double ns[RELA_BENCH_ROUNDS_MAX];
    for (size_t r = 0; r < s->j->rounds; r++)
        ns[r] = s->seconds[pass][i * s->j->rounds + r] / scores * 1e9;
    return rela_bench_spread_of(ns, s->j->rounds);
}

rela_status rela_bench_attention_report(rela_bench_attention *s, size_t which,
                                        rela_bench_table *table, rela_error *err)
{
    rela_bench_job *j = s->j;
    const double peak = j->peak.multiply_adds[0], d_head = (double)s->d_head;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < s->n_plain && st == RELA_OK; i++) {
        const size_t kind = s->cases[i].kind;
        const bool shifted = s->cases[i].share == RELA_BENCH_SHIFTED;
        const double both = speed_of(s, 0, i, 3);
        (shifted ? j->r.shifted : j->r.kernel)[kind][which] = both;
        rela_bench_cell row[sizeof COLUMNS / sizeof COLUMNS[0]] = {
            rela_bench_text(j->kinds[kind]->name),
            rela_bench_number((double)s->length),
            rela_bench_text(shifted ? "shifted" : "centred"),
            rela_bench_number(100 * s->cases[i].zeros),
            rela_bench_number((double)s->n),
            rela_bench_number((double)s->heads),
            { .text = NULL },
        };
        /* FLOPs: 2 products forward (scores, weighted sum), 5 backward (scores again, gradients).
         */
        for (int pass = 0; pass < 2; pass++) {
            const rela_bench_spread v = ns_of(s, i, pass);
            row[6 + 2 * pass] = rela_bench_value(v);
            row[7 + 2 * pass] = rela_bench_number((pass ? 10 : 4) * d_head / v.median / peak);
        }
        row[10] = rela_bench_number(speed_of(s, 0, i, 1));
        row[11] = rela_bench_number(speed_of(s, 0, i, 2));
        row[12] = rela_bench_number(both);
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}

rela_status rela_bench_zeros_report(rela_bench_attention *s, rela_bench_table *table,
                                    rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = s->n_plain; i < s->n_cases && st == RELA_OK; i += 2) {
        const rela_bench_cell row[sizeof ZERO_COLUMNS / sizeof ZERO_COLUMNS[0]] = {
            rela_bench_text(s->j->kinds[s->cases[i].kind]->name),
            rela_bench_number((double)s->length),
            rela_bench_number(100 * s->cases[i].zeros),
            rela_bench_value(ns_of(s, i, 0)),
            rela_bench_value(ns_of(s, i + 1, 0)),
            rela_bench_number(speed_of(s, i, i + 1, 1)),
            rela_bench_value(ns_of(s, i, 1)),
            rela_bench_value(ns_of(s, i + 1, 1)),
            rela_bench_number(speed_of(s, i, i + 1, 2)),
            rela_bench_number(speed_of(s, i, i + 1, 2 | 4)),
        };
        st = rela_bench_table_add(table, row, sizeof row / sizeof row[0], err);
    }
    return st;
}
