/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_fields.c - fields of requests: decoded or refused, inside their input.
 *
 * The first byte says whether a form or a JSON object follows. */
#include "fuzz.h"

#include "base/mem.h"
#include "serve/request_fields.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const size_t len = size - 1;
    char *text = rela_mem_alloc(len);
    HOLDS(text);
    memcpy(text, data + 1, len);
    rela_fields p = { .n = 0 };
    rela_error err = { RELA_OK, "" };
    const rela_status st = data[0] & 1 ? rela_fields_add_json(&p, text, len, &err)
                                       : rela_fields_add_form(&p, text, len, &err);
    HOLDS(st == RELA_OK || *err.message);
    HOLDS(p.n <= RELA_FIELDS_MAX);
    for (size_t i = 0; i < p.n; i++) {
        const rela_span v = p.items[i].value;
        HOLDS(v.len == 0 || (v.text >= text && v.text + v.len <= text + len));
    }
    if (st == RELA_OK) {
        int32_t n = 0;
        bool flag = false;
        (void)rela_fields_int(&n, &p, "n", -5, 5, &err);
        HOLDS(n >= -5 && n <= 5);
        (void)rela_fields_flag(&flag, &p, "f", &err);
        HOLDS(rela_fields_count(&p, "q") == 0 || rela_fields_at(&p, "q", 0));
    }
    rela_fields_free(&p);
    rela_mem_free(text);
    return 0;
}
