/* SPDX-License-Identifier: MIT */
/* src/nn/embed.c - see embed.h. */
#include "nn/embed.h"

#include <math.h>
#include <string.h>

void rela_positions_fill(real *positions, size_t length, size_t d)
{
    const size_t half = d / 2;
    const double step = half > 1 ? log(1e4) / (double)(half - 1) : 0;
    memset(positions, 0, length * d * sizeof *positions);
    for (size_t t = 0; t < length; t++)
        for (size_t i = 0; i < half; i++) {
            const double angle = (double)t * exp(-step * (double)i);
            positions[t * d + i] = (real)sin(angle);
            positions[t * d + half + i] = (real)cos(angle);
        }
}

void rela_embed_forward(real *x, const rela_tokens *tokens, bool shifted, const real *table,
                        const real *bias, const real *positions, size_t d)
{
    const real factor = (real)sqrt((double)d);
    for (size_t s = 0; s < tokens->n; s++)
        for (size_t t = tokens->at[s]; t < tokens->at[s + 1]; t++) {
            const real *position = positions + (t - tokens->at[s]) * d;
            real *row = x + t * d;
            if (shifted && t == tokens->at[s]) {
                memcpy(row, position, d * sizeof *row);
                continue;
            }
            const real *entry = table + (size_t)tokens->ids[t - shifted] * d;
            for (size_t i = 0; i < d; i++)
                row[i] = entry[i] * factor + bias[i] + position[i];
        }
}

void rela_embed_back(real *dtable, real *dbias, const real *dx, const rela_tokens *tokens,
                     bool shifted, size_t d)
{
    const real factor = (real)sqrt((double)d);
    for (size_t s = 0; s < tokens->n; s++)
        for (size_t t = tokens->at[s] + shifted; t < tokens->at[s + 1]; t++) {
            const real *row = dx + t * d;
            real *entry = dtable + (size_t)tokens->ids[t - shifted] * d;
            for (size_t i = 0; i < d; i++) {
                entry[i] += row[i] * factor;
                dbias[i] += row[i];
            }
        }
}
