/* SPDX-License-Identifier: MIT */
/* tests/unit/test_checkpoint.c - model files that are good: round trips, notices, what a failed
 * save leaves behind, full disks. */
#include "attend.h"
#include "model_file.h"
#include "sweep.h"
#include "tiny_config.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

static rela_status see_entry(void *ctx, const char *name, rela_error *err)
{
    (void)name;
    (void)err;
    ++*(size_t *)ctx;
    return RELA_OK;
}

static size_t count_entries(void)
{
    size_t n = 0;
    rela_error err;
    CHECK_OK(rela_dir_list(scratch_dir, see_entry, &n, &err), err);
    return n;
}

static void check_equal(const rela_net *a, const real *values, const rela_net *b)
{
    assert_int_equal(a->params.total, b->params.total);
    /* Gaps included: they must be zero. */
    assert_memory_equal(values, b->weights, b->params.total * sizeof(real));
}

static void check_same_config(const rela_config *a, const rela_config *b)
{
    rela_buffer text_a = RELA_BUFFER_INIT, text_b = RELA_BUFFER_INIT;
    rela_error err;
    CHECK_OK(rela_config_to_json(&text_a, a, &err), err);
    CHECK_OK(rela_config_to_json(&text_b, b, &err), err);
    assert_string_equal(text_a.data, text_b.data);
    rela_buffer_free(&text_a);
    rela_buffer_free(&text_b);
}

static void check_same_texts(const rela_extras *a, const rela_extras *b)
{
    assert_int_equal(a->n_sections, b->n_sections);
    for (size_t i = 0; i < b->n_sections; i++) {
        const rela_section *want = &b->sections[i], *have = rela_extras_get(a, want->name);
        CHECK(have && have->len == want->len && strcmp(have->text, want->text) == 0, "%s",
              want->name);
    }
}

static void everything_comes_back(void **state)
{
    (void)state;
    sample s;
    rela_net n;
    rela_extras e;
    rela_error err;
    sample_start(&s, 4, 5, true);
    CHECK_OK(rela_net_save(at.path, &s.net, &s.extras, NULL, &err), err);
    const rela_checkpoint_options o = { .arrays = true };
    CHECK_OK(rela_net_load(&n, &e, at.path, &o, &err), err);
    check_equal(&n, n.weights, &s.net);
    assert_memory_equal(n.positions, s.net.positions, sizeof(real) * 8 * 4);
    check_same_config(&n.config, &s.net.config);
    check_same_texts(&e, &s.extras);
    assert_null(rela_extras_get(&e, "text.none"));
    assert_int_equal(e.n_arrays, 2);
    real *m = rela_extras_take(&e, "adam.m"), *v = rela_extras_take(&e, "adam.v");
    assert_null(rela_extras_take(&e, "adam.v"));
    check_equal(&n, m, &s.m);
    check_equal(&n, v, &s.v);
    rela_mem_free(m);
    rela_mem_free(v);
    rela_extras_deinit(&e);
    rela_net_deinit(&n);
    sample_end(&s);
}

/* Loading and saving again gives the same bytes, whatever the number of threads. */
static void check_resave(size_t d, size_t vocab)
{
    size_t len = 0;
    sample_save(at.path, d, vocab, true);
    char *bytes = read_all(at.path, &len);
    for (int threads = 1; threads <= 4; threads++) {
        rela_net n;
        rela_extras e;
        rela_error err;
        const rela_checkpoint_options o = { .n_threads = threads, .arrays = true };
        CHECK_OK(rela_net_load(&n, &e, at.path, &o, &err), err);
        CHECK_OK(rela_net_save(at.other, &n, &e, &o, &err), err);
        CHECK(same_bytes(at.other, bytes, len), "%d threads", threads);
        rela_extras_deinit(&e);
        rela_net_deinit(&n);
    }
    rela_mem_free(bytes);
}

static void saving_again_gives_the_same_bytes(void **state)
{
    (void)state;
    check_resave(4, 5);
    check_resave(64, 3000); /* the embedding has more than one piece of the hash */
}

static void a_checkpoint_serves_as_a_model(void **state)
{
    (void)state;
    rela_net n;
    rela_extras e;
    rela_error err;
    sample_save(at.path, 4, 5, true);
    CHECK_OK(rela_net_load(&n, &e, at.path, NULL, &err), err);
    assert_int_equal(e.n_arrays, 0);
    rela_extras_deinit(&e);
    rela_net_deinit(&n);
    CHECK_OK(rela_net_load(&n, NULL, at.path, NULL, &err), err);
    rela_net_deinit(&n);
}

static void saving_needs_no_extras(void **state)
{
    (void)state;
    const rela_config c = small_config(4, 5);
    rela_net n, back;
    rela_extras e;
    rela_error err;
    start_net(&n, &c, 9);
    CHECK_OK(rela_net_save(at.path, &n, NULL, NULL, &err), err);
    CHECK_OK(rela_net_load(&back, &e, at.path, NULL, &err), err);
    assert_int_equal(e.n_sections, 0);
    check_equal(&back, back.weights, &n);
    rela_net_deinit(&back);
    rela_net_deinit(&n);
}

static void check_config_text(const rela_config *c)
{
    rela_config back;
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    CHECK_OK(rela_config_to_json(&text, c, &err), err);
    CHECK_OK(rela_config_from_json(&back, text.data, text.len, &err), err);
    CHECK(back.drop_ffn == c->drop_ffn && rela_config_differs(&back, c) == NULL &&
              back.tie == c->tie && back.d == c->d && back.eps == c->eps,
          "%s", text.data);
    check_same_config(&back, c);
    rela_buffer_free(&text);
}

static void configurations_come_back(void **state)
{
    (void)state;
    for (size_t k = 0; rela_attn_kind_at(k); k++)
        for (size_t p = 0; p < 4; p++) {
            rela_config c;
            rela_error err;
            tiny_config(&c);
            c.d <<= p;
            c.max_len <<= p;
            c.vocab_src = c.vocab_tgt = 1000 + p;
            set_attention(&c, (int)(p % RELA_ATTN_N_TYPES), rela_attn_kind_at(k)->name);
            c.tie = (rela_tie)(k % 3);
            c.pre_norm = k % 2;
            c.norm_per_head = p % 2;
            c.drop_ffn = 0.1 + 1.0 / (double)(3 + k);
            CHECK_OK(rela_attn_spec_alias(&c.attention[p % RELA_ATTN_N_TYPES], "fuse",
                                          0.1 + (double)k / 7, &err),
                     err);
            check_config_text(&c);
        }
}

static void bad_names_are_refused(void **state)
{
    (void)state;
    rela_extras e = { 0 };
    rela_error err;
    real x = 0;
    static const char *const TEXTS[] = { "",     "hash",  "config",    "format", "format_version",
                                         "text", "text.", "vocabulary" };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++)
        assert_int_equal(rela_extras_set(&e, TEXTS[i], "x", 1, &err), RELA_ARG);
    assert_int_equal(rela_extras_lend(&e, "", &x, &err), RELA_ARG);
    assert_int_equal(rela_extras_lend(&e, "a/b", &x, &err), RELA_ARG);
    assert_int_equal(rela_extras_lend(&e, "a name that is far too long for us", &x, &err),
                     RELA_ARG);
    CHECK_OK(rela_extras_lend(&e, "a", &x, &err), err);
    assert_int_equal(rela_extras_lend(&e, "a", &x, &err), RELA_ARG);
    assert_null(rela_extras_take(&e, "a")); /* lent, not ours to give */
    set_text(&e, "text.a", "one");
    set_text(&e, "text.a", "other");
    assert_int_equal(e.n_sections, 1);
    assert_string_equal(rela_extras_get(&e, "text.a")->text, "other");
    rela_extras_deinit(&e);
}

/* ---- failing saves ---- */

static void numbers_that_are_not_finite_are_never_saved(void **state)
{
    (void)state;
    sample s;
    rela_error err;
    size_t len = 0;
    sample_save(at.path, 4, 5, true);
    char *bytes = read_all(at.path, &len);
    sample_start(&s, 4, 5, true);
    const rela_param *q = rela_params_find(&s.net.params, "enc.0.ffn.up.weight");
    s.net.weights[q->offset + 3] = (real)NAN;
    assert_int_equal(rela_net_save(at.path, &s.net, &s.extras, NULL, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "'enc.0.ffn.up.weight': element 3 is not a finite number"));
    s.net.weights[q->offset + 3] = 0;
    s.v.weights[q->offset + 1] = -(real)INFINITY;
    assert_int_equal(rela_net_save(at.path, &s.net, &s.extras, NULL, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "'adam.v/enc.0.ffn.up.weight': element 1 is"));
    CHECK(same_bytes(at.path, bytes, len), "the old file has changed");
    rela_mem_free(bytes);
    sample_end(&s);
}

/* Whatever the type and wherever the number lies, at the end of a piece or of a vector. */
static void every_number_is_looked_at(void **state)
{
    (void)state;
    enum { N = (256 << 10) / 4 + 70 }; /* a piece of float and a bit */
    static const size_t PLACES[] = {
        0, 1, 63, 64, 65, N / 2, (256 << 10) / 8, N - 71, N - 70, N - 1
    };
    float *f = test_calloc(N, sizeof *f);
    double *d = test_calloc(N, sizeof *d);
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++)
        for (int wide = 0; wide < 2; wide++) {
            rela_tensor t = { .name = { "x", 1 },
                              .dtype = wide ? RELA_F64 : RELA_F32,
                              .rank = 1,
                              .shape = { N },
                              .data = wide ? (void *)d : (void *)f };
            const rela_content c = { .header = { &t, 1, NULL, 0 }, .path = "here", .n_threads = 1 };
            char hash[RELA_HASH_TEXT], want[64];
            rela_error err;
            CHECK_OK(rela_content_run(hash, &c, &err), err);
            f[PLACES[i]] = i % 2 ? (float)NAN : -(float)INFINITY;
            d[PLACES[i]] = i % 2 ? (double)NAN : -(double)INFINITY;
            assert_int_equal(rela_content_run(hash, &c, &err), RELA_FORMAT);
            (void)snprintf(want, sizeof want, "here: tensor 'x': element %zu is", PLACES[i]);
            CHECK(strstr(err.message, want), "%s; expected %s", err.message, want);
            f[PLACES[i]] = -FLT_MAX;
            d[PLACES[i]] = DBL_MAX;
        }
    test_free(f);
    test_free(d);
}

/* Bytes have no NaN. */
static void whole_numbers_may_be_anything(void **state)
{
    (void)state;
    unsigned char bytes[8];
    char hash[2][RELA_HASH_TEXT];
    memset(bytes, 0xFF, sizeof bytes);
    for (int i = 0; i < 2; i++) {
        rela_error err;
        rela_tensor t = { .name = { "x", 1 },
                          .dtype = i ? RELA_I64 : RELA_I32,
                          .rank = 1,
                          .shape = { i ? 1 : 2 },
                          .data = bytes };
        const rela_content c = { .header = { &t, 1, NULL, 0 }, .path = "here" };
        CHECK_OK(rela_content_run(hash[i], &c, &err), err);
    }
    assert_string_not_equal(hash[0], hash[1]); /* the type is part of what a file says */
}

/* Every allocation and file call of a save fails in turn: the name holds the old file or, once it
 * has been replaced, the whole new one; nothing else is left. */
static void a_failed_save_leaves_the_old_file(void **state)
{
    (void)state;
    size_t len[2] = { 0, 0 };
    char *bytes[2];
    sample s;
    sample_save(at.other, 4, 6, true);
    bytes[0] = read_all(at.other, &len[0]);
    assert_int_equal(unlink(at.other), 0);
    sample_save(at.path, 4, 5, true);
    bytes[1] = read_all(at.path, &len[1]);
    sample_start(&s, 4, 5, true);
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        const rela_checkpoint_options o = { .n_threads = 1 };
        rela_error err = { RELA_OK, "" };
        CHECK_OK(rela_file_write(at.path, bytes[0], len[0], &err), err);
        sweep_arm(&w);
        const rela_status st = rela_net_save(at.path, &s.net, &s.extras, &o, &err);
        sweep_disarm(&w);
        sweep_check(&w);
        sweep_status(&w, st, &err);
        CHECK(count_entries() == 1, "class %d call %d: a temporary is left", w.kind, (int)w.n);
        const bool old = same_bytes(at.path, bytes[0], len[0]);
        CHECK(old || same_bytes(at.path, bytes[1], len[1]), "class %d call %d: neither old nor new",
              w.kind, (int)w.n);
        CHECK(!old || st != RELA_OK, "class %d call %d: not saved, but no error", w.kind, (int)w.n);
    }
    sample_end(&s);
    rela_mem_free(bytes[0]);
    rela_mem_free(bytes[1]);
}

static void a_failed_load_leaves_nothing(void **state)
{
    (void)state;
    rela_error err;
    sample_save(at.path, 4, 5, true);
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        sweep_arm(&w);
        const rela_status st = try_load(at.path, &err);
        sweep_disarm(&w);
        sweep_check(&w);
        sweep_status(&w, st, &err);
    }
}

static void short_reads_and_writes_do_no_harm(void **state)
{
    (void)state;
    rela_error err;
    size_t len = 0;
    sample_save(at.path, 4, 5, true);
    char *bytes = read_all(at.path, &len);
    rela_fault_set_short(7);
    sample_save(at.path, 4, 5, true);
    const rela_status st = try_load(at.path, &err);
    rela_fault_set_short(0);
    assert_int_equal(st, RELA_OK);
    CHECK(same_bytes(at.path, bytes, len), "other bytes");
    rela_mem_free(bytes);
}

static void full_disks_and_limits_leave_the_old_file(void **state)
{
    (void)state;
    sample s;
    rela_error err;
    size_t len = 0;
    struct rlimit limit, small;
    sample_save(at.path, 4, 5, true);
    char *bytes = read_all(at.path, &len);
    sample_start(&s, 64, 100, true);
    assert_int_equal(rela_net_save("/dev/full", &s.net, &s.extras, NULL, &err), RELA_IO);
    assert_non_null(strstr(err.message, "/dev/full: cannot be written: No space left"));
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    for (small.rlim_cur = 0; small.rlim_cur < 200000; small.rlim_cur += 33333) {
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const rela_status st = rela_net_save(at.path, &s.net, &s.extras, NULL, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        CHECK(st == RELA_IO && strstr(err.message, "File too large"), "%d %s", st, err.message);
        CHECK(same_bytes(at.path, bytes, len), "the old file has changed");
        CHECK(count_entries() == 1, "a temporary is left");
    }
    rela_mem_free(bytes);
    sample_end(&s);
}

static void places_that_cannot_be_written_are_named(void **state)
{
    (void)state;
    sample s;
    rela_error err;
    sample_start(&s, 4, 5, false);
    /* A directory that not even root can write to, for a test that may run as root. */
    assert_int_equal(rela_net_save("/proc/model.rela", &s.net, &s.extras, NULL, &err), RELA_IO);
    assert_non_null(strstr(err.message, "/proc/model.rela: cannot be written"));
    if (geteuid() != 0) {
        assert_int_equal(chmod(scratch_dir, 0500), 0);
        const rela_status st = rela_net_save(at.other, &s.net, &s.extras, NULL, &err);
        assert_int_equal(chmod(scratch_dir, 0700), 0);
        assert_int_equal(st, RELA_IO);
    }
    assert_int_equal(rela_net_save(scratch_dir, &s.net, &s.extras, NULL, &err), RELA_IO);
    assert_int_equal(rela_net_save("", &s.net, &s.extras, NULL, &err), RELA_ARG);
    assert_int_equal(rela_net_save("model.gz", &s.net, &s.extras, NULL, &err), RELA_ARG);
    sample_end(&s);
}

static void things_that_are_no_files_are_refused(void **state)
{
    (void)state;
    rela_error err;
    assert_int_equal(try_load(scratch_dir, &err), RELA_IO);
    assert_non_null(strstr(err.message, "Is a directory"));
    assert_int_equal(try_load("/dev/zero", &err), RELA_IO);
    assert_non_null(strstr(err.message, "not a regular file"));
    assert_int_equal(try_load("", &err), RELA_ARG);
    (void)unlink(at.path);
    assert_int_equal(try_load(at.path, &err), RELA_IO);
    assert_non_null(strstr(err.message, "No such file"));
    assert_int_equal(mkfifo(at.path, 0600), 0);
    assert_int_equal(try_load(at.path, &err), RELA_IO);
    assert_int_equal(unlink(at.path), 0);
    assert_int_equal(symlink("nowhere", at.path), 0);
    assert_int_equal(try_load(at.path, &err), RELA_IO);
    assert_int_equal(unlink(at.path), 0);
    sample_save(at.path, 4, 5, false);
    if (geteuid() != 0) {
        assert_int_equal(chmod(at.path, 0), 0);
        assert_int_equal(try_load(at.path, &err), RELA_IO);
    }
}

/* Each in a directory of its own, so that what is left over shows. */
#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(everything_comes_back),
        FRESH(saving_again_gives_the_same_bytes),
        FRESH(a_checkpoint_serves_as_a_model),
        FRESH(saving_needs_no_extras),
        FRESH(configurations_come_back),
        FRESH(bad_names_are_refused),
        FRESH(numbers_that_are_not_finite_are_never_saved),
        FRESH(every_number_is_looked_at),
        FRESH(whole_numbers_may_be_anything),
        FRESH(a_failed_save_leaves_the_old_file),
        FRESH(a_failed_load_leaves_nothing),
        FRESH(short_reads_and_writes_do_no_harm),
        FRESH(full_disks_and_limits_leave_the_old_file),
        FRESH(places_that_cannot_be_written_are_named),
        FRESH(things_that_are_no_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
