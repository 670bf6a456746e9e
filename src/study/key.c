/* SPDX-License-Identifier: MIT */
/* src/study/key.c - options and keys of jobs, for key.h. */
#include "study/key.h"

#include "base/str.h"
#include "study/arena_text.h"

#include <string.h>
#include <xxhash.h>

enum { FORMAT_VERSION = 1 };

static void add_field(XXH128_hash_t *h, const char *text);
static void print_hash(char out[RELA_STUDY_KEY_SIZE], XXH128_hash_t h);

/* Commands whose results have changed since studies exist; all others are at 1. */
int rela_study_algorithm(const char *command)
{
    static const struct {
        const char *command;
        int version;
    } CHANGED[] = {
        { "", 1 },
    };
    for (size_t i = 0; i < sizeof CHANGED / sizeof CHANGED[0]; i++)
        if (strcmp(CHANGED[i].command, command) == 0)
            return CHANGED[i].version;
    return 1;
}

rela_status rela_study_set_options(rela_study_job *job, const rela_study *s,
                                   const rela_study_normaliser *normaliser, rela_error *err)
{
    rela_buffer text = RELA_BUFFER_INIT;
    rela_status st = RELA_OK;
    for (size_t i = 0; i < job->n_steps && st == RELA_OK; i++) {
        const rela_study_step *step = &job->steps[i];
        st = rela_buffer_printf(&text, err, "command: %s, version %d\n", step->words[0],
                                rela_study_algorithm(step->words[0]));
        st = st ? st : normaliser->normalise(normaliser->ctx, &text, step->words, step->n, err);
    }
    if (st == RELA_OK &&
        !(job->options = rela_arena_copy(s->arena, text.data ? text.data : "", text.len)))
        st = rela_fail(err, RELA_NOMEM, "no memory for options");
    else if (st == RELA_OK)
        rela_study_hash_text(job->settings, text.data, text.len);
    rela_buffer_free(&text);
    if (st == RELA_ARG && rela_study_blame(s, normaliser, err))
        return RELA_FORMAT;
    if (st != RELA_OK) {
        char place[64];
        (void)rela_fail_in(err, st, job->name);
        rela_format_text(place, sizeof place, "line %zu", job->line);
        (void)rela_fail_in(err, st, place);
        (void)rela_fail_in(err, st, s->path);
    }
    return st == RELA_ARG ? RELA_FORMAT : st;
}

/* The hash of a chain: each link hashes what came before, the length of the field and the field. */
void rela_study_set_key(rela_study_job *job)
{
    char version[16];
    XXH128_hash_t h = { 0, 0 };
    rela_format_text(version, sizeof version, "%d", FORMAT_VERSION);
    add_field(&h, version);
    add_field(&h, job->settings);
    for (size_t i = 0; i < job->n_inputs; i++) {
        add_field(&h, job->inputs[i].role);
        add_field(&h, job->inputs[i].hash);
    }
    print_hash(job->key, h);
}

static void add_field(XXH128_hash_t *h, const char *text)
{
    const XXH128_hash_t field = XXH3_128bits(text, strlen(text));
    const uint64_t chain[] = { h->high64, h->low64, strlen(text), field.high64, field.low64 };
    unsigned char bytes[sizeof chain];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(chain[i / 8] >> (8 * (i % 8)));
    *h = XXH3_128bits(bytes, sizeof bytes);
}

static void print_hash(char out[RELA_STUDY_KEY_SIZE], XXH128_hash_t h)
{
    rela_format_text(out, RELA_STUDY_KEY_SIZE, "%016llx%016llx", (unsigned long long)h.high64,
                     (unsigned long long)h.low64);
}

void rela_study_hash_text(char out[RELA_STUDY_KEY_SIZE], const char *text, size_t len)
{
    print_hash(out, XXH3_128bits(text, len));
}
