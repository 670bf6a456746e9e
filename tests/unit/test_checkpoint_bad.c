/* SPDX-License-Identifier: MIT */
/* tests/unit/test_checkpoint_bad.c - model files that are bad: one table of defects, damage to
 * every array, and what they may cost in memory. */
#include "model_file.h"

#include "base/log.h"

#include <float.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { SLACK = 32 << 20, ITEMS_MAX = 256, BLOCK = 4096 };

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

/* ---- a file taken apart ---- */

typedef struct parts {
    rela_safetensors *file;
    rela_tensor tensors[ITEMS_MAX];
    void *data[ITEMS_MAX];
    size_t n;
    rela_metadata metadata[ITEMS_MAX];
    size_t n_metadata;
    char *made; /* a text made by an edit */
} parts;

static void take_apart(parts *p, const char *path)
{
    rela_error err;
    *p = (parts){ .file = NULL };
    CHECK_OK(rela_safetensors_open(&p->file, path, 0, &err), err);
    const rela_header *h = rela_safetensors_header(p->file);
    p->n = h->n;
    p->n_metadata = h->n_metadata;
    assert_true(p->n + 2 < ITEMS_MAX && p->n_metadata + 2 < ITEMS_MAX);
    for (size_t i = 0; i < p->n; i++) {
        const rela_tensor *t = &h->tensors[i];
        const size_t bytes = (size_t)(t->end - t->begin);
        p->tensors[i] = *t;
        p->tensors[i].data = p->data[i] = test_calloc(bytes + 64, 1); /* room for a wider type */
        CHECK_OK(rela_safetensors_read(p->file, p->data[i], t, 0, bytes, &err), err);
    }
    for (size_t i = 0; i < p->n_metadata; i++)
        p->metadata[i] = h->metadata[i];
}

static void put_together(parts *p, const char *path)
{
    rela_error err;
    const rela_header h = { p->tensors, p->n, p->metadata, p->n_metadata };
    CHECK_OK(rela_safetensors_write(path, &h, 0, &err), err);
    for (size_t i = 0; i < ITEMS_MAX; i++)
        if (p->data[i])
            test_free(p->data[i]);
    if (p->made)
        test_free(p->made);
    rela_safetensors_close(p->file);
}

static size_t find_tensor(const parts *p, const char *name)
{
    size_t i = 0;
    while (i < p->n && (p->tensors[i].name.len != strlen(name) ||
                        memcmp(p->tensors[i].name.text, name, strlen(name)) != 0))
        i++;
    CHECK(i < p->n, "no tensor %s", name);
    return i;
}

static rela_metadata *find_text(parts *p, const char *key)
{
    size_t i = 0;
    while (i < p->n_metadata && (p->metadata[i].key.len != strlen(key) ||
                                 memcmp(p->metadata[i].key.text, key, strlen(key)) != 0))
        i++;
    CHECK(i < p->n_metadata, "no text %s", key);
    return &p->metadata[i];
}

/* ---- edits: each takes the two texts of its row ---- */

static void no_edit(parts *p, const char *a, const char *b)
{
    (void)p, (void)a, (void)b;
}

static void drop_text(parts *p, const char *a, const char *b)
{
    (void)b;
    *find_text(p, a) = p->metadata[--p->n_metadata];
}

static void set_key(parts *p, const char *a, const char *b)
{
    rela_metadata *m = find_text(p, a);
    m->key = (rela_span){ b, strlen(b) };
}

static void set_value(parts *p, const char *a, const char *b)
{
    rela_metadata *m = find_text(p, a);
    m->value = (rela_span){ b, strlen(b) };
}

/* Replaces a by b in the configuration. */
static void edit_config(parts *p, const char *a, const char *b)
{
    rela_metadata *m = find_text(p, "config");
    char *text = test_malloc(m->value.len + 1);
    memcpy(text, m->value.text, m->value.len);
    text[m->value.len] = '\0';
    const char *place = strstr(text, a);
    CHECK(place, "no %s in %s", a, text);
    p->made = test_malloc(m->value.len + strlen(b) + 1);
    (void)sprintf(p->made, "%.*s%s%s", (int)(place - text), text, b, place + strlen(a));
    test_free(text);
    m->value = (rela_span){ p->made, strlen(p->made) };
}

static void drop_tensor(parts *p, const char *a, const char *b)
{
    (void)b;
    const size_t i = find_tensor(p, a);
    test_free(p->data[i]);
    p->tensors[i] = p->tensors[--p->n];
    p->data[i] = p->data[p->n];
    p->data[p->n] = NULL;
}

static void rename_tensor(parts *p, const char *a, const char *b)
{
    p->tensors[find_tensor(p, a)].name = (rela_span){ b, strlen(b) };
}

static void add_tensor(parts *p, const char *a, const char *b)
{
    p->tensors[p->n] = p->tensors[find_tensor(p, a)];
    p->tensors[p->n++].name = (rela_span){ b, strlen(b) };
}

static void transpose(parts *p, const char *a, const char *b)
{
    (void)b;
    rela_tensor *t = &p->tensors[find_tensor(p, a)];
    const uint64_t rows = t->shape[0];
    t->shape[0] = t->shape[1];
    t->shape[1] = rows;
}

static void flatten(parts *p, const char *a, const char *b)
{
    (void)b;
    rela_tensor *t = &p->tensors[find_tensor(p, a)];
    t->shape[0] *= t->shape[1];
    t->rank = 1;
}

static void set_dtype(parts *p, const char *a, const char *b)
{
    rela_tensor *t = &p->tensors[find_tensor(p, a)];
    for (int i = 0; i < RELA_N_DTYPES; i++)
        if (strcmp(rela_dtype_name((rela_dtype)i), b) == 0)
            t->dtype = (rela_dtype)i;
    if (t->dtype == RELA_F64) { /* room for the wider numbers */
        uint64_t bytes = 0;
        assert_true(rela_tensor_bytes(&bytes, t));
        void **data = &p->data[find_tensor(p, a)];
        test_free(*data);
        t->data = *data = test_calloc((size_t)bytes, 1);
    }
}

/* Sets one number of tensor a, without touching the stored hash. */
static void set_number(parts *p, const char *a, const char *b)
{
    real *x = p->data[find_tensor(p, a)];
    x[1] = strcmp(b, "nan") == 0 ? (real)NAN : strcmp(b, "inf") == 0 ? (real)INFINITY : (real)7;
}

static void only_denormals(parts *p, const char *a, const char *b)
{
    (void)b;
    for (size_t i = 0; i < p->n; i++)
        for (uint64_t k = 0; k < (p->tensors[i].end - p->tensors[i].begin) / sizeof(real); k++)
            ((real *)p->data[i])[k] = (real)FLT_MIN / 2;
    drop_text(p, a, NULL);
}

/* ---- one row per defect ---- */

typedef struct defect {
    const char *what;
    void (*edit)(parts *p, const char *a, const char *b);
    const char *a, *b;
    const char *message; /* part of it; NULL: accepted */
} defect;

static const defect DEFECTS[] = {
    { "nothing", no_edit, NULL, NULL, NULL },
    { "a file without a hash", drop_text, "hash", NULL, NULL },
    { "no record", drop_text, "record", NULL,
      "damaged; copy it again (contents have the hash xxh3-128:" },

    { "no format", drop_text, "format", NULL, "not a model of rela" },
    { "another format", set_value, "format", "pt", "not a model of rela" },
    { "no version", drop_text, "format_version", NULL,
      "'format_version' is ''; this program reads 1, 2 and 3" },
    { "version 4", set_value, "format_version", "4",
      "'format_version' is '4'; this program reads 1, 2 and 3" },
    { "an unknown text", set_key, "record", "recorf", "unknown text 'recorf' in the header" },
    { "a hash under another key", set_key, "hash", "hasi", "unknown text 'hasi' in the header" },
    { "an empty text name", set_key, "text.bpe", "text.", "unknown text 'text.'" },
    { "a text name that could fool a terminal", set_key, "text.bpe", "text.\x1B[2J",
      "unknown text" },
    { "an empty hash", set_value, "hash", "", "the content hash in the header is malformed" },
    { "a short hash", set_value, "hash", "xxh3-128:00", "damaged; " },
    { "a record that is no JSON", set_value, "record", "{\"a\":}",
      "record: byte 6: '}'; expected a value" },
    { "a state that is no JSON", set_value, "state", "", "state: byte 1: the text ends" },

    { "a missing tensor", drop_tensor, "embed.bias", NULL,
      "tensor 'embed.bias' is missing; expected F32 [4]" },
    { "a missing moment", drop_tensor, "adam.v/embed", NULL,
      "tensor 'adam.v/embed' is missing; expected F32 [5, 4]" },
    { "an extra tensor", add_tensor, "embed", "embed.more",
      "tensor 'embed.more': not a parameter of this configuration" },
    { "an extra array", add_tensor, "embed", "sgd/embed", "tensor 'sgd/embed.bias' is missing" },
    { "an array without a name", add_tensor, "embed", "/embed",
      "tensor '/embed': not a parameter" },
    { "an array with an odd name", add_tensor, "embed", "\x1B[2J/embed",
      "[2J/embed': not a parameter" },
    { "an array of an array", add_tensor, "embed", "adam.m/adam.m/embed",
      "tensor 'adam.m/adam.m/embed': not a parameter" },
    { "another name", rename_tensor, "embed.bias", "embed.bia", "tensor 'embed.bias' is missing" },
    { "a transposed tensor", transpose, "dec.0.cross.kv.weight", NULL,
      "tensor 'dec.0.cross.kv.weight' is F32 [4, 8]; expected F32 [8, 4]" },
    { "a transposed moment", transpose, "adam.m/embed", NULL,
      "tensor 'adam.m/embed' is F32 [4, 5]; expected F32 [5, 4]" },
    { "a flat tensor", flatten, "embed", NULL, "tensor 'embed' is F32 [20]; expected F32 [5, 4]" },
    { "another type of the same size", set_dtype, "embed", "I32",
      "tensor 'embed' is I32 [5, 4]; expected F32 [5, 4]" },
    { "F64 where F32 is due", set_dtype, "embed.bias", "F64",
      "tensor 'embed.bias' is F64 [4]; expected F32 [4]" },

    { "no configuration", drop_text, "config", NULL, "no 'config' in the header" },
    { "an empty configuration", set_value, "config", "", "config: byte 1: the text ends" },
    { "a configuration that is a list", set_value, "config", "[]", "config: byte 1: '[]'" },
    { "10^9 layers", edit_config, "\"enc_layers\":1", "\"enc_layers\":1000000000",
      "config: encoder layers is 1000000000; expected 1..256" },
    { "256 layers", edit_config, "\"enc_layers\":1", "\"enc_layers\":256",
      "tensor 'enc.1.self.qkv.weight' is missing" },
    { "no layers", edit_config, "\"dec_layers\":1", "\"dec_layers\":0",
      "config: decoder layers is 0" },
    { "-1 layers", edit_config, "\"dec_layers\":1", "\"dec_layers\":-1",
      "config: dec_layers: byte 79: '-1,\"vocab_src\":5'; expected a plain whole number" },
    { "1e0 layers", edit_config, "\"dec_layers\":1", "\"dec_layers\":1e0", "config: dec_layers: " },
    { "0 heads", edit_config, "\"heads\":2", "\"heads\":0", "config: heads is 0; expected 1..256" },
    { "heads that do not divide the width", edit_config, "\"heads\":2", "\"heads\":3",
      "config: width 4 is not a multiple of 3 heads" },
    { "the largest width", edit_config, "\"width\":4", "\"width\":16384",
      "tensor 'embed' is F32 [5, 4]; expected F32 [5, 16384]" },
    { "a width over the bound", edit_config, "\"width\":4", "\"width\":16386",
      "config: width is 16386; expected 1..16384" },
    { "a width of 2^64", edit_config, "\"width\":4", "\"width\":18446744073709551616",
      "config: width: " },
    { "a larger vocabulary", edit_config, "\"vocab_src\":5,\"vocab_tgt\":5",
      "\"vocab_src\":6,\"vocab_tgt\":6", "tensor 'embed' is F32 [5, 4]; expected F32 [6, 4]" },
    { "unequal vocabularies", edit_config, "\"vocab_src\":5", "\"vocab_src\":6",
      "config: source and target share one matrix" },
    { "a vocabulary text that is too short", set_value, "text.vocab.src", "a\nb\nc\nd\n",
      "'text.vocab.src' has 4 lines; expected 5" },
    { "a vocabulary text that is too long", set_value, "text.vocab.tgt", "a\nb\nc\nd\ne\nf",
      "'text.vocab.tgt' has 6 lines; expected 5" },
    { "an empty vocabulary text", set_value, "text.vocab.src", "", "has 0 lines; expected 5" },
    { "a length of 10^9", edit_config, "\"max_len\":8", "\"max_len\":1000000000",
      "config: maximum length is 1000000000" },
    { "a length of 1", edit_config, "\"max_len\":8", "\"max_len\":1",
      "config: maximum length is 1; expected 2..65536" },
    { "no length", edit_config, "\"max_len\":8", "\"max_len\":0",
      "config: maximum length is 0; expected 2..65536" },
    { "an unknown kind", edit_config, "\"attention_dec\":\"softmax\"",
      "\"attention_dec\":\"hardmax\"", "config: attention_dec: unknown attention 'hardmax'" },
    { "a kind with a NUL", edit_config, "\"attention_dec\":\"softmax\"",
      "\"attention_dec\":\"softmax\\u0000\"", "config: attention_dec: not a kind of attention" },
    { "another kind", edit_config, "\"attention_dec\":\"softmax\"", "\"attention_dec\":\"rela-g\"",
      "tensor 'dec.0.self.norm.gain' is missing" },
    { "a kind that is a number", edit_config, "\"attention_dec\":\"softmax\"",
      "\"attention_dec\":1", "config: attention_dec: byte " },
    { "an unknown tying", edit_config, "\"tie\":\"all\"", "\"tie\":\"some\"",
      "config: tie: unknown name 'some'" },
    { "another tying", edit_config, "\"tie\":\"all\"", "\"tie\":\"out\"",
      "tensor 'embed.src' is missing" },
    { "an unknown key", edit_config, "\"ffn\":8", "\"ffn\":8,\"fnn\":8",
      "config: unknown key 'fnn'; written by rela 0.2.0, this is 0.2.0" },
    { "a missing key", edit_config, "\"ffn\":8,", "", "config: no 'ffn'" },
    { "a doubled key", edit_config, "\"ffn\":8", "\"ffn\":8,\"f\\u0066n\":8",
      "config: 'ffn' appears twice" },
    { "a flag that is a number", edit_config, "\"pre_norm\":false", "\"pre_norm\":0",
      "config: pre_norm: byte " },
    { "a size that is a text", edit_config, "\"ffn\":8", "\"ffn\":\"8\"", "config: ffn: byte " },
    { "a dropout of 1", edit_config, "\"drop_embed\":0.3", "\"drop_embed\":1",
      "config: embedding dropout is 1" },
    { "a dropout beyond numbers", edit_config, "\"drop_embed\":0.3", "\"drop_embed\":1e999",
      "config: drop_embed: byte " },
    { "an alpha beyond numbers", edit_config, "\"attention_dec\":\"softmax\"",
      "\"attention_dec\":\"entmax:alpha=1e300\"", "config: attention_dec: attention" },
    { "a layer that is not there", edit_config, "\"attention_dec\":\"softmax\"",
      "\"attention_dec\":\"1-9=softmax\"",
      "config: dec: attention '1-9=softmax': no layer 9; there is only 1" },
    { "heads that are not there", edit_config, "\"attention_dec\":\"softmax\"",
      "\"attention_dec\":\"7xsoftmax+rela-g\"", "config: dec: attention '7xsoftmax+rela-g'" },
    { "an old alpha beyond numbers", edit_config, "\"ffn\":8",
      "\"ffn\":8,\"attention_alpha\":1e300", "config: attention_alpha: 1e+300; expected 1.01..4" },
    { "an old alpha of nearly 1", edit_config, "\"ffn\":8",
      "\"ffn\":8,\"attention_alpha\":1.000001", "config: attention_alpha: 1; expected 1.01..4" },
    { "an old large fusion weight", edit_config, "\"ffn\":8", "\"ffn\":8,\"attention_fuse\":1e20",
      "config: attention_fuse: 1e+20; expected 0..100" },
    { "an old wide window", edit_config, "\"ffn\":8",
      "\"ffn\":8,\"attention_window\":18446744073709551615", "config: attention_window: 1.8" },
    { "no old stride", edit_config, "\"ffn\":8", "\"ffn\":8,\"attention_stride\":0",
      "config: attention_stride: 0; expected 1..65536" },
    { "an epsilon of nearly 0", edit_config, "\"attention_eps\":1e-08", "\"attention_eps\":1e-300",
      "config: the epsilon of a norm is not between 1e-30 and 1" },
    { "an epsilon of 0", edit_config, "\"eps\":1e-06", "\"eps\":0",
      "config: the epsilon of a norm" },
    { "text after the configuration", edit_config, "}", "} {", "config: byte " },

    { "NaN", set_number, "enc.0.ffn.up.weight", "nan",
      "tensor 'enc.0.ffn.up.weight': element 1 is not a finite number" },
    { "infinity", set_number, "adam.v/embed.bias", "inf",
      "tensor 'adam.v/embed.bias': element 1 is not a finite number" },
    { "another number", set_number, "embed.bias", "7", "damaged; copy it again" },
    { "denormal numbers only", only_denormals, "hash", NULL, NULL },
};

static void check_defect(const defect *d)
{
    parts p;
    rela_error err;
    sample_save(at.other, 4, 5, true);
    take_apart(&p, at.other);
    d->edit(&p, d->a, d->b);
    put_together(&p, at.path);
    const rela_status st = try_load(at.path, &err);
    CHECK(st == (d->message ? RELA_FORMAT : RELA_OK), "%s: status %d (%s)", d->what, st,
          err.message);
    if (!d->message)
        return;
    CHECK(strstr(err.message, d->message), "%s: '%s'; expected '%s'", d->what, err.message,
          d->message);
    CHECK(strstr(err.message, at.path) == err.message && !strstr(err.message + 1, at.path),
          "%s: the path in '%s'", d->what, err.message);
}

static void each_defect_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof DEFECTS / sizeof DEFECTS[0]; i++)
        check_defect(&DEFECTS[i]);
}

static void take_line(void *ctx, rela_log_level level, const char *line)
{
    assert_int_equal(level, RELA_LOG_WARNING);
    (void)snprintf(ctx, 200, "%s", line);
}

static void a_file_without_a_hash_gets_a_notice(void **state)
{
    (void)state;
    for (int hashed = 0; hashed < 2; hashed++) {
        char line[200] = "";
        const rela_log log = { .write = take_line, .ctx = line };
        const rela_checkpoint_options o = { .log = &log };
        parts p;
        rela_net n;
        rela_error err;
        sample_save(at.other, 4, 5, false);
        take_apart(&p, at.other);
        if (!hashed)
            drop_text(&p, "hash", NULL);
        put_together(&p, at.path);
        CHECK_OK(rela_net_load(&n, NULL, at.path, &o, &err), err);
        rela_net_deinit(&n);
        CHECK(hashed ? !*line : strstr(line, "model.rela: has no content hash") != NULL, "'%s'",
              line);
    }
}

/* ---- damage ---- */

static void check_truncation(size_t step)
{
    size_t len = 0;
    rela_error err;
    char *bytes = read_all(at.path, &len);
    for (size_t cut = (len - 1) / step * step;; cut -= step) { /* from the end: always shorter */
        assert_int_equal(truncate(at.path, (off_t)cut), 0);
        const rela_status st = try_load(at.path, &err);
        CHECK(st == RELA_FORMAT, "cut at %d of %d: status %d", (int)cut, (int)len, st);
        if (cut == 0)
            break;
    }
    CHECK_OK(rela_file_write(at.path, bytes, len, &err), err);
    rela_mem_free(bytes);
}

/* Flips one bit in every step bytes, each time another one, and back. */
static void check_flips(size_t step)
{
    size_t len = 0;
    char *bytes = read_all(at.path, &len);
    FILE *f = fopen(at.path, "r+b");
    assert_non_null(f);
    for (size_t i = 0; i < len; i += step) {
        rela_error err;
        const size_t place = i + (step > 1 ? i / step * 977 % step : 0);
        if (place >= len)
            break;
        const int byte = (unsigned char)bytes[place], bit = (int)(i / step * 5 % 8);
        assert_int_equal(fseek(f, (long)place, SEEK_SET), 0);
        assert_true(fputc(byte ^ 1 << bit, f) != EOF && fflush(f) == 0);
        const rela_status st = try_load(at.path, &err);
        CHECK(st == RELA_FORMAT, "bit %d of byte %d: status %d (%s)", bit, (int)place, st,
              err.message);
        assert_int_equal(fseek(f, (long)place, SEEK_SET), 0);
        assert_true(fputc(byte, f) != EOF && fflush(f) == 0);
    }
    assert_int_equal(fclose(f), 0);
    rela_error err;
    CHECK(try_load(at.path, &err) == RELA_OK, "%s", err.message);
    rela_mem_free(bytes);
}

static void every_cut_is_noticed(void **state)
{
    (void)state;
    sample_save(at.path, 4, 5, false);
    check_truncation(1);
    sample_save(at.path, 32, 300, true);
    check_truncation(BLOCK);
}

static void every_flipped_bit_is_noticed(void **state)
{
    (void)state;
    sample_save(at.path, 4, 5, false);
    check_flips(1);
    sample_save(at.path, 32, 300, true);
    check_flips(BLOCK);
}

/* ---- memory ---- */

/* A good file with one flipped bit at the end, and positions far larger than the file. */
static void save_costly(void)
{
    rela_config c = small_config(256, 5);
    rela_net n;
    rela_error err;
    start_net(&n, &c, 1);
    n.config.max_len = RELA_LEN_MAX;
    CHECK_OK(rela_net_save(at.path, &n, NULL, NULL, &err), err);
    rela_net_deinit(&n);
    FILE *f = fopen(at.path, "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    const int last = fgetc(f);
    assert_int_equal(fseek(f, -1, SEEK_END), 0);
    assert_true(fputc(last ^ 1, f) != EOF && fclose(f) == 0);
}

/* A small file whose configuration asks for the largest model there is. */
static void save_boastful(void)
{
    parts p;
    sample_save(at.other, 4, 5, true);
    take_apart(&p, at.other);
    set_value(&p, "config",
              "{\"width\":16384,\"ffn\":65536,\"heads\":256,\"enc_layers\":256,\"dec_layers\":256,"
              "\"vocab_src\":1048576,\"vocab_tgt\":1048576,\"max_len\":65536,\"attention_enc\":"
              "\"softmax\",\"attention_dec\":\"softmax\",\"attention_cross\":\"softmax\","
              "\"attention_slope\":0,\"attention_alpha\":1.5,\"attention_top\":8,"
              "\"attention_window\":8,\"attention_stride\":8,\"attention_fuse\":0,"
              "\"attention_eps\":1e-8,\"norm_per_head\":false,\"pre_norm\":false,\"eps\":1e-8,"
              "\"tie\":\"none\",\"drop_embed\":0,\"drop_residual\":0,\"drop_attention\":0,"
              "\"drop_ffn\":0}");
    put_together(&p, at.path);
}

/* A record as large as the header may be, so that copies of it would show. */
static void save_wordy(void)
{
    const size_t len = RELA_HEADER_MAX - (64 << 10);
    char *text = test_malloc(len);
    memset(text, ' ', len);
    text[0] = '[';
    text[len - 1] = ']';
    parts p;
    sample_save(at.other, 4, 5, false);
    take_apart(&p, at.other);
    find_text(&p, "record")->value = (rela_span){ text, len };
    put_together(&p, at.path);
    test_free(text);
}

typedef struct cost {
    uint64_t counted; /* bytes of ours at the peak */
    long resident;    /* KiB */
    rela_status status;
} cost;

/* In a process of its own, since peaks only ever rise. */
static cost measure(bool loads)
{
    int ends[2];
    cost c = { .status = RELA_OK };
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        rela_net n;
        rela_extras e;
        struct rusage usage;
        rela_memory_stats before, after;
        const rela_checkpoint_options o = { .n_threads = 1, .arrays = true };
        before = memory_now();
        if (loads)
            c.status = rela_net_load(&n, &e, at.path, &o, NULL);
        after = memory_now();
        getrusage(RUSAGE_SELF, &usage);
        c.counted = after.peak - before.live;
        c.resident = usage.ru_maxrss;
        _exit(write(ends[1], &c, sizeof c) < 0);
    }
    assert_int_equal(read(ends[0], &c, sizeof c), sizeof c);
    assert_int_equal(waitpid(child, NULL, 0), child);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return c;
}

static void bad_files_cost_little_memory(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        void (*save)(void);
    } FILES[] = { { "costly", save_costly },
                  { "boastful", save_boastful },
                  { "wordy", save_wordy } };
    for (size_t i = 0; i < sizeof FILES / sizeof FILES[0]; i++) {
        size_t len = 0;
        FILES[i].save();
        rela_mem_free(read_all(at.path, &len));
        const cost idle = measure(false), c = measure(true);
        const long resident = (c.resident - idle.resident) * 1024;
        print_message("%s: file %zu KiB, counted %zu KiB, resident %ld KiB\n", FILES[i].what,
                      len >> 10, (size_t)(c.counted >> 10), resident >> 10);
        CHECK(c.status == RELA_FORMAT, "%s: status %d", FILES[i].what, c.status);
        CHECK(c.counted < len + SLACK, "%s: counted", FILES[i].what);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        CHECK(resident < (long)(len + SLACK), "%s: resident", FILES[i].what);
#endif
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files_cost_little_memory), /* first: no threads yet, no old peaks */
        cmocka_unit_test(each_defect_is_named),
        cmocka_unit_test(a_file_without_a_hash_gets_a_notice),
        cmocka_unit_test(every_cut_is_noticed),
        cmocka_unit_test(every_flipped_bit_is_noticed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
