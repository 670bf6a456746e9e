/* SPDX-License-Identifier: MIT */
/* tests/unit/test_kern_bytes.c - products in int8: every usable table has the bits of a plain
 * loop, at all numbers of rows, at odd widths, and with all numbers as large as they get. */
#include "check.h"
#include "covered.h"
#include "kern/kern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 27, COLS = 150, DEEP = 301, GUARD = 8 };

static uint32_t seed = 1u;

static float rnd(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 8388608.0f - 1.0f;
}

typedef struct problem {
    size_t m, n, k;
    bool relu, bias;
    float a[ROWS * DEEP], w[COLS * DEEP], b[COLS];
} problem;

static problem p;

/* extreme: numbers of one size, so that every product is as large as it can be. */
static void fill(size_t m, size_t n, size_t k, bool extreme)
{
    p.m = m;
    p.n = n;
    p.k = k;
    p.relu = (m + k) % 3 == 0;
    p.bias = n % 2 == 0;
    for (size_t i = 0; i < m * k; i++)
        p.a[i] = extreme ? (i % 7 == 3 ? -3.0f : 3.0f) : rnd() * 5;
    for (size_t i = 0; i < n * k; i++)
        p.w[i] = extreme ? (i % 5 == 2 ? 0.5f : -0.5f) : rnd();
    for (size_t i = 0; i < n; i++)
        p.b[i] = rnd();
    if (m > 1)
        memset(p.a + k, 0, k * sizeof *p.a); /* a row of zeros */
    if (n > 2)
        memset(p.w + 2 * k, 0, k * sizeof *p.w);
}

static float round_row(int8_t *q, const float *x, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    const float inverse = isfinite(127.0f / most) ? 127.0f / most : 0;
    for (size_t i = 0; i < n; i++)
        q[i] = (int8_t)lrintf(x[i] * inverse);
    return most / 127.0f;
}

static float plain(size_t i, size_t j)
{
    int8_t x[DEEP], w[DEEP];
    int32_t sum = 0;
    const float row = round_row(x, p.a + i * p.k, p.k), scale = round_row(w, p.w + j * p.k, p.k);
    for (size_t t = 0; t < p.k; t++) {
        CHECK(x[t] >= -127 && w[t] >= -127, "a number of -128");
        sum += x[t] * w[t];
    }
    volatile float y = (float)sum * (scale * row);
    y = y + (p.bias ? p.b[j] : 0);
    return p.relu && y < 0 ? 0 : y;
}

/* Columns picked from a packed matrix, some of them twice, give what they give in their place. */
static void check_picked(const rela_kern *k, const rela_bytes *w, const float *c, size_t ldc,
                         const int8_t *q, size_t ldq, const float *rows)
{
    enum { STEP = 7 };
    uint32_t at[COLS];
    float bias[COLS], own[ROWS * COLS];
    const size_t n = p.n ? (p.n * 2 + 2) / 3 : 0, whole = rela_byte_rows(n);
    int8_t *picked = malloc(rela_bytes_size(n, p.k) + 1);
    float *scale = malloc((whole + 1) * sizeof *scale);
    int32_t *sums = malloc((whole + 1) * sizeof *sums);
    for (size_t j = 0; j < n; j++) {
        at[j] = (uint32_t)(j * STEP % p.n);
        bias[j] = p.b[at[j]];
    }
    k->pick_bytes(picked, scale, sums, w, at, n, p.k);
    const rela_bytes part = { picked, scale, sums };
    k->packed_bytes(own, n, q, ldq, rows, &part, p.bias ? bias : NULL, p.m, n, p.k, p.relu);
    for (size_t i = 0; i < p.m; i++)
        for (size_t j = 0; j < n; j++)
            CHECK(own[i * n + j] == c[i * ldc + at[j]], "%s (%zu, %zu, %zu): picked %zu differs",
                  k->name, p.m, p.n, p.k, j);
    for (size_t j = n; j < whole; j++)
        CHECK(scale[j] == 0 && sums[j] == 0, "%s: column %zu of nothing", k->name, j);
    free(picked);
    free(scale);
    free(sums);
}

static void check_level(const rela_kern *k)
{
    const size_t whole = (p.n + RELA_BYTE_PANEL - 1) / RELA_BYTE_PANEL * RELA_BYTE_PANEL;
    const size_t ldq = (p.k + 3) / 4 * 4, ldc = p.n + GUARD;
    int8_t *packed = malloc(rela_bytes_size(p.n, p.k) + 1), *q = malloc(p.m * ldq + 1);
    float *scale = malloc((whole + 1) * sizeof *scale), *rows = malloc((p.m + 1) * sizeof *rows);
    int32_t *sums = malloc((whole + 1) * sizeof *sums);
    float *c = malloc((p.m * ldc + 1) * sizeof *c), y[DEEP];
    for (size_t i = 0; i < p.m * ldc; i++)
        c[i] = 77;
    k->pack_bytes(packed, scale, sums, p.w, p.k, p.n, p.k);
    k->bytes(q, ldq, rows, p.a, p.k, p.m, p.k);
    const rela_bytes w = { packed, scale, sums };
    k->packed_bytes(c, ldc, q, ldq, rows, &w, p.bias ? p.b : NULL, p.m, p.n, p.k, p.relu);
    for (size_t i = 0; i < p.m; i++)
        for (size_t j = 0; j < ldc; j++) {
            const float want = j < p.n ? plain(i, j) : 77;
            CHECK(c[i * ldc + j] == want, "%s (%zu, %zu, %zu) at %zu, %zu: %.9g, expected %.9g",
                  k->name, p.m, p.n, p.k, i, j, (double)c[i * ldc + j], (double)want);
        }
    for (size_t j = 0; j < p.n; j++) {
        int8_t one[DEEP];
        const float s = round_row(one, p.w + j * p.k, p.k);
        k->unpack_bytes(y, packed, scale, j, p.k);
        for (size_t i = 0; i < p.k; i++)
            CHECK(y[i] == (float)one[i] * s, "%s: row %zu at %zu", k->name, j, i);
    }
    check_picked(k, &w, c, ldc, q, ldq, rows);
    free(packed);
    free(q);
    free(scale);
    free(rows);
    free(sums);
    free(c);
}

static void check_all_levels(void)
{
    for (size_t level = 0; rela_kern_at(level); level++) {
        check_level(rela_kern_at(level));
        covered("level: int8 products", rela_kern_at(level)->name);
    }
}

static void every_number_of_rows_has_the_bits_of_a_plain_loop(void **state)
{
    (void)state;
    for (size_t m = 0; m <= ROWS; m++) {
        fill(m, 37 + m % 2, 64, false);
        check_all_levels();
    }
}

static void odd_widths_and_depths_have_them_too(void **state)
{
    (void)state;
    static const size_t N[] = { 0, 1, 15, 16, 17, 33, 128, 150 }, K[] = { 1, 2, 3, 4, 5, 63, 301 };
    for (size_t i = 0; i < sizeof N / sizeof N[0]; i++)
        for (size_t j = 0; j < sizeof K / sizeof K[0]; j++) {
            fill(1 + (i + j) % 6, N[i], K[j], false);
            check_all_levels();
        }
}

static void nothing_is_cut_off_at_the_largest_numbers(void **state)
{
    (void)state;
    for (size_t m = 1; m <= 13; m += 4) {
        fill(m, 48, DEEP, true);
        check_all_levels();
    }
}

/* 127 / 1e-38 is more than a float can hold: such rows are rows of zeros, in every table. */
static void rows_of_tiny_numbers_are_zeros(void **state)
{
    (void)state;
    static const float SIZES[] = { 1e-37f, 1e-38f, 1e-41f };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
        fill(5, 37, 33, false);
        for (size_t t = 0; t < p.k; t++) {
            p.a[3 * p.k + t] *= SIZES[i];
            p.w[7 * p.k + t] *= SIZES[i];
        }
        check_all_levels();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_of_rows_has_the_bits_of_a_plain_loop),
        cmocka_unit_test(odd_widths_and_depths_have_them_too),
        cmocka_unit_test(nothing_is_cut_off_at_the_largest_numbers),
        cmocka_unit_test(rows_of_tiny_numbers_are_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
