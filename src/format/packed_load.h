/* SPDX-License-Identifier: MIT */
/* src/format/packed_load.h - a model file loaded for decoding. */
#ifndef RELA_FORMAT_PACKED_LOAD_H
#define RELA_FORMAT_PACKED_LOAD_H

#include "format/checkpoint.h"
#include "model/packed.h"

/* Loads a model for decoding. A file with int8 weights is used unchanged, whether int8 is
 * asked for or not; one to be mapped stays open. An alignment model has no packed weights, as it
 * cannot decode. On failure all is empty. */
rela_status rela_packed_weights_load(rela_packed_weights *w, rela_net *net, rela_extras *extras,
                                     const char *path, bool int8,
                                     const rela_checkpoint_options *options, rela_error *err);

#endif
