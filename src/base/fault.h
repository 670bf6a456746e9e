/* SPDX-License-Identifier: MIT */
/* src/base/fault.h - fault injection for tests: fails the n-th allocation or file call, or sends a
 * signal at a file call or in a phase of training.
 *
 * Off unless a test (or RELA_FAULT in the program's environment) switches it on; then every call of
 * the class is counted, and call n fails, either just that one or all from there on. */
#ifndef RELA_BASE_FAULT_H
#define RELA_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

typedef enum rela_fault_class {
    RELA_FAULT_MEM,
    RELA_FAULT_FILE,
    RELA_FAULT_N_CLASSES
} rela_fault_class;

/* Phases of training at which a signal can be sent. Each rank counts its own. */
/* clang-format off */
#define RELA_FAULT_PHASE_MAP(X)                                                      \
    X(GRADIENTS,  "gradients")  /* a round of slots is about to be computed */       \
    X(EXCHANGE,   "exchange")   /* gradients are in flight between ranks */          \
    X(OPTIMISER,  "optimiser")  /* Adam has run, other ranks lack the new weights */ \
    X(VALIDATION, "validation") /* a batch of the validation set was scored */       \
    X(SAVE,       "save")       /* rank 0 has written part of a checkpoint */        \
    X(COMMIT,     "commit")     /* it is written, but not yet under its name */
/* clang-format on */

typedef enum rela_fault_phase {
#define RELA_X(name, text) RELA_FAULT_##name,
    RELA_FAULT_PHASE_MAP(RELA_X)
#undef RELA_X
        RELA_FAULT_N_PHASES
} rela_fault_phase;

/* n counts from 1; 0 switches the class off. persistent: all calls from n on fail. */
void rela_fault_set(rela_fault_class c, uint64_t n, bool persistent);

/* Makes reads and writes move at most this many bytes per call; 0: no limit. */
void rela_fault_set_short(uint32_t bytes);
uint32_t rela_fault_short(void);

/* Sends this signal to the process before file call n, or before each one from n on; n 0: off. */
void rela_fault_set_signal(int number, uint64_t n, bool persistent);
/* Counts one file call; returns the signal to send before it, normally 0. */
int rela_fault_signal(void);

/* The same, when a phase starts for the n-th time. */
void rela_fault_set_phase(rela_fault_phase p, int number, uint64_t n, bool persistent);
/* Counts one start of a phase and sends the signal if it is due. */
void rela_fault_reach(rela_fault_phase p);

/* Applies a setting like "mem:17", "file:3+" (from the third on), "short:7", "signal15:3" or
 * "signal9@exchange:5"; false if malformed. */
bool rela_fault_parse(const char *text);

/* Calls of the class seen since it was set. */
uint64_t rela_fault_seen(rela_fault_class c);

/* Counts one call; true if it must fail. */
bool rela_fault_hit(rela_fault_class c);

#endif
