/* SPDX-License-Identifier: MIT */
/* tests/unit/test_fault.c - settings of the fault injection. */
#include "base/fault.h"
#include "check.h"

#include <signal.h>

static void switch_off(void)
{
    for (int c = 0; c < RELA_FAULT_N_CLASSES; c++)
        rela_fault_set((rela_fault_class)c, 0, false);
    rela_fault_set_short(0);
    rela_fault_set_signal(0, 0, false);
    for (int p = 0; p < RELA_FAULT_N_PHASES; p++)
        rela_fault_set_phase((rela_fault_phase)p, 0, 0, false);
}

static void settings_are_read_as_documented(void **state)
{
    (void)state;
    CHECK(rela_fault_parse("mem:2"), "mem:2");
    CHECK(!rela_fault_hit(RELA_FAULT_MEM) && rela_fault_hit(RELA_FAULT_MEM) &&
              !rela_fault_hit(RELA_FAULT_MEM),
          "not once at the second call");
    CHECK(!rela_fault_hit(RELA_FAULT_FILE), "the other class is hit");
    CHECK(rela_fault_parse("file:1+"), "file:1+");
    CHECK(rela_fault_hit(RELA_FAULT_FILE) && rela_fault_hit(RELA_FAULT_FILE), "not persistent");
    CHECK(rela_fault_parse("short:7") && rela_fault_short() == 7, "short:7");
    CHECK(rela_fault_parse("signal15:2"), "signal15:2");
    CHECK(rela_fault_signal() == 0 && rela_fault_signal() == 15 && rela_fault_signal() == 0,
          "no signal, or not once");
    CHECK(rela_fault_parse("signal9:1+"), "signal9:1+");
    CHECK(rela_fault_signal() == 9 && rela_fault_signal() == 9, "no signal, or once");
    switch_off();
}

static volatile sig_atomic_t n_signals;

static void count_signal(int number)
{
    (void)number;
    n_signals++;
}

static void signal_arrives_in_the_phase(void **state)
{
    (void)state;
    n_signals = 0;
    CHECK(signal(SIGTERM, count_signal) != SIG_ERR, "signal");
    CHECK(rela_fault_parse("signal15@exchange:2"), "signal15@exchange:2");
    rela_fault_reach(RELA_FAULT_EXCHANGE);
    rela_fault_reach(RELA_FAULT_SAVE);
    rela_fault_reach(RELA_FAULT_SAVE);
    CHECK(n_signals == 0, "too early, or in another phase");
    rela_fault_reach(RELA_FAULT_EXCHANGE);
    rela_fault_reach(RELA_FAULT_EXCHANGE);
    CHECK(n_signals == 1 && rela_fault_signal() == 0, "not once, or at file calls");
    CHECK(rela_fault_parse("signal15@validation:1+"), "signal15@validation:1+");
    rela_fault_reach(RELA_FAULT_VALIDATION);
    rela_fault_reach(RELA_FAULT_VALIDATION);
    CHECK(n_signals == 3, "not each time");
    (void)signal(SIGTERM, SIG_DFL);
    switch_off();
}

static void malformed_settings_are_refused(void **state)
{
    (void)state;
    static const char *const BAD[] = {
        "",
        ":",
        "mem",
        "mem:",
        "mem:x",
        "mem:-1",
        "mem: 1",
        "mem:1x",
        "mem:1++",
        "memo:1",
        "me:1",
        "short:7+",
        "short:4294967296",
        "mem:99999999999999999999",
        "file:1+ ",
        ":3",
        "signal:3",
        "signal0:3",
        "signal-1:3",
        "signal100:3",
        "signal1x:3",
        "sigma15:3",
        "signal15@:3",
        "signal@save:3",
        "signal15@saves:3",
        "signal15@sav:3",
        "signal15@save",
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++)
        CHECK(!rela_fault_parse(BAD[i]), "'%s' was taken", BAD[i]);
    CHECK(!rela_fault_hit(RELA_FAULT_MEM) && !rela_fault_hit(RELA_FAULT_FILE) &&
              rela_fault_signal() == 0 && rela_fault_short() == 0,
          "a refused setting has an effect");
    switch_off();
}

static void calls_are_counted_only_while_on(void **state)
{
    (void)state;
    switch_off();
    (void)rela_fault_hit(RELA_FAULT_MEM);
    assert_int_equal(rela_fault_seen(RELA_FAULT_MEM), 0);
    rela_fault_set(RELA_FAULT_MEM, 100, false);
    (void)rela_fault_hit(RELA_FAULT_MEM);
    assert_int_equal(rela_fault_seen(RELA_FAULT_MEM), 1);
    switch_off();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_read_as_documented),
        cmocka_unit_test(signal_arrives_in_the_phase),
        cmocka_unit_test(malformed_settings_are_refused),
        cmocka_unit_test(calls_are_counted_only_while_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
