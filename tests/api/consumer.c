/* SPDX-License-Identifier: MIT */
/* tests/api/consumer.c - a small program that uses an installed librela. */
#include <rela/rela.h>
#include <stdio.h>

static int has_status(rela_status want, size_t size)
{
    rela_memory_stats stats;
    stats.struct_size = size;
    return rela_memory_stats_get(&stats, NULL) == want;
}

int main(void)
{
    rela_error err;
    rela_buffer b = RELA_BUFFER_INIT;
    if (rela_buffer_append(&b, "hello", 5, &err) != RELA_OK)
        return 1;
    if (!has_status(RELA_OK, sizeof(rela_memory_stats)) || !has_status(RELA_ARG, 0) ||
        !has_status(RELA_UNSUP, sizeof(rela_memory_stats) + 8))
        return 1;
    printf("%s from rela %u.%u\n", b.data, rela_version() >> 16, rela_version() >> 8 & 255);
    rela_buffer_free(&b);
    return 0;
}
