/* SPDX-License-Identifier: MIT */
/* src/filter/logistic.h - logistic regression on a few features: the probability of "good". */
#ifndef RELA_FILTER_LOGISTIC_H
#define RELA_FILTER_LOGISTIC_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* All zero is empty. */
typedef struct rela_logit {
    size_t n;       /* features */
    double *mean;   /* (n) of the training examples */
    double *scale;  /* (n) one over their standard deviation; 0 for a constant feature */
    double *weight; /* (n + 1); the last is the bias */
} rela_logit;

/* Fits to rows (n_rows, n) with labels good (n_rows), L2 regularisation and equal class weights.
 * Deterministic. RELA_FORMAT if one class is missing. */
rela_status rela_logit_fit(rela_logit *l, const double *rows, const bool *good, size_t n_rows,
                           size_t n, rela_error *err);
void rela_logit_free(rela_logit *l);

double rela_logit_score(const rela_logit *l, const double *row); /* 0..1 */

#endif
