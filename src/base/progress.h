/* SPDX-License-Identifier: MIT */
/* src/base/progress.h - progress of a long job: a bar on a terminal, a line per interval elsewhere.
 *
 * One thread at a time. Nothing is printed here: output goes to the emit function. */
#ifndef RELA_BASE_PROGRESS_H
#define RELA_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rela_progress {
    const char *label;
    const char *unit; /* "lines", "tokens": the rate is shown in units per second */
    uint64_t total;   /* 0: unknown */
    bool terminal;    /* redraw one line; otherwise whole lines */
    double interval;  /* seconds between updates; 0: 0.1 on a terminal, 10 elsewhere */
    int width;        /* columns of the terminal; 0: 80 */
    void (*emit)(void *ctx, const char *bytes, size_t len);
    void *ctx;
    /* private */
    double started, shown;
    uint64_t first;
    bool visible;
} rela_progress;

/* Starts the clock; done is what a resumed job has done before. */
void rela_progress_start(rela_progress *p, uint64_t done);

/* Cheap when called often. note: extra fields such as a loss, separated by ", ", or NULL. On a
 * narrow terminal the bar is left out first, then the last fields of the note, then rate, count and
 * label; the remaining time is kept. */
void rela_progress_update(rela_progress *p, uint64_t done, const char *note);

/* Shows the final state and ends the line. */
void rela_progress_finish(rela_progress *p, uint64_t done, const char *note);

#endif
