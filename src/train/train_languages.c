/* SPDX-License-Identifier: MIT */
/* src/train/train_languages.c - the languages of the training text: as given, else by the names of
 * the files. See train_options.h. */
#include "rela/text.h"
#include "train/train_options.h"

#include <string.h>

static const char **slot(rela_train_options *o, size_t side);
static rela_status fail_missing(const rela_train_options *o, size_t side, const char *path,
                                rela_error *err);

rela_status rela_train_check_languages(rela_train_options *o, rela_error *err)
{
    rela_status st = RELA_OK;
    for (size_t i = 0; i <= RELA_SOURCES_MAX && st == RELA_OK; i++) {
        const char **language = slot(o, i);
        const char *given = *language;
        st = given ? rela_language_code(language, given, err) : RELA_OK;
    }
    return st;
}

/* A model to start from brings its languages. */
rela_status rela_train_find_languages(rela_train_options *o, rela_error *err)
{
    const rela_train_files text = rela_train_text_at(o, 0);
    const bool needed = (o->tokenise || o->normalise) && !o->init;
    rela_status st = RELA_OK;
    for (size_t i = 0; i <= RELA_SOURCES_MAX && st == RELA_OK; i++) {
        const char **language = slot(o, i), *path = i < RELA_SOURCES_MAX ? text.src[i] : text.tgt;
        if (!path)
            continue;
        if (!*language)
            *language = rela_language_of_file(path);
        if (!*language && needed)
            st = fail_missing(o, i, path, err);
    }
    return st;
}

const char *rela_train_language(const rela_train_options *o, size_t source)
{
    const char *const own[RELA_SOURCES_MAX] = { o->src_lang, o->src_lang_2, o->src_lang_3,
                                                o->src_lang_4 };
    return own[source];
}

void rela_train_languages_text(char *out, size_t size, const rela_train_options *o)
{
    const size_t n = rela_train_sources(o);
    *out = '\0';
    for (size_t i = 0; i < n; i++) {
        const size_t used = strlen(out);
        const char *language = rela_train_language(o, i);
        rela_format_text(out + used, size - used, "%s%s", i ? " and " : "",
                         language ? language : "any language");
    }
    const size_t used = strlen(out);
    rela_format_text(out + used, size - used, " to %s", o->tgt_lang ? o->tgt_lang : "any language");
}

/* The target comes after all sources. */
static const char **slot(rela_train_options *o, size_t side)
{
    const char **const slots[RELA_SOURCES_MAX + 1] = { &o->src_lang, &o->src_lang_2, &o->src_lang_3,
                                                       &o->src_lang_4, &o->tgt_lang };
    return slots[side];
}

static rela_status fail_missing(const rela_train_options *o, size_t side, const char *path,
                                rela_error *err)
{
    static const char *const NAMES[RELA_SOURCES_MAX + 1] = { "src-lang", "src-lang-2", "src-lang-3",
                                                             "src-lang-4", "tgt-lang" };
    const bool both = side == 0 && !o->tgt_lang && !rela_language_of_file(o->train_tgt);
    return rela_fail(err, RELA_ARG,
                     "the language of %s is not known, and %s needs it: give --%s%s, such as en",
                     path, o->tokenise ? "--tokenise" : "--normalise", NAMES[side],
                     both ? " and --tgt-lang" : "");
}
