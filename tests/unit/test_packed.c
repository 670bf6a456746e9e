/* SPDX-License-Identifier: MIT */
/* tests/unit/test_packed.c - packed models. In 8 bits: stored or rounded when loaded they translate
 * to the same bits, near those of the full model, whatever the batch. Mapped: the bits of the full
 * model. And they do nothing else. */
#include "covered.h"
#include "model_file.h"
#include "step_walk.h"
#include "sweep.h"

#include "format/packed_load.h"

#include <unistd.h>

enum { VOCAB = 53, N_SOURCES = 5, LEN = 7 };

static two_paths at;

static int set_up(void **state)
{
    (void)state;
    return two_paths_make(&at, "model.rela", "other.rela");
}

static int tear_down(void **state)
{
    (void)state;
    return two_paths_remove(&at);
}

typedef struct loaded {
    rela_net net;
    rela_packed_weights packed;
    rela_extras extras;
} loaded;

static void load(loaded *l, const char *path, bool bytes)
{
    rela_error err;
    const rela_checkpoint_options o = { .n_threads = 1 };
    CHECK_OK(rela_packed_weights_load(&l->packed, &l->net, &l->extras, path, bytes, &o, &err), err);
}

static void unload(loaded *l)
{
    rela_packed_weights_deinit(&l->packed);
    rela_net_deinit(&l->net);
    rela_extras_deinit(&l->extras);
}

/* Saves the net twice: as it is to at.path, packed (on a processor of that level) to at.other. */
static void save_both(const rela_config *c, rela_matrices matrices, const rela_kern *level)
{
    rela_error err;
    probe p;
    const rela_checkpoint_options o = { .n_threads = 1, .matrices = matrices };
    probe_start(&p, c, 7, 3);
    CHECK_OK(rela_net_save(at.path, &p.net, NULL, NULL, &err), err);
    p.net.k = level;
    CHECK_OK(rela_net_save(at.other, &p.net, NULL, &o, &err), err);
    probe_end(&p);
}

static rela_config wide_config(const char *kind)
{
    rela_config c = probe_config(kind, VOCAB);
    c.d = 48;
    c.ffn = 50; /* no multiple of four */
    return c;
}

static void make_sources(rela_source *s, int32_t *ids)
{
    for (size_t i = 0; i < N_SOURCES; i++) {
        s[i] = (rela_source){ .text = { { ids + i * LEN, 2 + i } }, .number = i };
        for (size_t j = 0; j < s[i].text[0].n; j++)
            ids[i * LEN + j] = (int32_t)(3 + (i * 11 + j * 5) % (VOCAB - 3));
    }
}

typedef struct outcome {
    size_t n[N_SOURCES];
    int32_t ids[N_SOURCES][PROBE_LEN];
    real logps[N_SOURCES][PROBE_LEN];
} outcome;

/* batch: how many sources at a time. forced: translations to follow; NULL: free. */
static void translate(outcome *out, const rela_packed_weights *f, size_t batch,
                      const outcome *forced)
{
    rela_error err;
    rela_engine *engine = NULL;
    rela_source sources[N_SOURCES];
    rela_search_result results[N_SOURCES];
    int32_t ids[N_SOURCES * LEN];
    rela_search_options o;
    rela_search_options_init(&o);
    o.max_extra = 8;
    make_sources(sources, ids);
    for (size_t i = 0; forced && i < N_SOURCES; i++) {
        sources[i].prefix = forced->ids[i];
        sources[i].n_prefix = forced->n[i];
    }
    memset(out, 0, sizeof *out);
    CHECK_OK(rela_engine_create(&engine, &f, 1, &err), err);
    for (size_t i = 0; i < N_SOURCES; i += batch) {
        const size_t n = N_SOURCES - i < batch ? N_SOURCES - i : batch;
        CHECK_OK(rela_search_run(engine, results, sources + i, n, &o, &err), err);
        for (size_t j = 0; j < n; j++) {
            const rela_hypothesis *h = &results[j].best[0];
            out->n[i + j] = h->n;
            memcpy(out->ids[i + j], h->ids, h->n * sizeof *h->ids);
            memcpy(out->logps[i + j], h->logps, h->n * sizeof *h->logps);
        }
    }
    rela_engine_destroy(engine);
}

static bool same(const outcome *a, const outcome *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void check_config(const rela_config *c)
{
    loaded full, rounded, stored;
    outcome a, b, alone, near;
    double apart = 0, n = 0;
    save_both(c, RELA_MATRICES_BYTES, rela_kern_get());
    load(&full, at.path, false);
    load(&rounded, at.path, true);
    load(&stored, at.other, false);
    translate(&a, &rounded.packed, N_SOURCES, NULL);
    translate(&b, &stored.packed, N_SOURCES, NULL);
    CHECK(same(&a, &b), "%s: stored is not as rounded", c->attention[0].text);
    translate(&alone, &stored.packed, 1, NULL);
    CHECK(same(&a, &alone), "%s: alone is not as in a batch", c->attention[0].text);
    translate(&near, &full.packed, N_SOURCES, &a);
    for (size_t i = 0; i < N_SOURCES; i++)
        for (size_t j = 0; j < a.n[i]; j++, n++)
            apart += fabs((double)(a.logps[i][j] - near.logps[i][j]));
    print_message("%-12s log-probabilities %.3f apart\n", c->attention[0].text, apart / n);
    CHECK(apart / n < 0.1, "%s: %.3f from the full model", c->attention[0].text, apart / n);
    covered("level: int8 models", rela_kern_get()->name);
    unload(&full);
    unload(&rounded);
    unload(&stored);
}

static void stored_or_rounded_alone_or_in_a_batch_gives_the_same_bits(void **state)
{
    (void)state;
    static const char *const KINDS[] = { "softmax", "rela-g", "rela-t" };
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0]; i++) {
        rela_config c = wide_config(KINDS[i]);
        check_config(&c);
        c.pre_norm = true;
        c.tie = RELA_TIE_NONE;
        check_config(&c);
        c.tie = RELA_TIE_OUT;
        c.vocab_src = VOCAB + 9;
        check_config(&c);
    }
}

/* How near int8 comes to the teacher-forced pass is in check_config; here, that caches hold what
 * the steps before have computed, to the bit. */
static double walk_int8(const rela_config *c)
{
    rela_error err;
    loaded l;
    probe p;
    probe_start(&p, c, 3, 1);
    CHECK_OK(rela_net_save(at.path, &p.net, NULL, NULL, &err), err);
    load(&l, at.path, true);
    const double worst = walk_net(&p, &l.packed, true);
    unload(&l);
    probe_end(&p);
    return worst;
}

static void cached_int8_steps_do_not_depend_on_company(void **state)
{
    (void)state;
    for (size_t i = 0; rela_attn_kind_at(i); i++)
        for (size_t sources = 1; sources <= 2; sources++) {
            rela_config c = wide_config(rela_attn_kind_at(i)->name);
            c.sources = sources;
            CHECK(walk_int8(&c) == 0, "%s, %zu sources", c.attention[0].text, sources);
        }
}

static void nothing_but_translating_is_offered(void **state)
{
    (void)state;
    rela_error err;
    rela_worker *w = NULL;
    rela_net n;
    loaded l;
    rela_config c = wide_config("rela-g");
    save_both(&c, RELA_MATRICES_BYTES, rela_kern_get());
    load(&l, at.path, true);
    assert_int_equal(rela_worker_create(&w, &l.net, 8, 8, true, &err), RELA_STATE);
    unload(&l);
    assert_int_equal(rela_net_load(&n, NULL, at.other, NULL, &err), RELA_FORMAT);
    CHECK(strstr(err.message, RELA_TRANSLATES_ONLY), "%s", err.message);
    c.d = 24; /* can be rounded when loaded, but its parts are no whole panels */
    start_net(&n, &c, 1);
    const rela_checkpoint_options o = { .matrices = RELA_MATRICES_BYTES };
    assert_int_equal(rela_net_save(at.other, &n, NULL, &o, &err), RELA_UNSUP);
    CHECK_OK(rela_net_save(at.path, &n, NULL, NULL, &err), err);
    rela_net_deinit(&n);
    load(&l, at.path, true);
    unload(&l);
}

/* Whatever fails on the way, nothing is left. */
static void check_load_failures(bool bytes)
{
    rela_error err;
    loaded l;
    const rela_checkpoint_options o = { .n_threads = 1 };
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        sweep_arm(&s);
        const rela_status st =
            rela_packed_weights_load(&l.packed, &l.net, &l.extras, at.other, bytes, &o, &err);
        sweep_disarm(&s);
        CHECK(st == RELA_OK || (!l.packed.block && !l.net.weights), "left over after %d", st);
        if (st == RELA_OK)
            unload(&l);
        sweep_check(&s);
    }
}

static void check_mapped(const rela_config *c, const rela_kern *level)
{
    loaded full, mapped;
    outcome a, b, alone;
    save_both(c, RELA_MATRICES_PANELS, level);
    load(&full, at.path, false);
    load(&mapped, at.other, false);
    assert_int_equal(mapped.packed.file != NULL, level->panel == rela_kern_get()->panel);
    translate(&a, &full.packed, N_SOURCES, NULL);
    translate(&b, &mapped.packed, N_SOURCES, NULL);
    CHECK(same(&a, &b), "%s: mapped is not as read", c->attention[0].text);
    translate(&alone, &mapped.packed, 1, NULL);
    CHECK(same(&a, &alone), "%s: alone is not as in a batch", c->attention[0].text);
    unload(&full);
    unload(&mapped);
}

static void mapped_is_as_read_whichever_processor_laid_it_out(void **state)
{
    (void)state;
    rela_config c = wide_config("rela-g");
    c.d = 96; /* whole panels of all levels */
    for (size_t level = 0; rela_kern_at(level); level++) {
        c.pre_norm = false;
        c.tie = RELA_TIE_ALL;
        check_mapped(&c, rela_kern_at(level));
        c.pre_norm = true;
        c.tie = RELA_TIE_NONE;
        check_mapped(&c, rela_kern_at(level));
        covered("level: mapped files", rela_kern_at(level)->name);
    }
}

static void a_mapped_file_that_is_cut_or_damaged_is_told(void **state)
{
    (void)state;
    rela_error err;
    rela_net n;
    loaded l;
    size_t len = 0;
    const rela_checkpoint_options o = { .n_threads = 1 };
    rela_config c = wide_config("softmax");
    c.d = 96; /* whole panels of all levels */
    save_both(&c, RELA_MATRICES_PANELS, rela_kern_get());
    assert_int_equal(rela_net_load(&n, NULL, at.other, NULL, &err), RELA_FORMAT);
    assert_int_equal(
        rela_packed_weights_load(&l.packed, &l.net, &l.extras, at.other, true, &o, &err),
        RELA_UNSUP);
    char *bytes = read_all(at.other, &len);
    load(&l, at.other, false);
    CHECK_OK(rela_packed_weights_check(&l.packed, &err), err);
    assert_int_equal(truncate(at.other, (off_t)len / 2), 0);
    assert_int_equal(rela_packed_weights_check(&l.packed, &err), RELA_FORMAT);
    unload(&l);
    bytes[len - 100] ^= 1;
    CHECK_OK(rela_file_write(at.other, bytes, len, &err), err);
    rela_mem_free(bytes);
    assert_int_equal(
        rela_packed_weights_load(&l.packed, &l.net, &l.extras, at.other, false, &o, &err),
        RELA_FORMAT);
    CHECK(strstr(err.message, "damaged"), "%s", err.message);
    save_both(&c, RELA_MATRICES_PANELS, rela_kern_get());
    check_load_failures(false);
}

/* The file at.other with so many blanks more at the end of its header. */
static void pad_header(size_t blanks)
{
    rela_error err;
    rela_buffer padded = RELA_BUFFER_INIT;
    size_t len = 0;
    uint64_t header = 0;
    char *bytes = read_all(at.other, &len);
    memcpy(&header, bytes, sizeof header);
    const uint64_t longer = header + blanks;
    CHECK_OK(rela_buffer_append(&padded, (const char *)&longer, sizeof longer, &err), err);
    CHECK_OK(rela_buffer_append(&padded, bytes + sizeof header, (size_t)header, &err), err);
    for (size_t i = 0; i < blanks; i++)
        CHECK_OK(rela_buffer_append(&padded, " ", 1, &err), err);
    const size_t at_data = sizeof header + (size_t)header;
    CHECK_OK(rela_buffer_append(&padded, bytes + at_data, len - at_data, &err), err);
    CHECK_OK(rela_file_write(at.other, padded.data, padded.len, &err), err);
    rela_buffer_free(&padded);
    rela_mem_free(bytes);
}

static void numbers_are_used_where_they_are_only_if_aligned(void **state)
{
    (void)state;
    static const rela_matrices FORMS[] = { RELA_MATRICES_PANELS, RELA_MATRICES_BYTES,
                                           RELA_MATRICES_PLAIN };
    const rela_checkpoint_options o = { .n_threads = 1 };
    rela_config c = wide_config("rela-g");
    c.d = 96; /* whole panels of all levels */
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
        for (size_t blanks = 1; blanks <= 2 * sizeof(real); blanks++) {
            rela_error err = { RELA_OK, "" };
            loaded full, l;
            outcome a, b;
            const bool mapped = FORMS[i] == RELA_MATRICES_PANELS;
            save_both(&c, FORMS[i], rela_kern_get());
            pad_header(blanks);
            const rela_status st =
                rela_packed_weights_load(&l.packed, &l.net, &l.extras, at.other, false, &o, &err);
            if (mapped && blanks % sizeof(real) != 0) {
                CHECK(st == RELA_FORMAT && strstr(err.message, "other.rela: its numbers begin at"),
                      "%d blanks: status %d: %s", (int)blanks, st, err.message);
                continue;
            }
            CHECK(st == RELA_OK, "form %d, %d blanks: %s", (int)FORMS[i], (int)blanks, err.message);
            load(&full, at.path, FORMS[i] == RELA_MATRICES_BYTES);
            translate(&a, &full.packed, N_SOURCES, NULL);
            translate(&b, &l.packed, N_SOURCES, NULL);
            CHECK(same(&a, &b), "form %d, %d blanks: other bits", (int)FORMS[i], (int)blanks);
            unload(&full);
            unload(&l);
        }
}

static void damage_and_failures_are_told(void **state)
{
    (void)state;
    rela_error err;
    loaded l;
    size_t len = 0;
    const rela_checkpoint_options o = { .n_threads = 1 };
    const rela_config c = wide_config("softmax");
    save_both(&c, RELA_MATRICES_BYTES, rela_kern_get());
    char *bytes = read_all(at.other, &len);
    bytes[len - 100] ^= 1;
    CHECK_OK(rela_file_write(at.path, bytes, len, &err), err);
    assert_int_equal(
        rela_packed_weights_load(&l.packed, &l.net, &l.extras, at.path, true, &o, &err),
        RELA_FORMAT);
    CHECK(strstr(err.message, "damaged"), "%s", err.message);
    char *scale = memmem(bytes, len, "embed.scale", 11);
    CHECK(scale, "no scales");
    memcpy(scale, "embed.tcale", 11);
    CHECK_OK(rela_file_write(at.path, bytes, len, &err), err);
    assert_int_equal(
        rela_packed_weights_load(&l.packed, &l.net, &l.extras, at.path, true, &o, &err),
        RELA_FORMAT);
    CHECK(strstr(err.message, "tensor 'embed.scale' is missing; expected F32 [53]"), "%s",
          err.message);
    rela_mem_free(bytes);
    check_load_failures(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_or_rounded_alone_or_in_a_batch_gives_the_same_bits),
        cmocka_unit_test(cached_int8_steps_do_not_depend_on_company),
        cmocka_unit_test(nothing_but_translating_is_offered),
        cmocka_unit_test(damage_and_failures_are_told),
        cmocka_unit_test(mapped_is_as_read_whichever_processor_laid_it_out),
        cmocka_unit_test(a_mapped_file_that_is_cut_or_damaged_is_told),
        cmocka_unit_test(numbers_are_used_where_they_are_only_if_aligned),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
