/* SPDX-License-Identifier: MIT */
/* tests/unit/test_starts.c - the values that gain and gate of the norms on attention start with:
 * uniform on +-sqrt(3/d), d being the number of values that are normed together. */
#include "check.h"

#include "model/net.h"
#include "tensor/params.h"
#include "tiny_config.h"

#include <math.h>
#include <string.h>

enum { D = 256, HEADS = 8 };

/* Checks that the values of a parameter fill +-sqrt(3/d). */
static void check_limit(const rela_net *n, const char *name, size_t values, size_t d)
{
    const double limit = sqrt(3.0 / (double)d);
    const real *x = rela_net_values(n, name);
    double low = 1, high = -1;
    for (size_t i = 0; i < values; i++) {
        low = fmin(low, (double)x[i]);
        high = fmax(high, (double)x[i]);
    }
    CHECK(low >= -limit && low < -0.9 * limit && high <= limit && high > 0.9 * limit,
          "%s starts from %.4f to %.4f; expected +-%.4f", name, low, high, limit);
}

static void check(const char *kind, bool per_head, const char *name, size_t values, size_t d)
{
    rela_error err = { RELA_OK, "" };
    rela_config c;
    rela_net n;
    tiny_config(&c);
    c.d = D;
    c.heads = HEADS;
    c.enc_layers = c.dec_layers = 1;
    c.vocab_src = c.vocab_tgt = 8;
    c.norm_per_head = per_head;
    CHECK_OK(rela_config_attend(&c, kind, &err), err);
    CHECK_OK(rela_net_init(&n, &c, &err), err);
    rela_params_init(n.weights, &n.params, 5);
    check_limit(&n, name, values, d);
    rela_net_deinit(&n);
}

static void gain_starts_by_the_width_that_is_normed(void **state)
{
    (void)state;
    check("rela-i", false, "dec.0.cross.norm.gain", D, D);
    check("rela-i", true, "dec.0.cross.norm.gain", D, D / HEADS);
    check("4xrela-i+4xsoftmax", false, "dec.0.cross.group0.norm.gain", D / 2, D / 2);
    check("4xrela-i+4xsoftmax", true, "dec.0.cross.group0.norm.gain", D / 2, D / HEADS);
}

static void gate_starts_by_the_width_that_is_normed(void **state)
{
    (void)state;
    check("rela-g", false, "enc.0.self.norm.gate", D, D);
    check("rela-g", true, "enc.0.self.norm.gate", D, D / HEADS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gain_starts_by_the_width_that_is_normed),
        cmocka_unit_test(gate_starts_by_the_width_that_is_normed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
