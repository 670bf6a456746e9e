/* SPDX-License-Identifier: MIT */
/* fuzz/fuzz_shortlist.c - any bytes as the file of a shortlist are read or refused with a message;
 * any numbers as its contents give ascending lists with all required words, or are refused. */
#include "fuzz.h"

#include "format/shortlist.h"

#include <string.h>

enum { N_SRC = 5, N_TGT = 70, WORDS_MAX = 256 };

static const rela_vocab_pair VOCAB = { N_SRC, N_TGT, "xxh3-128:0" };

static void check(const rela_shortlist *l)
{
    static const int32_t IDS[] = { 0, 4, 2, 1, 3 }, PREFIX[] = { 69 };
    const rela_shortlist_parts *p = rela_shortlist_parts_of(l);
    for (size_t n = 0; n <= N_SRC; n++) {
        uint64_t marks[2] = { 0, 0 };
        uint32_t list[N_TGT];
        const size_t count = rela_shortlist_mark(marks, l, IDS, n, PREFIX, 1);
        HOLDS(count >= RELA_SHORTLIST_SPECIAL + 1 && count <= N_TGT);
        rela_shortlist_collect(list, marks, N_TGT);
        HOLDS(!marks[0] && !marks[1] && list[0] == 0 && list[count - 1] == 69);
        for (size_t i = 1; i < count; i++)
            HOLDS(list[i] > list[i - 1]);
        HOLDS(count >= p->n_frequent);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rela_error err = { RELA_OK, "" };
    rela_shortlist *l = NULL;
    const rela_status st = rela_shortlist_read(&l, fuzz_file(data, size), &VOCAB, &err);
    HOLDS(st == RELA_OK ? l != NULL : st == RELA_FORMAT && !l && *err.message);
    if (l)
        check(l);
    rela_shortlist_free(l);

    /* The same without the file format: each byte is a number. */
    int32_t first[N_SRC + 1] = { 0 }, words[WORDS_MAX] = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < N_SRC + 1 && i < size; i++)
        first[i] = (int8_t)data[i];
    for (size_t i = N_SRC + 1; i < size && n < WORDS_MAX; i++)
        words[n++] = (int8_t)data[i];
    if (first[N_SRC] < 0 || (size_t)first[N_SRC] > n)
        return 0;
    const rela_shortlist_parts parts = { .vocab = VOCAB,
                                         .frequent = words + first[N_SRC],
                                         .n_frequent = n - (size_t)first[N_SRC],
                                         .first = first,
                                         .words = words };
    const rela_status made = rela_shortlist_create(&l, &parts, &err);
    HOLDS(made == RELA_OK ? l != NULL : made == RELA_FORMAT && !l);
    if (l)
        check(l);
    rela_shortlist_free(l);
    return 0;
}
