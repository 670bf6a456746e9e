/* SPDX-License-Identifier: MIT */
/* src/format/card.h - the model card: what a model is for and where it comes from, for human
 * readers.
 *
 * Lines come from the training record: languages, data, description, licence and date from its
 * settings, the score from its best validation. Entries of "card" in the record take precedence. */
#ifndef RELA_FORMAT_CARD_H
#define RELA_FORMAT_CARD_H

#include "base/str.h"

/* Appends lines of a table, then the training settings; the record verbatim if it has none. */
rela_status rela_card_table(rela_buffer *out, rela_span record, rela_error *err);
/* Appends a JSON object. */
rela_status rela_card_json(rela_buffer *out, rela_span record, rela_error *err);

/* What a report says of a model; long texts are cut, what the card does not have is empty. */
typedef struct rela_card_summary {
    char description[256], source[16], target[16]; /* languages */
    char score[128], test_score[128];
} rela_card_summary;

void rela_card_summarise(rela_card_summary *out, rela_span record);

#endif
