/* SPDX-License-Identifier: MIT */
/* src/base/progress.c - see progress.h. */
#include "base/progress.h"

#include "base/clock.h"
#include "base/str.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

enum { BAR_MAX = 30, TEXT_MAX = 400, COLUMNS = 80 };

static void show(rela_progress *p, uint64_t done, const char *note, double now, bool last);
static void append(char *text, const char *format, ...) RELA_PRINTF(2, 3);
static void append_bar(char *text, double share, int room);
static void append_seconds(char *text, double seconds);
static void append_count(char *text, double n);
static int columns(const char *text);
static void cut(char *text, int n_columns);

void rela_progress_start(rela_progress *p, uint64_t done)
{
    p->started = rela_clock_seconds();
    p->shown = p->started;
    p->first = done;
    p->visible = false;
    if (p->interval <= 0)
        p->interval = p->terminal ? 0.1 : 10.0;
    if (p->width <= 0)
        p->width = COLUMNS;
}

void rela_progress_update(rela_progress *p, uint64_t done, const char *note)
{
    const double now = rela_clock_seconds();
    if (!p->emit || now - p->shown < p->interval)
        return;
    p->shown = now;
    show(p, done, note, now, false);
}

void rela_progress_finish(rela_progress *p, uint64_t done, const char *note)
{
    if (p->emit)
        show(p, done, note, rela_clock_seconds(), true);
}

static void show(rela_progress *p, uint64_t done, const char *note, double now, bool last)
{
    char text[TEXT_MAX] = "";
    const double spent = now - p->started;
    const double rate = spent > 0 && done > p->first ? (double)(done - p->first) / spent : 0;
    append(text, "%s ", p->label);
    char tail[TEXT_MAX] = "";
    append_count(tail, (double)done);
    if (p->total) {
        append(tail, "/");
        append_count(tail, (double)p->total);
    }
    append(tail, " %s, ", p->unit);
    append_count(tail, rate);
    append(tail, "/s");
    if (note && *note)
        append(tail, ", %s", note);
    if (last) {
        append(tail, ", took ");
        append_seconds(tail, spent);
    } else if (p->total && rate > 0 && done <= p->total) {
        append(tail, ", left ");
        append_seconds(tail, (double)(p->total - done) / rate);
    }
    if (p->total) {
        const double share = done < p->total ? (double)done / (double)p->total : 1.0;
        if (p->terminal)
            append_bar(text, share, p->width - columns(text) - columns(tail) - 8);
        append(text, "%3.0f %% ", floor(100.0 * share)); /* 100 only when done */
    }
    append(text, "%s", tail);
    if (p->terminal)
        cut(text, p->width - 1); /* a wrapped line could not be redrawn */
    if (p->terminal && p->visible)
        p->emit(p->ctx, "\r\033[K", 4);
    p->emit(p->ctx, text, strlen(text));
    if (!p->terminal || last)
        p->emit(p->ctx, "\n", 1);
    p->visible = true;
}

static void append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    rela_format(text + used, TEXT_MAX - used, format, args);
    va_end(args);
}

static void append_bar(char *text, double share, int room)
{
    const int n = room < BAR_MAX ? room : BAR_MAX;
    if (n < 5)
        return;
    append(text, "[");
    for (int i = 0; i < n; i++)
        append(text, i < (int)(share * n) ? "#" : ".");
    append(text, "] ");
}

static void append_seconds(char *text, double seconds)
{
    const double s = round(seconds), minutes = floor(s / 60), hours = floor(s / 3600);
    if (s < 60)
        append(text, "%.0f s", s);
    else if (s < 3600)
        append(text, "%.0f:%02.0f min", minutes, s - 60 * minutes);
    else
        append(text, "%.0f:%02.0f h", hours, minutes - 60 * hours);
}

static void append_count(char *text, double n)
{
    if (n < 1e4)
        append(text, "%.0f", n);
    else if (n < 1e7)
        append(text, "%.1fK", n / 1e3);
    else if (n < 1e10)
        append(text, "%.1fM", n / 1e6);
    else
        append(text, "%.1fG", n / 1e9);
}

/* One per character: labels and notes have no wide characters. */
static int columns(const char *text)
{
    return (int)rela_utf8_count(text, strlen(text));
}

static void cut(char *text, int n_columns)
{
    uint32_t code = 0;
    while (*text && n_columns-- > 0) {
        const size_t n = rela_utf8_next(&code, text, strlen(text));
        text += n ? n : 1;
    }
    *text = '\0';
}
