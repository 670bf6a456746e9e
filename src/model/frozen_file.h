/* SPDX-License-Identifier: MIT */
/* src/model/frozen_file.h - from a model file to a net that is ready to decode. */
#ifndef RELA_MODEL_FROZEN_FILE_H
#define RELA_MODEL_FROZEN_FILE_H

#include "model/checkpoint.h"
#include "model/frozen.h"

/* bytes: matrices in 8 bits; those of a file that has them so are read into their places, and no
 * more memory than that is ever taken. Fills f, net and extras (which must be empty); net belongs
 * to f, see frozen.h. On failure all stay empty. */
rela_status rela_frozen_load(rela_frozen *f, rela_net *net, rela_extras *extras, const char *path,
                             bool bytes, const rela_checkpoint_options *options, rela_error *err);

#endif
