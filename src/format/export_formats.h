/* SPDX-License-Identifier: MIT */
/* src/format/export_formats.h - other formats of a model than its own file: see docs/formats.md.
 *
 * Both are directories, whose files are replaced together (rela_file_set), the weights last, so a
 * directory with weights is complete. What an earlier conversion wrote and this one does not have
 * is removed. Only files from a conversion are replaced: RELA_STATE with the name of another. */
#ifndef RELA_FORMAT_EXPORT_FORMATS_H
#define RELA_FORMAT_EXPORT_FORMATS_H

#include "format/checkpoint.h"

/* Plain weights and the texts beside them. */
rela_status rela_plain_write(const char *dir, const rela_net *net, const rela_extras *extras,
                             rela_error *err);
/* path: the directory, or the file of weights in it. Fills net and extras, which must be empty; as
 * strict as loading a model. */
rela_status rela_plain_read(rela_net *net, rela_extras *extras, const char *path,
                            const rela_checkpoint_options *options, rela_error *err);

/* RELA_ARG if out, a file or directory to write, is or contains a file of the plain weights at
 * path. */
rela_status rela_plain_check_apart(const char *out, const char *path, rela_error *err);

/* A model directory of CTranslate2. RELA_UNSUP if the format cannot express the model. */
rela_status rela_ctranslate2_write(const char *dir, const rela_net *net, const rela_extras *extras,
                                   rela_error *err);

/* Writes dir/name as part of a set. */
rela_status rela_form_file(rela_file_set *set, const char *dir, const char *name, const char *text,
                           size_t len, rela_error *err);

#endif
