/* SPDX-License-Identifier: MIT */
/* bench/bench_serve.c - load for a translation server with LibreTranslate's interface.
 *
 *   bench_serve PORT FILE CONNECTIONS REQUESTS [RATE [DEADLINE_MS]]
 *
 * Sends lines of FILE, one per request, over kept connections of 127.0.0.1: RATE requests per
 * second, or each connection the next as soon as it has its answer. Prints a JSON line: answers,
 * refusals (503), failures, answers per second, milliseconds. With a rate, times count from when a
 * request was due. */
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 2048, REQUEST_MAX = 1 << 16, ANSWER_MAX = 1 << 20 };

typedef struct load {
    int port;
    size_t n_lines, n_requests;
    rela_span *lines;
    double rate, begun;
    long deadline_ms;
    _Atomic size_t next;
    double *ms; /* (n_requests) of each */
    int *status;
} load;

static int dial(int port)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
    const int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (s >= 0 && connect(s, (struct sockaddr *)&at, sizeof at) != 0) {
        (void)close(s);
        return -1;
    }
    (void)setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return s;
}

static size_t make_request(char *out, const load *l, size_t i)
{
    const rela_span line = l->lines[i % l->n_lines];
    rela_buffer body = RELA_BUFFER_INIT;
    (void)rela_buffer_append_text(&body, "{\"source\":\"en\",\"target\":\"de\",\"q\":", NULL);
    (void)rela_json_quote(&body, line.text, line.len, NULL);
    (void)rela_buffer_append_text(&body, "}", NULL);
    char timeout[64] = "";
    if (l->deadline_ms)
        (void)snprintf(timeout, sizeof timeout, "X-Timeout-Ms: %ld\r\n", l->deadline_ms);
    const int n = snprintf(out, REQUEST_MAX,
                           "POST /translate HTTP/1.1\r\nHost: localhost\r\n%sContent-Type: "
                           "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                           timeout, body.len, body.data);
    rela_buffer_free(&body);
    return n > 0 && n < REQUEST_MAX ? (size_t)n : 0;
}

/* The status of the answer; 0: there was none. */
static int ask(int s, const char *request, size_t len, char *answer)
{
    size_t got = 0;
    if (s < 0 || write(s, request, len) != (ssize_t)len)
        return 0;
    for (;;) {
        const ssize_t n = read(s, answer + got, ANSWER_MAX - 1 - got);
        if (n <= 0)
            return 0;
        got += (size_t)n;
        answer[got] = '\0';
        const char *end = strstr(answer, "\r\n\r\n");
        const char *length = end ? strcasestr(answer, "\r\ncontent-length:") : NULL;
        if (end && length && got >= (size_t)(end + 4 - answer) + strtoul(length + 17, NULL, 10))
            return (int)strtol(answer + 9, NULL, 10);
    }
}

static void *work(void *ctx)
{
    load *l = ctx;
    char *request = rela_mem_alloc(REQUEST_MAX), *answer = rela_mem_alloc(ANSWER_MAX);
    int s = dial(l->port);
    for (size_t i; request && answer && (i = atomic_fetch_add(&l->next, 1)) < l->n_requests;) {
        const size_t len = make_request(request, l, i);
        double due = rela_clock_seconds();
        if (l->rate > 0) {
            const double wait = l->begun + (double)i / l->rate - due;
            due += wait;
            if (wait > 0)
                (void)usleep((useconds_t)(wait * 1e6));
        }
        l->status[i] = ask(s, request, len, answer);
        l->ms[i] = 1e3 * (rela_clock_seconds() - due);
        if (l->status[i] == 0) {
            (void)close(s);
            s = dial(l->port);
        }
    }
    (void)close(s);
    rela_mem_free(request);
    rela_mem_free(answer);
    return NULL;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Quantiles of the times of all answers with a status; returns how many there are. */
static size_t quantiles(double out[3], const load *l, int status)
{
    double *ms = rela_mem_alloc(l->n_requests * sizeof *ms);
    size_t n = 0;
    for (size_t i = 0; ms && i < l->n_requests; i++)
        if (l->status[i] == status)
            ms[n++] = l->ms[i];
    if (n > 0)
        qsort(ms, n, sizeof *ms, by_size);
    out[0] = n ? ms[n / 2] : 0;
    out[1] = n ? ms[n * 99 / 100] : 0;
    out[2] = n ? ms[n - 1] : 0;
    rela_mem_free(ms);
    return n;
}

static void report(const load *l, double seconds)
{
    double served[3], refused[3];
    const size_t n_served = quantiles(served, l, 200), n_refused = quantiles(refused, l, 503);
    (void)printf("{\"requests\":%zu,\"served\":%zu,\"refused\":%zu,\"failed\":%zu,\"seconds\":%.3f,"
                 "\"per_second\":%.1f,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.2f,"
                 "\"refused_p50_ms\":%.2f,\"refused_p99_ms\":%.2f,\"refused_max_ms\":%.2f}\n",
                 l->n_requests, n_served, n_refused, l->n_requests - n_served - n_refused, seconds,
                 (double)n_served / seconds, served[0], served[1], served[2], refused[0],
                 refused[1], refused[2]);
}

int main(int argc, char **argv)
{
    static pthread_t threads[CONNECTIONS_MAX];
    char *text = NULL;
    size_t len = 0, cap = 0;
    rela_error err = { RELA_OK, "" };
    if (argc < 5 || rela_file_read(&text, &len, argv[2], 0, &err) != RELA_OK) {
        (void)fprintf(stderr,
                      "bench_serve PORT FILE CONNECTIONS REQUESTS [RATE [DEADLINE_MS]] %s\n",
                      err.message);
        return 2;
    }
    load l = { .port = (int)strtol(argv[1], NULL, 10),
               .n_requests = strtoul(argv[4], NULL, 10),
               .rate = argc > 5 ? rela_scan_f64(argv[5], NULL) : 0,
               .deadline_ms = argc > 6 ? strtol(argv[6], NULL, 10) : 0 };
    const char *at = text, *end = text + len;
    for (rela_span line; rela_next_line(&line, &at, end);) {
        rela_span *lines = rela_mem_grow(l.lines, &cap, l.n_lines + 1, sizeof *lines);
        if (!lines)
            return 1;
        l.lines = lines;
        lines[l.n_lines++] = line;
    }
    l.ms = rela_mem_zalloc(l.n_requests * sizeof *l.ms);
    l.status = rela_mem_zalloc(l.n_requests * sizeof *l.status);
    size_t n = strtoul(argv[3], NULL, 10);
    if (!l.ms || !l.status || l.n_lines == 0 || n == 0 || n > CONNECTIONS_MAX)
        return 1;
    l.begun = rela_clock_seconds();
    for (size_t i = 0; i < n; i++)
        n = pthread_create(&threads[i], NULL, work, &l) == 0 ? n : i;
    for (size_t i = 0; i < n; i++)
        (void)pthread_join(threads[i], NULL);
    report(&l, rela_clock_seconds() - l.begun);
    rela_mem_free(l.ms);
    rela_mem_free(l.status);
    rela_mem_free(l.lines);
    rela_mem_free(text);
    return 0;
}
