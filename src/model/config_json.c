/* SPDX-License-Identifier: MIT */
/* src/model/config_json.c - a configuration as a flat JSON object, from one table both ways. */
#include "model/config.h"

#include "base/json.h"
#include "base/mem.h"
#include "rela/rela.h"

#include <string.h>

typedef enum field_type {
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_DOUBLE,
    FIELD_SPEC,
    FIELD_TIE,
    FIELD_TASK
} field_type;

typedef struct field {
    const char *key;
    field_type type;
    size_t offset;
    bool younger; /* than the first version: a file without it has the value in FIRST */
} field;

/* clang-format off */
static const field FIELDS[] = {
    { "task",              FIELD_TASK,   offsetof(rela_config, task), true },
    { "width",             FIELD_SIZE,   offsetof(rela_config, d), false },
    { "ffn",               FIELD_SIZE,   offsetof(rela_config, ffn), false },
    { "heads",             FIELD_SIZE,   offsetof(rela_config, heads), false },
    { "enc_layers",        FIELD_SIZE,   offsetof(rela_config, enc_layers), false },
    { "dec_layers",        FIELD_SIZE,   offsetof(rela_config, dec_layers), false },
    { "sources",           FIELD_SIZE,   offsetof(rela_config, sources), true },
    { "share_encoders",    FIELD_BOOL,   offsetof(rela_config, share_encoders), true },
    { "serial_cross",      FIELD_BOOL,   offsetof(rela_config, serial_cross), true },
    { "vocab_src",         FIELD_SIZE,   offsetof(rela_config, vocab_src), false },
    { "vocab_tgt",         FIELD_SIZE,   offsetof(rela_config, vocab_tgt), false },
    { "max_len",           FIELD_SIZE,   offsetof(rela_config, max_len), false },
    { "attention_enc",     FIELD_SPEC,   offsetof(rela_config, attention[RELA_ATTN_ENC]), false },
    { "attention_dec",     FIELD_SPEC,   offsetof(rela_config, attention[RELA_ATTN_DEC]), false },
    { "attention_cross",   FIELD_SPEC,   offsetof(rela_config, attention[RELA_ATTN_CROSS]), false },
    { "attention_eps",     FIELD_DOUBLE, offsetof(rela_config, attn_eps), false },
    { "norm_per_head",     FIELD_BOOL,   offsetof(rela_config, norm_per_head), false },
    { "pre_norm",          FIELD_BOOL,   offsetof(rela_config, pre_norm), false },
    { "eps",               FIELD_DOUBLE, offsetof(rela_config, eps), false },
    { "tie",               FIELD_TIE,    offsetof(rela_config, tie), false },
    { "drop_embed",        FIELD_DOUBLE, offsetof(rela_config, drop_embed), false },
    { "drop_residual",     FIELD_DOUBLE, offsetof(rela_config, drop_residual), false },
    { "drop_attention",    FIELD_DOUBLE, offsetof(rela_config, drop_attn), false },
    { "drop_ffn",          FIELD_DOUBLE, offsetof(rela_config, drop_ffn), false },
};
/* clang-format on */

/* The values that models had before the newer keys existed. */
static const rela_config FIRST = { .sources = 1 };

static const char *const TIES[] = { "none", "out", "all" };  /* rela_tie */
static const char *const TASKS[] = { "translate", "align" }; /* rela_task */

enum {
    N_FIELDS = sizeof FIELDS / sizeof FIELDS[0],
    N_TIES = sizeof TIES / sizeof TIES[0],
    N_TASKS = sizeof TASKS / sizeof TASKS[0],
    TEXT_MAX = 64 << 10,
    OLD_NUMBERS_MAX = 16,
    NAME_LEN = 65,
    ALIAS_LEN = 10
};

#define ALIAS      "attention_"
#define WRITTEN_BY "written_by"

/* Hyper-parameters of kinds that old files have as keys of their own. */
typedef struct old_numbers {
    struct old_number {
        char alias[NAME_LEN];
        double value;
    } items[OLD_NUMBERS_MAX];
    size_t n;
} old_numbers;

typedef struct scan {
    rela_json *j;
    bool seen[N_FIELDS];
    old_numbers old;
    char unknown[NAME_LEN], version[NAME_LEN];
} scan;

static size_t field_size(field_type type);
static bool field_differs(const field *f, const rela_config *a, const rela_config *b);
static rela_status write_field(rela_buffer *out, const void *at, field_type type, rela_error *err);
static rela_status scan_object(rela_config *c, rela_json *j, rela_error *err);
static rela_status scan_field(void *at, field_type type, rela_json *j, rela_error *err);
static rela_status scan_spec(rela_attn_spec *at, rela_json *j, rela_error *err);
static rela_status scan_name(void *at, field_type type, rela_json *j, rela_error *err);

rela_status rela_config_to_json(rela_buffer *out, const rela_config *c, rela_error *err)
{
    rela_status st =
        rela_buffer_append_text(out, "{\"" WRITTEN_BY "\":\"" RELA_VERSION_TEXT "\"", err);
    for (size_t i = 0; i < N_FIELDS && st == RELA_OK; i++) {
        if (FIELDS[i].younger && !field_differs(&FIELDS[i], c, &FIRST))
            continue; /* leaving it out means the same */
        st = rela_buffer_printf(out, err, ",\"%s\":", FIELDS[i].key);
        st = st ? st : write_field(out, (const char *)c + FIELDS[i].offset, FIELDS[i].type, err);
    }
    return st ? st : rela_buffer_append_char(out, '}', err);
}

rela_status rela_config_from_json(rela_config *c, const char *text, size_t len, rela_error *err)
{
    rela_json j;
    *c = FIRST;
    if (len > TEXT_MAX)
        return rela_fail(err, RELA_FORMAT, "%zu bytes; expected at most %d", len, TEXT_MAX);
    char *copy = rela_str_copy(text, len); /* the scanner unescapes in place */
    if (!copy)
        return rela_fail(err, RELA_NOMEM, "no memory to read a configuration");
    rela_status st = rela_json_start(&j, copy, len, err);
    st = st ? st : scan_object(c, &j, err);
    st = st ? st : rela_json_end(&j, err);
    rela_mem_free(copy);
    return st;
}

static bool field_differs(const field *f, const rela_config *a, const rela_config *b)
{
    return memcmp((const char *)a + f->offset, (const char *)b + f->offset, field_size(f->type)) !=
           0;
}

const char *rela_config_compare(const rela_config *a, const rela_config *b)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (field_differs(&FIELDS[i], a, b))
            return FIELDS[i].key;
    return NULL;
}

static size_t field_size(field_type type)
{
    static const size_t SIZES[] = {
        [FIELD_SIZE] = sizeof(size_t),   [FIELD_BOOL] = sizeof(bool),
        [FIELD_DOUBLE] = sizeof(double), [FIELD_SPEC] = sizeof(rela_attn_spec),
        [FIELD_TIE] = sizeof(rela_tie),  [FIELD_TASK] = sizeof(rela_task),
    };
    return SIZES[type];
}

static rela_status write_field(rela_buffer *out, const void *at, field_type type, rela_error *err)
{
    switch (type) {
    case FIELD_SIZE:
        return rela_buffer_printf(out, err, "%zu", *(const size_t *)at);
    case FIELD_BOOL:
        return rela_buffer_append_text(out, *(const bool *)at ? "true" : "false", err);
    case FIELD_DOUBLE:
        return rela_buffer_append_f64(out, *(const double *)at, false, err);
    case FIELD_SPEC: /* nothing to escape */
        return rela_buffer_printf(out, err, "\"%s\"", ((const rela_attn_spec *)at)->text);
    case FIELD_TIE:
        return rela_buffer_printf(out, err, "\"%s\"", TIES[*(const rela_tie *)at]);
    case FIELD_TASK:
        return rela_buffer_printf(out, err, "\"%s\"", TASKS[*(const rela_task *)at]);
    }
    return RELA_OK;
}

/* "attention_<alias>": a hyper-parameter, from before kinds had numbers of their own. */
static const rela_attn_number *alias_of(rela_span key)
{
    return key.len > ALIAS_LEN && memcmp(key.text, ALIAS, ALIAS_LEN) == 0
               ? rela_attn_alias_find(key.text + ALIAS_LEN, key.len - ALIAS_LEN)
               : NULL;
}

static rela_status scan_alias(old_numbers *old, rela_span key, rela_json *j, rela_error *err)
{
    struct old_number *o = &old->items[old->n];
    if (old->n == OLD_NUMBERS_MAX)
        return rela_fail(err, RELA_FORMAT, "'%.*s' appears twice", (int)key.len, key.text);
    rela_format_text(o->alias, sizeof o->alias, "%.*s", (int)(key.len - ALIAS_LEN),
                     key.text + ALIAS_LEN);
    for (size_t i = 0; i < old->n; i++)
        if (strcmp(old->items[i].alias, o->alias) == 0)
            return rela_fail(err, RELA_FORMAT, "'%.*s' appears twice", (int)key.len, key.text);
    old->n++;
    const rela_attn_number *number = alias_of(key);
    rela_status st = rela_json_f64(j, &o->value, err);
    if (st == RELA_OK && !(o->value >= number->least && o->value <= number->most))
        st = rela_fail(err, RELA_FORMAT, "%g; expected %g..%g", o->value, number->least,
                       number->most);
    if (st == RELA_OK)
        return st;
    char name[2 * NAME_LEN];
    rela_format_text(name, sizeof name, ALIAS "%s", o->alias);
    return rela_fail_in(err, st, name);
}

static rela_status scan_key(rela_config *c, scan *s, rela_span key, rela_error *err)
{
    size_t i = 0;
    rela_span text;
    while (i < N_FIELDS && !rela_span_is(key, FIELDS[i].key))
        i++;
    if (i < N_FIELDS) {
        if (s->seen[i])
            return rela_fail(err, RELA_FORMAT, "'%s' appears twice", FIELDS[i].key);
        s->seen[i] = true;
        const rela_status st = scan_field((char *)c + FIELDS[i].offset, FIELDS[i].type, s->j, err);
        return st ? rela_fail_in(err, st, FIELDS[i].key) : RELA_OK;
    }
    if (alias_of(key))
        return scan_alias(&s->old, key, s->j, err);
    if (rela_span_is(key, WRITTEN_BY)) {
        const rela_status st = rela_json_string(s->j, &text, err);
        if (st == RELA_OK)
            rela_format_text(s->version, sizeof s->version, "%.*s",
                             (int)(text.len < 16 ? text.len : 16), text.text);
        return st ? rela_fail_in(err, st, WRITTEN_BY) : RELA_OK;
    }
    if (!s->unknown[0]) /* reported when the version is known */
        rela_format_text(s->unknown, sizeof s->unknown, "%.*s", (int)(key.len < 64 ? key.len : 64),
                         key.text);
    return rela_json_skip(s->j, err);
}

static rela_status scan_object(rela_config *c, rela_json *j, rela_error *err)
{
    scan s = { .j = j };
    bool more = false;
    rela_span key;
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK && (st = rela_json_key(j, &key, &more, err)) == RELA_OK && more)
        st = scan_key(c, &s, key, err);
    if (st == RELA_OK && s.unknown[0])
        return rela_fail(err, RELA_FORMAT, "unknown key '%s'; written by rela %s, this is %s",
                         s.unknown, s.version[0] ? s.version : "0.1.0", RELA_VERSION_TEXT);
    for (size_t i = 0; i < N_FIELDS && st == RELA_OK; i++)
        if (!s.seen[i] && !FIELDS[i].younger)
            st = rela_fail(err, RELA_FORMAT, "no '%s'", FIELDS[i].key);
    for (size_t i = 0; i < s.old.n * RELA_ATTN_N_TYPES && st == RELA_OK; i++) {
        const struct old_number *o = &s.old.items[i / RELA_ATTN_N_TYPES];
        st = rela_attn_spec_alias(&c->attention[i % RELA_ATTN_N_TYPES], o->alias, o->value, err);
    }
    return st;
}

static rela_status scan_field(void *at, field_type type, rela_json *j, rela_error *err)
{
    uint64_t n = 0;
    rela_status st = RELA_OK;
    switch (type) {
    case FIELD_SIZE:
        st = rela_json_u64(j, &n, err);
        *(size_t *)at = (size_t)n;
        break;
    case FIELD_BOOL:
        st = rela_json_bool(j, at, err);
        break;
    case FIELD_DOUBLE:
        st = rela_json_f64(j, at, err);
        break;
    case FIELD_SPEC:
        st = scan_spec(at, j, err);
        break;
    case FIELD_TIE:
    case FIELD_TASK:
        st = scan_name(at, type, j, err);
        break;
    }
    return st;
}

static rela_status scan_spec(rela_attn_spec *at, rela_json *j, rela_error *err)
{
    char text[RELA_ATTN_SPEC_MAX] = "";
    rela_span s;
    const rela_status st = rela_json_string(j, &s, err);
    if (st != RELA_OK)
        return st;
    if (s.len >= sizeof text || memchr(s.text, '\0', s.len))
        return rela_fail(err, RELA_FORMAT, "not a kind of attention");
    memcpy(text, s.text, s.len);
    return rela_attn_spec_parse(at, text, err);
}

static rela_status scan_name(void *at, field_type type, rela_json *j, rela_error *err)
{
    const bool tie = type == FIELD_TIE;
    const int n = tie ? N_TIES : N_TASKS;
    rela_span s;
    const rela_status st = rela_json_string(j, &s, err);
    if (st != RELA_OK)
        return st;
    for (int i = 0; i < n; i++)
        if (rela_span_is(s, tie ? TIES[i] : TASKS[i])) {
            if (tie)
                *(rela_tie *)at = (rela_tie)i;
            else
                *(rela_task *)at = (rela_task)i;
            return RELA_OK;
        }
    return rela_fail(err, RELA_FORMAT, "unknown name '%.*s'", (int)(s.len < 64 ? s.len : 64),
                     s.text);
}
