/* SPDX-License-Identifier: MIT */
/* src/train/train_options.c - see train_options.h. */
#include "train/train_options.h"

#include "base/sized.h"
#include "base/str.h"
#include "base/utf8.h"
#include "train/train_settings.h"

#include <string.h>

static rela_status resolve_settings(rela_train_options *out, rela_train_own *own,
                                    const rela_train_options *in, rela_error *err);
static rela_status check_more(const rela_train_options *o, rela_error *err);
static rela_status check_files(const rela_train_options *o, rela_error *err);
static rela_status check_sources(const rela_train_options *o, rela_error *err);

void rela_train_options_init(rela_train_options *o, size_t size)
{
    rela_train_options all;
    rela_settings_init(&all);
    rela_sized_init(o, size, &all, sizeof all);
}

rela_status rela_train_resolve(rela_train_options *out, rela_train_own *own,
                               const rela_train_options *in, rela_error *err)
{
    rela_status st = resolve_settings(out, own, in, err);
    st = st ? st : check_files(out, err);
    st = st ? st : check_sources(out, err);
    return st ? st : rela_train_find_languages(out, err);
}

/* Everything but the files, which are not needed to list the settings of a preset. */
static rela_status resolve_settings(rela_train_options *out, rela_train_own *own,
                                    const rela_train_options *in, rela_error *err)
{
    rela_train_options_init(out, sizeof *out);
    rela_status st = rela_sized_take(out, sizeof *out, in, "rela_train_options", err);
    if (st == RELA_OK && out->init)
        st = rela_train_take_init(out, own, err);
    st = st ? st : rela_train_default(out, err);
    const rela_train_options given = *out;
    st = st ? st : rela_settings_resolve(out, err);
    if (st == RELA_OK && out->init)
        rela_train_tune(out, &given);
    if (st == RELA_OK && out->dropout_embed < 0)
        out->dropout_embed = out->dropout;
    if (st == RELA_OK && out->average > out->keep)
        out->keep = out->average;
    if (st == RELA_OK && out->gradient_slots % out->gradient_groups)
        st = rela_fail(err, RELA_ARG,
                       "gradient-groups is %lld, which does not divide gradient-slots %lld",
                       (long long)out->gradient_groups, (long long)out->gradient_slots);
    st = st ? st : rela_settings_check_texts(out, err);
    st = st ? st : check_more(out, err);
    return st ? st : rela_train_check_languages(out, err);
}

rela_status rela_train_options_show(rela_buffer *out, const rela_train_options *o, rela_error *err)
{
    rela_train_options all;
    rela_train_own own;
    rela_config model; /* made only to check kinds of attention and schedules */
    rela_loop_options loop;
    rela_status st = resolve_settings(&all, &own, o, err);
    st = st ? st : rela_train_config(&model, &all, err);
    st = st ? st : rela_train_loop_options(&loop, &all, err);
    if (st == RELA_OK)
        all.hold_out = rela_train_hold_out(&all);
    return st ? st : rela_train_options_dump(out, &all, err);
}

rela_status rela_train_preset_config(rela_config *c, const char *preset, rela_error *err)
{
    rela_train_options given, all;
    rela_train_own own;
    rela_train_options_init(&given, sizeof given);
    given.preset = preset;
    rela_status st = resolve_settings(&all, &own, &given, err);
    st = st ? st : rela_train_config(c, &all, err);
    return st ? st : rela_config_translates(c, err);
}

/* Must be UTF-8, as all texts. */
static rela_status check_more(const rela_train_options *o, rela_error *err)
{
    for (size_t i = 0; i <= o->n_more; i++) {
        const rela_train_files t = rela_train_text_at(o, i);
        for (size_t k = 0; k <= RELA_SOURCES_MAX; k++) {
            const char *path = k < RELA_SOURCES_MAX ? t.src[k] : t.tgt;
            if (path && rela_utf8_valid(path, strlen(path)) != strlen(path))
                return rela_fail(err, RELA_ARG, "training text '%.300s' is not UTF-8; rename it",
                                 path);
        }
    }
    return RELA_OK;
}

static rela_status check_files(const rela_train_options *o, rela_error *err)
{
    if (!o->out || !*o->out)
        return rela_fail(err, RELA_ARG, "no directory for the run");
    if (!o->train_src || !o->train_tgt)
        return rela_fail(err, RELA_ARG, "no training text: it has a source and a target side");
    if (!o->valid_src != !o->valid_tgt)
        return rela_fail(err, RELA_ARG, "validation text needs both sides, source and target");
    if (o->init && (o->codes || o->vocab_src || o->vocab_tgt))
        return rela_fail(err, RELA_ARG,
                         "the model to start from brings its own subwords and vocabularies: "
                         "give no codes and no vocabularies");
    if (!o->vocab_src != !o->vocab_tgt && strcmp(o->tie, "all") != 0)
        return rela_fail(err, RELA_ARG, "give both vocabularies or none");
    if (o->vocab_src && !o->codes && o->merges > 0)
        return rela_fail(
            err, RELA_ARG,
            "a vocabulary needs the codes it was made with: give them too, or 0 merges");
    if (o->bpe_dropout > 0 && !o->codes && !o->init && o->merges == 0)
        return rela_fail(err, RELA_ARG, "BPE dropout needs subwords, but there are 0 merges");
    return RELA_OK;
}

/* Every text must have one file for each source. */
static rela_status check_sources(const rela_train_options *o, rela_error *err)
{
    const size_t sources = rela_train_sources(o);
    const rela_train_files valid = rela_train_valid_text(o);
    for (size_t i = 0; i <= o->n_more; i++) {
        const rela_train_files t = rela_train_text_at(o, i);
        for (size_t k = 0; k < RELA_SOURCES_MAX; k++)
            if (!t.src[k] != (k >= sources))
                return rela_fail(err, RELA_ARG,
                                 "training text %zu has %s file of source %zu; expected %zu "
                                 "source%s, numbered without a gap",
                                 i + 1, t.src[k] ? "a" : "no", k + 1, sources,
                                 sources == 1 ? "" : "s");
        if (!t.tgt)
            return rela_fail(err, RELA_ARG, "training text %zu has no target side", i + 1);
    }
    for (size_t k = 1; valid.tgt && k < RELA_SOURCES_MAX; k++)
        if (!valid.src[k] != (k >= sources))
            return rela_fail(err, RELA_ARG,
                             "validation text has %s file of source %zu, training text has %s",
                             valid.src[k] ? "a" : "no", k + 1, valid.src[k] ? "none" : "one");
    if (sources == 1 && (o->share_encoders || o->cross))
        return rela_fail(err, RELA_ARG,
                         "shared encoders and an order of cross attention are for several sources");
    return RELA_OK;
}
