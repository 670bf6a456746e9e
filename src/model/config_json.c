/* SPDX-License-Identifier: MIT */
/* src/model/config_json.c - a configuration as a flat JSON object, from one table both ways. */
#include "model/config.h"

#include "base/json.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

typedef enum field_type {
    FIELD_SIZE,
    FIELD_BOOL,
    FIELD_DOUBLE,
    FIELD_REAL,
    FIELD_KIND,
    FIELD_TIE,
    FIELD_TASK
} field_type;

typedef struct field {
    const char *key;
    field_type type;
    size_t offset;
} field;

/* clang-format off */
static const field FIELDS[] = {
    { "task",              FIELD_TASK,   offsetof(rela_config, task) },
    { "width",             FIELD_SIZE,   offsetof(rela_config, d) },
    { "ffn",               FIELD_SIZE,   offsetof(rela_config, ffn) },
    { "heads",             FIELD_SIZE,   offsetof(rela_config, heads) },
    { "enc_layers",        FIELD_SIZE,   offsetof(rela_config, enc_layers) },
    { "dec_layers",        FIELD_SIZE,   offsetof(rela_config, dec_layers) },
    { "vocab_src",         FIELD_SIZE,   offsetof(rela_config, vocab_src) },
    { "vocab_tgt",         FIELD_SIZE,   offsetof(rela_config, vocab_tgt) },
    { "max_len",           FIELD_SIZE,   offsetof(rela_config, max_len) },
    { "attention_enc",     FIELD_KIND,   offsetof(rela_config, kind[RELA_ATTN_ENC]) },
    { "attention_dec",     FIELD_KIND,   offsetof(rela_config, kind[RELA_ATTN_DEC]) },
    { "attention_cross",   FIELD_KIND,   offsetof(rela_config, kind[RELA_ATTN_CROSS]) },
    { "attention_slope",   FIELD_REAL,   offsetof(rela_config, setup.slope) },
    { "attention_alpha",   FIELD_REAL,   offsetof(rela_config, setup.alpha) },
    { "attention_top",     FIELD_SIZE,   offsetof(rela_config, setup.top) },
    { "attention_window",  FIELD_SIZE,   offsetof(rela_config, setup.window) },
    { "attention_stride",  FIELD_SIZE,   offsetof(rela_config, setup.stride) },
    { "attention_fuse",    FIELD_REAL,   offsetof(rela_config, setup.fuse) },
    { "attention_eps",     FIELD_DOUBLE, offsetof(rela_config, attn_eps) },
    { "norm_per_head",     FIELD_BOOL,   offsetof(rela_config, norm_per_head) },
    { "pre_norm",          FIELD_BOOL,   offsetof(rela_config, pre_norm) },
    { "eps",               FIELD_DOUBLE, offsetof(rela_config, eps) },
    { "tie",               FIELD_TIE,    offsetof(rela_config, tie) },
    { "drop_embed",        FIELD_DOUBLE, offsetof(rela_config, drop_embed) },
    { "drop_residual",     FIELD_DOUBLE, offsetof(rela_config, drop_residual) },
    { "drop_attention",    FIELD_DOUBLE, offsetof(rela_config, drop_attn) },
    { "drop_ffn",          FIELD_DOUBLE, offsetof(rela_config, drop_ffn) },
};
/* clang-format on */

static const char *const TIES[] = { "none", "out", "all" };  /* rela_tie */
static const char *const TASKS[] = { "translate", "align" }; /* rela_task */

enum {
    N_FIELDS = sizeof FIELDS / sizeof FIELDS[0],
    N_TIES = sizeof TIES / sizeof TIES[0],
    N_TASKS = sizeof TASKS / sizeof TASKS[0],
    TEXT_MAX = 64 << 10,
    DIGITS_MAX = 17 /* of a double */
};

static size_t field_size(field_type type);
static rela_status write_field(rela_buffer *out, const void *at, field_type type, rela_error *err);
static rela_status write_number(rela_buffer *out, double v, bool is_real, rela_error *err);
static rela_status scan_object(rela_config *c, rela_json *j, rela_error *err);
static rela_status scan_field(void *at, field_type type, rela_json *j, rela_error *err);
static rela_status scan_name(void *at, field_type type, rela_json *j, rela_error *err);

rela_status rela_config_to_json(rela_buffer *out, const rela_config *c, rela_error *err)
{
    rela_status st = RELA_OK;
    const char *gap = "{";
    for (size_t i = 0; i < N_FIELDS && st == RELA_OK; i++) {
        if (FIELDS[i].type == FIELD_TASK && c->task == RELA_TASK_TRANSLATE)
            continue; /* what a file without it means */
        st = rela_buffer_printf(out, err, "%s\"%s\":", gap, FIELDS[i].key);
        gap = ",";
        st = st ? st : write_field(out, (const char *)c + FIELDS[i].offset, FIELDS[i].type, err);
    }
    return st ? st : rela_buffer_append_char(out, '}', err);
}

rela_status rela_config_from_json(rela_config *c, const char *text, size_t len, rela_error *err)
{
    rela_json j;
    *c = (rela_config){ 0 };
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

const char *rela_config_compare(const rela_config *a, const rela_config *b)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (memcmp((const char *)a + FIELDS[i].offset, (const char *)b + FIELDS[i].offset,
                   field_size(FIELDS[i].type)) != 0)
            return FIELDS[i].key;
    return NULL;
}

static size_t field_size(field_type type)
{
    static const size_t SIZES[] = {
        [FIELD_SIZE] = sizeof(size_t),
        [FIELD_BOOL] = sizeof(bool),
        [FIELD_DOUBLE] = sizeof(double),
        [FIELD_REAL] = sizeof(real),
        [FIELD_KIND] = sizeof(const rela_attn_kind *),
        [FIELD_TIE] = sizeof(rela_tie),
        [FIELD_TASK] = sizeof(rela_task),
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
        return write_number(out, *(const double *)at, false, err);
    case FIELD_REAL:
        return write_number(out, (double)*(const real *)at, true, err);
    case FIELD_KIND:
        return rela_buffer_printf(out, err, "\"%s\"", (*(const rela_attn_kind *const *)at)->name);
    case FIELD_TIE:
        return rela_buffer_printf(out, err, "\"%s\"", TIES[*(const rela_tie *)at]);
    case FIELD_TASK:
        return rela_buffer_printf(out, err, "\"%s\"", TASKS[*(const rela_task *)at]);
    }
    return RELA_OK;
}

/* The fewest digits that give the same number back. */
static rela_status write_number(rela_buffer *out, double v, bool is_real, rela_error *err)
{
    const size_t start = out->len;
    for (int digits = 1;; digits++) {
        double back = 0;
        out->len = start;
        const rela_status st = rela_buffer_printf(out, err, "%.*g", digits, v);
        if (st != RELA_OK)
            return st;
        const bool good = rela_parse_f64(&back, out->data + start);
        if (digits == DIGITS_MAX || (good && (is_real ? (real)back == (real)v : back == v)))
            return RELA_OK;
    }
}

static rela_status scan_object(rela_config *c, rela_json *j, rela_error *err)
{
    bool seen[N_FIELDS] = { false }, more = false;
    rela_span key;
    rela_status st = rela_json_object(j, err);
    while (st == RELA_OK && (st = rela_json_key(j, &key, &more, err)) == RELA_OK && more) {
        size_t i = 0;
        while (i < N_FIELDS &&
               (strlen(FIELDS[i].key) != key.len || memcmp(FIELDS[i].key, key.text, key.len) != 0))
            i++;
        if (i == N_FIELDS)
            return rela_fail(err, RELA_FORMAT, "unknown key '%.*s'",
                             (int)(key.len < 64 ? key.len : 64), key.text);
        if (seen[i])
            return rela_fail(err, RELA_FORMAT, "'%s' appears twice", FIELDS[i].key);
        seen[i] = true;
        st = scan_field((char *)c + FIELDS[i].offset, FIELDS[i].type, j, err);
        if (st != RELA_OK)
            return rela_fail_in(err, st, FIELDS[i].key);
    }
    for (size_t i = 0; i < N_FIELDS && st == RELA_OK; i++)
        if (!seen[i] && FIELDS[i].type != FIELD_TASK)
            st = rela_fail(err, RELA_FORMAT, "no '%s'", FIELDS[i].key);
    return st;
}

static rela_status scan_field(void *at, field_type type, rela_json *j, rela_error *err)
{
    uint64_t n = 0;
    double v = 0;
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
    case FIELD_REAL:
        st = rela_json_f64(j, &v, err);
        if (st == RELA_OK && !(v >= -1e30 && v <= 1e30)) /* fits any kind of real */
            st = rela_fail(err, RELA_FORMAT, "%g; expected -1e30..1e30", v);
        else
            *(real *)at = (real)v;
        break;
    case FIELD_KIND:
    case FIELD_TIE:
    case FIELD_TASK:
        st = scan_name(at, type, j, err);
        break;
    }
    return st;
}

static rela_status scan_name(void *at, field_type type, rela_json *j, rela_error *err)
{
    char name[64] = "";
    rela_span s;
    const rela_status st = rela_json_string(j, &s, err);
    if (st != RELA_OK)
        return st;
    if (s.len < sizeof name)
        memcpy(name, s.text, s.len);
    if (strlen(name) != s.len) /* too long, or a NUL in it: no name of ours */
        name[0] = '\0';
    if (type == FIELD_KIND) {
        const rela_attn_kind *kind = rela_attn_kind_find(name);
        if (kind) {
            *(const rela_attn_kind **)at = kind;
            return RELA_OK;
        }
    } else if (type == FIELD_TIE) {
        for (int i = 0; i < N_TIES; i++)
            if (strcmp(TIES[i], name) == 0) {
                *(rela_tie *)at = (rela_tie)i;
                return RELA_OK;
            }
    } else {
        for (int i = 0; i < N_TASKS; i++)
            if (strcmp(TASKS[i], name) == 0) {
                *(rela_task *)at = (rela_task)i;
                return RELA_OK;
            }
    }
    return rela_fail(err, RELA_FORMAT, "unknown name '%.*s'", (int)(s.len < 64 ? s.len : 64),
                     s.text);
}
