/* SPDX-License-Identifier: MIT */
/* tests/unit/test_convert.c - models in other forms: plain weights come back byte for byte, and
 * what is written for CTranslate2 is read here by its format alone. */
#include "model_file.h"
#include "sweep.h"

#include "attend.h"
#include "format/export_formats.h"
#include "rela/model.h"

#include <dirent.h>
#include <math.h>

static two_paths at;
static char form[300]; /* a directory in the scratch directory */

static int set_up(void **state)
{
    (void)state;
    const int st = two_paths_make(&at, "model.rela", "other.rela");
    (void)snprintf(form, sizeof form, "%s/form", scratch_dir);
    return st;
}

static void remove_form(void)
{
    DIR *dir = opendir(form);
    struct dirent *e = NULL;
    while (dir && (e = readdir(dir)) != NULL) {
        char path[600];
        (void)snprintf(path, sizeof path, "%s/%s", form, e->d_name);
        (void)unlink(path);
    }
    if (dir)
        (void)closedir(dir);
    (void)rmdir(form);
}

static int tear_down(void **state)
{
    (void)state;
    remove_form();
    return two_paths_remove(&at);
}

static rela_status convert(const char *out, const char *in, int32_t from, int32_t to,
                           rela_error *err)
{
    rela_model_convert_options o;
    rela_model_convert_options_init(&o, sizeof o);
    o.from = from;
    o.to = to;
    o.n_threads = 1;
    return rela_model_convert(out, in, &o, err);
}

static void plain_weights_come_back_byte_for_byte(void **state)
{
    (void)state;
    rela_error err;
    for (int checkpoint = 0; checkpoint < 2; checkpoint++) {
        size_t len = 0;
        sample s;
        sample_start(&s, 8, 7, checkpoint);
        set_text(&s.extras, "text.more", "a\nb");
        CHECK_OK(rela_net_save(at.path, &s.net, &s.extras, NULL, &err), err);
        sample_end(&s);
        char *bytes = read_all(at.path, &len);
        CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err), err);
        CHECK_OK(convert(at.other, form, RELA_MODEL_SAFETENSORS, RELA_MODEL_RELA, &err), err);
        CHECK(same_bytes(at.other, bytes, len), "other bytes");
        rela_mem_free(bytes);
    }
    /* The second model had a state and one more text; a model without them must not inherit them.
     */
    size_t len = 0;
    sample_save(at.path, 8, 7, false);
    char *bytes = read_all(at.path, &len);
    char more[400];
    CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err), err);
    (void)snprintf(more, sizeof more, "%s/model.safetensors", form);
    CHECK_OK(convert(at.other, more, RELA_MODEL_SAFETENSORS, RELA_MODEL_RELA, &err), err);
    CHECK(same_bytes(at.other, bytes, len), "other bytes");
    rela_mem_free(bytes);
    remove_form();
}

static void damaged_plain_weights_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
        rela_status status;
        const char *message;
    } ROWS[] = {
        { "config.json", "{}", RELA_FORMAT, "config: " },
        { "config.json", NULL, RELA_IO, "config.json: No such file" },
        { "vocab.src", "a\nb\n", RELA_FORMAT, "'text.vocab.src' has 2 lines; expected 7" },
        { "vocab.src", "<pad>\n<unk>\n<eos>\na b\nc\nd\ne\n", RELA_FORMAT,
          "form: source vocabulary: line 4: blank in a token" },
        { "vocab.tgt", "<pad>\n<unk>\n<eos>\na\na\nd\n\xFF\n", RELA_FORMAT,
          "form/vocab.tgt: not UTF-8 after 24 bytes" },
        { "bpe.codes", "#version: 0.2\nabc\n", RELA_FORMAT,
          "form: BPE codes: line 2: expected two" },
        { "bpe.codes", "#version: 0.2\na \xC3\n", RELA_FORMAT,
          "form/bpe.codes: not UTF-8 after 16" },
        { "pipeline.json", "{}", RELA_FORMAT, "form: text pipeline: bad settings of side 'src'" },
        { "pipeline.json", "x", RELA_FORMAT, "form: text pipeline: " },
        { "pipeline.json", "\xFF", RELA_FORMAT, "form/pipeline.json: not UTF-8 after 0 bytes" },
        { "text.note", "\x80", RELA_FORMAT, "form/text.note: not UTF-8 after 0 bytes" },
        { "record.json", "{", RELA_FORMAT, "record: " },
        { "model.safetensors", "none", RELA_FORMAT, "model.safetensors: not a model file" },
        { "model.safetensors", NULL, RELA_IO, "model.safetensors: No such file" },
    };
    rela_error err;
    (void)unlink(at.other);
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        char path[400];
        sample_save(at.path, 8, 7, false);
        CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err), err);
        (void)snprintf(path, sizeof path, "%s/%s", form, ROWS[i].file);
        if (ROWS[i].text)
            CHECK_OK(rela_file_write(path, ROWS[i].text, strlen(ROWS[i].text), &err), err);
        else
            CHECK(unlink(path) == 0, "no %s", path);
        const rela_status st =
            convert(at.other, form, RELA_MODEL_SAFETENSORS, RELA_MODEL_RELA, &err);
        CHECK(st == ROWS[i].status && strstr(err.message, ROWS[i].message), "row %zu: %d %s", i, st,
              err.message);
        CHECK(!rela_file_exists(at.other), "row %zu: written", i);
        remove_form();
    }
}

/* Only what was written by a conversion before is replaced or removed. */
static void files_of_somebody_else_are_left_alone(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "config.json", "state.json",        "record.json",
                                         "vocab.src",   "model.safetensors", "text.txt" };
    static const char THEIRS[] = "{\"theirs\": true}\n";
    rela_error err;
    sample_save(at.path, 8, 7, false);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        char path[400];
        (void)snprintf(path, sizeof path, "%s/%s", form, NAMES[i]);
        CHECK_OK(rela_dir_make(form, &err), err);
        CHECK_OK(rela_file_write(path, THEIRS, sizeof THEIRS - 1, &err), err);
        const rela_status st =
            convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err);
        CHECK(st == RELA_STATE && strstr(err.message, NAMES[i]), "%s: status %d: %s", NAMES[i], st,
              err.message);
        check_contents(path, THEIRS, sizeof THEIRS - 1);
        CHECK(count_files(form, NULL) == 1, "%s: %zu files", NAMES[i], count_files(form, NULL));
        remove_form();
    }
    /* An interrupted conversion lacks the weights, and a file with another name is nobody's. */
    char path[400];
    CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err), err);
    (void)snprintf(path, sizeof path, "%s/model.safetensors", form);
    CHECK(unlink(path) == 0, "no weights");
    (void)snprintf(path, sizeof path, "%s/notes", form);
    CHECK_OK(rela_file_write(path, THEIRS, sizeof THEIRS - 1, &err), err);
    CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err), err);
    check_contents(path, THEIRS, sizeof THEIRS - 1);
    remove_form();
}

/* ---- CTranslate2 ---- */

typedef struct cursor {
    const char *at, *end;
} cursor;

static size_t get(cursor *c, size_t n)
{
    size_t x = 0;
    CHECK((size_t)(c->end - c->at) >= n, "the file ends early");
    memcpy(&x, c->at, n); /* little endian, as the machines that get here */
    c->at += n;
    return x;
}

static const char *get_text(cursor *c)
{
    const size_t n = get(c, 2);
    const char *text = c->at;
    CHECK((size_t)(c->end - text) >= n && n > 0 && text[n - 1] == '\0', "text of %zu bytes", n);
    c->at += n;
    return text;
}

typedef struct found {
    size_t rank, dims[2], type, bytes;
    const char *data;
} found;

/* Walks the whole file; false if the name is not in it. */
static bool find(found *f, const char *bytes, size_t len, const char *name, bool alias)
{
    cursor c = { bytes, bytes + len };
    bool seen = false;
    CHECK(get(&c, 4) == 6, "version");
    CHECK(strcmp(get_text(&c), "TransformerSpec") == 0, "specification");
    CHECK(get(&c, 4) == 7, "revision");
    for (size_t n = get(&c, 4); n > 0; n--) {
        found v = { .rank = 0 };
        const char *own = get_text(&c);
        v.rank = get(&c, 1);
        CHECK(v.rank <= 2, "%s: rank %zu", own, v.rank);
        for (size_t i = 0; i < v.rank; i++)
            v.dims[i] = get(&c, 4);
        v.type = get(&c, 1);
        v.bytes = get(&c, 4);
        v.data = c.at;
        CHECK((size_t)(c.end - c.at) >= v.bytes, "%s: the file ends early", own);
        c.at += v.bytes;
        if (!alias && strcmp(own, name) == 0) {
            *f = v;
            seen = true;
        }
    }
    for (size_t n = get(&c, 4); n > 0; n--) {
        seen = seen || (alias && strcmp(c.at + 2, name) == 0);
        (void)get_text(&c);
        (void)get_text(&c);
    }
    CHECK(c.at == c.end, "%zu bytes left over", (size_t)(c.end - c.at));
    return seen;
}

static void check_floats(const char *bytes, size_t len, const char *name, const real *want,
                         size_t rows, size_t cols)
{
    found f;
    CHECK(find(&f, bytes, len, name, false), "no %s", name);
    CHECK(f.type == 0 && f.dims[0] == rows && f.dims[1] == cols, "%s: %zu %zu", name, f.dims[0],
          f.dims[1]);
    CHECK(f.bytes == rows * (cols ? cols : 1) * sizeof(float), "%s: %zu bytes", name, f.bytes);
    CHECK(memcmp(f.data, want, f.bytes) == 0, "%s: other numbers", name);
}

static void check_number(const char *bytes, size_t len, const char *name, size_t size, size_t want)
{
    found f;
    size_t have = 0;
    CHECK(find(&f, bytes, len, name, false), "no %s", name);
    CHECK(f.rank == 0 && f.bytes == size && f.type == size, "%s", name);
    memcpy(&have, f.data, size);
    CHECK(have == want, "%s: %zu, expected %zu", name, have, want);
}

static float float_at(const char *bytes, size_t len, const char *name, size_t i)
{
    found f;
    float x = 0;
    CHECK(find(&f, bytes, len, name, false) && f.bytes > i * sizeof x, "no %s", name);
    memcpy(&x, f.data + i * sizeof x, sizeof x);
    return x;
}

static void soften(rela_config *c)
{
    for (int t = 0; t < RELA_ATTN_N_TYPES; t++)
        set_attention(c, t, "softmax");
}

static void check_written(const rela_net *n, const char *bytes, size_t len)
{
    const rela_config *c = &n->config;
    const char *table = c->tie == RELA_TIE_ALL ? "embed" : "embed.tgt";
    const size_t d = c->d;
    check_number(bytes, len, "encoder/num_heads", 2, 2);
    check_number(bytes, len, "decoder/pre_norm", 1, c->pre_norm);
    check_number(bytes, len, "decoder/start_from_zero_embedding", 1, 1);
    check_number(bytes, len, "decoder/alignment_layer", 2, 0xFFFF);
    check_floats(bytes, len, "decoder/embeddings/weight", rela_net_values(n, table), c->vocab_tgt,
                 d);
    check_floats(bytes, len, "decoder/layer_0/self_attention/linear_0/weight",
                 rela_net_values(n, "dec.0.self.qkv.weight"), 3 * d, d);
    check_floats(bytes, len, "decoder/layer_0/attention/linear_1/bias",
                 rela_net_values(n, "dec.0.cross.kv.bias"), 2 * d, 0);
    check_floats(bytes, len, "decoder/layer_0/ffn/linear_1/weight",
                 rela_net_values(n, "dec.0.ffn.down.weight"), d, c->ffn);
    check_floats(bytes, len, "encoder/layer_0/ffn/layer_norm/gamma",
                 rela_net_values(n, "enc.0.ffn.ln.gain"), d, 0);
    found f;
    assert_int_equal(find(&f, bytes, len, "encoder/layer_norm/beta", false), c->pre_norm);
    assert_int_equal(find(&f, bytes, len, "encoder/embeddings_0/weight", true),
                     c->tie == RELA_TIE_ALL);
    assert_int_equal(find(&f, bytes, len, "decoder/projection/weight", true),
                     c->tie != RELA_TIE_NONE);
    const real *bias = rela_net_values(n, "embed.bias");
    for (size_t i = 0; i < 2 * d; i++) {
        const float enc = float_at(bytes, len, "encoder/position_encodings/encodings", i);
        const float dec_row = float_at(bytes, len, "decoder/position_encodings/encodings", i);
        CHECK(enc == n->positions[i] + bias[i % d], "position %zu", i);
        CHECK(dec_row == (i < d ? n->positions[i] : enc), "decoder position %zu", i);
    }
    assert_true(float_at(bytes, len, "decoder/projection/bias", 0) == -1e9f);
    assert_true(float_at(bytes, len, "decoder/projection/bias", 1) == 0.0f);
}

static void softmax_models_are_written_for_ctranslate2(void **state)
{
    (void)state;
    static const rela_tie TIES[] = { RELA_TIE_ALL, RELA_TIE_OUT, RELA_TIE_NONE };
    rela_error err;
    for (size_t i = 0; i < 3; i++) {
        rela_config c = small_config(8, 7);
        rela_net n;
        rela_extras e = { 0 };
        char path[400];
        size_t len = 0;
        soften(&c);
        c.tie = TIES[i];
        c.pre_norm = i == 1;
        c.vocab_src = c.tie == RELA_TIE_ALL ? 7 : 9;
        start_net(&n, &c, 5);
        set_vocabulary(&e, RELA_SECTION_VOCAB_SRC, c.vocab_src);
        set_vocabulary(&e, RELA_SECTION_VOCAB_TGT, 7);
        CHECK_OK(rela_net_save(at.path, &n, &e, NULL, &err), err);
        CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_CTRANSLATE2, &err), err);
        (void)snprintf(path, sizeof path, "%s/model.bin", form);
        char *bytes = read_all(path, &len);
        check_written(&n, bytes, len);
        rela_mem_free(bytes);
        (void)snprintf(path, sizeof path, "%s/%s_vocabulary.json", form,
                       c.tie == RELA_TIE_ALL ? "shared" : "target");
        bytes = read_all(path, &len);
        assert_string_equal(bytes,
                            "[\n  \"<pad>\",\n  \"<unk>\",\n  \"<eos>\",\n  \"w3\",\n  \"w4\",\n"
                            "  \"w5\",\n  \"w6\"\n]\n");
        rela_mem_free(bytes);
        rela_extras_deinit(&e);
        rela_net_deinit(&n);
        remove_form();
    }
}

static void what_ctranslate2_cannot_say_is_refused(void **state)
{
    (void)state;
    rela_error err;
    sample_save(at.path, 8, 7, false); /* rela-g in the encoder */
    assert_int_equal(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_CTRANSLATE2, &err),
                     RELA_UNSUP);
    CHECK(strstr(err.message, "CTranslate2 has no rela-g attention (place: enc); expected softmax"),
          "%s", err.message);
    rela_config c = small_config(8, 7);
    rela_net n;
    soften(&c);
    start_net(&n, &c, 5);
    CHECK_OK(rela_net_save(at.path, &n, NULL, NULL, &err), err);
    rela_net_deinit(&n);
    assert_int_equal(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_CTRANSLATE2, &err),
                     RELA_UNSUP);
    CHECK(strstr(err.message, "has no vocabularies"), "%s", err.message);
    assert_int_equal(convert(at.other, form, RELA_MODEL_CTRANSLATE2, RELA_MODEL_RELA, &err),
                     RELA_ARG);
    assert_int_equal(convert(at.other, at.path, 0, 17, &err), RELA_ARG);
    assert_false(rela_file_exists(form));
}

static void failures_leave_no_half_model(void **state)
{
    (void)state;
    rela_config c = small_config(8, 7);
    rela_net n;
    rela_extras e = { 0 };
    rela_error err;
    soften(&c);
    start_net(&n, &c, 5);
    set_vocabulary(&e, RELA_SECTION_VOCAB_SRC, 7);
    set_vocabulary(&e, RELA_SECTION_VOCAB_TGT, 7);
    CHECK_OK(rela_net_save(at.path, &n, &e, NULL, &err), err);
    for (int to = RELA_MODEL_SAFETENSORS; to <= RELA_MODEL_CTRANSLATE2; to++)
        for (sweep s = SWEEP_START; sweep_next(&s);) {
            sweep_arm(&s);
            const rela_status st = convert(form, at.path, RELA_MODEL_RELA, to, &err);
            sweep_disarm(&s);
            sweep_check(&s);
            CHECK(st == RELA_OK || s.hit, "status %d without a fault: %s", st, err.message);
            remove_form();
        }
    rela_extras_deinit(&e);
    rela_net_deinit(&n);
}

/* Two models of the same shape with other weights, codes and vocabularies. */
static void save_other(const char *path, int number)
{
    sample s;
    rela_error err;
    sample_start(&s, 8, 7, false);
    if (number) {
        s.net.weights[0] += 1;
        set_text(&s.extras, RELA_SECTION_BPE, "#version: 0.2\na b\n");
        set_text(&s.extras, "text.more", "only here");
    }
    CHECK_OK(rela_net_save(path, &s.net, &s.extras, NULL, &err), err);
    sample_end(&s);
}

/* An earlier conversion is replaced whole or not at all. */
static void failures_leave_the_earlier_conversion(void **state)
{
    (void)state;
    rela_error err;
    size_t len[2] = { 0, 0 };
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        save_other(at.path, i);
        bytes[i] = read_all(at.path, &len[i]);
    }
    for (sweep s = SWEEP_START; sweep_next(&s);) {
        CHECK_OK(rela_file_write(at.path, bytes[0], len[0], &err), err);
        CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err), err);
        CHECK_OK(rela_file_write(at.path, bytes[1], len[1], &err), err);
        sweep_arm(&s);
        const rela_status st =
            convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_SAFETENSORS, &err);
        sweep_disarm(&s);
        const bool settled = strstr(err.message, "durable") != NULL;
        CHECK_OK(convert(at.other, form, RELA_MODEL_SAFETENSORS, RELA_MODEL_RELA, &err), err);
        const bool new = same_bytes(at.other, bytes[1], len[1]);
        CHECK(new || same_bytes(at.other, bytes[0], len[0]), "class %d call %d: a mixture", s.kind,
              (int)s.n);
        CHECK(new == (st == RELA_OK) || settled, "class %d call %d: status %d", s.kind, (int)s.n,
              st);
        remove_form();
    }
    rela_mem_free(bytes[0]);
    rela_mem_free(bytes[1]);
}

/* The vocabularies of an earlier conversion would be taken for those of this one. */
static void a_conversion_for_ctranslate2_removes_what_it_lacks(void **state)
{
    (void)state;
    rela_error err;
    char path[400];
    for (int shared = 1; shared >= 0; shared--) {
        rela_config c = small_config(8, 7);
        rela_net n;
        rela_extras e = { 0 };
        soften(&c);
        c.tie = RELA_TIE_OUT;
        c.vocab_src = shared ? 7 : 9;
        start_net(&n, &c, 5);
        set_vocabulary(&e, RELA_SECTION_VOCAB_SRC, c.vocab_src);
        set_vocabulary(&e, RELA_SECTION_VOCAB_TGT, 7);
        if (shared)
            set_text(&e, RELA_SECTION_BPE, "#version: 0.2\na b\n");
        CHECK_OK(rela_net_save(at.path, &n, &e, NULL, &err), err);
        CHECK_OK(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_CTRANSLATE2, &err), err);
        assert_int_equal(count_files(form, "shared_vocabulary"), shared);
        assert_int_equal(count_files(form, "bpe.codes"), shared);
        assert_int_equal(count_files(form, "_vocabulary.json"), shared ? 1 : 2);
        rela_extras_deinit(&e);
        rela_net_deinit(&n);
    }
    (void)snprintf(path, sizeof path, "%s/config.json", form);
    CHECK_OK(rela_file_write(path, "{}", 2, &err), err);
    assert_int_equal(convert(form, at.path, RELA_MODEL_RELA, RELA_MODEL_CTRANSLATE2, &err),
                     RELA_STATE);
    CHECK(strstr(err.message, "is there already, and not from 'rela convert'"), "%s", err.message);
    remove_form();
}

/* A parameter that their model does not have must not be dropped. */
static void an_unknown_parameter_is_named(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "enc.0.self.head", "dec.0.ffn.up.shift",
                                         "enc.0.more.weight" };
    rela_config c = small_config(8, 7);
    rela_net n;
    rela_extras e = { 0 };
    rela_error err;
    soften(&c);
    start_net(&n, &c, 5);
    set_vocabulary(&e, RELA_SECTION_VOCAB_SRC, 7);
    set_vocabulary(&e, RELA_SECTION_VOCAB_TGT, 7);
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        (void)snprintf(n.params.items[n.params.n - 1].name, sizeof n.params.items[0].name, "%s",
                       NAMES[i]);
        assert_int_equal(rela_ctranslate2_write(form, &n, &e, &err), RELA_UNSUP);
        CHECK(strstr(err.message, NAMES[i]), "%s", err.message);
        assert_int_equal(count_files(form, NULL), 0);
    }
    rela_extras_deinit(&e);
    rela_net_deinit(&n);
    remove_form();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_weights_come_back_byte_for_byte),
        cmocka_unit_test(damaged_plain_weights_are_refused),
        cmocka_unit_test(files_of_somebody_else_are_left_alone),
        cmocka_unit_test(softmax_models_are_written_for_ctranslate2),
        cmocka_unit_test(what_ctranslate2_cannot_say_is_refused),
        cmocka_unit_test(failures_leave_no_half_model),
        cmocka_unit_test(failures_leave_the_earlier_conversion),
        cmocka_unit_test(a_conversion_for_ctranslate2_removes_what_it_lacks),
        cmocka_unit_test(an_unknown_parameter_is_named),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
