/* SPDX-License-Identifier: MIT */
/* tests/unit/test_align_learn.c - alignment models learned from a text: both directions in one
 * file, progress and cancelling, and no temporary directory that is left. */
#include "scratch.h"

#include "rela/model.h"
#include "rela/train.h"

#include <stdint.h>

enum { UPDATES = 4 };

static char src[SCRATCH_PATH], tgt[SCRATCH_PATH], out[SCRATCH_PATH];

/* Temporary directories of the library go into the scratch folder too. */
static int set_up(void **state)
{
    if (scratch_make(state) != 0 || setenv("TMPDIR", scratch_dir, 1) != 0)
        return -1;
    (void)snprintf(src, sizeof src, "%s", scratch("src"));
    (void)snprintf(tgt, sizeof tgt, "%s", scratch("tgt"));
    (void)snprintf(out, sizeof out, "%s", scratch("out.rela"));
    (void)spill_text("src", "the dog sleeps\na dog sees the cat\nthe cat sleeps\n");
    (void)spill_text("tgt", "der Hund schläft\nein Hund sieht die Katze\ndie Katze schläft\n");
    return 0;
}

typedef struct calls {
    uint64_t n[2];
    uint64_t stop_at; /* update of the second direction; 0: never */
} calls;

static int on_update(void *ctx, int32_t direction, uint64_t update, uint64_t updates)
{
    calls *c = ctx;
    CHECK(direction == 0 || direction == 1, "direction %d", direction);
    CHECK(direction == 1 || c->n[1] == 0, "direction 0 after direction 1");
    CHECK(update == ++c->n[direction], "update %llu", (unsigned long long)update);
    CHECK(updates == UPDATES, "%llu updates", (unsigned long long)updates);
    return direction == 1 && update == c->stop_at;
}

static rela_align_learn_options settings(calls *c)
{
    rela_align_learn_options o;
    rela_align_learn_options_init(&o, sizeof o);
    o.src = src;
    o.tgt = tgt;
    o.updates = UPDATES;
    o.threads = 1;
    o.progress = on_update;
    o.progress_ctx = c;
    return o;
}

static void check_files(int expected)
{
    int n = 0;
    DIR *d = opendir(scratch_dir);
    CHECK(d, "opendir %s", scratch_dir);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    (void)closedir(d);
    CHECK(n == expected, "%d files, expected %d", n, expected);
}

static void cancelling_leaves_nothing(void **state)
{
    (void)state;
    calls c = { .stop_at = 2 };
    rela_error err;
    const rela_align_learn_options o = settings(&c);
    CHECK(rela_align_learn(out, &o, &err) == RELA_CANCEL, "%s", err.message);
    CHECK(c.n[0] == UPDATES && c.n[1] == 2, "%d and %d updates", (int)c.n[0], (int)c.n[1]);
    check_files(2);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    calls c = { .stop_at = 0 };
    rela_error err;
    rela_align_learn_options o = settings(&c);
    o.tgt = NULL;
    CHECK(rela_align_learn(out, &o, &err) == RELA_ARG, "%s", err.message);
    o.tgt = scratch("missing");
    CHECK(rela_align_learn(out, &o, &err) == RELA_IO, "%s", err.message);
    o = settings(&c);
    o.updates = -1;
    CHECK(rela_align_learn(out, &o, &err) == RELA_ARG, "%s", err.message);
    o = settings(&c);
    o.struct_size = 0;
    CHECK(rela_align_learn(out, &o, &err) == RELA_ARG, "%s", err.message);
    CHECK(c.n[0] == 0, "%d updates", (int)c.n[0]);
    check_files(2);
}

static void both_directions_are_in_one_file(void **state)
{
    (void)state;
    calls c = { .stop_at = 0 };
    rela_error err;
    const rela_align_learn_options o = settings(&c);
    CHECK_OK(rela_align_learn(out, &o, &err), err);
    CHECK(c.n[0] == UPDATES && c.n[1] == UPDATES, "%d and %d updates", (int)c.n[0], (int)c.n[1]);
    CHECK(rela_model_is_pair(out), "%s is not a pair", out);
    check_files(3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cancelling_leaves_nothing),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(both_directions_are_in_one_file),
    };
    return cmocka_run_group_tests(tests, set_up, scratch_remove);
}
