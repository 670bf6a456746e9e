/* SPDX-License-Identifier: MIT */
/* tests/unit/test_model_file.c - the functions of rela/model.h: description and average; and a file
 * that was written without any code of ours. */
#include "model_file.h"
#include "sweep.h"

#include "rela/model.h"

#include <math.h>
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

/* tools/golden/model_file.py wrote it from docs/formats.md. */
#define GOLDEN "tests/golden/model-v1.rela"

static void a_file_of_version_1_loads_for_ever(void **state)
{
    (void)state;
    rela_net n;
    rela_extras e;
    rela_error err;
    const rela_checkpoint_options o = { .arrays = true };
    CHECK_OK(rela_net_load(&n, &e, GOLDEN, &o, &err), err);
    assert_int_equal(n.config.ffn, 6);
    assert_string_equal(n.config.attention[RELA_ATTN_DEC].text, "rela-i");
    const real *w = rela_net_values(&n, "embed.src");
    CHECK(w[0] == -50.0f / 64 && w[1] == -13.0f / 64, "%g %g", (double)w[0], (double)w[1]);
    assert_string_equal(rela_extras_get(&e, RELA_SECTION_RECORD)->text,
                        "{\"updates\":300,\"loss\":2.5}");
    assert_int_equal(e.n_arrays, 2);
    /* Written by us its configuration is in the words of today, and means the same. */
    rela_net again;
    CHECK_OK(rela_net_save(at.path, &n, &e, NULL, &err), err);
    CHECK_OK(rela_net_load(&again, NULL, at.path, &o, &err), err);
    CHECK(rela_config_differs(&n.config, &again.config) == NULL, "another configuration");
    assert_memory_equal(n.weights, again.weights, n.params.total * sizeof *n.weights);
    rela_net_deinit(&again);
    rela_extras_deinit(&e);
    rela_net_deinit(&n);
}

static void a_file_is_described(void **state)
{
    (void)state;
    static const char *const TABLE[] = {
        "format          rela-model 1, checkpoint\n",
        "hash            xxh3-128:addd43237ef1e55141f47541d727235c\n",
        "  attention_dec             rela-i\n",
        "parameters      468 in 42 tensors\n",
        "  enc.0                        162 in 14\n",
        "further array   adam.v\n",
        "  text.vocab.src                27 bytes, 5 lines\n",
        "record          {\"updates\":300,\"loss\":2.5}\n",
    };
    static const char *const JSON[] = {
        "{\"file\": \"tests/golden/model-v1.rela\", \"format\": \"rela-model\", \"version\": 1, ",
        "\"config\": {\"written_by\":\"0.2.0\",\"width\":4,\"ffn\":6,",
        "\"parameters\": {\"count\": 468, \"tensors\": 42, \"blocks\": {\"embed\": 44, ",
        "\"further\": [\"adam.m\", \"adam.v\"]",
        "\"text.vocab.src\": {\"bytes\": 27, \"lines\": 5}",
        "\"record\": {\"updates\":300,\"loss\":2.5}, \"state\": {\"update\":300,",
    };
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_model_info_options o;
    rela_model_info_options_init(&o, sizeof o);
    CHECK_OK(rela_model_info(&text, GOLDEN, NULL, &err), err);
    for (size_t i = 0; i < sizeof TABLE / sizeof TABLE[0]; i++)
        CHECK(strstr(text.data, TABLE[i]), "no '%s' in\n%s", TABLE[i], text.data);
    rela_buffer_clear(&text);
    o.json = 1;
    CHECK_OK(rela_model_info(&text, GOLDEN, &o, &err), err);
    for (size_t i = 0; i < sizeof JSON / sizeof JSON[0]; i++)
        CHECK(strstr(text.data, JSON[i]), "no '%s' in\n%s", JSON[i], text.data);
    rela_buffer_clear(&text);
    o.max_header = 1000;
    assert_int_equal(rela_model_info(&text, GOLDEN, &o, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "the limit is 1000"));
    o.max_header = -1;
    assert_int_equal(rela_model_info(&text, GOLDEN, &o, &err), RELA_ARG);
    assert_int_equal(rela_model_info(&text, "no/such/file", NULL, &err), RELA_IO);
    assert_int_equal(text.len, 0);
    rela_buffer_free(&text);
}

static void a_bare_model_is_described(void **state)
{
    (void)state;
    const rela_config c = small_config(4, 5);
    rela_net n;
    rela_error err;
    rela_buffer text = RELA_BUFFER_INIT;
    rela_model_info_options o;
    rela_model_info_options_init(&o, sizeof o);
    o.json = 1;
    start_net(&n, &c, 1);
    CHECK_OK(rela_net_save(at.path, &n, NULL, NULL, &err), err);
    CHECK_OK(rela_model_info(&text, at.path, &o, &err), err);
    assert_non_null(strstr(
        text.data,
        "\"further\": [], \"texts\": {}, \"card\": null, \"record\": null, \"state\": null}"));
    rela_buffer_clear(&text);
    CHECK_OK(rela_model_info(&text, at.path, NULL, &err), err);
    assert_non_null(strstr(text.data, "format          rela-model 1, model\n"));
    rela_buffer_free(&text);
    rela_net_deinit(&n);
}

static void describing_survives_failing_calls(void **state)
{
    (void)state;
    for (int32_t json = 0; json < 2; json++)
        for (sweep w = SWEEP_START; sweep_next(&w);) {
            rela_error err = { RELA_OK, "" };
            rela_buffer text = RELA_BUFFER_INIT;
            rela_model_info_options o;
            rela_model_info_options_init(&o, sizeof o);
            o.json = json;
            o.n_threads = 1;
            sweep_arm(&w);
            const rela_status st = rela_model_info(&text, GOLDEN, &o, &err);
            sweep_disarm(&w);
            rela_buffer_free(&text);
            sweep_check(&w);
            sweep_status(&w, st, &err);
        }
}

/* ---- average ---- */

static void save_seeded(const char *path, uint64_t seed, size_t d, const char *bpe)
{
    const rela_config c = small_config(d, 5);
    rela_net n;
    rela_extras e = { 0 };
    rela_error err;
    char record[64];
    start_net(&n, &c, seed);
    set_text(&e, RELA_SECTION_BPE, bpe);
    set_text(&e, RELA_SECTION_STATE, "{}");
    (void)snprintf(record, sizeof record, "{\"seed\":%d}", (int)seed);
    set_text(&e, RELA_SECTION_RECORD, record);
    CHECK_OK(rela_extras_lend(&e, "adam.m", n.weights, &err), err);
    CHECK_OK(rela_net_save(path, &n, &e, NULL, &err), err);
    rela_extras_deinit(&e);
    rela_net_deinit(&n);
}

/* run/checkpoints with files of the given numbers, whose seeds they are. */
typedef struct run {
    char dir[300], folder[320], files[8][360];
    size_t n;
} run;

static void run_start(run *r, const int *numbers, size_t n)
{
    rela_error err;
    (void)snprintf(r->dir, sizeof r->dir, "%s/run", scratch_dir);
    (void)snprintf(r->folder, sizeof r->folder, "%s/checkpoints", r->dir);
    CHECK_OK(rela_dir_make(r->folder, &err), err);
    for (r->n = 0; r->n < n; r->n++) {
        char *file = r->files[r->n];
        (void)snprintf(file, sizeof r->files[0], "%s/%06d.rela", r->folder, numbers[r->n]);
        save_seeded(file, (uint64_t)numbers[r->n], 4, "codes\n");
    }
    /* What else may lie there. */
    (void)snprintf(r->files[r->n], sizeof r->files[0], "%s/best.rela", r->folder);
    CHECK_OK(rela_file_write(r->files[r->n++], "none of ours", 12, &err), err);
    (void)snprintf(r->files[r->n], sizeof r->files[0], "%s/000001.rela.tmp-7-0", r->folder);
    CHECK_OK(rela_file_write(r->files[r->n++], "cut", 3, &err), err);
}

static void run_end(const run *r)
{
    for (size_t i = 0; i < r->n; i++)
        assert_int_equal(unlink(r->files[i]), 0);
    assert_int_equal(rmdir(r->folder), 0);
    assert_int_equal(rmdir(r->dir), 0);
}

/* at.other must hold the mean of models with these seeds. */
static void check_mean(const uint64_t *seeds, size_t n)
{
    const rela_config c = small_config(4, 5);
    rela_net mean, part;
    rela_extras e;
    rela_error err;
    CHECK_OK(rela_net_load(&mean, &e, at.other, NULL, &err), err);
    const rela_params *p = &mean.params;
    double *sum = test_calloc(p->total, sizeof *sum);
    for (size_t i = 0; i < n; i++) {
        start_net(&part, &c, seeds[i]);
        for (size_t k = 0; k < p->total; k++)
            sum[k] += (double)part.weights[k];
        rela_net_deinit(&part);
    }
    for (size_t k = 0; k < p->total; k++)
        CHECK(mean.weights[k] == (real)(sum[k] / (double)n), "number %d", (int)k);
    test_free(sum);
    assert_int_equal(e.n_sections, 2); /* codes and record: the state is gone */
    assert_string_equal(rela_extras_get(&e, RELA_SECTION_BPE)->text, "codes\n");
    char last[64];
    (void)snprintf(last, sizeof last, "],\"last\":{\"seed\":%d}}", (int)seeds[n - 1]);
    const char *record = rela_extras_get(&e, RELA_SECTION_RECORD)->text;
    CHECK(strstr(record, last) && strstr(record, "{\"average\":[{\"file\":\"") == record, "%s",
          record);
    rela_extras_deinit(&e);
    rela_net_deinit(&mean);
}

static void the_mean_is_exact(void **state)
{
    (void)state;
    static const int NUMBERS[] = { 300, 100, 200, 1000000, 999999 };
    run r;
    rela_error err;
    rela_model_average_options o;
    run_start(&r, NUMBERS, 5);
    rela_model_average_options_init(&o, sizeof o);
    const char *const files[] = { r.files[0], r.files[1] }, *const dirs[] = { r.dir, r.folder };
    CHECK_OK(rela_model_average(at.other, files, 2, NULL, &err), err);
    check_mean((const uint64_t[]){ 300, 100 }, 2);
    CHECK_OK(rela_model_average(at.other, dirs, 1, NULL, &err), err);
    check_mean((const uint64_t[]){ 100, 200, 300, 999999, 1000000 }, 5);
    o.last = 3;
    for (int threads = 1; threads < 4; threads++) {
        o.n_threads = threads;
        CHECK_OK(rela_model_average(at.other, dirs + 1, 1, &o, &err), err);
        check_mean((const uint64_t[]){ 300, 999999, 1000000 }, 3);
    }
    o.last = 1;
    CHECK_OK(rela_model_average(at.other, files, 2, &o, &err), err);
    check_mean((const uint64_t[]){ 100 }, 1);
    o.last = 6;
    assert_int_equal(rela_model_average(at.other, dirs, 1, &o, &err), RELA_ARG);
    assert_non_null(strstr(err.message, "5 checkpoints to average; expected 6"));
    assert_int_equal(rela_model_average(at.other, NULL, 0, NULL, &err), RELA_ARG);
    run_end(&r);
}

static void models_that_differ_are_not_mixed(void **state)
{
    (void)state;
    rela_error err;
    const char *const files[] = { at.path, GOLDEN }, *const same[] = { at.path, at.other };
    save_seeded(at.path, 1, 4, "codes\n");
    assert_int_equal(rela_model_average(at.other, files, 2, NULL, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "model-v1.rela: of another model: its '"));
    assert_false(rela_file_exists(at.other));
    save_seeded(at.other, 1, 4, "other codes\n");
    assert_int_equal(rela_model_average(scratch("mean.rela"), same, 2, NULL, &err), RELA_FORMAT);
    assert_non_null(strstr(err.message, "other.rela: of another model: its 'text.bpe' differs"));
    sample_save(at.other, 4, 5, false);
    assert_int_equal(rela_model_average(scratch("mean.rela"), same, 2, NULL, &err), RELA_FORMAT);
    assert_int_equal(rela_model_average(at.path, same + 1, 1, NULL, &err), RELA_OK);
    assert_int_equal(rela_model_average(at.path, same, 1, NULL, &err), RELA_ARG);
    assert_non_null(strstr(err.message, "model.rela: an input, which the output would replace"));
}

/* The same model packed has the same configuration and texts, but no numbers to add. */
static void packed_models_are_not_averaged(void **state)
{
    (void)state;
    static const rela_matrices FORMS[] = { RELA_MATRICES_BYTES, RELA_MATRICES_PANELS };
    const rela_config c = small_config(96, 5); /* whole panels of all levels */
    const char *const files[] = { at.path, at.other };
    rela_net n;
    rela_error err;
    start_net(&n, &c, 1);
    CHECK_OK(rela_net_save(at.path, &n, NULL, NULL, &err), err);
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++) {
        const rela_checkpoint_options o = { .matrices = FORMS[i] };
        CHECK_OK(rela_net_save(at.other, &n, NULL, &o, &err), err);
        for (size_t first = 0; first < 2; first++) {
            const rela_status st =
                rela_model_average(scratch("mean.rela"), files + first, 2 - first, NULL, &err);
            CHECK(st == RELA_FORMAT && strstr(err.message, "other.rela: " RELA_TRANSLATES_ONLY),
                  "form %d: status %d: %s", (int)FORMS[i], st, err.message);
        }
    }
    rela_net_deinit(&n);
    CHECK_OK(rela_model_average(at.other, files, 1, NULL, &err), err);
}

static void failing_calls_are_survived(void **state)
{
    (void)state;
    static const int NUMBERS[] = { 1, 2 };
    run r;
    run_start(&r, NUMBERS, 2);
    const char *const dirs[] = { r.dir };
    for (sweep w = SWEEP_START; sweep_next(&w);) {
        rela_model_average_options o;
        rela_error err = { RELA_OK, "" };
        (void)unlink(at.other);
        rela_model_average_options_init(&o, sizeof o);
        o.n_threads = 1;
        sweep_arm(&w);
        const rela_status st = rela_model_average(at.other, dirs, 1, &o, &err);
        sweep_disarm(&w);
        sweep_check(&w);
        sweep_status(&w, st, &err);
    }
    run_end(&r);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FRESH(a_file_of_version_1_loads_for_ever),
        FRESH(a_file_is_described),
        FRESH(a_bare_model_is_described),
        FRESH(describing_survives_failing_calls),
        FRESH(the_mean_is_exact),
        FRESH(models_that_differ_are_not_mixed),
        FRESH(packed_models_are_not_averaged),
        FRESH(failing_calls_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
