/* SPDX-License-Identifier: MIT */
/* src/train/train_settings.c - see train_settings.h. */
#include "train/train_settings.h"

#include "base/option.h"
#include "base/utf8.h"
#include "base/yaml.h"
#include "train/train_options.h"

#include <assert.h>
#include <string.h>

typedef struct setting {
    const char *key;
    rela_option_type type;
    size_t offset;
    size_t place; /* in config.yml, from 1 */
    bool of_model, recent;
    double numbers[RELA_N_PRESETS], least, most;
    const char *texts[RELA_N_PRESETS];
    const char *values; /* of a choice: "a|b|c" */
} setting;

#define ITEMS(...)                                                                                 \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
/* clang-format off */
#define ROW(key_, type_, member, place_) \
    .key = (key_), .type = RELA_OPTION_##type_, .offset = offsetof(rela_train_options, member), .place = (place_)
#define NUMBER(type, key, letter, member, place, from_model, presets, low, high, unit, help) \
    { ROW(key, type, member, place), .of_model = (from_model), .numbers = ITEMS presets, .least = (low), .most = (high) },
#define STRING(type, key, letter, member, place, presets, unit, help) \
    { ROW(key, type, member, place), .texts = ITEMS presets, .values = (unit) },
#define FLAG_ROW(key, member, place, from_model, added, help) \
    { ROW(key, FLAG, member, place), .of_model = (from_model), .recent = (added) },
#define LIST(key, member, list, place, unit, help) { ROW(key, FILE, member, place) },
#define TIME(key, member, place, presets, low, high, unit, help) \
    { ROW(key, INT, member, place), .numbers = ITEMS presets, .least = (low), .most = (high) },
#define COMMON(key, member, place, presets, low, high) \
    { ROW(key, INT, member, place), .numbers = ITEMS presets, .least = (low), .most = (high) },
/* clang-format on */
static const setting SETTINGS[] = { RELA_TRAIN_FILES_MAP(STRING, LIST) RELA_TRAIN_SETTINGS_MAP(
    NUMBER, STRING, FLAG_ROW, LIST, TIME, COMMON) };

#define COMMA ,
static const char *const PRESETS[RELA_N_PRESETS] = { RELA_PRESETS(COMMA) };

enum { N_SETTINGS = sizeof SETTINGS / sizeof SETTINGS[0], VALUE_MAX = 64 };

static rela_status resolve_number(rela_train_options *o, const setting *s, size_t preset,
                                  rela_error *err);
static rela_status choose(size_t *which, const char *key, const char *value, const char *words,
                          rela_error *err);
static rela_status dump(rela_buffer *out, const setting *s, const rela_train_options *o,
                        rela_error *err);
static rela_status dump_text(rela_buffer *out, const char *key, const char *text, rela_error *err);
static rela_status dump_files(rela_buffer *out, const char *key, const rela_train_options *o,
                              rela_error *err);

static bool is_number(const setting *s)
{
    return s->type == RELA_OPTION_INT || s->type == RELA_OPTION_REAL;
}

static double number_of(const rela_train_options *o, const setting *s)
{
    const void *field = (const char *)o + s->offset;
    return s->type == RELA_OPTION_REAL ? *(const double *)field : (double)*(const int64_t *)field;
}

static void set_number(rela_train_options *o, const setting *s, double value)
{
    void *field = (char *)o + s->offset;
    if (s->type == RELA_OPTION_REAL)
        *(double *)field = value;
    else
        *(int64_t *)field = (int64_t)value;
}

static const char **text_of(rela_train_options *o, const setting *s)
{
    return (const char **)(void *)((char *)o + s->offset);
}

static const char *given_text(const rela_train_options *o, const setting *s)
{
    return *(const char *const *)(const void *)((const char *)o + s->offset);
}

void rela_settings_init(rela_train_options *o)
{
    memset(o, 0, sizeof *o);
    for (size_t i = 0; i < N_SETTINGS; i++)
        if (is_number(&SETTINGS[i]))
            set_number(o, &SETTINGS[i], -1);
}

rela_status rela_settings_resolve(rela_train_options *o, rela_error *err)
{
    size_t preset = 0, which = 0;
    rela_status st = choose(&preset, "preset", o->preset, RELA_PRESETS("|"), err);
    for (size_t i = 0; i < N_SETTINGS && st == RELA_OK; i++) {
        const setting *s = &SETTINGS[i];
        if (is_number(s)) {
            st = resolve_number(o, s, preset, err);
        } else if (s->type != RELA_OPTION_FLAG) {
            const char **text = text_of(o, s);
            *text = *text ? *text : s->texts[preset];
            if (*text && s->type == RELA_OPTION_CHOICE)
                st = choose(&which, s->key, *text, s->values, err);
        }
    }
    return st;
}

/* A default may be out of range: -1, to be chosen later. */
static rela_status resolve_number(rela_train_options *o, const setting *s, size_t preset,
                                  rela_error *err)
{
    const double v = number_of(o, s);
    if (v < 0)
        set_number(o, s, s->numbers[preset]);
    if (v < 0 || (v >= s->least && v <= s->most))
        return RELA_OK;
    return rela_fail(err, RELA_ARG, "%s is %.15g; expected %.15g..%.15g", s->key, v, s->least,
                     s->most);
}

void rela_settings_take(rela_train_options *o, const char *config)
{
    char value[VALUE_MAX];
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const setting *s = &SETTINGS[i];
        double number = 0;
        if (!s->of_model || !rela_train_find_line(value, sizeof value, config, s->key))
            continue;
        if (s->type == RELA_OPTION_FLAG && strcmp(value, "true") == 0)
            *((bool *)(void *)((char *)o + s->offset)) = true;
        else if (is_number(s) && number_of(o, s) < 0 && rela_parse_f64(&number, value))
            set_number(o, s, number);
    }
}

rela_status rela_settings_choose(size_t *which, const char *key, const char *value, rela_error *err)
{
    size_t i = 0;
    while (strcmp(SETTINGS[i].key, key) != 0)
        i++;
    return choose(which, key, value, SETTINGS[i].values, err);
}

static rela_status choose(size_t *which, const char *key, const char *value, const char *words,
                          rela_error *err)
{
    rela_buffer list = RELA_BUFFER_INIT;
    *which = 0;
    for (const char *word = words; *word; (*which)++) {
        const size_t len = strcspn(word, "|");
        if (strlen(value) == len && memcmp(value, word, len) == 0) {
            rela_buffer_free(&list);
            return RELA_OK;
        }
        (void)rela_buffer_printf(&list, NULL, "%s%.*s", *which ? ", " : "", (int)len, word);
        word += len + (word[len] != '\0');
    }
    const rela_status st = rela_fail(err, RELA_ARG, "%s '%s' is not one of %s", key, value,
                                     list.data ? list.data : "the known ones");
    rela_buffer_free(&list);
    return st;
}

const char *rela_train_preset(const char *name)
{
    for (size_t i = 0; i < RELA_N_PRESETS; i++)
        if (strcmp(name, PRESETS[i]) == 0)
            return PRESETS[i];
    return NULL;
}

/* Texts go to config.yml and into the record of the model, which must be UTF-8. */
rela_status rela_settings_check_texts(const rela_train_options *o, rela_error *err)
{
    for (size_t i = 0; i < N_SETTINGS; i++) {
        const setting *s = &SETTINGS[i];
        const bool is_text = !is_number(s) && s->type != RELA_OPTION_FLAG;
        const char *value = is_text ? given_text(o, s) : NULL;
        if (value && rela_utf8_valid(value, strlen(value)) != strlen(value))
            return rela_fail(err, RELA_ARG, "%s '%.300s' is not UTF-8; rename it", s->key, value);
    }
    return RELA_OK;
}

/* ---- config.yml ---- */

rela_status rela_train_options_dump(rela_buffer *out, const rela_train_options *o, rela_error *err)
{
    rela_status st = dump_text(out, "preset", o->preset, err);
    for (size_t place = 1; place <= N_SETTINGS && st == RELA_OK; place++) {
        size_t i = 0;
        while (i < N_SETTINGS && SETTINGS[i].place != place)
            i++;
        assert(i < N_SETTINGS);
        st = dump(out, &SETTINGS[i], o, err);
    }
    return st;
}

static rela_status dump(rela_buffer *out, const setting *s, const rela_train_options *o,
                        rela_error *err)
{
    if (s->type == RELA_OPTION_FLAG) {
        const bool value = *((const char *)o + s->offset);
        if (!value && s->recent)
            return RELA_OK;
        return rela_buffer_printf(out, err, "%s: %s\n", s->key, value ? "true" : "false");
    }
    if (!is_number(s)) {
        const char *value = given_text(o, s);
        if (value && o->n_more && strncmp(s->key, "train-", 6) == 0)
            return dump_files(out, s->key, o, err);
        return value ? dump_text(out, s->key, value, err) : RELA_OK;
    }
    rela_status st = rela_buffer_printf(out, err, "%s: ", s->key);
    if (st == RELA_OK)
        st = s->type == RELA_OPTION_REAL
                 ? rela_buffer_append_f64(out, number_of(o, s), false, err)
                 : rela_buffer_printf(out, err, "%lld", (long long)number_of(o, s));
    return st ? st : rela_buffer_append_char(out, '\n', err);
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
