/* SPDX-License-Identifier: MIT */
/* src/text/casing.h - what learning and applying true case agree on. */
#ifndef RELA_TEXT_CASING_H
#define RELA_TEXT_CASING_H

#include "base/str.h"

/* A token after which a sentence starts. */
bool rela_casing_ends_sentence(rela_span token);

/* A token before the first word of a sentence that is not one itself, like an opening quote. */
bool rela_casing_opens_sentence(rela_span token);

/* End of the markup that starts at at ("<", not a blank, anything, ">"); NULL if there is none. */
const char *rela_casing_markup(const char *at, const char *end);

/* Whether there is markup anywhere in the token. */
bool rela_casing_has_markup(rela_span token);

#endif
