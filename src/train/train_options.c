/* SPDX-License-Identifier: MIT */
/* src/train/train_options.c - see train_options.h. */
#include "train/train_options.h"

#include "base/sized.h"
#include "base/str.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "text/pipeline.h"

#include <math.h>
#include <string.h>

/* One row per setting: its member, its value in each preset, its range. Keys are made from the
 * names of members. */
typedef struct number_row {
    const char *name;
    size_t offset;
    bool real; /* double, otherwise int64_t */
    double paper, base, tiny, demo, align;
    double min, max;
} number_row;

typedef struct text_row {
    const char *name;
    size_t offset;
    const char *paper, *base, *tiny, *demo, *align; /* NULL: none */
} text_row;

#define AT(member) #member, offsetof(rela_train_options, member)
enum { BIG = 1 << 30 };

/* clang-format off */
static const number_row NUMBERS[] = {
    /* setting                   real    paper   base    tiny    demo    align    min   max */
    { AT(merges),                false,  32000,  32000,  10000,  600,    8000,    0,    1e7 },
    { AT(vocab_size),            false,  0,      0,      0,      0,      0,       0,    1 << 20 },
    { AT(vocab_min),             false,  1,      1,      1,      1,      1,       1,    1e12 },
    { AT(bpe_dropout),           true,   0,      0,      0,      0,      0,       0,    0.99 },
    { AT(width),                 false,  512,    512,    128,    128,    128,     2,    RELA_D_MAX },
    { AT(ffn),                   false,  2048,   2048,   256,    256,    1,       1,    RELA_FFN_MAX },
    { AT(heads),                 false,  8,      8,      4,      4,      1,       1,    RELA_HEADS_MAX },
    { AT(enc_layers),            false,  6,      6,      4,      2,      1,       1,    RELA_LAYERS_MAX },
    { AT(dec_layers),            false,  6,      6,      4,      2,      1,       1,    RELA_LAYERS_MAX },
    { AT(max_length),            false,  512,    512,    256,    128,    256,     2,    RELA_LEN_MAX },
    { AT(dropout),               true,   0.1,    0.1,    0.3,    0.1,    0.1,     0,    0.99 },
    { AT(dropout_embed),         true,   -1,     -1,     -1,     -1,     -1,      -1,   0.99 },
    { AT(dropout_attention),     true,   0.1,    0.1,    0,      0,      0,       0,    0.99 },
    { AT(dropout_ffn),           true,   0.1,    0.1,    0,      0,      0,       0,    0.99 },
    { AT(ln_epsilon),            true,   1e-8,   1e-6,   1e-6,   1e-6,   1e-6,    1e-12, 0.1 },
    { AT(attn_epsilon),          true,   1e-8,   1e-8,   1e-8,   1e-8,   1e-8,    1e-12, 0.1 },
    { AT(attn_slope),            true,   0.01,   0.01,   0.01,   0.01,   0.01,    0,    0.99 },
    { AT(attn_alpha),            true,   1.5,    1.5,    1.5,    1.5,    1.5,     1.01, 4 },
    { AT(attn_fuse),             true,   0.1,    0.1,    0.1,    0.1,    0.1,     0,    100 },
    { AT(attn_top),              false,  8,      8,      8,      8,      8,       1,    RELA_LEN_MAX },
    { AT(attn_window),           false,  8,      8,      8,      8,      8,       1,    RELA_LEN_MAX },
    { AT(attn_stride),           false,  8,      8,      8,      8,      8,       1,    RELA_LEN_MAX },
    { AT(updates),               false,  300000, 100000, 8000,   600,    3000,    1,    1e12 },
    { AT(epochs),                false,  0,      0,      0,      0,      0,       0,    1e9 },
    { AT(batch_tokens),          false,  25000,  25000,  8192,   4096,   4096,    1,    1e9 },
    { AT(lr),                    true,   1,      1,      5e-3,   3e-3,   5e-3,    0,    1e6 },
    { AT(lr_start),              true,   1e-7,   1e-7,   1e-7,   1e-7,   1e-7,    0,    1e6 },
    { AT(lr_least),              true,   0,      0,      0,      0,      2e-4,    0,    1e6 },
    { AT(warmup),                false,  4000,   4000,   2000,   200,    100,     0,    1e9 },
    { AT(cool_down),             false,  0,      0,      0,      0,      0,       0,    1e9 },
    { AT(beta1),                 true,   0.9,    0.9,    0.9,    0.9,    0.9,     0,    0.9999999 },
    { AT(beta2),                 true,   0.98,   0.98,   0.98,   0.98,   0.98,    0,    0.9999999 },
    { AT(adam_epsilon),          true,   1e-8,   1e-8,   1e-8,   1e-8,   1e-8,    1e-30, 1 },
    { AT(weight_decay),          true,   0,      0,      0,      0,      0,       0,    1 },
    { AT(clip),                  true,   0,      0,      0,      0,      0,       0,    1e9 },
    { AT(label_smoothing),       true,   0.1,    0.1,    0.1,    0.1,    0,       0,    0.99 },
    { AT(r_drop),                true,   0,      0,      0,      0,      0,       0,    1000 },
    { AT(seed),                  false,  1,      1,      1,      1,      1,       0,    9007199254740991.0 },
    { AT(threads),               false,  0,      0,      0,      0,      0,       0,    256 },
    { AT(gradient_slots),        false,  8,      8,      8,      4,      4,       1,    RELA_STEP_SLOTS_MAX },
    { AT(gradient_groups),       false,  1,      1,      1,      1,      1,       1,    RELA_STEP_SLOTS_MAX },
    { AT(micro_batch),            false,  0,      0,      0,      0,      4096,    0,    1 << 20 },
    { AT(max_skipped),           false,  10,     10,     10,     10,     10,      1,    1e9 },
    { AT(hold_out),              false,  -1,     -1,     -1,     -1,     -1,      -1,   1e6 },
    { AT(max_time),              false,  0,      0,      0,      0,      0,       0,    1e9 },
    { AT(max_ratio),             true,   0,      0,      0,      0,      0,       0,    1e6 },
    { AT(data_memory),           false,  BIG,    BIG,    BIG,    BIG,    BIG,     0,    1e13 },
    { AT(report_every),          false,  100,    100,    100,    50,     100,     1,    1e9 },
    { AT(valid_every),           false,  2500,   2500,   500,    200,    500,     1,    1e9 },
    { AT(save_every),            false,  2500,   2500,   250,    100,    500,     1,    1e9 },
    { AT(keep),                  false,  5,      5,      10,     3,      3,       1,    10000 },
    { AT(average),               false,  5,      5,      10,     1,      1,       1,    10000 },
    { AT(patience),              false,  0,      0,      0,      0,      0,       0,    1e9 },
    { AT(valid_beam),            false,  4,      4,      5,      4,      0,       0,    64 },
};

static const text_row TEXTS[] = {
    { AT(src_lang), NULL, NULL, NULL, NULL, NULL }, { AT(tgt_lang), NULL, NULL, NULL, NULL, NULL },
    { AT(attention), "rela-g", "rela-g", "rela-g", "rela-g", "rela-g" },
    { AT(attention_enc), NULL, NULL, NULL, NULL, NULL },
    { AT(attention_dec), NULL, NULL, NULL, NULL, NULL },
    { AT(attention_cross), NULL, NULL, NULL, NULL, NULL },
    { AT(norm), "post", "post", "post", "post", "post" },
    { AT(tie), "output", "all", "all", "all", "output" },
    { AT(schedule), "noam", "noam", "inverse-sqrt", "inverse-sqrt", "linear" },
    { AT(loss_mean), "sentence", "token", "token", "token", "token" },
    { AT(best_by), "bleu", "bleu", "bleu", "bleu", "loss" },
    { AT(train_src), NULL, NULL, NULL, NULL, NULL }, { AT(train_tgt), NULL, NULL, NULL, NULL, NULL },
    { AT(valid_src), NULL, NULL, NULL, NULL, NULL }, { AT(valid_tgt), NULL, NULL, NULL, NULL, NULL },
    { AT(out), NULL, NULL, NULL, NULL, NULL }, { AT(init), NULL, NULL, NULL, NULL, NULL },
    { AT(train_src_2), NULL, NULL, NULL, NULL, NULL }, { AT(train_src_3), NULL, NULL, NULL, NULL, NULL },
    { AT(train_src_4), NULL, NULL, NULL, NULL, NULL }, { AT(valid_src_2), NULL, NULL, NULL, NULL, NULL },
    { AT(valid_src_3), NULL, NULL, NULL, NULL, NULL }, { AT(valid_src_4), NULL, NULL, NULL, NULL, NULL },
    { AT(src_lang_2), NULL, NULL, NULL, NULL, NULL }, { AT(src_lang_3), NULL, NULL, NULL, NULL, NULL },
    { AT(src_lang_4), NULL, NULL, NULL, NULL, NULL },
    { AT(cross), NULL, NULL, NULL, NULL, NULL },
    { AT(codes), NULL, NULL, NULL, NULL, NULL },
    { AT(vocab_src), NULL, NULL, NULL, NULL, NULL }, { AT(vocab_tgt), NULL, NULL, NULL, NULL, NULL },
    { AT(licence), NULL, NULL, NULL, NULL, NULL }, { AT(description), NULL, NULL, NULL, NULL, NULL },
    { AT(date), NULL, NULL, NULL, NULL, NULL },
};

typedef struct flag_row {
    const char *name;
    size_t offset;
    bool recent; /* missing in older records: left out if false */
} flag_row;

static const flag_row FLAGS[] = { { AT(tokenise), false }, { AT(normalise), false }, { AT(lowercase), false },
                                  { AT(norm_per_head), false }, { AT(cut_long), false }, { AT(share_encoders), true } };
/* clang-format on */

enum {
    N_NUMBERS = sizeof NUMBERS / sizeof NUMBERS[0],
    N_TEXTS = sizeof TEXTS / sizeof TEXTS[0],
    N_FLAGS = sizeof FLAGS / sizeof FLAGS[0],
    N_PRESETS = 5
};

static rela_status resolve_settings(rela_train_options *out, rela_train_own *own,
                                    const rela_train_options *in, rela_error *err);
static rela_status find_preset(int *which, const char *name, rela_error *err);
static rela_status resolve_number(rela_train_options *o, const number_row *row, int preset,
                                  rela_error *err);
static rela_status check_texts(const rela_train_options *o, rela_error *err);
static rela_status check_files(const rela_train_options *o, rela_error *err);
static rela_status check_sources(const rela_train_options *o, rela_error *err);
static rela_status dump_text(rela_buffer *out, const char *key, const char *text, rela_error *err);
static rela_status dump_files(rela_buffer *out, const char *key, const rela_train_options *o,
                              rela_error *err);
static void key_of(char *out, size_t size, const char *member);

void rela_train_options_init(rela_train_options *o, size_t size)
{
    rela_train_options all;
    memset(&all, 0, sizeof all);
    for (size_t i = 0; i < N_NUMBERS; i++) {
        char *field = (char *)&all + NUMBERS[i].offset;
        if (NUMBERS[i].real)
            *(double *)(void *)field = -1;
        else
            *(int64_t *)(void *)field = -1;
    }
    rela_sized_init(o, size, &all, sizeof all);
}

rela_status rela_train_resolve(rela_train_options *out, rela_train_own *own,
                               const rela_train_options *in, rela_error *err)
{
    rela_status st = resolve_settings(out, own, in, err);
    st = st ? st : check_files(out, err);
    st = st ? st : check_sources(out, err);
    return st ? st : rela_train_find_languages(out, err);
}

/* Everything but the files, which are not needed to list the settings of a preset. */
static rela_status resolve_settings(rela_train_options *out, rela_train_own *own,
                                    const rela_train_options *in, rela_error *err)
{
    int preset = 0;
    rela_train_options_init(out, sizeof *out);
    rela_status st = rela_sized_take(out, sizeof *out, in, "rela_train_options", err);
    if (st == RELA_OK && out->init)
        st = rela_train_take_init(out, own, err);
    st = st ? st : rela_train_default(out, err);
    const rela_train_options given = *out;
    st = st ? st : find_preset(&preset, out->preset, err);
    for (size_t i = 0; i < N_NUMBERS && st == RELA_OK; i++)
        st = resolve_number(out, &NUMBERS[i], preset, err);
    for (size_t i = 0; i < N_TEXTS && st == RELA_OK; i++) {
        const text_row *row = &TEXTS[i];
        const char **field = (const char **)(void *)((char *)out + row->offset);
        const char *const values[N_PRESETS] = { row->paper, row->base, row->tiny, row->demo,
                                                row->align };
        if (!*field)
            *field = values[preset];
    }
    if (st == RELA_OK && out->init)
        rela_train_tune(out, &given);
    if (st == RELA_OK && out->dropout_embed < 0)
        out->dropout_embed = out->dropout;
    if (st == RELA_OK && out->average > out->keep)
        out->keep = out->average;
    if (st == RELA_OK && out->gradient_slots % out->gradient_groups)
        st = rela_fail(err, RELA_ARG,
                       "gradient-groups is %lld, which does not divide gradient-slots %lld",
                       (long long)out->gradient_groups, (long long)out->gradient_slots);
    st = st ? st : check_texts(out, err);
    return st ? st : rela_train_check_languages(out, err);
}

rela_status rela_train_options_show(rela_buffer *out, const rela_train_options *o, rela_error *err)
{
    rela_train_options all;
    rela_train_own own;
    rela_config model; /* made only to check kinds of attention and schedules */
    rela_loop_options loop;
    rela_status st = resolve_settings(&all, &own, o, err);
    st = st ? st : rela_train_config(&model, &all, err);
    st = st ? st : rela_train_loop_options(&loop, &all, err);
    if (st == RELA_OK)
        all.hold_out = rela_train_hold_out(&all);
    return st ? st : rela_train_options_dump(out, &all, err);
}

rela_status rela_train_options_dump(rela_buffer *out, const rela_train_options *o, rela_error *err)
{
    char key[64];
    rela_status st = dump_text(out, "preset", o->preset, err);
    for (size_t i = 0; i < N_TEXTS && st == RELA_OK; i++) {
        const char *value = *(const char *const *)(const void *)((const char *)o + TEXTS[i].offset);
        key_of(key, sizeof key, TEXTS[i].name);
        if (value && o->n_more && strncmp(key, "train-", 6) == 0)
            st = dump_files(out, key, o, err);
        else if (value)
            st = dump_text(out, key, value, err);
    }
    for (size_t i = 0; i < N_FLAGS && st == RELA_OK; i++) {
        const bool value = *((const char *)o + FLAGS[i].offset);
        key_of(key, sizeof key, FLAGS[i].name);
        if (value || !FLAGS[i].recent)
            st = rela_buffer_printf(out, err, "%s: %s\n", key, value ? "true" : "false");
    }
    for (size_t i = 0; i < N_NUMBERS && st == RELA_OK; i++) {
        const void *field = (const char *)o + NUMBERS[i].offset;
        key_of(key, sizeof key, NUMBERS[i].name);
        st = rela_buffer_printf(out, err, "%s: ", key);
        if (st == RELA_OK)
            st = NUMBERS[i].real
                     ? rela_buffer_append_f64(out, *(const double *)field, false, err)
                     : rela_buffer_printf(out, err, "%lld", (long long)*(const int64_t *)field);
        st = st ? st : rela_buffer_append_char(out, '\n', err);
    }
    return st;
}

static const char *train_file(const rela_train_options *o, const char *key, size_t i)
{
    const rela_train_files t = rela_train_text_at(o, i);
    if (strcmp(key, "train-tgt") == 0)
        return t.tgt;
    return strcmp(key, "train-src") == 0 ? t.src[0] : t.src[key[strlen(key) - 1] - '1'];
}

/* A YAML list on one line. */
static rela_status dump_files(rela_buffer *out, const char *key, const rela_train_options *o,
                              rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s: [", key);
    for (size_t i = 0; i <= o->n_more && st == RELA_OK; i++) {
        const char *file = train_file(o, key, i);
        st = i ? rela_buffer_append_text(out, ", ", err) : RELA_OK;
        st = st ? st : rela_yaml_quote(out, file, strlen(file), err);
    }
    return st ? st : rela_buffer_append_text(out, "]\n", err);
}

static rela_status dump_text(rela_buffer *out, const char *key, const char *text, rela_error *err)
{
    rela_status st = rela_buffer_printf(out, err, "%s: ", key);
    st = st ? st : rela_yaml_quote(out, text, strlen(text), err);
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

static rela_status find_preset(int *which, const char *name, rela_error *err)
{
    static const char *const NAMES[N_PRESETS] = { "paper", "base", "tiny", "demo",
                                                  RELA_PRESET_ALIGN };
    size_t i = 0;
    const rela_status st = rela_train_one_of(&i, "preset", name, NAMES, N_PRESETS, err);
    *which = (int)i;
    return st;
}

static rela_status resolve_number(rela_train_options *o, const number_row *row, int preset,
                                  rela_error *err)
{
    void *field = (char *)o + row->offset;
    const double values[N_PRESETS] = { row->paper, row->base, row->tiny, row->demo, row->align };
    double v = row->real ? *(double *)field : (double)*(int64_t *)field;
    if (v < 0) {
        v = values[preset];
        if (row->real)
            *(double *)field = v;
        else
            *(int64_t *)field = (int64_t)v;
    }
    if (v >= row->min && v <= row->max)
        return RELA_OK;
    char key[64];
    key_of(key, sizeof key, row->name);
    return rela_fail(err, RELA_ARG, "%s is %.15g; expected %.15g..%.15g", key, v, row->min,
                     row->max);
}

/* Texts go to config.yml and into the record of the model, which must be UTF-8. */
static rela_status check_texts(const rela_train_options *o, rela_error *err)
{
    for (size_t i = 0; i < N_TEXTS; i++) {
        const char *value = *(const char *const *)(const void *)((const char *)o + TEXTS[i].offset);
        char key[64];
        key_of(key, sizeof key, TEXTS[i].name);
        if (value && rela_utf8_valid(value, strlen(value)) != strlen(value))
            return rela_fail(err, RELA_ARG, "%s '%.300s' is not UTF-8; rename it", key, value);
    }
    for (size_t i = 0; i <= o->n_more; i++) {
        const rela_train_files t = rela_train_text_at(o, i);
        for (size_t k = 0; k <= RELA_SOURCES_MAX; k++) {
            const char *path = k < RELA_SOURCES_MAX ? t.src[k] : t.tgt;
            if (path && rela_utf8_valid(path, strlen(path)) != strlen(path))
                return rela_fail(err, RELA_ARG, "training text '%.300s' is not UTF-8; rename it",
                                 path);
        }
    }
    return RELA_OK;
}

static rela_status check_files(const rela_train_options *o, rela_error *err)
{
    if (!o->out || !*o->out)
        return rela_fail(err, RELA_ARG, "no directory for the run");
    if (!o->train_src || !o->train_tgt)
        return rela_fail(err, RELA_ARG, "no training text: it has a source and a target side");
    if (!o->valid_src != !o->valid_tgt)
        return rela_fail(err, RELA_ARG, "validation text needs both sides, source and target");
    if (o->init && (o->codes || o->vocab_src || o->vocab_tgt))
        return rela_fail(err, RELA_ARG,
                         "the model to start from brings its own subwords and vocabularies: "
                         "give no codes and no vocabularies");
    if (!o->vocab_src != !o->vocab_tgt && strcmp(o->tie, "all") != 0)
        return rela_fail(err, RELA_ARG, "give both vocabularies or none");
    if (o->vocab_src && !o->codes && o->merges > 0)
        return rela_fail(err, RELA_ARG,
                         "a vocabulary goes with its subwords: give the codes too, or 0 merges");
    if (o->bpe_dropout > 0 && !o->codes && !o->init && o->merges == 0)
        return rela_fail(err, RELA_ARG, "BPE dropout needs subwords, but there are 0 merges");
    return RELA_OK;
}

/* Every text must have one file for each source. */
static rela_status check_sources(const rela_train_options *o, rela_error *err)
{
    const size_t sources = rela_train_sources(o);
    const rela_train_files valid = rela_train_valid_text(o);
    for (size_t i = 0; i <= o->n_more; i++) {
        const rela_train_files t = rela_train_text_at(o, i);
        for (size_t k = 0; k < RELA_SOURCES_MAX; k++)
            if (!t.src[k] != (k >= sources))
                return rela_fail(err, RELA_ARG,
                                 "training text %zu has %s file of source %zu; expected %zu "
                                 "source%s, numbered without a gap",
                                 i + 1, t.src[k] ? "a" : "no", k + 1, sources,
                                 sources == 1 ? "" : "s");
        if (!t.tgt)
            return rela_fail(err, RELA_ARG, "training text %zu has no target side", i + 1);
    }
    for (size_t k = 1; valid.tgt && k < RELA_SOURCES_MAX; k++)
        if (!valid.src[k] != (k >= sources))
            return rela_fail(err, RELA_ARG,
                             "validation text has %s file of source %zu, training text has %s",
                             valid.src[k] ? "a" : "no", k + 1, valid.src[k] ? "none" : "one");
    if (sources == 1 && (o->share_encoders || o->cross))
        return rela_fail(err, RELA_ARG,
                         "shared encoders and an order of cross attention are for several sources");
    return RELA_OK;
}

rela_status rela_train_one_of(size_t *which, const char *name, const char *value,
                              const char *const *words, size_t n, rela_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(value, words[i]) == 0) {
            *which = i;
            return RELA_OK;
        }
    rela_buffer list = RELA_BUFFER_INIT;
    for (size_t i = 0; i < n; i++)
        (void)rela_buffer_printf(&list, NULL, "%s%s", i ? ", " : "", words[i]);
    const rela_status st = rela_fail(err, RELA_ARG, "%s '%s' is not one of %s", name, value,
                                     list.data ? list.data : "the known ones");
    rela_buffer_free(&list);
    return st;
}

/* Settings have the names of their members, with dashes. */
static void key_of(char *out, size_t size, const char *member)
{
    size_t i = 0;
    for (; member[i] && i + 1 < size; i++)
        out[i] = member[i] == '_' ? '-' : member[i];
    out[i] = '\0';
}
