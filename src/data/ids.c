/* SPDX-License-Identifier: MIT */
/* src/data/ids.c - a list of token ids: rela_ids of corpus_reader.h. */
#include "base/mem.h"
#include "data/corpus_reader.h"

rela_status rela_ids_push(rela_ids *ids, int32_t id, rela_error *err)
{
    int32_t *p = rela_mem_grow(ids->data, &ids->cap, ids->len + 1, sizeof *p);
    if (!p)
        return rela_fail(err, RELA_NOMEM, "no memory for %zu tokens", ids->len + 1);
    ids->data = p;
    p[ids->len++] = id;
    return RELA_OK;
}

void rela_ids_free(rela_ids *ids)
{
    if (!ids)
        return;
    rela_mem_free(ids->data);
    *ids = (rela_ids){ NULL, 0, 0 };
}
