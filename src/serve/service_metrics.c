/* SPDX-License-Identifier: MIT */
/* src/serve/service_metrics.c - see service_metrics.h. */
#include "serve/service_metrics.h"

#include "serve/outcome.h"

static const int STATUSES[] = { 200, 204, 304, 400, 403, 404, 405, 408, 409, 413,
                                414, 417, 429, 431, 499, 500, 501, 503, 505, 0 };
static const double SECONDS[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30 };
static const double SHARES[] = { 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1 };
static const char *const REJECTIONS[] = { "full", "late", "rate", "draining",
                                          "size", "key",  "host", "malformed" };

static size_t status_number(int status)
{
    size_t i = 0;
    while (STATUSES[i] && STATUSES[i] != status)
        i++;
    return i;
}

void rela_metrics_count(rela_service_metrics *m, size_t route, int status)
{
    m->requests[route][status_number(status)]++;
}

static void observe(rela_histogram *h, const double *bounds, double x)
{
    size_t i = 0;
    while (i < RELA_BOUNDS_MAX && x > bounds[i])
        i++;
    h->counts[i]++;
    h->sum += x;
}

void rela_metrics_seconds(rela_histogram *h, double seconds)
{
    observe(h, SECONDS, seconds);
}

void rela_metrics_share(rela_histogram *h, double share)
{
    observe(h, SHARES, share);
}

static rela_status write_histogram(rela_buffer *out, const char *name, const rela_histogram *h,
                                   const double *bounds, rela_error *err)
{
    uint64_t n = 0;
    rela_status st = rela_buffer_printf(out, err, "# TYPE %s histogram\n", name);
    for (size_t i = 0; i < RELA_BOUNDS_MAX && st == RELA_OK; i++) {
        n += h->counts[i];
        st = rela_buffer_printf(out, err, "%s_bucket{le=\"%g\"} %llu\n", name, bounds[i],
                                (unsigned long long)n);
    }
    n += h->counts[RELA_BOUNDS_MAX];
    return st ? st
              : rela_buffer_printf(
                    out, err, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9g\n%s_count %llu\n", name,
                    (unsigned long long)n, name, h->sum, name, (unsigned long long)n);
}

static rela_status write_number(rela_buffer *out, const char *name, const char *type, uint64_t x,
                                rela_error *err)
{
    return rela_buffer_printf(out, err, "# TYPE %s %s\n%s %llu\n", name, type, name,
                              (unsigned long long)x);
}

static rela_status write_requests(rela_buffer *out, const rela_service_metrics *m,
                                  const char *const *names, size_t n, rela_error *err)
{
    rela_status st = rela_buffer_append_text(out, "# TYPE rela_requests_total counter\n", err);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof STATUSES / sizeof *STATUSES && st == RELA_OK; k++)
            if (m->requests[i][k])
                st = rela_buffer_printf(
                    out, err, "rela_requests_total{path=\"%s\",code=\"%d\"} %llu\n", names[i],
                    STATUSES[k], (unsigned long long)m->requests[i][k]);
    st = st ? st : rela_buffer_append_text(out, "# TYPE rela_rejected_total counter\n", err);
    for (size_t i = 0; i < RELA_REJECTIONS && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "rela_rejected_total{reason=\"%s\"} %llu\n",
                                REJECTIONS[i], (unsigned long long)m->rejected[i]);
    st = st ? st : rela_buffer_append_text(out, "# TYPE rela_warnings_total counter\n", err);
    for (size_t i = 0; i < RELA_WARNING_KINDS && st == RELA_OK; i++)
        st = rela_buffer_printf(out, err, "rela_warnings_total{kind=\"%s\"} %llu\n",
                                rela_warning_name(i), (unsigned long long)m->warnings[i]);
    return st;
}

rela_status rela_metrics_write(rela_buffer *out, const rela_service_metrics *m,
                               const char *const *names, size_t n, const rela_queue_load *load,
                               size_t connections, rela_error *err)
{
    const struct {
        const char *name, *type;
        uint64_t value;
    } rows[] = { { "rela_source_tokens_total", "counter", m->source_tokens },
                 { "rela_target_tokens_total", "counter", m->target_tokens },
                 { "rela_cancelled_total", "counter", m->cancelled },
                 { "rela_queue_sentences", "gauge", load->waiting_sentences },
                 { "rela_queue_tokens", "gauge", load->waiting_tokens },
                 { "rela_running_sentences", "gauge", load->running_sentences },
                 { "rela_requests_running", "gauge", load->requests },
                 { "rela_connections", "gauge", connections } };
    rela_status st = write_requests(out, m, names, n, err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows && st == RELA_OK; i++)
        st = write_number(out, rows[i].name, rows[i].type, rows[i].value, err);
    st = st ? st : write_histogram(out, "rela_request_seconds", &m->request_seconds, SECONDS, err);
    st = st ? st : write_histogram(out, "rela_queue_seconds", &m->queue_seconds, SECONDS, err);
    return st ? st : write_histogram(out, "rela_null_rate", &m->null_rate, SHARES, err);
}
