/* SPDX-License-Identifier: MIT */
/* cli/config_file.c - options from a YAML file: the keys are the long names of the options. */
#include "cli.h"

#include "base/map.h"
#include "base/mem.h"

#include <string.h>
#include <yaml.h>

enum { CONFIG_MAX = 4 << 20 };

typedef struct walk {
    yaml_parser_t parser;
    yaml_event_t event;
    const char *path;
    rela_map *seen; /* keys */
} walk;

static rela_status next(walk *w, rela_error *err);
static rela_status read_map(walk *w, rela_option_state *state, rela_error *err);
static rela_status read_key(walk *w, rela_option_state *state, rela_error *err);
static rela_status read_end(walk *w, rela_error *err);
static rela_status read_value(walk *w, rela_option_state *state, const char *key, rela_error *err);
static rela_status set(const walk *w, rela_option_state *state, const char *key, rela_error *err);
static rela_status refuse(const walk *w, const char *what, rela_error *err);

rela_status rela_cli_config(rela_option_state *state, const char *path, rela_error *err)
{
    walk w = { .path = path };
    char *text = NULL;
    size_t len = 0;
    rela_status st = rela_file_read(&text, &len, path, CONFIG_MAX, err);
    if (st != RELA_OK)
        return st;
    w.seen = rela_map_create(0);
    if (!w.seen || !yaml_parser_initialize(&w.parser)) {
        rela_map_destroy(w.seen);
        rela_mem_free(text);
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    }
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, len);
    st = read_map(&w, state, err);
    yaml_event_delete(&w.event);
    yaml_parser_delete(&w.parser);
    rela_map_destroy(w.seen);
    rela_mem_free(text);
    return st;
}

static rela_status next(walk *w, rela_error *err)
{
    yaml_event_delete(&w->event);
    if (yaml_parser_parse(&w->parser, &w->event))
        return RELA_OK;
    memset(&w->event, 0, sizeof w->event);
    if (w->parser.error == YAML_MEMORY_ERROR)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", w->path);
    return rela_fail(err, RELA_ARG, "%s: line %zu: %s", w->path, w->parser.problem_mark.line + 1,
                     w->parser.problem ? w->parser.problem : "not YAML");
}

static rela_status read_map(walk *w, rela_option_state *state, rela_error *err)
{
    rela_status st = RELA_OK;
    do /* stream and document starts come first */
        st = next(w, err);
    while (st == RELA_OK && (w->event.type == YAML_STREAM_START_EVENT ||
                             w->event.type == YAML_DOCUMENT_START_EVENT));
    if (st != RELA_OK || w->event.type == YAML_STREAM_END_EVENT)
        return st; /* an empty file sets nothing */
    if (w->event.type != YAML_MAPPING_START_EVENT)
        return refuse(w, "expected 'key: value' lines", err);
    while ((st = next(w, err)) == RELA_OK && w->event.type != YAML_MAPPING_END_EVENT)
        if ((st = read_key(w, state, err)) != RELA_OK)
            return st;
    return st == RELA_OK ? read_end(w, err) : st;
}

static rela_status read_key(walk *w, rela_option_state *state, rela_error *err)
{
    if (w->event.type != YAML_SCALAR_EVENT)
        return refuse(w, "expected a key", err);
    const char *key = (const char *)w->event.data.scalar.value;
    const size_t len = w->event.data.scalar.length;
    if (strlen(key) != len)
        return refuse(w, "NUL byte in a key", err);
    if (rela_map_find(w->seen, key, len) != RELA_MAP_NONE)
        return rela_fail(err, RELA_ARG, "%s: line %zu: key '%s' is given twice", w->path,
                         w->event.start_mark.line + 1, key);
    const uint32_t number = rela_map_add(w->seen, key, len);
    if (number == RELA_MAP_NONE)
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", w->path);
    return read_value(w, state, rela_map_key(w->seen, number).text, err);
}

/* Nothing may follow: a second document would be silently ignored. */
static rela_status read_end(walk *w, rela_error *err)
{
    rela_status st = next(w, err);
    if (st == RELA_OK && w->event.type == YAML_DOCUMENT_END_EVENT)
        st = next(w, err);
    if (st == RELA_OK && w->event.type != YAML_STREAM_END_EVENT)
        return refuse(w, "expected the end of the file", err);
    return st;
}

static rela_status read_value(walk *w, rela_option_state *state, const char *key, rela_error *err)
{
    rela_status st = next(w, err);
    if (st != RELA_OK)
        return st;
    if (w->event.type == YAML_SCALAR_EVENT)
        return set(w, state, key, err);
    if (w->event.type != YAML_SEQUENCE_START_EVENT)
        return refuse(w, "expected a value or a list", err);
    if (!rela_options_is_list(state, key))
        return refuse(w, "the key does not take a list", err);
    while ((st = next(w, err)) == RELA_OK && w->event.type != YAML_SEQUENCE_END_EVENT) {
        if (w->event.type != YAML_SCALAR_EVENT)
            return refuse(w, "expected a list of plain values", err);
        if ((st = set(w, state, key, err)) != RELA_OK)
            return st;
    }
    return st;
}

static rela_status set(const walk *w, rela_option_state *state, const char *key, rela_error *err)
{
    const char *value = (const char *)w->event.data.scalar.value;
    if (strlen(value) != w->event.data.scalar.length)
        return refuse(w, "NUL byte in a value", err);
    const rela_status st = rela_options_set(state, key, value, err);
    if (st == RELA_OK)
        return st;
    const size_t first = w->event.start_mark.line + 1;
    if (w->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && w->event.end_mark.line >= first)
        return rela_fail(err, RELA_ARG,
                         "%s: line %zu: indented, so it continues the value of line %zu", w->path,
                         first + 1, first);
    char place[32];
    (void)snprintf(place, sizeof place, "line %zu", w->event.start_mark.line + 1);
    (void)rela_fail_in(err, st, place);
    return rela_fail_in(err, st, w->path);
}

static rela_status refuse(const walk *w, const char *what, rela_error *err)
{
    return rela_fail(err, RELA_ARG, "%s: line %zu: %s", w->path, w->event.start_mark.line + 1,
                     what);
}
