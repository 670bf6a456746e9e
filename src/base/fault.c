/* SPDX-License-Identifier: MIT */
/* src/base/fault.c - see fault.h. */
#include "base/fault.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct plan {
    _Atomic uint64_t seen;
    _Atomic uint64_t at; /* 0: off */
    _Atomic bool persistent;
} plan;

static plan plans[RELA_FAULT_N_CLASSES];
static _Atomic uint32_t short_bytes;
static plan signal_plan;
static _Atomic int signal_number;
static plan phase_plans[RELA_FAULT_N_PHASES];
static _Atomic int phase_numbers[RELA_FAULT_N_PHASES];

static const char *const PHASES[RELA_FAULT_N_PHASES] = {
#define RELA_X(name, text) text,
    RELA_FAULT_PHASE_MAP(RELA_X)
#undef RELA_X
};

static void deliver(int number);
static void set(plan *p, uint64_t n, bool persistent);
static bool hit(plan *p);
static bool set_signal(const char *text, size_t len, uint64_t n, bool persistent);
static bool parse_signal(int *number, const char *text, size_t len);

void rela_fault_set(rela_fault_class c, uint64_t n, bool persistent)
{
    set(&plans[c], n, persistent);
}

void rela_fault_set_short(uint32_t bytes)
{
    atomic_store(&short_bytes, bytes);
}

uint32_t rela_fault_short(void)
{
    return atomic_load_explicit(&short_bytes, memory_order_relaxed);
}

void rela_fault_set_signal(int number, uint64_t n, bool persistent)
{
    atomic_store(&signal_number, number);
    set(&signal_plan, n, persistent);
}

int rela_fault_signal(void)
{
    return hit(&signal_plan) ? atomic_load(&signal_number) : 0;
}

void rela_fault_set_phase(rela_fault_phase p, int number, uint64_t n, bool persistent)
{
    atomic_store(&phase_numbers[p], number);
    set(&phase_plans[p], n, persistent);
}

void rela_fault_reach(rela_fault_phase p)
{
    if (hit(&phase_plans[p]))
        deliver(atomic_load(&phase_numbers[p]));
}

/* The program may have a thread that waits for signals: goes on only when it has had time to take
 * this one, so that what the phase does next is the same on a busy machine. */
static void deliver(int number)
{
    const struct timespec moment = { .tv_nsec = 5000000 };
    sigset_t pending;
    (void)kill(getpid(), number);
    for (int i = 0; i < 200; i++) {
        const bool waits = sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
        (void)nanosleep(&moment, NULL);
        if (!waits)
            return;
    }
}

bool rela_fault_parse(const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon || colon[1] < '0' || colon[1] > '9')
        return false;
    char *end = NULL;
    errno = 0;
    const uint64_t n = strtoull(colon + 1, &end, 10);
    if (errno)
        return false;
    const bool persistent = *end == '+';
    if (end[persistent] != '\0')
        return false;
    const size_t len = (size_t)(colon - text);
    if (len == 3 && strncmp(text, "mem", len) == 0)
        rela_fault_set(RELA_FAULT_MEM, n, persistent);
    else if (len == 4 && strncmp(text, "file", len) == 0)
        rela_fault_set(RELA_FAULT_FILE, n, persistent);
    else if (len == 5 && strncmp(text, "short", len) == 0 && !persistent && n <= UINT32_MAX)
        rela_fault_set_short((uint32_t)n);
    else
        return set_signal(text, len, n, persistent);
    return true;
}

uint64_t rela_fault_seen(rela_fault_class c)
{
    return atomic_load(&plans[c].seen);
}

bool rela_fault_hit(rela_fault_class c)
{
    return hit(&plans[c]);
}

static void set(plan *p, uint64_t n, bool persistent)
{
    atomic_store(&p->seen, 0);
    atomic_store(&p->persistent, persistent);
    atomic_store(&p->at, n);
}

static bool hit(plan *p)
{
    const uint64_t at = atomic_load_explicit(&p->at, memory_order_relaxed);
    if (at == 0)
        return false;
    const uint64_t now = atomic_fetch_add(&p->seen, 1) + 1;
    return now == at || (now > at && atomic_load(&p->persistent));
}

/* "signal15" for file calls, "signal15@save" for a phase. */
static bool set_signal(const char *text, size_t len, uint64_t n, bool persistent)
{
    int number = 0;
    const char *at = memchr(text, '@', len);
    if (!parse_signal(&number, text, at ? (size_t)(at - text) : len))
        return false;
    if (!at) {
        rela_fault_set_signal(number, n, persistent);
        return true;
    }
    const size_t rest = len - (size_t)(at + 1 - text);
    for (int i = 0; i < RELA_FAULT_N_PHASES; i++)
        if (strlen(PHASES[i]) == rest && strncmp(PHASES[i], at + 1, rest) == 0) {
            rela_fault_set_phase((rela_fault_phase)i, number, n, persistent);
            return true;
        }
    return false;
}

/* "signal" and a number of one or two digits. */
static bool parse_signal(int *number, const char *text, size_t len)
{
    static const char NAME[] = "signal";
    const size_t name = strlen(NAME);
    if (strncmp(text, NAME, name) != 0 || len == name || len > name + 2)
        return false;
    *number = 0;
    for (size_t i = name; i < len; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (text[i] - '0');
    }
    return *number > 0;
}
