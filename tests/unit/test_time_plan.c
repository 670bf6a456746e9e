/* SPDX-License-Identifier: MIT */
/* tests/unit/test_time_plan.c - runs of limited time on machines of any speed: they end in time
 * with a learning rate that has fallen, and go on after a stop as if there had been none. */
#include "check.h"
#include "train/time_plan.h"
#include "train/trainer.h"

#include <math.h>
#include <string.h>

/* A run on a machine where an update takes so many seconds, later times slower. */
typedef struct machine {
    double each, slower;
    double limit, reserve;
    uint64_t stop_after; /* 0: never */
} machine;

typedef struct outcome {
    uint64_t updates, cool_from, warmup;
    double used, peak, last;
} outcome;

static const rela_schedule SCHEDULE = {
    .kind = RELA_SCHEDULE_INVERSE_SQRT, .rate = 1, .warmup = 2000, .updates = 1000000000
};

static outcome run(const machine *m, const rela_schedule *s)
{
    rela_time_plan p = { .limit = 0 };
    outcome o = { .updates = 0 };
    rela_time_plan_start(&p, m->limit);
    do {
        o.last = rela_time_plan_rate(&p, s, ++o.updates);
        o.peak = o.last > o.peak ? o.last : o.peak;
        const double each = o.used > m->limit / 2 ? m->each * m->slower : m->each;
        o.used += each;
        const rela_time_figures f = { o.updates, o.used, each, m->reserve };
        rela_time_plan_update(&p, &f, s);
        if (o.updates == m->stop_after) {
            rela_time_plan copy = p;
            p = copy;
            rela_time_plan_start(&p, m->limit); /* as a resumed run does */
        }
        o.cool_from = o.cool_from ? o.cool_from : p.cool_from;
        o.warmup = p.warmup;
    } while (o.updates < s->updates && !(p.cool_to && o.updates >= p.cool_to));
    return o;
}

static void runs_end_in_time_with_a_rate_that_has_fallen(void **state)
{
    (void)state;
    static const double EACH[] = { 0.001, 0.1, 1, 3.7 }, SLOWER[] = { 0.5, 1, 2, 5 };
    for (size_t i = 0; i < sizeof EACH / sizeof EACH[0]; i++)
        for (size_t k = 0; k < sizeof SLOWER / sizeof SLOWER[0]; k++) {
            const machine m = { EACH[i], SLOWER[k], 600, 30, 0 };
            const outcome o = run(&m, &SCHEDULE);
            CHECK(o.used <= 570 + EACH[i] * SLOWER[k], "%g s, times %g: ends after %g s", EACH[i],
                  SLOWER[k], o.used);
            CHECK(o.used >= 0.6 * 570, "%g s, times %g: ends after %g s", EACH[i], SLOWER[k],
                  o.used);
            CHECK(o.last < 0.1 * o.peak, "%g s, times %g: the rate ends at %g of %g", EACH[i],
                  SLOWER[k], o.last, o.peak);
        }
}

/* The rate of preset tiny would not have reached its peak. */
static void the_warm_up_is_shortened_to_a_fourth(void **state)
{
    (void)state;
    const machine m = { 1, 1, 600, 30, 0 }, longer = { 0.001, 1, 600, 30, 0 };
    const outcome o = run(&m, &SCHEDULE);
    CHECK(o.updates >= 565 && o.updates <= 570, "%d updates", (int)o.updates);
    CHECK(o.warmup >= 135 && o.warmup <= 145, "warm-up of %d", (int)o.warmup);
    CHECK(fabs(o.peak - 1) < 0.01, "peak %g", o.peak);
    CHECK(o.cool_from >= 420 && o.cool_from <= 430, "falls from %d", (int)o.cool_from);
    CHECK(run(&longer, &SCHEDULE).warmup == 2000, "shortened in a long run");
}

static void enough_time_changes_nothing(void **state)
{
    (void)state;
    rela_schedule s = SCHEDULE;
    s.updates = 300;
    s.warmup = 50;
    s.cool = 100;
    const machine m = { 1, 1, 4000, 30, 0 };
    rela_time_plan p = { .limit = 0 };
    rela_time_plan_start(&p, m.limit);
    for (uint64_t u = 1; u <= s.updates; u++) {
        CHECK(rela_time_plan_rate(&p, &s, u) == rela_schedule_rate(&s, u), "update %d", (int)u);
        const rela_time_figures f = { u, (double)u, 1, m.reserve };
        rela_time_plan_update(&p, &f, &s);
        CHECK(p.updates == 300 && !p.cool_to, "update %d", (int)u);
    }
}

static void a_stop_changes_nothing_and_another_limit_starts_anew(void **state)
{
    (void)state;
    const machine whole = { 1, 1, 600, 30, 0 };
    for (uint64_t stop = 100; stop < 560; stop += 150) {
        const machine m = { 1, 1, 600, 30, stop };
        const outcome a = run(&whole, &SCHEDULE), b = run(&m, &SCHEDULE);
        CHECK(memcmp(&a, &b, sizeof a) == 0, "stopped after %d", (int)stop);
    }
    rela_time_plan p = { .limit = 600, .used = 300, .cool_from = 400, .cool_to = 500 };
    rela_time_plan_start(&p, 900);
    CHECK(p.cool_to == 0 && p.used == 300 && p.limit == 900, "not longer");
    rela_time_plan_start(&p, 0);
    CHECK(p.limit == 0 && rela_time_plan_rate(&p, &SCHEDULE, 2000) == 1, "still limited");
}

static void a_forecast_is_corrected_but_not_at_once(void **state)
{
    (void)state;
    rela_trainer_forecasts f = { .any = false };
    CHECK(rela_forecast_due(&f, 20, 980), "none at first");
    CHECK(!rela_forecast_due(&f, 30, 1970), "again after 10 seconds");
    CHECK(!rela_forecast_due(&f, 500, 640), "again for 14 %%");
    CHECK(rela_forecast_due(&f, 510, 650), "not corrected by 16 %%");
    CHECK(f.at == 510 && f.end == 1160, "not noted");
    CHECK(!rela_forecast_due(&f, 569, 2000), "again within a minute");
    CHECK(rela_forecast_due(&f, 571, 100), "not corrected downwards");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_end_in_time_with_a_rate_that_has_fallen),
        cmocka_unit_test(the_warm_up_is_shortened_to_a_fourth),
        cmocka_unit_test(enough_time_changes_nothing),
        cmocka_unit_test(a_stop_changes_nothing_and_another_limit_starts_anew),
        cmocka_unit_test(a_forecast_is_corrected_but_not_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
