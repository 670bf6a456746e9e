/* SPDX-License-Identifier: MIT */
/* tests/unit/test_rows.c - the loops of decoding on every level: products with packed weights,
 * attention over kept rows, selection. */
#include "check.h"

#include "base/mem.h"
#include "base/rng.h"
#include "kern/kern.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M_MAX = 27, GUARD = 16 };

static void fill(real *x, size_t n, uint64_t seed)
{
    rela_rng r = rela_rng_start(seed, 1);
    for (size_t i = 0; i < n; i++)
        x[i] = (real)(2 * rela_rng_real(&r) - 1);
}

/* Against double, with guards after every row; and each row alone must have the same bits. */
static void check_packed(const rela_kern *k, size_t m, size_t n, size_t depth, bool relu)
{
    const size_t panels = (n + k->panel - 1) / k->panel, ldc = n + GUARD, lda = depth + 3;
    real *w = rela_mem_array(n * depth, sizeof *w), *a = rela_mem_array(m * lda, sizeof *a);
    real *p = rela_mem_array(panels * k->panel * depth, sizeof *p);
    real *c = rela_mem_array(m * ldc, sizeof *c), *row = rela_mem_array(n, sizeof *row);
    real *bias = rela_mem_array(n, sizeof *bias);
    fill(w, n * depth, n);
    fill(a, m * lda, m);
    fill(bias, n, 3);
    for (size_t i = 0; i < m * ldc; i++)
        c[i] = 7;
    k->pack(p, w, depth, n, depth);
    k->packed(c, ldc, a, lda, p, relu ? bias : NULL, m, n, depth, relu);
    for (size_t i = 0; i < m; i++) {
        for (size_t j = 0; j < n; j++) {
            double want = relu ? (double)bias[j] : 0;
            for (size_t t = 0; t < depth; t++)
                want += (double)a[i * lda + t] * (double)w[j * depth + t];
            want = relu && want < 0 ? 0 : want;
            const double tol = ((double)depth + 1) * ((double)depth + 1) * (double)FLT_EPSILON;
            CHECK(fabs((double)c[i * ldc + j] - want) <= tol, "%s %zux%zux%zu: %g, want %g",
                  k->name, m, n, depth, (double)c[i * ldc + j], want);
        }
        for (size_t j = n; j < ldc; j++)
            CHECK(c[i * ldc + j] == 7, "%s %zux%zux%zu: stray write", k->name, m, n, depth);
        k->packed(row, n, a + i * lda, lda, p, relu ? bias : NULL, 1, n, depth, relu);
        CHECK(memcmp(row, c + i * ldc, n * sizeof *row) == 0, "%s: row %zu of %zu has other bits",
              k->name, i, m);
    }
    uint32_t at[256];
    const size_t some = n < 256 ? n : 256;
    for (size_t j = 0; j < some; j++)
        at[j] = (uint32_t)(j * 7 % n);
    k->pack_at(p, w, depth, at, some, depth);
    k->packed(row, some, a, lda, p, NULL, m ? 1 : 0, some, depth, false);
    k->pack(p, w, depth, n, depth);
    k->packed(c, ldc, a, lda, p, NULL, m ? 1 : 0, n, depth, false);
    for (size_t j = 0; j < some && m; j++)
        CHECK(memcmp(&row[j], &c[at[j]], sizeof *row) == 0, "%s: row %zu of some differs", k->name,
              j);
    real *picked = rela_mem_array(panels * k->panel * depth, sizeof *picked);
    k->pick(picked, p, at, some, depth);
    k->pack_at(p, w, depth, at, some, depth);
    CHECK(memcmp(picked, p, rela_round_up(some, k->panel) * depth * sizeof *p) == 0,
          "%s: picked rows are not those that are packed", k->name);
    rela_mem_free(picked);
    rela_mem_free(w);
    rela_mem_free(a);
    rela_mem_free(p);
    rela_mem_free(c);
    rela_mem_free(row);
    rela_mem_free(bias);
}

static void packed_products_do_not_depend_on_the_number_of_rows(void **state)
{
    (void)state;
    static const size_t WIDTHS[] = { 1, 15, 16, 33, 64, 130, 257 }, DEPTHS[] = { 1, 7, 32 };
    for (size_t level = 0; rela_kern_at(level); level++)
        for (size_t m = 1; m <= M_MAX; m++)
            for (size_t i = 0; i < 7; i++)
                for (size_t j = 0; j < 3; j++)
                    check_packed(rela_kern_at(level), m, WIDTHS[i], DEPTHS[j], (m + i + j) % 2);
}

static void check_gather(const rela_kern *k, size_t heads, size_t d_head, size_t n)
{
    enum { SLOTS = 40, N_MAX = 300 };
    const size_t d = heads * d_head, ld = 2 * d + 5, lds = n + 3;
    uint32_t at[N_MAX];
    CHECK(n <= N_MAX, "%zu positions", n);
    real *rows = rela_mem_array(SLOTS * ld, sizeof *rows), *q = rela_mem_array(d, sizeof *q);
    real *s = rela_mem_array(heads * lds, sizeof *s), *z = rela_mem_array(d + 1, sizeof *z);
    fill(rows, SLOTS * ld, 4);
    fill(q, d, 5);
    for (size_t j = 0; j < n; j++)
        at[j] = (uint32_t)(j * 7 % SLOTS);
    for (size_t i = 0; i < heads * lds; i++)
        s[i] = 7;
    z[d] = 7;
    k->gather_scores(s, lds, q, rows, ld, at, n, heads, d_head);
    for (size_t h = 0; h < heads; h++)
        for (size_t j = 0; j < n; j++) {
            double want = 0;
            for (size_t c = 0; c < d_head; c++)
                want += (double)q[h * d_head + c] * (double)rows[at[j] * ld + h * d_head + c];
            CHECK(fabs((double)s[h * lds + j] - want) < 1e-4, "%s: score %g, want %g", k->name,
                  (double)s[h * lds + j], want);
            if ((j + h) % 3)
                s[h * lds + j] = 0;
        }
    k->gather_mix(z, s, lds, rows + d, ld, at, n, heads, d_head);
    for (size_t h = 0; h < heads; h++) {
        for (size_t c = 0; c < d_head; c++) {
            double want = 0;
            for (size_t j = 0; j < n; j++)
                want += (double)s[h * lds + j] * (double)rows[at[j] * ld + d + h * d_head + c];
            CHECK(fabs((double)z[h * d_head + c] - want) < 1e-3, "%s: mix %g, want %g", k->name,
                  (double)z[h * d_head + c], want);
        }
        CHECK(s[h * lds + n] == 7 && z[d] == 7, "%s: stray write", k->name);
    }
    rela_mem_free(rows);
    rela_mem_free(q);
    rela_mem_free(s);
    rela_mem_free(z);
}

static void rows_anywhere_are_attended(void **state)
{
    (void)state;
    static const size_t D_HEADS[] = { 1, 4, 8, 16, 20, 32, 64, 80 };
    for (size_t level = 0; rela_kern_at(level); level++)
        for (size_t i = 0; i < 8; i++)
            for (size_t n = 1; n <= 300; n += 1 + n / 4)
                for (size_t heads = 1; heads <= 3; heads++)
                    check_gather(rela_kern_at(level), heads, D_HEADS[i], n);
}

static const real *sorting;

static int falling(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sorting[x] != sorting[y])
        return sorting[x] > sorting[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void check_top(const rela_kern *k, size_t n, size_t most, uint64_t seed)
{
    real z[700];
    uint32_t want[700], got[700];
    rela_rng r = rela_rng_start(seed, n);
    size_t valid = 0;
    for (size_t i = 0; i < n; i++) {
        z[i] = (real)rela_rng_below(&r, seed % 2 ? 20 : 1u << 20); /* many equal, or hardly any */
        const uint64_t odd = rela_rng_below(&r, 10);
        z[i] = odd == 0 ? (real)-INFINITY : odd == 1 ? (real)NAN : z[i];
        if (odd > 1)
            want[valid++] = (uint32_t)i;
    }
    sorting = z;
    qsort(want, valid, sizeof *want, falling);
    real best[700];
    const size_t part = seed < 2 ? n : n / 3, expected = valid < most ? valid : most;
    size_t have = k->top(got, best, 0, most, z, part, 0);
    have = k->top(got, best, have, most, z + part, n - part, part);
    CHECK(have == expected, "%s n=%zu: %zu found, want %zu", k->name, n, have, expected);
    for (size_t i = 0; i < have; i++)
        CHECK(got[i] == want[i] && best[i] == z[want[i]],
              "%s n=%zu most=%zu: rank %zu is %u, want %u", k->name, n, most, i, got[i], want[i]);
}

static void best_are_found_in_order(void **state)
{
    (void)state;
    static const size_t MOST[] = { 0, 1, 2, 8, 64, 700 };
    for (size_t level = 0; rela_kern_at(level); level++)
        for (size_t n = 0; n < 700; n += 1 + n / 5)
            for (size_t i = 0; i < 6; i++)
                for (uint64_t seed = 0; seed < 4; seed++)
                    check_top(rela_kern_at(level), n, MOST[i], seed);
}

static void sums_of_exponentials_come_in_parts(void **state)
{
    (void)state;
    real z[300];
    for (size_t level = 0; rela_kern_at(level); level++)
        for (size_t n = 1; n < 300; n += 7) {
            const rela_kern *k = rela_kern_at(level);
            fill(z, n, n);
            double want = 0;
            for (size_t i = 0; i < n; i++) {
                z[i] = z[i] * 20 + (i > n / 2 ? 500 : 300); /* the larger ones come late */
                want += exp((double)z[i] - 500);
            }
            rela_exp_sum sum = { .sum = 0 };
            real high = z[0];
            for (size_t i = 0; i < n; i++)
                high = z[i] > high ? z[i] : high;
            real most = k->exp_sum(&sum, z, 1 + n / 2);
            if (n > 1 + n / 2)
                most = k->exp_sum(&sum, z + 1 + n / 2, n - 1 - n / 2);
            const double got = (double)sum.base + log(sum.sum);
            CHECK(fabs(got - (log(want) + 500)) < 1e-5, "%s n=%zu: %g", k->name, n, got);
            CHECK(most == high, "%s n=%zu: largest", k->name, n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed_products_do_not_depend_on_the_number_of_rows),
        cmocka_unit_test(rows_anywhere_are_attended),
        cmocka_unit_test(best_are_found_in_order),
        cmocka_unit_test(sums_of_exponentials_come_in_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
