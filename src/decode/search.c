/* SPDX-License-Identifier: MIT */
/* src/decode/search.c - a closed batch on an engine: all are admitted, run to their end and taken.
 */
#include "decode/engine_state.h"

void rela_search_options_init(rela_search_options *o)
{
    *o = (rela_search_options){ .method = RELA_SEARCH_BEAM,
                                .beam = 4,
                                .n_best = 1,
                                .penalty = RELA_PENALTY_GNMT,
                                .alpha = 0.6,
                                .max_factor = 1,
                                .max_extra = 50,
                                .min_extra = 1,
                                .temperature = 1,
                                .top_p = 1,
                                .batch_sentences = 32,
                                .batch_tokens = 4096 };
}

rela_status rela_search_check(const rela_engine *e, const rela_source *sources, size_t n,
                              const rela_search_options *o, rela_error *err)
{
    rela_status st = rela_engine_check(e, NULL, 0, o, err);
    for (size_t i = 0; i < n && st == RELA_OK; i++)
        st = rela_engine_check(e, &sources[i], i, o, err);
    return st;
}

/* ctx of an admission: where its result goes. */
static rela_status take_all(rela_engine *e, rela_arena *arena, rela_error *err)
{
    rela_status st = RELA_OK;
    for (uint32_t place = 0; st == RELA_OK && (place = rela_engine_next_ended(e)) != RELA_NO_PLACE;)
        st = rela_engine_take(e, rela_engine_ctx(e, place), place, arena, err);
    return st;
}

rela_status rela_search_run(rela_engine *e, rela_search_result *results, const rela_source *sources,
                            size_t n, const rela_search_options *o, rela_error *err)
{
    rela_status st = rela_search_check(e, sources, n, o, err);
    if (st != RELA_OK)
        return st;
    rela_arena *arena = e->results = e->results ? e->results : rela_arena_create(0);
    if (arena)
        rela_arena_reset(arena);
    rela_admission *all = arena ? rela_arena_alloc(arena, n * sizeof *all) : NULL;
    uint32_t *places = arena ? rela_arena_alloc(arena, n * sizeof *places) : NULL;
    if (!all || !places)
        return rela_fail(err, RELA_NOMEM, "no memory to decode %zu sentences", n);
    for (size_t i = 0; i < n; i++)
        all[i] = (rela_admission){ &sources[i], o, &results[i] };
    rela_engine_callback_set(e, o->callback);
    st = rela_engine_admit(e, places, all, n, err);
    while (rela_engine_n_live(e) > 0 && st == RELA_OK) {
        st = rela_stop_check(&o->stop, err);
        st = st ? st : rela_engine_step(e, err);
    }
    st = st ? st : rela_callback_check(o->callback, n, err);
    st = st ? st : take_all(e, arena, err);
    rela_engine_callback_set(e, NULL);
    rela_engine_clear(e);
    return st;
}
