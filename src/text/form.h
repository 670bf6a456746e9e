/* SPDX-License-Identifier: MIT */
/* src/text/form.h - Unicode normalisation forms in linear time for any text. */
#ifndef RELA_TEXT_FORM_H
#define RELA_TEXT_FORM_H

#include "base/str.h"

/* Appends text (valid UTF-8) in NFC, or NFKC if compatible is set. */
rela_status rela_text_form(rela_buffer *out, rela_span text, bool compatible, rela_error *err);

#endif
