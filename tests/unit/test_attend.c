/* SPDX-License-Identifier: MIT */
/* tests/unit/test_attend.c - rela_attend on a model with two sources: every query of every place is
 * shown, also to a source that is empty. */
#include "api_model.h"

enum { PLACES = 5, LEN_MAX = 8 };

/* By place: rows, those without keys, keys that the last query could see. */
typedef struct seen {
    size_t rows[PLACES], without_keys[PLACES], last_keys[PLACES];
    int32_t type[PLACES], source[PLACES];
    size_t calls, stop_at;
} seen;

static int see(void *ctx, const rela_attention_row *row)
{
    seen *s = ctx;
    CHECK(row->stack >= 0 && row->stack < PLACES, "place %d", (int)row->stack);
    CHECK(row->n <= row->n_keys && row->n_keys <= LEN_MAX, "%u of %u keys", row->n, row->n_keys);
    s->rows[row->stack]++;
    s->without_keys[row->stack] += row->n_keys == 0;
    s->last_keys[row->stack] = row->n_keys;
    s->type[row->stack] = row->type;
    s->source[row->stack] = row->source;
    return ++s->calls == s->stop_at;
}

static size_t stack_of(const rela_model *m, const char *name)
{
    int32_t i = 0;
    while (rela_model_stack_name(m, i) && strcmp(rela_model_stack_name(m, i), name) != 0)
        i++;
    CHECK(rela_model_stack_name(m, i), "no place %s", name);
    return (size_t)i;
}

static void every_query_of_every_source_is_shown(void **state)
{
    (void)state;
    world w;
    rela_error err = { RELA_OK, "" };
    world_start(&w, 1);
    rela_model_shape shape = { .struct_size = sizeof shape };
    CHECK_OK(rela_model_shape_get(&shape, w.model, &err), err);
    CHECK(shape.sources == 2 && shape.stacks == PLACES, "%d places", (int)shape.stacks);
    /* Tokens with their ends: sources 4 and 0, target 3. */
    static const char *const SRC[] = { "a b c", "" }, *const TGT[] = { "d e" };
    const rela_pairs pairs = { .src = SRC, .tgt = TGT, .n = 1 };
    const struct {
        const char *name;
        size_t queries, keys;
        int32_t layers, type, source;
    } want[] = { { "enc0", 4, 4, shape.enc_layers, RELA_ATTENTION_ENCODER, 0 },
                 { "enc1", 0, 0, shape.enc_layers, RELA_ATTENTION_ENCODER, 1 },
                 { "dec", 3, 3, shape.dec_layers, RELA_ATTENTION_DECODER, 0 },
                 { "cross0", 3, 4, shape.dec_layers, RELA_ATTENTION_CROSS, 0 },
                 { "cross1", 3, 0, shape.dec_layers, RELA_ATTENTION_CROSS, 1 } };
    seen s = { .calls = 0 };
    CHECK_OK(rela_attend(w.session, &pairs, see, &s, &err), err);
    for (size_t i = 0; i < PLACES; i++) {
        const size_t p = stack_of(w.model, want[i].name);
        const size_t rows = want[i].queries * (size_t)(want[i].layers * shape.heads);
        CHECK(s.rows[p] == rows, "%s: %zu rows, want %zu", want[i].name, s.rows[p], rows);
        CHECK(s.without_keys[p] == (want[i].keys ? 0 : rows), "%s: %zu rows without keys",
              want[i].name, s.without_keys[p]);
        CHECK(!rows || (s.type[p] == want[i].type && s.source[p] == want[i].source),
              "%s: type %d, source %d", want[i].name, (int)s.type[p], (int)s.source[p]);
        CHECK(s.last_keys[p] == want[i].keys, "%s: %zu keys", want[i].name, s.last_keys[p]);
    }
    s = (seen){ .stop_at = 2 };
    CHECK(rela_attend(w.session, &pairs, see, &s, &err) == RELA_CANCEL && s.calls == 2, "%zu calls",
          s.calls);
    world_end(&w);
}

static int make_two(void **state)
{
    return make_model_of(state, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_query_of_every_source_is_shown),
    };
    return cmocka_run_group_tests(tests, make_two, remove_model);
}
