/* SPDX-License-Identifier: MIT */
/* tests/unit/test_gemm.c - the three matrix products against plain sums in double, with leading
 * dimensions larger than the rows, between guard bands. */
#include "oracle.h"

#include "kern/gemm.h"

typedef void gemm(real *c, size_t ldc, const real *a, size_t lda, const real *b, size_t ldb,
                  size_t m, size_t n, size_t k, bool add);

/* How each product reads its factors: transposed or not. */
static const struct {
    const char *what;
    gemm *run;
    bool a_transposed, b_transposed;
} PRODUCTS[] = {
    { "nt", rela_gemm_nt, false, true },
    { "nn", rela_gemm_nn, false, false },
    { "tn", rela_gemm_tn, true, false },
};

static void check_product(size_t which, size_t m, size_t n, size_t depth, bool add)
{
    const bool at = PRODUCTS[which].a_transposed, bt = PRODUCTS[which].b_transposed;
    const size_t lda = (at ? m : depth) + 1, ldb = (bt ? depth : n) + 2, ldc = n + 3;
    const place p = { rela_kern_get(), PRODUCTS[which].what, n };
    float *a = random_box(0, (at ? depth : m) * lda, 1);
    float *b = random_box(1, (bt ? n : depth) * ldb, 1);
    float *c = random_box(2, m * ldc, 1);
    static double before[BOX_REALS];
    for (size_t i = 0; i < m * ldc; i++)
        before[i] = (double)c[i];
    PRODUCTS[which].run(c, ldc, a, lda, b, ldb, m, n, depth, add);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < ldc; j++) {
            double sum = add || j >= n ? before[i * ldc + j] : 0, mass = fabs(sum);
            for (size_t q = 0; q < depth && j < n; q++) {
                const double x = (double)a[at ? q * lda + i : i * lda + q] *
                                 (double)b[bt ? j * ldb + q : q * ldb + j];
                sum += x;
                mass += fabs(x);
            }
            near(&p, i * ldc + j, (double)c[i * ldc + j], sum, ((double)depth + 1) * EPS * mass);
        }
    check_boxes("gemm", PRODUCTS[which].what, n);
}

static void products_agree_with_plain_sums(void **state)
{
    (void)state;
    static const size_t SIZES[] = { 0, 1, 7, 33, 64 };
    enum { N_SIZES = sizeof SIZES / sizeof SIZES[0] };
    for (size_t which = 0; which < 3; which++)
        for (size_t i = 0; i < N_SIZES * N_SIZES * N_SIZES; i++)
            for (int add = 0; add < 2; add++)
                check_product(which, SIZES[i % N_SIZES], SIZES[i / N_SIZES % N_SIZES],
                              SIZES[i / N_SIZES / N_SIZES], add);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_plain_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
