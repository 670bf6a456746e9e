/* SPDX-License-Identifier: MIT */
/* src/train/text_check.h - finds texts that cannot be trained on before anything is learned. */
#ifndef RELA_TRAIN_TEXT_CHECK_H
#define RELA_TRAIN_TEXT_CHECK_H

#include "rela/train.h"

/* All files of training and validation text are regular, readable, not empty, nearly all UTF-8, and
 * those of the same text have the same number of lines. o is resolved. */
rela_status rela_train_check_texts(const rela_train_options *o, rela_error *err);

#endif
