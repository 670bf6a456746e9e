/* SPDX-License-Identifier: MIT */
/* src/serve/service_metrics.h - counters and histograms of the server, in Prometheus' text format.
 *
 * Labels come from fixed tables, so their number is bounded, and say nothing about clients. */
#ifndef RELA_SERVE_SERVICE_METRICS_H
#define RELA_SERVE_SERVICE_METRICS_H

#include "serve/request_queue.h"

#include "base/str.h"

enum { RELA_ROUTES_MAX = 24, RELA_STATUSES_MAX = 24, RELA_BOUNDS_MAX = 12 };

typedef enum rela_rejection {
    RELA_REJECTED_FULL,
    RELA_REJECTED_LATE,
    RELA_REJECTED_RATE,
    RELA_REJECTED_DRAINING,
    RELA_REJECTED_SIZE,
    RELA_REJECTED_KEY,
    RELA_REJECTED_HOST,
    RELA_REJECTED_MALFORMED,
    RELA_REJECTIONS
} rela_rejection;

typedef struct rela_histogram {
    uint64_t counts[RELA_BOUNDS_MAX + 1];
    double sum;
} rela_histogram;

typedef struct rela_service_metrics {
    uint64_t requests[RELA_ROUTES_MAX][RELA_STATUSES_MAX];
    uint64_t rejected[RELA_REJECTIONS];
    uint64_t warnings[8];
    uint64_t source_tokens, target_tokens, cancelled;
    rela_histogram request_seconds, queue_seconds, null_rate;
} rela_service_metrics;

void rela_metrics_count(rela_service_metrics *m, size_t route, int status);
void rela_metrics_seconds(rela_histogram *h, double seconds);
void rela_metrics_share(rela_histogram *h, double share); /* 0 .. 1 */

/* names (n): paths of the routes. */
rela_status rela_metrics_write(rela_buffer *out, const rela_service_metrics *m,
                               const char *const *names, size_t n, const rela_queue_load *load,
                               size_t connections, rela_error *err);

#endif
