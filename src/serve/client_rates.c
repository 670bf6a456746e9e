/* SPDX-License-Identifier: MIT */
/* src/serve/client_rates.c - see client_rates.h. */
#include "serve/client_rates.h"

#include "base/mem.h"

enum { PROBES = 8 };

typedef struct bucket {
    uint64_t client; /* 0: free */
    double left;     /* requests it may have at once, at that time */
    double time;
} bucket;

struct rela_client_rates {
    bucket *buckets;
    size_t n;
};

rela_status rela_client_rates_create(rela_client_rates **out, size_t slots, rela_error *err)
{
    *out = NULL;
    rela_client_rates *r = rela_mem_zalloc(sizeof *r);
    if (r)
        r->buckets = rela_mem_zalloc(slots * sizeof *r->buckets);
    if (!r || !r->buckets) {
        rela_client_rates_destroy(r);
        return rela_fail(err, RELA_NOMEM, "no memory for the rates of %zu clients", slots);
    }
    r->n = slots;
    *out = r;
    return RELA_OK;
}

void rela_client_rates_destroy(rela_client_rates *r)
{
    if (r)
        rela_mem_free(r->buckets);
    rela_mem_free(r);
}

/* That of the client, or the free or oldest one that it gets. */
static bucket *bucket_of(rela_client_rates *r, uint64_t client)
{
    bucket *oldest = &r->buckets[client % r->n];
    for (size_t i = 0; i < PROBES && oldest->client; i++) {
        bucket *b = &r->buckets[(client + i) % r->n];
        if (b->client == client)
            return b;
        oldest = b->client == 0 || b->time < oldest->time ? b : oldest;
    }
    return oldest;
}

double rela_client_rates_take(rela_client_rates *r, uint64_t client, double per_minute, double now)
{
    const double per_second = per_minute / 60, most = per_minute < 1 ? 1 : per_minute;
    client = client ? client : 1;
    bucket *b = bucket_of(r, client);
    if (b->client != client)
        *b = (bucket){ client, most, now };
    b->left += (now - b->time) * per_second;
    b->left = b->left > most ? most : b->left;
    b->time = now;
    if (b->left < 1)
        return (1 - b->left) / per_second;
    b->left -= 1;
    return 0;
}
