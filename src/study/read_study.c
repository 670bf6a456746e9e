/* SPDX-License-Identifier: MIT */
/* src/study/read_study.c - a study from its file, for study.h. */
#include "study/study.h"

#include "base/mem.h"

#include <string.h>

rela_status rela_study_read(rela_study **out, const char *path, const char *scale,
                            rela_tree_sets sets, rela_error *err)
{
    *out = NULL;
    (void)sets;
    return rela_fail(err, RELA_UNSUP, "%s: not read at scale %s", path, scale ? scale : "-");
}

void rela_study_destroy(rela_study *s)
{
    if (s)
        rela_arena_destroy(s->arena);
}

rela_status rela_study_check_files(const rela_study *s, rela_error *err)
{
    (void)s;
    (void)err;
    return RELA_OK;
}

const rela_study_data *rela_study_find_data(const rela_study *s, const char *name)
{
    for (size_t i = 0; i < s->n_data; i++)
        if (strcmp(s->data[i].name, name) == 0)
            return &s->data[i];
    return NULL;
}

const rela_study_model *rela_study_find_model(const rela_study *s, const char *name)
{
    for (size_t i = 0; i < s->n_models; i++)
        if (strcmp(s->models[i].name, name) == 0)
            return &s->models[i];
    return NULL;
}

const char *rela_study_setting_of(rela_study_settings s, const char *name)
{
    const char *value = NULL;
    for (size_t i = 0; i < s.n; i++)
        if (strcmp(s.items[i].name, name) == 0)
            value = s.items[i].value;
    return value;
}
