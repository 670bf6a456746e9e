/* SPDX-License-Identifier: MIT */
/* src/study/tree.c - reads YAML into trees, for tree.h. */
#include "study/tree.h"

#include "base/file.h"
#include "base/mem.h"
#include "study/arena_text.h"
#include "study/tree_values.h"

#include <string.h>
#include <yaml.h>

enum { STUDY_FILE_MAX = 4 << 20, TREE_DEPTH = 16 };

typedef struct walk {
    yaml_parser_t parser;
    yaml_event_t event;
    rela_arena *arena;
    const char *path;
} walk;

static rela_status next(walk *w, rela_error *err);
static rela_status read_document(rela_tree **out, walk *w, rela_error *err);
static rela_status read_value(rela_tree **out, walk *w, int depth, rela_error *err);
static rela_status read_scalar(rela_tree *t, const walk *w, rela_error *err);
static rela_status read_items(rela_tree *t, walk *w, int depth, rela_error *err);
static rela_status read_key(rela_tree *t, const walk *w, rela_error *err);
static rela_status make_room(rela_tree *t, const walk *w, size_t *room, rela_error *err);
static rela_status refuse(const walk *w, const char *what, rela_error *err);
static rela_status no_memory(const walk *w, rela_error *err);

rela_status rela_tree_read(const rela_tree **out, rela_arena *arena, const char *path,
                           rela_tree_sets sets, rela_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *out = NULL;
    rela_status st = rela_file_read(&text, &len, path, STUDY_FILE_MAX, err);
    st = st ? st : rela_tree_parse(out, arena, text, len, path, sets, err);
    rela_mem_free(text);
    return st;
}

rela_status rela_tree_parse(const rela_tree **out, rela_arena *arena, const char *text, size_t len,
                            const char *path, rela_tree_sets sets, rela_error *err)
{
    walk w = { .arena = arena };
    rela_tree *tree = NULL;
    *out = NULL;
    if (!(w.path = rela_arena_copy(arena, path, strlen(path))) ||
        !yaml_parser_initialize(&w.parser))
        return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", path);
    yaml_parser_set_input_string(&w.parser, (const unsigned char *)text, len);
    rela_status st = read_document(&tree, &w, err);
    yaml_event_delete(&w.event);
    yaml_parser_delete(&w.parser);
    st = st ? st : rela_tree_set_values(tree, arena, sets, err);
    if (st == RELA_OK)
        *out = tree;
    return st;
}

static rela_status next(walk *w, rela_error *err)
{
    yaml_event_delete(&w->event);
    if (yaml_parser_parse(&w->parser, &w->event))
        return RELA_OK;
    memset(&w->event, 0, sizeof w->event);
    if (w->parser.error == YAML_MEMORY_ERROR)
        return no_memory(w, err);
    return rela_fail(err, RELA_FORMAT, "%s: line %zu: %s", w->path, w->parser.problem_mark.line + 1,
                     w->parser.problem ? w->parser.problem : "not YAML");
}

/* One document, which is a map; nothing may follow, as it would be silently ignored. */
static rela_status read_document(rela_tree **out, walk *w, rela_error *err)
{
    rela_status st = RELA_OK;
    do
        st = next(w, err);
    while (st == RELA_OK && (w->event.type == YAML_STREAM_START_EVENT ||
                             w->event.type == YAML_DOCUMENT_START_EVENT));
    if (st == RELA_OK && w->event.type != YAML_MAPPING_START_EVENT)
        return refuse(w, "expected 'key: value' lines", err);
    st = st ? st : read_value(out, w, 0, err);
    st = st ? st : next(w, err);
    if (st == RELA_OK && w->event.type == YAML_DOCUMENT_END_EVENT)
        st = next(w, err);
    if (st == RELA_OK && w->event.type != YAML_STREAM_END_EVENT)
        return refuse(w, "expected the end of the file", err);
    return st;
}

/* The value that begins with the current event. */
static rela_status read_value(rela_tree **out, walk *w, int depth, rela_error *err)
{
    rela_tree *t = rela_arena_array(w->arena, 1, sizeof *t);
    if (!t)
        return no_memory(w, err);
    *out = t;
    *t = (rela_tree){ .text = "", .line = w->event.start_mark.line + 1, .path = w->path };
    const yaml_event_type_t type = w->event.type;
    if (depth > TREE_DEPTH)
        return refuse(w, "nested too deeply", err);
    if (type == YAML_ALIAS_EVENT || (type == YAML_SCALAR_EVENT && w->event.data.scalar.anchor) ||
        (type == YAML_SEQUENCE_START_EVENT && w->event.data.sequence_start.anchor) ||
        (type == YAML_MAPPING_START_EVENT && w->event.data.mapping_start.anchor))
        return refuse(w, "anchors and aliases are not supported; use ${name}", err);
    if (type == YAML_SCALAR_EVENT)
        return read_scalar(t, w, err);
    t->kind = type == YAML_SEQUENCE_START_EVENT ? RELA_TREE_LIST : RELA_TREE_MAP;
    return read_items(t, w, depth, err);
}

static rela_status read_scalar(rela_tree *t, const walk *w, rela_error *err)
{
    const char *text = (const char *)w->event.data.scalar.value;
    const size_t len = w->event.data.scalar.length;
    if (strlen(text) != len)
        return refuse(w, "NUL byte in a value", err);
    if (w->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE && w->event.end_mark.line >= t->line)
        return rela_fail(err, RELA_FORMAT,
                         "%s: line %zu: indented, so it continues the value of line %zu", w->path,
                         t->line + 1, t->line);
    t->kind = RELA_TREE_TEXT;
    t->text = rela_arena_copy(w->arena, text, len);
    return t->text ? RELA_OK : no_memory(w, err);
}

static rela_status read_items(rela_tree *t, walk *w, int depth, rela_error *err)
{
    const yaml_event_type_t end =
        t->kind == RELA_TREE_LIST ? YAML_SEQUENCE_END_EVENT : YAML_MAPPING_END_EVENT;
    size_t room = 0;
    rela_status st = RELA_OK;
    while ((st = next(w, err)) == RELA_OK && w->event.type != end) {
        rela_tree *item = NULL;
        st = make_room(t, w, &room, err);
        if (st == RELA_OK && t->kind == RELA_TREE_MAP) {
            st = read_key(t, w, err);
            st = st ? st : next(w, err);
        }
        st = st ? st : read_value(&item, w, depth + 1, err);
        if (st != RELA_OK)
            return st;
        t->items[t->n++] = item;
    }
    return st;
}

static rela_status read_key(rela_tree *t, const walk *w, rela_error *err)
{
    if (w->event.type != YAML_SCALAR_EVENT)
        return refuse(w, "expected a key", err);
    const char *key = (const char *)w->event.data.scalar.value;
    const size_t len = w->event.data.scalar.length;
    if (strlen(key) != len)
        return refuse(w, "NUL byte in a key", err);
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->keys[i], key) == 0)
            return rela_fail(err, RELA_FORMAT, "%s: line %zu: key '%s' is given twice", w->path,
                             w->event.start_mark.line + 1, key);
    t->keys[t->n] = rela_arena_copy(w->arena, key, len);
    t->key_lines[t->n] = w->event.start_mark.line + 1;
    return t->keys[t->n] ? RELA_OK : no_memory(w, err);
}

/* The arrays double; the old ones stay in the arena. */
static rela_status make_room(rela_tree *t, const walk *w, size_t *room, rela_error *err)
{
    if (t->n < *room)
        return RELA_OK;
    enum { FIRST_ROOM = 8 };
    const size_t more = *room ? *room * 2 : FIRST_ROOM;
    const rela_tree **items = rela_arena_array(w->arena, more, sizeof *items);
    const char **keys = rela_arena_array(w->arena, more, sizeof *keys);
    size_t *lines = rela_arena_array(w->arena, more, sizeof *lines);
    if (!items || !keys || !lines)
        return no_memory(w, err);
    if (t->n) {
        memcpy(items, t->items, t->n * sizeof *items);
        memcpy(keys, t->keys, t->n * sizeof *keys);
        memcpy(lines, t->key_lines, t->n * sizeof *lines);
    }
    t->items = items;
    t->keys = keys;
    t->key_lines = lines;
    *room = more;
    return RELA_OK;
}

static rela_status refuse(const walk *w, const char *what, rela_error *err)
{
    return rela_fail(err, RELA_FORMAT, "%s: line %zu: %s", w->path, w->event.start_mark.line + 1,
                     what);
}

static rela_status no_memory(const walk *w, rela_error *err)
{
    return rela_fail(err, RELA_NOMEM, "%s: no memory to read it", w->path);
}
