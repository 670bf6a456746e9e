/* SPDX-License-Identifier: MIT */
/* src/view/inseq_form.h - attention in the form that inseq saves, for its
 * FeatureAttributionOutput.load. Models with one source only. One thread at a time per object. */
#ifndef RELA_VIEW_INSEQ_FORM_H
#define RELA_VIEW_INSEQ_FORM_H

#include "view/document.h"

rela_status rela_inseq_begin(rela_buffer *out, rela_error *err);
/* One sequence; rows: those of each stack of the model. */
rela_status rela_inseq_add(rela_buffer *out, const rela_document_model *m,
                           const rela_document_output *o, const rela_document_rows *rows,
                           rela_error *err);
rela_status rela_inseq_end(rela_buffer *out, const char *model, rela_error *err);

#endif
