/* SPDX-License-Identifier: MIT */
/* tools/golden/safetensors_copy.c - reads lines "IN<tab>OUT" and copies each container with our
 * reader and writer; prints "ok" or the reason per line. For safetensors_peer.py. */
#include "base/mem.h"
#include "format/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_BYTES = 8192 };

static rela_status copy(const char *in, const char *out, rela_error *err)
{
    rela_safetensors *f = NULL;
    rela_status st = rela_safetensors_open(&f, in, 0, err);
    if (st != RELA_OK)
        return st;
    const rela_header *h = rela_safetensors_header(f);
    const size_t n = h->n;
    rela_tensor *t = rela_mem_zalloc((n + 1) * sizeof *t);
    char *bytes = rela_mem_alloc((size_t)rela_safetensors_size(f)); /* all data fit */
    char *at = bytes;
    if (!t || !bytes)
        st = RELA_NOMEM;
    for (size_t i = 0; i < n && st == RELA_OK; i++) {
        t[i] = h->tensors[i];
        const size_t len = (size_t)(t[i].end - t[i].begin);
        t[i].data = at;
        st = rela_safetensors_read(f, at, &t[i], 0, len, err);
        at += len;
    }
    const rela_header again = { t, n, h->metadata, h->n_metadata };
    st = st ? st : rela_safetensors_write(out, &again, 0, err);
    rela_mem_free(bytes);
    rela_mem_free(t);
    rela_safetensors_close(f);
    return st;
}

int main(void)
{
    char line[LINE_MAX_BYTES];
    while (fgets(line, sizeof line, stdin)) {
        rela_error err = { RELA_OK, "" };
        line[strcspn(line, "\n")] = '\0';
        char *tab = strchr(line, '\t');
        if (!tab)
            return EXIT_FAILURE;
        *tab = '\0';
        (void)puts(copy(line, tab + 1, &err) == RELA_OK ? "ok" : err.message);
        (void)fflush(stdout);
    }
    return EXIT_SUCCESS;
}
