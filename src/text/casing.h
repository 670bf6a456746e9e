/* SPDX-License-Identifier: MIT */
/* src/text/casing.h - rules shared by learning and applying true case. */
#ifndef RELA_TEXT_CASING_H
#define RELA_TEXT_CASING_H

#include "base/str.h"

/* A token after which a sentence starts. */
bool rela_casing_ends_sentence(rela_span token);

/* A token, like an opening quote, that may precede the first word of a sentence. */
bool rela_casing_opens_sentence(rela_span token);

/* The end of the markup at the pointer at ("<", not a blank, anything, ">"); NULL if none. */
const char *rela_casing_markup(const char *at, const char *end);

/* Whether there is markup anywhere in the token. */
bool rela_casing_has_markup(rela_span token);

#endif
