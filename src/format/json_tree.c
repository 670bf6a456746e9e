/* SPDX-License-Identifier: MIT */
/* src/format/json_tree.c - see json_tree.h. */
#include "format/json_tree.h"

#include "base/json.h"
#include "base/mem.h"

typedef struct writing {
    rela_buffer *out;
    rela_status status;
    rela_error *err;
} writing;

static bool is_json(rela_span text);
static int append(const char *text, size_t len, void *ctx);

rela_status rela_json_tree_read(json_t **out, rela_span text, rela_error *err)
{
    json_error_t why = { .line = 0 }; /* jansson does not set the code in each case */
    *out = json_loadb(text.text, text.len, JSON_REJECT_DUPLICATES, &why);
    if (*out)
        return RELA_OK;
    const enum json_error_code code = json_error_code(&why);
    const bool known = code == json_error_duplicate_key || code == json_error_numeric_overflow ||
                       code == json_error_stack_overflow || code == json_error_null_character ||
                       code == json_error_null_byte_in_key || code == json_error_invalid_utf8;
    if (!known && is_json(text))
        return rela_fail(err, RELA_NOMEM, "no memory to read %zu bytes of JSON", text.len);
    return rela_fail(err, RELA_FORMAT, "%s", why.text);
}

void rela_json_tree_put(json_t **object, const char *key, json_t *value)
{
    if (json_object_set_new(*object, key, value) == 0)
        return;
    json_decref(*object);
    *object = NULL;
}

rela_status rela_json_tree_append(rela_buffer *out, const json_t *tree, size_t flags,
                                  rela_error *err)
{
    writing w = { out, RELA_OK, err };
    const bool all = tree && json_dump_callback(tree, append, &w, flags) == 0;
    if (w.status == RELA_OK && !all)
        w.status = rela_fail(err, RELA_NOMEM, "no memory to write JSON");
    return w.status;
}

/* jansson may go on after a failure. */
static int append(const char *text, size_t len, void *ctx)
{
    writing *w = ctx;
    if (w->status == RELA_OK)
        w->status = rela_buffer_append(w->out, text, len, w->err);
    return w->status == RELA_OK ? 0 : -1;
}

/* Our own scanner needs no memory but a copy, as it works in place. */
static bool is_json(rela_span text)
{
    rela_json j;
    char *copy = rela_str_copy(text.text, text.len);
    rela_status st = copy ? rela_json_start(&j, copy, text.len, NULL) : RELA_OK;
    st = st || !copy ? st : rela_json_skip(&j, NULL);
    st = st || !copy ? st : rela_json_end(&j, NULL);
    rela_mem_free(copy);
    return st == RELA_OK; /* also without memory for the copy */
}
