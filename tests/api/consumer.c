/* SPDX-License-Identifier: MIT */
/* tests/api/consumer.c - the smallest program that uses an installed librela. */
#include <rela/rela.h>
#include <stdio.h>

int main(void)
{
    rela_error err;
    rela_buffer b = RELA_BUFFER_INIT;
    if (rela_buffer_append(&b, "hello", 5, &err) != RELA_OK)
        return 1;
    printf("%s from rela %u.%u\n", b.data, rela_version() >> 16, rela_version() >> 8 & 255);
    rela_buffer_free(&b);
    return 0;
}
