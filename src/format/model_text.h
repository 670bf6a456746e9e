/* SPDX-License-Identifier: MIT */
/* src/format/model_text.h - the text pipeline inside a model file. */
#ifndef RELA_FORMAT_MODEL_TEXT_H
#define RELA_FORMAT_MODEL_TEXT_H

#include "format/checkpoint.h"
#include "text/pipeline.h"

rela_status rela_pipeline_store(rela_extras *e, const rela_pipeline *p, rela_error *err);
/* RELA_FORMAT if the file has none or it is inconsistent. */
rela_status rela_pipeline_restore(rela_pipeline **out, const rela_extras *e, rela_error *err);

#endif
