/* SPDX-License-Identifier: MIT */
/* tests/unit/test_shortlist.c - shortlists: a table of bad files, the list of a sentence, and what
 * is learnt from links. */
#include "scratch.h"
#include "sweep.h"

#include "align/lexicon.h"

enum { N_SRC = 5, N_TGT = 70 };

static const int32_t FREQUENT[] = { 4, 64 };
static const int32_t FIRST[] = { 0, 0, 1, 1, 4, 6 };
static const int32_t WORDS[] = { 1, 5, 9, 69, 5, 64 };

static rela_shortlist_parts good_parts(void)
{
    return (
        rela_shortlist_parts){ .vocab = { .n_src = N_SRC, .n_tgt = N_TGT, .hash = "xxh3-128:0" },
                               .frequent = FREQUENT,
                               .n_frequent = 2,
                               .first = FIRST,
                               .words = WORDS };
}

static rela_shortlist *make(void)
{
    rela_error err;
    rela_shortlist *l = NULL;
    const rela_shortlist_parts p = good_parts();
    CHECK_OK(rela_shortlist_create(&l, &p, &err), err);
    return l;
}

static void check_same(const rela_shortlist *l)
{
    const rela_shortlist_parts *p = rela_shortlist_parts_of(l);
    CHECK(p->n_frequent == 2 && memcmp(p->frequent, FREQUENT, sizeof FREQUENT) == 0, "frequent");
    CHECK(memcmp(p->first, FIRST, sizeof FIRST) == 0, "first");
    CHECK(memcmp(p->words, WORDS, sizeof WORDS) == 0, "words");
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    rela_error err;
    rela_shortlist *l = make(), *back = NULL;
    const rela_vocab_pair vocab = good_parts().vocab;
    check_same(l);
    CHECK_OK(rela_shortlist_write(scratch("good"), l, &err), err);
    CHECK_OK(rela_shortlist_read(&back, scratch("good"), &vocab, &err), err);
    check_same(back);
    rela_shortlist_free(l);
    rela_shortlist_free(back);
}

/* ---- bad files ---- */

/* A file whose pieces can be changed before its hash is made. */
typedef struct pieces {
    int32_t first[N_SRC + 2], frequent[4], words[8];
    rela_tensor tensors[4];
    size_t n_tensors;
    rela_metadata texts[5];
    size_t n_texts;
    char hash[RELA_HASH_TEXT];
} pieces;

static rela_span span(const char *text)
{
    return (rela_span){ text, strlen(text) };
}

static void good_pieces(pieces *p)
{
    *p = (pieces){ .n_tensors = 3, .n_texts = 4 };
    memcpy(p->first, FIRST, sizeof FIRST);
    memcpy(p->frequent, FREQUENT, sizeof FREQUENT);
    memcpy(p->words, WORDS, sizeof WORDS);
    p->tensors[0] = (rela_tensor){ span("first"), RELA_I32, 1, { 6 }, 0, 0, p->first };
    p->tensors[1] = (rela_tensor){ span("frequent"), RELA_I32, 1, { 2 }, 0, 0, p->frequent };
    p->tensors[2] = (rela_tensor){ span("words"), RELA_I32, 1, { 6 }, 0, 0, p->words };
    p->texts[0] = (rela_metadata){ span("format"), span("rela-shortlist") };
    p->texts[1] = (rela_metadata){ span("format_version"), span("1") };
    p->texts[2] = (rela_metadata){ span("hash"), span("") };
    p->texts[3] = (rela_metadata){ span("vocabularies"), span("xxh3-128:0") };
}

static void other_format(pieces *p)
{
    p->texts[0].value = span("rela-model");
}
static void no_format(pieces *p)
{
    p->texts[0].key = span("aformat");
}
static void later_version(pieces *p)
{
    p->texts[1].value = span("2");
}
static void long_version(pieces *p)
{
    p->texts[1].value = span("11111111111111111111111111111111111111111");
}
static void no_vocabularies(pieces *p)
{
    p->n_texts = 3;
}
static void one_text_more(pieces *p)
{
    p->texts[p->n_texts++] = (rela_metadata){ span("zz"), span("") };
}
static void other_vocabularies(pieces *p)
{
    p->texts[3].value = span("xxh3-128:1");
}
static void no_words(pieces *p)
{
    p->n_tensors = 2;
}
static void one_tensor_more(pieces *p)
{
    p->tensors[p->n_tensors++] = (rela_tensor){ span("zz"), RELA_I32, 1, { 1 }, 0, 0, p->first };
}
static void bytes_for_numbers(pieces *p)
{
    p->tensors[1].dtype = RELA_I8;
}
static void square(pieces *p)
{
    p->tensors[1].rank = 2;
    p->tensors[1].shape[1] = 1;
}
static void too_few_lists(pieces *p)
{
    p->tensors[0].shape[0] = 5;
}
static void too_many_lists(pieces *p)
{
    p->first[6] = 6;
    p->tensors[0].shape[0] = 7;
}
static void late_start(pieces *p)
{
    p->first[0] = p->first[1] = 1;
}
static void negative_start(pieces *p)
{
    p->first[0] = -1;
}
static void backwards(pieces *p)
{
    p->first[3] = 5;
}
static void far_away(pieces *p)
{
    p->first[3] = INT32_MAX;
}
static void too_long(pieces *p)
{
    p->first[5] = 7;
}
static void too_short(pieces *p)
{
    p->first[5] = 5;
}
static void negative_end(pieces *p)
{
    p->first[5] = -6;
}
static void symbol_too_large(pieces *p)
{
    p->words[3] = N_TGT;
}
static void symbol_negative(pieces *p)
{
    p->words[0] = -1;
}
static void symbols_fall(pieces *p)
{
    p->words[2] = 4;
}
static void symbol_twice(pieces *p)
{
    p->words[2] = 5;
}
static void frequent_too_large(pieces *p)
{
    p->frequent[1] = N_TGT;
}
static void frequent_twice(pieces *p)
{
    p->frequent[1] = 4;
}
static void other_hash(pieces *p)
{
    p->hash[12] = p->hash[12] == '0' ? '1' : '0';
}

typedef struct bad {
    void (*change)(pieces *p);
    const char *says;
    bool after; /* the change comes after the hash */
} bad;

static const bad BAD[] = {
    { other_format, "not a shortlist", false },
    { no_format, "not a shortlist", false },
    { later_version, "'format_version' is '2'; this program reads 1", false },
    { long_version, "'1111111111111111'", false },
    { no_vocabularies, "text 'vocabularies' is missing", false },
    { one_text_more, "5 texts; expected 4", false },
    { other_vocabularies, "made for a model with other vocabularies", false },
    { no_words, "tensor 'words' is missing", false },
    { one_tensor_more, "4 tensors; expected 3", false },
    { bytes_for_numbers, "tensor 'frequent' is missing or no list of I32", false },
    { square, "tensor 'frequent' is missing or no list of I32", false },
    { too_few_lists, "5 lists of source symbols; expected 6", false },
    { too_many_lists, "7 lists of source symbols; expected 6", false },
    { late_start, "the first list begins at 1; expected 0", false },
    { negative_start, "the first list begins at -1; expected 0", false },
    { backwards, "source symbol 3 ends at 4, before it begins", false },
    { far_away, "source symbol 3 ends at 4, before it begins", false },
    { too_long, "the last list ends at 7; expected 6", false },
    { too_short, "the last list ends at 5; expected 6", false },
    { negative_end, "the last list ends at -6; expected 6", false },
    { symbol_too_large, "source symbol 3: symbol 70; expected 0..69", false },
    { symbol_negative, "source symbol 1: symbol -1; expected 0..69", false },
    { symbols_fall, "source symbol 3: symbol 4 after 5; expected rising numbers", false },
    { symbol_twice, "source symbol 3: symbol 5 after 5; expected rising numbers", false },
    { frequent_too_large, "frequent list 1: symbol 70", false },
    { frequent_twice, "frequent list 1: symbol 4 after 4", false },
    { other_hash, "damaged", true },
};

static void write_pieces(pieces *p, const bad *b)
{
    rela_error err;
    if (b && !b->after)
        b->change(p);
    const rela_header h = { p->tensors, p->n_tensors, p->texts, p->n_texts };
    const rela_content c = { .header = h, .n_threads = 1, .path = "" };
    CHECK_OK(rela_content_run(p->hash, &c, &err), err);
    if (b && b->after)
        b->change(p);
    p->texts[2].value = span(p->hash);
    CHECK_OK(rela_safetensors_write(scratch("file"), &h, 0, &err), err);
}

static void check_refused(const char *path, const char *says)
{
    rela_error err = { RELA_OK, "" };
    rela_shortlist *l = NULL;
    const rela_vocab_pair vocab = good_parts().vocab;
    CHECK(rela_shortlist_read(&l, path, &vocab, &err) == RELA_FORMAT, "accepted: %s", says);
    CHECK(!l && strstr(err.message, says) && strstr(err.message, path) &&
              !strchr(err.message, '\n'),
          "message '%s', want '%s'", err.message, says);
}

static void bad_files_are_refused_with_the_reason(void **state)
{
    (void)state;
    rela_error err;
    pieces p;
    rela_shortlist *l = NULL;
    const rela_vocab_pair vocab = good_parts().vocab;
    good_pieces(&p);
    write_pieces(&p, NULL); /* the table starts from a file that is read */
    CHECK_OK(rela_shortlist_read(&l, scratch("file"), &vocab, &err), err);
    check_same(l);
    rela_shortlist_free(l);
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        good_pieces(&p);
        write_pieces(&p, &BAD[i]);
        check_refused(scratch("file"), BAD[i].says);
    }
}

static void every_damaged_byte_and_every_cut_is_noticed(void **state)
{
    (void)state;
    rela_error err;
    size_t len = 0;
    rela_shortlist *l = make(), *back = NULL;
    const rela_vocab_pair vocab = good_parts().vocab;
    CHECK_OK(rela_shortlist_write(scratch("good"), l, &err), err);
    char *bytes = slurp(scratch("good"), &len);
    for (size_t i = 0; i < len; i++) {
        bytes[i] = (char)(bytes[i] ^ 1);
        const rela_status st = rela_shortlist_read(&back, spill("cut", bytes, len), &vocab, &err);
        bytes[i] = (char)(bytes[i] ^ 1);
        /* A blank of the padding may become no blank, and a digit of an offset cannot hide. */
        CHECK(st == RELA_FORMAT && !back, "byte %zu of %zu: status %d", i, len, (int)st);
    }
    for (size_t n = 0; n < len; n++)
        CHECK(rela_shortlist_read(&back, spill("cut", bytes, n), &vocab, &err) == RELA_FORMAT,
              "%zu of %zu bytes are accepted", n, len);
    CHECK(rela_shortlist_read(&back, scratch("none"), &vocab, &err) == RELA_IO, "no file");
    free(bytes);
    rela_shortlist_free(l);
}

static void every_call_may_fail(void **state)
{
    (void)state;
    const rela_vocab_pair vocab = good_parts().vocab;
    const rela_shortlist_parts parts = good_parts();
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        rela_error err = { RELA_OK, "" };
        rela_shortlist *l = NULL, *back = NULL;
        sweep_arm(&s);
        rela_status st = rela_shortlist_create(&l, &parts, &err);
        st = st ? st : rela_shortlist_write(scratch("swept"), l, &err);
        st = st ? st : rela_shortlist_read(&back, scratch("swept"), &vocab, &err);
        sweep_disarm(&s);
        sweep_status(&s, st, &err);
        rela_shortlist_free(l);
        rela_shortlist_free(back);
        sweep_check(&s);
    }
}

/* ---- the list of a sentence ---- */

static void check_list(const int32_t *ids, size_t n, const int32_t *prefix, size_t n_prefix,
                       const char *want)
{
    uint64_t marks[2] = { 0, 0 };
    uint32_t out[N_TGT];
    char text[512] = "";
    rela_shortlist *l = make();
    const size_t count = rela_shortlist_mark(marks, l, ids, n, prefix, n_prefix);
    rela_shortlist_collect(out, marks, N_TGT);
    for (size_t i = 0; i < count; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), " %u", out[i]);
    CHECK(strcmp(text, want) == 0, "list%s, want%s", text, want);
    CHECK(!marks[0] && !marks[1], "marks are left");
    rela_shortlist_free(l);
}

static void lists_hold_special_frequent_linked_and_demanded_symbols_once(void **state)
{
    (void)state;
    static const int32_t SOME[] = { 3, 4, 3 }, NONE[] = { 0, 2 }, PREFIX[] = { 63, 5, 2 };
    check_list(NULL, 0, NULL, 0, " 0 1 2 4 64");
    check_list(NONE, 2, NULL, 0, " 0 1 2 4 64");
    check_list(SOME, 3, NULL, 0, " 0 1 2 4 5 9 64 69");
    check_list(SOME, 1, PREFIX, 3, " 0 1 2 4 5 9 63 64 69");
}

/* ---- learning ---- */

static void check_numbers(const int32_t *got, size_t n, const char *want, const char *what)
{
    char text[256] = "";
    for (size_t i = 0; i < n; i++)
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), " %d", (int)got[i]);
    CHECK(strcmp(text, want) == 0, "%s:%s, want%s", what, text, want);
}

static void the_most_linked_symbols_are_taken(void **state)
{
    (void)state;
    static const char SRC[] = "<pad>\n<unk>\n<eos>\na\nb\nc\n";
    static const char TGT[] = "<pad>\n<unk>\n<eos>\nv\nw\nx\ny\nz\nc\n";
    /* Source symbol, target symbol, how often: b has more than two, two of them equally often. */
    static const uint32_t LINKS[][3] = { { 3, 3, 9 }, { 3, 4, 1 }, { 4, 3, 8 }, { 4, 7, 2 },
                                         { 4, 6, 2 }, { 4, 5, 1 }, { 4, 2, 5 } };
    rela_error err;
    rela_vocab *src = NULL, *tgt = NULL;
    rela_lexicon *x = NULL;
    rela_shortlist *l = NULL;
    CHECK_OK(rela_vocab_parse(&src, "src", SRC, sizeof SRC - 1, &err), err);
    CHECK_OK(rela_vocab_parse(&tgt, "tgt", TGT, sizeof TGT - 1, &err), err);
    CHECK_OK(rela_lexicon_create(&x, src, tgt, &err), err);
    for (size_t i = 0; i < sizeof LINKS / sizeof *LINKS; i++)
        for (uint32_t k = 0; k < LINKS[i][2]; k++) {
            CHECK_OK(rela_lexicon_link(x, LINKS[i][0], LINKS[i][1], &err), err);
            rela_lexicon_add(x, LINKS[i][1]);
        }
    CHECK_OK(rela_lexicon_shortlist(&l, x, 1, 2, &err), err);
    const rela_shortlist_parts *p = rela_shortlist_parts_of(l);
    check_numbers(p->frequent, p->n_frequent, " 3", "frequent");
    check_numbers(p->first, 7, " 0 0 0 0 1 3 4", "first"); /* c has its own text only */
    check_numbers(p->words, 4, " 4 6 7 8", "words");
    rela_shortlist_free(l);
    CHECK_OK(rela_lexicon_shortlist(&l, x, 0, 0, &err), err);
    p = rela_shortlist_parts_of(l);
    CHECK(p->n_frequent == 0 && p->first[6] == 1, "more than asked for");
    rela_shortlist_free(l);
    rela_lexicon_destroy(x);
    rela_vocab_free(src);
    rela_vocab_free(tgt);
}

static void many_pairs_are_counted(void **state)
{
    (void)state;
    enum { N = 150 };
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_vocab *v = NULL;
    rela_lexicon *x = NULL;
    rela_shortlist *l = NULL;
    CHECK_OK(rela_buffer_append_text(&text, "<pad>\n<unk>\n<eos>\n", &err), err);
    for (int i = 3; i < N; i++)
        CHECK_OK(rela_buffer_printf(&text, &err, "w%d\n", i), err);
    CHECK_OK(rela_vocab_parse(&v, "v", text.data, text.len, &err), err);
    CHECK_OK(rela_lexicon_create(&x, v, v, &err), err);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t s = 3; s < N; s++)
            for (uint32_t t = 3; t < N; t++)
                if (round == 0 || t % 50 == s % 50) /* these twice */
                    CHECK_OK(rela_lexicon_link(x, s, t, &err), err);
    CHECK_OK(rela_lexicon_shortlist(&l, x, 0, 2, &err), err);
    const rela_shortlist_parts *p = rela_shortlist_parts_of(l);
    for (int32_t s = 60; s < 100; s++) {
        const int32_t *own = p->words + p->first[s], low = s - 50;
        CHECK(p->first[s + 1] - p->first[s] == 2 && own[0] == low && own[1] == s,
              "symbol %d: %d %d", (int)s, (int)own[0], (int)own[1]);
    }
    rela_shortlist_free(l);
    rela_lexicon_destroy(x);
    rela_vocab_free(v);
    rela_buffer_free(&text);
}

static void any_other_symbol_gives_another_hash(void **state)
{
    (void)state;
    static const char *const TEXTS[] = { "<pad>\n<unk>\n<eos>\na\nb\n",
                                         "<pad>\n<unk>\n<eos>\na\nc\n",
                                         "<pad>\n<unk>\n<eos>\na\n" };
    rela_error err;
    rela_vocab *v[3] = { NULL };
    rela_vocab_pair pairs[9];
    for (int i = 0; i < 3; i++)
        CHECK_OK(rela_vocab_parse(&v[i], "v", TEXTS[i], strlen(TEXTS[i]), &err), err);
    for (int i = 0; i < 9; i++)
        CHECK_OK(rela_vocab_pair_init(&pairs[i], v[i / 3], v[i % 3], &err), err);
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < i; j++)
            CHECK(strcmp(pairs[i].hash, pairs[j].hash) != 0, "%d and %d are the same", i, j);
    for (int i = 0; i < 3; i++)
        rela_vocab_free(v[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(bad_files_are_refused_with_the_reason),
        cmocka_unit_test(every_damaged_byte_and_every_cut_is_noticed),
        cmocka_unit_test(every_call_may_fail),
        cmocka_unit_test(lists_hold_special_frequent_linked_and_demanded_symbols_once),
        cmocka_unit_test(the_most_linked_symbols_are_taken),
        cmocka_unit_test(many_pairs_are_counted),
        cmocka_unit_test(any_other_symbol_gives_another_hash),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
