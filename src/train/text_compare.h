/* SPDX-License-Identifier: MIT */
/* src/train/text_compare.h - notices that the texts of a run are not what they should be: the same
 * text on both sides, sides of the validation text that are swapped or in another language,
 * validation text that is training text too.
 *
 * Words tell languages apart: a side is compared with the words of the first lines of the
 * training text. */
#ifndef RELA_TRAIN_TEXT_COMPARE_H
#define RELA_TRAIN_TEXT_COMPARE_H

#include "base/str.h"
#include "rela/train.h"

/* Appends a line for each thing noticed. The texts have passed rela_train_check_texts. Of several
 * sources only the first is looked at. */
rela_status rela_train_compare_texts(rela_buffer *out, const rela_train_options *o,
                                     rela_error *err);

#endif
