/* SPDX-License-Identifier: MIT */
/* src/format/run_models.c - rela_model_find of rela/model.h: the model to use of a training run. */
#include "rela/model.h"

#include "base/file.h"
#include "base/mem.h"
#include "format/checkpoint.h"
#include "format/checkpoint_keys.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The newest checkpoint in a folder whose files are called PREFIX and a number. */
typedef struct newest {
    const char *prefix;
    char name[64]; /* empty: none */
    uint64_t update;
} newest;

static rela_status choose(rela_buffer *out, const char *run, rela_error *err);
static rela_status find_newest(newest *n, const char *run, rela_error *err);
static bool is_usable(const char *path, uint64_t *update);

rela_status rela_model_find(rela_buffer *out, const char *path, rela_error *err)
{
    rela_buffer_clear(out);
    if (!rela_dir_exists(path))
        return rela_buffer_append_text(out, path, err);
    const rela_status st = choose(out, path, err);
    return st || out->len ? st : rela_fail(err, RELA_IO, "%s is a directory, not a model", path);
}

static rela_status put_path(rela_buffer *out, const char *run, const char *name, rela_error *err)
{
    const char *slash = *run && run[strlen(run) - 1] == '/' ? "" : "/";
    rela_buffer_clear(out);
    return rela_buffer_printf(out, err, "%s%s%s", run, slash, name);
}

/* The result, unless the run has gone on since; then the best by validation, or the newest
 * checkpoint. The result may be an earlier checkpoint: then it was still saved after all others.
 * Files that cannot be read are passed over. */
static rela_status choose(rela_buffer *out, const char *run, rela_error *err)
{
    newest last = { .prefix = "" };
    rela_buffer checkpoint = RELA_BUFFER_INIT;
    uint64_t update = 0;
    rela_status st = find_newest(&last, run, err);
    st = st ? st : put_path(&checkpoint, run, last.name, err);
    st = st ? st : put_path(out, run, "model.rela", err);
    const bool result = st == RELA_OK && is_usable(out->data, &update);
    const bool current = result && (!*last.name || update >= last.update ||
                                    !rela_file_older(out->data, checkpoint.data));
    if (st == RELA_OK && !current)
        st = put_path(out, run, "best.rela", err);
    if (st == RELA_OK && !current && !is_usable(out->data, &update))
        st = put_path(out, run, last.name, err);
    if (st == RELA_OK && !current && !is_usable(out->data, &update))
        st = put_path(out, run, "model.rela", err);
    if (st == RELA_OK && !is_usable(out->data, &update))
        rela_buffer_clear(out);
    rela_buffer_free(&checkpoint);
    return st;
}

static rela_status see_name(void *ctx, const char *name, rela_error *err)
{
    newest *n = ctx;
    const size_t skip = strlen(n->prefix);
    (void)err;
    if (strncmp(name, n->prefix, skip) != 0)
        return RELA_OK;
    const size_t digits = strspn(name + skip, "0123456789");
    const uint64_t update = strtoull(name + skip, NULL, 10);
    if (digits == 0 || digits > 18 || strcmp(name + skip + digits, ".rela") != 0 ||
        update <= n->update)
        return RELA_OK;
    n->update = update;
    rela_format_text(n->name, sizeof n->name, "%s", name);
    return RELA_OK;
}

/* Of either kind: names are relative to the run. */
static rela_status find_newest(newest *n, const char *run, rela_error *err)
{
    newest regular = { .prefix = "" }, interim = { .prefix = "interim-" };
    rela_buffer path = RELA_BUFFER_INIT;
    rela_status st = put_path(&path, run, "checkpoints", err);
    if (st == RELA_OK && rela_dir_exists(path.data))
        st = rela_dir_list(path.data, see_name, &regular, err);
    st = st ? st : rela_dir_list(run, see_name, &interim, err);
    rela_buffer_free(&path);
    *n = interim.update > regular.update ? interim : regular;
    if (n->update && n->update == regular.update)
        rela_format_text(n->name, sizeof n->name, "checkpoints/%s", regular.name);
    return st;
}

/* Whether it is a model whose header can be read. *update: the last one that it has seen;
 * UINT64_MAX if it does not say. */
static bool is_usable(const char *path, uint64_t *update)
{
    rela_checkpoint *c = NULL;
    const bool good = rela_file_exists(path) && !rela_dir_exists(path) &&
                      rela_checkpoint_open(&c, path, NULL, NULL) == RELA_OK;
    const rela_metadata *record = good ? rela_header_text(&c->header, RELA_SECTION_RECORD) : NULL;
    json_t *root =
        record ? json_loadb(record->value.text, record->value.len, JSON_REJECT_DUPLICATES, NULL)
               : NULL;
    const char *text = json_string_value(json_object_get(root, "update"));
    *update = text ? strtoull(text, NULL, 10) : UINT64_MAX;
    json_decref(root);
    rela_checkpoint_close(c);
    return good;
}
