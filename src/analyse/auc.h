/* SPDX-License-Identifier: MIT */
/* src/analyse/auc.h - area under the ROC curve with its interval.
 *
 * The area is how often a value of b is above one of a, ties counting one half; 0.5 is chance. The
 * interval is that of DeLong et al. (1988), of 95 %. */
#ifndef RELA_ANALYSE_AUC_H
#define RELA_ANALYSE_AUC_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rela_auc {
    double value, low, high; /* 0.5, 0, 1 if a side has no values */
    bool blank;              /* all values are zero: they tell nothing apart */
} rela_auc;

/* Drops negative values and sorts both arrays in place. */
rela_auc rela_auc_find(double *a, size_t n_a, double *b, size_t n_b);
/* Whether the interval holds 0.5. */
bool rela_auc_is_chance(const rela_auc *x);

#endif
