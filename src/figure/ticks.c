/* SPDX-License-Identifier: MIT */
/* src/figure/ticks.c - see ticks.h. */
#include "figure/ticks.h"

#include "base/str.h"

#include <math.h>

double rela_tick_step(double range, int n)
{
    const double rough = range / n, unit = pow(10, floor(log10(rough)));
    const double m = rough / unit;
    return unit * (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10);
}

void rela_tick_text(char *out, size_t size, double v, double step)
{
    const int digits = step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
    if (fabs(v) >= 1e5)
        rela_format_text(out, size, "%.3gK", v / 1e3);
    else
        rela_format_text(out, size, "%.*f", digits > 8 ? 8 : digits, v);
}
