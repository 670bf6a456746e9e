/* SPDX-License-Identifier: MIT */
/* src/train/train_init.c - what a run that starts from a model takes from it unless it is given:
 * sizes, attention, text preparation, languages, and a gentle recipe. See train_options.h. */
#include "base/file.h"
#include "base/mem.h"
#include "base/option.h"
#include "format/checkpoint.h"
#include "format/model_text.h"
#include "rela/text.h"
#include "text/pipeline.h"
#include "train/train_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CONFIG_MAX = 1 << 20,
    VALUE_MAX = RELA_ATTN_SPEC_MAX,
    TUNING_WARMUP = 100,
    SHORTER = 4,
    SLOWER = 5
};

static const double DECIMALS = 1e9;

static const char *const LANGUAGES[RELA_SOURCES_MAX + 1] = { "src-lang", "src-lang-2", "src-lang-3",
                                                             "src-lang-4", "tgt-lang" };

static rela_status take_run(rela_train_options *o, rela_train_own *own, const char *text);
static rela_status take_model(rela_train_options *o, rela_train_own *own, rela_error *err);
static void take_config(rela_train_options *o, rela_train_own *own, const rela_config *c);
static void take_pipeline(rela_train_options *o, const rela_pipeline_parts *parts);
static void take_preset(rela_train_options *o, const rela_config *c, const rela_extras *e);
static void take_attention(rela_train_options *o, rela_train_own *own, size_t i, const char *text);

/* Of a source, or after them of the target. */
static const char **language_of(rela_train_options *o, size_t side)
{
    const char **const slots[RELA_SOURCES_MAX + 1] = { &o->src_lang, &o->src_lang_2, &o->src_lang_3,
                                                       &o->src_lang_4, &o->tgt_lang };
    return slots[side];
}

rela_status rela_train_take_init(rela_train_options *o, rela_train_own *own, rela_error *err)
{
    rela_buffer path = RELA_BUFFER_INIT;
    char *text = NULL;
    size_t len = 0;
    rela_status st = rela_buffer_printf(&path, err, "%s/config.yml", o->out ? o->out : "");
    if (st == RELA_OK && o->out && rela_file_exists(path.data))
        st = rela_file_read(&text, &len, path.data, CONFIG_MAX, err);
    if (st == RELA_OK)
        st = text ? take_run(o, own, text) : take_model(o, own, err);
    rela_mem_free(text);
    rela_buffer_free(&path);
    return st;
}

void rela_train_tune(rela_train_options *o, const rela_train_options *given)
{
    if (given->lr < 0)
        o->lr = round(o->lr * DECIMALS / SLOWER) / DECIMALS; /* a short number in config.yml */
    if (given->warmup < 0 && strcmp(o->schedule, "noam") != 0 && o->warmup > TUNING_WARMUP)
        o->warmup = TUNING_WARMUP;
    if (given->updates < 0 && o->updates != RELA_UPDATES_ANY)
        o->updates = o->updates / SHORTER + 1;
}

bool rela_train_find_line(char *value, size_t size, const char *text, const char *key)
{
    const size_t len = strlen(key);
    while (text && (strncmp(text, key, len) != 0 || text[len] != ':'))
        text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL;
    if (!text)
        return false;
    text += len + 1 + strspn(text + len + 1, " \"'");
    rela_format_text(value, size, "%.*s", (int)strcspn(text, "\"'\n"), text);
    return true;
}

/* A run that is there has all settings; the model may be gone. */
static rela_status take_run(rela_train_options *o, rela_train_own *own, const char *text)
{
    static const char *const KINDS[] = { "attention-enc", "attention-dec", "attention-cross" };
    char value[VALUE_MAX];
    if (!o->preset && rela_train_find_line(value, sizeof value, text, "preset"))
        o->preset = rela_train_preset(value);
    rela_settings_take(o, text);
    if (!o->attention) {
        for (size_t i = 0; i < RELA_ATTN_N_TYPES; i++)
            if (rela_train_find_line(value, sizeof value, text, KINDS[i]))
                take_attention(o, own, i, value);
        if (rela_train_find_line(own->same, sizeof own->same, text, "attention"))
            o->attention = own->same;
    }
    for (size_t i = 0; i <= RELA_SOURCES_MAX; i++) {
        const char **language = language_of(o, i);
        if (!*language && rela_train_find_line(value, sizeof value, text, LANGUAGES[i]) &&
            rela_language_code(language, value, NULL))
            *language = NULL;
    }
    if (!o->norm && rela_train_find_line(value, sizeof value, text, "norm"))
        o->norm = strcmp(value, "pre") == 0 ? "pre" : "post";
    if (!o->tie && rela_train_find_line(value, sizeof value, text, "tie"))
        o->tie = strcmp(value, "all") == 0 ? "all" : strcmp(value, "none") == 0 ? "none" : "output";
    if (!o->cross && rela_train_find_line(value, sizeof value, text, "cross"))
        o->cross = strcmp(value, "serial") == 0 ? "serial" : "parallel";
    return RELA_OK;
}

static rela_status take_model(rela_train_options *o, rela_train_own *own, rela_error *err)
{
    rela_checkpoint *c = NULL;
    rela_extras e = { 0 };
    rela_pipeline *p = NULL;
    rela_status st = rela_checkpoint_open(&c, o->init, NULL, err);
    st = st ? st : rela_checkpoint_texts(&e, c, err);
    st = st ? st : rela_pipeline_restore(&p, &e, err);
    if (st == RELA_OK) {
        take_preset(o, &c->config, &e);
        take_config(o, own, &c->config);
        take_pipeline(o, rela_pipeline_parts_of(p));
    }
    if (st == RELA_FORMAT && c)
        st = rela_fail_in(err, st, o->init);
    rela_pipeline_destroy(p);
    rela_extras_deinit(&e);
    rela_checkpoint_close(c);
    return st;
}

static void take_preset(rela_train_options *o, const rela_config *c, const rela_extras *e)
{
    static const char KEY[] = "preset: \\\"";
    const rela_section *record = rela_extras_get(e, RELA_SECTION_RECORD);
    const char *at = record ? strstr(record->text, KEY) : NULL;
    char name[16] = "";
    if (at)
        rela_format_text(name, sizeof name, "%.*s", (int)strcspn(at + sizeof KEY - 1, "\\"),
                         at + sizeof KEY - 1);
    const bool align = c->task == RELA_TASK_ALIGN;
    const char *preset = align ? RELA_PRESET_ALIGN : rela_train_preset(name);
    if (!o->preset)
        o->preset = preset ? preset : "tiny";
}

static void take_config(rela_train_options *o, rela_train_own *own, const rela_config *c)
{
    static const char *const TIES[] = { "none", "output", "all" };
    const struct {
        int64_t *option;
        size_t value;
    } sizes[] = { { &o->width, c->d },
                  { &o->ffn, c->ffn },
                  { &o->heads, c->heads },
                  { &o->enc_layers, c->enc_layers },
                  { &o->dec_layers, c->dec_layers },
                  { &o->max_length, c->max_len } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (*sizes[i].option < 0)
            *sizes[i].option = (int64_t)sizes[i].value;
    o->ln_epsilon = o->ln_epsilon < 0 ? c->eps : o->ln_epsilon;
    o->attn_epsilon = o->attn_epsilon < 0 ? c->attn_eps : o->attn_epsilon;
    o->norm = o->norm ? o->norm : c->pre_norm ? "pre" : "post";
    o->tie = o->tie ? o->tie : TIES[c->tie];
    o->norm_per_head = o->norm_per_head || c->norm_per_head;
    o->share_encoders = o->share_encoders || c->share_encoders;
    if (!o->cross && c->sources > 1)
        o->cross = c->serial_cross ? "serial" : "parallel";
    const rela_attn_spec *a = c->attention;
    const bool same = strcmp(a[0].text, a[1].text) == 0 && strcmp(a[0].text, a[2].text) == 0;
    if (same && !o->attention) {
        rela_format_text(own->same, sizeof own->same, "%s", a[0].text);
        o->attention = own->same;
    }
    for (size_t i = 0; i < RELA_ATTN_N_TYPES && !o->attention; i++)
        take_attention(o, own, i, a[i].text);
}

/* Of one place, unless it is given. */
static void take_attention(rela_train_options *o, rela_train_own *own, size_t i, const char *text)
{
    const char **const kinds[] = { &o->attention_enc, &o->attention_dec, &o->attention_cross };
    if (*kinds[i])
        return;
    rela_format_text(own->attention[i], RELA_ATTN_SPEC_MAX, "%s", text);
    *kinds[i] = own->attention[i];
}

/* Languages have names that stay. */
static void take_pipeline(rela_train_options *o, const rela_pipeline_parts *parts)
{
    const size_t n = parts->n_sides ? parts->n_sides : 2;
    for (size_t i = 0; i < n; i++) {
        const rela_pipeline_side *s = &parts->side[i];
        const char **language = language_of(o, i + 1 < n ? i : RELA_SOURCES_MAX);
        if (!*language && s->language[0] && rela_language_code(language, s->language, NULL))
            *language = NULL;
        o->tokenise = o->tokenise || s->tokenise;
        o->normalise = o->normalise || s->normalise;
        o->lowercase = o->lowercase || s->lowercase;
    }
}
