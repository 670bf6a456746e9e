/* SPDX-License-Identifier: MIT */
/* src/train/resume_state.c - see resume_state.h. */
#include "train/resume_state.h"

#include "base/file.h"
#include "base/option.h"
#include "base/utf8.h"
#include "format/json_tree.h"
#include "train/train_options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Settings that may change on resume: they do not affect updates already done, or name files whose
 * contents are compared instead. */
enum {
    SHOWN_MAX = 5, /* settings that differ in a message */
    SETTING_MAX = 64
};

static const char *const FREE_KEYS[] = {
    "train-src:",   "train-tgt:",   "valid-src:",   "valid-tgt:",   "out:",          "codes:",
    "vocab-src:",   "vocab-tgt:",   "updates:",     "epochs:",      "threads:",      "max-skipped:",
    "data-memory:", "valid-beam:",  "valid-every:", "keep:",        "report-every:", "save-every:",
    "average:",     "patience:",    "best-by:",     "preset:",      "cool-down:",    "init:",
    "r-drop:",      "train-src-2:", "train-src-3:", "train-src-4:", "valid-src-2:",  "valid-src-3:",
    "valid-src-4:", "licence:",     "description:", "date:",        "max-time:",
};

static rela_status set_json(rela_extras *e, const char *name, const json_t *value, rela_error *err);
static bool is_sound(const rela_train_state *s);
static json_t *plan_object(const rela_time_plan *p);
static bool get_plan(rela_time_plan *p, const json_t *o);
static bool find_setting(char value[SETTING_MAX], const rela_extras *e, const char *key);
static rela_status find_other(rela_buffer *out, const rela_extras *e, const rela_train_options *o,
                              bool (*matters)(rela_span line), rela_error *err);
static void update_state(rela_loop_state *l, const rela_extras *e);
static rela_status dump_preset(rela_buffer *out, const rela_train_options *o, rela_error *err);
static bool has_key(const char *text, rela_span line);
static bool has_line(const char *text, rela_span line);
static bool decides(rela_span line);
static bool names_text(rela_span line);
static json_t *number(uint64_t v);
static void put_finite(json_t **object, const char *key, double v);
static bool get_u64(uint64_t *out, const json_t *root, const char *key);
static bool get_f64(double *out, const json_t *root, const char *key);

rela_status rela_train_state_store(rela_extras *e, const rela_train_state *s,
                                   const rela_train_options *o, rela_error *err)
{
    const rela_loop_state *l = &s->loop;
    rela_buffer settings = RELA_BUFFER_INIT;
    rela_train_options kept = *o;
    /* Left out: the same run under another name or on more threads must give the same bytes. */
    kept.out = NULL;
    kept.threads = 0;
    rela_status st = rela_train_options_dump(&settings, &kept, err);
    json_t *state = json_object(), *record = json_object();
    rela_json_tree_put(&state, "update", number(l->update));
    rela_json_tree_put(&state, "epoch", number(l->position.epoch));
    rela_json_tree_put(&state, "sentences", number(l->position.sentences));
    rela_json_tree_put(&state, "tokens", number(l->tokens));
    rela_json_tree_put(&state, "skipped", number(l->n_skipped));
    rela_json_tree_put(&state, "skipped_row", number(l->n_skipped_row));
    rela_json_tree_put(&state, "best", json_real(isfinite(l->best) ? l->best : 0));
    rela_json_tree_put(&state, "best_by", json_string(l->best_is_bleu ? "bleu" : "loss"));
    rela_json_tree_put(&state, "best_update", number(l->best_update));
    rela_json_tree_put(&state, "stale", number(l->n_stale));
    put_finite(&state, "part_loss", l->part_loss);
    put_finite(&state, "part_nll", l->part_nll);
    put_finite(&state, "part_norm", l->part_norm);
    rela_json_tree_put(&state, "part_n_loss", number(l->part_n_loss));
    rela_json_tree_put(&state, "part_tokens", number(l->part_tokens));
    rela_json_tree_put(&state, "adam", number(s->adam_count));
    rela_json_tree_put(&state, "data", number(s->data_digest));
    rela_json_tree_put(&state, "at_interval", json_boolean(s->at_interval));
    if (l->plan.limit > 0)
        rela_json_tree_put(&state, "plan", plan_object(&l->plan));
    if (l->unvalidated)
        rela_json_tree_put(&state, "unvalidated", json_true());
    rela_json_tree_put(&record, "update", number(l->update));
    rela_json_tree_put(&record, "tokens", number(l->tokens));
    if (l->best_update)
        rela_json_tree_put(&record, "best",
                           json_pack("{s:s, s:f, s:o}", "by", l->best_is_bleu ? "bleu" : "loss",
                                     "value", l->best, "update", number(l->best_update)));
    json_t *text = json_string(settings.data ? settings.data : "");
    if (text || rela_utf8_valid(settings.data, settings.len) == settings.len)
        rela_json_tree_put(&record, "settings", text);
    if (st == RELA_OK)
        st = set_json(e, RELA_SECTION_STATE, state, err);
    if (st == RELA_OK)
        st = set_json(e, RELA_SECTION_RECORD, record, err);
    json_decref(state);
    json_decref(record);
    rela_buffer_free(&settings);
    return st;
}

rela_status rela_train_state_restore(rela_train_state *s, const rela_extras *e, rela_error *err)
{
    const rela_section *section = rela_extras_get(e, RELA_SECTION_STATE);
    if (!section)
        return rela_fail(err, RELA_FORMAT, "a model, not a checkpoint: it has no training state");
    json_t *root = NULL;
    rela_loop_state *l = &s->loop;
    *s = (rela_train_state){ .adam_count = 0 };
    if (rela_json_tree_read(&root, (rela_span){ section->text, section->len }, NULL) == RELA_NOMEM)
        return rela_fail(err, RELA_NOMEM, "no memory for the state of training");
    const bool good =
        get_u64(&l->update, root, "update") && get_u64(&l->position.epoch, root, "epoch") &&
        get_u64(&l->position.sentences, root, "sentences") && get_u64(&l->tokens, root, "tokens") &&
        get_u64(&l->n_skipped, root, "skipped") &&
        get_u64(&l->n_skipped_row, root, "skipped_row") &&
        get_u64(&l->best_update, root, "best_update") && get_u64(&l->n_stale, root, "stale") &&
        get_u64(&s->adam_count, root, "adam") && get_u64(&s->data_digest, root, "data") &&
        get_u64(&l->part_tokens, root, "part_tokens") && get_f64(&l->best, root, "best") &&
        get_f64(&l->part_loss, root, "part_loss") && get_f64(&l->part_nll, root, "part_nll") &&
        get_f64(&l->part_norm, root, "part_norm");
    const bool complete = get_u64(&l->part_n_loss, root, "part_n_loss");
    const json_t *plan = json_object_get(root, "plan");
    const bool planned = !plan || get_plan(&l->plan, plan);
    const char *best_by = json_string_value(json_object_get(root, "best_by"));
    l->best_is_bleu = best_by && strcmp(best_by, "bleu") == 0;
    s->at_interval = !json_is_false(json_object_get(root, "at_interval"));
    l->unvalidated = json_is_true(json_object_get(root, "unvalidated"));
    if (good && !(complete && best_by))
        update_state(l, e);
    json_decref(root);
    return good && planned && is_sound(s)
               ? RELA_OK
               : rela_fail(err, RELA_FORMAT, "the training state is damaged");
}

static json_t *plan_object(const rela_time_plan *p)
{
    json_t *o = json_object();
    rela_json_tree_put(&o, "limit", json_real(p->limit));
    rela_json_tree_put(&o, "used", json_real(p->used));
    rela_json_tree_put(&o, "updates", number(p->updates));
    rela_json_tree_put(&o, "warmup", number(p->warmup));
    rela_json_tree_put(&o, "cool_from", number(p->cool_from));
    rela_json_tree_put(&o, "cool_to", number(p->cool_to));
    rela_json_tree_put(&o, "cool_rate", json_real(p->cool_rate));
    return o;
}

static bool get_plan(rela_time_plan *p, const json_t *o)
{
    return get_f64(&p->limit, o, "limit") && get_f64(&p->used, o, "used") &&
           get_u64(&p->updates, o, "updates") && get_u64(&p->warmup, o, "warmup") &&
           get_u64(&p->cool_from, o, "cool_from") && get_u64(&p->cool_to, o, "cool_to") &&
           get_f64(&p->cool_rate, o, "cool_rate") && p->limit > 0 && p->used >= 0 &&
           p->cool_from <= p->cool_to;
}

/* No counter can exceed the number of updates. */
static bool is_sound(const rela_train_state *s)
{
    const rela_loop_state *l = &s->loop;
    return s->adam_count <= l->update && l->n_skipped <= l->update &&
           l->n_skipped_row <= l->n_skipped && l->best_update <= l->update &&
           l->n_stale <= l->update;
}

rela_status rela_train_state_compare(const rela_extras *e, const rela_train_options *o,
                                     rela_error *err)
{
    rela_buffer other = RELA_BUFFER_INIT;
    rela_status st = find_other(&other, e, o, decides, err);
    if (st == RELA_OK && other.len)
        st =
            rela_fail(err, RELA_STATE,
                      "the run was started with other settings: %s; use another directory to start "
                      "afresh",
                      other.data);
    rela_buffer_free(&other);
    return st;
}

int64_t rela_train_state_setting(const rela_extras *e, const char *key, int64_t otherwise)
{
    char value[SETTING_MAX];
    return find_setting(value, e, key) ? strtoll(value, NULL, 10) : otherwise;
}

bool rela_train_state_had_valid(const rela_extras *e)
{
    char value[SETTING_MAX];
    return find_setting(value, e, "valid-src");
}

/* The value of a setting as it stands in the checkpoint, cut to the room for it. */
static bool find_setting(char value[SETTING_MAX], const rela_extras *e, const char *key)
{
    const rela_section *section = rela_extras_get(e, RELA_SECTION_RECORD);
    json_t *root =
        section ? json_loadb(section->text, section->len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *at = json_string_value(json_object_get(root, "settings"));
    const size_t len = strlen(key);
    while (at && (strncmp(at, key, len) != 0 || at[len] != ':'))
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    if (at)
        rela_format_text(value, SETTING_MAX, "%.*s", (int)strcspn(at, "\n") - (int)len - 1,
                         at + len + 1);
    json_decref(root);
    return at != NULL;
}

rela_status rela_train_state_texts(rela_buffer *out, const rela_extras *e,
                                   const rela_train_options *o, rela_error *err)
{
    return find_other(out, e, o, names_text, err);
}

rela_status rela_train_state_check(const rela_extras *e, const rela_train_options *o,
                                   uint64_t update, uint64_t data_digest, rela_error *err)
{
    rela_train_state s;
    rela_buffer other = RELA_BUFFER_INIT;
    rela_status st = rela_train_state_restore(&s, e, err);
    st = st ? st : find_other(&other, e, o, decides, err);
    if (st == RELA_OK && other.len)
        st = rela_fail(err, RELA_FORMAT, "of another run: %s", other.data);
    else if (st == RELA_OK && s.data_digest != data_digest)
        st = rela_fail(err, RELA_FORMAT, "of another run: it was trained on other text");
    else if (st == RELA_OK && s.loop.update != update)
        st = rela_fail(err, RELA_FORMAT,
                       "holds update %" PRIu64 "; expected %" PRIu64 ", as its name", s.loop.update,
                       update);
    rela_buffer_free(&other);
    return st;
}

/* Appends "width was 64, now 128", after what is there. */
static rela_status put_change(rela_buffer *out, const char *old, rela_span line, rela_error *err)
{
    if (out->len && rela_buffer_append_text(out, "; ", err) != RELA_OK)
        return RELA_NOMEM;
    const char *colon = memchr(line.text, ':', line.len);
    const size_t key = colon ? (size_t)(colon - line.text) + 1 : line.len;
    const char *at = old;
    while (at && strncmp(at, line.text, key) != 0)
        at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    if (!colon)
        return rela_buffer_printf(out, err, "'%.*s' is new", (int)line.len, line.text);
    const size_t skip = key + (key < line.len && line.text[key] == ' ');
    if (!at)
        return rela_buffer_printf(out, err, "%.*s was not set, now %.*s", (int)key - 1, line.text,
                                  (int)(line.len - skip), line.text + skip);
    at += key + (at[key] == ' ');
    return rela_buffer_printf(out, err, "%.*s was %.*s, now %.*s", (int)key - 1, line.text,
                              (int)strcspn(at, "\n"), at, (int)(line.len - skip), line.text + skip);
}

/* Appends settings, old keys replaced by those of this version. */
static rela_status rename_keys(rela_buffer *out, const char *settings, rela_error *err)
{
    rela_status st = RELA_OK;
    const char *at = settings, *end = settings + strlen(settings);
    for (rela_span line; st == RELA_OK && rela_next_line(&line, &at, end);) {
        const char *colon = memchr(line.text, ':', line.len);
        const size_t old = colon ? (size_t)(colon - line.text) : 0;
        size_t len = old;
        const char *key = rela_option_present_name(line.text, &len);
        st = rela_buffer_printf(out, err, "%.*s%.*s\n", (int)len, key, (int)(line.len - old),
                                line.text + old);
    }
    return st;
}

/* Without rules to choose, a language is a line on the card: older versions wrote en and de. */
static bool is_free_language(rela_span line, const rela_train_options *o)
{
    static const char *const KEYS[] = { "src-lang", "tgt-lang" };
    const size_t n = strlen(KEYS[0]);
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++)
        if (line.len > n && memcmp(line.text, KEYS[i], n) == 0)
            return !o->tokenise && !o->normalise;
    return false;
}

/* Describes the settings that differ from the checkpoint, of those that matter; appends nothing if
 * there are none. */
static rela_status find_other(rela_buffer *out, const rela_extras *e, const rela_train_options *o,
                              bool (*matters)(rela_span line), rela_error *err)
{
    size_t n = 0;
    const rela_section *section = rela_extras_get(e, RELA_SECTION_RECORD);
    json_t *root = NULL;
    if (section &&
        rela_json_tree_read(&root, (rela_span){ section->text, section->len }, NULL) == RELA_NOMEM)
        return rela_fail(err, RELA_NOMEM, "no memory for the settings of the checkpoint");
    const char *stored = json_string_value(json_object_get(root, "settings"));
    rela_buffer before = RELA_BUFFER_INIT, now = RELA_BUFFER_INIT, usual = RELA_BUFFER_INIT;
    rela_status st = stored ? rename_keys(&before, stored, err)
                            : rela_fail(err, RELA_FORMAT, "the checkpoint has no settings");
    const char *old = before.data;
    if (st == RELA_OK)
        st = rela_train_options_dump(&now, o, err);
    if (st == RELA_OK)
        st = dump_preset(&usual, o, err);
    const char *at = now.data, *end = now.data ? now.data + now.len : NULL;
    for (rela_span line; st == RELA_OK && n < SHOWN_MAX && at && rela_next_line(&line, &at, end);) {
        /* Older versions behaved as the preset in settings that they did not have. */
        const char *known = has_key(old, line) ? old : usual.data;
        if (!matters(line) || has_line(known, line) || is_free_language(line, o))
            continue;
        st = put_change(out, known, line, err);
        n++;
    }
    at = old;
    end = old ? old + strlen(old) : NULL;
    for (rela_span line; st == RELA_OK && n < SHOWN_MAX && at && rela_next_line(&line, &at, end);) {
        if (!matters(line) || has_key(now.data, line) || is_free_language(line, o))
            continue;
        const char *colon = memchr(line.text, ':', line.len);
        const size_t key = colon ? (size_t)(colon - line.text) : line.len;
        const size_t skip = colon ? key + 1 : key;
        st = rela_buffer_printf(out, err, "%s%.*s was%.*s, now not set", n ? "; " : "", (int)key,
                                line.text, (int)(line.len - skip), line.text + skip);
        n++;
    }
    rela_buffer_free(&before);
    rela_buffer_free(&now);
    rela_buffer_free(&usual);
    json_decref(root);
    return st;
}

/* For checkpoints of a version that stored neither the number of terms of its sums nor the measure
 * of its best score. BLEU is never below 0, a log-likelihood never above it. With a mean over
 * sentences the latter had another scale, so that best is dropped. */
static void update_state(rela_loop_state *l, const rela_extras *e)
{
    const rela_section *record = rela_extras_get(e, RELA_SECTION_RECORD);
    l->part_loss = l->part_nll = 0;
    l->part_n_loss = l->part_tokens = 0;
    l->best_is_bleu = l->best >= 0;
    if (!l->best_is_bleu && record && strstr(record->text, "loss-mean: \\\"sentence\\\""))
        l->best_update = l->n_stale = 0;
}

/* All settings as the preset of o has them. */
static rela_status dump_preset(rela_buffer *out, const rela_train_options *o, rela_error *err)
{
    rela_train_own own;
    rela_train_options plain, all;
    rela_train_options_init(&plain, sizeof plain);
    plain.preset = o->preset;
    plain.train_src = o->train_src;
    plain.train_tgt = o->train_tgt;
    plain.out = o->out;
    const rela_status st = rela_train_resolve(&all, &own, &plain, err);
    all.hold_out = 0; /* as in versions without it */
    return st == RELA_OK ? rela_train_options_dump(out, &all, err) : st;
}

/* Whether one of the lines of a text begins with these bytes. */
static bool begins_line(const char *text, const char *bytes, size_t len)
{
    for (const char *at = text; at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, bytes, len) == 0)
            return true;
    return false;
}

/* Whether a text has a line with the key of this one ("key: value"). */
static bool has_key(const char *text, rela_span line)
{
    const char *colon = memchr(line.text, ':', line.len);
    return begins_line(text, line.text, colon ? (size_t)(colon - line.text) + 1 : line.len);
}

/* The value of a line as a number; older versions wrote more digits than it needs. */
static bool number_of(double *out, const char *at)
{
    char text[64];
    const size_t len = strcspn(at, "\n");
    if (len >= sizeof text)
        return false;
    memcpy(text, at, len);
    text[len] = '\0';
    return rela_parse_f64(out, text);
}

/* Whether a text has this line, or one with the same key and number. */
static bool has_line(const char *text, rela_span line)
{
    const char *colon = memchr(line.text, ':', line.len);
    double a = 0, b = 0;
    if (begins_line(text, line.text, line.len + 1) || !colon)
        return begins_line(text, line.text, line.len + 1);
    const size_t key = (size_t)(colon - line.text) + 2; /* and the blank */
    for (const char *at = text; at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, line.text, key) == 0)
            return number_of(&a, at + key) && number_of(&b, line.text + key) && a == b;
    return false;
}

static rela_status set_json(rela_extras *e, const char *name, const json_t *value, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st =
        rela_json_tree_append(&text, value, JSON_SORT_KEYS | JSON_REAL_PRECISION(17), err);
    st = st ? st : rela_extras_set(e, name, text.data, text.len, err);
    rela_buffer_free(&text);
    return st;
}

/* Whether another value of the setting would change the result. */
static bool decides(rela_span line)
{
    for (size_t i = 0; i < sizeof FREE_KEYS / sizeof FREE_KEYS[0]; i++) {
        const size_t n = strlen(FREE_KEYS[i]);
        if (line.len >= n && memcmp(line.text, FREE_KEYS[i], n) == 0)
            return false;
    }
    return true;
}

static bool names_text(rela_span line)
{
    static const char KEY[] = "train-";
    const size_t n = sizeof KEY - 1;
    return line.len > n + 3 && memcmp(line.text, KEY, n) == 0 &&
           (memcmp(line.text + n, "src", 3) == 0 || memcmp(line.text + n, "tgt", 3) == 0);
}

/* As text: JSON numbers lose bits above 2^53. */
/* JSON has no other numbers. */
static void put_finite(json_t **object, const char *key, double v)
{
    if (isfinite(v))
        rela_json_tree_put(object, key, json_real(v));
}

static json_t *number(uint64_t v)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, v);
    return json_string(text);
}

static bool get_u64(uint64_t *out, const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    char *end = NULL;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool get_f64(double *out, const json_t *root, const char *key)
{
    const json_t *v = json_object_get(root, key);
    *out = json_number_value(v);
    return json_is_number(v);
}
