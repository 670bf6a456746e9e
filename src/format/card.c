/* SPDX-License-Identifier: MIT */
/* src/format/card.c - see card.h; rela_model_card_set of rela/model.h. */
#include "format/card.h"

#include "base/file.h"
#include "base/utf8.h"
#include "format/checkpoint.h"
#include "format/json_tree.h"
#include "format/pair.h"
#include "rela/model.h"

#include <string.h>

enum { KEY_MAX = 32 };

static rela_status set_in_model(const char *path, const char *const *lines, size_t n,
                                rela_error *err);
static rela_status set_in_pair(const char *path, const char *const *lines, size_t n,
                               rela_error *err);
static rela_status table_row(rela_buffer *out, const char *key, const char *value, rela_error *err);
static json_t *make_card(const json_t *root);
static const json_t *training_record(const json_t *root);
static void add_setting(json_t *card, const char *key, const char *settings, const char *name);
static void add_score(json_t *card, const json_t *best);
static rela_status set_line(json_t *card, const char *line, rela_error *err);
static rela_status store(rela_extras *e, json_t *root, rela_error *err);

rela_status rela_card_table(rela_buffer *out, rela_span record, rela_error *err)
{
    json_t *root = json_loadb(record.text, record.len, 0, NULL), *card = make_card(root);
    const char *settings = json_string_value(json_object_get(training_record(root), "settings"));
    const char *key = NULL;
    json_t *value = NULL;
    rela_status st = json_object_size(card) ? rela_buffer_append_text(out, "card\n", err) : RELA_OK;
    json_object_foreach(card, key, value)
    {
        st = st ? st : table_row(out, key, json_string_value(value), err);
    }
    if (st == RELA_OK && !settings) {
        st = rela_buffer_append_text(out, "record          ", err);
        st = st ? st : rela_utf8_append_printable(out, record.text, record.len, err);
        st = st ? st : rela_buffer_append_char(out, '\n', err);
    } else if (st == RELA_OK) {
        st = rela_buffer_append_text(out, "settings\n", err);
    }
    for (const char *at = settings; at && *at && st == RELA_OK;) {
        const size_t len = strcspn(at, "\n");
        st = rela_buffer_append_text(out, "  ", err);
        st = st ? st : rela_utf8_append_printable(out, at, len, err);
        st = st ? st : rela_buffer_append_char(out, '\n', err);
        at += len + (at[len] == '\n');
    }
    json_decref(card);
    json_decref(root);
    return st;
}

/* Keys and values come from the file. */
static rela_status table_row(rela_buffer *out, const char *key, const char *value, rela_error *err)
{
    enum { KEY_COLUMNS = 20 };
    rela_status st = rela_buffer_append_text(out, "  ", err);
    const size_t start = out->len;
    st = st ? st : rela_utf8_append_printable(out, key, strlen(key), err);
    do
        st = st ? st : rela_buffer_append_char(out, ' ', err);
    while (st == RELA_OK && (out->len < start + KEY_COLUMNS || out->data[out->len - 2] != ' '));
    st = st ? st : rela_utf8_append_printable(out, value, strlen(value), err);
    return st ? st : rela_buffer_append_char(out, '\n', err);
}

rela_status rela_card_json(rela_buffer *out, rela_span record, rela_error *err)
{
    json_t *root = json_loadb(record.text, record.len, 0, NULL), *card = make_card(root);
    const rela_status st = rela_json_tree_append(out, card, 0, err);
    json_decref(card);
    json_decref(root);
    return st;
}

void rela_card_summarise(rela_card_summary *out, rela_span record)
{
    const struct {
        const char *key;
        char *text;
        size_t size;
    } LINES[] = { { "description", out->description, sizeof out->description },
                  { "source language", out->source, sizeof out->source },
                  { "target language", out->target, sizeof out->target },
                  { "score", out->score, sizeof out->score },
                  { "test score", out->test_score, sizeof out->test_score } };
    json_t *root = json_loadb(record.text, record.len, 0, NULL), *card = make_card(root);
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        const char *text = json_string_value(json_object_get(card, LINES[i].key));
        rela_format_text(LINES[i].text, LINES[i].size, "%s", text ? text : "");
    }
    json_decref(card);
    json_decref(root);
}

rela_status rela_model_card_set(const char *path, const char *const *lines, size_t n,
                                rela_error *err)
{
    bool pair = false;
    const rela_status st = rela_pair_check(&pair, path, err);
    return st ? st : (pair ? set_in_pair : set_in_model)(path, lines, n, err);
}

/* The pair is replaced as a whole, once both of its models are changed. */
static rela_status set_in_pair(const char *path, const char *const *lines, size_t n,
                               rela_error *err)
{
    rela_buffer dir = RELA_BUFFER_INIT, part[2] = { RELA_BUFFER_INIT, RELA_BUFFER_INIT };
    rela_status st = rela_dir_temporary(&dir, err);
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        st = rela_buffer_printf(&part[i], err, "%s/%d", dir.data, i + 1);
    st = st ? st : rela_pair_split(part[0].data, part[1].data, path, err);
    for (int i = 0; i < 2 && st == RELA_OK; i++)
        st = set_in_model(part[i].data, lines, n, err);
    st = st ? st : rela_model_pair_save(path, part[0].data, part[1].data, err);
    if (dir.len) {
        const rela_status removed = rela_dir_remove(dir.data, st ? NULL : err);
        st = st ? st : removed;
    }
    rela_buffer_free(&dir);
    rela_buffer_free(&part[0]);
    rela_buffer_free(&part[1]);
    return st;
}

static rela_status set_in_model(const char *path, const char *const *lines, size_t n,
                                rela_error *err)
{
    rela_net net = { .weights = NULL };
    rela_extras extras = { 0 };
    const rela_checkpoint_options how = { .arrays = true };
    rela_status st = rela_net_load(&net, &extras, path, &how, err);
    const rela_section *old = rela_extras_get(&extras, RELA_SECTION_RECORD);
    json_t *root = old ? NULL : json_object();
    if (old && rela_json_tree_read(&root, (rela_span){ old->text, old->len }, err) == RELA_NOMEM)
        st = st ? st : RELA_NOMEM;
    if (st == RELA_OK && !json_is_object(root))
        st = rela_fail(err, RELA_FORMAT, "%s: its record is no JSON object", path);
    json_t *card = json_object_get(root, "card");
    if (st == RELA_OK && !json_is_object(card)) {
        json_object_set_new(root, "card", json_object());
        card = json_object_get(root, "card");
    }
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = set_line(card, lines[i], err);
    st = st ? st : store(&extras, root, err);
    st = st ? st : rela_net_save(path, &net, &extras, NULL, err);
    json_decref(root);
    rela_net_deinit(&net);
    rela_extras_deinit(&extras);
    return st;
}

static json_t *make_card(const json_t *root)
{
    static const struct {
        const char *key, *setting;
    } LINES[] = { { "description", "description" },
                  { "source language", "src-lang" },
                  { "target language", "tgt-lang" },
                  { "licence", "licence" },
                  { "source text", "train-src" },
                  { "target text", "train-tgt" },
                  { "date", "date" } };
    const json_t *trained = training_record(root);
    const char *settings = json_string_value(json_object_get(trained, "settings"));
    const char *updates = json_string_value(json_object_get(trained, "update"));
    json_t *card = json_object();
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0] && settings; i++)
        add_setting(card, LINES[i].key, settings, LINES[i].setting);
    if (updates)
        json_object_set_new(card, "updates", json_string(updates));
    add_score(card, json_object_get(trained, "best"));
    const char *key = NULL;
    json_t *value = NULL, *own = json_object_get(root, "card");
    json_object_foreach(own ? own : json_object_get(trained, "card"), key, value)
    {
        if (json_is_string(value))
            json_object_set(card, key, value);
    }
    return card;
}

/* The record of an averaged model contains that of its last part. */
static const json_t *training_record(const json_t *root)
{
    const json_t *last = json_object_get(root, "last");
    for (int depth = 0; last && depth < 16; depth++) {
        root = last;
        last = json_object_get(root, "last");
    }
    return root;
}

/* Settings are lines "key: value", texts in quotes; other values are taken as they are. */
static void add_setting(json_t *card, const char *key, const char *settings, const char *name)
{
    const size_t len = strlen(name);
    for (const char *at = settings; at; at = strchr(at, '\n'), at += at != NULL) {
        if (strncmp(at, name, len) != 0 || strncmp(at + len, ": ", 2) != 0)
            continue;
        const char *value = at + len + 2;
        const size_t n = strcspn(value, "\n");
        json_t *text = json_loadb(value, n, JSON_DECODE_ANY, NULL);
        json_object_set_new(card, key,
                            json_is_string(text) ? json_incref(text) : json_stringn(value, n));
        json_decref(text);
        return;
    }
}

static void add_score(json_t *card, const json_t *best)
{
    const char *by = json_string_value(json_object_get(best, "by"));
    const char *update = json_string_value(json_object_get(best, "update"));
    const json_t *value = json_object_get(best, "value");
    char text[96];
    if (!by || !update || !json_is_number(value))
        return;
    rela_format_text(text, sizeof text, "%s %.4g on the validation text, after update %.20s",
                     strcmp(by, "bleu") == 0 ? "BLEU" : "log-likelihood", json_number_value(value),
                     update);
    json_object_set_new(card, "score", json_string(text));
}

/* "key=value"; without a value the line goes back to what training wrote. */
static rela_status set_line(json_t *card, const char *line, rela_error *err)
{
    const char *equals = strchr(line, '=');
    const size_t len = equals ? (size_t)(equals - line) : 0;
    char key[KEY_MAX];
    if (len == 0 || len >= sizeof key || strchr(line, '\n'))
        return rela_fail(err, RELA_ARG,
                         "'%.200s' is not KEY=VALUE on one line, with a key of 1..%d bytes", line,
                         KEY_MAX - 1);
    memcpy(key, line, len);
    key[len] = '\0';
    if (!equals[1]) {
        json_object_del(card, key);
        return RELA_OK;
    }
    return json_object_set_new(card, key, json_string(equals + 1)) == 0
               ? RELA_OK
               : rela_fail(err, RELA_ARG, "'%.200s' is not UTF-8", line);
}

static rela_status store(rela_extras *e, json_t *root, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st =
        rela_json_tree_append(&text, root, JSON_SORT_KEYS | JSON_REAL_PRECISION(17), err);
    st = st ? st : rela_extras_set(e, RELA_SECTION_RECORD, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}
