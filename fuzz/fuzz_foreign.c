/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_foreign.c - attention of other programs: read as a document, or refused with a message.
 */
#include "fuzz.h"

#include "view/foreign.h"

#include "base/mem.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rela_view_import from = { .struct_size = sizeof from, .path = "fuzz", .limit = 4 };
    for (int kind = 0; kind < 3; kind++) {
        rela_foreign f = { .from = &from, .name = "fuzz" };
        rela_error err = { RELA_OK, "" };
        char *text = rela_mem_alloc(size + 1);
        if (!text)
            return 0;
        if (size)
            memcpy(text, data, size);
        text[size] = '\0';
        const rela_status st = kind == 0   ? rela_foreign_dump(&f, text, size, &err)
                               : kind == 1 ? rela_foreign_inseq(&f, text, size, &err)
                                           : rela_foreign_marian(&f, text, size, &err);
        HOLDS(st == RELA_OK || *err.message);
        HOLDS(f.sentences <= 4);
        rela_foreign_free(&f);
        rela_mem_free(text);
    }
    return 0;
}
