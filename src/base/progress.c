/* SPDX-License-Identifier: MIT */
/* src/base/progress.c - see progress.h. */
#include "base/progress.h"

#include "base/clock.h"
#include "base/str.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

enum { BAR_MIN = 5, BAR_MAX = 30, TEXT_MAX = 400, COLUMNS = 80, PARTS_TO_LEAVE_OUT = 3 };

typedef struct parts {
    const char *note; /* fields separated by ", " */
    char count[TEXT_MAX], rate[TEXT_MAX], time[TEXT_MAX];
} parts;

static void show(rela_progress *p, uint64_t done, const char *note, double now, bool last);
static void compose_to_fit(char text[TEXT_MAX], const rela_progress *p, const parts *line,
                           uint64_t done);
static void compose(char text[TEXT_MAX], const rela_progress *p, const parts *line, uint64_t done,
                    int left_out, int bar);
static void drop_last_field(char *note);
static void append(char *text, const char *format, ...) RELA_PRINTF(2, 3);
static void append_bar(char *text, double share, int n);
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
    parts line = { .note = note ? note : "" };
    const double spent = now - p->started;
    const double rate = spent > 0 && done > p->first ? (double)(done - p->first) / spent : 0;
    append_count(line.count, (double)done);
    if (p->total) {
        append(line.count, "/");
        append_count(line.count, (double)p->total);
    }
    append(line.count, " %s", p->unit);
    append_count(line.rate, rate);
    append(line.rate, "/s");
    if (last) {
        append(line.time, "took ");
        append_seconds(line.time, spent);
    } else if (p->total && rate > 0 && done <= p->total) {
        append(line.time, "left ");
        append_seconds(line.time, (double)(p->total - done) / rate);
    }
    if (p->terminal) /* a wrapped line could not be redrawn */
        compose_to_fit(text, p, &line, done);
    else
        compose(text, p, &line, done, 0, 0);
    if (p->terminal && p->visible)
        p->emit(p->ctx, "\r\033[K", 4);
    p->emit(p->ctx, text, strlen(text));
    if (!p->terminal || last)
        p->emit(p->ctx, "\n", 1);
    p->visible = true;
}

/* Leaves out as little as needed: the bar, fields of the note from the last to the first, the rate,
 * the count, the label. What is left is the share and the time. */
static void compose_to_fit(char text[TEXT_MAX], const rela_progress *p, const parts *line,
                           uint64_t done)
{
    const int most = p->width - 1;
    char note[TEXT_MAX] = "";
    parts rest = *line;
    append(note, "%s", line->note);
    rest.note = note;
    compose(text, p, &rest, done, 0, 0);
    const int room = most - columns(text) - 3; /* brackets and a blank */
    if (p->total && room >= BAR_MIN)
        compose(text, p, &rest, done, 0, room < BAR_MAX ? room : BAR_MAX);
    while (columns(text) > most && *note) {
        drop_last_field(note);
        compose(text, p, &rest, done, 0, 0);
    }
    for (int left_out = 1; columns(text) > most && left_out <= PARTS_TO_LEAVE_OUT; left_out++)
        compose(text, p, &rest, done, left_out, 0);
    cut(text, most);
}

/* left_out: how many of rate, count and label; bar: its columns, 0 for none. */
static void compose(char text[TEXT_MAX], const rela_progress *p, const parts *line, uint64_t done,
                    int left_out, int bar)
{
    const char *const fields[] = { left_out < 2 ? line->count : "", left_out < 1 ? line->rate : "",
                                   line->note, line->time };
    text[0] = '\0';
    if (left_out < PARTS_TO_LEAVE_OUT)
        append(text, "%s ", p->label);
    if (p->total) {
        const double share = done < p->total ? (double)done / (double)p->total : 1.0;
        if (bar)
            append_bar(text, share, bar);
        append(text, "%3.0f %%", floor(100.0 * share)); /* 100 only when done */
    }
    const char *before = !p->total ? "" : *fields[0] ? " " : ", ";
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (*fields[i]) {
            append(text, "%s%s", before, fields[i]);
            before = ", ";
        }
}

static void drop_last_field(char *note)
{
    char *end = note;
    for (char *at = note; (at = strstr(at, ", ")); at++)
        end = at;
    *end = '\0';
}

static void append(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    rela_format(text + used, TEXT_MAX - used, format, args);
    va_end(args);
}

static void append_bar(char *text, double share, int n)
{
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
