/* SPDX-License-Identifier: MIT */
/* src/serve/client_rates.h - requests per minute of each client: token buckets in a table of fixed
 * size. The time comes with each call, in seconds. */
#ifndef RELA_SERVE_CLIENT_RATES_H
#define RELA_SERVE_CLIENT_RATES_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

typedef struct rela_client_rates rela_client_rates;

/* If there are more clients at once than slots, those that have waited longest are forgotten, as if
 * they were new. */
rela_status rela_client_rates_create(rela_client_rates **out, size_t slots, rela_error *err);
void rela_client_rates_destroy(rela_client_rates *r); /* NULL is fine */

/* Counts a request of a client, which may have that many per minute, all of them at once too. 0: it
 * may be served; otherwise the seconds after which the next one may, and nothing is counted.
 * client: a hash of key or address. */
double rela_client_rates_take(rela_client_rates *r, uint64_t client, double per_minute, double now);

#endif
