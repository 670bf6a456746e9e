/* SPDX-License-Identifier: MIT */
/* src/train/train_config.c - turns training options into texts, model, loop and step options. See
 * train_options.h. */
#include "train/train_options.h"

#include <string.h>

enum { HOLD_OUT = 500 }; /* lines: enough to tell good models from bad ones, and cheap */

static rela_status take_attention(rela_config *c, rela_attn_type t, const char *text,
                                  const rela_train_options *o, rela_error *err);

size_t rela_train_sources(const rela_train_options *o)
{
    const rela_train_files first = rela_train_text_at(o, 0);
    size_t n = 1;
    while (n < RELA_SOURCES_MAX && first.src[n])
        n++;
    return n;
}

rela_train_files rela_train_text_at(const rela_train_options *o, size_t i)
{
    if (i == 0)
        return (rela_train_files){ { o->train_src, o->train_src_2, o->train_src_3, o->train_src_4 },
                                   o->train_tgt };
    rela_train_files found = { .tgt = o->more[i - 1].tgt };
    for (size_t k = 0, n = rela_train_sources(o); k < n; k++)
        found.src[k] = o->more[i - 1].src[k];
    return found;
}

rela_train_files rela_train_valid_text(const rela_train_options *o)
{
    return (rela_train_files){ { o->valid_src, o->valid_src_2, o->valid_src_3, o->valid_src_4 },
                               o->valid_tgt };
}

int64_t rela_train_hold_out(const rela_train_options *o)
{
    const bool none = o->valid_src || strcmp(o->preset, RELA_PRESET_ALIGN) == 0;
    return o->hold_out >= 0 ? o->hold_out : none ? 0 : HOLD_OUT;
}

rela_status rela_train_config(rela_config *c, const rela_train_options *o, rela_error *err)
{
    size_t norm = 0, tie = 0, order = 0;
    rela_status st = rela_settings_choose(&norm, "norm", o->norm, err);
    st = st ? st : rela_settings_choose(&tie, "tie", o->tie, err);
    if (o->cross) /* default: the first */
        st = st ? st : rela_settings_choose(&order, "cross", o->cross, err);
    const bool align = strcmp(o->preset, RELA_PRESET_ALIGN) == 0;
    if (st == RELA_OK && align && (o->label_smoothing > 0 || o->valid_beam > 0))
        st = rela_fail(err, RELA_ARG,
                       "a model for alignment has no label smoothing, and no BLEU to validate by");
    if (st == RELA_OK && o->r_drop > 0 && align)
        st = rela_fail(err, RELA_ARG, "R-Drop is for models that translate");
    if (st == RELA_OK && o->r_drop > 0 && o->dropout <= 0 && o->dropout_embed <= 0 &&
        o->dropout_attention <= 0 && o->dropout_ffn <= 0)
        st = rela_fail(err, RELA_ARG, "R-Drop compares two samples of dropout, but there is none");
    *c = (rela_config){ .task = align ? RELA_TASK_ALIGN : RELA_TASK_TRANSLATE,
                        .d = (size_t)o->width,
                        .ffn = (size_t)o->ffn,
                        .heads = (size_t)o->heads,
                        .enc_layers = (size_t)o->enc_layers,
                        .dec_layers = (size_t)o->dec_layers,
                        .sources = rela_train_sources(o),
                        .share_encoders = o->share_encoders,
                        .serial_cross = order == 1,
                        .max_len = (size_t)o->max_length,
                        .pre_norm = norm == 1,
                        .norm_per_head = o->norm_per_head,
                        .tie = (rela_tie)tie,
                        .eps = o->ln_epsilon,
                        .attn_eps = o->attn_epsilon,
                        .drop_embed = o->dropout_embed,
                        .drop_residual = o->dropout,
                        .drop_attn = o->dropout_attention,
                        .drop_ffn = o->dropout_ffn };
    const char *const kinds[] = { o->attention_enc, o->attention_dec, o->attention_cross };
    for (int i = 0; i < RELA_ATTN_N_TYPES && st == RELA_OK; i++)
        st = take_attention(c, (rela_attn_type)i, kinds[i] ? kinds[i] : o->attention, o, err);
    return st;
}

rela_status rela_train_loop_options(rela_loop_options *l, const rela_train_options *o,
                                    rela_error *err)
{
    size_t schedule = 0;
    *l = (rela_loop_options){ .updates = (uint64_t)o->updates,
                              .epochs = (uint64_t)o->epochs,
                              .report_every = (uint64_t)o->report_every,
                              .valid_every = (uint64_t)o->valid_every,
                              .save_every = (uint64_t)o->save_every,
                              .patience = (uint64_t)o->patience,
                              .max_skipped = (uint64_t)o->max_skipped,
                              .by_bleu = strcmp(o->best_by, "bleu") == 0,
                              .max_time = (double)o->max_time,
                              .schedule = { .rate = o->lr,
                                            .start = o->lr_start,
                                            .least = o->lr_least,
                                            .warmup = (uint64_t)o->warmup,
                                            .updates = (uint64_t)o->updates,
                                            .cool = (uint64_t)o->cool_down,
                                            .d = (size_t)o->width } };
    const rela_status st = rela_settings_choose(&schedule, "schedule", o->schedule, err);
    l->schedule.kind = (rela_schedule_kind)schedule;
    return st;
}

rela_update_options rela_train_step_options(const rela_train_options *o)
{
    return (rela_update_options){ .n_threads = (int)o->threads,
                                  .slots = (size_t)o->gradient_slots,
                                  .groups = (size_t)o->gradient_groups,
                                  .micro_batch_rows = (size_t)o->micro_batch,
                                  .beta1 = o->beta1,
                                  .beta2 = o->beta2,
                                  .epsilon = o->adam_epsilon,
                                  .weight_decay = o->weight_decay,
                                  .clip = o->clip,
                                  .smooth = o->label_smoothing,
                                  .r_drop = o->r_drop,
                                  .sentence_mean = strcmp(o->loss_mean, "sentence") == 0,
                                  .seed = (uint64_t)o->seed,
                                  .stop = rela_train_stop(o) };
}

/* Options of older versions set the numbers of attention kinds for all places; the specification
 * takes precedence. */
static rela_status take_attention(rela_config *c, rela_attn_type t, const char *text,
                                  const rela_train_options *o, rela_error *err)
{
    const struct {
        const char *alias;
        double value;
    } old[] = { { "slope", o->attn_slope },
                { "alpha", o->attn_alpha },
                { "fuse", o->attn_fuse },
                { "top", (double)o->attn_top },
                { "window", (double)o->attn_window },
                { "stride", (double)o->attn_stride } };
    rela_status st = rela_attn_spec_parse(&c->attention[t], text, err);
    for (size_t i = 0; i < sizeof old / sizeof old[0] && st == RELA_OK; i++)
        st = rela_attn_spec_alias(&c->attention[t], old[i].alias, old[i].value, err);
    return st ? st
              : rela_attn_spec_shorten(&c->attention[t], rela_config_layers(c, t), c->heads, err);
}
